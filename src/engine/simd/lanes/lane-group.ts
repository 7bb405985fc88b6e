/** What everything that writes code for a strip shares. */
import { bitsOf, elementOf, type InstOf, type Kernel, type Type, type Value } from '../../../ir/index.ts';
import type { Code, NumberType, ValueType } from '../../../wasm/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import type { HelperName } from '../../codegen/helpers.ts';
import type { Host } from '../../codegen/host.ts';
import type { Scratch } from '../../codegen/scratch.ts';
import { isLong, type SimdPlan } from '../analysis/plan.ts';
import type { ConstantPool } from './constant-pool.ts';
import type { SimdHelper } from './helpers.ts';
import { shapeName, words } from './vectors.ts';

/** Locals of every function that runs strips. */
export interface GroupFrame {
  /** Number of the strip's first thread in its block. */
  readonly first: number;
  /** Places of the first thread's values in the record area, of 4 and of 8 bytes, and of those that a strip shares. */
  readonly record4: number;
  readonly record8: number;
  readonly recordShared: number;
  readonly fuel: number;
  /** Where the first thread's local memory starts, and the windows of the block and of constants. */
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
  readonly frame: GroupFrame;
  readonly fma: FmaMode;
  /** Of strips that are looked at quickly. */
  readonly guards?: CheckEmitters | undefined;
  readonly pool: ConstantPool;
  /** Whether the code at hand stands in a loop over vectors, so that how long one takes does not matter. */
  readonly isRerolled: boolean;
  /** Bytes of the record area, behind those of the plan, that rolled code takes. */
  readonly rerolled: { bytes: number };
  /** Lanes that run, a local of a mask for each pack; all of them where there is none. */
  mask: readonly number[] | undefined;
  /** Puts one vector of a varying or shared value on the stack: of 4 lanes, or of 2 where lanes have 64 bits. */
  part(value: Value, part: number): void;
  /** The same of one element of a vector of the kernel. */
  element(value: Value, element: number, part: number): void;
  /** Puts the number that all lanes share, or from which they are counted, on the stack. */
  scalar(value: Value): void;
  /** Puts one lane of a value on the stack as a number, with all lanes known to be in locals. */
  lane(value: Value, element: number, lane: number): void;
  /** Whether a value is an expression that is written where it is used. */
  isDeferred(value: Value): boolean;
  /** The scratch locals of the function that is being written. */
  readonly scratch: Scratch;
  /** A new function of some parameters, which gives nothing back; its constant vectors stand in the pool too. */
  newFunction(params: readonly ValueType[]): { readonly index: number; readonly code: Code };
}

/** Puts one vector of a result on the stack. Takes the same vector of each operand once, where widths are equal. */
export type PartWriter = (part: number, element: number) => void;

export const typeOf = (s: LaneGroup, value: Value): Type => s.kernel.insts[value]!.type;
/** Whether lanes of a value have 64 bits. */
export const longOf = (s: LaneGroup, value: Value): boolean => isLong(s.plan, value);
/** 0: one number; 1: counted from one; 2: any. */
export const shapeOf = (s: LaneGroup, value: Value): number => s.plan.shapes.shape[value]!;
/** The type of a value's element as a number on the stack. */
export function numberOf(s: Pick<LaneGroup, 'plan' | 'kernel'>, value: Value): NumberType {
  const element = elementOf(s.kernel.insts[value]!.type);
  if (element === 'f32' || element === 'f64') return element;
  return isLong(s.plan, value) ? 'i64' : 'i32';
}

/** A mask of wide lanes: the half of a mask of four that a part of 64-bit lanes has. */
export function widenMask(s: LaneGroup, part: number): void {
  s.code.op(part % 2 === 0 ? 'i64x2.extend_low_i32x4_s' : 'i64x2.extend_high_i32x4_s');
}

/** A condition as a mask for a part of lanes of 32 or 64 bits. */
export function flag(s: LaneGroup, cond: Value, part: number, isWide: boolean): void {
  s.part(cond, isWide ? part >> 1 : part);
  if (isWide) widenMask(s, part);
}

/** The running lanes as a mask for a part; there has to be a mask. */
export function maskPart(s: LaneGroup, part: number, isWide: boolean): void {
  s.code.at('local.get', s.mask![isWide ? part >> 1 : part]!);
  if (isWide) widenMask(s, part);
}

/** An integer of fewer bits than its lane, extended by its sign. */
export function partSigned(s: LaneGroup, value: Value, part: number): void {
  s.part(value, part);
  extendSign(s, typeOf(s, value));
}

/** What is on the stack, of a type of fewer bits than a lane, extended by its sign; a condition is so already. */
export function extendSign(s: LaneGroup, type: Type): void {
  if (type !== 'i8' && type !== 'i16') return;
  for (const op of ['i32x4.shl', 'i32x4.shr_s']) {
    s.code.i32(32 - bitsOf(type));
    s.code.op(op);
  }
}

/** Cuts what is on the stack to the bits of a type of fewer than 32. */
export function cut(s: LaneGroup, type: Type): void {
  if (type !== 'i8' && type !== 'i16') return;
  s.code.v128(words(2 ** bitsOf(type) - 1));
  s.code.op('v128.and');
}

/** Adds to four equal words what each lane of a part is ahead. */
export function addStride({ code }: Pick<LaneGroup, 'code'>, stride: number, part: number): void {
  code.v128([0, 1, 2, 3].map((lane) => Math.imul(stride, 4 * part + lane)));
  code.op('i32x4.add');
}

/** Makes a vector of a number that `push` puts on the stack; a condition is a mask of all ones. */
export function splat(s: Pick<LaneGroup, 'code' | 'plan' | 'kernel'>, value: Value, push: () => void): void {
  const { code } = s;
  const isFlag = elementOf(s.kernel.insts[value]!.type) === 'i1';
  if (isFlag) code.i32(0);
  push();
  if (isFlag) code.op('i32.sub');
  code.op(`${shapeName[numberOf(s, value)]}.splat`);
}
