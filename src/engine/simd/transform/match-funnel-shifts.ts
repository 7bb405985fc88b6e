/**
 * Funnel shifts: rotations and funnel shifts are lowered to 32 bits cut out of two 32-bit integers side by side. `trunc ((h:l << n) >> 32)`
 * becomes `h << n | l >> 32 - n`, which needs no lanes of 64 bits.
 */
import { addInst, constantOf, type Inst, type Kernel, type Value } from '../../../ir/index.ts';

interface Pair {
  readonly high: Value;
  readonly low: Value;
}

/** Rewrites funnel shifts in place; returns whether there were any. */
export function matchFunnelShifts(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks) {
    const body: Value[] = [];
    for (const value of block.body) {
      const found = cutOf(kernel, kernel.insts[value]!);
      if (found) body.push(...joined(kernel, value, found));
      changed ||= found !== undefined;
      body.push(value);
    }
    block.body = body;
  }
  return changed;
}

interface Cut {
  readonly pair: Pair;
  /** The first bit of the pair that is taken: 1 to 31. */
  readonly from: number;
}

function cutOf(kernel: Kernel, inst: Inst): Cut | undefined {
  if (inst.op !== 'trunc' || inst.type !== 'i32') return undefined;
  const right = kernel.insts[inst.a]!;
  const count = right.op === 'lshr' && right.type === 'i64' ? countOf(kernel, right.b) : undefined;
  if (right.op !== 'lshr' || count === undefined) return undefined;
  const direct = pairOf(kernel, right.a);
  if (direct) return count > 0 && count < 32 ? { pair: direct, from: count } : undefined;
  const left = kernel.insts[right.a]!;
  const by = left.op === 'shl' ? countOf(kernel, left.b) : undefined;
  const pair = left.op === 'shl' && count === 32 && by !== undefined && by > 0 && by < 32 ? pairOf(kernel, left.a) : undefined;
  return pair && by !== undefined ? { pair, from: 32 - by } : undefined;
}

/** Two 32-bit integers as one of 64 bits. */
function pairOf(kernel: Kernel, value: Value): Pair | undefined {
  const inst = kernel.insts[value]!;
  if (inst.op !== 'or' && inst.op !== 'xor' && inst.op !== 'add') return undefined;
  return pairIn(kernel, inst.a, inst.b) ?? pairIn(kernel, inst.b, inst.a);
}

function pairIn(kernel: Kernel, upper: Value, lower: Value): Pair | undefined {
  const shifted = kernel.insts[upper]!;
  const low = wordOf(kernel, lower);
  if (shifted.op !== 'shl' || countOf(kernel, shifted.b) !== 32 || low === undefined) return undefined;
  const high = wordOf(kernel, shifted.a);
  return high === undefined ? undefined : { high, low };
}

function wordOf(kernel: Kernel, value: Value): Value | undefined {
  const inst = kernel.insts[value]!;
  return inst.op === 'zext' && kernel.insts[inst.a]!.type === 'i32' ? inst.a : undefined;
}

function countOf(kernel: Kernel, value: Value): number | undefined {
  const bits = constantOf(kernel, value);
  return bits === undefined ? undefined : Number(bits);
}

/** Makes the value the or of two shifted integers; returns the instructions to be placed before it. */
function joined(kernel: Kernel, value: Value, { pair, from }: Cut): Value[] {
  const word = (bits: number): Value => addInst(kernel, { op: 'const', type: 'i32', bits: BigInt(bits) });
  const [right, left] = [word(from), word(32 - from)];
  const low = addInst(kernel, { op: 'lshr', type: 'i32', a: pair.low, b: right });
  const high = addInst(kernel, { op: 'shl', type: 'i32', a: pair.high, b: left });
  kernel.insts[value] = { op: 'or', type: 'i32', a: low, b: high };
  return [right, left, low, high];
}
