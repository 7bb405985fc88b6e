/** Writes guards into the code of strips: once for all lanes where these access one place or lie side by side, else lane by lane. */

import { ifActive } from '../../../../engine/simd/emit/memory-access.ts';
import type { CheckEmitters } from '../../../../engine/simd/lanes/lane-group.ts';
import { type LaneGroup, shapeOf } from '../../../../engine/simd/lanes/lane-group.ts';
import { allBits, pushBits } from '../../../../engine/simd/lanes/lane-masks.ts';
import { pushWindow } from '../../../../engine/simd/lanes/leaf-values.ts';
import { words } from '../../../../engine/simd/lanes/vectors.ts';
import { affine, type InstOf, uniform, type Value } from '../../../../ir/index.ts';
import type { WasmModule } from '../../../../wasm/index.ts';
import { nearBytes } from './address-range.ts';
import { type Looks, looksOf, pushCellOffset, pushIsMisaligned, pushIsOutside } from './check-functions.ts';
import type { Guard, Guards, Reached } from './insert-checks.ts';
import { giveUpIfAny, giveUpIfOf } from './lane-checks.ts';
import { writeBelow, writeMembers, writeWithin } from './range-checks.ts';
import { cellBits, giveUpIf, type QuickState } from './shadow-state.ts';

/** Scratch locals of guards are apart from those of others. */
const scratch = 400;

interface Parts {
  readonly guards: Guards;
  readonly state: QuickState;
  readonly looks: Looks;
}

/** For strips of so many packs. */
export function checkEmitters(module: WasmModule, guards: Guards, state: QuickState, packs: number): CheckEmitters {
  const parts: Parts = { guards, state, looks: looksOf(module, state, guards, packs) };
  return {
    guard: (s, inst) => writeGuard(parts, s, inst),
    within: (s, inst) => writeWithin(s, inst),
    members: (s) => writeMembers(s),
  };
}

/** A guard that is being written. */
interface At extends Parts {
  readonly s: LaneGroup;
  readonly guard: Guard;
  readonly reached: Reached;
  readonly index: number;
  /** The address of the first lane, where it tells those of all. */
  readonly address: number;
  readonly offset: number;
}

function writeGuard(parts: Parts, s: LaneGroup, { a, number }: InstOf<'guard'>): void {
  const guard = parts.guards.list[number]!;
  const [address, offset] = [s.temp('i32', scratch), s.temp('i32', scratch + 1)];
  const at: At = { ...parts, s, guard, reached: parts.guards.reached[guard.reached]!, index: guard.reached, address, offset };
  const [shape, stride] = [shapeOf(s, a), s.plan.shapes.stride[a]!];
  const isLocal = guard.space === 'local';
  // Each lane has local memory of its own.
  const isSame = isLocal ? shape === affine && stride === s.plan.windows.local : shape === uniform;
  if (isSame || (shape === affine && !isLocal)) {
    s.scalar(a);
    s.code.at('local.set', address);
  }
  if (guard.what === 'near') writeNear(at, a);
  else if (isSame) writeSame(at);
  else if (shape === affine && !isLocal && stride === guard.bytes) writeDense(at);
  else writeApart(at, a, shape === affine && !isLocal ? stride : undefined);
}

// ── what is reached ──

function pushStart({ s, reached: { fixed, space }, state, index }: At): void {
  if (!fixed || space === 'global') return s.code.at('global.get', state.reached[index]!.start);
  pushWindow(s, space);
  s.code.i32(fixed.offset);
  s.code.op('i32.add');
}

function pushBytes({ s, reached: { fixed, space }, state, index }: At): void {
  if (fixed && space !== 'global') s.code.i32(fixed.size);
  else s.code.at('global.get', state.reached[index]!.bytes);
}

const pushShadow = ({ s, state, index }: At, name: 'cells' | 'written'): void => s.code.at('global.get', state.reached[index]![name]);

const needsShadow = ({ looks, guard }: At): boolean => looks.races(guard) || looks.inits(guard);

/** Whether there is a shadow to be looked at. */
function pushHasShadow(at: At): void {
  pushShadow(at, 'cells');
  pushShadow(at, 'written');
  at.s.code.op('i32.or');
}

