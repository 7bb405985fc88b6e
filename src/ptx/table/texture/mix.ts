/**
 * Texels mixed by weights, bit for bit as the hardware does: weights of texels are 256ths that sum up to 256; floats are aligned to the greatest
 * exponent of those that count, and numbers that stand for parts of a range have 16 bits. Source: recorded on an NVIDIA H200.
 */

import type { Value } from '../../../ir/index.ts';
import { texelDecoders } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { int, single } from './descriptor.ts';
import type { Format } from './texel.ts';

/** A plane of texels: the part of the whole that it is, the weights of the next texel on its axes, and words by how far a texel is on each. */
export interface Plane {
  readonly part: Value;
  readonly weights: readonly Value[];
  at(next: readonly Value[]): readonly Value[];
}

/** Planes by their numbers, from 0 up to a count. */
export interface Planes {
  readonly count: Value;
  plane(number: Value): Plane;
}

/** All weights of texels together. */
export const whole = 256;
const is = (ir: RowBuilder, a: Value, b: number): Value => ir.icmp(a, int(ir, b), { pred: 'eq' });
/** A product of weights, to the nearest 256th; a half is rounded up. */
export const partOf = (ir: RowBuilder, a: Value, b: Value): Value => ir.lshr(ir.add(ir.mul(a, b), int(ir, whole / 2)), int(ir, 8));
/** A product of weights; a half is rounded down. */
const below = (ir: RowBuilder, a: Value, b: Value): Value => ir.lshr(ir.add(ir.mul(a, b), int(ir, whole / 2 - 1)), int(ir, 8));

/** The weight of a texel: the plane is divided along x, and what x has there along y. */
function weightOf(ir: RowBuilder, { part, weights: [wx, wy] }: Plane, [x, y]: readonly [Value, Value]): Value {
  const right = partOf(ir, wx!, part);
  const left = ir.sub(part, right);
  const isRight = is(ir, x, 1);
  const column = ir.select(isRight, right, left);
  if (wy === undefined) return column;
  const next = ir.select(isRight, partOf(ir, right, wy), below(ir, left, wy));
  return ir.select(is(ir, y, 1), next, ir.sub(column, next));
}

/** The corners of a plane, with the weight and the words of each. */
function eachCorner(
  ir: RowBuilder,
  plane: Plane,
  first: readonly Value[],
  body: (weight: Value, words: readonly Value[], values: readonly Value[]) => readonly Value[],
): Value[] {
  const axes = plane.weights.length;
  return ir.repeat(int(ir, 2 ** axes), first, (i, values) => {
    const [x, y] = [ir.and(i, int(ir, 1)), ir.lshr(i, int(ir, 1))];
    return body(weightOf(ir, plane, [x, y]), plane.at([x, y].slice(0, axes)), values);
  });
}

const fourOf = (value: Value): Value[] => [value, value, value, value];

/** Four channels mixed. */
export function mixture(ir: RowBuilder, format: Pick<Format, 'decoder' | 'channelBytes'>, planes: Planes): Value[] {
  const { decoder } = format;
  const isSrgb = is(ir, decoder, texelDecoders.srgb);
  const isPart = ir.or(is(ir, decoder, texelDecoders.unsignedNormalized), is(ir, decoder, texelDecoders.signedNormalized));
  // Light is mixed as halves are, but for the fourth channel, which is a part of a range.
  const isHalf = ir.or(is(ir, decoder, texelDecoders.half), isSrgb);
  const none = (): Value[] => fourOf(int(ir, 0));
  const parts = ir.choose(ir.or(isPart, isSrgb), () => mixedParts(ir, format, planes), none);
  const floats = ir.choose(isPart, none, () => mixedFloats(ir, isHalf, planes));
  return floats.map((value, i) => ir.select(i === 3 ? ir.or(isPart, isSrgb) : isPart, parts[i]!, value));
}

/** Parts of a range, as integers of 16 bits. Of 8 bits with a sign, the last bit of a result may be another one. */
function mixedParts(
  ir: RowBuilder,
  { decoder, channelBytes }: Pick<Format, 'decoder' | 'channelBytes'>,
  { count, plane }: Planes,
): Value[] {
  const isSigned = is(ir, decoder, texelDecoders.signedNormalized);
  const isByte = ir.and(isSigned, is(ir, channelBytes, 1));
  const most = ir.select(isSigned, single(ir, 32_767), single(ir, 65_535));
  const scale = ir.select(isByte, single(ir, 127), most);
  const least = ir.select(isSigned, single(ir, -1), single(ir, 0));
  const sums = ir.repeat(count, fourOf(int(ir, 0)), (i, planes) =>
    eachCorner(ir, plane(i), planes, (weight, words, values) =>
      words.map((word, channel) => {
        const inRange = ir.fmin(ir.fmax(ir.bitcast('f32', word), least), single(ir, 1));
        const number = ir.fptosi('i32', ir.frint(ir.fmul(inRange, scale)));
        return ir.add(values[channel]!, ir.mul(number, weight));
      }),
    ),
  );
  return sums.map((sum) => {
    const rounded = ir.ashr(ir.add(sum, int(ir, 128)), int(ir, 8));
    // 32767 / 127 is 258 and a 128th.
    const wide = ir.ashr(ir.add(ir.add(ir.mul(sum, int(ir, 258)), ir.ashr(sum, int(ir, 7))), int(ir, 112)), int(ir, 8));
    return ir.bitcast('i32', ir.fdiv(ir.sitofp('f32', ir.select(isByte, wide, rounded)), most));
  });
}

