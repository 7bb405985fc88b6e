/**
 * Steps of floats: a power of two of which every finite value is a multiple, from the instructions that make it. Conversions of integers are multiples
 * of one, and products and sums of multiples are multiples: rounding moves a value to a multiple of a larger power of two, or not at all. A value that
 * is a multiple of the smallest normal number is no subnormal. The analysis is on demand, to a depth, and does not follow loops.
 */
import type { Kernel, Value } from '../kernel.ts';
import { floatOf } from './float-range.ts';

const deepest = 6;
/** The smallest subnormal of a half, of which all halves are multiples. */
const stepOfHalf = 2 ** -24;

/** The step of a float of 32 bits: infinite for zeros, 0 where it is not known. */
export const floatQuantum = (kernel: Kernel, value: Value): number => stepOf(kernel, value, 0);

function stepOf(kernel: Kernel, value: Value, depth: number): number {
  const inst = kernel.insts[value]!;
  if (inst.type !== 'f32' || depth > deepest) return 0;
  const of = (operand: Value): number => stepOf(kernel, operand, depth + 1);
  switch (inst.op) {
    case 'const':
      return stepOfNumber(floatOf(inst.bits));
    case 'sitofp':
    case 'uitofp':
    case 'frint':
    case 'ftrunc':
    case 'ffloor':
    case 'fceil':
      return 1;
    case 'fpext':
      return kernel.insts[inst.a]!.type === 'f16' ? stepOfHalf : 0;
    case 'bitcast':
      return isSignAlone(kernel, inst.a) ? Infinity : 0;
    case 'fneg':
    case 'fabs':
      return of(inst.a);
    case 'select':
    case 'fadd':
    case 'fsub':
    case 'fmin':
    case 'fmax':
      return least(of(inst.a), () => of(inst.b));
    case 'fmul':
      return product(of(inst.a), () => of(inst.b));
    case 'fma':
      return least(
        product(of(inst.a), () => of(inst.b)),
        () => of(inst.c),
      );
    default:
      return 0;
  }
}

const least = (a: number, b: () => number): number => (a === 0 ? 0 : Math.min(a, b()));

function product(a: number, b: () => number): number {
  const other = a === 0 ? 0 : b();
  return other === 0 ? 0 : a * other;
}

/** The lowest bit of a number. */
function stepOfNumber(number: number): number {
  if (number === 0) return Infinity;
  if (!Number.isFinite(number)) return 0;
  const [mantissa, exponent] = [Math.abs(number), Math.floor(Math.log2(Math.abs(number)))];
  for (let step = 2 ** (exponent + 1); step > 0; step /= 2) if (mantissa % step === 0) return step;
  return 0;
}

function isSignAlone(kernel: Kernel, value: Value): boolean {
  const inst = kernel.insts[value]!;
  const mask = inst.op === 'and' ? kernel.insts[inst.b]! : undefined;
  return mask?.op === 'const' && mask.bits === 0x8000_0000n;
}
