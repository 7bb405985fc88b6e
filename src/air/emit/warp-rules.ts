/** Warp collectives in AIR: 32-bit values and 16-bit lane indices. Apple's compilers have no 64-bit ones. */
import type { Value as LlvmValue } from '../../bitcode/model.ts';
import { types } from '../../bitcode/types.ts';
import { bitsOf, type InstOf, type ScalarType } from '../../ir/index.ts';
import { i32Constant, intConstant } from '../constants.ts';
import {
  barrierOperands,
  foldFunction,
  intrinsicFor,
  intrinsicOf,
  markName,
  maskedNames,
  reducesyncName,
  warpsyncName,
} from '../intrinsics.ts';
import { llvmType } from './address.ts';
import type { KernelEmitter } from './emitter.ts';

/** Reads a value of another lane. A 64-bit value is shuffled in two halves, a predicate as a 32-bit integer. */
export function shuffleRule(e: KernelEmitter, inst: InstOf<'shuffle'>): LlvmValue {
  const lane = e.b.cast('trunc', e.value(inst.b), types.i16);
  const type = inst.type as ScalarType;
  const value = e.value(inst.a);
  if (intrinsicFor('shuffle', type, type)) return shuffled(e, type, value, lane);
  if (type === 'i1') return e.b.cast('trunc', shuffled(e, 'i32', e.b.cast('zext', value, types.i32), lane), types.i1);
  const word = type === 'bf16' ? ('i16' as const) : ('i64' as const);
  const bits = type === word ? value : e.b.cast('bitcast', value, types.int(bitsOf(type)));
  const moved = word === 'i16' ? shuffled(e, 'i16', bits, lane) : shuffledHalves(e, bits, lane);
  return type === word ? moved : e.b.cast('bitcast', moved, llvmType(type));
}

const shuffled = (e: KernelEmitter, type: ScalarType, value: LlvmValue, lane: LlvmValue): LlvmValue =>
  e.call(intrinsicFor('shuffle', type, type)!, [value, lane]);

function shuffledHalves(e: KernelEmitter, bits: LlvmValue, lane: LlvmValue): LlvmValue {
  const half = intConstant(types.i64, 32);
  const low = shuffled(e, 'i32', e.b.cast('trunc', bits, types.i32), lane);
  const high = shuffled(e, 'i32', e.b.cast('trunc', e.b.binary('lshr', bits, half), types.i32), lane);
  return e.b.binary('or', e.b.binary('shl', e.b.cast('zext', high, types.i64), half), e.b.cast('zext', low, types.i64));
}

/** The mask is the low half of AIR's result. */
export const ballotRule = (e: KernelEmitter, { a }: InstOf<'ballot'>): LlvmValue =>
  e.b.cast('trunc', e.call(intrinsicOf('air.simd_ballot.i64')!, [e.value(a)]), types.i32);

export const reduceRule = (e: KernelEmitter, { a, fold }: InstOf<'reduce'>): LlvmValue => e.call(foldFunction(fold), [e.value(a)]);

export function syncwarpRule(e: KernelEmitter): undefined {
  e.call(intrinsicOf('air.simdgroup.barrier')!, [i32Constant(barrierOperands.memory), i32Constant(e.target.simdgroupBarrierScope)]);
}

// Only what the CPU device alone runs has collectives by masks: `replace-masks` replaces them for Apple GPUs.

export const shufflesyncRule = (e: KernelEmitter, { a, b, members }: InstOf<'shufflesync'>): LlvmValue =>
  e.call(intrinsicOf(maskedNames.shufflesync)!, [e.value(a), e.value(b), e.value(members)]);

export const ballotsyncRule = (e: KernelEmitter, { a, members }: InstOf<'ballotsync'>): LlvmValue =>
  e.call(intrinsicOf(maskedNames.ballotsync)!, [e.value(a), e.value(members)]);

export const reducesyncRule = (e: KernelEmitter, { a, members, fold }: InstOf<'reducesync'>): LlvmValue =>
  e.call(intrinsicOf(reducesyncName(fold))!, [e.value(a), e.value(members)]);

export function warpsyncRule(e: KernelEmitter, { members, isFence }: InstOf<'warpsync'>): undefined {
  e.call(intrinsicOf(warpsyncName(isFence))!, [e.value(members)]);
}

/** Only compilations for the profiler or the trace contain this op, and they run on the CPU device. */
export function markRule(e: KernelEmitter): undefined {
  e.call(intrinsicOf(markName)!, []);
}
