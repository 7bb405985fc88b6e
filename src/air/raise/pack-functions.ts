/**
 * Normalized integers of a few bits, packed into an integer, lowest first.
 * Source: Metal Shading Language Specification 4, section 6.14 and 8.7.1 (conversion rules): `unorm` are 0 to 1, `snorm` -1 to 1.
 */
import { f64Bits } from '../../base/float.ts';
import { type Builder, type IntType, intOf, type ScalarType, type Value } from '../../ir/index.ts';
import type { Lanes } from '../types.ts';

export interface PackedFormat {
  readonly isSigned: boolean;
  /** The width of each in bits, lowest first. */
  readonly widths: readonly number[];
  /** The integer type that holds all of them. */
  readonly type: IntType;
}

/** Formats such as `4x8`, or widths 10 and 2 for `rgb10a2`; undefined if they do not fit an IR integer. */
export function packedFormat(kind: string, count: number, width: number): PackedFormat | undefined {
  const widths = count === 10 ? [10, 10, 10, 2] : Array<number>(count).fill(width);
  const bits = widths.reduce((sum, each) => sum + each, 0);
  if (![8, 16, 32, 64].includes(bits)) return undefined;
  return { isSigned: kind === 'snorm', widths, type: intOf(bits) };
}

/** The integer that represents 1 at a given width. */
const scaleOf = ({ isSigned }: PackedFormat, width: number): number => 2 ** (isSigned ? width - 1 : width) - 1;

const single = (b: Builder, value: number): Value => b.fptrunc('f32', b.const('f64', f64Bits(value)));

/** Scales in f32, rounds to nearest even, and clamps to the range; NaN gives 0. */
export function packLanes(b: Builder, format: PackedFormat, lanes: Lanes): Value {
  const { type, widths, isSigned } = format;
  let [word, at] = [b.const(type, 0n), 0];
  widths.forEach((width, i) => {
    const scale = scaleOf(format, width);
    const x = b.typeOf(lanes[i]!) === 'f32' ? lanes[i]! : b.fpext('f32', lanes[i]!);
    const scaled = b.frint(b.fmul(x, single(b, scale)));
    // Conversions saturate and give 0 for NaN.
    const whole = isSigned ? b.fptosi('i32', scaled) : b.fptoui('i32', scaled);
    const top = b.const('i32', scale);
    const bounded = isSigned ? b.smax(b.smin(whole, top), b.const('i32', -scale)) : b.umin(whole, top);
    const bits = b.and(bounded, b.const('i32', 2 ** width - 1));
    const integer = type === 'i32' ? bits : type === 'i64' ? b.zext(type, bits) : b.trunc(type, bits);
    word = b.or(word, b.shl(integer, b.const(type, at)));
    at += width;
  });
  return word;
}

/** Divides by the integer that represents 1; the smallest `snorm` value also gives -1. */
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
