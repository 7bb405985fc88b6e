/** The initial contents of a buffer: zeros, ones, iota, one value or one for each element, or random numbers. */
import { type ElementType, type ElementValue, elementCount, elements, viewOf } from './element.ts';

/** Initial contents. Files are read by the binding. */
export type Init =
  | { readonly kind: 'zeros' | 'ones' | 'iota' }
  | { readonly kind: 'fill'; readonly value: ElementValue }
  /** One for each element. */
  | { readonly kind: 'values'; readonly values: readonly ElementValue[] }
  | { readonly kind: 'rand'; readonly seed: bigint };

/**
 * The 64-bit draws of SplitMix64 started at `seed`.
 * Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators"; constants as in Vigna's splitmix64.c.
 */
export function splitMix64(seed: bigint): () => bigint {
  let state = BigInt.asUintN(64, seed);
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  };
}

/** One random number as an element: integers take its low bits, floats are uniform in [0, 1). */
function drawnElement(type: ElementType, z: bigint): ElementValue {
  if (type === 'f64') return Number(z >> 11n) * 2 ** -53;
  // f16 and bf16 round this float when they are written.
  if (elements[type].kind === 'float') return Number(z >> 40n) * 2 ** -24;
  return z;
}

/** The initial bytes of a buffer. */
export function initialContents(type: ElementType, shape: readonly number[], init: Init): Uint8Array {
  const { size, set } = elements[type];
  const count = elementCount(shape);
  const bytes = new Uint8Array(count * size);
  if (init.kind === 'zeros') return bytes;
  const view = viewOf(bytes);
  const value = startValue(type, init);
  for (let i = 0; i < count; i++) set(view, i * size, value(i));
  return bytes;
}

function startValue(type: ElementType, init: Init): (index: number) => ElementValue {
  switch (init.kind) {
    case 'iota':
      return (index) => index;
    case 'fill':
      return () => init.value;
    case 'values':
      return (index) => init.values[index]!;
    case 'rand': {
      const draw = splitMix64(init.seed);
      return () => drawnElement(type, draw());
    }
    default:
      return () => (init.kind === 'ones' ? 1 : 0);
  }
}
