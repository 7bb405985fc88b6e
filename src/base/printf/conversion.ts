/**
 * Formats of C's `printf`, taken apart: text and conversions. A text is a string of bytes, each character being one, so that what
 * is no UTF-8 stays what it is. Source: ISO C17 7.21.6.1; sizes of types as CUDA and Linux have them (LP64).
 */

/** A number in the format, `*` for one that is an argument, or nothing. */
type Count = number | '*' | undefined;

export interface Conversion {
  readonly flags: ReadonlySet<Flag>;
  readonly width: Count;
  readonly precision: Count;
  readonly letter: Letter;
  /** Of the integer that is shown, 1 to 8; of the argument of any other conversion. */
  readonly bytes: number;
}

export type Flag = '-' | '+' | ' ' | '#' | '0';
export type Letter = 'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'c' | 's' | 'p' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A';

/** A conversion whose width and precision are known. */
export interface Plain {
  readonly letter: Letter;
  readonly bytes: number;
  readonly width: number;
  readonly precision: number | undefined;
  readonly isLeft: boolean;
  readonly isZeroed: boolean;
  readonly isAlternative: boolean;
  /** What stands before a number that is not negative. */
  readonly plus: '+' | ' ' | '';
}

/** Text as it stands, or a conversion. */
export type Piece = string | Conversion;

/** What a conversion takes from the list of arguments: 4 or 8 bytes, or 8 bytes that say where a string lies. */
export type ArgumentKind = 'word' | 'long' | 'string';

/** Why a format is none that is understood. */
export interface FormatFault {
  readonly why: string;
}

/** Most characters of a width or precision. Source: ISO C17 7.21.6.1, environmental limits. */
export const mostCharacters = 4095;

const integers = 'diuoxX';
const letters = `${integers}cspeEfFgGaA`;
/** Bytes of integers by length modifier. */
const lengths: Readonly<Record<string, number>> = { '': 4, hh: 1, h: 2, l: 8, ll: 8, z: 8, t: 8, j: 8 };

/** The parts of a format, neighbouring texts as one; or why it is refused. */
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
    const words = /^%([-+ #0]*)(\d+|\*)?(?:\.(\*|\d*))?(hh|h|ll|l|z|t|j)?([\s\S]?)/.exec(format.slice(next))!;
    at = next + words[0].length;
    if (words[0] === '%%') addText('%');
    else {
      const found = conversionOf(words);
      if ('why' in found) return found;
      pieces.push(found);
    }
  }
  return pieces;
}

function conversionOf([text, flags, width, precision, length = '', letter]: RegExpExecArray): Conversion | FormatFault {
  const shown = `\`${[...text!].map((each) => (each >= ' ' && each <= '~' ? each : '?')).join('')}\``;
  if (letter === '') return { why: `the conversion ${shown} at its end is not complete` };
  if (!letters.includes(letter!)) return { why: `the conversion ${shown} is none that is supported` };
  const isInteger = integers.includes(letter!);
  // `%lf` is `%f`; `%lc` and `%ls` are of wide characters.
  const isFine = isInteger || length === '' || (length === 'l' && 'eEfFgGaA'.includes(letter!));
  if (!isFine) return { why: `the length of the conversion ${shown} is none that is supported` };
  const counts = [countOf(width), countOf(precision === '' ? '0' : precision)] as const;
  if (counts.some((count) => typeof count === 'number' && count > mostCharacters))
    return { why: `the conversion ${shown} is of more than ${mostCharacters} characters` };
  return {
    flags: new Set(flags as Iterable<Flag>),
    width: counts[0],
    precision: counts[1],
    letter: letter as Letter,
    bytes: isInteger ? lengths[length]! : letter === 'c' ? 4 : 8,
  };
}

const countOf = (text: string | undefined): Count => (text === undefined || text === '*' ? text : Number(text));

/** What a format takes from the list of arguments, in order. */
export const argumentsOf = (pieces: readonly Piece[]): ArgumentKind[] => pieces.flatMap((p) => (typeof p === 'string' ? [] : kindsOf(p)));

/** What one conversion takes: its width and its precision where they are arguments, then what it shows. */
export function kindsOf({ width, precision, letter, bytes }: Conversion): ArgumentKind[] {
  const counts = [width, precision].flatMap((count): ArgumentKind[] => (count === '*' ? ['word'] : []));
  return [...counts, letter === 's' ? 'string' : bytes === 8 ? 'long' : 'word'];
}
