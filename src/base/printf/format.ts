/**
 * Formatting of C's `printf`.
 * Source: ISO C17 7.21.6.1; the GNU C library 2.36 where the standard leaves the result open (null pointers, `%p`, the sign of a NaN).
 */
import { bug } from '../bug.ts';
import { type Conversion, kindsOf, maxCharacters, type Piece, type Plain } from './conversion.ts';
import { floatDigits } from './float-digits.ts';

/** The bits of a 4- or 8-byte argument, or the bytes of a string. A null string pointer is `undefined`. */
export type Argument = bigint | string | undefined;

/** The formatted bytes, one character per byte. `args` has one entry for each kind that `argumentsOf` lists. */
export function formatText(pieces: readonly Piece[], args: readonly Argument[]): string {
  let at = 0;
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const count = kindsOf(piece).length;
      at += count;
      return convert(piece, args.slice(at - count, at));
    })
    .join('');
}

function convert(conversion: Conversion, args: readonly Argument[]): string {
  const left = [...args];
  const number = (count: number | '*' | undefined): number | undefined =>
    count === '*' ? Number(BigInt.asIntN(32, left.shift() as bigint)) : count;
  const width = number(conversion.width) ?? 0;
  const precision = number(conversion.precision);
  const { flags, letter, bytes } = conversion;
  const plain = {
    letter,
    bytes,
    width: Math.min(Math.abs(width), maxCharacters),
    precision: precision === undefined || precision < 0 ? undefined : Math.min(precision, maxCharacters),
    isLeft: flags.has('-') || width < 0,
    isZeroed: flags.has('0'),
    isAlternative: flags.has('#'),
    plus: flags.has('+') ? '+' : flags.has(' ') ? ' ' : '',
  } as const;
  return digitsOf(plain, left[0]);
}

function digitsOf(c: Plain, value: Argument): string {
  if (c.letter === 's') return textField(c, value as string | undefined);
  if (typeof value !== 'bigint') return bug('a string for a number');
  if (c.letter === 'c') return padded(c, String.fromCharCode(Number(BigInt.asUintN(8, value))));
  if (c.letter === 'p') return value === 0n ? padded(c, '(nil)') : integer({ ...c, isAlternative: true }, c.plus, value, 16);
  if (c.letter === 'd' || c.letter === 'i') {
    const signed = BigInt.asIntN(8 * c.bytes, value);
    return integer(c, signed < 0n ? '-' : c.plus, signed < 0n ? -signed : signed, 10);
  }
  const unsigned = BigInt.asUintN(8 * c.bytes, value);
  if (c.letter === 'u') return integer(c, '', unsigned, 10);
  if (c.letter === 'o') return integer(c, '', unsigned, 8);
  if (c.letter === 'x' || c.letter === 'X') return integer(c, '', unsigned, 16);
  const { sign, prefix, digits, isNumber } = floatDigits(c, value);
  return isNumber ? zeroPadded(c, sign + prefix, digits) : padded(c, sign + digits);
}

/** A null pointer prints as `(null)` if the precision has room for all of it. */
function textField(c: Plain, value: string | undefined): string {
  if (value === undefined) return padded(c, c.precision === undefined || c.precision >= 6 ? '(null)' : '');
  return padded(c, value.slice(0, c.precision));
}

function integer(c: Plain, sign: string, size: bigint, base: 8 | 10 | 16): string {
  const plain = size === 0n && c.precision === 0 ? '' : size.toString(base);
  const atLeast = plain.padStart(c.precision ?? 0, '0');
  const digits = base === 8 && c.isAlternative && !atLeast.startsWith('0') ? `0${atLeast}` : atLeast;
  const prefix = base === 16 && c.isAlternative && size !== 0n ? '0x' : '';
  const upper = (text: string): string => (c.letter === 'X' ? text.toUpperCase() : text);
  const head = sign + upper(prefix);
  return c.precision === undefined ? zeroPadded(c, head, upper(digits)) : padded(c, head + upper(digits));
}

/** Pads with zeros after the sign up to the width, if the `0` flag is set. */
const zeroPadded = (c: Plain, head: string, digits: string): string =>
  c.isZeroed && !c.isLeft ? head + digits.padStart(c.width - head.length, '0') : padded(c, head + digits);

const padded = ({ isLeft, width }: Plain, text: string): string => (isLeft ? text.padEnd(width) : text.padStart(width));
