/**
 * Kernels that stop themselves: the thread leaves the number of what went wrong in a word of memory that the kernel has as a
 * parameter behind its own, and ends. Whoever launched the kernel looks at the word, and fails the launch with what it stands for.
 */
import { faultWordName } from '../ir/index.ts';
import type { Variable } from '../ptx/ast.ts';
import { type CheckedCall, type CheckedInstruction, integerConstant, lookUp, type Operand } from '../ptx/index.ts';
import { type Context, enter, lowerWhen, variableNamed } from './context.ts';
import { newFlow } from './flow.ts';
import { initialBytes, layoutOf } from './initialiser.ts';
import { guardValue } from './instructions.ts';
import { addHiddenParam } from './module-memory.ts';

/** Ends the thread and fails the launch; what is lowered behind it is not reached. */
export function lowerStop(c: Context, why: string): void {
  const { ir } = c;
  const { index, faults } = faultParam(c);
  if (!faults.includes(why)) faults.push(why);
  const number = ir.const('i32', faults.indexOf(why) + 1);
  ir.store(ir.param('ptr.global', { index }), number, { align: 4, volatile: false });
  c.flow.block.end = { op: 'ret' };
  c.flow.block.endLoc = ir.loc;
  enter(c, newFlow(c.kernel, 0));
}

/** The line of the source that is being lowered, ` (k.ptx:7)`. */
export function placeOf({ ir, diagnostics: { file } }: Context): string {
  return ir.loc && file ? ` (${file.path}:${file.position(ir.loc.start).line})` : '';
}

function faultParam(c: Context): { index: number; faults: string[] } {
  const { kernel } = c;
  const known = kernel.params.findIndex((param) => param.faults !== undefined);
  if (known >= 0) return { index: known, faults: kernel.params[known]!.faults as string[] };
  const faults: string[] = [];
  const index = addHiddenParam(kernel, { name: faultWordName, size: 4, align: 4, element: 'i32', faults }, c.diagnostics);
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

/** What the source says of an assertion, as far as its arguments are constants that can be followed. */
function assertionText(c: Context, { args }: CheckedCall): string {
  const [expression, file, line] = args.slice(0, 3).map((operand) => storedIn(c, operand));
  const text = textAt(c, expression);
  const where = textAt(c, file);
  const number = line && integerConstant(line);
  const place = where === undefined || number === undefined ? '' : ` (${where}:${number})`;
  return `assertion ${text === undefined ? '' : `\`${text}\` `}failed${place}`;
}

/** The operand that is stored into a `.param` variable whole. */
function storedIn(c: Context, operand: Operand): Operand | undefined {
  const variable = variableNamed(c, operand);
  const stores = instructionsOf(c).filter(({ match: { row, operands }, scope }) => {
    const address = row.name === 'st' ? operands[0]?.node : undefined;
    const base = address?.kind === 'address' && address.base.kind === 'name' ? lookUp(scope, address.base.name) : undefined;
    return variable !== undefined && base?.kind === 'variable' && base.variable === variable;
  });
  return stores.length === 1 ? stores[0]!.match.operands[1]!.node : undefined;
}

const instructionsOf = (c: Context): CheckedInstruction[] =>
  c.frame.fn.items.flatMap((item) => (item.kind === 'instruction' ? [item] : []));

/** The characters of the variable whose address an operand is, through copies and `cvta`. */
function textAt(c: Context, operand: Operand | undefined): string | undefined {
  let node = operand;
  for (let turn = 0; turn < mostCopies && node?.kind === 'name'; turn++) {
    const variable = variableNamed(c, node);
    if (variable) return charactersOf(variable);
    const { name } = node;
    const writes = instructionsOf(c).filter(({ match }) => isWritten(match.operands[0]?.node, name) && /^(mov|cvta)$/.test(match.row.name));
    node = writes.length === 1 ? writes[0]!.match.operands[1]?.node : undefined;
  }
  return undefined;
}

/** Registers between a variable and where its address is handed over. */
const mostCopies = 8;

const isWritten = (node: Operand | undefined, name: string): boolean => node?.kind === 'name' && node.name === name;

function charactersOf(variable: Variable): string | undefined {
  const layout = layoutOf(variable);
  const bytes = layout && initialBytes(variable, layout);
  if (!(bytes instanceof Uint8Array)) return undefined;
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}
