/** The hooks of the precise sanitizer: the checks that an instrumented compilation adds. */

import { type Line, lineOf } from '../../../../air/index.ts';
import type { AccessInst, CollectiveLocals, SanitizerHooks, SanitizerWriter } from '../../../../engine/codegen/hooks.ts';
import type { Host } from '../../../../engine/codegen/host.ts';
import { eachParticipant } from '../../../../engine/codegen/lane-loop.ts';
import { reinterpretOf } from '../../../../engine/codegen/mnemonics.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { continuation, syncPointOf } from '../../../../engine/codegen/split-at-sync-points.ts';
import { type Block, bytesOf, elementOf, type Kernel, lanesOf, type Roots, rootsOf, type Type, type Value } from '../../../../ir/index.ts';
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import type { SanitizeKind } from '../../../device.ts';
import { type Bounds, newSites, type Sites } from '../../observe/sites.ts';
import { type AccessFunctions, type AccessShape, accessFunctions } from './access-functions.ts';
import { boundsOf } from './bounds.ts';
import { readsBeforeAtomics } from './reads-before-atomics.ts';
import { lateTime, maxSites, stampFields } from './stamp.ts';
import { declareState, type SanitizerState, threadTimes, writeAdvance, writeStamp, writeThreadTimes } from './state.ts';
import { isHiddenBarrier, isHiddenMemory, type Role } from './sync-roles.ts';

interface Checks {
  readonly plan: Plan;
  readonly kernel: Kernel;
  readonly host: Host;
  readonly state: SanitizerState;
  readonly kinds: ReadonlySet<SanitizeKind>;
  readonly functions: AccessFunctions;
  readonly roots: Roots;
  readonly sites: Sites;
  /** Plain reads that count as atomic for races. */
  readonly excused: ReadonlySet<Value>;
  readonly roleAt: RoleAt | undefined;
  readonly isOwnAt: IsOwnAt | undefined;
  /** Whether threads are ordered by more than barriers and fences. */
  readonly hasOrder: boolean;
  /** Whether the blocks of a cluster, or of a grid with barriers, run by turns. */
  readonly isClustered: boolean;
}

/** The role of the instruction at a line of the source in the order of threads. */
export type RoleAt = (line: Line) => Role | undefined;

/** Whether the instruction at a line of the source is of the shared memory of its own block. */
export type IsOwnAt = (line: Line) => boolean;

/** The checks of one compilation, with the instructions that reports name. */
export interface Sanitizer extends SanitizerHooks {
  readonly sites: Sites;
}

/** Declares imports and globals; before the first function of the module. */
export function newSanitizer(
  plan: Plan,
  module: WasmModule,
  host: Host,
  kinds: ReadonlySet<SanitizeKind>,
  source?: { readonly roleAt: RoleAt; readonly isOwnAt: IsOwnAt },
): Sanitizer {
  const { kernel } = plan;
  const { roleAt, isOwnAt } = source ?? {};
  const state = declareState(module, kernel.params.length);
  const isClustered = kernel.params.some(({ service }) => service === 'cluster' || service === 'grid');
  const hasOrder = kinds.has('race') && (isClustered || kernel.locs.some((loc) => isOrdering(lineOf(loc), roleAt)));
  const functions = accessFunctions(module, state, kinds, hasOrder);
  const [roots, sites, excused] = [rootsOf(kernel), newSites(kernel, maxSites), readsBeforeAtomics(kernel)];
  const checks: Checks = { plan, kernel, host, state, kinds, functions, roots, sites, excused, roleAt, isOwnAt, hasOrder, isClustered };
  const barriers = kernel.blocks.filter((block) => isBarrier(kernel, syncPointOf(kernel, block)));
  const behindBarrier = new Set(barriers.map((block) => continuation(block).id));
  for (const block of barriers) checks.sites.of(syncPointOf(kernel, block)!);
  for (const { value } of plan.regions.rendezvous) checks.sites.of(value);
  return {
    sites: checks.sites,
    place: (e, inst, value, lane, pushValue) => writePlace(checks, e, inst, value, lane, pushValue),
    changed: (e, type, index, old) => writeChanged(checks, e, type, index, old),
    fence: (e, value) => writeFence(checks, e.code, value),
    regionStart(code, region) {
      if (plan.regions.schedule === 'block' && behindBarrier.has(region.entry)) writeBarrier(checks, code);
    },
    threadStart: (code, thread) => writeStamp(state, code, () => pushNumber(checks, code, () => code.at('local.get', thread))),
    isByTurns: isClustered,
    turnStart(code) {
      if (isClustered) code.at('call', state.functions.chosen);
    },
    threadExits: (code, thread, block) => writeExit(checks, code, thread, block),
    blockStart: (code) => writeBlockStart(checks, code),
    release(code) {
      if (kinds.has('sync')) code.at('call', state.functions.released);
      writeBarrier(checks, code);
    },
    synchronized: (code, locals) => writeSynchronized(checks, code, locals),
    met: (code, locals, members) => writeMet(checks, code, locals, members),
    stuck: (code) => code.at('call', state.functions.stuck),
  };
}

