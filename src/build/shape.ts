/** Launch shapes that TypeScript checks: a block of 0 or more than 1024 threads is a type error where its size is a constant. */
import type { Extent } from '../api/index.ts';

/** A tuple of a length of at most four digits. */
type Tuple<N extends number> = Digits<`${N}`, []>;
type Digits<S extends string, T extends readonly unknown[]> = S extends `${infer D extends keyof Ten}${infer R}`
  ? Digits<R, [...Tenfold<T>, ...Ten[D]]>
  : T;
type Tenfold<T extends readonly unknown[]> = [...T, ...T, ...T, ...T, ...T, ...T, ...T, ...T, ...T, ...T];
interface Ten {
  readonly 0: [];
  readonly 1: [0];
  readonly 2: [0, 0];
  readonly 3: [0, 0, 0];
  readonly 4: [0, 0, 0, 0];
  readonly 5: [0, 0, 0, 0, 0];
  readonly 6: [0, 0, 0, 0, 0, 0];
  readonly 7: [0, 0, 0, 0, 0, 0, 0];
  readonly 8: [0, 0, 0, 0, 0, 0, 0, 0];
  readonly 9: [0, 0, 0, 0, 0, 0, 0, 0, 0];
}

/** Whether a constant is above 1024, by its digits. */
type IsLarge<N extends number> = `${N}` extends `${infer A}${infer B}${infer C}${infer D}${infer R}`
  ? R extends ''
    ? Tuple<N>['length'] extends 1000 | 1001 | 1002 | 1003 | 1004 | 1005 | 1006 | 1007 | 1008 | 1009
      ? false
      : `${A}${B}` extends '10'
        ? `${C}${D}` extends `${'1'}${string}` | '20' | '21' | '22' | '23' | '24'
          ? false
          : true
        : true
    : true
  : false;

/** Whether a constant is no number of threads: 0, negative, a fraction, or above 1024. */
type IsWrong<N extends number> = N extends 0 ? true : `${N}` extends `-${string}` | `${string}.${string}` ? true : IsLarge<N>;

/** Whether a constant is above 64, the most that a block has along z. */
type IsDeep<N extends number> = `${N}` extends `${infer A}${infer B}${infer R}`
  ? R extends ''
    ? A extends '1' | '2' | '3' | '4' | '5'
      ? false
      : `${A}${B}` extends '60' | '61' | '62' | '63' | '64'
        ? false
        : true
    : true
  : false;

/** `X * Y` threads, where it is at most 1024; `never` above. */
type Product<X extends number, Y extends number, Sum extends readonly unknown[] = [], Done extends readonly unknown[] = []> =
  IsLarge<Sum['length']> extends true
    ? never
    : X extends 1
      ? Y
      : Y extends Done['length']
        ? Sum['length']
        : Product<X, Y, [...Sum, ...Tuple<X>], [...Done, 0]>;

type Threads<B> = B extends number
  ? number extends B
    ? number
    : IsWrong<B> extends true
      ? never
      : B
  : B extends readonly [infer X extends number]
    ? Threads<X>
    : B extends readonly [infer X extends number, infer Y extends number]
      ? Both<X, Y>
      : B extends readonly [infer X extends number, infer Y extends number, infer Z extends number]
        ? Both<X, Y> extends infer XY extends number
          ? number extends Z
            ? number
            : IsDeep<Z> extends true
              ? never
              : Both<XY, Z>
          : never
        : number;

type Both<X extends number, Y extends number> = number extends X
  ? number
  : number extends Y
    ? number
    : [Threads<X>, Threads<Y>] extends [infer A extends number, infer B extends number]
      ? [A] extends [never]
        ? never
        : [B] extends [never]
          ? never
          : Product<A, B>
      : never;

/** A block of 1 to 1024 threads, at most 64 along z. A constant shape with other ones is not of this type. */
export type Block<B extends Extent> = [Threads<B>] extends [never] ? 'a block has 1 to 1024 threads, at most 64 along z' : B;
