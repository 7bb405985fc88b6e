/**
 * A region, in a function of its own or with others: a loop over the strips of a block, each of which takes its values from the records, runs to a
 * barrier or to the end, and puts back what the next region needs. The last strip of a block that is no multiple of a strip has a mask of its own.
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
} from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import { costOf, fuelPerTick, writeFuelCheck } from '../../codegen/fuel.ts';
import { exited } from '../../codegen/kernel-code.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { activeLanes, activeThreads } from '../analysis/active-threads.ts';
import { poolStart, type SimdPlan } from '../analysis/plan.ts';
import { type BarrierRegion, behindBarrier, endsInBarrier } from '../analysis/regions.ts';
import { pooledCode } from '../lanes/constant-pool.ts';
import type { SimdContext } from '../lanes/kernel-context.ts';
import type { GroupFrame } from '../lanes/lane-group.ts';
import { type LeafLocals, leafLocalsOf, usedLeaves } from '../lanes/leaf-values.ts';
import type { GroupValues } from '../lanes/values.ts';
import { quotient, remainder } from '../rules/divide-by-constant.ts';
import { expandLaneBits, isFullGroup, locateMasks, markArrived, type PingPongMasks, takeReady } from './barrier-queues.ts';
import { writeFlow } from './control-flow.ts';
import { groupValues } from './deferred-values.ts';
import type { Flow } from './frame.ts';
import { save, startRecords, take } from './spill-area.ts';

interface Region {
  readonly shared: SimdContext;
  readonly plan: SimdPlan;
  readonly region: BarrierRegion;
  readonly code: Code;
  readonly frame: GroupFrame;
  readonly sregs: ReadonlySet<Sreg>;
  readonly starts: LeafLocals;
  readonly values: GroupValues;
  readonly cost: number;
  /** Values that are taken from the records. */
  readonly taken: readonly Value[];
  readonly spareMasks: (readonly number[])[];
  /** Whether each strip says which region comes next. */
  readonly saysNext: boolean;
  /** Who is where, in blocks whose threads go apart. */
  readonly halves: PingPongMasks | undefined;
}

/** Writes the function of a region; nothing where its blocks cannot be nested. */
export function writeRegionFunction(
  shared: SimdContext,
  region: BarrierRegion,
): { readonly index: number; readonly code: Code } | undefined {
  const { index, code } = shared.module.fn({ params: [], results: [] });
  return writeRegionIn(shared, region, code, true) ? { index, code } : undefined;
}

/** Writes a region in a function that goes through it once and may have others too; says whether it can be written. Without `saysNext` it is known which region comes behind it. */
export function writeRegionIn(shared: SimdContext, region: BarrierRegion, plain: Code, saysNext: boolean): boolean {
  const active = activeThreads(shared.plan, region);
  const r = newRegion(shared, region, plain, {
    lanes: shared.guards ? shared.plan.lanes : activeLanes(shared.plan, region, active),
    saysNext,
  });
  const { code, frame, plan } = r;
  writeEntry(r);
  code.at('global.get', shared.fuel);
  code.at('local.set', frame.fuel);
  writeTurn(r, Math.min(fuelPerTick, (r.cost * plan.threads) / plan.lanes));
  const isWritten = plan.shapes.apart && region.id > 0 ? eachGroup(r, plan.threads, () => writeReadyLanes(r)) : writeAll(r, active);
  if (!isWritten) return false;
  code.at('local.get', frame.fuel);
  code.at('global.set', shared.fuel);
  return true;
}

