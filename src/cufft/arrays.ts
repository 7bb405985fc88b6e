/** Numbers of transforms in memory, as passes take them. */
import { type KernelBuffer, partOf } from '../api/index.ts';
import type { Stored } from './block-pass.ts';
import { refuse } from './layout.ts';

/** Real and imaginary parts in memory; `stride` is 2 for pairs, which may have the imaginary part first. */
export interface Arrays {
  readonly re: unknown;
  readonly im: unknown;
  readonly stride: 1 | 2;
  readonly isSwapped?: boolean;
  /** Of real numbers, and of the first half of their transforms, in `re`: how many there are from one transform to the next. */
  readonly real?: { readonly stored: 'real' | 'half'; readonly pitch: number };
  /** For passes over lines: numbers from one row to the next, where rows are longer than their transform. */
  readonly pitch?: number | undefined;
}

/** The same with the parts exchanged. */
export const swapped = (arrays: Arrays): Arrays => ({ ...arrays, re: arrays.im, im: arrays.re, isSwapped: !arrays.isSwapped });

/** The arguments of a pass that takes pairs as they are in memory. */
export function storedAs({ re, im, stride, isSwapped, real }: Arrays): {
  readonly stored: Stored;
  readonly re: unknown;
  readonly im: unknown;
} {
  if (real) return { stored: real.stored, re, im: re };
  if (stride === 1) return { stored: 'parts', re, im };
  return isSwapped ? { stored: 'swapped', re: im, im: re } : { stored: 'pairs', re, im };
}

/** A launch that reads one pair of arrays and writes another. */
export interface Step {
  (from: Arrays, to: Arrays): void;
  /** Whether it takes arrays of parts alone. */
  readonly takesParts?: boolean;
  /** Whether it takes rows with a pitch. */
  readonly takesPitches?: boolean;
}

/** A table in memory. */
export interface Table {
  readonly re: KernelBuffer;
  readonly im: KernelBuffer;
}

/** Whether pairs start where vectors of two may: memory starts at multiples of more. */
export function isPaired(buffer: unknown): boolean {
  const part = partOf(buffer);
  return !part || part.start % ((2 * part.byteLength) / Math.max(1, part.length)) === 0;
}

/** Complex numbers of a buffer. */
export function pairsOf(name: string, buffer: unknown): Arrays {
  const part = partOf(buffer);
  if (!part) refuse(name, 'a transform takes buffers');
  return { re: part.part(0), im: part.part(1), stride: 2 };
}
