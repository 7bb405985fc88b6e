/**
 * Which values of a kernel are pairs: what is computed, and what may be it (parameters of blocks, selections). All others stay
 * the bits that they are, so that what is only moved or compared keeps each of them. Where one value may be either, the pair has
 * a rest beside it: what its bits lack.
 */
import { floatFormats, unpackFloat } from '../../../base/float-exact.ts';
import { addTo } from '../../../base/group.ts';
import { edgesOf, type Inst, type Kernel, operandsOf, type Value } from '../../../ir/index.ts';
import { pairRowOf } from './table.ts';

export interface Forms {
  isPair(value: Value): boolean;
  /** Whether a pair's bits are more than it says. */
  hasRest(value: Value): boolean;
}

/** The forms of the values of f64; a kernel still holds its doubles. */
export function formsOf(kernel: Kernel): Forms {
  const computed = new Set(kernel.blocks.flatMap(({ body }) => body.filter((value) => computesPair(kernel, kernel.insts[value]!))));
  const sources = sourcesOf(kernel);
  for (;;) {
    const pairs = new Set([...computed, ...spread(sources, (value) => computed.has(value))]);
    const rests = spread(sources, (value) => !pairs.has(value) && !isPairConstant(kernel.insts[value]!));
    // An extreme is chosen by every place: by bits, where pairs lack some.
    const inexact = [...sources.keys()].filter((value) => pairs.has(value) && rests.has(value) && isExtreme(kernel.insts[value]!));
    for (const value of inexact) sources.delete(value);
    if (inexact.length === 0) return { isPair: (value) => pairs.has(value), hasRest: (value) => pairs.has(value) && rests.has(value) };
  }
}

const isExtreme = ({ op }: Inst): boolean => op === 'fmin' || op === 'fmax';

/** What a value of f64 may be, of those that are one of others unchanged but for the sign. */
function sourcesOf(kernel: Kernel): Map<Value, Value[]> {
  const sources = new Map<Value, Value[]>();
  for (const block of kernel.blocks) {
    for (const param of block.params) if (kernel.insts[param]!.type === 'f64') sources.set(param, []);
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      if (inst.type === 'f64' && inst.op === 'select') sources.set(value, [inst.a, inst.b]);
      else if (inst.type === 'f64' && pairRowOf(inst.op)?.kind === 'keeps') sources.set(value, operandsOf(inst));
    }
  }
  for (const block of kernel.blocks)
    for (const { block: to, args } of edgesOf(block.end)) to.params.forEach((param, i) => void sources.get(param)?.push(args[i]!));
  return sources;
}

/** All values that may be one of which something holds, and those themselves. */
function spread(sources: ReadonlyMap<Value, readonly Value[]>, holds: (value: Value) => boolean): Set<Value> {
  const uses = new Map<Value, Value[]>();
  const found = new Set<Value>();
  const open: Value[] = [];
  for (const [value, from] of sources)
    for (const source of from) {
      addTo(uses, source, value);
      if (holds(source)) open.push(source);
    }
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (found.has(value)) continue;
    found.add(value);
    open.push(...(uses.get(value) ?? []));
  }
  return found;
}

/** A sum with a constant of 2^48 or more leaves an integer by its rounding to 53 places: code of that kind wants it exact. */
const roundingConstant = 2n ** 48n;

/** Whether an instruction of f64 makes a pair of whatever it is given. */
export function computesPair(kernel: Kernel, inst: Inst): boolean {
  if (inst.type !== 'f64' || pairRowOf(inst.op)?.kind !== 'computes') return false;
  const addends = inst.op === 'fma' ? [inst.c] : inst.op === 'fadd' || inst.op === 'fsub' ? [inst.a, inst.b] : [];
  return !addends.some((addend) => isLargeConstant(kernel.insts[addend]!));
}

function isLargeConstant(inst: Inst): boolean {
  if (inst.op !== 'const') return false;
  const value = unpackFloat(floatFormats.f64, inst.bits);
  return value.kind === 'finite' && value.exponent > -52 && value.mantissa << BigInt(value.exponent + 52) >= roundingConstant << 52n;
}

/** Whether a constant is a pair to the last place: what two words of 24 bits hold. Not subnormal, which a pair holds in another way. */
export function isPairConstant(inst: Inst): boolean {
  if (inst.op !== 'const') return false;
  const exponent = (inst.bits >> 52n) & 0x7ffn;
  if (exponent === 0n || exponent === 0x7ffn) return (inst.bits & ((1n << 63n) - 1n)) === 0n;
  return (inst.bits & 0xfn) === 0n;
}
