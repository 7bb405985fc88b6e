/**
 * One function per region: a loop over the strips of a block, each of which takes its values from the records, runs to a barrier or to the end,
 * and puts back what the next region needs. The last strip of a block that is no multiple of a strip has a mask of its own.
 */
import {
  convergenceOrder,
  dominatorsOf,
  lanesOf,
  loopsOf,
  operandsOf,
  positionsIn,
  type Sreg,
  terminatorOperands,
  type Value,
} from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import { costOf, fuelPerTick } from '../compile/cost.ts';
import { gone } from '../compile/shared.ts';
import { busyLanes, busyThreads } from './busy.ts';
import { quotient, remainder } from './divide.ts';
import { writeFlow } from './flow.ts';
import type { Flow } from './frame.ts';
import { type Starts, startsOf, usedFree } from './free.ts';
import { isLong, laneBytes, poolStart, type StripPlan } from './plan.ts';
import { pooledCode } from './pool.ts';
import type { StripShared } from './shared.ts';
import { behindBarrier, endsInBarrier, type StripRegion } from './split.ts';
import { numberOf, type Strip, type StripFrame } from './strip.ts';
import { type StripValues, stripValues } from './values.ts';

interface Region {
  readonly shared: StripShared;
  readonly plan: StripPlan;
  readonly region: StripRegion;
  readonly code: Code;
  readonly frame: StripFrame;
  readonly sregs: ReadonlySet<Sreg>;
  readonly starts: Starts;
  readonly values: StripValues;
  readonly cost: number;
  /** Values that are taken from the records. */
  readonly taken: readonly Value[];
  readonly spareMasks: (readonly number[])[];
}

