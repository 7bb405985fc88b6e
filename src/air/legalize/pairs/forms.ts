/**
 * Selects the values of a kernel that become pairs: computed values, and block parameters and selects that may be one. All others keep
 * their bits, so that moves and comparisons are exact. A value that may be either has a residual beside the pair: the exact value minus the
 * pair.
 */
import { floatFormats, unpackFloat } from '../../../base/float-exact.ts';
import { addTo } from '../../../base/group.ts';
import { edgesOf, type Inst, type Kernel, operandsOf, type Value } from '../../../ir/index.ts';
import { pairRowOf } from './table.ts';

export interface Forms {
  isPair(value: Value): boolean;
  /** Whether the value's bits may be more precise than the pair. */
  hasResidual(value: Value): boolean;
}

/** The forms of the f64 values; the kernel must still have them. */
export function formsOf(kernel: Kernel): Forms {
  const computed = new Set(kernel.blocks.flatMap(({ body }) => body.filter((value) => computesPair(kernel, kernel.insts[value]!))));
  const sources = sourcesOf(kernel);
  for (;;) {
    const pairs = new Set([...computed, ...propagate(sources, (value) => computed.has(value))]);
    const residuals = propagate(sources, (value) => !pairs.has(value) && !isPairConstant(kernel.insts[value]!));
    // Minimum and maximum compare exactly: they use bits if a pair may be inexact.
    const inexact = [...sources.keys()].filter((value) => pairs.has(value) && residuals.has(value) && isExtreme(kernel.insts[value]!));
    for (const value of inexact) sources.delete(value);
    if (inexact.length === 0)
      return { isPair: (value) => pairs.has(value), hasResidual: (value) => pairs.has(value) && residuals.has(value) };
  }
}

const isExtreme = ({ op }: Inst): boolean => op === 'fmin' || op === 'fmax';

/** For values that copy one of several others, possibly with another sign: the values they may copy. */
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

/** The values for which something holds, and all values that may copy one of them. */
function propagate(sources: ReadonlyMap<Value, readonly Value[]>, holds: (value: Value) => boolean): Set<Value> {
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

/** Adding a constant of 2^48 or more extracts an integer by rounding to 53 places; such code needs the exact sum. */
const roundingConstant = 2n ** 48n;

/** Whether an instruction of f64 computes a pair from any operands. */
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

/** Whether a constant is exact as a pair of two 24-bit significands. Subnormal constants are not, because their pairs have another form. */
export function isPairConstant(inst: Inst): boolean {
  if (inst.op !== 'const') return false;
  const exponent = (inst.bits >> 52n) & 0x7ffn;
  if (exponent === 0n || exponent === 0x7ffn) return (inst.bits & ((1n << 63n) - 1n)) === 0n;
  return (inst.bits & 0xfn) === 0n;
}
