/** Reductions of vectors: blocks reduce their parts, and one block what blocks found. The order depends on the length alone, so that results repeat. */
import {
  blockIndex,
  constant,
  gridSize,
  laneIndex,
  local,
  loop,
  type Pointer,
  ptr,
  s32,
  s64,
  shared,
  shuffleDown,
  syncThreads,
  type Type,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { type CublasHandle, kernelOf, launch } from './handle.ts';

const threads = 256;
const warps = threads / 32;
const maxBlocks = 256;

/** A value of one or more components. */
export type Tuple = readonly Value<'f32'>[];

/** What is reduced. */
export interface Reduction {
  readonly name: string;
  /** Parameters beside `n`, which elements are found with. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The types of the components. */
  readonly types: readonly Type<'f32'>[];
  /** What changes no value, by component. */
  readonly identity: readonly number[];
  element(p: never, i: Value<'s64'>): Tuple;
  join(a: Tuple, b: Tuple): Tuple;
  /** The results of the whole, each in a type. */
  readonly results: readonly Type<'f32'>[];
  finish(whole: Tuple, p: never): Tuple;
}

/** The value of all threads of the block, in the first thread. */
function joinBlock({ types, identity, join }: Reduction, values: Tuple): Tuple {
  const inWarp = (from: Tuple): Tuple => {
    let own = from;
    for (let distance = 16; distance >= 1; distance /= 2)
      own = join(
        own,
        own.map((value) => shuffleDown(value, distance)),
      );
    return own;
  };
  const own = inWarp(values);
  const parts = types.map((type) => shared(type, warps));
  when(laneIndex().eq(0), () => {
    for (const [c, part] of parts.entries()) part.at(threadIndex().shr(5)).set(own[c]!);
  });
  syncThreads();
  const rest = types.map((type, c) => local(type, identity[c]!));
  when(laneIndex().lt(warps), () => {
    for (const [c, part] of parts.entries()) rest[c]!.set(part.at(laneIndex()));
  });
  return inWarp(rest.map((each) => each.get()));
}

/** Reduces n > 0 elements. The results go to memory, one after another in an array for each. */
export function reduceVector(
  handle: CublasHandle,
  reduction: Reduction,
  n: number,
  given: Readonly<Record<string, unknown>>,
  to: readonly unknown[],
): void {
  const { name, types, identity, join, results } = reduction;
  const parts = Object.fromEntries(types.map((type, c) => [`part${c}`, ptr(type)]));
  const first = kernelOf(
    `${name}_parts`,
    { n: s64, ...parts, ...reduction.parameters },
    (p: Record<string, never> & { n: Value<'s64'> }) => {
      const own = types.map((type, c) => local(type, identity[c]!));
      const step = gridSize().mul(threads).to(s64);
      loop(blockIndex().mad(threads, threadIndex()).to(s64), p.n, step, (i) => {
        const next = join(
          own.map((each) => each.get()),
          reduction.element(p as never, i),
        );
        for (const [c, each] of own.entries()) each.set(next[c]!);
      });
      const whole = joinBlock(
        reduction,
        own.map((each) => each.get()),
      );
      when(threadIndex().eq(0), () => {
        for (const [c, value] of whole.entries()) (p[`part${c}`] as unknown as Pointer<'f32', 'global'>).at(blockIndex()).set(value);
      });
    },
    threads,
  );
  const targets = Object.fromEntries(results.map((type, c) => [`to${c}`, ptr(type)]));
  const second = kernelOf(
    `${name}_finish`,
    { count: u32, ...parts, ...targets, ...reduction.parameters },
    (p: Record<string, never> & { count: Value<'u32'> }) => {
      const own = types.map((type, c) => local(type, identity[c]!));
      when(threadIndex().lt(p.count), () => {
        for (const [c, each] of own.entries()) each.set((p[`part${c}`] as unknown as Pointer<'f32', 'global'>).at(threadIndex()));
      });
      const whole = joinBlock(
        reduction,
        own.map((each) => each.get()),
      );
      when(threadIndex().eq(0), () => {
        for (const [c, value] of reduction.finish(whole, p as never).entries())
          (p[`to${c}`] as unknown as Pointer<'f32', 'global'>).at(constant(u32, 0)).set(value);
      });
    },
    threads,
  );
  const blocks = Math.min(maxBlocks, Math.ceil(n / (threads * 8)));
  const scratch = types.map((type) =>
    handle.device.allocate(({ f32: 'f32', f64: 'f64', s32: 'i32' } as const)[type.name as 'f32'], blocks),
  );
  const buffers = Object.fromEntries(scratch.map((buffer, c) => [`part${c}`, buffer]));
  launch(handle, first, blocks, threads, { n, ...buffers, ...given });
  launch(handle, second, 1, threads, { count: blocks, ...buffers, ...given, ...Object.fromEntries(to.map((each, c) => [`to${c}`, each])) });
  for (const buffer of scratch) buffer.free();
}
/** The type of places. */
export const placeType = s32 as unknown as Type<'f32'>;
