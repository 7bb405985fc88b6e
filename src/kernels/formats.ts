/**
 * Formats of quantized weights, as ggml and bitsandbytes store them. Source: the block structures of ggml (`ggml-common.h`: `block_q4_0`, `block_q8_0`,
 * `block_q4_K`, `block_q5_K`, `block_q6_K`) and the table of QLoRA's NormalFloat (arXiv:2305.14314, appendix E).
 */
import { f16, f32, type Pointer, s8, s32, u16, u32, type Value } from '../build/index.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;
type Bytes = Pointer<'u8', 'global'>;

/** Weights next to each other with one scale: `code * scale + offset`. */
export interface Group {
  /** The index in the block of the first weight. */
  readonly first: Word;
  readonly codes: readonly Real[];
  readonly scale: Real;
  readonly offset: Real | undefined;
}

/** Where a block of weights is. */
export interface Block {
  /** Its first byte. */
  readonly at: Bytes;
  /** Which part of it a lane has. */
  readonly part: Word;
  /** The scale of the block, of formats that keep scales in an array of their own. */
  readonly scale: () => Real;
  /** The values of codes, of formats that have a table. */
  readonly table: ((code: Word) => Real) | undefined;
}

/** A format: how many weights a block has, its bytes, and into how many parts lanes divide it. */
export interface Format {
  readonly weights: number;
  readonly bytes: number;
  /** The bytes that the first block is aligned to. */
  readonly align: number;
  /** A power of two. */
  readonly parts: number;
  /** The values of codes, if there is a table; scales are then an array of their own. */
  readonly table?: readonly number[];
  readonly decode: (block: Block) => Group[];
}

/** A half at an offset in bytes. */
const half = (at: Bytes, offset: number): Real => at.add(offset).as(f16).at(0).get().to(f32);
/** 32 bits by halves, because blocks are aligned to two bytes. */
const word = (at: Bytes, offset: number): Word => {
  const halves = at.add(offset).as(u16);
  return halves.at(0).get().to(u32).or(halves.at(1).get().to(u32).shl(16));
};
/** The codes of four bits in the bytes of words: the low ones, or the high ones. */
const nibbles = (words: readonly Word[], shift: 0 | 4): Word[] =>
  words.flatMap((each) => [0, 8, 16, 24].map((by) => each.shr(by + shift).and(15)));
const reals = (codes: readonly Word[]): Real[] => codes.map((code) => code.to(f32));
/** Codes less a constant. */
const signed = (codes: readonly Word[], zero: number): Real[] => codes.map((code) => code.as(s32).sub(zero).to(f32));

/** 32 weights in 18 bytes: a half d, and 16 bytes whose low halves are the first 16 weights: `d * (code - 8)`. */
const q4_0: Format = {
  weights: 32,
  bytes: 18,
  align: 2,
  parts: 4,
  decode: ({ at, part }) => {
    const scale = half(at, 0);
    const words = [word(at.add(part.mul(4)), 2)];
    const first = part.mul(4);
    return [
      { first, codes: signed(nibbles(words, 0), 8), scale, offset: undefined },
      { first: first.add(16), codes: signed(nibbles(words, 4), 8), scale, offset: undefined },
    ];
  },
};

/** 32 weights in 34 bytes: a half d, and 32 signed bytes: `d * code`. */
const q8_0: Format = {
  weights: 32,
  bytes: 34,
  align: 2,
  parts: 4,
  decode: ({ at, part }) => {
    const first = part.mul(8);
    const words = [0, 4].map((offset) => word(at.add(first), 2 + offset).as(s32));
    const codes = words.flatMap((each) => [0, 8, 16, 24].map((by) => each.bfe(by, 8).to(f32)));
    return [{ first, codes, scale: half(at, 0), offset: undefined }];
  },
};

/** Four words next to each other, which are aligned to 16 bytes. */
const words16 = (at: Bytes): Word[] => [...at.as({ kind: 'vector', name: 'u32', count: 4 }).at(0).get().lanes];

/**
 * The scale and the least value of the sub-block j of 8, of 6 bits each in 12 bytes: those of the first four have the low bits of bytes 0 to 7, and the upper
 * bits of these bytes belong to the last four, whose other bits are in bytes 8 to 11.
 */
function scalesOf([, low, mid, high]: readonly Word[], j: Word): { scale: Real; least: Real } {
  const shift = j.and(3).shl(3);
  const [a, b, c] = [low!, mid!, high!].map((each) => each.shr(shift).and(255)) as [Word, Word, Word];
  const isFirst = j.lt(4);
  const scale = isFirst.select(a.and(63), c.and(15).or(a.shr(6).shl(4)));
  const least = isFirst.select(b.and(63), c.shr(4).or(b.shr(6).shl(4)));
  return { scale: scale.to(f32), least: least.to(f32) };
}

