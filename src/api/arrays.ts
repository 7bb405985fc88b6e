/** Element types in JavaScript: their typed arrays, and the accepted alternatives. */
import { decodeElements, type ElementType, elements, integerRange, viewOf } from '../runtime/index.ts';
import { errorWith } from './context.ts';

/** f16 and bf16 elements are their bits; `numbersOf` and `elementsOf` convert. */
export interface Arrays {
  readonly u8: Uint8Array;
  readonly i8: Int8Array;
  readonly u16: Uint16Array;
  readonly i16: Int16Array;
  readonly f16: Uint16Array;
  readonly bf16: Uint16Array;
  readonly u32: Uint32Array;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly u64: BigUint64Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
}

/** The type of one element value. */
export type ValueOf<E extends ElementType> = E extends 'u64' | 'i64' ? bigint | number : number;

/** The type of one element as a number. */
export type NumberOf<E extends ElementType> = E extends 'u64' | 'i64' ? bigint : number;

/** Arrays of numbers that are rounded to elements. */
type Rounded<E extends ElementType> = E extends 'f16' | 'bf16' ? Float32Array | Float64Array : never;

/** Elements: the typed array, or numbers. */
export type Elements<E extends ElementType> = Arrays[E] | Rounded<E> | readonly ValueOf<E>[];

/** Element data: elements or bytes. */
export type Data<E extends ElementType> = Elements<E> | Uint8Array;

const constructors = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
} as const satisfies Record<ElementType, unknown>;

/** A typed array over bytes, which must be aligned to the element size. */
export function arrayOn<E extends ElementType>(element: E, { buffer, byteOffset, byteLength }: Uint8Array): Arrays[E] {
  const { size } = elements[element];
  return new constructors[element](buffer as ArrayBuffer, byteOffset, byteLength / size) as unknown as Arrays[E];
}

/** The bytes of a typed array, without a copy. */
export const bytesIn = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);

/**
 * Data as bytes: those of an array, or numbers converted to elements. Throws CM5074 for an array of another type, and CM5076 for a number that
 * is no element.
 */
export function bytesOf<E extends ElementType>(element: E, data: Data<E>): Uint8Array {
  if (ArrayBuffer.isView(data)) {
    if (isRounded(element, data)) return encoded(element, data);
    if (!(data instanceof Uint8Array) && !(data instanceof constructors[element]))
      throw errorWith('CM5074', { wanted: element, given: nameOf(data) });
    return bytesIn(data);
  }
  assertElements(element, data);
  return encoded(element, data);
}

/** The numbers of elements: those of f16 and bf16 by their bits. */
export const numbersOf = <E extends ElementType>(element: E, data: Arrays[E] | Uint8Array): NumberOf<E>[] =>
  decodeElements(element, bytesIn(data)) as NumberOf<E>[];

/** Numbers as elements in a typed array: f16 and bf16 are rounded to nearest even. Throws CM5076 for a number that is no element. */
export const elementsOf = <E extends ElementType>(element: E, numbers: Rounded<E> | readonly ValueOf<E>[]): Arrays[E] =>
  arrayOn(element, bytesOf(element, numbers as Data<E>).slice());

const isRounded = (element: ElementType, data: ArrayBufferView): data is Float32Array | Float64Array =>
  (element === 'f16' || element === 'bf16') && (data instanceof Float32Array || data instanceof Float64Array);

function encoded(element: ElementType, data: ArrayLike<number | bigint>): Uint8Array {
  const { size, set } = elements[element];
  const bytes = new Uint8Array(data.length * size);
  const view = viewOf(bytes);
  for (let i = 0; i < data.length; i++) set(view, i * size, data[i]!);
  return bytes;
}

/** Throws CM5076 for a number that is not in the range of an integer type. */
function assertElements(element: ElementType, data: readonly (number | bigint)[]): void {
  const range = integerRange(element);
  const [min, max] = range ? [Number(range[0]), Number(range[1])] : [0, 0];
  for (const [index, value] of data.entries()) {
    const isElement = !range
      ? typeof value === 'number'
      : typeof value === 'number'
        ? Number.isInteger(value) && value >= min && value <= max && (elements[element].size < 8 || Number.isSafeInteger(value))
        : typeof value === 'bigint' && value >= range[0] && value <= range[1];
    if (!isElement) throw errorWith('CM5076', { index, element, given: typeof value === 'bigint' ? `${value}n` : String(value) });
  }
}

const nameOf = (data: ArrayBufferView): string => `a ${data.constructor.name}`;
