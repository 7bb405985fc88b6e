/**
 * Demanded bits: which 64-bit values are demanded whole. The low half of a sum, difference, product or shift to the left follows from the low halves of its operands, and
 * memory below 4 GiB is reached by the low half of an address, so most address arithmetic needs 32 bits.
 */
import { addTo } from '../../base/group.ts';
import { type Edge, edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { argsOf } from '../operands.ts';
import type { Op } from '../ops.ts';
import { bitsOf, isPointer, isVector } from '../types.ts';
import { type RangeOptions, valueRanges } from './value-range.ts';

/** Ops whose result has a form of 32 bits that is its low half. */
const narrowable = new Set<Op>(
  'const arg param variable add sub mul and or xor shl select zext sext load ptradd ptrtoint inttoptr'.split(' ') as Op[],
);

const isLong = (kernel: Kernel, value: Value): boolean => {
  const { type } = kernel.insts[value]!;
  return !isVector(type) && type !== 'f64' && bitsOf(type) === 64;
};

/** How demand for whole values spreads. */
interface Spread {
  readonly kernel: Kernel;
  /** By value: 1 where it is demanded whole. */
  readonly wide: Uint8Array;
  /** Values that became wide, and whose operands were not widened yet. */
  readonly work: Value[];
  /** By parameter of a block: the arguments that edges pass for it. */
  readonly passed: Map<Value, Value[]>;
  /** By value: the pointers and addresses made of it, which are as wide. */
  readonly onward: Map<Value, Value[]>;
}

/** By value: 1 for an integer or pointer of 64 bits of which more than the low 32 are demanded, or that no narrower op gives. */
export function wideValues(kernel: Kernel): Uint8Array {
  const spread: Spread = { kernel, wide: new Uint8Array(kernel.insts.length), work: [], passed: new Map(), onward: new Map() };
  for (const { body, end } of kernel.blocks) {
    for (const value of body) demandOf(spread, value);
    for (const edge of edgesOf(end)) linkEdge(spread, edge);
  }
  for (let value = spread.work.pop(); value !== undefined; value = spread.work.pop()) spreadFrom(spread, value);
  return spread.wide;
}

function widen({ kernel, wide, work }: Spread, value: Value): void {
  if (wide[value] || !isLong(kernel, value)) return;
  wide[value] = 1;
  work.push(value);
}

/** The demand of an instruction itself, whatever its result is needed for. */
function demandOf(spread: Spread, value: Value): void {
  const { kernel, onward } = spread;
  const inst = kernel.insts[value]!;
  if (!narrowable.has(inst.op) || (inst.op === 'load' && inst.volatile) || isLongShift(kernel, inst)) widen(spread, value);
  for (const [name, operand] of operandsByName(inst)) {
    if (wantsWhole(kernel, inst, name, operand)) widen(spread, operand);
    if (isPointer(kernel.insts[operand]!.type) && isLong(kernel, value)) addTo(onward, operand, value);
  }
}

function linkEdge({ kernel, passed, onward }: Spread, { block, args }: Edge): void {
  for (const [i, arg] of args.entries()) {
    addTo(passed, block.params[i]!, arg);
    if (isPointer(kernel.insts[arg]!.type)) addTo(onward, arg, block.params[i]!);
  }
}

/** Widens the operands of a wide value, and the pointers made of it. */
function spreadFrom(spread: Spread, value: Value): void {
  const { kernel, passed, onward } = spread;
  const inst = kernel.insts[value]!;
  for (const [, operand] of narrowable.has(inst.op) && inst.op !== 'load' ? operandsByName(inst) : []) widen(spread, operand);
  for (const arg of passed.get(value) ?? []) widen(spread, arg);
  // A pointer made of a wide one is wide, so that an address has one width.
  for (const made of onward.get(value) ?? []) if (kernel.insts[made]!.op !== 'load') widen(spread, made);
}

function operandsByName(inst: Inst): [string, Value][] {
  return argsOf(inst.op).map((name) => [name, (inst as unknown as Record<string, Value>)[name]!]);
}

/** Whether an instruction demands an operand whole, even if its own result is not. */
function wantsWhole(kernel: Kernel, inst: Inst, name: string, operand: Value): boolean {
  switch (inst.op) {
    case 'add':
    case 'sub':
    case 'mul':
    case 'shl':
    case 'and':
    case 'or':
    case 'xor':
    case 'select':
    case 'ptradd':
    case 'ptrtoint':
    case 'inttoptr':
    case 'trunc':
      return false;
    case 'load':
    case 'guard':
    case 'aligned':
      return false;
    case 'within':
      return inst.isWhole;
    case 'addressable':
      // The low half of an address that is known to be below 4 GiB is the whole address.
      return name === 'a' && kernel.insts[operand]!.op !== 'param' && kernel.insts[operand]!.op !== 'variable';
    case 'store':
      return name === 'value';
    case 'atomic':
    case 'cas':
      return name !== 'a' || !isPointer(kernel.insts[operand]!.type);
    default:
      return true;
  }
}

/** Whether a shift to the left may have a count whose low half is not the whole count; the low half of its result does not follow then. */
function isLongShift(kernel: Kernel, inst: Inst): boolean {
  if (inst.op !== 'shl') return false;
  const max = valueRanges(kernel, counts).unsignedMax(inst.b);
  return max === undefined || max >= 2n ** 32n;
}

/** The facts that are used of the value-range analysis: constants and zero extensions. */
const counts: RangeOptions = { through: new Set<Op>(['zext']), sregs: {}, depth: 1 };
