/** The products of a unit of 256 quantized weights of 16 rows, and the sums of rows. */
import {
  b32,
  blockIndex,
  constant,
  f32,
  gridSize,
  inline,
  laneIndex,
  local,
  loop,
  type Pointer,
  shared,
  shuffleXor,
  syncThreads,
  threadIndex,
  u32,
  type Value,
  type Variable,
  v2,
  v4,
  warpIndex,
  when,
} from '../build/index.ts';
import type { Bits, Codes } from './quantized-codes.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;
type Long = Value<'u64'>;

/** The rows of a warp. */
export const tileRows = 16;
/** The bfloats of an element of a vector. */
export const parts = 3;
/** The weights of a unit. */
export const unitWeights = 256;
/** Bytes between the vectors in shared memory besides their own: lanes that read two vectors find them in different banks. */
export const gap = 64;

/** How a kernel is made. */
export interface Form {
  readonly codes: Codes;
  readonly vectors: number;
  readonly warps: number;
  readonly stages: number;
  /** The units of a row that a warp copies at a time. */
  readonly together: 1 | 2;
  /** Blocks for each multiprocessor. */
  readonly perProcessor: number;
  /** The bytes of a row of a unit in shared memory. */
  readonly pitch: number;
}

/** The parameters in the body. */
export interface Inside {
  readonly weights: Pointer<'u8', 'global'>;
  readonly rows: Word;
  readonly columns: Word;
  readonly x: Pointer<'f32', 'global'>;
  readonly y: Pointer<'f32', 'global'>;
  readonly batch: Word;
  readonly split: Word;
}

/** Vectors in shared memory. */
export interface Spread {
  readonly at: Pointer<'u8', 'shared'>;
  readonly pitch: Word;
  /** The sums of each 16 elements. */
  readonly sums: Pointer<'f32', 'shared'>;
}

/** The bytes of a row of weights. */
export const rowBytes = (p: Inside, { codes }: Form): Word => p.columns.div(codes.weights).mul((codes.bytes * codes.weights) / unitWeights);

/** The first byte of a row; rows beyond the last are the last one. */
export const rowStart = (p: Inside, form: Form, row: Word): Long =>
  (p.weights.address() as Long).add(row.min(p.rows.sub(1)).mulWide(rowBytes(p, form)));

/** The sums of a warp. */
export interface Sums {
  /** By row and by column of the product. */
  readonly totals: readonly (readonly Variable<'f32'>[])[];
  /** What is subtracted, by row and vector. */
  readonly offsets: readonly (readonly Variable<'f32'>[])[];
}

const product = (a: readonly Bits[], b: readonly Bits[], c: readonly Real[]): Real[] => [
  ...inline(
    'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};',
    [f32, f32, f32, f32],
    [...a, ...b, ...c],
  ),
];

/** Adds the product of a unit of 16 rows in shared memory to the sums. */
export function multiplier(
  p: Inside,
  form: Form,
  vector: Spread,
  { totals, offsets }: Sums,
): (at: Pointer<'u8', 'shared'>, group: Word, unit: Word) => void {
  const { codes, vectors, pitch } = form;
  const lane = laneIndex();
  const [g, t] = [lane.shr(2), lane.and(3)];
  // Lanes of columns that are not used read those of the first, and their results are left out.
  const column = g.lt(parts * vectors).select(g, 0);
  const own = vector.at.add(column.mul(vector.pitch)).add(t.mul(8));
  const perVector = vector.pitch.sub(gap).shr(5);
  return (at, group, unit) => {
    const blocks = p.columns
      .div(codes.weights)
      .sub(unit.mul(unitWeights / codes.weights))
      .min(unitWeights / codes.weights);
    const decoded = [0, 8].map((more) => {
      const row = at.add(g.add(more).mul(pitch));
      const start = rowStart(p, form, group.mul(tileRows).add(g).add(more)).add(unit.mulWide(codes.bytes));
      return codes.decode!(codes.load(row.add(start.to(u32).and(15)), t, blocks), t);
    });
    const from = own.add(unit.mul(2 * unitWeights));
    const zero = inline('mov.f32 %0, 0f00000000;', [f32])[0];
    const blockSums: (Real | undefined)[][] = [
      [undefined, undefined],
      [undefined, undefined],
    ];
    decoded[0]!.groups.forEach(({ places, digits }, i) => {
      const vectorsOf = places.map((place) => [
        ...from
          .add(2 * place)
          .as(v2(b32))
          .at(0)
          .get().lanes,
      ]);
      const values = digits.map((_, digit) =>
        places.reduce<Real[]>(
          (sum, __, w) => {
            const [upper, lower] = decoded.map(({ groups }) => groups[i]!.digits[digit]![w]!);
            return product([upper![0], lower![0], upper![1], lower![1]], vectorsOf[w]!, sum);
          },
          [zero, zero, zero, zero],
        ),
      );
      const whole = values.slice(1).reduce((low, high) => low.map((value, e) => high[e]!.fma(16, value)), values[0]!);
      decoded.forEach(({ groups }, r) => {
        const { scale } = groups[i]!;
        for (const e of [0, 1]) {
          const before = blockSums[r]![e];
          blockSums[r]![e] = before ? scale.fma(whole[2 * r + e]!, before) : scale.mul(whole[2 * r + e]!);
        }
      });
    });
    decoded.forEach(({ factor, offsets: weights }, r) => {
      blockSums[r]!.forEach((value, e) => {
        const total = totals[r]![e]!;
        total.set(factor ? factor.fma(value!, total) : total.add(value!));
      });
      offsets[r]!.forEach((offset, v) => {
        const lanes = vector.sums.add(perVector.mul(v)).add(unit.mul(16)).add(t.mul(4)).as(v4(f32)).at(0).get().lanes;
        offset.set(lanes.reduce<Real>((sum, lane, k) => weights[k]!.fma(lane, sum), offset.get()));
      });
    });
  };
}

