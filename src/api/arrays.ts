/** Element types in JavaScript: their typed arrays, and the accepted alternatives. */
import { type ElementType, elements, viewOf } from '../runtime/index.ts';
import { errorWith } from './context.ts';

/** f16 and bf16 elements are their bits. */
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

/** Element data: the typed array, bytes, or numbers. */
export type Data<E extends ElementType> = Arrays[E] | Uint8Array | readonly ValueOf<E>[];

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

/** Data as bytes: those of an array, or numbers converted to elements. Throws CM5074 for an array of another type. */
export function bytesOf<E extends ElementType>(element: E, data: Data<E>): Uint8Array {
  if (ArrayBuffer.isView(data)) {
    if (!(data instanceof Uint8Array) && !(data instanceof constructors[element]))
      throw errorWith('CM5074', { wanted: element, given: nameOf(data) });
    return bytesIn(data);
  }
  const { size, set } = elements[element];
  const bytes = new Uint8Array(data.length * size);
  const view = viewOf(bytes);
  data.forEach((value, i) => void set(view, i * size, value));
  return bytes;
}

const nameOf = (data: ArrayBufferView): string => `a ${data.constructor.name}`;
