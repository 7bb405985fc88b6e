/**
 * Instructions that stay what they are, for a target that has them: an instruction that only computes, and for which the IR has several ops or
 * one that is more exact, becomes a call of a pure function. Its name is the text of the instruction with `$0` for the destination and `$1` and so on
 * for operands in registers; its body is what the row lowers to, so that the kernel means the same to whoever does not know the instruction.
 */
import {
  addBlock,
  addBlockParam,
  builder,
  emptyKernel,
  isScalar,
  type PureFunction,
  type ScalarType,
  specOf,
  type Value,
} from '../ir/index.ts';
import { immediateBits, type Match, type MatchedOperand, printOperand } from '../ptx/index.ts';
import type { Context, Natives } from './context.ts';
import { hasForm } from './kept.ts';
import { straightBuilder } from './straight-code.ts';

/** Instructions that addresses are computed with, which the passes have to see through. */
const isOfAddresses = ({ row, instruction }: Match): boolean =>
  (row.name === 'mad' || row.name === 'mul' || row.name === 'mov') && !instruction.modifiers.some((word) => /^b?f\d/.test(word));

/** The value of an instruction that stays as it is; undefined for others. */
export function nativeValue(c: Context, natives: Natives, match: Match, sources: Readonly<Record<string, unknown>>): Value | undefined {
  const { version, forms } = natives;
  const { row, operands, instruction } = match;
  const [destination, ...others] = operands;
  if (!row.lower || row.control || row.isCollective || !hasForm(natives, match)) return undefined;
  if (!destination || !isPlain(destination) || !destination.slot.isDestination || destination.slot.second !== undefined) return undefined;
  if (destination.slot.sink === 'must' || !others.every(isPlain) || isOfAddresses(match)) return undefined;
  const given: Value[] = [];
  const texts = others.map(({ node, slot }) => {
    const value = sources[slot.name] as Value;
    const isConstant =
      node.kind !== 'name' && c.kernel.insts[value]!.op === 'const' && immediateBits(node, c.ir.typeOf(value) as ScalarType) !== undefined;
    if (isConstant) return printOperand(node);
    return `$${given.push(value)}`;
  });
  if (given.length < 1 || given.length > 3 || !given.every((value) => isScalar(c.ir.typeOf(value)))) return undefined;
  const fn = `${[instruction.opcode, ...instruction.modifiers].join('.')} ${['$0', ...texts].join(', ')}`;
  if (!forms.has(fn)) forms.set(fn, functionOf(c, fn, match, sources, given, version));
  const made = forms.get(fn);
  if (!made) return undefined;
  const functions = (c.kernel.functions ?? new Map()) as Map<string, PureFunction>;
  c.kernel.functions = functions.set(fn, made);
  const type = made.body.insts[made.result]!.type;
  const [a, b, third] = given as [Value, Value | undefined, Value | undefined];
  if (b === undefined) return c.ir.call1(type, a, { fn });
  return third === undefined ? c.ir.call2(type, a, b, { fn }) : c.ir.call3(type, a, b, third, { fn });
}

const isPlain = ({ slot, lanes, inBrackets, part }: MatchedOperand): boolean =>
  !slot.isAddress && lanes === undefined && inBrackets === undefined && part === undefined && slot.vector !== 'parts';

/** What a row makes of operands in registers; undefined where that is one exact op, or no straight code. */
function functionOf(
  c: Context,
  name: string,
  { row, modifiers }: Match,
  sources: Readonly<Record<string, unknown>>,
  given: readonly Value[],
  version: number,
): PureFunction | undefined {
  const body = emptyKernel(name);
  const block = addBlock(body);
  const params = given.map((value) => addBlockParam(body, block, c.ir.typeOf(value)));
  const ir = builder(body, block);
  let isPure = true;
  const none = (): Value => {
    isPure = false;
    return ir.const('i32', 0);
  };
  const pure = straightBuilder(ir, none);
  const own = Object.fromEntries(
    Object.entries(sources).map(([key, value]) => {
      const at = given.indexOf(value as Value);
      if (at >= 0) return [key, params[at]!];
      const inst = c.kernel.insts[value as Value]!;
      return [key, inst.op === 'const' ? ir.const(inst.type, inst.bits) : none()];
    }),
  );
  const result = row.lower!(own, modifiers, pure);
  const insts = block.body.map((value) => body.insts[value]!);
  const isStraight = insts.every(({ op }) => specOf(op).effect === 'pure' && !['sreg', 'param', 'variable', 'isspace'].includes(op));
  if (!isPure || !isStraight || typeof result !== 'number' || !isScalar(body.insts[result as Value]!.type)) return undefined;
  const steps = insts.filter(({ op }) => op !== 'const').length;
  const isLoose = typeof row.status === 'object';
  if (steps < (isLoose ? 1 : 2)) return undefined;
  return { body, result: result as Value, since: { ptx: Math.max(row.since.ptx, version), sm: row.since.sm } };
}