/** What a region is written with, in strips of some lanes. */
function newRegion(
  shared: SimdContext,
  region: BarrierRegion,
  plain: Code,
  { lanes, saysNext }: { readonly lanes: number; readonly saysNext: boolean },
): Region {
  const plan = { ...shared.plan, lanes, packs: lanes / 4 };
  const { kernel } = plan;
  const local = (): number => plain.local('i32');
  const frame: GroupFrame = {
    first: local(),
    record4: local(),
    record8: local(),
    recordShared: local(),
    fuel: local(),
    local: local(),
    shared: local(),
    constant: local(),
  };
  const code = pooledCode(plain, shared.pool, frame.constant, poolStart(plan));
  const used = usedLeaves(kernel, region.cfg.order);
  const starts = leafLocalsOf(plan, code, used);
  const base = { ...shared, plan, kernel, code, frame, isRerolled: false, mask: undefined };
  return {
    shared,
    plan,
    region,
    code,
    frame,
    sregs: used.sregs,
    starts,
    values: groupValues(base, starts),
    cost: Math.min(fuelPerTick, (costOf(kernel, region as never) * lanes) / 2),
    taken: takenOf(plan, region),
    spareMasks: [],
    saysNext,
    halves: plan.shapes.apart && locateMasks(shared, code),
  };
}

