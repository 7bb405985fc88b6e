/** Element types of buffers and scalars: sizes, exact encoding and decoding, and numbers as people read them. */
import { bf16Bits, bf16Value, f16Bits, f16Value } from '../base/float.ts';
import type { DeviceModule } from '../device/device.ts';

/** The reflection of a kernel. */
export type Kernel = DeviceModule['kernels'][number];
export type Parameter = Kernel['params'][number];
/** The contract's spelling of an element type. */
export type ElementType = NonNullable<Parameter['element']>;

/** One element: a bigint for the 64-bit integers, else a number. */
export type ElementValue = number | bigint;

interface ElementRow {
  readonly size: 1 | 2 | 4 | 8;
  readonly kind: 'unsigned' | 'signed' | 'float';
  /** How numpy spells it, little-endian; bf16, which numpy lacks, travels as u16. */
  readonly npy: string;
  get(view: DataView, offset: number): ElementValue;
  /** Integers keep their low bits; floats round to nearest even. */
  set(view: DataView, offset: number, value: ElementValue): void;
}

/** Every element type; order is the contract's. */
export const elements: Record<ElementType, ElementRow> = {
  u8: { size: 1, kind: 'unsigned', npy: '|u1', get: (v, o) => v.getUint8(o), set: (v, o, x) => v.setUint8(o, low(x)) },
  i8: { size: 1, kind: 'signed', npy: '|i1', get: (v, o) => v.getInt8(o), set: (v, o, x) => v.setUint8(o, low(x)) },
  u16: { size: 2, kind: 'unsigned', npy: '<u2', get: (v, o) => v.getUint16(o, true), set: (v, o, x) => v.setUint16(o, low(x), true) },
  i16: { size: 2, kind: 'signed', npy: '<i2', get: (v, o) => v.getInt16(o, true), set: (v, o, x) => v.setUint16(o, low(x), true) },
  f16: {
    size: 2,
    kind: 'float',
    npy: '<f2',
    get: (v, o) => f16Value(v.getUint16(o, true)),
    set: (v, o, x) => v.setUint16(o, f16Bits(Number(x)), true),
  },
  bf16: {
    size: 2,
    kind: 'float',
    npy: '<u2',
    get: (v, o) => bf16Value(v.getUint16(o, true)),
    set: (v, o, x) => v.setUint16(o, bf16Bits(Number(x)), true),
  },
  u32: { size: 4, kind: 'unsigned', npy: '<u4', get: (v, o) => v.getUint32(o, true), set: (v, o, x) => v.setUint32(o, low(x), true) },
  i32: { size: 4, kind: 'signed', npy: '<i4', get: (v, o) => v.getInt32(o, true), set: (v, o, x) => v.setUint32(o, low(x), true) },
  f32: { size: 4, kind: 'float', npy: '<f4', get: (v, o) => v.getFloat32(o, true), set: (v, o, x) => v.setFloat32(o, Number(x), true) },
  u64: {
    size: 8,
    kind: 'unsigned',
    npy: '<u8',
    get: (v, o) => v.getBigUint64(o, true),
    set: (v, o, x) => v.setBigUint64(o, wide(x), true),
  },
  i64: { size: 8, kind: 'signed', npy: '<i8', get: (v, o) => v.getBigInt64(o, true), set: (v, o, x) => v.setBigUint64(o, wide(x), true) },
  f64: { size: 8, kind: 'float', npy: '<f8', get: (v, o) => v.getFloat64(o, true), set: (v, o, x) => v.setFloat64(o, Number(x), true) },
};

export const elementTypes = Object.keys(elements) as ElementType[];

/** Whether a word is an element type. */
export const isElementType = (word: string): word is ElementType => Object.hasOwn(elements, word);

/** The low 32 bits of an integer. */
const low = (value: ElementValue): number => (typeof value === 'bigint' ? Number(BigInt.asUintN(32, value)) : value >>> 0);

const wide = (value: ElementValue): bigint => BigInt.asUintN(64, BigInt(value));

/** A view on bytes wherever they start in their buffer. */
export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A buffer for one value: creating a view on a small array is slow. */
const scratch = new Uint8Array(8);
const scratchView = viewOf(scratch);

/** The bytes of one value. */
export function encodeValue(type: ElementType, value: ElementValue): Uint8Array {
  elements[type].set(scratchView, 0, value);
  return scratch.slice(0, elements[type].size);
}

/** `count` elements from the start; fewer where the bytes end. */
export function decodeElements(type: ElementType, bytes: Uint8Array, count = Number.POSITIVE_INFINITY): ElementValue[] {
  const { size, get } = elements[type];
  const view = viewOf(bytes);
  const length = Math.min(count, Math.floor(bytes.length / size));
  return Array.from({ length }, (_, i) => get(view, i * size));
}

/** Elements in a shape. */
export const elementCount = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);

/** Smallest and largest integer of a type; undefined for floats. */
export function integerRange(type: ElementType): readonly [min: bigint, max: bigint] | undefined {
  const { size, kind } = elements[type];
  if (kind === 'float') return undefined;
  const bits = BigInt(size * 8);
  return kind === 'unsigned' ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
}

const digits: Partial<Record<ElementType, number>> = { f16: 5, bf16: 4, f32: 9 };

/** The shortest decimal that reads back as the same element; `nan`, `inf` and `-inf` as the contract spells them. */
export function formatValue(type: ElementType, value: ElementValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0';
  const maxDigits = digits[type];
  if (maxDigits === undefined || Number.isInteger(value)) return String(value);
  for (let precision = 1; precision < maxDigits; precision++) {
    const rounded: number = Number(value.toPrecision(precision));
    if (decodeElements(type, encodeValue(type, rounded))[0] === value) return String(rounded);
  }
  return String(Number(value.toPrecision(maxDigits)));
}
