/**
 * Deferred values: the values of a lane group while its code is emitted. A uniform or affine value is one scalar local; a varying one has a
 * local for each vector of four lanes (two lanes of 64 bits). A pure value with one use in its own block is an expression, emitted at that
 * use one vector at a time; not in native code, which packs the vectors of a value that follow each other.
 */

import { bug } from '../../../base/bug.ts';
import { affine, type Block, elementOf, isVector, lanesOf, operandsOf, specOf, uniform, type Value, varying } from '../../../ir/index.ts';
import type { NumberType } from '../../../wasm/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { newScratch, withScratch } from '../../codegen/scratch.ts';
import { tuning } from '../../tuning.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import { consumersOf, isCondition } from '../analysis/uses.ts';
import { addStride, type LaneGroup, longOf, maskPart, numberOf, shapeOf, splat } from '../lanes/lane-group.ts';
import { type LeafLocals, pushLeafLane, pushLeafPart, pushLeafScalar } from '../lanes/leaf-values.ts';
import type { GroupValues } from '../lanes/values.ts';
import { shapeName, words } from '../lanes/vectors.ts';
import { partWriter } from '../rules/index.ts';
import { writeScalar } from '../rules/scalar.ts';
import { type Deferred, snapshotOf } from './value-snapshot.ts';

interface State {
  readonly plan: SimdPlan;
  readonly group: LaneGroup;
  readonly vectors: Map<Value, number[]>;
  readonly scalars: Map<Value, number[]>;
  readonly deferred: Map<Value, Deferred>;
  readonly deferredScalars: Map<Value, { write: () => void; depth: number }>;
  readonly remainingUses: Int32Array;
  readonly freeLocals: Record<NumberType | 'v128', number[]>;
  /** Of this block: f32 values that also have locals as f64. */
  readonly doubles: Map<Value, readonly number[]>;
  /** By value with one use in its block: the instruction that uses it; undefined where the block's terminator does. */
  readonly consumer: Map<Value, Value>;
  /** The block that is being emitted. */
  readonly current: { block: number };
}

/** What a view adds to a lane group. */
type Added = 'part' | 'element' | 'scalar' | 'lane' | 'isDeferred' | 'scratch' | 'mask';

/** The values of one function, with all lanes active. `base` is a lane group without the members that this function adds. */
export function groupValues(base: Omit<LaneGroup, Added>, starts: LeafLocals): GroupValues {
  const shared: Omit<State, 'group'> = {
    plan: base.plan,
    vectors: new Map(),
    scalars: new Map(),
    deferred: new Map(),
    deferredScalars: new Map(),
    remainingUses: base.plan.uses.slice(),
    freeLocals: { i32: [], i64: [], f32: [], f64: [], v128: [] },
    doubles: new Map(),
    consumer: consumersOf(base.plan),
    current: { block: 0 },
  };
  return viewOf(shared, { ...base, scratch: newScratch(base.code) }, starts, undefined);
}

/** A view of the values under an execution mask. */
function viewOf(
  shared: Omit<State, 'group'>,
  base: Omit<LaneGroup, Exclude<Added, 'scratch'>>,
  starts: LeafLocals,
  mask: LaneGroup['mask'],
): GroupValues {
  const group: LaneGroup = {
    ...base,
    mask,
    part: (value, part) => pushPart(state, starts, value, 0, part),
    element: (value, element, part) => pushPart(state, starts, value, element, part),
    scalar: (value) => pushScalar(state, starts, value),
    lane: (value, element, lane) => pushLane(state, starts, value, element, lane),
    isDeferred: (value) => shared.deferred.has(value),
  };
  const state: State = { ...shared, group };
  const { code } = base;
  const localOf = (value: Value, element: number, part: number): number => vectorsOf(state, value)[element * partsOf(state, value) + part]!;
  return {
    group,
    under: (other) => viewOf(shared, base, starts, other),
    beginBlock: (block) => beginBlock(state, block),
    snapshot({ body }) {
      const own = body.filter((value) => !crossesBlocks(state, value));
      return snapshotOf([state.deferred, state.deferredScalars, state.vectors, state.scalars], own);
    },
    define: (value) => define(state, value),
    set: (value, element, part) => code.at('local.set', localOf(value, element, part)),
    setScalar: (value, element) => code.at('local.set', scalarsOf(state, value)[element]!),
    put(value, element, part) {
      const local = localOf(value, element, part);
      blend(state, value, local, part);
      code.at('local.set', local);
    },
    get: (value, element, part) => code.at('local.get', localOf(value, element, part)),
    pushElement: (value, element) => pushScalar(state, starts, value, element),
    parts: (value) => partsOf(state, value),
    eachPart(value, act) {
      const parts = shapeOf(group, value) !== varying ? 1 : partsOf(state, value);
      const elements = lanesOf(base.kernel.insts[value]!.type);
      for (let element = 0; element < elements; element++) for (let part = 0; part < parts; part++) act(element, part);
    },
    deferLoad: (value, address, write) => deferLoad(state, value, address, write),
    flushLoads: () => flushLoads(state),
    doubles: (value) => doublesOf(state, value),
    finish: (operands) => finish(state, operands),
  };
}

