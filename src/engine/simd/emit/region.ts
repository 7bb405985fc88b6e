/**
 * A barrier region, in a function of its own or fused with others: a loop over the lane groups of a block. Each group loads its live-in
 * values from the spill area, runs to a barrier or to the exit, and spills what later regions need. The last group runs under a mask where
 * the block is no multiple of a group.
 */

import {
  convergenceOrder,
  dominatorsOf,
  loopsOf,
  operandsOf,
  positionsIn,
  type Sreg,
  terminatorOperands,
  type Value,
  varying,
} from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import { type AroundTick, costOf, fuelPerTick, writeFuelCheck } from '../../codegen/fuel.ts';
import { exited } from '../../codegen/kernel-code.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { activeLanes, activeThreads } from '../analysis/active-threads.ts';
import { poolStart, type SimdPlan } from '../analysis/plan.ts';
import { type BarrierRegion, behindBarrier, endsInBarrier } from '../analysis/regions.ts';
import { pooledCode } from '../lanes/constant-pool.ts';
import type { SimdContext } from '../lanes/kernel-context.ts';
import { type GroupFrame, shapeOf } from '../lanes/lane-group.ts';
import { type LeafLocals, leafLocalsOf, usedLeaves } from '../lanes/leaf-values.ts';
import type { GroupValues } from '../lanes/values.ts';
import { expandLaneBits, isFullGroup, locateMasks, markArrived, type PingPongMasks, takeReady } from './barrier-queues.ts';
import { writeFlow } from './control-flow.ts';
import { groupValues } from './deferred-values.ts';
import type { Flow } from './frame.ts';
import { setSpecialRegister } from './special-registers.ts';
import { save, setSlotBases, take } from './spill-area.ts';

interface Region {
  readonly context: SimdContext;
  readonly plan: SimdPlan;
  readonly region: BarrierRegion;
  readonly code: Code;
  readonly frame: GroupFrame;
  readonly sregs: ReadonlySet<Sreg>;
  readonly starts: LeafLocals;
  readonly values: GroupValues;
  readonly cost: number;
  /** Live-in values that the region uses. */
  readonly taken: readonly Value[];
  readonly spareMasks: (readonly number[])[];
  /** Whether each group stores which region is next. */
  readonly storesNext: boolean;
  /** The barrier queues, where the kernel has barrier divergence. */
  readonly queues: PingPongMasks | undefined;
}

/** Emits the function of a region; undefined where its blocks cannot be nested. */
export function writeRegionFunction(
  context: SimdContext,
  region: BarrierRegion,
): { readonly index: number; readonly code: Code } | undefined {
  const { index, code } = context.module.fn({ params: [], results: [] });
  return writeRegionIn(context, region, code, true) ? { index, code } : undefined;
}

/**
 * Emits a region into a function that runs it once and may hold other regions too; returns whether that is possible. Without `saysNext` the
 * region that follows is known.
 */
export function writeRegionIn(context: SimdContext, region: BarrierRegion, plain: Code, storesNext: boolean): boolean {
  const active = activeThreads(context.plan, region);
  const r = newRegion(context, region, plain, {
    lanes: context.guards ? context.plan.lanes : activeLanes(context.plan, region, active),
    storesNext,
  });
  const { code, frame, plan } = r;
  writeEntry(r);
  code.at('global.get', context.fuel);
  code.at('local.set', frame.fuel);
  spendFuel(r, Math.min(fuelPerTick, (r.cost * plan.threads) / plan.lanes));
  const isWritten =
    plan.shapes.barrierDivergence && region.id > 0 ? eachGroup(r, plan.threads, () => writeReadyLanes(r)) : writeAll(r, active);
  if (!isWritten) return false;
  code.at('local.get', frame.fuel);
  code.at('global.set', context.fuel);
  return true;
}

/** The state for emitting a region in groups of some lanes. */
function newRegion(
  context: SimdContext,
  region: BarrierRegion,
  plain: Code,
  { lanes, storesNext }: { readonly lanes: number; readonly storesNext: boolean },
): Region {
  const plan = { ...context.plan, lanes, packs: lanes / 4 };
  const { kernel } = plan;
  const local = (): number => plain.local('i32');
  const frame: GroupFrame = {
    first: local(),
    slots4: local(),
    slots8: local(),
    uniformSlots: local(),
    fuel: local(),
    local: local(),
    shared: local(),
    constant: local(),
  };
  const code = context.host.target ? plain : pooledCode(plain, context.pool, frame.constant, poolStart(plan));
  const used = usedLeaves(kernel, region.cfg.order);
  const starts = leafLocalsOf(plan, code, used);
  const base = { ...context, plan, kernel, code, frame, isRerolled: false };
  return {
    context,
    plan,
    region,
    code,
    frame,
    sregs: used.sregs,
    starts,
    values: groupValues(base, starts),
    cost: Math.min(fuelPerTick, (costOf(kernel, region as never) * lanes) / 2),
    taken: usedLiveIns(plan, region),
    spareMasks: [],
    storesNext,
    queues: plan.shapes.barrierDivergence && locateMasks(context, code),
  };
}

