/**
 * Halves and bfloats in lanes of 32 bits, made singles and back, exact and with one rounding to nearest even. A half's bits moved into the place of
 * a single's are a single that is 2^112 too small, subnormals included. Source: IEEE 754-2019, 3.4 and 4.3.1.
 */
import type { LaneGroup, PartWriter } from '../lanes/lane-group.ts';
import { words } from '../lanes/vectors.ts';

export const isShortFloat = (type: string): type is 'f16' | 'bf16' => type === 'f16' || type === 'bf16';

/** Four halves on the stack become singles. */
export function widenShort(s: LaneGroup, type: 'f16' | 'bf16'): void {
  const { code } = s;
  if (type === 'bf16') return shifted(s, 'shl', 16);
  const half = s.temp('v128', 40);
  const magnitude = s.temp('v128', 41);
  code.at('local.tee', half);
  mask(s, 0x7fff);
  shifted(s, 'shl', 13);
  code.at('local.tee', magnitude);
  code.v128(words(0x7780_0000));
  code.op('f32x4.mul');
  // Infinity and NaN have all bits of the exponent.
  code.at('local.get', magnitude);
  code.v128(words(0x0f7f_ffff));
  code.op('i32x4.gt_s');
  mask(s, 0x7f80_0000);
  code.op('v128.or');
  code.at('local.get', half);
  mask(s, 0x8000);
  shifted(s, 'shl', 16);
  code.op('v128.or');
}

/** Four singles on the stack become halves. */
export function narrowShort(s: LaneGroup, type: 'f16' | 'bf16'): void {
  if (type === 'bf16') narrowToBfloat(s);
  else narrowToHalf(s);
}

function narrowToBfloat(s: LaneGroup): void {
  const { code } = s;
  const single = s.temp('v128', 42);
  code.at('local.tee', single);
  roundAt(s, single, 16);
  code.v128(words(0x7fff));
  code.at('local.get', single);
  code.at('local.get', single);
  code.op('f32x4.eq');
  code.op('v128.bitselect');
}

/** Adds to what is on the stack what rounds it to nearest even when its last bits are cut off, and cuts them. */
function roundAt(s: LaneGroup, single: number, bits: number): void {
  const { code } = s;
  code.v128(words(2 ** (bits - 1) - 1));
  code.op('i32x4.add');
  code.at('local.get', single);
  shifted(s, 'shr_u', bits);
  mask(s, 1);
  code.op('i32x4.add');
  shifted(s, 'shr_u', bits);
}

function narrowToHalf(s: LaneGroup): void {
  const { code } = s;
  const [single, magnitude] = [s.temp('v128', 42), s.temp('v128', 43)];
  code.at('local.tee', single);
  mask(s, 0x7fff_ffff);
  code.at('local.tee', magnitude);
  // Normal ones: the exponent counted from another start, and what is too large infinity.
  code.v128(words(0xc800_0000));
  code.op('i32x4.add');
  roundAt(s, magnitude, 13);
  code.v128(words(0x7c00));
  code.op('i32x4.min_u');
  // Subnormal ones: one half as a single has their unit as its last bit.
  code.at('local.get', magnitude);
  code.v128(words(0x3f00_0000));
  code.op('f32x4.add');
  code.v128(words(0x3f00_0000));
  code.op('i32x4.sub');
  code.at('local.get', magnitude);
  code.v128(words(0x3880_0000));
  code.op('i32x4.ge_s');
  code.op('v128.bitselect');
  code.v128(words(0x7fff));
  code.at('local.get', single);
  code.at('local.get', single);
  code.op('f32x4.eq');
  code.op('v128.bitselect');
  code.at('local.get', single);
  shifted(s, 'shr_u', 16);
  mask(s, 0x8000);
  code.op('v128.or');
}

function mask({ code }: LaneGroup, bits: number): void {
  code.v128(words(bits));
  code.op('v128.and');
}

function shifted({ code }: LaneGroup, how: 'shl' | 'shr_u', count: number): void {
  code.i32(count);
  code.op(`i32x4.${how}`);
}

/** An operation on singles, done on halves: each result has bits enough that rounding it once more is harmless. */
export function onShorts(s: LaneGroup, type: 'f16' | 'bf16', operands: readonly ((part: number) => void)[], act: () => void): PartWriter {
  return (part) => {
    for (const push of operands) {
      push(part);
      widenShort(s, type);
    }
    act();
    narrowShort(s, type);
  };
}