const isOrdering = (line: Line | undefined, roleAt: RoleAt | undefined): boolean =>
  line !== undefined && (isHiddenBarrier(line) || roleAt?.(line) !== undefined);

const isBarrier = (kernel: Kernel, stop: Value | undefined): boolean => stop !== undefined && kernel.insts[stop]!.op === 'barrier';

/** Pushes the number of a thread that `push` pushes, among those of its cluster. */
function pushNumber({ isClustered, state }: Checks, code: Code, push: () => void): void {
  push();
  if (!isClustered) return;
  code.at('global.get', state.globals['thread.base']);
  code.op('i32.add');
}

// ── accesses ──

function writePlace(checks: Checks, e: SanitizerWriter, inst: AccessInst, value: Value, lane: number, pushValue?: () => void): void {
  const { code } = e;
  const { shape, bounds, pointer } = shapeOf(checks, inst, value, lane);
  const isStrong = inst.op === 'atomic' || inst.op === 'cas' || inst.volatile;
  const isExcused = isStrong || checks.excused.has(value);
  pushValue?.();
  if (bounds) pushBounds(checks, e, pointer, bounds);
  const kind = asyncKindOf(checks, inst, value, shape);
  const flags = (isExcused || kind === 'drain' ? 2 ** stampFields.strong.at : 0) + (kind ? 2 ** stampFields.async.at : 0);
  code.i32(checks.sites.of(value, { bounds, align: shape.align }) + flags);
  code.at('call', checks.functions(shape));
  const isRead = isStrong && inst.op !== 'store' && shape.syncs === 'no';
  if (isRead && checks.kinds.has('race')) writeTime(checks, code, threadTimes.strongRead);
}

const isStrongAccess = (inst: AccessInst): boolean => inst.op === 'atomic' || inst.op === 'cas' || inst.volatile;

/** Whether an access is that of an asynchronous operation: copies fill shared memory, or drain it. */
function asyncKindOf(
  { roleAt, kernel, hasOrder }: Checks,
  inst: AccessInst,
  value: Value,
  { space }: AccessShape,
): 'fill' | 'drain' | undefined {
  const line = hasOrder && space === 'shared' && !isStrongAccess(inst) ? lineOf(kernel.locs[value]) : undefined;
  const role = line && roleAt?.(line);
  if (role?.does === 'fill' && inst.op === 'store') return 'fill';
  return role?.does === 'drain' && inst.op === 'load' ? 'drain' : undefined;
}

/** Whether an access is of a barrier in memory. */
function syncsOf({ roleAt, kernel, hasOrder }: Checks, inst: AccessInst, value: Value): AccessShape['syncs'] {
  const line = lineOf(kernel.locs[value]);
  if (isHiddenMemory(line)) return 'unchecked';
  if (isHiddenBarrier(line)) return 'hidden';
  const role = line && hasOrder && isStrongAccess(inst) ? roleAt?.(line) : undefined;
  if (role?.does === 'cluster') return 'hidden';
  return role && (inst.op === 'cas' || inst.type === 'i64' || inst.op === 'store') && barrierRoles.has(role.does) ? 'yes' : 'no';
}

const barrierRoles: ReadonlySet<Role['does']> = new Set(['init', 'arrive', 'test', 'note', 'fill']);

interface Shaped {
  readonly shape: AccessShape;
  readonly bounds: Bounds | undefined;
  readonly pointer: Value;
}

