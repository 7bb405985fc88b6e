/** The plan of a kernel for blocks of one size: the results of analyses and transforms that every emitter reads. */

import type { Dim3 } from '../../../base/dim3.ts';
import { elementOf, isVector, type Kernel, lanesOf, type Value } from '../../../ir/index.ts';
import type { Plan } from '../../codegen/plan.ts';
import type { Shapes } from './lane-shapes.ts';
import type { BarrierRegion } from './regions.ts';

export interface SimdPlan extends Pick<Plan, 'crosses' | 'uses' | 'offsets' | 'windows'> {
  readonly kernel: Kernel;
  /** The checks of addresses that the kernel has, as text. */
  readonly addressChecks: string;
  readonly block: Dim3;
  readonly threads: number;
  /** Lanes of a group, and its packs: vectors of four lanes. */
  readonly lanes: number;
  readonly packs: number;
  /** Lane groups of a block, and the threads that they would have if all were full. Slots of the spill area are counted by the latter. */
  readonly groups: number;
  readonly padded: number;
  /** By value: 1 for an integer or pointer that is held in 64 bits. */
  readonly wide: Uint8Array;
  readonly shapes: Shapes;
  readonly regions: readonly BarrierRegion[];
  /** By shuffle: the source lane of each lane, where it is known at compile time. */
  readonly staticShuffles: ReadonlyMap<Value, readonly number[]>;
  /** The block that defines each value. */
  readonly home: Int32Array;
  /** By value: 1 where it has a use outside the innermost loop that defines it. */
  readonly escapes: Uint8Array;
  /** By entry block of a region: the values that are live into it. */
  readonly liveIns: ReadonlyMap<number, readonly Value[]>;
  /** Byte offset in the spill area of each live-in value. */
  readonly slots: ReadonlyMap<Value, number>;
  /** Byte offset in the spill area of memory that warp collectives use. */
  readonly scratch: number;
  /** Byte offset in the spill area of the barrier queues, where the kernel has barrier divergence. */
  readonly queues: number;
  /** Bytes of the spill area of a block, without those of re-rolled code. */
  readonly recordBytes: number;
}

/** Whether a value takes 64 bits in each lane. */
export const isLong = ({ kernel, wide }: Pick<SimdPlan, 'kernel' | 'wide'>, value: Value): boolean => {
  const { type } = kernel.insts[value]!;
  return wide[value] === 1 || elementOf(type) === 'f64' || (isVector(type) && elementOf(type) === 'i64');
};

/** Byte offset of the constant pool, behind the kernel's own constants. */
export const poolStart = ({ windows }: Pick<SimdPlan, 'windows'>): number => Math.ceil(windows.constant / 16) * 16;

/** Bytes of one lane of a varying value. */
export const laneBytes = (plan: Pick<SimdPlan, 'kernel' | 'wide'>, value: Value): number =>
  (isLong(plan, value) ? 8 : 4) * lanesOf(plan.kernel.insts[value]!.type);
