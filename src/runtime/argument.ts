/** Argument specifications: every form of `--arg` and of a launch file as one union. */
import { closest } from '../base/closest.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { type ElementType, type ElementValue, elementCount, elements, elementTypes, integerRange, isElementType } from './element.ts';
import type { Init } from './rand.ts';

/** The expected contents of a buffer after the launch. Tolerances of 0 demand equal bits. */
export interface Expectation extends Tolerance {
  readonly path: string;
}

export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
  readonly ulp: number;
}

/** Eight bytes of a struct or of a buffer that have an address within a buffer argument. */
export interface PointerField {
  /** The byte at which the eight bytes of the address start. */
  readonly offset: number;
  /** The index of the buffer argument. */
  readonly argument: number;
  /** The byte of that buffer; 0 by default. */
  readonly at?: number;
}

/** One argument as the user specified it. `label` names it in messages: the text of `--arg`, or its entry in a launch file. */
export type ArgumentSpec = { readonly label: string; readonly name?: string; readonly expect?: Expectation } & (
  | {
      readonly kind: 'buffer';
      readonly element: ElementType;
      readonly shape: readonly number[];
      readonly init: Init;
      readonly pointers?: readonly PointerField[];
    }
  /** A buffer from a file, which determines the shape if none is given. */
  | {
      readonly kind: 'file';
      readonly element: ElementType;
      readonly shape?: readonly number[];
      readonly path: string;
      readonly pointers?: readonly PointerField[];
    }
  | { readonly kind: 'scalar'; readonly element: ElementType; readonly value: ElementValue }
  | { readonly kind: 'bytes'; readonly path: string; readonly pointers?: readonly PointerField[] }
  /** The null pointer. */
  | { readonly kind: 'null' }
  /** A pointer to a byte of another argument, a buffer. */
  | { readonly kind: 'within'; readonly argument: number; readonly offset: number }
  /** A struct of zeros, in a default launch. */
  | { readonly kind: 'zero-bytes'; readonly size: number }
);

/** Why a text could not be read. */
export interface Problem {
  readonly problem: string;
}

/** A text that says why. */
export const problem = (text: string): Problem => ({ problem: text });

/** Whether a text could not be read. */
export const isProblem = (value: unknown): value is Problem => typeof value === 'object' && value !== null && 'problem' in value;

/** Parses one `--arg`; undefined after reporting CM5010. */
export function parseArgument(spec: string, diagnostics: Diagnostics): ArgumentSpec | undefined {
  const argument = read(spec);
  if (!isProblem(argument)) return argument;
  diagnostics.report('CM5010', { spec, why: argument.problem });
  return undefined;
}

function read(spec: string): ArgumentSpec | Problem {
  if (spec === 'null') return { label: spec, kind: 'null' };
  const at = spec.search(/[:=@]/);
  if (at < 0) return problem('a `:SHAPE`, `=VALUE` or `@FILE` must follow the element type');
  const type = spec.slice(0, at);
  const rest = spec.slice(at + 1);
  if (type === 'bytes') return spec[at] === '@' && rest !== '' ? readStruct(spec, rest) : problem('`bytes` needs a file: `bytes@FILE`');
  if (!isElementType(type)) return problem(unknownType(type));
  if (spec[at] === '@')
    return rest === '' ? problem('a file name must follow `@`') : { label: spec, kind: 'file', element: type, path: rest };
  if (spec[at] === ':') return readBuffer(spec, type, rest);
  if (rest.includes(',')) return readList(spec, type, rest);
  const value = parseValue(type, rest);
  return isProblem(value) ? value : { label: spec, kind: 'scalar', element: type, value };
}

/** The longest path with fields behind it. */
const maxStructLength = 16_384;

/** `FILE` or `FILE+48=&1+56=&2`: a file, and the buffers whose addresses are in it. */
function readStruct(label: string, rest: string): ArgumentSpec | Problem {
  // No file has such a name, and the pattern takes quadratic time.
  if (rest.length > maxStructLength) return problem(`a struct has at most ${maxStructLength} characters`);
  const [, path = rest, fields = ''] = /^(.+?)((?:\+\d{1,9}=&\d{1,4})+)$/s.exec(rest) ?? [];
  if (fields === '' && /\+[^/+]*=&/.test(rest)) return problem('a pointer in a struct is `+OFFSET=&I`, such as `bytes@FILE+48=&1`');
  const pointers = [...fields.matchAll(/\+(\d+)=&(\d+)/g)].map(([, offset, argument]) => ({
    offset: Number(offset),
    argument: Number(argument),
  }));
  return { label, kind: 'bytes', path, ...(pointers.length > 0 ? { pointers } : {}) };
}