const exponentBits = 23;
const mantissa = (1 << exponentBits) - 1;
const exponentOf = (ir: RowBuilder, word: Value): Value => ir.and(ir.lshr(word, int(ir, exponentBits)), int(ir, 255));
/** Bits behind the mantissa of the greatest texel that sums have, and behind those of planes. */
const guardBits = 4;
const planeBits = 12;
/** What is subtracted from the mantissa of a half as a float. */
const halfBits = 13;

/** A float as a signed number of so many bits, aligned to an exponent; bits below are lost. */
function aligned(ir: RowBuilder, word: Value, greatest: Value, isHalf: Value): Value {
  const exponent = exponentOf(ir, word);
  const isNormal = ir.icmp(exponent, int(ir, 0), { pred: 'ne' });
  const bits = ir.or(ir.and(word, int(ir, mantissa)), ir.select(isNormal, int(ir, mantissa + 1), int(ir, 0)));
  const distance = ir.sub(greatest, ir.umax(exponent, int(ir, 1)));
  const shift = ir.umin(ir.add(distance, ir.select(isHalf, int(ir, halfBits), int(ir, 0))), int(ir, 31));
  const size = ir.lshr(ir.shl(bits, int(ir, guardBits)), shift);
  return ir.select(ir.icmp(word, int(ir, 0), { pred: 'slt' }), ir.sub(int(ir, 0), size), size);
}

/** Floats. A plane has an exponent of its own, and all planes are aligned to the greatest. */
function mixedFloats(ir: RowBuilder, isHalf: Value, { count, plane }: Planes): Value[] {
  const first = [...fourOf(int(ir, 1)), ...fourOf(ir.const('i64', 0)), ...fourOf(single(ir, 0))];
  const values = ir.repeat(count, first, (number, before) => {
    const one = plane(number);
    const exponents = eachCorner(ir, one, fourOf(int(ir, 1)), (weight, words, greatest) =>
      words.map((word, i) => ir.umax(greatest[i]!, ir.select(is(ir, weight, 0), int(ir, 1), exponentOf(ir, word)))),
    );
    const sums = eachCorner(ir, one, [...fourOf(ir.const('i64', 0)), ...before.slice(8)], (weight, words, sum) => [
      ...words.map((word, i) => {
        const number = ir.sext('i64', aligned(ir, word, exponents[i]!, isHalf));
        return ir.add(sum[i]!, ir.mul(number, ir.zext('i64', weight)));
      }),
      // The sum as floats have it: infinite or NaN.
      ...words.map((word, i) => {
        const product = ir.fmul(ir.uitofp('f32', weight), ir.bitcast('f32', word));
        return ir.select(is(ir, weight, 0), sum[4 + i]!, ir.fadd(sum[4 + i]!, product));
      }),
    ]);
    const greater = exponents.map((exponent, i) => ir.umax(exponent, before[i]!));
    const moved = (sum: Value, exponent: Value, i: number): Value =>
      ir.ashr(sum, ir.zext('i64', ir.umin(ir.sub(greater[i]!, exponent), int(ir, 63))));
    const total = [0, 1, 2, 3].map((i) => {
      const own = ir.shl(sums[i]!, ir.const('i64', planeBits));
      return ir.add(moved(before[4 + i]!, before[i]!, i), moved(own, exponents[i]!, i));
    });
    return [...greater, ...total, ...sums.slice(4)];
  });
  return [0, 1, 2, 3].map((i) => result(ir, [values[i]!, values[4 + i]!, values[8 + i]!], isHalf));
}

/** A power of two as a float, from its biased exponent. */
const powerOf = (ir: RowBuilder, exponent: Value): Value => ir.bitcast('f32', ir.shl(exponent, int(ir, exponentBits)));

/** What a sum is with a NaN. */
const nan = { float: 0x7fff_ffff, half: 0x7fff_e000 } as const;

/** A sum as a float or a half, rounded to the nearest and a half away from zero. */
function result(ir: RowBuilder, [exponent, sum, plain]: readonly [Value, Value, Value], isHalf: Value): Value {
  const isNegative = ir.icmp(sum, ir.const('i64', 0), { pred: 'slt' });
  const size = ir.select(isNegative, ir.sub(ir.const('i64', 0), sum), sum);
  // A bit below all others moves what lies between two numbers away from zero, if the number has more bits than the result.
  const kept = ir.select(isHalf, ir.const('i64', 1n << BigInt(planeBits + 11)), ir.const('i64', 1n << BigInt(planeBits + 24)));
  const below = ir.select(isHalf, ir.const('i64', 1n << BigInt(planeBits)), ir.const('i64', 1));
  const isLong = ir.icmp(size, kept, { pred: 'uge' });
  const odd = ir.add(ir.shl(size, ir.const('i64', 1)), ir.select(isLong, below, ir.const('i64', 0)));
  // 2 to the power of the exponent, less 23 bits of the mantissa (10 of a half) and what sums have behind it.
  const bits = exponentBits + guardBits + planeBits + 8 + 1;
  const behind = ir.select(isHalf, single(ir, 2 ** (halfBits - bits)), single(ir, 2 ** -bits));
  const size32 = ir.fmul(ir.fmul(ir.uitofp('f32', odd), behind), powerOf(ir, exponent));
  const value = ir.select(isNegative, ir.fneg(size32), size32);
  const half = ir.fpext('f32', ir.fptrunc('f16', value));
  const finite = ir.select(isHalf, half, value);
  const isNone = ir.fcmp(plain, plain, { pred: 'uno' });
  const special = ir.select(isNone, ir.select(isHalf, int(ir, nan.half), int(ir, nan.float)), ir.bitcast('i32', plain));
  return ir.select(is(ir, exponent, 255), special, ir.bitcast('i32', finite));
}