/** Loads into locals what is invariant over the groups of a block. */
function writeEntry({ code, frame, starts, context: { host } }: Region): void {
  for (const [index, local] of starts.params) {
    code.at('global.get', host.params[index]!);
    code.op('i32.wrap_i64');
    code.at('local.set', local);
  }
  for (const [name, local] of starts.blocks) {
    code.at('global.get', host.globals[name as 'ctaid.x']);
    code.at('local.set', local);
  }
  for (const space of ['shared', 'constant'] as const) {
    code.at('global.get', host.globals[space]);
    code.at('local.set', frame[space]);
  }
}

/** Emits the loop over all groups that have active threads. */
function writeAll(r: Region, active: number): boolean {
  const { threads, lanes } = r.plan;
  const whole = threads - (threads % lanes);
  const full = Math.min(whole, Math.ceil(active / lanes) * lanes);
  if (full > 0 && !eachGroup(r, full, () => writeGroup(r))) return false;
  return active <= whole || writeTail(r);
}

/** Emits a loop over the groups of the first threads, at least one. */
function eachGroup({ code, frame, plan }: Region, threads: number, write: () => boolean): boolean {
  code.open('loop');
  if (!write()) return false;
  code.at('local.get', frame.first);
  code.i32(plan.lanes);
  code.op('i32.add');
  code.at('local.tee', frame.first);
  code.i32(threads);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
  return true;
}

/** Emits the code for the ready lanes of a region; full groups have a copy without masks. */
function writeReadyLanes(r: Region): boolean {
  return withScratch(r.values.group, 'i32', 1, ([lanes]) => writeReadyGroup(r, lanes));
}

function writeReadyGroup(r: Region, lanes: number): boolean {
  const { code, plan, context, region } = r;
  const { group } = r.values;
  takeReady(group, r.queues!, region.id, lanes);
  code.open('if');
  const hasWhole = !context.omitsUniformPaths && plan.threads >= plan.lanes;
  if (hasWhole) {
    isFullGroup(group, lanes);
    code.open('if');
    if (!writeGroup(r)) return false;
    code.else();
  }
  const masks = masksOf(r).take();
  expandLaneBits(group, lanes, masks);
  if (!writeGroup(underMask(r, masks))) return false;
  if (hasWhole) code.end();
  code.end();
  return true;
}

/** The last group, with a mask of the lanes that are threads. */
function writeTail(r: Region): boolean {
  const left = r.plan.threads % r.plan.lanes;
  const masks = masksOf(r).take();
  masks.forEach((mask, pack) => {
    r.code.v128([0, 1, 2, 3].map((lane) => (4 * pack + lane < left ? -1 : 0)));
    r.code.at('local.set', mask);
  });
  return writeGroup(underMask(r, masks));
}

/** The same region under an execution mask. */
const underMask = (r: Region, mask: readonly number[]): Region => ({ ...r, values: r.values.under(mask) });

/** Live-in values that the region uses. */
function usedLiveIns(plan: SimdPlan, region: BarrierRegion): Value[] {
  const wanted = new Set<Value>();
  for (const id of region.cfg.order) {
    const block = plan.kernel.blocks[id]!;
    for (const value of [...block.params, ...block.body]) wanted.add(value);
    for (const value of block.body) for (const operand of operandsOf(plan.kernel.insts[value]!)) wanted.add(operand);
    for (const value of terminatorOperands(block.end)) wanted.add(value);
  }
  return plan.liveIns.get(region.entry)!.filter((value) => wanted.has(value));
}

function writeGroup(r: Region): boolean {
  const { code, values, plan, region } = r;
  code.open('block');
  const out = code.depth;
  writePrologue(r);
  for (const value of r.taken) take(values, value);
  const masks = masksOf(r);
  const flow: Flow = {
    plan,
    kernel: plan.kernel,
    code,
    values,
    group: values.group,
    omitsUniformPaths: r.context.omitsUniformPaths,
    region,
    ...orderOf(r),
    spendFuel: (header) => spendFuel(r, r.cost, header === undefined ? undefined : carriedAroundTick(r, header)),
    leave(block) {
      leave(r, block?.id);
      code.at('br', code.depth - out);
    },
    arrive: (view, block) => arrive({ ...r, values: view }, behindBarrier(plan.kernel, block.id)),
    takeMasks: masks.take,
    giveMasks: masks.give,
    pushAnyActive(lanes) {
      lanes.forEach((mask, i) => {
        code.at('local.get', mask);
        if (i > 0) code.op('v128.or');
      });
      code.op('i32x4.bitmask');
    },
    masksWhere: (cond, lanes) => masksWhere(r, cond, lanes),
    masksExcept: (some, lanes) => masksExcept(r, some, lanes),
  };
  const isWritten = writeFlow(flow);
  code.end();
  return isWritten;
}

/**
 * The order of blocks for linearization, and the loops: those of the whole kernel where barriers are convergent, else those of the region.
 */
