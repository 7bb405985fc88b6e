/**
 * Barrier queues: the scheduler of blocks with barrier divergence. For each region behind a barrier and each lane group the spill area
 * holds two masks: the lanes that are ready to start the region, and the lanes that have arrived at its barrier meanwhile. Once all ready
 * lanes have run, the arrived lanes become the ready ones: the two buffers swap roles after each round.
 */
import type { Code } from '../../../wasm/index.ts';
import { bufferBytes, flagOf, offsetOf, queueBytes } from '../analysis/barrier-queue-layout.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { SimdContext } from '../lanes/kernel-context.ts';
import type { LaneGroup } from '../lanes/lane-group.ts';
import { allBits, pushBits } from '../lanes/lane-masks.ts';

/** Locals of a region: base addresses of the ready masks and of the masks of arrived lanes. */
export interface PingPongMasks {
  readonly starting: number;
  readonly arrived: number;
}

/** Locates both buffers at the start of a region's function; `phase` is the offset of the ready masks. */
export function locateMasks({ plan, host, phase }: SimdContext, code: Code): PingPongMasks {
  const queues = { starting: code.local('i32'), arrived: code.local('i32') };
  code.at('global.get', host.globals.records);
  code.at('global.get', phase);
  code.op('i32.add');
  code.at('local.tee', queues.starting);
  code.i32(bufferBytes(plan));
  code.op('i32.add');
  code.at('global.get', phase);
  code.i32(1);
  code.op('i32.shl');
  code.op('i32.sub');
  code.at('local.set', queues.arrived);
  return queues;
}

/** Pushes the address of this group's mask in a buffer. */
function pushWord({ code, frame, plan }: LaneGroup, half: number): void {
  code.at('local.get', half);
  code.at('local.get', frame.first);
  code.i32(Math.log2(plan.lanes) - 2);
  code.op('i32.shr_u');
  code.op('i32.add');
}

/** Moves the group's ready mask of a region into a local, clears it in memory, and pushes the local. */
export function takeReady(s: LaneGroup, { starting }: PingPongMasks, region: number, lanes: number): void {
  const { code, plan } = s;
  const at = plan.queues + offsetOf(plan, region);
  pushWord(s, starting);
  code.access('i32.load', 4, at);
  code.at('local.set', lanes);
  pushWord(s, starting);
  code.i32(0);
  code.access('i32.store', 4, at);
  code.at('local.get', lanes);
}

/** Pushes whether all lanes of a group are set. */
export function isFullGroup({ code, plan }: LaneGroup, lanes: number): void {
  code.at('local.get', lanes);
  code.i32(allBits(plan));
  code.op('i32.eq');
}

/** Expands bits to execution masks. */
export function expandLaneBits({ code }: LaneGroup, lanes: number, masks: readonly number[]): void {
  for (const [pack, mask] of masks.entries()) {
    const bits = [0, 1, 2, 3].map((lane) => (1 << (4 * pack + lane)) | 0);
    code.at('local.get', lanes);
    code.op('i32x4.splat');
    code.v128(bits);
    code.op('v128.and');
    code.v128(bits);
    code.op('i32x4.eq');
    code.at('local.set', mask);
  }
}

/** Adds the active lanes to the arrived lanes of a region. */
export function markArrived(s: LaneGroup, { arrived }: PingPongMasks, region: number): void {
  const { code, plan } = s;
  const at = plan.queues + offsetOf(plan, region);
  pushWord(s, arrived);
  pushWord(s, arrived);
  code.access('i32.load', 4, at);
  pushBits(s);
  code.op('i32.or');
  code.access('i32.store', 4, at);
  code.at('local.get', arrived);
  code.i32(1);
  code.access('i32.store', 4, plan.queues + flagOf(plan, region));
}

/** Emits the scheduler of a block: each round runs the regions that have ready lanes, until none has. */
export function emitScheduler({ plan, module, host, phase }: SimdContext, steps: readonly number[]): number {
  const { index, code } = module.fn({ params: [], results: [] });
  const [at, isAny] = [code.local('i32'), code.local('i32')];
  clearMasks(code, at, plan, host.globals.records);
  code.i32(0);
  code.at('global.set', phase);
  code.at('call', steps[0]!);
  code.open('loop');
  code.i32(bufferBytes(plan));
  code.at('global.get', phase);
  code.op('i32.sub');
  code.at('global.set', phase);
  code.i32(0);
  code.at('local.set', isAny);
  code.at('global.get', host.globals.records);
  code.at('global.get', phase);
  code.op('i32.add');
  code.at('local.set', at);
  for (let region = 1; region < steps.length; region++) {
    const flag = plan.queues + flagOf(plan, region);
    code.at('local.get', at);
    code.access('i32.load', 4, flag);
    code.open('if');
    code.at('local.get', at);
    code.i32(0);
    code.access('i32.store', 4, flag);
    code.i32(1);
    code.at('local.set', isAny);
    code.at('call', steps[region]!);
    code.end();
  }
  code.at('local.get', isAny);
  code.at('br_if', 0);
  code.end();
  return index;
}

/** Clears the buffers: a launch that was stopped may have left lanes there. */
function clearMasks(code: Code, at: number, plan: SimdPlan, records: number): void {
  code.i32(0);
  code.at('local.set', at);
  code.open('loop');
  code.at('global.get', records);
  code.at('local.get', at);
  code.op('i32.add');
  code.v128([0, 0, 0, 0]);
  code.access('v128.store', 4, plan.queues);
  code.at('local.get', at);
  code.i32(16);
  code.op('i32.add');
  code.at('local.tee', at);
  code.i32(queueBytes(plan));
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}
