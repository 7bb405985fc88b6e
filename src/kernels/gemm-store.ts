/** Stores of products of halves and bfloats, two elements at a time. */
import { bf16, f16, f32, local, pack, pointerAt, type Type, u32, u64, type Value, when } from '../build/index.ts';
import { type Activation, activations } from './functions.ts';
import type { GemmInside, HalfType } from './gemm-plan.ts';
import type { TakePair } from './sum-pairs.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;

const elements = { f16, bf16 } as const;

interface Stored {
  readonly type: HalfType;
  readonly activation: Activation;
  /** What a block computes. */
  readonly tile: { readonly rows: number; readonly columns: number };
}

/** Stores sums with the scale, what was there before, the bias and the function. */
export function storeHalf(p: GemmInside, form: Stored, { row, column, batch }: Corner, visit: (take: TakePair) => void): void {
  const { type, activation, tile } = form;
  const element = elements[type] as unknown as Type<'f16'>;
  const start = (p.c.address() as Value<'u64'>).add(batch.mul(p.strideC).mul(2));
  const isPaired = start.and(3).eq(0).and(p.ldc.and(1).eq(0));
  const hasBias = p.bias.address().ne(0);
  const hasBefore = p.beta.ne(0);
  const isInside = row.add(tile.rows).le(p.m).and(column.add(tile.columns).le(p.n));
  const placeOf = (at: Word, side: Word) => start.add(at.to(u64).mul(p.ldc).add(side.to(u64)).mul(2));
  const word = (values: readonly Real[]): Value<'u32'> => {
    const [first, second] = values.map((value) => activations[activation](value).to(element)) as [Value<'f16'>, Value<'f16'>];
    return pack(first, second).as(u32);
  };
  const whole: TakePair = (values, r, c) =>
    pointerAt(u32, 'global', placeOf(row.add(r), column.add(c)))
      .at(0)
      .set(word(values.map((value) => p.alpha.mul(value))));
  const edge: TakePair = (values, r, c) => {
    const [at, side] = [row.add(r), column.add(c)];
    when(at.lt(p.m).and(side.lt(p.n)), () => {
      const line = pointerAt(element, 'global', placeOf(at, side));
      const isPair = side.add(1).lt(p.n);
      const own = values.map((value) => local(f32, p.alpha.mul(value)));
      const each = (e: number, run: () => void): void => (e === 0 ? run() : when(isPair, run));
      when(hasBias, () =>
        [0, 1].forEach((e) => {
          each(e, () => own[e]!.set(own[e]!.add(p.bias.at(side, e))));
        }),
      );
      when(hasBefore, () =>
        [0, 1].forEach((e) => {
          each(e, () => own[e]!.set(p.beta.fma(line.at(e).get().to(f32), own[e]!)));
        }),
      );
      const both = word(own.map((value) => value.get()));
      when(
        isPair.and(isPaired),
        () => line.as(u32).at(0).set(both),
        () => {
          line.at(0).set(both.low().as(element));
          when(isPair, () => line.at(1).set(both.high().as(element)));
        },
      );
    });
  };
  when(
    isInside.and(isPaired).and(hasBias.or(hasBefore).not()),
    () => visit(whole),
    () => visit(edge),
  );
}

interface Corner {
  readonly row: Word;
  readonly column: Word;
  readonly batch: Value<'u64'>;
}
