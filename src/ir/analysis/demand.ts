/**
 * Which values of 64 bits are wanted whole. The low half of a sum, difference, product or shift to the left follows from the low halves of its operands, and
 * memory below 4 GiB is reached by the low half of an address, so most address arithmetic needs no more than words.
 */
import { addTo } from '../../base/group.ts';
import type { Inst, Kernel, Value } from '../kernel.ts';
import { edgesOf } from '../kernel.ts';
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

/** By value: 1 for an integer or pointer of 64 bits of which more than the low 32 are wanted, or that no narrower op gives. */
export function wideValues(kernel: Kernel): Uint8Array {
  const wide = new Uint8Array(kernel.insts.length);
  const stack: Value[] = [];
  const widen = (value: Value): void => {
    if (wide[value] || !isLong(kernel, value)) return;
    wide[value] = 1;
    stack.push(value);
  };
  /** By parameter of a block: what edges bring for it. */
  const brought = new Map<Value, Value[]>();
  /** By value: the pointers made of it, which are as wide. */
  const onward = new Map<Value, Value[]>();
  for (const { body, end } of kernel.blocks) {
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (!narrowable.has(inst.op) || (inst.op === 'load' && inst.volatile) || isLongShift(kernel, inst)) widen(value);
      for (const [name, operand] of operandsByName(inst)) {
        if (wantsWhole(kernel, inst, name, operand)) widen(operand);
        if (isPointer(kernel.insts[operand]!.type) && isLong(kernel, value)) addTo(onward, operand, value);
      }
    }
    for (const { block, args } of edgesOf(end))
      for (const [i, arg] of args.entries()) {
        addTo(brought, block.params[i]!, arg);
        if (isPointer(kernel.insts[arg]!.type)) addTo(onward, arg, block.params[i]!);
      }
  }
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    const inst = kernel.insts[value]!;
    for (const [, operand] of narrowable.has(inst.op) && inst.op !== 'load' ? operandsByName(inst) : []) widen(operand);
    for (const arg of brought.get(value) ?? []) widen(arg);
    // What is made of a whole pointer is whole, so that there is one way to say an address.
    for (const made of onward.get(value) ?? []) if (kernel.insts[made]!.op !== 'load') widen(made);
  }
  return wide;
}

function operandsByName(inst: Inst): [string, Value][] {
  return argsOf(inst.op).map((name) => [name, (inst as unknown as Record<string, Value>)[name]!]);
}

/** Whether an instruction wants an operand whole, even if its own result is not wanted so. */
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
      return false;
    case 'within':
      return inst.isWhole;
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

/** What is used of the value-range analysis: constants and zero extensions. */
const counts: RangeOptions = { through: new Set<Op>(['zext']), sregs: {}, depth: 1 };
