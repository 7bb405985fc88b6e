/**
 * Products of codes and vectors as integers. A vector is a number of 31 bits for each element, relative to the largest of 256, in four digits of 8 bits; a
 * column of the tensor cores' product is a digit. Scales of sub-blocks are integers, so that 256 weights are summed exactly.
 */
import {
  b32,
  blockIndex,
  constant,
  dynamicShared,
  f32,
  inline,
  laneIndex,
  local,
  loop,
  type Pointer,
  reduceWarp,
  s32,
  shuffleXor,
  u8,
  u32,
  type Value,
  v2,
  v4,
  warpIndex,
  when,
} from '../build/index.ts';
import { type Form, type Inside, type Sums, tileRows, unitWeights } from './quantized-multiply.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;
type Integer = Value<'s32'>;
type Long = Value<'u64'>;

/** The digits of an element. */
export const digits = 4;
/** Bytes between the digits of a vector besides their own: lanes read two of them at a time in different banks. */
const gap = 64;

/** Vectors in shared memory. */
export interface Digits {
  readonly at: Pointer<'u8', 'shared'>;
  /** Bytes from a digit to the next. */
  readonly pitch: Word;
  /** The sums of each 16 elements. */
  readonly sums: Pointer<'f32', 'shared'>;
  /** What the lowest digit of a unit is multiplied with. */
  readonly scales: Pointer<'f32', 'shared'>;
  readonly padded: Word;
}

/** The bytes of vectors of a padded number of columns. */
export const digitBytes = (vectors: number, padded: number): number => vectors * (digits * (padded + gap) + padded / 4 + padded / 64);

/** The vectors in shared memory, with zeros beyond the last column: a warp has a unit at a time, and a lane eight elements. */
export function spreadDigits(p: Inside, { vectors, warps, stages, pitch: rowPitch }: Form): Digits {
  const at = dynamicShared(u8, warps * stages * tileRows * rowPitch);
  const padded = p.columns.add(unitWeights - 1).and(~(unitWeights - 1) >>> 0);
  const pitch = padded.add(gap);
  const sums = at.add(pitch.mul(digits * vectors)).as(f32);
  const scales = sums.add(padded.shr(4).mul(vectors));
  const made: Digits = { at, pitch, sums, scales, padded };
  const isAligned = (p.x.address() as Long).and(15).eq(0).and(p.columns.and(3).eq(0));
  for (let v = 0; v < vectors; v++) {
    const from = p.x.add(blockIndex('y').mul(vectors).add(v).min(p.batch.sub(1)).mulWide(p.columns));
    loop(warpIndex(), padded.shr(8), warps, (unit) => {
      const first = unit.mul(unitWeights).add(laneIndex().mul(8));
      const values = Array.from({ length: 8 }, () => local(f32, 0));
      const read = (start: number): void =>
        from
          .add(first.add(start))
          .as(v4(f32))
          .at(0)
          .get()
          .lanes.forEach((lane, e) => {
            values[start + e]!.set(lane);
          });
      when(
        isAligned.and(first.add(8).le(p.columns)),
        () => {
          read(0);
          read(4);
        },
        () =>
          values.forEach((value, e) => {
            when(first.add(e).lt(p.columns), () => value.set(from.at(first, e)));
          }),
      );
      spreadUnit(
        values.map((value) => value.get()),
        unit,
        made,
        v,
      );
    });
  }
  return made;
}

/** Four words of four bytes as four words of the first, second, third and fourth bytes. */
function transposed([a, b, c, d]: readonly Word[]): Word[] {
  const [low, high] = [
    [a!.prmt(b!, 0x5140), a!.prmt(b!, 0x7362)],
    [c!.prmt(d!, 0x5140), c!.prmt(d!, 0x7362)],
  ];
  return [0, 1].flatMap((half) => [low![half]!.prmt(high![half]!, 0x5410), low![half]!.prmt(high![half]!, 0x7632)]);
}