function beginBlock(state: State, block: Block): void {
  for (const locals of state.doubles.values()) state.freeLocals.v128.push(...locals);
  state.doubles.clear();
  state.current.block = block.id;
  for (const value of [...block.params, ...block.body]) {
    state.remainingUses[value] = state.plan.uses[value]!;
    state.deferred.delete(value);
    state.deferredScalars.delete(value);
  }
}

const partsOf = ({ group, plan }: State, value: Value): number => plan.packs * (longOf(group, value) ? 2 : 1);

const crossesBlocks = ({ plan }: State, value: Value): boolean => plan.crosses[value] === 1 || plan.kernel.insts[value]!.op === 'arg';

// ── getting values onto the stack ──

function pushScalar(state: State, starts: LeafLocals, value: Value, element = 0): void {
  const { group } = state;
  if (isLeaf(group.kernel.insts[value]!)) return pushLeafScalar(group, starts, value);
  const deferred = state.deferredScalars.get(value);
  if (deferred) return deferred.write();
  group.code.at('local.get', scalarsOf(state, value)[element]!);
}

function pushPart(state: State, starts: LeafLocals, value: Value, element: number, part: number): void {
  const { group } = state;
  const { code } = group;
  const shape = shapeOf(group, value);
  if (isLeaf(group.kernel.insts[value]!)) return pushLeafPart(group, starts, value, part);
  if (shape === varying) {
    const deferred = state.deferred.get(value);
    if (deferred) return deferred.write(part);
    return code.at('local.get', vectorsOf(state, value)[element * partsOf(state, value) + part]!);
  }
  splat(group, value, () => pushScalar(state, starts, value, element));
  if (shape === affine) addStride(group, group.plan.shapes.stride[value]!, part);
}

function pushLane(state: State, starts: LeafLocals, value: Value, element: number, lane: number): void {
  const { group } = state;
  const { code } = group;
  const inst = group.kernel.insts[value]!;
  if (isLeaf(inst)) return pushLeafLane(group, starts, value, lane);
  const shape = shapeOf(group, value);
  if (shape !== varying) {
    pushScalar(state, starts, value, element);
    if (shape === uniform || lane === 0) return;
    code.i32(Math.imul(group.plan.shapes.stride[value]!, lane));
    return code.op('i32.add');
  }
  const number = numberOf(group, value);
  const each = longOf(group, value) ? 2 : 4;
  code.at('local.get', vectorsOf(state, value)[element * partsOf(state, value) + Math.floor(lane / each)]!);
  code.lane(`${shapeName[number]}.extract_lane`, lane % each);
  if (elementOf(inst.type) !== 'i1') return;
  code.i32(1);
  code.op('i32.and');
}

// ── locals ──

function freshLocal(state: State, value: Value, type: NumberType | 'v128'): number {
  return (crossesBlocks(state, value) ? undefined : state.freeLocals[type].pop()) ?? state.group.code.local(type);
}

function vectorsOf(state: State, value: Value): number[] {
  const known = state.vectors.get(value);
  if (known) return known;
  if (shapeOf(state.group, value) !== varying) bug(`value ${value} is no vector`);
  const count = partsOf(state, value) * lanesOf(state.plan.kernel.insts[value]!.type);
  const locals = Array.from({ length: count }, () => freshLocal(state, value, 'v128'));
  state.vectors.set(value, locals);
  return locals;
}

