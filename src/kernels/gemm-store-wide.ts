/** Stores of sums that are elements of the result as they are: two next to each other at a time. */
import { local, pointerAt, type Type, u64, type Value, v2, vector, when } from '../build/index.ts';
import { type Activation, activations } from './functions.ts';
import { type GemmInside, sums } from './gemm-plan.ts';
import type { TakePair } from './sum-pairs.ts';

type Word = Value<'u32'>;
/** A sum as the body sees it: f32 or f64. */
type Real = Value<'f32'>;

interface Stored {
  readonly kind: 'tf32' | 'f64';
  readonly activation: Activation;
  /** What a block computes. */
  readonly tile: { readonly rows: number; readonly columns: number };
}

interface Corner {
  readonly row: Word;
  readonly column: Word;
  readonly batch: Value<'u64'>;
}

/** Stores sums with the scale, what was there before, the bias and the function. */
export function storeWide(p: GemmInside, form: Stored, { row, column, batch }: Corner, visit: (take: TakePair) => void): void {
  const { kind, activation, tile } = form;
  const sum = sums[kind] as unknown as Type<'f32'>;
  const size = kind === 'f64' ? 8 : 4;
  const start = (p.c.address() as Value<'u64'>).add(batch.mul(p.strideC).mul(size));
  const isPaired = start
    .and(2 * size - 1)
    .eq(0)
    .and(p.ldc.and(1).eq(0));
  const [hasBias, hasBefore] = [p.bias.address().ne(0), p.beta.ne(0)];
  const isInside = row.add(tile.rows).le(p.m).and(column.add(tile.columns).le(p.n));
  const placeOf = (at: Word, side: Word) => pointerAt(sum, 'global', start.add(at.to(u64).mul(p.ldc).add(side.to(u64)).mul(size)));
  const end = (value: Real): Real => activations[activation](value);
  const whole: TakePair = ([first, second], r, c) =>
    placeOf(row.add(r), column.add(c))
      .as(v2(sum))
      .at(0)
      .set(vector(sum, [end(p.alpha.mul(first)), end(p.alpha.mul(second))]));
  const edge: TakePair = (values, r, c) => {
    const [at, side] = [row.add(r), column.add(c)];
    when(at.lt(p.m), () => {
      const line = placeOf(at, side);
      values.forEach((value, e) => {
        when(side.add(e).lt(p.n), () => {
          const own = local(sum, p.alpha.mul(value));
          when(hasBias, () => own.set(own.add(p.bias.at(side, e))));
          when(hasBefore, () => own.set(p.beta.fma(line.at(e).get(), own)));
          line.at(e).set(end(own.get()));
        });
      });
    });
  };
  when(
    isInside.and(isPaired).and(hasBias.or(hasBefore).not()),
    () => visit(whole),
    () => visit(edge),
  );
}
