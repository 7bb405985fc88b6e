/**
 * Random CUDA C++ programs, whose host code computes what the device code has to give. This file has the types of their values, random choices, and what an
 * expression may name; `expressions.ts` and `statements.ts` write code, `threads.ts` programs of threads and `warps.ts` those of warps.
 */
import { splitMix64 } from '../../../src/runtime/rand.ts';

/** The types of values, by their names in `prelude.h`. */
export const types = {
  u8: { bits: 8, isFloat: false },
  i8: { bits: 8, isFloat: false },
  u16: { bits: 16, isFloat: false },
  i16: { bits: 16, isFloat: false },
  u32: { bits: 32, isFloat: false },
  i32: { bits: 32, isFloat: false },
  u64: { bits: 64, isFloat: false },
  i64: { bits: 64, isFloat: false },
  f32: { bits: 32, isFloat: true },
  f64: { bits: 64, isFloat: true },
} as const;
export type Type = keyof typeof types;
export const allTypes = Object.keys(types) as Type[];
export const integers = allTypes.filter((type) => !types[type].isFloat);
export const floats = allTypes.filter((type) => types[type].isFloat);

/** Random choices that follow from a number. */
export interface Draw {
  /** An integer from 0 up to below a bound. */
  below(bound: number): number;
  /** An integer of a range that includes both ends. */
  between(first: number, last: number): number;
  /** Whether something with this probability happens. */
  chance(probability: number): boolean;
  of<T>(list: readonly T[]): T;
  /** One of a list by the weights at the start of each. */
  weighted<T>(list: readonly (readonly [weight: number, value: T])[]): T;
  word(): bigint;
}

export function newDraw(seed: number): Draw {
  const word = splitMix64(BigInt(seed));
  const fraction = () => Number(word() >> 11n) * 2 ** -53;
  const below = (bound: number) => Math.floor(fraction() * bound);
  return {
    below,
    word,
    between: (first, last) => first + below(last - first + 1),
    chance: (probability) => fraction() < probability,
    of: (list) => list[below(list.length)]!,
    weighted(list) {
      let left = fraction() * list.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of list) {
        if (left < weight) return value;
        left -= weight;
      }
      return list.at(-1)![1];
    },
  };
}

export interface Variable {
  readonly name: string;
  readonly type: Type;
  /** Whether nothing but its loop assigns it. */
  readonly isCounter?: boolean;
}

/** A function of the program, whose result depends on its arguments alone. */
export interface Callee {
  readonly name: string;
  readonly params: readonly Type[];
  readonly result: Type;
}

/** What code at one place may name. */
export interface Scope {
  readonly draw: Draw;
  variables: Variable[];
  /** Arrays of u32, with a power of two of elements. */
  readonly arrays: { readonly name: string; readonly length: number }[];
  readonly functions: readonly Callee[];
  /** How many names there are. */
  names: number;
}

export const newScope = (draw: Draw, variables: Variable[] = [], functions: readonly Callee[] = []): Scope => ({
  ...{ draw, variables, functions, arrays: [], names: 0 },
});

/** Some of something. */
export const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
