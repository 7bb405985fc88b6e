/** Rotary position embedding. */
import {
  blockIndex,
  f32,
  kernel,
  type Pointer,
  ptr,
  s32,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { blocksFor, type Floating, named, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';

/** Options of `rope`. */
export type RopeOptions<T extends Floating> = TypeOption<T> & {
  /** Which two elements are a pair: i and i + pairs (`halves`, as in GPT-NeoX and Llama's weights of Hugging Face), or 2i and 2i + 1. Default: `halves`. */
  readonly pairing?: 'halves' | 'neighbors';
  /** Turns the other way: the backward kernel. */
  readonly inverse?: boolean;
};

type Rope<T extends Floating> = ReturnType<typeof ropeParameters<T>>;
const ropeParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  y: ptr(type),
  positions: ptr(s32),
  cosines: ptr(f32),
  sines: ptr(f32),
  tokens: u32,
  heads: u32,
  size: u32,
  pairs: u32,
});

const threads = 256;

/**
 * Turns pairs of elements by the position of their token: x and y have `tokens` by `heads` by `size` elements, and the first `2 * pairs` of each head are
 * turned; the others are copied. `cosines` and `sines` have a row of `pairs` for each position (`ropeTables`), and `positions` says the row of each token.
 * `x` and `y` may be the same. Deterministic.
 */
export function rope<T extends Floating = 'f32'>(options: RopeOptions<T> = {}): Routine<Rope<T>> {
  const type = typeOf(options);
  const { pairing = 'halves', inverse = false } = options;
  const make = (name: string): TypedKernel<Rope<T>> =>
    kernel(
      name,
      ropeParameters(type),
      (p) => {
        const { x, y, positions, cosines, sines, heads, size, pairs } = p as unknown as Record<'x' | 'y', Pointer<T, 'global'>> &
          Record<'cosines' | 'sines', Pointer<'f32', 'global'>> & { positions: Pointer<'s32', 'global'> } & Record<
            'heads' | 'size' | 'pairs',
            Value<'u32'>
          >;
        // A thread has a pair, or an element that is copied.
        const token = blockIndex('y');
        const rest = size.sub(pairs.shl(1));
        const perHead = pairs.add(rest);
        const index = blockIndex().mad(threads, threadIndex());
        when(index.lt(heads.mul(perHead)), () => {
          const [head, i] = [index.div(perHead), index.rem(perHead)];
          const start = token.mulWide(heads.mul(size));
          const offset = head.mul(size);
          const [from, to] = [x.add(start).add(offset), y.add(start).add(offset)];
          when(
            i.lt(pairs),
            () => {
              const [first, second] = pairing === 'halves' ? [i, i.add(pairs)] : [i.mul(2), i.mul(2).add(1)];
              const angle = positions.at(token).get().as(u32).mulWide(pairs);
              const [cosine, sine] = [cosines.add(angle).at(i).get(), sines.add(angle).at(i).get()];
              const turn = inverse ? sine.neg() : sine;
              const [a, b] = [from.at(first).get().to(f32), from.at(second).get().to(f32)];
              to.at(first).set(a.mul(cosine).sub(b.mul(turn)).to(type));
              to.at(second).set(a.mul(turn).add(b.mul(cosine)).to(type));
            },
            () => to.at(i.add(pairs)).set(from.at(i.add(pairs)).get()),
          );
        });
      },
      { ...portable, block: threads },
    );
  const key = named('rope', pairing === 'neighbors' && 'neighbors', inverse && 'inverse', type.name);
  return routine(key, make, (args) => {
    const { tokens, heads, size, pairs } = args as unknown as Record<'tokens' | 'heads' | 'size' | 'pairs', number>;
    const all = tokens * heads * size;
    return {
      grid: [blocksFor(heads * (size - pairs), threads), tokens],
      block: threads,
      args,
      // The tokens are the grid's second extent; pairs have two elements each.
      sizes: {
        tokens: tokens > 65535 ? Number.NaN : tokens,
        heads,
        size,
        pairs: 2 * pairs > size ? Number.NaN : pairs,
        elements: heads * size,
      },
      needs: { x: all, y: all, positions: tokens },
    };
  });
}

/** The tables of `rope`: cosines and sines of `position * base^(-i / pairs)` for the positions from 0 on, computed with f64. */
export function ropeTables(positions: number, pairs: number, base = 10_000): { cosines: Float32Array; sines: Float32Array } {
  const angles = Float64Array.from({ length: positions * pairs }, (_, k) => Math.floor(k / pairs) * base ** -((k % pairs) / pairs));
  return { cosines: Float32Array.from(angles, Math.cos), sines: Float32Array.from(angles, Math.sin) };
}