/** Takes into locals what stays for all strips of a block. */
function writeEntry({ code, frame, starts, shared: { host } }: Region): void {
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

/** Writes what all threads do that have anything to do. */
function writeAll(r: Region, active: number): boolean {
  const { threads, lanes } = r.plan;
  const whole = threads - (threads % lanes);
  const full = Math.min(whole, Math.ceil(active / lanes) * lanes);
  if (full > 0 && !eachGroup(r, full, () => writeGroup(r))) return false;
  return active <= whole || writeTail(r);
}

/** Writes a loop over the strips of some threads, at least one. */
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

/** Writes what those lanes do that are to start the region: whole strips have code of their own. */
function writeReadyLanes(r: Region): boolean {
  return withScratch(r.values.strip, 'i32', 1, ([lanes]) => writeReadyGroup(r, lanes));
}

function writeReadyGroup(r: Region, lanes: number): boolean {
  const { code, plan, shared, region } = r;
  const { strip } = r.values;
  takeReady(strip, r.halves!, region.id, lanes);
  code.open('if');
  const hasWhole = !shared.omitsUniformPaths && plan.threads >= plan.lanes;
  if (hasWhole) {
    isFullGroup(strip, lanes);
    code.open('if');
    strip.mask = undefined;
    if (!writeGroup(r)) return false;
    code.else();
  }
  const masks = masksOf(r).take();
  expandLaneBits(strip, lanes, masks);
  strip.mask = masks;
  if (!writeGroup(r)) return false;
  if (hasWhole) code.end();
  code.end();
  return true;
}

/** The lanes of the last strip that are threads. */
function writeTail(r: Region): boolean {
  const { strip } = r.values;
  const left = r.plan.threads % r.plan.lanes;
  const masks = masksOf(r).take();
  masks.forEach((mask, pack) => {
    r.code.v128([0, 1, 2, 3].map((lane) => (4 * pack + lane < left ? -1 : 0)));
    r.code.at('local.set', mask);
  });
  strip.mask = masks;
  return writeGroup(r);
}

/** Values that are brought, and that this region uses or keeps on. */
function takenOf(plan: SimdPlan, region: BarrierRegion): Value[] {
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
  writeStart(r);
  for (const value of r.taken) take(values, value);
  const masks = masksOf(r);
  const flow: Flow = {
    plan,
    kernel: plan.kernel,
    code,
    values,
    strip: values.strip,
    omitsUniformPaths: r.shared.omitsUniformPaths,
    region,
    ...orderOf(r),
    turn: () => writeTurn(r, r.cost),
    leave(block) {
      leave(r, block?.id);
      code.at('br', code.depth - out);
    },
    wait: (block) => wait(r, behindBarrier(plan.kernel, block.id)),
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

/** The order of blocks for lanes that part, and the loops: of the whole kernel where all threads come to barriers together, else of the region. */
function orderOf({ plan: { kernel, shapes }, region }: Region): Pick<Flow, 'place' | 'loops'> {
  const count = kernel.blocks.length;
  if (shapes.apart) return { place: positionsIn(convergenceOrder(region.cfg, region.entry), count), loops: region.loops.loops };
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
    values.strip.part(cond, pack);
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

const writeTurn = ({ code, frame, shared }: Region, cost: number): void => writeFuelCheck(code, frame.fuel, shared.host.tick, cost, true);

// ── the start of a strip ──

function writeStart(r: Region): void {
  const { code, frame, plan, shared } = r;
  const { globals } = shared.host;
  code.at('local.get', frame.first);
  code.at('global.set', globals.thread);
  if (plan.slots.size > 0) startRecords(r.values.strip);
  if (plan.windows.local > 0) {
    code.at('local.get', frame.first);
    code.i32(plan.windows.local);
    code.op('i32.mul');
    code.at('global.get', globals.local);
    code.op('i32.add');
    code.at('local.set', frame.local);
  }
  for (const name of r.sregs) startSreg(r, name);
}

/** Sets what a special register is for the first lane, or for all of them. */
function startSreg(r: Region, name: Sreg): void {
  const { code, starts, frame } = r;
  const base = starts.base.get(name);
  if (base !== undefined) {
    code.at('local.get', frame.first);
    fromThread(r, name);
    code.at('local.set', base);
  }
  const vectors = starts.vectors.get(name) ?? [];
  for (const [pack, vector] of vectors.entries()) {
    code.v128([0, 0, 0, 0]);
    for (let lane = 0; lane < 4; lane++) {
      code.at('local.get', frame.first);
      code.i32(4 * pack + lane);
      code.op('i32.add');
      fromThread(r, name);
      code.lane('i32x4.replace_lane', lane);
    }
    code.at('local.set', vector);
  }
}

/** A special register of the thread whose number is on the stack. */
function fromThread(r: Region, name: Sreg): void {
  const { code, plan } = r;
  const [nx, ny] = plan.block;
  const by = (op: string, count: number): void => {
    code.i32(count);
    code.op(op);
  };
  const [what, axis] = name.split('.');
  if (what === 'laneid') return by('i32.and', 31);
  if (what === 'warpid') return by('i32.shr_u', 5);
  if (name === 'tid.linear') return;
  if (axis === 'x' && plan.block[1] * plan.block[2] > 1) remainder(code, nx);
  if (axis === 'y') {
    quotient(code, nx);
    if (plan.block[2] > 1) remainder(code, ny);
  }
  if (axis === 'z') quotient(code, nx * ny);
  if (what !== 'gid') return;
  code.at('local.get', r.starts.blocks.get(`ctaid.${axis}` as Sreg)!);
  code.i32(plan.block['xyz'.indexOf(axis!)]!);
  code.op('i32.mul');
  code.op('i32.add');
}

// ── its end ──

/** Leaves the region at a barrier or at the end of the kernel: at a barrier, keeps what comes after wants, and says what comes next. */
function leave(r: Region, block: number | undefined): void {
  const { plan, code, shared } = r;
  if (plan.regions.length === 1) return;
  const to = block !== undefined && endsInBarrier(plan.kernel, block) ? behindBarrier(plan.kernel, block) : undefined;
  if (plan.shapes.apart) {
    if (to !== undefined) wait(r, to);
    return;
  }
  if (to !== undefined) keep(r, to);
  if (!r.saysNext) return;
  code.i32(to === undefined ? exited : regionAt(plan, to));
  code.at('global.set', shared.phase);
}

/** Has the lanes that run wait for what is behind a barrier. */
function wait(r: Region, to: number): void {
  keep(r, to);
  markArrived(r.values.strip, r.halves!, regionAt(r.plan, to));
}

/** The region that starts with a block. */
export const regionAt = ({ regions }: SimdPlan, block: number): number => regions.find(({ entry }) => entry === block)!.id;

/** Keeps what a region wants that starts with a block. A value from before this one is in its place already. */
function keep({ plan, region, values }: Region, to: number): void {
  for (const value of plan.liveIns.get(to)!) if (region.cfg.position[plan.home[value]!]! >= 0) save(values, value);
}