function pushFails(at: At, count: number): void {
  const { s, guard, address, offset } = at;
  pushIsOutside(s.code, count, { address, offset, start: () => pushStart(at), bytes: () => pushBytes(at) });
  if (guard.align > 1) pushIsMisaligned(s.code, guard.align, address, true);
}

// ── ways of lanes ──

/** All lanes at one place, or each at the same place of memory of its own. */
function writeSame(at: At): void {
  const { s, guard } = at;
  const { code } = s;
  pushFails(at, guard.bytes);
  giveUpIfAny(s);
  if (!needsShadow(at)) return;
  code.open('block');
  if (guard.what === 'load') skipMany(at);
  else {
    pushHasShadow(at);
    code.op('i32.eqz');
    code.at('br_if', 0);
  }
  // Two threads are as many as more of them are.
  callSome(at, 0, s.mask ? undefined : 3);
  code.end();
}

/** Leaves the block around it where several threads have read there since the last barrier, or nobody looks. */
function skipMany(at: At): void {
  const { s, guard, state, looks, address } = at;
  const { code } = s;
  const grain = looks.grain(guard);
  pushShadow(at, 'written');
  code.op('i32.eqz');
  code.open('if');
  pushShadow(at, 'cells');
  code.op('i32.eqz');
  code.at('br_if', 1);
  for (let cell = 0; cell < Math.max(1, guard.bytes >> grain); cell++) {
    pushCellOffset(code, address, grain);
    pushShadow(at, 'cells');
    code.op('i32.add');
    code.access('i32.load', 4, 4 * cell);
    code.i32(~cellBits.past);
    code.op('i32.and');
    code.at('global.get', state.globals.time);
    code.i32(cellBits.many);
    code.op('i32.or');
    code.op('i32.eq');
    if (cell > 0) code.op('i32.and');
  }
  code.at('br_if', 1);
  code.end();
}

/** Calls the function of lanes that are a step apart: of those with some bits, or that run. */
function callSome(at: At, step: number, bits: number | undefined): void {
  const { s, address, guard, looks } = at;
  const { code } = s;
  code.at('local.get', address);
  code.at('local.get', s.frame.first);
  code.i32(step);
  if (bits === undefined) pushBits(s);
  else code.i32(bits);
  pushReached(at);
  code.at('call', looks.some(guard));
}

function pushReached(at: At): void {
  pushStart(at);
  pushBytes(at);
  pushShadow(at, 'cells');
  pushShadow(at, 'written');
}

/** Lanes side by side. */
function writeDense(at: At): void {
  const { s, guard } = at;
  const { code } = s;
  pushFails(at, guard.bytes * s.plan.lanes);
  if (!s.mask) giveUpIf(code);
  else {
    // What all lanes together reach beyond, those that run may not.
    if (needsShadow(at)) {
      pushHasShadow(at);
      code.i32(0);
      code.op('i32.ne');
      pushBits(s);
      code.i32(allBits(s.plan));
      code.op('i32.ne');
      code.op('i32.and');
      code.op('i32.or');
    }
    code.open('if');
    callSome(at, guard.bytes, undefined);
    code.else();
  }
  if (needsShadow(at)) writeDenseShadow(at);
  if (s.mask) code.end();
}

function writeDenseShadow(at: At): void {
  const { s, guard, looks, address } = at;
  const { code } = s;
  const [isRaced, isInit] = [looks.races(guard), looks.inits(guard)];
  const grain = looks.grain(guard);
  const hasCells = isRaced && guard.what !== 'atomic' && guard.bytes === 2 ** grain;
  const hasWords = isInit && guard.bytes === 4;
  const call = (name: 'cells' | 'written', push: () => void): void => {
    pushShadow(at, name);
    code.open('if');
    push();
    pushShadow(at, name);
    code.op('i32.add');
    if (name === 'cells') code.at('local.get', s.frame.first);
    code.at('call', looks[name](guard));
    code.end();
  };
  if (hasCells) call('cells', () => pushCellOffset(code, address, grain));
  if (hasWords)
    call('written', () => {
      code.at('local.get', address);
      code.i32(2);
      code.op('i32.shr_u');
    });
  if (hasCells === isRaced && hasWords === isInit) return;
  // What one of them has seen already the others see again.
  if (hasCells === isRaced) pushShadow(at, 'written');
  else if (hasWords === isInit) pushShadow(at, 'cells');
  else pushHasShadow(at);
  code.open('if');
  callSome(at, guard.bytes, allBits(s.plan));
  code.end();
}

