/**
 * Instructions on vectors of 128 bits, all behind the prefix 0xfd.
 * Source: WebAssembly Core Specification 2.0, 5.4.8 (vector instructions); relaxed ones: the proposal "Relaxed SIMD", binary format.
 */
const comparisons = 'eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u';

/** Every vector instruction that we write, by its immediate. */
export const simdTable = {
  memory: [
    [0x00, 'v128', 'load load8x8_s load8x8_u load16x4_s load16x4_u load32x2_s load32x2_u'],
    [0x07, 'v128', 'load8_splat load16_splat load32_splat load64_splat store'],
    [0x5c, 'v128', 'load32_zero load64_zero'],
  ],
  none: [
    [0x0e, 'i8x16.swizzle i8x16.splat i16x8.splat i32x4.splat i64x2.splat f32x4.splat f64x2.splat'],
    [0x23, 'i8x16', comparisons],
    [0x2d, 'i16x8', comparisons],
    [0x37, 'i32x4', comparisons],
    [0x41, 'f32x4', 'eq ne lt gt le ge'],
    [0x47, 'f64x2', 'eq ne lt gt le ge'],
    [0x4d, 'v128', 'not and andnot or xor bitselect any_true'],
    [0x5e, 'f32x4.demote_f64x2_zero f64x2.promote_low_f32x4'],
    [0x60, 'i8x16', 'abs neg popcnt all_true bitmask narrow_i16x8_s narrow_i16x8_u'],
    [0x67, 'f32x4', 'ceil floor trunc nearest'],
    [0x6b, 'i8x16', 'shl shr_s shr_u add add_sat_s add_sat_u sub sub_sat_s sub_sat_u'],
    [0x74, 'f64x2.ceil f64x2.floor i8x16.min_s i8x16.min_u i8x16.max_s i8x16.max_u f64x2.trunc i8x16.avgr_u'],
    [0x7c, 'i16x8.extadd_pairwise_i8x16_s i16x8.extadd_pairwise_i8x16_u'],
    [0x7e, 'i32x4.extadd_pairwise_i16x8_s i32x4.extadd_pairwise_i16x8_u'],
    [0x80, 'i16x8', 'abs neg q15mulr_sat_s all_true bitmask narrow_i32x4_s narrow_i32x4_u'],
    [0x87, 'i16x8', 'extend_low_i8x16_s extend_high_i8x16_s extend_low_i8x16_u extend_high_i8x16_u shl shr_s shr_u add'],
    [0x91, 'i16x8.sub - - f64x2.nearest i16x8.mul i16x8.min_s i16x8.min_u i16x8.max_s i16x8.max_u'],
    [0xa0, 'i32x4', 'abs neg - all_true bitmask - - extend_low_i16x8_s extend_high_i16x8_s extend_low_i16x8_u'],
    [0xaa, 'i32x4', 'extend_high_i16x8_u shl shr_s shr_u add - - sub - - - mul min_s min_u max_s max_u dot_i16x8_s'],
    [0xc0, 'i64x2', 'abs neg - all_true bitmask - - extend_low_i32x4_s extend_high_i32x4_s extend_low_i32x4_u'],
    [0xca, 'i64x2', 'extend_high_i32x4_u shl shr_s shr_u add - - sub - - - mul eq ne lt_s gt_s le_s ge_s'],
    [0xdc, 'i64x2', 'extmul_low_i32x4_s extmul_high_i32x4_s extmul_low_i32x4_u extmul_high_i32x4_u'],
    [0xe0, 'f32x4', 'abs neg - sqrt add sub mul div min max pmin pmax'],
    [0xec, 'f64x2', 'abs neg - sqrt add sub mul div min max pmin pmax'],
    [0xf8, 'i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u'],
    [0xfc, 'i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s f64x2.convert_low_i32x4_u'],
    [0x105, 'f32x4.relaxed_madd'],
    [0x107, 'f64x2.relaxed_madd'],
  ],
  lane: [
    [0x15, 'i8x16.extract_lane_s i8x16.extract_lane_u i8x16.replace_lane i16x8.extract_lane_s i16x8.extract_lane_u'],
    [0x1a, 'i16x8.replace_lane i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane'],
    [0x1f, 'f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane'],
  ],
  memoryLane: [[0x54, 'v128', 'load8_lane load16_lane load32_lane load64_lane store8_lane store16_lane store32_lane store64_lane']],
} as const;
