/**
 * Decimal and hexadecimal digits of f64 values, exactly: the value is a ratio of integers and is rounded once, to nearest even.
 * Source: ISO C17 7.21.6.1; the GNU C library 2.36 for the leading digit of `%a`.
 */
import { floatFormats, unpackFloat } from '../float-exact.ts';
import type { Plain } from './conversion.ts';

export interface FloatDigits {
  readonly sign: string;
  /** `0x` for hexadecimal digits. */
  readonly prefix: string;
  readonly digits: string;
  /** False for infinities and NaNs, which are never padded with zeros. */
  readonly isNumber: boolean;
}

/** `mantissa * 2^exponent`. */
interface Size {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** The digits of an f64 bit pattern under one of the conversions `e f g a` and their capitals. */
export function floatDigits({ letter, precision, isAlternative, plus }: Plain, bits: bigint): FloatDigits {
  const sign = bits >> 63n ? '-' : plus;
  const isUpper = letter < 'a';
  const cased = (text: string): string => (isUpper ? text.toUpperCase() : text);
  const value = unpackFloat(floatFormats.f64, bits);
  if (value.kind !== 'finite') return { sign, prefix: '', digits: cased(value.kind === 'nan' ? 'nan' : 'inf'), isNumber: false };
  const form = letter.toLowerCase();
  const prefix = form === 'a' ? cased('0x') : '';
  const digits =
    form === 'a'
      ? hexadecimal(value, precision, isAlternative)
      : form === 'f'
        ? fixed(value, precision ?? 6, isAlternative)
        : form === 'e'
          ? scientific(value, precision ?? 6, isAlternative)
          : general(value, Math.max(1, precision ?? 6), isAlternative);
  return { sign, prefix, digits: cased(digits), isNumber: true };
}

function fixed(size: Size, precision: number, keepsPoint: boolean): string {
  const digits = scaled(size, precision)
    .toString()
    .padStart(precision + 1, '0');
  return withPoint(digits, digits.length - precision, keepsPoint);
}

function scientific(size: Size, precision: number, keepsPoint: boolean): string {
  const { digits, exponent } = significant(size, precision + 1);
  return withPoint(digits, 1, keepsPoint) + exponentText(exponent);
}

const exponentText = (exponent: number): string => `e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;

/** `%g`: the shorter form. Trailing zeros and the decimal point are dropped unless `#` keeps them. */
function general(size: Size, precision: number, keepsAll: boolean): string {
  const { digits, exponent } = significant(size, precision);
  const isFixed = exponent >= -4 && exponent < precision;
  const kept = keepsAll ? digits : digits[0] + digits.slice(1).replace(/0+$/, '');
  if (!isFixed) return withPoint(kept, 1, keepsAll) + exponentText(exponent);
  if (exponent < 0) return withPoint('0'.repeat(-exponent) + kept, 1, keepsAll);
  return withPoint(kept.padEnd(exponent + 1, '0'), exponent + 1, keepsAll);
}

function withPoint(digits: string, before: number, keepsPoint: boolean): string {
  const isWhole = digits.length === before;
  return isWhole && !keepsPoint ? digits : `${digits.slice(0, before)}.${digits.slice(before)}`;
}

/** The first `count` digits of a number, and the power of ten of the first digit. */
function significant(size: Size, count: number): { digits: string; exponent: number } {
  if (size.mantissa === 0n) return { digits: '0'.repeat(count), exponent: 0 };
  const width = size.mantissa.toString(2).length + size.exponent;
  // The estimate is at most one too low: log10 of a number in [2^(width - 1), 2^width).
  let exponent = Math.floor((width - 1) * Math.log10(2));
  let digits = scaled(size, count - 1 - exponent).toString();
  if (digits.length > count) digits = scaled(size, count - 1 - ++exponent).toString();
  // Rounding up may give one more digit, which is a trailing 0.
  return digits.length > count ? { digits: digits.slice(0, count), exponent: exponent + 1 } : { digits, exponent };
}

/** The value times a power of ten, rounded to the nearest integer, ties to even. */
function scaled({ mantissa, exponent }: Size, power: number): bigint {
  const above = mantissa * (power > 0 ? 10n ** BigInt(power) : 1n) * (exponent > 0 ? 1n << BigInt(exponent) : 1n);
  const below = (power < 0 ? 10n ** BigInt(-power) : 1n) * (exponent < 0 ? 1n << BigInt(-exponent) : 1n);
  return nearestEven(above, below);
}

function nearestEven(above: bigint, below: bigint): bigint {
  const quotient = above / below;
  const twice = 2n * (above % below);
  return twice > below || (twice === below && (quotient & 1n) === 1n) ? quotient + 1n : quotient;
}

/** `1.8p+0` after the prefix. The leading digit is 1, or 0 for a subnormal number; rounding may increment it. */
function hexadecimal(size: Size, precision: number | undefined, keepsPoint: boolean): string {
  const power = size.mantissa === 0n ? 0 : size.exponent + 52;
  return `${withPoint(hexadecimalDigits(size, precision), 1, keepsPoint)}p${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}

/** The leading digit and the 13 digits after it. */
function hexadecimalDigits({ mantissa }: Size, precision: number | undefined): string {
  const all = mantissa.toString(16).padStart(14, '0');
  if (precision === undefined) return all[0] + all.slice(1).replace(/0+$/, '');
  if (precision >= 13) return all.padEnd(precision + 1, '0');
  const rounded = nearestEven(mantissa, 1n << BigInt(4 * (13 - precision)));
  return rounded.toString(16).padStart(precision + 1, '0');
}
