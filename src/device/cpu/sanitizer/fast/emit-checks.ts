/** Emits checks in vectorized code: once for a lane group whose accesses are uniform or contiguous, otherwise per lane. */

import { withScratch } from '../../../../engine/codegen/scratch.ts';
import { ifActive } from '../../../../engine/simd/emit/memory-access.ts';
import type { CheckEmitters } from '../../../../engine/simd/lanes/lane-group.ts';
import { type LaneGroup, shapeOf } from '../../../../engine/simd/lanes/lane-group.ts';
import { allBits, pushBits } from '../../../../engine/simd/lanes/lane-masks.ts';
import { pushWindow } from '../../../../engine/simd/lanes/leaf-values.ts';
import { words } from '../../../../engine/simd/lanes/vectors.ts';
import { affine, type InstOf, uniform, type Value } from '../../../../ir/index.ts';
import type { WasmModule } from '../../../../wasm/index.ts';
import { nearBytes } from './address-range.ts';
import { type CheckFunctions, checkFunctionsOf, pushCellOffset, pushIsMisaligned, pushIsOutside } from './check-functions.ts';
import type { AccessCheck, AccessChecks, Target } from './insert-checks.ts';
import { bailOutIfAny, bailOutIfPack } from './lane-checks.ts';
import { writeBelow, writeMembers, writeWithin } from './range-checks.ts';
import { bailOutIf, type CheckState, cellBits } from './shadow-state.ts';

interface Emitter {
  readonly checks: AccessChecks;
  readonly state: CheckState;
  readonly functions: CheckFunctions;
}

/** The emitters of a module, for lane groups of so many packs. */
export function checkEmitters(module: WasmModule, checks: AccessChecks, state: CheckState, packs: number): CheckEmitters {
  const emitter: Emitter = { checks, state, functions: checkFunctionsOf(module, state, checks, packs) };
  return {
    guard: (s, inst) => writeCheck(emitter, s, inst),
    within: (s, inst) => writeWithin(s, inst),
    members: (s) => writeMembers(s),
  };
}

/** A check that is being emitted. */
interface Emission extends Emitter {
  readonly s: LaneGroup;
  readonly check: AccessCheck;
  readonly target: Target;
  readonly index: number;
  /** Local with the address of the first lane, for uniform and affine addresses. */
  readonly address: number;
  readonly offset: number;
}

function writeCheck(emitter: Emitter, s: LaneGroup, inst: InstOf<'guard'>): void {
  withScratch(s, 'i32', 2, ([address, offset]) => writeCheckWith(emitter, s, inst, { address, offset }));
}

function writeCheckWith(
  emitter: Emitter,
  s: LaneGroup,
  { a, number }: InstOf<'guard'>,
  { address, offset }: Pick<Emission, 'address' | 'offset'>,
): void {
  const check = emitter.checks.list[number]!;
  const at: Emission = { ...emitter, s, check, target: emitter.checks.targets[check.target]!, index: check.target, address, offset };
  const [shape, stride] = [shapeOf(s, a), s.plan.shapes.stride[a]!];
  const isLocal = check.space === 'local';
  // Each lane has its own local memory.
  const isSame = isLocal ? shape === affine && stride === s.plan.windows.local : shape === uniform;
  if (isSame || (shape === affine && !isLocal)) {
    s.scalar(a);
    s.code.at('local.set', address);
  }
  if (check.what === 'near') writeNear(at, a);
  else if (isSame) writeUniform(at);
  else if (shape === affine && !isLocal && stride === check.bytes) writeContiguous(at);
  else writeScattered(at, a, shape === affine && !isLocal ? stride : undefined);
}

// ── targets ──

function pushStart({ s, target: { fixed, space }, state, index }: Emission): void {
  if (!fixed || space === 'global') return s.code.at('global.get', state.targets[index]!.start);
  pushWindow(s, space);
  s.code.i32(fixed.offset);
  s.code.op('i32.add');
}

