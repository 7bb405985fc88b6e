/**
 * f16 and bf16 values in 32-bit lanes: conversion to f32, which is exact, and back with one rounding to nearest even. The bits of an f16, shifted
 * to the fields of an f32, are an f32 that is too small by the factor 2^112, subnormals included. Source: IEEE 754-2019, 3.4 and 4.3.1.
 */
import { withScratch } from '../../codegen/scratch.ts';
import type { LaneGroup, PartWriter } from '../lanes/lane-group.ts';
import { words } from '../lanes/vectors.ts';

/** The bits of 2^112 as an f32. */
const twoTo112 = 0x7780_0000;
/** The bits of an infinity as an f32. */
const f32Infinity = 0x7f80_0000;
/** The largest finite f16 (0x7bff), shifted to the fields of an f32, with the bits below it set. */
const shiftedMax = 0x0f7f_ffff;
/** The exponent bias of f16 minus that of f32, -112, in the exponent field of an f32. */
const biasDifference = 0xc800_0000;
/** The bits of 2^-14, the smallest normal f16, as an f32. */
const minNormal = 0x3880_0000;
/** The bits of 0.5 as an f32: its last bit counts 2^-24, the unit of subnormal f16 values. */
const half32 = 0x3f00_0000;
/** The bits of an infinity as an f16. */
const f16Infinity = 0x7c00;
/** The bits of a NaN, both as an f16 and as a bf16. */
const shortNan = 0x7fff;

export const isShortFloat = (type: string): type is 'f16' | 'bf16' => type === 'f16' || type === 'bf16';

/** Converts four f16 or bf16 values on the stack to f32. */
export function widenShort(s: LaneGroup, type: 'f16' | 'bf16'): void {
  const { code } = s;
  if (type === 'bf16') return shifted(s, 'shl', 16);
  withScratch(s, 'v128', 2, ([half, magnitude]) => {
    code.at('local.tee', half);
    mask(s, 0x7fff);
    shifted(s, 'shl', 13);
    code.at('local.tee', magnitude);
    code.v128(words(twoTo112));
    code.op('f32x4.mul');
    // Infinity and NaN get all bits of the exponent.
    code.at('local.get', magnitude);
    code.v128(words(shiftedMax));
    code.op('i32x4.gt_s');
    mask(s, f32Infinity);
    code.op('v128.or');
    code.at('local.get', half);
  });
  mask(s, 0x8000);
  shifted(s, 'shl', 16);
  code.op('v128.or');
}

/** Rounds four f32 values on the stack to f16 or bf16. */
export function narrowShort(s: LaneGroup, type: 'f16' | 'bf16'): void {
  if (type === 'bf16') narrowToBfloat(s);
  else narrowToHalf(s);
}

function narrowToBfloat(s: LaneGroup): void {
  const { code } = s;
  withScratch(s, 'v128', 1, ([f32]) => {
    code.at('local.tee', f32);
    roundAt(s, f32, 16);
    code.v128(words(shortNan));
    code.at('local.get', f32);
    code.at('local.get', f32);
  });
  code.op('f32x4.eq');
  code.op('v128.bitselect');
}

/** Drops the last `bits` bits of the vector on the stack, which is in the local `f32`, rounding to nearest even. */
function roundAt(s: LaneGroup, f32: number, bits: number): void {
  const { code } = s;
  code.v128(words(2 ** (bits - 1) - 1));
  code.op('i32x4.add');
  code.at('local.get', f32);
  shifted(s, 'shr_u', bits);
  mask(s, 1);
  code.op('i32x4.add');
  shifted(s, 'shr_u', bits);
}

function narrowToHalf(s: LaneGroup): void {
  const { code } = s;
  withScratch(s, 'v128', 2, ([f32, magnitude]) => {
    code.at('local.tee', f32);
    mask(s, 0x7fff_ffff);
    code.at('local.tee', magnitude);
    // Normal results: the exponent is rebiased, and values that are too large become infinity.
    code.v128(words(biasDifference));
    code.op('i32x4.add');
    roundAt(s, magnitude, 13);
    code.v128(words(f16Infinity));
    code.op('i32x4.min_u');
    // Subnormal results: adding 0.5 rounds to the unit of subnormal f16 values.
    code.at('local.get', magnitude);
    code.v128(words(half32));
    code.op('f32x4.add');
    code.v128(words(half32));
    code.op('i32x4.sub');
    code.at('local.get', magnitude);
    code.v128(words(minNormal));
    code.op('i32x4.ge_s');
    code.op('v128.bitselect');
    code.v128(words(shortNan));
    code.at('local.get', f32);
    code.at('local.get', f32);
    code.op('f32x4.eq');
    code.op('v128.bitselect');
    code.at('local.get', f32);
    shifted(s, 'shr_u', 16);
    mask(s, 0x8000);
    code.op('v128.or');
  });
}

function mask({ code }: LaneGroup, bits: number): void {
  code.v128(words(bits));
  code.op('v128.and');
}

function shifted({ code }: LaneGroup, how: 'shl' | 'shr_u', count: number): void {
  code.i32(count);
  code.op(`i32x4.${how}`);
}

/** An f32 operation on f16 or bf16 operands; an f32 result has enough bits that the second rounding is harmless. */
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
