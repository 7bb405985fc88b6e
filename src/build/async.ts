/**
 * Asynchronous copies: `cp.async` in groups, barriers that count bytes, and copies in bulk. Source: PTX ISA 9.0, 9.7.9.25 (copies) and 9.7.13.15
 * (mbarrier).
 */
import { fail } from './fail.ts';
import { added, conditionOf, type Handle, inRegister, nodeOf, type Operand } from './handle.ts';
import { integerNode } from './nodes.ts';
import { bracketed, type Element, type Pointer, type VectorElement } from './pointer.ts';
import { trace } from './trace.ts';
import type { MemoryName, Space } from './types.ts';
import { Value } from './value.ts';

/** A place in memory: an element, or several next to each other. */
export type PlaceIn<S extends Space> = Element<MemoryName, S> | VectorElement<MemoryName, 2 | 4, S>;

/** Options of `copyAsync`. */
export interface CopyOptions {
  /** The bytes that are read, at most those of the copy; zeros fill the rest. */
  readonly read?: Operand<'u32'>;
  /** `ca`: kept in all caches. `cg`: in L2 only, for 16 bytes. By default `cg` for 16 bytes, else `ca`. */
  readonly cache?: 'ca' | 'cg';
  /** Copies only in threads where this holds, without a branch. */
  readonly guard?: Handle<'pred'>;
}

/**
 * Copies 4, 8 or 16 bytes from global to shared memory, both aligned to as many, while the thread goes on. `commitCopies` and `waitCopies` say
 * when they have arrived. It needs sm_80.
 */
export function copyAsync(to: PlaceIn<'shared'>, from: PlaceIn<'global'>, bytes: 4 | 8 | 16, options: CopyOptions = {}): void {
  const { cache = bytes === 16 ? 'cg' : 'ca', read, guard } = options;
  if (cache === 'cg' && bytes !== 16) fail('CM5088', { what: '`copyAsync`', why: '`cg` copies 16 bytes' });
  const taken = read === undefined ? [] : [nodeOf('u32', read)];
  trace('copyAsync').emit(
    `cp.async.${cache}.shared.global`,
    [bracketed(to.address), bracketed(from.address), integerNode(bytes), ...taken],
    guard && conditionOf(guard, false),
  );
}

/** Closes a group: the copies of this thread since the last group. */
export const commitCopies = (): void => trace('commitCopies').emit('cp.async.commit_group');

/** Waits until all groups of this thread but the latest `left` have arrived. Other threads see the bytes after `syncThreads`. */
export const waitCopies = (left = 0): void => trace('waitCopies').emit('cp.async.wait_group', [integerNode(left)]);

/** A barrier in shared memory that counts threads, and bytes of copies: an element of u64. It needs sm_80, for bytes sm_90. */
export type BarrierPlace = Element<'u64' | 'b64', 'shared'>;

/** Sets a barrier up for a number of arrivals in each phase. One thread does it, before `syncThreads`. */
export const initBarrier = (barrier: BarrierPlace, arrivals: Operand<'u32'>): void =>
  trace('initBarrier').emit('mbarrier.init.shared.b64', [bracketed(barrier.address), nodeOf('u32', arrivals)]);

/** Ends the use of a barrier, so that its memory can be used for something else. */
export const endBarrier = (barrier: BarrierPlace): void =>
  trace('endBarrier').emit('mbarrier.inval.shared.b64', [bracketed(barrier.address)]);

/** Arrives once. Gives the state of the phase, for `testBarrier`. */
export const arriveAt = (barrier: BarrierPlace): Value<'b64'> =>
  new Value('b64', added('b64', 'mbarrier.arrive.shared.b64', [bracketed(barrier.address)]));

/** Arrives once, and makes the phase wait for a number of bytes of copies besides. It needs sm_90. */
export const arriveExpecting = (barrier: BarrierPlace, bytes: Operand<'u32'>): Value<'b64'> =>
  new Value('b64', added('b64', 'mbarrier.arrive.expect_tx.shared.b64', [bracketed(barrier.address), nodeOf('u32', bytes)]));

/** Whether the phase of a state has ended, without waiting. */
export const testBarrier = (barrier: BarrierPlace, state: Handle<'b64'>): Value<'pred'> =>
  new Value('pred', added('pred', 'mbarrier.test_wait.shared.b64', [bracketed(barrier.address), inRegister('b64', state)]));

/** Whether the phase of a parity (0 for the first, 1 for the second and so on) has ended; it may wait for a while. It needs sm_90. */
export const tryBarrier = (barrier: BarrierPlace, parity: Operand<'u32'>): Value<'pred'> =>
  new Value('pred', added('pred', 'mbarrier.try_wait.parity.shared.b64', [bracketed(barrier.address), nodeOf('u32', parity)]));

/** Arrives once when the copies (`copyAsync`) of this thread so far have arrived, instead of waiting for them. */
export const arriveAfterCopies = (barrier: BarrierPlace): void =>
  trace('arriveAfterCopies').emit('cp.async.mbarrier.arrive.noinc.shared.b64', [bracketed(barrier.address)]);

/**
 * Copies bytes from global to shared memory by one thread, both aligned to 16 and their number a multiple of 16. The barrier counts the bytes
 * (`arriveExpecting`). It needs sm_90.
 */
export const copyBulk = (
  to: Pointer<MemoryName, 'shared'>,
  from: Pointer<MemoryName, 'global'>,
  bytes: Operand<'u32'>,
  barrier: BarrierPlace,
): void =>
  trace('copyBulk').emit('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', [
    bracketed(to.origin),
    bracketed(from.origin),
    nodeOf('u32', bytes),
    bracketed(barrier.address),
  ]);

/** Copies bytes from shared to global memory by one thread, as `copyBulk`; `commitBulk` and `waitBulk` say when it is done. */
export const storeBulk = (to: Pointer<MemoryName, 'global'>, from: Pointer<MemoryName, 'shared'>, bytes: Operand<'u32'>): void =>
  trace('storeBulk').emit('cp.async.bulk.global.shared::cta.bulk_group', [
    bracketed(to.origin),
    bracketed(from.origin),
    nodeOf('u32', bytes),
  ]);

/** Closes a group of stores in bulk. */
export const commitBulk = (): void => trace('commitBulk').emit('cp.async.bulk.commit_group');

/** Waits until all groups of stores in bulk but the latest `left` are done; with `read`, until their memory may be written again. */
export const waitBulk = (left = 0, { read = false } = {}): void =>
  trace('waitBulk').emit(`cp.async.bulk.wait_group${read ? '.read' : ''}`, [integerNode(left)]);

/** Makes what threads wrote to shared memory visible to copies in bulk and to products of warp groups. It needs sm_90. */
export const fenceAsync = (): void => trace('fenceAsync').emit('fence.proxy.async.shared::cta');