/** The sums of two rows, by vector, which all lanes of a row have. */
const rowSums = (totals: Sums['totals'], offsets: Sums['offsets'], t: Word, isInteger: boolean): Real[][] =>
  totals.map(([even, odd], r) =>
    offsets[r]!.map((offset, v) => {
      if (isInteger) {
        let sum = t.shr(1).eq(v).select(even!, 0).sub(offset);
        for (const distance of [1, 2]) sum = sum.add(shuffleXor(sum, distance));
        return sum;
      }
      // Columns 2 t and 2 t + 1 are here, and those of a vector are three.
      const mine = (e: number): Value<'pred'> =>
        t
          .mul(2)
          .add(e)
          .sub(parts * v)
          .lt(parts);
      let sum = mine(0).select(even!, 0).add(mine(1).select(odd!, 0)).sub(offset);
      for (const distance of [1, 2]) sum = sum.add(shuffleXor(sum, distance));
      return sum;
    }),
  );

/** Stores the sums of rows, of which several warps may have parts, and sets them to 0. */
export function finisher(p: Inside, { vectors, warps, codes }: Form, { totals, offsets }: Sums, team: Word): () => void {
  const partial = shared(f32, 2 * warps * tileRows * vectors);
  const group = local(u32, blockIndex().mul(constant(u32, warps).div(p.split)));
  const parity = local(u32, 0);
  const lane = laneIndex();
  const [g, t] = [lane.shr(2), lane.and(3)];
  const out = (row: Word, v: Word | number, sum: Real): void => {
    const index = blockIndex('y').mul(vectors).add(v);
    when(row.lt(p.rows).and(index.lt(p.batch)), () => p.y.add(index.mulWide(p.rows)).at(row).set(sum));
  };
  return () => {
    const results = rowSums(totals, offsets, t, codes.integers !== undefined);
    for (const each of [...totals.flat(), ...offsets.flat()]) each.set(0);
    when(
      p.split.eq(1),
      () =>
        results.forEach((each, r) => {
          each.forEach((sum, v) => {
            when(t.eq(0), () =>
              out(
                group
                  .add(team)
                  .mul(tileRows)
                  .add(g)
                  .add(8 * r),
                v,
                sum,
              ),
            );
          });
        }),
      () => {
        const half = partial.add(parity.mul(warps * tileRows * vectors));
        results.forEach((each, r) => {
          each.forEach((sum, v) => {
            when(t.eq(0), () =>
              half
                .at(
                  warpIndex()
                    .mul(tileRows)
                    .add(g)
                    .add(8 * r)
                    .mul(vectors)
                    .add(v),
                )
                .set(sum),
            );
          });
        });
        // The other half is written next: a barrier for each round is enough.
        syncThreads();
        const index = threadIndex();
        const [r, v] = [index.div(vectors), index.rem(vectors)];
        when(r.lt(constant(u32, warps).div(p.split).mul(tileRows)), () => {
          const [of, at] = [r.div(tileRows), r.rem(tileRows)];
          const whole = local(f32, 0);
          loop(constant(u32, 0), p.split, 1, (i) =>
            whole.set(whole.add(half.at(of.mul(p.split).add(i).mul(tileRows).add(at).mul(vectors).add(v)))),
          );
          out(group.mul(tileRows).add(r), v, whole.get());
        });
        parity.set(parity.xor(1));
      },
    );
    group.set(group.add(gridSize().mul(constant(u32, warps).div(p.split))));
  };
}
