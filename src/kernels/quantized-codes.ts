/**
 * Formats of weights as factors of tensor cores. A warp has 16 rows, and four lanes each row: a lane decodes the same parts of two rows. A code of b bits is a
 * bfloat `1 + code / 2^b` by a shift and one operation on bits, so that a product has the sum of the vector besides, which is subtracted at the end.
 */
import { b32, f16, f32, type Pointer, s32, u16, u32, type Value, v2, v4 } from '../build/index.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;
export type Bits = Value<'b32'>;
type Bytes = Pointer<'u8', 'shared'>;

/** Codes of 16 weights of a row in four lanes: those with even and with odd places of four next to each other. */
export type Pair = readonly [even: Bits, odd: Bits];

/** Weights with one scale. */
export interface Group {
  /** The first weight of each product of 16, of which lanes have four next to each other. */
  readonly places: readonly number[];
  /** Codes, the lowest digits first: digits have four bits. */
  readonly digits: readonly (readonly Pair[])[];
  readonly scale: Real;
}

/** A unit of 256 weights of a row. */
export interface Unit {
  readonly groups: readonly Group[];
  /** The sums of groups times this are added to the result. */
  readonly factor: Real | undefined;
  /** What the sum of the vector is multiplied with in each 16 of the 64 weights whose index is that of this lane. */
  readonly offsets: readonly [Real, Real, Real, Real];
}

/** A format. */
export interface Codes {
  /** The bytes of 256 weights. */
  readonly bytes: number;
  /** The weights of a block, of which a row has a whole number. */
  readonly weights: number;
  /** What the weights are aligned to. */
  readonly align: 2 | 16;
  /** The warps that share rows at most where fewer are as many rounds: what they read is side by side. Measured on an H200. */
  readonly sharing?: 8 | 16;
  /** What a lane loads of a unit, which has a number of blocks. */
  readonly load: (at: Bytes, t: Word, blocks: Word) => Word[];
  /** The codes as bfloats. */
  readonly decode?: (words: readonly Word[], t: Word) => Unit;
  /** The codes as integers instead, where scales are integers, too. */
  readonly integers?: (words: readonly Word[], t: Word) => IntegerUnit;
}

/** A unit of 256 weights of a row with sub-blocks of 32. */
export interface IntegerUnit {
  /** Eight codes of this lane, a byte each, and the scale from 0 to 63. */
  readonly groups: readonly { readonly codes: readonly [Word, Word]; readonly scale: Word }[];
  readonly factor: Real;
  readonly offsets: Unit['offsets'];
}

const ones = 0x3f803f80;
/** To the right by a number of bits; to the left if it is negative. */
const moved = (word: Word, by: number): Word => (by === 0 ? word : by < 0 ? word.shl(-by) : word.shr(by));
const masked = (word: Word, by: number, mask: number): Word => moved(word, by).and(mask);
/** Four codes of four bits from the low or the high halves of bytes. */
const digitsOf = (word: Word, half: 0 | 1): Pair => [
  masked(word, 4 * half - 3, 0x00780078)
    .or(ones)
    .as(b32),
  masked(word, 4 * half + 5, 0x00780078)
    .or(ones)
    .as(b32),
];
const byteOf = (word: Word, i: number): Real => word.bfe(8 * i, 8).to(f32);
const signedByte = (word: Word, i: number): Real =>
  word
    .as(s32)
    .bfe(8 * i, 8)
    .to(f32);
const halfAt = (at: Bytes, offset: number): Word => at.add(offset).as(u16).at(0).get().to(u32);
const wordAt = (at: Bytes, offset: number): Word => halfAt(at, offset).or(halfAt(at, offset + 2).shl(16));
const wordsAt4 = (at: Bytes): Word[] => [...at.as(v4(u32)).at(0).get().lanes];
const wordsAt2 = (at: Bytes): Word[] => [...at.as(v2(u32)).at(0).get().lanes];
const realOf = (half: Word): Real => half.low().as(f16).to(f32);

/** The scales and least values of eight sub-blocks of 32 as bytes, and d and dmin. */
function headerOf([d, low, mid, high]: readonly Word[]) {
  const scales = [low!.and(0x3f3f3f3f), high!.and(0x0f0f0f0f).or(low!.shr(2).and(0x30303030))];
  const leasts = [mid!.and(0x3f3f3f3f), high!.shr(4).and(0x0f0f0f0f).or(mid!.shr(2).and(0x30303030))];
  return { scales, leasts, factor: realOf(d!), least: d!.high().as(f16).to(f32) };
}

/** Q4_K and Q5_K: sub-blocks of 32, whose codes are in the low or the high halves of 32 bytes. */
function integerBlocks(words: readonly Word[], t: Word, codesOf: (sub: number) => readonly [Word, Word]): IntegerUnit {
  const { scales, leasts, factor, least } = headerOf(words);
  const groups = Array.from({ length: 8 }, (_, sub) => ({ codes: codesOf(sub), scale: scales[sub >> 2]!.bfe(8 * (sub & 3), 8) }));
  const m = t.lt(2).select(leasts[0]!, leasts[1]!).shr(t.and(1).shl(4));
  const [first, second] = [0, 1].map((i) => least.mul(byteOf(m, i))) as [Real, Real];
  return { groups, factor, offsets: [first, first, second, second] };
}

const nibbles = (word: Word, half: number): Word => moved(word, 4 * half).and(0x0f0f0f0f);

const q4_K: Codes = {
  bytes: 144,
  weights: 256,
  align: 16,
  sharing: 16,
  load: (at, t) => [...wordsAt4(at), ...[0, 1, 2, 3].flatMap((c) => wordsAt2(at.add(t.mul(8)).add(16 + 32 * c)))],
  integers: (words, t) =>
    integerBlocks(words, t, (sub) => [0, 1].map((w) => nibbles(words[4 + (sub & ~1) + w]!, sub & 1)) as unknown as [Word, Word]),
};

