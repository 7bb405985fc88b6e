/** WebAssembly instructions by the type of their operands, for code that computes this type. */
import type { IcmpPredicate, Type } from '../../ir/index.ts';
import type { NameWith, NumberType, OpOf } from '../../wasm/index.ts';

/** Ops of both integer types: `add` of `i32.add` and `i64.add`. */
export type IntegerOp = OpOf<'i32'> & OpOf<'i64'>;
/** Ops of both float types, for scalars and for vectors. */
export type FloatOp = OpOf<'f32'> & OpOf<'f64'> & OpOf<'f32x4'> & OpOf<'f64x2'>;

/** The bits of a number of one type as a number of the other type of its size. */
export const reinterpretOf = {
  i32: 'f32.reinterpret_i32',
  i64: 'f64.reinterpret_i64',
  f32: 'i32.reinterpret_f32',
  f64: 'i64.reinterpret_f64',
} as const satisfies Record<NumberType, NameWith<'none'>>;

/** The comparison of each predicate. */
export const integerComparisons = {
  eq: 'eq',
  ne: 'ne',
  slt: 'lt_s',
  sle: 'le_s',
  sgt: 'gt_s',
  sge: 'ge_s',
  ult: 'lt_u',
  ule: 'le_u',
  ugt: 'gt_u',
  uge: 'ge_u',
} as const satisfies Record<IcmpPredicate, IntegerOp & OpOf<'i32x4'>>;

const narrowLoads: Partial<Record<Type, NameWith<'memory'>>> = {
  i8: 'i32.load8_u',
  i16: 'i32.load16_u',
  f16: 'i32.load16_u',
  bf16: 'i32.load16_u',
};
const narrowStores: Partial<Record<Type, NameWith<'memory'>>> = {
  i8: 'i32.store8',
  i16: 'i32.store16',
  f16: 'i32.store16',
  bf16: 'i32.store16',
};

/** The load of a scalar or pointer that is held as a number. */
export const loadAs = (element: Type, held: NumberType): NameWith<'memory'> => narrowLoads[element] ?? `${held}.load`;
/** The store of a scalar or pointer that is held as a number. */
export const storeAs = (element: Type, held: NumberType): NameWith<'memory'> => narrowStores[element] ?? `${held}.store`;
