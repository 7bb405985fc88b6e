/** Leading zeros, and bits in reverse order. */
import { bitsOf, type InstOf, type Value } from '../../../ir/index.ts';
import { type LaneGroup, longOf, type PartWriter } from '../lanes/lane-group.ts';
import { longs, words } from '../lanes/vectors.ts';

/**
 * Leading zeros by the exponent of a single. A set bit behind the first one is cleared, so that rounding never comes to the next power of two;
 * of numbers that are negative as words the sign makes what is left of 158 negative.
 */
export function leadingZeros(s: LaneGroup, inst: InstOf<'clz'>, value: Value): PartWriter | undefined {
  if (inst.type === 'i1') return undefined;
  const isLong = longOf(s, value);
  return (part) => {
    s.part(inst.a, part);
    zerosOfWords(s);
    if (isLong) joinZeros(s);
    else if (inst.type !== 'i32') {
      s.code.v128(words(32 - bitsOf(inst.type)));
      s.code.op('i32x4.sub');
    }
  };
}

function zerosOfWords(s: LaneGroup): void {
  const { code } = s;
  const word = s.temp('v128', 64);
  // 158 - exponent: of 1 it is 31.
  code.at('local.set', word);
  code.v128(words(158));
  code.at('local.get', word);
  code.at('local.get', word);
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

/** Of two words the upper one's, and where that is 0 the lower one's too. */
function joinZeros(s: LaneGroup): void {
  const { code } = s;
  const [both, upper] = [s.temp('v128', 64), s.temp('v128', 65)];
  code.at('local.tee', both);
  code.i32(32);
  code.op('i64x2.shr_u');
  code.at('local.tee', upper);
  code.at('local.get', upper);
  code.v128(longs(32n));
  code.op('i64x2.eq');
  code.at('local.get', both);
  code.op('v128.and');
  code.v128(longs(0xffff_ffffn));
  code.op('v128.and');
  code.op('i64x2.add');
}

/** Nibbles in reverse order. */
const reversed = Array.from({ length: 16 }, (_, i) => ((i & 1) << 3) | ((i & 2) << 1) | ((i & 4) >> 1) | ((i & 8) >> 3));
const wordsOf = (bytes: readonly number[]): number[] =>
  [0, 4, 8, 12].map((at) => bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));

/** Bytes in reverse order, and in each of them both nibbles by a table. */
export function reverseBits(s: LaneGroup, inst: InstOf<'bitrev'>, value: Value): PartWriter | undefined {
  if (inst.type === 'i1') return undefined;
  const { code } = s;
  const bytes = longOf(s, value) ? 8 : bitsOf(inst.type) / 8;
  const given = s.temp('v128', 64);
  return (part) => {
    s.part(inst.a, part);
    code.at('local.set', given);
    code.v128(wordsOf(reversed.map((nibble) => nibble << 4)));
    code.at('local.get', given);
    code.v128(words(0x0f0f_0f0f));
    code.op('v128.and');
    code.op('i8x16.swizzle');
    code.v128(wordsOf(reversed));
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
    // What is above an integer of two bytes is 0, and stays there.
    code.shuffle(Array.from({ length: 16 }, (_, i) => (bytes === 2 && i % 4 >= 2 ? i : i - (i % bytes) + bytes - 1 - (i % bytes))));
  };
}