function shapeOf(checks: Checks, inst: AccessInst, value: Value, lane: number): Shaped {
  const { kernel, roots } = checks;
  const pointer = inst.op === 'load' || inst.op === 'store' ? inst.addr : inst.a;
  const moved: Type = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  const size = bytesOf(elementOf(moved));
  const given = inst.op === 'load' || inst.op === 'store' ? inst.align : size;
  const space = kernel.insts[pointer]!.type.slice('ptr.'.length) as AccessShape['space'];
  // Shared memory of other blocks is behind addresses that are computed.
  const isAnywhere = checks.isClustered && space === 'shared' && !isOfOwn(checks, value);
  const bounds = isAnywhere ? undefined : boundsOf({ kernel, roots, windows: checks.plan.windows }, pointer, value);
  const what = inst.op === 'load' || inst.op === 'store' ? inst.op : 'atomic';
  const isOfWord = what === 'atomic' || checks.excused.has(value);
  const align = lane > 0 ? 1 : Math.min(given, size * lanesOf(moved));
  const syncs = syncsOf(checks, inst, value);
  return { shape: { what, space, size, align, isBounded: bounds !== undefined, isOfWord, syncs }, bounds, pointer };
}

/** Whether an access is of the shared memory of its own block. */
function isOfOwn({ kernel, isOwnAt }: Checks, value: Value): boolean {
  const line = lineOf(kernel.locs[value]);
  return line !== undefined && isOwnAt?.(line) === true;
}

/** Pushes start and size of the memory that an access may reach. */
function pushBounds(checks: Checks, e: SanitizerWriter, pointer: Value, bounds: Bounds): void {
  const { code } = e;
  const { plan, state } = checks;
  if (bounds.kind === 'param') return pushParameter(checks, code, bounds.index);
  if (bounds.kind === 'variable') return pushVariable(checks, e, checks.roots(pointer)!, bounds.name);
  e.window(bounds.space);
  if (bounds.kind === 'part') {
    code.i64(BigInt(bounds.offset));
    code.op('i64.add');
    code.i64(BigInt(bounds.size));
  } else if (bounds.space === 'shared') code.at('global.get', state.globals['shared.bytes']);
  else code.i64(BigInt(plan.windows.local));
}

function pushParameter({ kernel, host, state }: Checks, code: Code, index: number): void {
  const param = kernel.params[index]!;
  code.at('global.get', host.params[index]!);
  if (param.kind === 'value') code.i64(BigInt(param.size));
  else code.at('global.get', param.kind === 'threadgroup' ? state.globals['dynamic.bytes'] : state.paramBytes[index]!);
}

function pushVariable({ kernel, state }: Checks, e: SanitizerWriter, root: Value, name: string): void {
  const variable = kernel.variables.find((each) => each.name === name)!;
  e.leaf(root);
  if (variable.isDynamic) e.code.at('global.get', state.globals['dynamic.bytes']);
  else e.code.i64(BigInt(variable.size));
}

function writeChanged(
  { state, kinds }: Checks,
  { code }: SanitizerWriter,
  type: 'i32' | 'i64' | 'f32' | 'f64',
  index: number,
  old: number,
): void {
  if (!kinds.has('sync')) return;
  const word = type.endsWith('64') ? 'i64' : 'i32';
  code.at('global.get', state.globals.progress);
  code.at('local.get', index);
  code.access(`${word}.load`, 1);
  code.at('local.get', old);
  if (type === 'f32' || type === 'f64') code.op(reinterpretOf[type]);
  code.op(`${word}.ne`);
  code.op('i32.add');
  code.at('global.set', state.globals.progress);
}

// ── order ──

/** Stores the time as one of the times of the current thread. */
function writeTime(checks: Checks, code: Code, offset: number): void {
  const { state, host } = checks;
  writeThreadTimes(state, code, () => pushNumber(checks, code, () => code.at('global.get', host.globals.thread)));
  code.at('global.get', state.times.now);
  code.access('i64.store', 8, offset);
}

