/**
 * Sums that are written as `or`: nvcc adds an offset to the address of a variable so where the alignment of the variable leaves the
 * bits of the offset free. As sums they lead to the variable, whose memory they point into.
 */
import { constantOf, type Kernel, type Op, type RangeOptions, type Value, type ValueRanges, valueRanges, zerosOf } from '../../ir/index.ts';

/** The facts that this pass uses of the value-range analysis: offsets are masked, shifted and widened. Every metallib depends on them. */
const offsets: RangeOptions = { through: new Set<Op>(['and', 'zext', 'shl', 'lshr']), sregs: {}, depth: 64 };

interface Search {
  readonly kernel: Kernel;
  readonly ranges: ValueRanges;
  /** The alignment of each variable in bytes, by name. */
  readonly alignments: ReadonlyMap<string, number>;
  /** By value: the trailing zeros of the address of a variable, or of a constant offset from one; nothing for other values. */
  readonly zeros: Map<Value, number>;
}

/** Makes sums of those `or` of which one side is an aligned address and the other is below its alignment; blocks are in the order in which control reaches them. */
export function sumDisjointParts(kernel: Kernel): void {
  const alignments = new Map(kernel.variables.map(({ name, align }) => [name, align]));
  if (alignments.size === 0) return;
  const search: Search = { kernel, ranges: valueRanges(kernel, offsets), alignments, zeros: new Map() };
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'or' && (isDisjoint(search, inst.a, inst.b) || isDisjoint(search, inst.b, inst.a)))
        kernel.insts[value] = { op: 'add', type: inst.type, a: inst.a, b: inst.b };
      noteAddress(search, value);
    }
}

function isDisjoint({ ranges, zeros }: Search, address: Value, offset: Value): boolean {
  const free = zeros.get(address);
  const max = free === undefined ? undefined : ranges.unsignedMax(offset);
  return free !== undefined && max !== undefined && max < 1n << BigInt(free);
}

/** Notes a value that is the address of a variable, or a constant offset from one. */
function noteAddress(search: Search, value: Value): void {
  if (isAddress(search.kernel, value, search.zeros)) search.zeros.set(value, zerosOfAddress(search, value));
}

function zerosOfAddress({ kernel, alignments, zeros }: Search, value: Value): number {
  const constantZeros = (operand: Value): number => zerosOf(kernel, kernel.insts[operand]!, () => 0);
  const of = (operand: Value): number => zeros.get(operand) ?? constantZeros(operand);
  return zerosOf(kernel, kernel.insts[value]!, of, (name) => alignments.get(name) ?? 1);
}

function isAddress(kernel: Kernel, value: Value, zeros: ReadonlyMap<Value, number>): boolean {
  const inst = kernel.insts[value]!;
  if (inst.op === 'variable') return true;
  if (inst.op === 'ptrtoint' || inst.op === 'inttoptr') return zeros.has(inst.a);
  if (inst.op !== 'add' && inst.op !== 'ptradd') return false;
  const [base, offset] = zeros.has(inst.a) ? [inst.a, inst.b] : [inst.b, inst.a];
  return zeros.has(base) && constantOf(kernel, offset) !== undefined;
}
