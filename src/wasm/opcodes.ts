/**
 * The instruction table: encoding and immediate of every instruction we write.
 * Source: WebAssembly Core Specification 2.0, 5.4 (binary format of instructions); the threads proposal for atomics.
 */

import type { Instruction } from './instruction.ts';
import { simdRows } from './simd-opcodes.ts';

const plain = (first: number, names: string): [string, Instruction][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name, i) => [name, { code: [first + i], immediate: 'none' }]);
const memory = (first: number, names: string): [string, Instruction][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name, i) => [name, { code: [first + i], immediate: 'memory' }]);
const indexed = (code: number, name: string): [string, Instruction] => [name, { code: [code], immediate: 'index' }];
const saturating = (names: string): [string, Instruction][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name, i) => [name, { code: [0xfc, i], immediate: 'none' }]);

/** Atomics: an access of the width of its type. Those of narrower ones, which stand between, are not written. */
const atomics = (names: readonly (readonly [first: number, ...names: string[]])[]): [string, Instruction][] =>
  names.flatMap(([first, ...each]) =>
    each.map((name, i): [string, Instruction] => [name, { code: [0xfe, first + i], immediate: 'memory' }]),
  );

/** Every instruction by its name in the text format; consecutive opcodes are listed in their order. */
const rows: [string, Instruction][] = [
  ...plain(0x00, 'unreachable nop'),
  ...plain(0x0f, 'return'),
  indexed(0x0c, 'br'),
  indexed(0x0d, 'br_if'),
  indexed(0x10, 'call'),
  ...plain(0x1a, 'drop select'),
  indexed(0x20, 'local.get'),
  indexed(0x21, 'local.set'),
  indexed(0x22, 'local.tee'),
  indexed(0x23, 'global.get'),
  indexed(0x24, 'global.set'),
  ...memory(0x28, 'i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u'),
  ...memory(0x30, 'i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u'),
  ...memory(0x36, 'i32.store i64.store f32.store f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32'),
  ...plain(0x45, 'i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u'),
  ...plain(0x50, 'i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u'),
  ...plain(0x5b, 'f32.eq f32.ne f32.lt f32.gt f32.le f32.ge f64.eq f64.ne f64.lt f64.gt f64.le f64.ge'),
  ...plain(0x67, 'i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u'),
  ...plain(0x71, 'i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr'),
  ...plain(0x79, 'i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u'),
  ...plain(0x83, 'i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr'),
  ...plain(0x8b, 'f32.abs f32.neg f32.ceil f32.floor f32.trunc f32.nearest f32.sqrt f32.add f32.sub f32.mul f32.div f32.min f32.max'),
  ...plain(0x98, 'f32.copysign'),
  ...plain(0x99, 'f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt f64.add f64.sub f64.mul f64.div f64.min f64.max'),
  ...plain(0xa6, 'f64.copysign i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u'),
  ...plain(0xac, 'i64.extend_i32_s i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u i64.trunc_f64_s i64.trunc_f64_u'),
  ...plain(0xb2, 'f32.convert_i32_s f32.convert_i32_u f32.convert_i64_s f32.convert_i64_u f32.demote_f64'),
  ...plain(0xb7, 'f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32'),
  ...plain(0xbc, 'i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64'),
  ...plain(0xc0, 'i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s'),
  ...saturating('i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u'),
  ...saturating('i64.trunc_sat_f32_s i64.trunc_sat_f32_u i64.trunc_sat_f64_s i64.trunc_sat_f64_u').map(
    ([name, { code }]): [string, Instruction] => [name, { code: [code[0]!, code[1]! + 4], immediate: 'none' }],
  ),
  ...simdRows,
  ['atomic.fence', { code: [0xfe, 0x03, 0x00], immediate: 'none' }],
  ...atomics([
    [0x10, 'i32.atomic.load', 'i64.atomic.load', 'i32.atomic.load8_u', 'i32.atomic.load16_u'],
    [0x17, 'i32.atomic.store', 'i64.atomic.store', 'i32.atomic.store8', 'i32.atomic.store16'],
    [0x1e, 'i32.atomic.rmw.add', 'i64.atomic.rmw.add'],
    [0x25, 'i32.atomic.rmw.sub', 'i64.atomic.rmw.sub'],
    [0x2c, 'i32.atomic.rmw.and', 'i64.atomic.rmw.and'],
    [0x33, 'i32.atomic.rmw.or', 'i64.atomic.rmw.or'],
    [0x3a, 'i32.atomic.rmw.xor', 'i64.atomic.rmw.xor'],
    [0x41, 'i32.atomic.rmw.xchg', 'i64.atomic.rmw.xchg'],
    [0x48, 'i32.atomic.rmw.cmpxchg', 'i64.atomic.rmw.cmpxchg'],
  ]),
];

export const instructions: ReadonlyMap<string, Instruction> = new Map(rows);

/** Value types and their encodings. */
export const valueTypes = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
export type ValueType = keyof typeof valueTypes;
/** Those of one number. */
export type NumberType = Exclude<ValueType, 'v128'>;