function pushBytes({ s, target: { fixed, space }, state, index }: Emission): void {
  if (fixed && space !== 'global') s.code.i32(fixed.size);
  else s.code.at('global.get', state.targets[index]!.bytes);
}

const pushShadow = ({ s, state, index }: Emission, name: 'cells' | 'written'): void => s.code.at('global.get', state.targets[index]![name]);

const needsShadow = ({ functions, check }: Emission): boolean => functions.races(check) || functions.inits(check);

/** Pushes whether the target has a shadow. */
function pushHasShadow(at: Emission): void {
  pushShadow(at, 'cells');
  pushShadow(at, 'written');
  at.s.code.op('i32.or');
}

function pushFails(at: Emission, count: number): void {
  const { s, check, address, offset } = at;
  pushIsOutside(s.code, count, { address, offset, start: () => pushStart(at), bytes: () => pushBytes(at) });
  if (check.align > 1) pushIsMisaligned(s.code, check.align, address, true);
}

// ── access patterns ──

/** All lanes access one address, or each the same address of its own local memory. */
function writeUniform(at: Emission): void {
  const { s, check } = at;
  const { code } = s;
  pushFails(at, check.bytes);
  bailOutIfAny(s);
  if (!needsShadow(at)) return;
  code.open('block');
  if (check.what === 'load') skipIfManyRead(at);
  else {
    pushHasShadow(at);
    code.op('i32.eqz');
    code.at('br_if', 0);
  }
  // Two threads stand for any number of them.
  callSome(at, 0, s.mask ? undefined : 3);
  code.end();
}