/** Writes the function of a region; nothing where its blocks cannot be nested. */
export function writeStripRegion(shared: StripShared, region: StripRegion): { readonly index: number; readonly code: Code } | undefined {
  const busy = busyThreads(shared.plan, region);
  const lanes = shared.guards ? shared.plan.lanes : busyLanes(shared.plan, region, busy);
  const plan = { ...shared.plan, lanes, packs: lanes / 4 };
  const { index, code: plain } = shared.module.fn({ params: [], results: [] });
  const local = (): number => plain.local('i32');
  const frame: StripFrame = {
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
  const used = usedFree(plan.kernel, region.cfg.order);
  const starts = startsOf(plan, code, used);
  const base = {
    plan,
    kernel: plan.kernel,
    code,
    host: shared.host,
    helper: shared.helper,
    stripHelper: shared.stripHelper,
    frame,
    fma: shared.fma,
    guards: shared.guards,
    pool: shared.pool,
    isRolled: false,
    rolled: shared.rolled,
    mask: undefined,
  };
  const values = stripValues(base, starts);
  const cost = Math.min(fuelPerTick, (costOf(plan.kernel, region as never) * plan.lanes) / 2);
  const r: Region = {
    shared,
    plan,
    region,
    code,
    frame,
    sregs: used.sregs,
    starts,
    values,
    cost,
    taken: takenOf(plan, region),
    spareMasks: [],
  };
  for (const [index, local] of starts.params) {
    code.at('global.get', shared.host.params[index]!);
    code.op('i32.wrap_i64');
    code.at('local.set', local);
  }
  for (const [name, local] of starts.blocks) {
    code.at('global.get', shared.host.globals[name as 'ctaid.x']);
    code.at('local.set', local);
  }
  for (const space of ['shared', 'constant'] as const) {
    code.at('global.get', shared.host.globals[space]);
    code.at('local.set', frame[space]);
  }
  code.at('global.get', shared.fuel);
  code.at('local.set', frame.fuel);
  writeTurn(r, Math.min(fuelPerTick, (cost * plan.threads) / plan.lanes));
  const whole = plan.threads - (plan.threads % plan.lanes);
  const full = Math.min(whole, Math.ceil(busy / plan.lanes) * plan.lanes);
  if (full > 0) {
    code.open('loop');
    if (!writeStrip(r)) return undefined;
    code.at('local.get', frame.first);
    code.i32(plan.lanes);
    code.op('i32.add');
    code.at('local.tee', frame.first);
    code.i32(full);
    code.op('i32.lt_u');
    code.at('br_if', 0);
    code.end();
  }
  if (busy > whole && !writeTail(r)) return undefined;
  code.at('local.get', frame.fuel);
  code.at('global.set', shared.fuel);
  return { index, code };
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
  return writeStrip(r);
}

/** Values that are brought, and that this region uses or keeps on. */
function takenOf(plan: StripPlan, region: StripRegion): Value[] {
  const wanted = new Set<Value>();
  for (const id of region.cfg.order) {
    const block = plan.kernel.blocks[id]!;
    for (const value of [...block.params, ...block.body]) wanted.add(value);
    for (const value of block.body) for (const operand of operandsOf(plan.kernel.insts[value]!)) wanted.add(operand);
    for (const value of terminatorOperands(block.end)) wanted.add(value);
  }
  return plan.brought.get(region.entry)!.filter((value) => wanted.has(value));
}

function writeStrip(r: Region): boolean {
  const { code, values, plan, region } = r;
  code.open('block');
  const out = code.depth;
  writeStart(r);
  for (const value of r.taken) take(r, value);
  const cfg = plan.shapes.cfg;
  const masks = masksOf(r);
  const flow: Flow = {
    plan,
    kernel: plan.kernel,
    code,
    values,
    strip: values.strip,
    isBrief: r.shared.isBrief,
    region,
    place: positionsIn(convergenceOrder(cfg), plan.kernel.blocks.length),
    loops: loopsOf(cfg, dominatorsOf(cfg)).loops,
    turn: () => writeTurn(r, r.cost),
    leave(block) {
      leave(r, block?.id);
      code.at('br', code.depth - out);
    },
    takeMasks: masks.take,
    giveMasks: masks.give,
    anyRuns(lanes) {
      lanes.forEach((mask, i) => {
        code.at('local.get', mask);
        if (i > 0) code.op('v128.or');
      });
      code.op('i32x4.bitmask');
    },
    holdingOf: (cond, lanes) => holdingOf(r, cond, lanes),
    othersOf: (some, lanes) => othersOf(r, some, lanes),
  };
  const isWritten = writeFlow(flow);
  code.end();
  return isWritten;
}

function masksOf({ code, plan, spareMasks }: Region) {
  return {
    take: (): readonly number[] => spareMasks.pop() ?? Array.from({ length: plan.packs }, () => code.local('v128')),
    give: (locals: readonly number[]): void => void spareMasks.push(locals),
  };
}

function holdingOf(r: Region, cond: Value, lanes: readonly number[] | undefined): readonly number[] {
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

function othersOf(r: Region, some: readonly number[], lanes: readonly number[] | undefined): readonly number[] {
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

function writeTurn({ code, frame, shared }: Region, cost: number): void {
  code.at('local.get', frame.fuel);
  code.i32(cost);
  code.op('i32.sub');
  code.at('local.tee', frame.fuel);
  code.i32(0);
  code.op('i32.le_s');
  code.openRare();
  code.at('call', shared.host.tick);
  code.i32(fuelPerTick);
  code.at('local.set', frame.fuel);
  code.end();
}

// ── the start of a strip ──

function writeStart(r: Region): void {
  const { code, frame, plan, shared } = r;
  const { globals } = shared.host;
  code.at('local.get', frame.first);
  code.at('global.set', globals.thread);
  if (plan.slots.size > 0) startRecords(r);
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

/** Where the records of the strip are. */
function startRecords({ code, frame, plan, shared }: Region): void {
  const { globals } = shared.host;
  for (const [local, shift] of [
    [frame.record4, 2],
    [frame.record8, 3],
  ] as const) {
    code.at('local.get', frame.first);
    code.i32(shift);
    code.op('i32.shl');
    code.at('global.get', globals.records);
    code.op('i32.add');
    code.at('local.set', local);
  }
  code.at('local.get', frame.first);
  code.i32(plan.lanes / 4);
  code.op('i32.div_u');
  code.i32(1);
  code.op('i32.shl');
  code.at('global.get', globals.records);
  code.op('i32.add');
  code.at('local.set', frame.recordShared);
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

// ── records ──

interface Place {
  readonly local: number;
  readonly offset: number;
}

/** Where a vector of a value stands in the records, or what a strip shares of it. */
function placeOf({ plan, shared, frame }: Region, value: Value, element: number, part: number): Place {
  const slot = plan.slots.get(value)!;
  const { lanes } = shared.plan;
  const strips = Math.ceil(plan.threads / lanes);
  if (plan.shapes.shape[value]! < 2) return { local: frame.recordShared, offset: slot + element * 8 * strips };
  const bytes = isLong(plan, value) ? 8 : 4;
  const each = (laneBytes(plan, value) / lanesOf(plan.kernel.insts[value]!.type)) * strips * lanes;
  return { local: bytes === 8 ? frame.record8 : frame.record4, offset: slot + element * each + 16 * part };
}

const accessName = ({ plan }: Region, value: Value, what: 'load' | 'store'): string =>
  plan.shapes.shape[value]! < 2 ? `${numberOf({ plan, kernel: plan.kernel } as Strip, value)}.${what}` : `v128.${what}`;

function take(r: Region, value: Value): void {
  const { values, code, plan } = r;
  values.eachPart(value, (element, part) => {
    const { local, offset } = placeOf(r, value, element, part);
    code.at('local.get', local);
    code.access(accessName(r, value, 'load'), 4, offset);
    if (plan.shapes.shape[value]! < 2) values.setScalar(value, element);
    else values.set(value, element, part);
  });
}

function save(r: Region, value: Value): void {
  const { values, code, plan } = r;
  values.eachPart(value, (element, part) => {
    const { local, offset } = placeOf(r, value, element, part);
    code.at('local.get', local);
    if (plan.shapes.shape[value]! < 2) values.pushElement(value, element);
    else values.strip.element(value, element, part);
    code.access(accessName(r, value, 'store'), 4, offset);
  });
}

/** At a barrier, keeps what comes after wants; says what all threads do next. */
function leave(r: Region, block: number | undefined): void {
  const { plan, region, code, shared } = r;
  if (plan.regions.length === 1) return;
  const isStop = block !== undefined && endsInBarrier(plan.kernel, block);
  const to = isStop ? behindBarrier(plan.kernel, block) : undefined;
  // A value from before this region is in its place already.
  for (const value of to === undefined ? [] : plan.brought.get(to)!) if (region.cfg.position[plan.home[value]!]! >= 0) save(r, value);
  code.i32(to === undefined ? gone : plan.regions.find(({ entry }) => entry === to)!.id);
  code.at('global.set', shared.phase);
}
