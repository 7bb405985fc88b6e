/**
 * Parser of `printf` formats. A text is a byte string with one character per byte, so that invalid UTF-8 is preserved.
 * Source: ISO C17 7.21.6.1; sizes of types as CUDA and Linux have them (LP64).
 */

/** A width or precision: a number, `*` for one that is an argument, or absent. */
type Count = number | '*' | undefined;

export interface Conversion {
  readonly flags: ReadonlySet<Flag>;
  readonly width: Count;
  readonly precision: Count;
  readonly letter: Letter;
  /** The size of the integer that is shown, 1 to 8; for other conversions the size of the argument. */
  readonly bytes: number;
}

export type Flag = '-' | '+' | ' ' | '#' | '0';
export type Letter = 'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'c' | 's' | 'p' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A';

/** A conversion with known width and precision. */
export interface Plain {
  readonly letter: Letter;
  readonly bytes: number;
  readonly width: number;
  readonly precision: number | undefined;
  readonly isLeft: boolean;
  readonly isZeroed: boolean;
  readonly isAlternative: boolean;
  /** The prefix of a non-negative number. */
  readonly plus: '+' | ' ' | '';
}

/** Literal text, or a conversion. */
export type Piece = string | Conversion;

/** The kind of argument that a conversion reads: 4 bytes, 8 bytes, or an 8-byte address of a string. */
export type ArgumentKind = 'word' | 'long' | 'string';

/** The reason why a format is refused. */
export interface FormatFault {
  readonly why: string;
}

/** The largest width or precision. Source: ISO C17 7.21.6.1, environmental limits. */
export const maxCharacters = 4095;

const integers = 'diuoxX';
const letters = `${integers}cspeEfFgGaA`;
/** Sizes of integers in bytes, by length modifier. */
const lengths: Readonly<Record<string, number>> = { '': 4, hh: 1, h: 2, l: 8, ll: 8, z: 8, t: 8, j: 8 };

/** The pieces of a format, with neighboring texts merged, or the reason why the format is refused. */
export function parseFormat(format: string): Piece[] | FormatFault {
  const pieces: Piece[] = [];
  const addText = (text: string): void => {
    const last = pieces.at(-1);
    if (typeof last === 'string') pieces[pieces.length - 1] = last + text;
    else if (text !== '') pieces.push(text);
  };
  for (let at = 0; at < format.length; ) {
    const next = format.indexOf('%', at);
    addText(format.slice(at, next < 0 ? undefined : next));
    if (next < 0) break;
    const parameters = /^%([-+ #0]*)(\d+|\*)?(?:\.(\*|\d*))?(hh|h|ll|l|z|t|j)?([\s\S]?)/.exec(format.slice(next))!;
    at = next + parameters[0].length;
    if (parameters[0] === '%%') addText('%');
    else {
      const found = conversionOf(parameters);
      if ('why' in found) return found;
      pieces.push(found);
    }
  }
  return pieces;
}

function conversionOf([text, flags, width, precision, length = '', letter]: RegExpExecArray): Conversion | FormatFault {
  const shown = `\`${[...text!].map((each) => (each >= ' ' && each <= '~' ? each : '?')).join('')}\``;
  if (letter === '') return { why: `the conversion ${shown} at the end is incomplete` };
  if (!letters.includes(letter!)) return { why: `the conversion ${shown} is not supported` };
  const isInteger = integers.includes(letter!);
  // `%lf` is `%f`; `%lc` and `%ls` are wide characters.
  const isValid = isInteger || length === '' || (length === 'l' && 'eEfFgGaA'.includes(letter!));
  if (!isValid) return { why: `the length modifier of the conversion ${shown} is not supported` };
  const counts = [countOf(width), countOf(precision === '' ? '0' : precision)] as const;
  if (counts.some((count) => typeof count === 'number' && count > maxCharacters))
    return { why: `the conversion ${shown} is wider than ${maxCharacters} characters` };
  return {
    flags: new Set(flags as Iterable<Flag>),
    width: counts[0],
    precision: counts[1],
    letter: letter as Letter,
    bytes: isInteger ? lengths[length]! : letter === 'c' ? 4 : 8,
  };
}

const countOf = (text: string | undefined): Count => (text === undefined || text === '*' ? text : Number(text));

/** The kinds of the arguments that a format reads, in order. */
export const argumentsOf = (pieces: readonly Piece[]): ArgumentKind[] => pieces.flatMap((p) => (typeof p === 'string' ? [] : kindsOf(p)));

/** The arguments of one conversion: its width and precision where they are arguments, then its value. */
export function kindsOf({ width, precision, letter, bytes }: Conversion): ArgumentKind[] {
  const counts = [width, precision].flatMap((count): ArgumentKind[] => (count === '*' ? ['word'] : []));
  return [...counts, letter === 's' ? 'string' : bytes === 8 ? 'long' : 'word'];
}
