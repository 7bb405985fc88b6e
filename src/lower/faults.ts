/**
 * Kernels that stop themselves: the thread writes the number of its fault to the fault word, memory that the kernel has as a hidden
 * parameter, and ends. The launcher reads the word, and fails the launch with the fault of that number.
 */
import { addHiddenParam, faultWordName, type Kernel } from '../ir/index.ts';
import { type CheckedCall, type CheckedInstruction, integerConstant } from '../ptx/index.ts';
import { lowerClusterExit } from './cluster-barriers.ts';
import { type Context, enter, lowerWhen } from './context.ts';
import { newFlow } from './flow.ts';
import { guardValue } from './instructions.ts';
import { type Placed, storedIn, stringIn, variableAt } from './strings.ts';

/** Ends the thread and fails the launch; code lowered after it is unreachable. */
export function lowerStop(c: Context, why: string): void {
  const { ir } = c;
  const { index, number: fault } = faultNumber(c.kernel, why);
  const number = ir.const('i32', fault);
  // Any of the threads that stop may be the one that is reported.
  ir.store(ir.param('ptr.global', { index }), number, { align: 4, volatile: true });
  lowerClusterExit(c);
  c.flow.block.end = { op: 'ret' };
  c.flow.block.endLoc = ir.loc;
  enter(c, newFlow(c.kernel, 0));
}

/** The line of the source that is being lowered, ` (k.ptx:7)`. */
export function placeOf({ ir, diagnostics: { file } }: Context): string {
  return ir.loc && file ? ` (${file.path}:${file.position(ir.loc.start).line})` : '';
}

/** The parameter of the fault word, which is added if there is none, and the number of a reason. */
export function faultNumber(kernel: Kernel, why: string): { readonly index: number; readonly number: number } {
  const { index, faults } = faultParam(kernel);
  if (!faults.includes(why)) faults.push(why);
  return { index, number: faults.indexOf(why) + 1 };
}

function faultParam(kernel: Kernel): { index: number; faults: string[] } {
  const known = kernel.params.findIndex((param) => param.faults !== undefined);
  if (known >= 0) return { index: known, faults: kernel.params[known]!.faults as string[] };
  const faults: string[] = [];
  const index = addHiddenParam(kernel, { name: faultWordName, size: 4, align: 4, element: 'i32', faults });
  return { index, faults };
}

/** A call of `__assertfail(expression, file, line, function, size of a character)`, which CUDA's `assert` makes where it fails. */
export function lowerAssertion(c: Context, item: CheckedInstruction, call: CheckedCall): void {
  c.scope = item.scope;
  c.ir.loc = item.match.instruction.span;
  const stop = (): void => lowerStop(c, assertionText(c, call));
  if (item.guard) lowerWhen(c, guardValue(c, item.guard), stop);
  else stop();
}

/** The text of an assertion, as far as its arguments are constants that can be followed. */
function assertionText(c: Context, { args }: CheckedCall): string {
  const [expression, file, line] = args.slice(0, 3).map((operand) => storedIn(c, operand));
  const [text, where] = [textAt(c, expression), textAt(c, file)];
  const number = line && integerConstant(line.node);
  const place = where === undefined || number === undefined ? '' : ` (${where}:${number})`;
  return `assertion ${text === undefined ? '' : `\`${text}\` `}failed${place}`;
}

function textAt(c: Context, operand: Placed | undefined): string | undefined {
  const variable = variableAt(c, operand);
  const bytes = variable && stringIn(variable);
  return bytes && new TextDecoder().decode(bytes);
}