const q5_K: Codes = {
  bytes: 176,
  weights: 256,
  align: 16,
  sharing: 8,
  load: (at, t) => [
    ...wordsAt4(at),
    ...[0, 1, 2, 3].flatMap((c) => wordsAt2(at.add(t.mul(8)).add(48 + 32 * c))),
    ...wordsAt2(at.add(t.mul(8)).add(16)),
  ],
  integers: (words, t) =>
    integerBlocks(
      words,
      t,
      (sub) =>
        [0, 1].map((w) => nibbles(words[4 + (sub & ~1) + w]!, sub & 1).or(moved(words[12 + w]!, sub - 4).and(0x10101010))) as unknown as [
          Word,
          Word,
        ],
    ),
};

/** Blocks of 32 weights: `load` gives the scale and the words of each, of which there may be less than eight. */
const eachBlock = (at: Bytes, bytes: number, blocks: Word, load: (block: Bytes) => Word[]): Word[] =>
  Array.from({ length: 8 }, (_, j) => load(at.add(blocks.sub(1).min(j).mul(bytes)))).flat();

/** Two of eight values by the index of the lane. */
const ofLane = (values: readonly Real[], t: Word): readonly [Real, Real] =>
  [0, 1].map((i) =>
    t.lt(2).select(t.eq(0).select(values[i]!, values[2 + i]!), t.eq(2).select(values[4 + i]!, values[6 + i]!)),
  ) as unknown as [Real, Real];

const q4_0: Codes = {
  bytes: 144,
  weights: 32,
  align: 2,
  load: (at, t, blocks) => eachBlock(at, 18, blocks, (block) => [halfAt(block, 0), wordAt(block.add(t.mul(4)), 2)]),
  decode: (words, t) => {
    const scales = Array.from({ length: 8 }, (_, j) => realOf(words[2 * j]!));
    const groups = scales.map((scale, j) => ({
      places: [32 * j, 32 * j + 16],
      digits: [[digitsOf(words[2 * j + 1]!, 0), digitsOf(words[2 * j + 1]!, 1)]],
      scale,
    }));
    // A code less 8 is 16 times the bfloat less 24.
    const [first, second] = ofLane(scales, t).map((scale) => scale.mul(24)) as [Real, Real];
    return {
      groups: groups.map((group) => ({ ...group, scale: group.scale.mul(16) })),
      factor: undefined,
      offsets: [first, first, second, second],
    };
  },
};

const q8_0: Codes = {
  bytes: 272,
  weights: 32,
  align: 2,
  load: (at, t, blocks) =>
    eachBlock(at, 34, blocks, (block) => [halfAt(block, 0), wordAt(block.add(t.mul(4)), 2), wordAt(block.add(t.mul(4)), 18)]),
  decode: (words, t) => {
    const scales = Array.from({ length: 8 }, (_, j) => realOf(words[3 * j]!));
    const groups = scales.map((scale, j) => {
      // From 0 to 255: two digits.
      const codes = [words[3 * j + 1]!, words[3 * j + 2]!].map((word) => word.xor(0x80808080));
      return {
        places: [32 * j, 32 * j + 16],
        digits: ([0, 1] as const).map((half) => codes.map((word) => digitsOf(word, half))),
        scale: scale.mul(16),
      };
    });
    // The ones add 256 and 16 for the digits, and the code has 128 more.
    const [first, second] = ofLane(scales, t).map((scale) => scale.mul(400)) as [Real, Real];
    return { groups, factor: undefined, offsets: [first, first, second, second] };
  },
};

const q6_K: Codes = {
  bytes: 210,
  weights: 256,
  align: 2,
  load: (at, t) => {
    const own = at.add(t.mul(4));
    return [
      ...Array.from({ length: 8 }, (_, i) => wordAt(own, 16 * i)),
      ...Array.from({ length: 4 }, (_, i) => wordAt(own, 128 + 16 * i)),
      ...Array.from({ length: 4 }, (_, i) => wordAt(at, 192 + 4 * i)),
      halfAt(at, 208),
    ];
  },
  decode: (words, t) => {
    const d = realOf(words[16]!);
    const groups = Array.from({ length: 16 }, (_, i) => {
      const [n, q, h] = [i >> 3, (i >> 1) & 3, i & 1];
      const [low, upper] = [words[4 * n + 2 * (q & 1) + h]!, words[8 + 2 * n + h]!];
      const codes = (byte: number): Bits =>
        masked(low, 8 * byte + 4 * (q >> 1) - 1, 0x001e001e)
          .or(masked(upper, 8 * byte + 2 * q - 5, 0x00600060))
          .or(ones)
          .as(b32);
      return { places: [16 * i], digits: [[[codes(0), codes(1)] as Pair]], scale: signedByte(words[12 + (i >> 2)]!, i & 3) };
    });
    // A code less 32 is 64 times the bfloat less 96.
    const mine = t.lt(2).select(t.eq(0).select(words[12]!, words[13]!), t.eq(2).select(words[14]!, words[15]!));
    const offsets = [0, 1, 2, 3].map((i) => d.mul(96).mul(signedByte(mine, i))) as unknown as Unit['offsets'];
    return { groups, factor: d.mul(64), offsets };
  },
};

/** The formats whose codes are bfloats exactly: all but `nf4`. */
export const codesOf = { q4_0, q8_0, q4_K, q5_K, q6_K } as const;
/** The name of a format that tensor cores multiply. */
export type CodesName = keyof typeof codesOf;