/** A fence releases the accesses before it, and acquires if the thread has read strongly in this block. */
function writeFence(checks: Checks, code: Code, value: Value): void {
  const { state, host, kinds, kernel } = checks;
  if (!kinds.has('race')) return;
  const line = checks.hasOrder ? lineOf(kernel.locs[value]) : undefined;
  const role = line && checks.roleAt?.(line);
  if (role) {
    // Fences of barriers in memory order those alone that use the barrier.
    if (barrierRoles.has(role.does)) return;
    code.i32(checks.sites.of(value));
    return code.at('call', state.functions.fenced);
  }
  const pushThread = (): void => pushNumber(checks, code, () => code.at('global.get', host.globals.thread));
  writeAdvance(state, code);
  writeStamp(state, code, pushThread);
  writeTime(checks, code, threadTimes.release);
  code.at('global.get', state.times.now);
  code.at('global.set', state.times.lastFence);
  writeThreadTimes(state, code, pushThread);
  code.access('i64.load', 8, threadTimes.strongRead);
  code.at('global.get', state.times.block);
  code.op('i64.ge_u');
  code.open('if');
  writeTime(checks, code, threadTimes.acquire);
  code.at('global.get', state.times.now);
  code.at('global.set', state.times.acquired);
  code.end();
}

function writeBarrier({ state, hasOrder, isClustered }: Checks, code: Code): void {
  writeAdvance(state, code);
  if (hasOrder) code.at('call', state.functions.crossed);
  code.at('global.get', state.times.now);
  code.at('global.set', state.times.reads);
  // Of several blocks the times of threads say more than that of a barrier.
  if (isClustered) return;
  code.at('global.get', state.times.now);
  code.at('global.set', state.times.barrier);
  code.at('global.get', state.times.now);
  code.at('global.get', state.times.block);
  code.op('i64.sub');
  code.at('global.set', state.times.span);
}

function writeBlockStart({ state, kinds, plan, kernel, hasOrder, isClustered }: Checks, code: Code): void {
  const { times } = state;
  if (isClustered) code.at('call', state.functions.chosen);
  code.at('global.get', times.now);
  code.i64(lateTime);
  code.op('i64.ge_u');
  code.open('if');
  code.at('call', state.functions.renewed);
  code.end();
  writeAdvance(state, code);
  if (hasOrder) code.at('call', state.functions.began);
  for (const time of ['block', 'barrier', 'reads'] as const) {
    code.at('global.get', times.now);
    code.at('global.set', times[time]);
  }
  for (const time of ['span', 'acquired'] as const) {
    code.i64(0n);
    code.at('global.set', times[time]);
  }
  code.at('global.get', times.lastFence);
  code.at('global.set', times.fencesBefore);
  const hasShared = plan.windows.shared > 0 || kernel.params.some(({ kind }) => kind === 'threadgroup');
  if (hasShared && kinds.has('init')) code.at('call', state.functions.emptied);
}

// ── warp collectives ──

/** Stores the block in which a thread exits. */
function writeExit(checks: Checks, code: Code, thread: number, { id }: Block): void {
  const { state, kinds, plan } = checks;
  if (!kinds.has('sync') || plan.regions.rendezvous.length === 0) return;
  pushNumber(checks, code, () => code.at('local.get', thread));
  code.i32(2);
  code.op('i32.shl');
  code.at('global.get', state.globals['thread.exits']);
  code.op('i32.add');
  code.i32(id);
  code.access('i32.store', 4);
}

/** Calls the host where a mask names existing threads that have exited. */
function writeMet({ state, kinds }: Checks, code: Code, { base, last, mask }: CollectiveLocals, members: number): void {
  if (!kinds.has('sync')) return;
  code.at('local.get', members);
  code.i32(-1);
  code.i32(32);
  code.at('local.get', last);
  code.at('local.get', base);
  code.op('i32.sub');
  code.op('i32.sub');
  code.op('i32.shr_u');
  code.op('i32.and');
  code.at('local.get', mask);
  code.op('i32.ne');
  code.open('if');
  for (const local of [base, last, mask, members]) code.at('local.get', local);
  code.at('call', state.functions.left);
  code.end();
}

/** Each active thread has synchronized with the others. */
function writeSynchronized(checks: Checks, code: Code, locals: CollectiveLocals): void {
  const { state, hasOrder } = checks;
  writeAdvance(state, code);
  if (hasOrder) {
    for (const local of [locals.base, locals.mask]) code.at('local.get', local);
    code.at('call', state.functions.together);
  }
  eachParticipant(code, locals, () => {
    writeThreadTimes(state, code, () => pushNumber(checks, code, () => code.at('local.get', locals.thread)));
    code.at('global.get', state.times.now);
    code.access('i64.store', 8, threadTimes.sync);
  });
}
