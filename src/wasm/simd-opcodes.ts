/**
 * Instructions on vectors of 128 bits, all behind the prefix 0xfd.
 * Source: WebAssembly Core Specification 2.0, 5.4.8 (vector instructions); relaxed ones: the proposal "Relaxed SIMD", binary format.
 */
import type { Immediate, Instruction } from './instruction.ts';

/** The number behind the prefix, as LEB128. */
const prefixed = (number: number): number[] => (number < 0x80 ? [0xfd, number] : [0xfd, (number & 0x7f) | 0x80, number >> 7]);

/** Consecutive opcodes in their order; `-` is a number that no instruction has. */
const rows = (immediate: Immediate, first: number, names: string): [string, Instruction][] =>
  names
    .trim()
    .split(/\s+/)
    .flatMap((name, i): [string, Instruction][] => (name === '-' ? [] : [[name, { code: prefixed(first + i), immediate }]]));

const comparisons = 'eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u';
const of = (shape: string, names: string): string =>
  names
    .split(' ')
    .map((name) => (name === '-' ? name : `${shape}.${name}`))
    .join(' ');

/** Every vector instruction that we may write, by its name in the text format. */
export const simdRows: [string, Instruction][] = [
  ...rows('memory', 0x00, of('v128', 'load load8x8_s load8x8_u load16x4_s load16x4_u load32x2_s load32x2_u')),
  ...rows('memory', 0x07, of('v128', 'load8_splat load16_splat load32_splat load64_splat store')),
  ...rows('none', 0x0e, 'i8x16.swizzle i8x16.splat i16x8.splat i32x4.splat i64x2.splat f32x4.splat f64x2.splat'),
  ...rows('lane', 0x15, 'i8x16.extract_lane_s i8x16.extract_lane_u i8x16.replace_lane i16x8.extract_lane_s i16x8.extract_lane_u'),
  ...rows('lane', 0x1a, 'i16x8.replace_lane i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane'),
  ...rows('lane', 0x1f, 'f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane'),
  ...rows('none', 0x23, [of('i8x16', comparisons), of('i16x8', comparisons), of('i32x4', comparisons)].join(' ')),
  ...rows('none', 0x41, `${of('f32x4', 'eq ne lt gt le ge')} ${of('f64x2', 'eq ne lt gt le ge')}`),
  ...rows('none', 0x4d, of('v128', 'not and andnot or xor bitselect any_true')),
  ...rows(
    'memoryLane',
    0x54,
    of('v128', 'load8_lane load16_lane load32_lane load64_lane store8_lane store16_lane store32_lane store64_lane'),
  ),
  ...rows('memory', 0x5c, of('v128', 'load32_zero load64_zero')),
  ...rows('none', 0x5e, 'f32x4.demote_f64x2_zero f64x2.promote_low_f32x4'),
  ...rows('none', 0x60, of('i8x16', 'abs neg popcnt all_true bitmask narrow_i16x8_s narrow_i16x8_u')),
  ...rows('none', 0x67, of('f32x4', 'ceil floor trunc nearest')),
  ...rows('none', 0x6b, of('i8x16', 'shl shr_s shr_u add add_sat_s add_sat_u sub sub_sat_s sub_sat_u')),
  ...rows('none', 0x74, 'f64x2.ceil f64x2.floor i8x16.min_s i8x16.min_u i8x16.max_s i8x16.max_u f64x2.trunc i8x16.avgr_u'),
  ...rows('none', 0x7c, 'i16x8.extadd_pairwise_i8x16_s i16x8.extadd_pairwise_i8x16_u'),
  ...rows('none', 0x7e, 'i32x4.extadd_pairwise_i16x8_s i32x4.extadd_pairwise_i16x8_u'),
  ...rows('none', 0x80, of('i16x8', 'abs neg q15mulr_sat_s all_true bitmask narrow_i32x4_s narrow_i32x4_u')),
  ...rows('none', 0x87, of('i16x8', 'extend_low_i8x16_s extend_high_i8x16_s extend_low_i8x16_u extend_high_i8x16_u shl shr_s shr_u add')),
  ...rows('none', 0x91, 'i16x8.sub - - f64x2.nearest i16x8.mul i16x8.min_s i16x8.min_u i16x8.max_s i16x8.max_u'),
  ...rows('none', 0xa0, of('i32x4', 'abs neg - all_true bitmask - - extend_low_i16x8_s extend_high_i16x8_s extend_low_i16x8_u')),
  ...rows('none', 0xaa, of('i32x4', 'extend_high_i16x8_u shl shr_s shr_u add - - sub - - - mul min_s min_u max_s max_u dot_i16x8_s')),
  ...rows('none', 0xc0, of('i64x2', 'abs neg - all_true bitmask - - extend_low_i32x4_s extend_high_i32x4_s extend_low_i32x4_u')),
  ...rows('none', 0xca, of('i64x2', 'extend_high_i32x4_u shl shr_s shr_u add - - sub - - - mul eq ne lt_s gt_s le_s ge_s')),
  ...rows('none', 0xdc, of('i64x2', 'extmul_low_i32x4_s extmul_high_i32x4_s extmul_low_i32x4_u extmul_high_i32x4_u')),
  ...rows('none', 0xe0, of('f32x4', 'abs neg - sqrt add sub mul div min max pmin pmax')),
  ...rows('none', 0xec, of('f64x2', 'abs neg - sqrt add sub mul div min max pmin pmax')),
  ...rows('none', 0xf8, 'i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u'),
  ...rows('none', 0xfc, 'i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s f64x2.convert_low_i32x4_u'),
  ...rows('none', 0x105, 'f32x4.relaxed_madd'),
];
