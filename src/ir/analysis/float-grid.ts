/**
 * Powers of two that floats are multiples of. What is made of integers with scales and sums is a multiple of a power far above the least float, and so is the
 * error of its rounding: neither is ever subnormal. Every claim holds for all operands that give a number, infinities aside; the analysis is on demand, to a
 * depth, and does not follow loops.
 */
import type { Inst, Kernel, Value } from '../kernel.ts';
import { floatUnder } from './float-range.ts';

/** Every float of 32 bits is a multiple of 2^-149. */
export const finestGrid = -149;
/** Zero is a multiple of every power. */
const coarsestGrid = 128;
const deepest = 8;

/** The exponent of a power of two that a float of 32 bits is a multiple of. */
export function floatGrid(kernel: Kernel, value: Value): number {
  return gridOf(kernel, value, 0);
}

function gridOf(kernel: Kernel, value: Value, depth: number): number {
  const inst = kernel.insts[value]!;
  if (inst.type !== 'f32' || depth > deepest) return finestGrid;
  const of = (operand: Value): number => gridOf(kernel, operand, depth + 1);
  // Rounding keeps a multiple of a power: the floats of a magnitude are themselves multiples of one power.
  return Math.max(finestGrid, Math.min(coarsestGrid, exactGrid(kernel, inst, of)));
}

function exactGrid(kernel: Kernel, inst: Inst, of: (operand: Value) => number): number {
  switch (inst.op) {
    case 'const':
      return gridOfBits(Number(inst.bits));
    case 'fneg':
    case 'fabs':
      return of(inst.a);
    case 'bitcast':
      return of(floatUnder(kernel, inst.a));
    case 'select':
    case 'fadd':
    case 'fsub':
    case 'fmin':
    case 'fmax':
      return Math.min(of(inst.a), of(inst.b));
    case 'fmul':
      return of(inst.a) + of(inst.b);
    case 'fma':
      return Math.min(of(inst.a) + of(inst.b), of(inst.c));
    case 'sitofp':
    case 'uitofp':
      return 0;
    case 'frint':
    case 'ftrunc':
    case 'ffloor':
    case 'fceil':
      return Math.max(0, of(inst.a));
    case 'fpext':
      return kernel.insts[inst.a]!.type === 'f16' ? -24 : finestGrid;
    default:
      return finestGrid;
  }
}

/** The lowest bit of a constant. */
function gridOfBits(bits: number): number {
  const field = (bits >>> 23) & 255;
  const significand = field === 0 ? bits & 0x7fffff : (bits & 0x7fffff) | 0x800000;
  if (significand === 0) return coarsestGrid;
  return Math.max(field, 1) - 150 + (31 - Math.clz32(significand & -significand));
}