function doublesOf(state: State, value: Value): { readonly locals: readonly number[]; readonly isFresh: boolean } {
  const known = state.doubles.get(value);
  if (known) return { locals: known, isFresh: false };
  const locals = Array.from({ length: 2 * state.plan.packs }, () => state.freeLocals.v128.pop() ?? state.group.code.local('v128'));
  state.doubles.set(value, locals);
  return { locals, isFresh: true };
}

function scalarsOf(state: State, value: Value): number[] {
  const known = state.scalars.get(value);
  if (known) return known;
  if (shapeOf(state.group, value) === varying) bug(`value ${value} is no number`);
  const type = numberOf(state.group, value);
  const locals = Array.from({ length: lanesOf(state.plan.kernel.insts[value]!.type) }, () => freshLocal(state, value, type));
  state.scalars.set(value, locals);
  return locals;
}

/** Frees the locals of operands without further uses, also those that deferred operands hold. */
function finish(state: State, operands: readonly Value[]): void {
  for (const value of operands) {
    const inst = state.plan.kernel.insts[value]!;
    if (isLeaf(inst) || crossesBlocks(state, value)) continue;
    if (--state.remainingUses[value]! > 0) continue;
    const deferred = state.deferred.get(value);
    if (deferred) {
      state.deferred.delete(value);
      release(state, deferred);
    } else if (state.deferredScalars.delete(value)) finish(state, operandsOf(inst));
    else {
      state.freeLocals.v128.push(...(state.vectors.get(value) ?? []));
      state.freeLocals[numberOf(state.group, value)].push(...(state.scalars.get(value) ?? []));
      state.vectors.delete(value);
      state.scalars.delete(value);
    }
  }
}

/** Frees what a deferred expression holds, once it is emitted. */
function release(state: State, { operands, base }: Deferred): void {
  finish(state, operands);
  if (base !== undefined) state.freeLocals.i32.push(base);
}

// ── defining values ──

function define(state: State, value: Value): void {
  const { group, plan } = state;
  const inst = group.kernel.insts[value]!;
  const isLone = specOf(inst.op).effect === 'pure' && !crossesBlocks(state, value);
  if (isLeaf(inst)) return;
  if (isLone && plan.uses[value] === 0) return finish(state, operandsOf(inst));
  const mayWait = isLone && plan.uses[value] === 1 && !isVector(inst.type) && !group.host.target;
  const depth = depthOf(state, value);
  if (shapeOf(group, value) !== varying) {
    const write = (): void => writeScalar(group, value);
    if (mayWait && depth < tuning.maxDeferredDepth && readsScalarOnce(state, value))
      return void state.deferredScalars.set(value, { write, depth });
    write();
    for (let i = lanesOf(inst.type) - 1; i >= 0; i--) group.code.at('local.set', scalarsOf(state, value)[i]!);
  } else {
    const write = partWriter(group, value);
    if (write && mayWait && depth < tuning.maxDeferredDepth && readsVectorsOnce(state, value)) {
      const operands = operandsOf(inst);
      const held = vectorsHeldBy(state, operands);
      if (held <= weightOf(state, value)) {
        const reads = operands.some((operand) => state.deferred.get(operand)?.reads);
        return void state.deferred.set(value, { write: (part) => write(part, 0), depth, held, operands, reads });
      }
    }
    if (write) writeParts(state, value, write);
    else writeLanes(state, value);
  }
  finish(state, operandsOf(inst));
}

/** Vectors per pack that only these operands keep alive. */
function vectorsHeldBy(state: State, operands: readonly Value[]): number {
  const { plan, group } = state;
  let held = 0;
  for (const operand of new Set(operands)) {
    const deferred = state.deferred.get(operand);
    if (deferred) held += deferred.held;
    else if (isLeaf(plan.kernel.insts[operand]!) || plan.crosses[operand] === 1 || state.remainingUses[operand]! > 1) continue;
    else held += shapeOf(group, operand) === varying ? weightOf(state, operand) : tuning.scalarWeight;
  }
  return held;
}

/** Vectors per pack that a value takes. */
const weightOf = ({ group, plan }: State, value: Value): number => (longOf(group, value) ? 2 : 1) * lanesOf(plan.kernel.insts[value]!.type);