/** A part of 16 bytes of the codes of Q4_K or Q5_K: 16 weights of a sub-block, and 16 of the next one. */
function pairs({ at, part }: Block, codesAt: number, extra: (chunk: Word, half: Word) => [Word[], Word[]] | undefined): Group[] {
  const header = words16(at);
  const [chunk, side] = [part.shr(1), part.and(1)];
  const [d, least] = [half(at, 0), half(at, 2)];
  const codes = words16(at.add(part.mul(16)).add(codesAt));
  const fifth = extra(chunk, side);
  return ([0, 4] as const).map((shift, i) => {
    const scales = scalesOf(header, chunk.mul(2).add(i));
    const own = nibbles(codes, shift).map((code, k) => (fifth ? code.or(fifth[i]![k]!) : code));
    return {
      first: chunk
        .mul(64)
        .add(side.mul(16))
        .add(32 * i),
      codes: reals(own),
      scale: d.mul(scales.scale),
      offset: least.mul(scales.least).neg(),
    };
  });
}

/**
 * 256 weights in 144 bytes: halves d and dmin, 12 bytes of scales and least values of 8 sub-blocks, and 128 bytes of which each 32 have the codes of two
 * sub-blocks in their low and high halves: `d * scale * code - dmin * least`.
 */
const q4_K: Format = { weights: 256, bytes: 144, align: 16, parts: 8, decode: (block) => pairs(block, 16, () => undefined) };

/** As Q4_K with a fifth bit: 176 bytes, of which 32 after the scales have bit j of byte i for weight i of sub-block j. */
const q5_K: Format = {
  weights: 256,
  bytes: 176,
  align: 16,
  parts: 8,
  decode: (block) =>
    pairs(block, 48, (chunk, side) => {
      const high = words16(block.at.add(side.mul(16)).add(16));
      const bits = (bit: Word): Word[] =>
        high.flatMap((each) => {
          const shifted = each.shr(bit);
          return [0, 8, 16, 24].map((by) => shifted.shr(by).and(1).shl(4));
        });
      return [bits(chunk.mul(2)), bits(chunk.mul(2).add(1))];
    }),
};

/**
 * 256 weights in 210 bytes, in two halves of 128: 64 bytes each of low four bits, 32 bytes each of upper two bits, 16 signed scales of 16 weights each, and
 * a half d: `d * scale * (code - 32)`. Byte l of the upper bits belongs to weights l, l + 32, l + 64 and l + 96.
 */
const q6_K: Format = {
  weights: 256,
  bytes: 210,
  align: 2,
  parts: 8,
  decode: ({ at, part }) => {
    const [n, first] = [part.shr(2), part.and(3).mul(8)];
    const low = at.add(n.mul(64).add(first));
    const [near, far] = [0, 32].map((offset) => [word(low, offset), word(low, offset + 4)]) as [Word[], Word[]];
    const upper = at.add(n.mul(32).add(first)).add(128);
    const high = [word(upper, 0), word(upper, 4)];
    const d = half(at, 208);
    const scales = at
      .add(n.mul(8).add(first.shr(4)))
      .add(192)
      .as(s8);
    return [near, far, near, far].map((words, q) => {
      const top = high.flatMap((each) =>
        [0, 8, 16, 24].map((by) =>
          each
            .shr(by + 2 * q)
            .and(3)
            .shl(4),
        ),
      );
      const codes = nibbles(words, q < 2 ? 0 : 4).map((code, k) => code.or(top[k]!));
      return {
        first: n
          .mul(128)
          .add(first)
          .add(32 * q),
        codes: signed(codes, 32),
        scale: d.mul(
          scales
            .at(2 * q)
            .get()
            .to(s32)
            .to(f32),
        ),
        offset: undefined,
      };
    });
  },
};

/** The values of NormalFloat codes: quantiles of the standard normal distribution, from -1 to 1. */
export const normalFloat = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0,
  0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
  0.7229568362236023, 1,
] as const;

/** 64 weights in 32 bytes, the first of a byte in its upper half: `scale * table[code]`, with an f32 for each block in an array of its own. */
const nf4: Format = {
  weights: 64,
  bytes: 32,
  align: 4,
  parts: 8,
  table: normalFloat,
  decode: ({ at, part, scale, table }) => {
    const own = at.add(part.mul(4)).as(u32).at(0).get();
    const codes = [4, 0, 12, 8, 20, 16, 28, 24].map((by) => table!(own.shr(by).and(15)));
    return [{ first: part.mul(8), codes, scale: scale(), offset: undefined }];
  },
};

/** The formats by name. */
export const formats = { q4_0, q8_0, q4_K, q5_K, q6_K, nf4 } as const;
/** The name of a format. */
export type FormatName = keyof typeof formats;
