/** Element types in JavaScript: their typed arrays, and the accepted alternatives. */
import { decodeElements, type ElementType, elements, viewOf } from '../runtime/index.ts';
import { errorWith } from './context.ts';

/** The memory of elements: f16 and bf16 are their bits. */
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

/** The bytes of an element. */
export const elementBytes = (element: ElementType): number => elements[element].size;

/** Elements as numbers: every f16 and bf16 is an f32. */
export type Numbers = Omit<Arrays, 'f16' | 'bf16'> & { readonly f16: Float32Array; readonly bf16: Float32Array };

/** The type of one element value. */
export type ValueOf<E extends ElementType> = E extends 'u64' | 'i64' ? bigint | number : number;

/** Element data: the typed array, of numbers or for f16 and bf16 of their bits, or bytes, or a list of numbers. */
export type Data<E extends ElementType> = Arrays[E] | Numbers[E] | Uint8Array | readonly ValueOf<E>[];

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

const isHalf = (element: ElementType): boolean => element === 'f16' || element === 'bf16';

/** A copy of elements as numbers. */
export function numbersIn<E extends ElementType>(element: E, bytes: Uint8Array): Numbers[E] {
  const numbers = isHalf(element) ? Float32Array.from(decodeElements(element, bytes) as number[]) : arrayOn(element, bytes);
  return numbers as unknown as Numbers[E];
}

/**
 * Data as bytes: those of an array, or numbers converted to elements. Throws CM5074 for an array of another type, and for an integer out of
 * the range of the type.
 */
export function bytesOf<E extends ElementType>(element: E, data: Data<E>): Uint8Array {
  if (ArrayBuffer.isView(data)) {
    if (isHalf(element) && data instanceof Float32Array) return bytesOfNumbers(element, data);
    if (!(data instanceof Uint8Array) && !(data instanceof constructors[element]))
      throw errorWith('CM5074', { wanted: element, given: nameOf(data) });
    return bytesIn(data);
  }
  return bytesOfNumbers(element, data as readonly (number | bigint)[]);
}

function bytesOfNumbers(element: ElementType, data: ArrayLike<number | bigint>): Uint8Array {
  const { size, set } = elements[element];
  const bytes = new Uint8Array(data.length * size);
  const view = viewOf(bytes);
  for (let i = 0; i < data.length; i++) {
    const value = data[i]!;
    if (!fits(element, value)) throw errorWith('CM5074', { wanted: element, given: `${value} at index ${i}, which does not fit` });
    set(view, i * size, value);
  }
  return bytes;
}

/** Whether a number fits an element type: floats are rounded, integers must be in range, signed or unsigned. */
export function fits(element: ElementType, value: number | bigint): boolean {
  const { size, kind } = elements[element];
  if (kind === 'float') return typeof value === 'number';
  const bits = 8 * size;
  // A hot path; powers of two are exact as numbers.
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= -(2 ** (bits - 1)) && value < 2 ** bits;
  const most = 1n << BigInt(bits);
  return value >= -(most >> 1n) && value < most;
}

const nameOf = (data: ArrayBufferView): string => `a ${data.constructor.name}`;
