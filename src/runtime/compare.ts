/** Compares the contents of a buffer with the expected contents. */
import type { Tolerance } from './argument.ts';
import { type ElementType, type ElementValue, elements, viewOf } from './element.ts';

export interface Comparison {
  readonly pass: boolean;
  /** Largest |got - want|; infinite if only one of the two is NaN or infinite. */
  readonly maxAbs: number;
  /** Largest |got - want| / |want|. */
  readonly maxRel: number;
  /** Largest count of representable values between the two; infinite as above. */
  readonly maxUlp: number;
  /** Index of the first element that fails. */
  readonly firstMismatch: number | undefined;
  readonly mismatches: number;
  readonly count: number;
}

/** Compares two buffers of equal length, element by element. */
export function compareElements(element: ElementType, got: Uint8Array, want: Uint8Array, tolerance: Tolerance): Comparison {
  const { size, get } = elements[element];
  const [left, right] = [viewOf(got), viewOf(want)];
  const count = Math.floor(want.length / size);
  const isExact = tolerance.rtol === 0 && tolerance.atol === 0 && tolerance.ulp === 0;
  const worst = { maxAbs: 0, maxRel: 0, maxUlp: 0 };
  let firstMismatch: number | undefined;
  let mismatches = 0;
  for (let i = 0; i < count; i++) {
    const at = i * size;
    if (sameBits(left, right, at, size)) continue;
    const distance = distanceOf(element, get(left, at), get(right, at), bitsAt(left, at, size), bitsAt(right, at, size));
    if (distance === 'same nan') continue;
    worst.maxAbs = Math.max(worst.maxAbs, distance.abs);
    worst.maxRel = Math.max(worst.maxRel, distance.rel);
    worst.maxUlp = Math.max(worst.maxUlp, distance.ulp);
    if (!isExact && isWithin(distance, tolerance)) continue;
    firstMismatch ??= i;
    mismatches++;
  }
  return { pass: mismatches === 0, ...worst, firstMismatch, mismatches, count };
}

interface Distance {
  readonly abs: number;
  readonly rel: number;
  readonly ulp: number;
  readonly wantSize: number;
}

function isWithin({ abs, ulp, wantSize }: Distance, tolerance: Tolerance): boolean {
  if (!Number.isFinite(abs)) return false;
  return abs <= tolerance.atol + tolerance.rtol * wantSize || ulp <= tolerance.ulp;
}

const incomparable: Distance = { abs: Number.POSITIVE_INFINITY, rel: Number.POSITIVE_INFINITY, ulp: Number.POSITIVE_INFINITY, wantSize: 0 };

function distanceOf(element: ElementType, got: ElementValue, want: ElementValue, gotBits: bigint, wantBits: bigint): Distance | 'same nan' {
  if (elements[element].kind !== 'float') return integerDistance(BigInt(got), BigInt(want));
  const [g, w] = [Number(got), Number(want)];
  if (Number.isNaN(g) && Number.isNaN(w)) return 'same nan';
  if (!Number.isFinite(g) || !Number.isFinite(w)) return incomparable;
  const width = BigInt(elements[element].size * 8);
  const ulp = Number(magnitude(ordered(gotBits, width) - ordered(wantBits, width)));
  // The difference of two finite f64 values may exceed the largest f64; it counts as finite.
  const abs = Math.min(Math.abs(g - w), Number.MAX_VALUE);
  return { abs, rel: relative(abs, Math.abs(w)), ulp, wantSize: Math.abs(w) };
}

function integerDistance(got: bigint, want: bigint): Distance {
  const difference = Number(magnitude(got - want));
  const wantSize = Number(magnitude(want));
  return { abs: difference, rel: relative(difference, wantSize), ulp: difference, wantSize };
}

const relative = (abs: number, wantSize: number): number => (abs === 0 ? 0 : wantSize === 0 ? Number.POSITIVE_INFINITY : abs / wantSize);

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

/** Float bits as an integer that counts representable values; both zeros are 0. */
function ordered(bits: bigint, width: bigint): bigint {
  const sign = 1n << (width - 1n);
  return bits >= sign ? sign - bits : bits;
}

function sameBits(left: DataView, right: DataView, at: number, size: number): boolean {
  for (let i = at; i < at + size; i++) if (left.getUint8(i) !== right.getUint8(i)) return false;
  return true;
}

function bitsAt(view: DataView, at: number, size: number): bigint {
  let bits = 0n;
  for (let i = size - 1; i >= 0; i--) bits = (bits << 8n) | BigInt(view.getUint8(at + i));
  return bits;
}
