/** Vector rules of bit counting and bit reversal. */
import { bitsOf, type InstOf, type Value } from '../../../ir/index.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, longOf, type PartWriter } from '../lanes/lane-group.ts';
import { longs, words } from '../lanes/vectors.ts';

/**
 * Leading zeros by the exponent of the integer as an f32. A set bit behind the first one is cleared, so that rounding never reaches the next power
 * of two. An integer with the top bit set converts to a negative f32, whose sign makes 158 minus the shifted bits negative, which is clamped to 0.
 */
export function leadingZeros(s: LaneGroup, inst: InstOf<'clz'>, value: Value): PartWriter | undefined {
  if (inst.type === 'i1') return undefined;
  const isLong = longOf(s, value);
  return (part) => {
    s.part(inst.a, part);
    leadingZeros32(s);
    if (isLong) joinZeros64(s);
    else if (inst.type !== 'i32') {
      s.code.v128(words(32 - bitsOf(inst.type)));
      s.code.op('i32x4.sub');
    }
  };
}

function leadingZeros32(s: LaneGroup): void {
  const { code } = s;
  // 158 is the biased exponent of 2^31: 158 - exponent is 0 of 2^31 and 31 of 1.
  withScratch(s, 'v128', 1, ([word]) => {
    code.at('local.set', word);
    code.v128(words(158));
    code.at('local.get', word);
    code.at('local.get', word);
  });
  code.i32(1);
  code.op('i32x4.shr_u');
  code.op('v128.andnot');
  code.op('f32x4.convert_i32x4_s');
  code.i32(23);
  code.op('i32x4.shr_u');
  code.op('i32x4.sub');
  code.v128(words(32));
  code.op('i32x4.min_s');
  code.v128(words(0));
  code.op('i32x4.max_s');
}

/** Leading zeros of 64 bits from those of both 32-bit halves: the upper half's, plus the lower half's where the upper half is 0. */
function joinZeros64(s: LaneGroup): void {
  const { code } = s;
  withScratch(s, 'v128', 2, ([both, upper]) => {
    code.at('local.tee', both);
    code.i32(32);
    code.op('i64x2.shr_u');
    code.at('local.tee', upper);
    code.at('local.get', upper);
    code.v128(longs(32n));
    code.op('i64x2.eq');
    code.at('local.get', both);
    code.op('v128.and');
  });
  code.v128(longs(0xffff_ffffn));
  code.op('v128.and');
  code.op('i64x2.add');
}

/** By nibble: its bits in reverse order. */
const reversedNibbles = Array.from({ length: 16 }, (_, i) => ((i & 1) << 3) | ((i & 2) << 1) | ((i & 4) >> 1) | ((i & 8) >> 3));
const wordsOf = (bytes: readonly number[]): number[] =>
  [0, 4, 8, 12].map((at) => bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));

/** Bit reversal: the bits of each byte by two table look-ups of its nibbles, then the bytes in reverse order. */
export function reverseBits(s: LaneGroup, inst: InstOf<'bitrev'>, value: Value): PartWriter | undefined {
  if (inst.type === 'i1') return undefined;
  const { code } = s;
  const bytes = longOf(s, value) ? 8 : bitsOf(inst.type) / 8;
  return (part) => {
    s.part(inst.a, part);
    withScratch(s, 'v128', 1, ([given]) => {
      code.at('local.set', given);
      code.v128(wordsOf(reversedNibbles.map((nibble) => nibble << 4)));
      code.at('local.get', given);
      code.v128(words(0x0f0f_0f0f));
      code.op('v128.and');
      code.op('i8x16.swizzle');
      code.v128(wordsOf(reversedNibbles));
      code.at('local.get', given);
      code.i32(4);
      code.op('i32x4.shr_u');
      code.v128(words(0x0f0f_0f0f));
      code.op('v128.and');
      code.op('i8x16.swizzle');
      code.op('v128.or');
      if (bytes === 1) return;
      code.at('local.tee', given);
      code.at('local.get', given);
      // The upper two bytes of a lane with a 16-bit integer are 0 and stay in place.
      code.shuffle(Array.from({ length: 16 }, (_, i) => (bytes === 2 && i % 4 >= 2 ? i : i - (i % bytes) + bytes - 1 - (i % bytes))));
    });
  };
}