function deferLoad(state: State, value: Value, address: () => void, write: (base: number, part: number) => void): boolean {
  const { plan, group } = state;
  const inst = plan.kernel.insts[value]!;
  if (group.host.target || crossesBlocks(state, value) || plan.uses[value] !== 1 || isVector(inst.type)) return false;
  if (!readsVectorsOnce(state, value)) return false;
  const base = state.freeLocals.i32.pop() ?? group.code.local('i32');
  address();
  group.code.at('local.set', base);
  state.deferred.set(value, { write: (part) => write(base, part), depth: 1, held: tuning.scalarWeight, operands: [], reads: true, base });
  return true;
}

/** The condition of a branch stays deferred: it may be emitted in several copies, after blocks behind it. */
function flushLoads(state: State): void {
  for (const [value, deferred] of [...state.deferred]) {
    if (!deferred.reads || state.plan.home[value] !== state.current.block || !state.deferred.delete(value)) continue;
    writeParts(state, value, deferred.write);
    release(state, deferred);
  }
}

function depthOf(state: State, value: Value): number {
  let depth = 0;
  for (const operand of operandsOf(state.plan.kernel.insts[value]!))
    depth = Math.max(depth, state.deferred.get(operand)?.depth ?? 0, state.deferredScalars.get(operand)?.depth ?? 0);
  return depth + 1;
}

/** Whether the user of a value takes it as a scalar, once. */
function readsScalarOnce(state: State, value: Value): boolean {
  const by = state.consumer.get(value);
  return by === undefined || shapeOf(state.group, by) !== varying
    ? specOf(state.plan.kernel.insts[by ?? value]!.op).effect === 'pure'
    : false;
}

/** Whether the user of a value reads each of its vectors once, for the same vector of its own result. */
function readsVectorsOnce({ group, plan, consumer }: State, value: Value): boolean {
  const by = consumer.get(value);
  if (by === undefined) return isCondition(plan, value);
  if (shapeOf(group, by) !== varying) return false;
  const inst = plan.kernel.insts[by]!;
  const isWide = longOf(group, by);
  if (specOf(inst.op).effect !== 'pure' || isVector(inst.type) || inst.op === 'extract') return false;
  const isUniformVector = (operand: Value): boolean => longOf(group, operand) === isWide;
  const uniformF64 = inst.op === 'select' ? [value] : operandsOf(inst);
  return uniformF64.every(isUniformVector) && partWriter(group, by) !== undefined;
}

function writeParts(state: State, value: Value, write: (part: number, element: number) => void): void {
  const locals = vectorsOf(state, value);
  const count = partsOf(state, value);
  for (const [i, local] of locals.entries()) {
    write(i % count, Math.floor(i / count));
    blend(state, value, local, i % count);
    state.group.code.at('local.set', local);
  }
}

/** Keeps the old value in inactive lanes of a value that escapes its loop. */
function blend({ group, plan }: State, value: Value, local: number, part: number): void {
  if (!group.mask || plan.escapes[value] !== 1) return;
  group.code.at('local.get', local);
  maskPart(group, part, longOf(group, value));
  group.code.op('v128.bitselect');
}

/** Per lane, by the rule of the scalar compiler. */
function writeLanes(state: State, value: Value): void {
  const { group } = state;
  const { code } = group;
  const type = numberOf(group, value);
  const each = longOf(group, value) ? 2 : 4;
  const isFlag = group.kernel.insts[value]!.type === 'i1';
  withScratch(group, 'v128', 1, ([sum]) => {
    for (let part = 0; part < partsOf(state, value); part++) {
      code.v128(words(0));
      code.at('local.set', sum);
      for (let lane = 0; lane < each; lane++) {
        code.at('local.get', sum);
        if (isFlag) code.i32(0);
        writeScalar(group, value, part * each + lane);
        if (isFlag) code.op('i32.sub');
        code.lane(`${shapeName[type]}.replace_lane`, lane);
        code.at('local.set', sum);
      }
      const local = vectorsOf(state, value)[part]!;
      code.at('local.get', sum);
      blend(state, value, local, part);
      code.at('local.set', local);
    }
  });
}
