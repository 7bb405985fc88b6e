/**
 * Normalised integers of a few bits, one behind the other in a word, lowest first.
 * Source: Metal Shading Language Specification 4, section 6.14 and 8.7.1 (conversion rules): `unorm` are 0 to 1, `snorm` -1 to 1.
 */
import { f64Bits } from '../../base/float.ts';
import { type Builder, type IntType, intOf, type ScalarType, type Value } from '../../ir/index.ts';
import type { Lanes } from '../types.ts';

export interface PackedFormat {
  readonly isSigned: boolean;
  /** Bits of each, the first lowest. */
  readonly widths: readonly number[];
  /** The word that holds all. */
  readonly type: IntType;
}

/** `4x8` and the like, or 10 and 2 for `rgb10a2`; nothing for what is no word of the IR. */
export function packedFormat(kind: string, count: number, width: number): PackedFormat | undefined {
  const widths = count === 10 ? [10, 10, 10, 2] : Array<number>(count).fill(width);
  const bits = widths.reduce((sum, each) => sum + each, 0);
  if (![8, 16, 32, 64].includes(bits)) return undefined;
  return { isSigned: kind === 'snorm', widths, type: intOf(bits) };
}

/** What the greatest value of a width stands for 1 with. */
const scaleOf = ({ isSigned }: PackedFormat, width: number): number => 2 ** (isSigned ? width - 1 : width) - 1;

const single = (b: Builder, value: number): Value => b.fptrunc('f32', b.const('f64', f64Bits(value)));

/** Scaled in float, rounded to nearest even, and kept within the range; a NaN is 0. */
export function packLanes(b: Builder, format: PackedFormat, lanes: Lanes): Value {
  const { type, widths, isSigned } = format;
  let [word, at] = [b.const(type, 0n), 0];
  widths.forEach((width, i) => {
    const scale = scaleOf(format, width);
    const x = b.typeOf(lanes[i]!) === 'f32' ? lanes[i]! : b.fpext('f32', lanes[i]!);
    const scaled = b.frint(b.fmul(x, single(b, scale)));
    // Conversions saturate, and give 0 for NaN.
    const whole = isSigned ? b.fptosi('i32', scaled) : b.fptoui('i32', scaled);
    const top = b.const('i32', scale);
    const bounded = isSigned ? b.smax(b.smin(whole, top), b.const('i32', -scale)) : b.umin(whole, top);
    const bits = b.and(bounded, b.const('i32', 2 ** width - 1));
    const held = type === 'i32' ? bits : type === 'i64' ? b.zext(type, bits) : b.trunc(type, bits);
    word = b.or(word, b.shl(held, b.const(type, at)));
    at += width;
  });
  return word;
}

/** Divided by what stands for 1; the least of `snorm` is -1 as well. */
export function unpackLanes(b: Builder, format: PackedFormat, word: Value, to: ScalarType): Lanes {
  const { type, widths, isSigned } = format;
  let at = 0;
  return widths.map((width) => {
    const shifted = b.lshr(word, b.const(type, at));
    at += width;
    const low = type === 'i32' ? shifted : type === 'i64' ? b.trunc('i32', shifted) : b.zext('i32', shifted);
    const up = b.shl(low, b.const('i32', 32 - width));
    const value = isSigned
      ? b.sitofp('f32', b.ashr(up, b.const('i32', 32 - width)))
      : b.uitofp('f32', b.lshr(up, b.const('i32', 32 - width)));
    const part = b.fdiv(value, single(b, scaleOf(format, width)));
    const bounded = isSigned ? b.fmax(part, single(b, -1)) : part;
    return to === 'f32' ? bounded : b.fptrunc(to, bounded);
  });
}