/** Lanes in places of their own; `step` is from each to the next, where that is the same. */
function writeApart(at: At, a: Value, step: number | undefined): void {
  const { s, guard, looks } = at;
  const { code } = s;
  pushBytes(at);
  code.i32(guard.bytes);
  code.op('i32.lt_u');
  giveUpIfAny(s);
  const addresses = s.temp('v128', scratch);
  for (let pack = 0; pack < s.plan.packs; pack++) {
    s.part(a, pack);
    code.at('local.set', addresses);
    pushOffsets(at, addresses, pack);
    pushBytes(at);
    code.i32(guard.bytes);
    code.op('i32.sub');
    code.op('i32x4.splat');
    code.op('i32x4.gt_u');
    if (guard.align > 1) {
      code.at('local.get', addresses);
      code.v128(words(guard.align - 1));
      code.op('v128.and');
      code.v128(words(0));
      code.op('i32x4.ne');
      code.op('v128.or');
    }
    giveUpIfOf(s, pack);
    if (!needsShadow(at) || step !== undefined) continue;
    pushHasShadow(at);
    code.open('if');
    for (let lane = 0; lane < 4; lane++)
      ifActive(s, 4 * pack + lane, () => {
        code.at('local.get', addresses);
        code.lane('i32x4.extract_lane', lane);
        code.at('local.set', at.address);
        const isShort = skipAlike(at);
        code.at('local.get', at.address);
        code.at('local.get', s.frame.first);
        code.i32(4 * pack + lane);
        code.op('i32.add');
        pushReached(at);
        code.at('call', looks.one(guard));
        if (isShort) code.end();
      });
    code.end();
  }
  if (!needsShadow(at) || step === undefined) return;
  pushHasShadow(at);
  code.open('if');
  callSome(at, step, undefined);
  code.end();
}

/**
 * Opens what is for words alone to which threads have not done the same since the last barrier, as one has that was looked at: changed them
 * atomically, or read them, several threads. Nothing is opened where that is not told by one cell.
 */
function skipAlike(at: At): boolean {
  const { s, guard, state, looks, address } = at;
  const { code } = s;
  const grain = looks.grain(guard);
  const isUniformVector = guard.what === 'atomic' || (guard.what === 'load' && guard.space === 'shared');
  if (!isUniformVector || !looks.races(guard) || guard.bytes !== 2 ** grain) return false;
  pushCellOffset(code, address, grain);
  pushShadow(at, 'cells');
  code.op('i32.add');
  code.access('i32.load', 4);
  code.i32(~cellBits.past);
  code.op('i32.and');
  code.at('global.get', state.globals.time);
  code.i32(guard.what === 'atomic' ? cellBits.atomic : cellBits.many);
  code.op('i32.or');
  code.op('i32.ne');
  code.open('if');
  return true;
}

/** How far the addresses of a pack are from the start of what is reached. */
function pushOffsets(at: At, addresses: number, pack: number): void {
  const { s, guard } = at;
  const { code } = s;
  code.at('local.get', addresses);
  pushStart(at);
  code.op('i32x4.splat');
  code.op('i32x4.sub');
  if (guard.space !== 'local') return;
  code.v128([0, 1, 2, 3].map((lane) => (4 * pack + lane) * s.plan.windows.local));
  code.op('i32x4.sub');
}

/** An address that comes around in a loop is near what it may reach. */
function writeNear(at: At, a: Value): void {
  const { s } = at;
  const near = Number(nearBytes);
  writeBelow(
    s,
    a,
    { shift: near, limit: 2 * near },
    {
      scalar() {
        pushStart(at);
        s.code.op('i32.sub');
      },
      part() {
        pushStart(at);
        s.code.op('i32x4.splat');
        s.code.op('i32x4.sub');
      },
    },
  );
}
