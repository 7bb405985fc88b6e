/** What analyses and transforms found out of a kernel for blocks of one shape: what every emitter reads. */

import type { Dim3 } from '../../../base/dim3.ts';
import { elementOf, isVector, type Kernel, lanesOf, type Value } from '../../../ir/index.ts';
import type { Plan } from '../../codegen/plan.ts';
import type { Shapes } from './lane-shapes.ts';
import type { BarrierRegion } from './regions.ts';

export interface SimdPlan extends Pick<Plan, 'crosses' | 'uses' | 'offsets' | 'windows'> {
  readonly kernel: Kernel;
  readonly block: Dim3;
  readonly threads: number;
  /** Lanes of a strip, and the vectors of four lanes that it is made of. */
  readonly lanes: number;
  readonly packs: number;
  /** Strips of a block, and the threads that there would be if all were whole: what places in the record area are counted by. */
  readonly strips: number;
  readonly padded: number;
  /** By value: 1 for an integer or pointer held in 64 bits. */
  readonly wide: Uint8Array;
  readonly shapes: Shapes;
  readonly regions: readonly BarrierRegion[];
  /** By shuffle: the lane that each lane reads from, where that is known. */
  readonly staticShuffles: ReadonlyMap<Value, readonly number[]>;
  /** Block in which each value is defined. */
  readonly home: Int32Array;
  /** By value: 1 where it is used outside of the innermost loop that defines it. */
  readonly escapes: Uint8Array;
  /** By the entry block of a region: the values that it needs of those before. */
  readonly liveIns: ReadonlyMap<number, readonly Value[]>;
  /** Byte offset in the record area of each value that is brought. */
  readonly slots: ReadonlyMap<Value, number>;
  /** Byte offset in the record area of memory for what a warp passes between lanes. */
  readonly scratch: number;
  /** Byte offset in the record area of who is where, if not all come to barriers together. */
  readonly queues: number;
  /** Bytes of the record area of a block, but for what rolled code takes. */
  readonly recordBytes: number;
}

/** Whether a value takes 64 bits in each lane. */
export const isLong = ({ kernel, wide }: Pick<SimdPlan, 'kernel' | 'wide'>, value: Value): boolean => {
  const { type } = kernel.insts[value]!;
  return wide[value] === 1 || elementOf(type) === 'f64' || (isVector(type) && elementOf(type) === 'i64');
};

/** Where constant vectors stand, behind the kernel's own constants. */
export const poolStart = ({ windows }: Pick<SimdPlan, 'windows'>): number => Math.ceil(windows.constant / 16) * 16;

/** Bytes that a varying value takes for each thread. */
export const laneBytes = (plan: Pick<SimdPlan, 'kernel' | 'wide'>, value: Value): number =>
  (isLong(plan, value) ? 8 : 4) * lanesOf(plan.kernel.insts[value]!.type);