function spreadUnit(values: readonly Real[], unit: Word, { at, pitch, sums, scales, padded }: Digits, v: number): void {
  // Exponents of finite floats are in the order of their bits, and so are infinities and NaN.
  const exponent = reduceWarp(
    'max',
    values.map((value) => value.as(u32).and(0x7fff_ffff)).reduce((a, b) => a.max(b)),
  ).shr(23);
  // The largest element becomes a number of 30 bits and a sign; 2^126 is the largest factor.
  const factor = constant(u32, 283).sub(exponent.max(30)).shl(23).as(f32);
  const words = values.map((value) => {
    const whole = value.mul(factor).to(s32, { round: 'rn' }).as(u32);
    // Digits from -128 to 127, the lowest first.
    return whole.add(0x0080_8080).xor(0x0080_8080);
  });
  const [first, second] = [transposed(words.slice(0, 4)), transposed(words.slice(4))];
  const lane = laneIndex();
  // A lane of the product reads eight elements of a sub-block and the same of the next.
  const place = unit.mul(unitWeights).add(lane.shr(3).mul(64)).add(lane.and(3).mul(16)).add(lane.shr(2).and(1).mul(8));
  first.forEach((word, digit) => {
    at.add(pitch.mul(v * digits + digit))
      .add(place)
      .as(v2(u32))
      .at(0)
      .set([word, second[digit]!]);
  });
  const sum = values.reduce((a, b) => a.add(b));
  const both = sum.add(shuffleXor(sum, 1));
  when(lane.and(1).eq(0), () =>
    sums
      .add(padded.shr(4).mul(v))
      .at(unit.mul(16).add(lane.shr(1)))
      .set(both),
  );
  const least = constant(u32, 254)
    .sub(constant(u32, 283).sub(exponent.max(30)))
    .shl(23);
  // An infinity or NaN in a vector makes its products NaN.
  when(lane.eq(0), () =>
    scales
      .add(padded.shr(8).mul(v))
      .at(unit)
      .set(exponent.eq(255).select(constant(u32, 0x7fff_ffff), least).as(f32)),
  );
}

const product = (a: readonly Word[], b: readonly Word[]): Integer[] => [
  ...inline(
    'mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {0,0,0,0};',
    [s32, s32, s32, s32],
    [...a, ...b].map((word) => word.as(b32)),
  ),
];

/** Adds the product of a unit of 16 rows in shared memory to the sums. A lane has two digits of a vector. */
export function digitMultiplier(form: Form, vector: Digits, { totals, offsets }: Sums): (at: Pointer<'u8', 'shared'>, unit: Word) => void {
  const { codes, vectors, pitch } = form;
  const lane = laneIndex();
  const [g, t] = [lane.shr(2), lane.and(3)];
  const own = vector.at.add(g.and(digits * vectors - 1).mul(vector.pitch)).add(t.mul(16));
  // The upper two digits of a vector.
  const upper = t.and(1).eq(1).select(constant(f32, 65536), constant(f32, 1));
  const scaleOf = vector.scales.add(vectors === 1 ? constant(u32, 0) : t.shr(1).mul(vector.padded.shr(8)));
  return (at, unit) => {
    const blocks = constant(u32, 1);
    const decoded = [0, 8].map((more) => codes.integers!(codes.load(at.add(g.add(more).mul(pitch)), t, blocks), t));
    const from = own.add(unit.mul(unitWeights));
    const sums: (Integer | undefined)[][] = [
      [undefined, undefined],
      [undefined, undefined],
    ];
    for (let pair = 0; pair < 4; pair++) {
      const lanes = [
        ...from
          .add(64 * pair)
          .as(v4(u32))
          .at(0)
          .get().lanes,
      ];
      for (const half of [0, 1]) {
        const [first, second] = decoded.map(({ groups }) => groups[2 * pair + half]!);
        const values = product(
          [first!.codes[0]!, second!.codes[0]!, first!.codes[1]!, second!.codes[1]!],
          lanes.slice(2 * half, 2 * half + 2),
        );
        [first!, second!].forEach(({ scale }, r) => {
          for (const e of [0, 1]) {
            const before = sums[r]![e];
            const value = values[2 * r + e]!;
            sums[r]![e] = before ? value.mad(scale.as(s32), before) : value.mul(scale.as(s32));
          }
        });
      }
    }
    const unitScale = scaleOf.at(unit).get().mul(upper);
    decoded.forEach(({ factor, offsets: weights }, r) => {
      const [low, high] = sums[r]!.map((sum) => sum!.to(f32)) as [Real, Real];
      totals[r]![0]!.set(high.fma(256, low).fma(factor.mul(unitScale), totals[r]![0]!));
      offsets[r]!.forEach((offset, v) => {
        const lanes = vector.sums.add(vector.padded.shr(4).mul(v)).add(unit.mul(16)).add(t.mul(4)).as(v4(f32)).at(0).get().lanes;
        offset.set(lanes.reduce<Real>((sum, each, k) => weights[k]!.fma(each, sum), offset.get()));
      });
    });
  };
}

/** Whether this lane has digits of a vector. */
export const hasDigits = (t: Word, v: number): Value<'pred'> => t.shr(1).eq(v);