function orderOf({ plan: { kernel, shapes }, region }: Region): Pick<Flow, 'place' | 'loops'> {
  const count = kernel.blocks.length;
  if (shapes.barrierDivergence) return { place: positionsIn(convergenceOrder(region.cfg, region.entry), count), loops: region.loops.loops };
  return { place: positionsIn(convergenceOrder(shapes.cfg), count), loops: loopsOf(shapes.cfg, dominatorsOf(shapes.cfg)).loops };
}

function masksOf({ code, plan, spareMasks }: Region) {
  return {
    take: (): readonly number[] => spareMasks.pop() ?? Array.from({ length: plan.packs }, () => code.local('v128')),
    give: (locals: readonly number[]): void => void spareMasks.push(locals),
  };
}

function masksWhere(r: Region, cond: Value, lanes: readonly number[] | undefined): readonly number[] {
  const { code, values } = r;
  const holding = masksOf(r).take();
  for (const [pack, local] of holding.entries()) {
    values.group.part(cond, pack);
    if (lanes) {
      code.at('local.get', lanes[pack]!);
      code.op('v128.and');
    }
    code.at('local.set', local);
  }
  return holding;
}

function masksExcept(r: Region, some: readonly number[], lanes: readonly number[] | undefined): readonly number[] {
  const { code } = r;
  const others = masksOf(r).take();
  for (const [pack, local] of others.entries()) {
    if (lanes) code.at('local.get', lanes[pack]!);
    code.at('local.get', some[pack]!);
    code.op(lanes ? 'v128.andnot' : 'v128.not');
    code.at('local.set', local);
  }
  return others;
}

const spendFuel = ({ code, frame, context }: Region, cost: number, around?: AroundTick): void =>
  writeFuelCheck(code, frame.fuel, context.host.tick, cost, true, around);

/**
 * Saves the vectors that a loop carries around a call of `tick`. A call clobbers all vector registers, and JavaScriptCore keeps a value that is live across one in
 * memory everywhere: sums would be loaded and stored at each turn. Divergent loops, which carry masks as well and have no registers to spare, are slower with it.
 */
function carriedAroundTick({ code, context, plan, values }: Region, header: number): AroundTick {
  const vectors: [value: Value, element: number, part: number][] = [];
  for (const param of plan.kernel.blocks[header]!.params)
    if (shapeOf(values.group, param) === varying) values.eachPart(param, (element, part) => void vectors.push([param, element, part]));
  // The area of re-rolled code, which is in use only within a block.
  const { rerolled, host } = context;
  rerolled.bytes = Math.max(rerolled.bytes, 16 * vectors.length);
  const place = (i: number): number => plan.recordBytes + 16 * i;
  return {
    before: () =>
      vectors.forEach(([value, element, part], i) => {
        code.at('global.get', host.globals.records);
        values.get(value, element, part);
        code.access('v128.store', 4, place(i));
      }),
    after: () =>
      vectors.forEach(([value, element, part], i) => {
        code.at('global.get', host.globals.records);
        code.access('v128.load', 4, place(i));
        values.set(value, element, part);
      }),
  };
}

// ── the start of a group ──

function writePrologue(r: Region): void {
  const { code, frame, plan, context } = r;
  const { globals } = context.host;
  code.at('local.get', frame.first);
  code.at('global.set', globals.thread);
  if (plan.slots.size > 0) setSlotBases(r.values.group);
  if (plan.windows.local > 0) {
    code.at('local.get', frame.first);
    code.i32(plan.windows.local);
    code.op('i32.mul');
    code.at('global.get', globals.local);
    code.op('i32.add');
    code.at('local.set', frame.local);
  }
  for (const name of r.sregs) setSpecialRegister(r, name);
}

// ── its end ──

/** Leaves the region. At a barrier it spills the values that are live behind it and stores which region is next. */
function leave(r: Region, block: number | undefined): void {
  const { plan, code, context } = r;
  if (plan.regions.length === 1) return;
  const to = block !== undefined && endsInBarrier(plan.kernel, block) ? behindBarrier(plan.kernel, block) : undefined;
  if (plan.shapes.barrierDivergence) {
    if (to !== undefined) arrive(r, to);
    return;
  }
  if (to !== undefined) spillLiveIns(r, to);
  if (!r.storesNext) return;
  code.i32(to === undefined ? exited : regionAt(plan, to));
  code.at('global.set', context.phase);
}

/** Marks the active lanes as arrived at a barrier. */
function arrive(r: Region, to: number): void {
  spillLiveIns(r, to);
  markArrived(r.values.group, r.queues!, regionAt(r.plan, to));
}

/** The region that starts with a block. */
export const regionAt = ({ regions }: SimdPlan, block: number): number => regions.find(({ entry }) => entry === block)!.id;

/** Spills the live-in values of the region that starts with a block. A value from before this region already has its slot filled. */
function spillLiveIns({ plan, region, values }: Region, to: number): void {
  for (const value of plan.liveIns.get(to)!) if (region.cfg.position[plan.home[value]!]! >= 0) save(values, value);
}