/** Leaves the enclosing block if the cells hold that several threads have read since the last barrier, or if there are no cells. */
function skipIfManyRead(at: Emission): void {
  const { s, check, state, functions, address } = at;
  const { code } = s;
  const grain = functions.grain(check);
  pushShadow(at, 'written');
  code.op('i32.eqz');
  code.open('if');
  pushShadow(at, 'cells');
  code.op('i32.eqz');
  code.at('br_if', 1);
  for (let cell = 0; cell < Math.max(1, check.bytes >> grain); cell++) {
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

/** Calls the function of several lanes with a stride of `step`: the active lanes, or those of `bits`. */
function callSome(at: Emission, step: number, bits: number | undefined): void {
  const { s, address, check, functions } = at;
  const { code } = s;
  code.at('local.get', address);
  code.at('local.get', s.frame.first);
  code.i32(step);
  if (bits === undefined) pushBits(s);
  else code.i32(bits);
  pushTarget(at);
  code.at('call', functions.some(check));
}

function pushTarget(at: Emission): void {
  pushStart(at);
  pushBytes(at);
  pushShadow(at, 'cells');
  pushShadow(at, 'written');
}

/** The lanes access contiguous memory. */
function writeContiguous(at: Emission): void {
  const { s, check } = at;
  const { code } = s;
  pushFails(at, check.bytes * s.plan.lanes);
  if (!s.mask) bailOutIf(code);
  else {
    // The whole group may be out of bounds while its active lanes are not.
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
    callSome(at, check.bytes, undefined);
    code.else();
  }
  if (needsShadow(at)) writeContiguousShadow(at);
  if (s.mask) code.end();
}

function writeContiguousShadow(at: Emission): void {
  const { s, check, functions, address } = at;
  const { code } = s;
  const [isRaced, isInit] = [functions.races(check), functions.inits(check)];
  const grain = functions.grain(check);
  const hasCells = isRaced && check.what !== 'atomic' && check.bytes === 2 ** grain;
  const hasWords = isInit && check.bytes === 4;
  const call = (name: 'cells' | 'written', push: () => void): void => {
    pushShadow(at, name);
    code.open('if');
    push();
    pushShadow(at, name);
    code.op('i32.add');
    if (name === 'cells') code.at('local.get', s.frame.first);
    code.at('call', functions[name](check));
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
  // Checks that are done already are repeated.
  if (hasCells === isRaced) pushShadow(at, 'written');
  else if (hasWords === isInit) pushShadow(at, 'cells');
  else pushHasShadow(at);
  code.open('if');
  callSome(at, check.bytes, allBits(s.plan));
  code.end();
}

/** Each lane accesses an address of its own; `step` is the stride, if it is constant. */
function writeScattered(at: Emission, a: Value, step: number | undefined): void {
  const { s, check } = at;
  const { code } = s;
  pushBytes(at);
  code.i32(check.bytes);
  code.op('i32.lt_u');
  bailOutIfAny(s);
  withScratch(s, 'v128', 1, ([addresses]) => {
    for (let pack = 0; pack < s.plan.packs; pack++) {
      s.part(a, pack);
      code.at('local.set', addresses);
      writePackScattered(at, addresses, pack, step === undefined);
    }
  });
  if (!needsShadow(at) || step === undefined) return;
  pushHasShadow(at);
  code.open('if');
  callSome(at, step, undefined);
  code.end();
}

/** Checks the addresses of one pack, in a local; with `byLane` the shadow of each lane is checked too. */
function writePackScattered(at: Emission, addresses: number, pack: number, byLane: boolean): void {
  const { s, check, functions } = at;
  const { code } = s;
  pushOffsets(at, addresses, pack);
  pushBytes(at);
  code.i32(check.bytes);
  code.op('i32.sub');
  code.op('i32x4.splat');
  code.op('i32x4.gt_u');
  if (check.align > 1) {
    code.at('local.get', addresses);
    code.v128(words(check.align - 1));
    code.op('v128.and');
    code.v128(words(0));
    code.op('i32x4.ne');
    code.op('v128.or');
  }
  bailOutIfPack(s, pack);
  if (!needsShadow(at) || !byLane) return;
  pushHasShadow(at);
  code.open('if');
  for (let lane = 0; lane < 4; lane++)
    ifActive(s, 4 * pack + lane, () => {
      code.at('local.get', addresses);
      code.lane('i32x4.extract_lane', lane);
      code.at('local.set', at.address);
      const isOpen = openUnlessSame(at);
      code.at('local.get', at.address);
      code.at('local.get', s.frame.first);
      code.i32(4 * pack + lane);
      code.op('i32.add');
      pushTarget(at);
      code.at('call', functions.one(check));
      if (isOpen) code.end();
    });
  code.end();
}

/**
 * Opens an `if` for words whose cell does not show the same kind of access since the last barrier: atomics, or reads by several threads.
 * Returns whether it was opened; it is not if the access has several cells.
 */
function openUnlessSame(at: Emission): boolean {
  const { s, check, state, functions, address } = at;
  const { code } = s;
  const grain = functions.grain(check);
  const isComparable = check.what === 'atomic' || (check.what === 'load' && check.space === 'shared');
  if (!isComparable || !functions.races(check) || check.bytes !== 2 ** grain) return false;
  pushCellOffset(code, address, grain);
  pushShadow(at, 'cells');
  code.op('i32.add');
  code.access('i32.load', 4);
  code.i32(~cellBits.past);
  code.op('i32.and');
  code.at('global.get', state.globals.time);
  code.i32(check.what === 'atomic' ? cellBits.atomic : cellBits.many);
  code.op('i32.or');
  code.op('i32.ne');
  code.open('if');
  return true;
}

/** Pushes the distances of the addresses of a pack from the start of the target. */
function pushOffsets(at: Emission, addresses: number, pack: number): void {
  const { s, check } = at;
  const { code } = s;
  code.at('local.get', addresses);
  pushStart(at);
  code.op('i32x4.splat');
  code.op('i32x4.sub');
  if (check.space !== 'local') return;
  code.v128([0, 1, 2, 3].map((lane) => (4 * pack + lane) * s.plan.windows.local));
  code.op('i32x4.sub');
}

/** Checks that an address that is carried around a loop is near its target. */
function writeNear(at: Emission, a: Value): void {
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
