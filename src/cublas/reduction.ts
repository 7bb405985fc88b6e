/** Reductions of vectors: blocks reduce their parts, and one block what blocks found. The order depends on the length alone, so that results repeat. */
import {
  blockIndex,
  constant,
  gridSize,
  laneIndex,
  local,
  loop,
  loopWhile,
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
import { giveScratch, takeScratch } from '../kernels/scratch.ts';
import { type CublasHandle, kernelOf, launch, type Made } from './handle.ts';

const threads = 256;
const warps = threads / 32;
/** As many as a large GPU has at a time. */
const maxBlocks = 1024;
/** Elements that a thread loads before it joins them. */
const ahead = 4;

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

type Parts = Record<string, never>;
const partOf = (p: Parts, c: number): Pointer<'f32', 'global'> => p[`part${c}`] as unknown as Pointer<'f32', 'global'>;
const partsOf = (types: Reduction['types']): Record<string, unknown> => Object.fromEntries(types.map((type, c) => [`part${c}`, ptr(type)]));

/** The values of this thread so far, and what joins others to them in their order. */
function joined({ types, identity, join }: Reduction): { now(): Tuple; take(elements: readonly Tuple[]): void } {
  const own = types.map((type, c) => local(type, identity[c]!));
  const now = (): Tuple => own.map((each) => each.get());
  return {
    now,
    take(elements) {
      let next = now();
      for (const element of elements) next = join(next, element);
      for (const [c, each] of own.entries()) each.set(next[c]!);
    },
  };
}

/** Each block reduces elements that are a grid apart. */
function firstKernel(reduction: Reduction): Made {
  const { name, types, parameters } = reduction;
  return kernelOf(
    `${name}_parts`,
    { n: s64, ...partsOf(types), ...parameters },
    (p: Parts & { n: Value<'s64'> }) => {
      const { now, take } = joined(reduction);
      const step = gridSize().mul(threads).to(s64);
      const i = local(s64, blockIndex().mad(threads, threadIndex()).to(s64));
      /** Takes some elements at a time, as long as there are as many. */
      const eachOf = (count: number): void => {
        const end = p.n.sub(step.mul(count - 1));
        loopWhile(
          () => i.get().lt(end),
          () => {
            take(Array.from({ length: count }, (_, k) => reduction.element(p as never, k === 0 ? i.get() : i.add(step.mul(k)))));
            i.set(i.add(step.mul(count)));
          },
        );
      };
      eachOf(ahead);
      eachOf(1);
      const whole = joinBlock(reduction, now());
      when(threadIndex().eq(0), () => {
        for (const [c, value] of whole.entries()) partOf(p, c).at(blockIndex()).set(value);
      });
    },
    threads,
  );
}

/** One block reduces what blocks found. */
function finishKernel(reduction: Reduction): Made {
  const { name, types, parameters, results } = reduction;
  const targets = Object.fromEntries(results.map((type, c) => [`to${c}`, ptr(type)]));
  return kernelOf(
    `${name}_finish`,
    { count: u32, ...partsOf(types), ...targets, ...parameters },
    (p: Parts & { count: Value<'u32'> }) => {
      const { now, take } = joined(reduction);
      loop(threadIndex(), p.count, threads, (i) => take([types.map((_, c) => partOf(p, c).at(i).get())]));
      const whole = joinBlock(reduction, now());
      when(threadIndex().eq(0), () => {
        for (const [c, value] of reduction.finish(whole, p as never).entries())
          (p[`to${c}`] as unknown as Pointer<'f32', 'global'>).at(constant(u32, 0)).set(value);
      });
    },
    threads,
  );
}

/** Reduces n > 0 elements. The results go to memory, one after another in an array for each. */
export function reduceVector(
  handle: CublasHandle,
  reduction: Reduction,
  n: number,
  given: Readonly<Record<string, unknown>>,
  to: readonly unknown[],
): void {
  const { types } = reduction;
  const blocks = Math.min(maxBlocks, Math.ceil(n / (threads * 8)));
  const scratch = types.map((type) =>
    takeScratch(handle.device, handle.stream, ({ f32: 'f32', f64: 'f64', s32: 'i32' } as const)[type.name as 'f32'], blocks),
  );
  const buffers = Object.fromEntries(scratch.map((buffer, c) => [`part${c}`, buffer]));
  const targets = Object.fromEntries(to.map((each, c) => [`to${c}`, each]));
  launch(handle, firstKernel(reduction), blocks, threads, { n, ...buffers, ...given });
  launch(handle, finishKernel(reduction), 1, threads, { count: blocks, ...buffers, ...given, ...targets });
  for (const buffer of scratch) giveScratch(handle.device, handle.stream, buffer);
}
/** The type of places. */
export const placeType = s32 as unknown as Type<'f32'>;
