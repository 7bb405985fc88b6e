/** The lane group that an emitter or a rule writes code for. */
import { bitsOf, elementOf, type InstOf, type Kernel, type Type, type Value } from '../../../ir/index.ts';
import type { Code, NumberType, ValueType } from '../../../wasm/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import type { HelperName } from '../../codegen/helpers.ts';
import type { Host } from '../../codegen/host.ts';
import type { Scratch } from '../../codegen/scratch.ts';
import type { ShiftMode } from '../../codegen/shift-mode.ts';
import { isLong, type SimdPlan } from '../analysis/plan.ts';
import type { ConstantPool } from './constant-pool.ts';
import type { SimdHelper } from './helpers.ts';
import { shapeName, words } from './vectors.ts';

/** Locals of every function that runs lane groups. */
export interface GroupFrame {
  /** Number of the group's first thread in its block. */
  readonly first: number;
  /**
   * Base addresses of the group's slots in the spill area: for varying values of 4 and of 8 bytes, and for values that are uniform or
   * affine.
   */
  readonly slots4: number;
  readonly slots8: number;
  readonly uniformSlots: number;
  readonly fuel: number;
  /** Base addresses of the first thread's local memory and of the windows of shared and constant memory. */
  readonly local: number;
  readonly shared: number;
  readonly constant: number;
}

/** Emitters of the instructions that a sanitizer has inserted. */
export interface CheckEmitters {
  guard(s: LaneGroup, inst: InstOf<'guard'>): void;
  within(s: LaneGroup, inst: InstOf<'within'>): void;
  members(s: LaneGroup): void;
}

export interface LaneGroup {
  readonly plan: SimdPlan;
  readonly kernel: Kernel;
  readonly code: Code;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  readonly simdHelper: (name: SimdHelper) => number;
  readonly mma: (form: string) => number;
  readonly frame: GroupFrame;
  readonly fma: FmaMode;
  readonly shifts: ShiftMode;
  /** Emitters of the fast sanitizer's checks, where the kernel has them. */
  readonly guards?: CheckEmitters | undefined;
  readonly pool: ConstantPool;
  /** Whether the code is in a loop over vectors, so that the latency of one vector does not matter. */
  readonly isRerolled: boolean;
  /** Bytes of the spill area, behind those of the plan, that re-rolled code uses. */
  readonly rerolled: { bytes: number };
  /** The execution mask: a local for each pack; undefined where all lanes are active. */
  readonly mask: readonly number[] | undefined;
  /** Pushes one vector of a value: 4 lanes, or 2 lanes of 64 bits. */
  part(value: Value, part: number): void;
  /** Pushes one vector of an element of a vector-typed value. */
  element(value: Value, element: number, part: number): void;
  /** Pushes the uniform value, or the base of an affine one. */
  scalar(value: Value): void;
  /** Pushes one lane of a value as a scalar. The lanes of the value have to be in locals. */
  lane(value: Value, element: number, lane: number): void;
  /** Whether a value is a deferred expression, which is emitted at its use. */
  isDeferred(value: Value): boolean;
  /** The scratch locals of the function that is being written. */
  readonly scratch: Scratch;
  /** A new function with parameters and no result. Its vector constants come from the pool too. */
  newFunction(params: readonly ValueType[]): { readonly index: number; readonly code: Code };
}

/** Pushes one vector of a result. It reads the same vector of each operand once, where widths are equal. */
export type PartWriter = (part: number, element: number) => void;

export const typeOf = (s: LaneGroup, value: Value): Type => s.kernel.insts[value]!.type;
/** Whether the lanes of a value have 64 bits. */
export const longOf = (s: LaneGroup, value: Value): boolean => isLong(s.plan, value);
/** The shape of a value: 0 uniform, 1 affine, 2 varying. */
export const shapeOf = (s: LaneGroup, value: Value): number => s.plan.shapes.shape[value]!;
/** The type of a value's element as a WebAssembly scalar. */
export function numberOf(s: Pick<LaneGroup, 'plan' | 'kernel'>, value: Value): NumberType {
  const element = elementOf(s.kernel.insts[value]!.type);
  if (element === 'f32' || element === 'f64') return element;
  return isLong(s.plan, value) ? 'i64' : 'i32';
}

/** Widens a mask of four 32-bit lanes to the half that belongs to a part of 64-bit lanes. */
export function widenMask(s: LaneGroup, part: number): void {
  s.code.op(part % 2 === 0 ? 'i64x2.extend_low_i32x4_s' : 'i64x2.extend_high_i32x4_s');
}

/** Pushes a condition as a mask for a part of 32-bit or 64-bit lanes. */
export function flag(s: LaneGroup, cond: Value, part: number, isWide: boolean): void {
  s.part(cond, isWide ? part >> 1 : part);
  if (isWide) widenMask(s, part);
}

/** Pushes the execution mask of a part; the group must have a mask. */
export function maskPart(s: LaneGroup, part: number, isWide: boolean): void {
  s.code.at('local.get', s.mask![isWide ? part >> 1 : part]!);
  if (isWide) widenMask(s, part);
}

/** Pushes an integer narrower than its lane, sign-extended. */
export function partSigned(s: LaneGroup, value: Value, part: number): void {
  s.part(value, part);
  extendSign(s, typeOf(s, value));
}

/** Sign-extends the vector on the stack, of a type narrower than its lane. A condition is sign-extended already. */
export function extendSign(s: LaneGroup, type: Type): void {
  if (type !== 'i8' && type !== 'i16') return;
  for (const op of ['i32x4.shl', 'i32x4.shr_s'] as const) {
    s.code.i32(32 - bitsOf(type));
    s.code.op(op);
  }
}

/** Truncates the vector on the stack to the bits of a type narrower than 32. */
export function cut(s: LaneGroup, type: Type): void {
  if (type !== 'i8' && type !== 'i16') return;
  s.code.v128(words(2 ** bitsOf(type) - 1));
  s.code.op('v128.and');
}

/** Adds to four equal 32-bit lanes the distance of each lane of a part. */
export function addStride({ code }: Pick<LaneGroup, 'code'>, stride: number, part: number): void {
  code.v128([0, 1, 2, 3].map((lane) => Math.imul(stride, 4 * part + lane)));
  code.op('i32x4.add');
}

/** Splats the scalar that `push` puts on the stack; a condition becomes a mask of all ones. */
export function splat(s: Pick<LaneGroup, 'code' | 'plan' | 'kernel'>, value: Value, push: () => void): void {
  const { code } = s;
  const isFlag = elementOf(s.kernel.insts[value]!.type) === 'i1';
  if (isFlag) code.i32(0);
  push();
  if (isFlag) code.op('i32.sub');
  code.op(`${shapeName[numberOf(s, value)]}.splat`);
}
