/**
 * The instruction tables: encoding and immediate of every instruction we write, and the types of their names.
 * Source: WebAssembly Core Specification 2.0, 5.4 (binary format of instructions); the threads proposal for atomics.
 */
import { type Immediate, type Instruction, instructionsOf, type NamesIn } from './instruction.ts';
import { simdTable } from './simd-opcodes.ts';

/** Opcodes of one byte. */
const table = {
  none: [
    [0x00, 'unreachable nop'],
    [0x0f, 'return'],
    [0x1a, 'drop select'],
    [0x45, 'i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u'],
    [0x50, 'i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u'],
    [0x5b, 'f32.eq f32.ne f32.lt f32.gt f32.le f32.ge f64.eq f64.ne f64.lt f64.gt f64.le f64.ge'],
    [0x67, 'i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u'],
    [0x71, 'i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr'],
    [0x79, 'i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u'],
    [0x83, 'i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr'],
    [0x8b, 'f32.abs f32.neg f32.ceil f32.floor f32.trunc f32.nearest f32.sqrt f32.add f32.sub f32.mul f32.div f32.min f32.max'],
    [0x98, 'f32.copysign'],
    [0x99, 'f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt f64.add f64.sub f64.mul f64.div f64.min f64.max'],
    [0xa6, 'f64.copysign i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u'],
    [0xac, 'i64.extend_i32_s i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u i64.trunc_f64_s i64.trunc_f64_u'],
    [0xb2, 'f32.convert_i32_s f32.convert_i32_u f32.convert_i64_s f32.convert_i64_u f32.demote_f64'],
    [0xb7, 'f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32'],
    [0xbc, 'i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64'],
    [0xc0, 'i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s'],
  ],
  index: [
    [0x0c, 'br'],
    [0x0d, 'br_if'],
    [0x10, 'call'],
    [0x20, 'local.get'],
    [0x21, 'local.set'],
    [0x22, 'local.tee'],
    [0x23, 'global.get'],
    [0x24, 'global.set'],
  ],
  memory: [
    [0x28, 'i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u'],
    [0x30, 'i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u'],
    [0x36, 'i32.store i64.store f32.store f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32'],
  ],
} as const;

/** Opcodes behind the prefix 0xfc: conversions that saturate. */
const saturatingTable = {
  none: [
    [0, 'i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u'],
    [4, 'i64.trunc_sat_f32_s i64.trunc_sat_f32_u i64.trunc_sat_f64_s i64.trunc_sat_f64_u'],
  ],
} as const;

/** Opcodes behind the prefix 0xfe. Read-modify-write operations narrower than their type, whose opcodes lie between, are not written. */
const atomicTable = {
  memory: [
    [0x10, 'i32.atomic.load i64.atomic.load i32.atomic.load8_u i32.atomic.load16_u'],
    [0x17, 'i32.atomic.store i64.atomic.store i32.atomic.store8 i32.atomic.store16'],
    [0x1e, 'i32.atomic.rmw.add i64.atomic.rmw.add'],
    [0x25, 'i32.atomic.rmw.sub i64.atomic.rmw.sub'],
    [0x2c, 'i32.atomic.rmw.and i64.atomic.rmw.and'],
    [0x33, 'i32.atomic.rmw.or i64.atomic.rmw.or'],
    [0x3a, 'i32.atomic.rmw.xor i64.atomic.rmw.xor'],
    [0x41, 'i32.atomic.rmw.xchg i64.atomic.rmw.xchg'],
    [0x48, 'i32.atomic.rmw.cmpxchg i64.atomic.rmw.cmpxchg'],
  ],
} as const;

/** An opcode that a zero byte follows. */
const fenceTable = { none: [[0x03, 'atomic.fence']] } as const;

/** A number as LEB128, below 2^14. */
const leb = (number: number): number[] => (number < 0x80 ? [number] : [(number & 0x7f) | 0x80, number >> 7]);

/** Every instruction by its name in the text format. */
export const instructions: ReadonlyMap<string, Instruction> = new Map([
  ...instructionsOf(table, (opcode) => [opcode]),
  ...instructionsOf(saturatingTable, (opcode) => [0xfc, opcode]),
  ...instructionsOf(simdTable, (opcode) => [0xfd, ...leb(opcode)]),
  ...instructionsOf(fenceTable, (opcode) => [0xfe, opcode, 0x00]),
  ...instructionsOf(atomicTable, (opcode) => [0xfe, opcode]),
]);

type Tables = typeof table | typeof saturatingTable | typeof simdTable | typeof fenceTable | typeof atomicTable;

/** The names of the instructions with an immediate. */
export type NameWith<I extends Immediate> = NamesIn<Tables, I>;

type OpsIn<Name, Type extends string> = Name extends `${Type}.${infer Op}` ? Op : never;

/** The instructions of a type without immediate, each without the type: `add` of `i32.add`. */
export type OpOf<Type extends string> = OpsIn<NameWith<'none'>, Type>;

/** Whether a name is that of an instruction with an immediate. */
export const hasImmediate = <I extends Immediate>(name: string, immediate: I): name is NameWith<I> =>
  instructions.get(name)?.immediate === immediate;

/** Value types and their encodings. */
export const valueTypes = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
export type ValueType = keyof typeof valueTypes;
/** Those of one number. */
export type NumberType = Exclude<ValueType, 'v128'>;