function unknownType(word: string): string {
  const near = closest(word, [...elementTypes, 'bytes', 'null']);
  return `\`${word}\` is not an element type${near ? `, did you mean \`${near}\`` : ` (${elementTypes.join(' ')})`}`;
}

function readBuffer(spec: string, element: ElementType, rest: string): ArgumentSpec | Problem {
  const equals = rest.indexOf('=');
  const words = (equals < 0 ? rest : rest.slice(0, equals)).split('x');
  if (words.some((word) => !/^[1-9]\d*$/.test(word)))
    return problem(`\`${words.join('x')}\` is not a shape: counts of at least 1 joined by \`x\` are`);
  const shape = words.map(Number);
  if (elementCount(shape) * elements[element].size > 2 ** 40) return problem('the buffer is larger than 1 TiB');
  const init: Init | Problem = equals < 0 ? { kind: 'zeros' } : parseInit(element, rest.slice(equals + 1), elementCount(shape));
  return isProblem(init) ? init : { label: spec, kind: 'buffer', element, shape, init };
}

/** A buffer of the values in a list. */
function readList(spec: string, element: ElementType, rest: string): ArgumentSpec | Problem {
  const init = parseValues(element, rest);
  return isProblem(init) ? init : { label: spec, kind: 'buffer', element, shape: [init.values.length], init };
}

/** Parses values that are separated by commas. */
function parseValues(element: ElementType, words: string): (Init & { readonly kind: 'values' }) | Problem {
  const values = words.split(',').map((word) => parseValue(element, word));
  return values.find(isProblem) ?? { kind: 'values', values: values as ElementValue[] };
}

/** Parses the text after `=` behind a shape of some elements. `rand` alone is `rand(0)`. */
function parseInit(element: ElementType, word: string, count: number): Init | Problem {
  if (word === 'zeros' || word === 'ones' || word === 'iota') return { kind: word };
  if (word === 'rand') return { kind: 'rand', seed: 0n };
  if (word.includes(',') || /^[-+.\d]/.test(word)) {
    const list = parseValues(element, word);
    if (isProblem(list) || list.values.length === count) return list;
    return problem(`${count} elements have ${list.values.length} values; \`fill(V)\` gives all elements one value`);
  }
  const call = /^(fill|rand)\((.*)\)$/.exec(word);
  if (!call) return problem(`\`${word}\` is not one of \`zeros ones iota fill(V) rand rand(SEED)\` and no list of values`);
  if (call[1] === 'fill') {
    const value = parseValue(element, call[2]!);
    return isProblem(value) ? value : { kind: 'fill', value };
  }
  const seed = parseValue(call[2]!.startsWith('-') ? 'i64' : 'u64', call[2]!);
  return isProblem(seed) ? seed : { kind: 'rand', seed: BigInt(seed) };
}

/** Parses a scalar: decimal, 0x hex, nan, inf, -inf; a hexadecimal integer may also be the bits of a signed type. */
export function parseValue(type: ElementType, word: string): ElementValue | Problem {
  return elements[type].kind === 'float' ? parseFloatWord(word) : parseIntegerWord(type, word);
}

function parseIntegerWord(type: ElementType, word: string): ElementValue | Problem {
  const match = /^([+-]?)(0[xX][0-9a-fA-F]+|\d+)$/.exec(word);
  if (!match) return problem(`\`${word}\` is not an integer, decimal or 0x hexadecimal`);
  const size = BigInt(match[2]!);
  const value = match[1] === '-' ? -size : size;
  const bits = BigInt(elements[type].size * 8);
  const isBits = /^0[xX]/.test(word) && value < 1n << bits;
  const [min, max] = integerRange(type)!;
  if (!isBits && (value < min || value > max)) return problem(`${word} does not fit in ${type} (${min} to ${max})`);
  const exact = elements[type].kind === 'signed' ? BigInt.asIntN(Number(bits), value) : value;
  return bits === 64n ? exact : Number(exact);
}

const special: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

function parseFloatWord(word: string): number | Problem {
  const named = special.get(word.toLowerCase());
  if (named !== undefined) return named;
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(word)) return Number(word);
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]{1,13})(?:\.([0-9a-fA-F]{0,12}))?[pP]([+-]?\d{1,5})$/.exec(word);
  if (hex) return hexFloat(hex[1] === '-' ? -1 : 1, hex[2]!, hex[3] ?? '', Number(hex[4]));
  // 0xff could be the value 255 or the bits of a tiny number: refused.
  if (/^[+-]?0[xX]/.test(word))
    return problem(`\`${word}\` could be a value or bits: write it in decimal, or as a hexadecimal float such as 0x1.8p3`);
  return problem(`\`${word}\` is not a number`);
}

/** C's hexadecimal float, of at most 13 digits so that it is exact. */
function hexFloat(sign: number, whole: string, fraction: string, exponent: number): number | Problem {
  if (whole.length + fraction.length > 13) return problem('a hexadecimal float has at most 13 digits here');
  return sign * Number(`0x${whole}${fraction}`) * 2 ** (exponent - 4 * fraction.length);
}
