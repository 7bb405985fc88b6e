/** Histograms: how many elements are in each of some ranges of equal size. */
import type { KernelBuffer } from '../api/index.ts';
import {
  blockIndex,
  constant,
  type Element,
  f32,
  gridSize,
  kernel,
  loop,
  type Pointer,
  ptr,
  reduction,
  s32,
  shared,
  syncThreads,
  type Type,
  threadIndex,
  u8,
  u32,
  u64,
  type Value,
  when,
} from '../build/index.ts';
import type { Any, AnyValue } from './combine.ts';
import { assertHolds, assertSize, type elements, Procedure } from './procedure.ts';
import { refuse } from './refuse.ts';
import { blocksFor, named, portable, type Routine, routine } from './routine.ts';

/** The types of what is counted. */
export type Counted = 'f32' | 'u32' | 's32' | 'u8';
/** What a launch of a histogram is given. */
export interface HistogramArguments<T extends Counted> {
  readonly x: KernelBuffer<(typeof elements)[T]> | bigint;
  /** A count for each range, which is set. */
  readonly counts: KernelBuffer<'u32'>;
  readonly n: number;
  readonly bins: number;
  /** The first value of the first range. */
  readonly lower: number;
  /** The first value behind the last range. */
  readonly upper: number;
}

type Word = Value<'u32'>;
const types = { f32, u32, s32, u8 } as const;
const threads = 256;
/** The counts that a block has in shared memory. */
const maxShared = 4096;
const maxBlocks = 1024;

interface Launch {
  readonly x: unknown;
  readonly counts: unknown;
  readonly n: number;
  readonly bins: number;
  readonly lower: number;
  readonly scale: number;
  readonly width: number;
}

/** The range of an element, and whether it is in one. */
function binOf(
  name: Counted,
  value: AnyValue,
  p: { lower: AnyValue; scale: Value<'f32'>; width: Word; bins: Word },
): [Value<'pred'>, Word] {
  if (name === 'f32') {
    const place = value.sub(p.lower).mul(p.scale).floor();
    // The last range has what rounding puts behind it.
    return [value.ge(p.lower), place.to(u32).min(p.bins.sub(1))];
  }
  const wide = name === 'u8' ? (value as unknown as Value<'u8'>).to(u32) : (value as unknown as Word);
  const lower = p.lower as unknown as Word;
  const [distance, isAbove] =
    name === 's32'
      ? [(wide as unknown as Value<'s32'>).as(u32).sub((lower as unknown as Value<'s32'>).as(u32)), wide.ge(lower)]
      : [wide.sub(lower), wide.ge(lower)];
  const place = distance.mulWide(p.bins).div(p.width.to(u64)).to(u32);
  return [isAbove.and(distance.lt(p.width)), place];
}

function countRoutine(name: Counted, isShared: boolean): Routine<never, Launch> {
  const element = types[name] as unknown as Any;
  const bound = (name === 'u8' ? u32 : types[name]) as unknown as Any;
  return routine(
    named('histogram', name, !isShared && 'wide'),
    (word) =>
      kernel(
        word,
        { x: ptr(element), counts: ptr(u32), n: u32, bins: u32, lower: bound, upper: bound, scale: f32, width: u32 },
        ({ x, counts, n, bins, lower, upper, scale, width }) => {
          const own = isShared ? shared(u32, maxShared) : undefined;
          const target = (bin: Word): Element<'u32', 'shared'> | Element<'u32', 'global'> =>
            own ? own.at(bin) : (counts as Pointer<'u32', 'global'>).at(bin);
          if (own) {
            loop(threadIndex(), bins, threads, (bin) => own.at(bin).set(0));
            syncThreads();
          }
          loop(blockIndex().mad(threads, threadIndex()), n, gridSize().mul(threads), (i) => {
            const value = x.at(i).get();
            const [isIn, bin] = binOf(name, value, { lower, scale, width, bins });
            const isCounted = name === 'f32' ? isIn.and(value.lt(upper)) : isIn;
            when(isCounted, () => reduction('add', target(bin) as Element<'u32', 'global'>, 1));
          });
          if (!own) return;
          syncThreads();
          loop(threadIndex(), bins, threads, (bin) => {
            const count = own.at(bin).get();
            when(count.ne(constant(u32, 0)), () => reduction('add', counts.at(bin), count));
          });
        },
        { ...portable, block: threads },
      ),
    (args: Launch & { readonly upper: number }) => ({
      grid: Math.min(maxBlocks, blocksFor(args.n, threads * 16)),
      block: threads,
      args: args as never,
    }),
  ) as unknown as Routine<never, Launch>;
}

/**
 * Counts the elements from `lower` to before `upper` in ranges of equal size, of which there are `bins`; others, and NaN, are not counted. Integers have the
 * range `floor((x - lower) * bins / (upper - lower))` exactly; f32 `floor((x - lower) * scale)` with `scale` as `bins / (upper - lower)`, each rounded to f32, and the
 * last range what this puts behind it. Up to 4096 ranges are counted in shared memory. Deterministic.
 */
export function histogram<T extends Counted = 'f32'>({ type }: { readonly type?: Type<T> } = {}): Procedure<HistogramArguments<T>> {
  const element = (type?.name ?? 'f32') as Counted;
  const [narrow, wide] = [countRoutine(element, true), countRoutine(element, false)];
  const name = named('histogram', element);
  return new Procedure(
    name,
    () => [narrow, wide],
    (steps, { x, counts, n, bins, lower, upper }: HistogramArguments<T>) => {
      assertSize(name, 'n', n, 0xffff_ffff - threads * maxBlocks);
      assertSize(name, 'bins', bins, 0x7fff_ffff, 1);
      assertHolds(name, 'x', x, n);
      assertHolds(name, 'counts', counts, bins);
      const isWhole = element === 'f32' || (Number.isInteger(lower) && Number.isInteger(upper));
      if (!(isWhole && upper > lower && Number.isFinite(upper - lower))) refuse(name, `\`lower\` is ${lower} and \`upper\` is ${upper}`);
      if (element !== 'f32' && upper - lower > 0xffff_ffff) refuse(name, `there are more than 4294967295 values from ${lower} to ${upper}`);
      steps.clear(counts, bins);
      const scale = Math.fround(bins / (upper - lower));
      const width = element === 'f32' ? 0 : upper - lower;
      // Of integers the width says where the last range ends.
      const ends = { lower, upper: element === 'f32' ? upper : lower };
      steps.launch(bins <= maxShared ? narrow : wide, { x, counts, n, bins, ...ends, scale, width } as Launch);
    },
  );
}
