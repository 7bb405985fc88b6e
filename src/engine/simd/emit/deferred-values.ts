/**
 * Values of a strip in locals: one number where its lanes share it, else vectors of four lanes, of two where they have 64 bits. A pure value that
 * its own block uses once is an expression, written for one vector at a time where it is used.
 */

import { bug } from '../../../base/bug.ts';
import { elementOf, isVector, lanesOf, operandsOf, specOf, type Value } from '../../../ir/index.ts';
import type { NumberType } from '../../../wasm/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { newScratch, withScratch } from '../../codegen/scratch.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import { consumersOf, isCondition } from '../analysis/uses.ts';
import { addStride, type LaneGroup, longOf, maskPart, numberOf, shapeOf, splat } from '../lanes/lane-group.ts';
import { type LeafLocals, pushLeafLane, pushLeafPart, pushLeafScalar } from '../lanes/leaf-values.ts';
import type { GroupValues } from '../lanes/values.ts';
import { shapeName, words } from '../lanes/vectors.ts';
import { partWriter } from '../rules/index.ts';
import { writeScalar } from '../rules/scalar.ts';
import { type Deferred, snapshotOf } from './value-snapshot.ts';

/**
 * Expressions deeper than this are cut by a local: a processor finds what to do while it waits for the steps of one vector in those of the next,
 * and does not look far ahead.
 */
const deepest = 10;

interface State {
  readonly plan: SimdPlan;
  readonly strip: LaneGroup;
  readonly vectors: Map<Value, number[]>;
  readonly scalars: Map<Value, number[]>;
  readonly waiting: Map<Value, Deferred>;
  readonly deferredScalars: Map<Value, { write: () => void; depth: number }>;
  readonly left: Int32Array;
  readonly spare: Record<NumberType | 'v128', number[]>;
  /** Of this block: singles that are there as doubles too. */
  readonly doubles: Map<Value, readonly number[]>;
  /** By value used once in its block: who uses it; nothing where the end of the block does. */
  readonly consumer: Map<Value, Value>;
  /** The block at hand. */
  block: number;
}

/** The values of one function. `base` is a strip but for what is here. */
export function groupValues(
  base: Omit<LaneGroup, 'part' | 'element' | 'scalar' | 'lane' | 'isDeferred' | 'scratch'>,
  starts: LeafLocals,
): GroupValues {
  const strip = base as LaneGroup;
  const state: State = {
    plan: base.plan,
    strip,
    vectors: new Map(),
    scalars: new Map(),
    waiting: new Map(),
    deferredScalars: new Map(),
    left: base.plan.uses.slice(),
    spare: { i32: [], i64: [], f32: [], f64: [], v128: [] },
    doubles: new Map(),
    consumer: consumersOf(base.plan),
    block: 0,
  };
  Object.assign(strip, {
    part: (value: Value, part: number) => pushPart(state, starts, value, 0, part),
    element: (value: Value, element: number, part: number) => pushPart(state, starts, value, element, part),
    scalar: (value: Value) => pushScalar(state, starts, value),
    lane: (value: Value, element: number, lane: number) => pushLane(state, starts, value, element, lane),
    isDeferred: (value: Value) => state.waiting.has(value),
    scratch: newScratch(base.code),
  });
  return {
    strip,
    begin(block) {
      for (const locals of state.doubles.values()) state.spare.v128.push(...locals);
      state.doubles.clear();
      state.block = block.id;
      for (const value of [...block.params, ...block.body]) {
        state.left[value] = state.plan.uses[value]!;
        state.waiting.delete(value);
        state.deferredScalars.delete(value);
      }
    },
    hold({ body }) {
      const own = body.filter((value) => !isShared(state, value));
      return snapshotOf([state.waiting, state.deferredScalars, state.vectors, state.scalars], own);
    },
    define: (value) => define(state, value),
    set: (value, element, part) => base.code.at('local.set', vectorsOf(state, value)[element * partsOf(state, value) + part]!),
    setScalar: (value, element) => base.code.at('local.set', scalarsOf(state, value)[element]!),
    put(value, element, part) {
      const local = vectorsOf(state, value)[element * partsOf(state, value) + part]!;
      blend(state, value, local, part);
      base.code.at('local.set', local);
    },
    get: (value, element, part) => base.code.at('local.get', vectorsOf(state, value)[element * partsOf(state, value) + part]!),
    pushElement: (value, element) => pushScalar(state, starts, value, element),
    parts: (value) => partsOf(state, value),
    eachPart(value, act) {
      const parts = shapeOf(strip, value) < 2 ? 1 : partsOf(state, value);
      const elements = lanesOf(base.kernel.insts[value]!.type);
      for (let element = 0; element < elements; element++) for (let part = 0; part < parts; part++) act(element, part);
    },
    deferLoad: (value, address, write) => deferLoad(state, value, address, write),
    flushLoads: () => flushLoads(state),
    doubles: (value) => doublesOf(state, value),
    finish: (operands) => finish(state, operands),
  };
}

const partsOf = ({ strip, plan }: State, value: Value): number => plan.packs * (longOf(strip, value) ? 2 : 1);

const isShared = ({ plan }: State, value: Value): boolean => plan.crosses[value] === 1 || plan.kernel.insts[value]!.op === 'arg';

// ── getting values onto the stack ──

function pushScalar(state: State, starts: LeafLocals, value: Value, element = 0): void {
  const { strip } = state;
  if (isLeaf(strip.kernel.insts[value]!)) return pushLeafScalar(strip, starts, value);
  const waiting = state.deferredScalars.get(value);
  if (waiting) return waiting.write();
  strip.code.at('local.get', scalarsOf(state, value)[element]!);
}

function pushPart(state: State, starts: LeafLocals, value: Value, element: number, part: number): void {
  const { strip } = state;
  const { code } = strip;
  const shape = shapeOf(strip, value);
  if (isLeaf(strip.kernel.insts[value]!)) return pushLeafPart(strip, starts, value, part);
  if (shape === 2) {
    const waiting = state.waiting.get(value);
    if (waiting) return waiting.write(part);
    return code.at('local.get', vectorsOf(state, value)[element * partsOf(state, value) + part]!);
  }
  splat(strip, value, () => pushScalar(state, starts, value, element));
  if (shape === 1) addStride(strip, strip.plan.shapes.stride[value]!, part);
}

function pushLane(state: State, starts: LeafLocals, value: Value, element: number, lane: number): void {
  const { strip } = state;
  const { code } = strip;
  const inst = strip.kernel.insts[value]!;
  if (isLeaf(inst)) return pushLeafLane(strip, starts, value, lane);
  const shape = shapeOf(strip, value);
  if (shape < 2) {
    pushScalar(state, starts, value, element);
    if (shape === 0 || lane === 0) return;
    code.i32(Math.imul(strip.plan.shapes.stride[value]!, lane));
    return code.op('i32.add');
  }
  const number = numberOf(strip, value);
  const each = longOf(strip, value) ? 2 : 4;
  code.at('local.get', vectorsOf(state, value)[element * partsOf(state, value) + Math.floor(lane / each)]!);
  code.lane(`${shapeName[number]}.extract_lane`, lane % each);
  if (elementOf(inst.type) !== 'i1') return;
  code.i32(1);
  code.op('i32.and');
}

// ── locals ──

function freshLocal(state: State, value: Value, type: NumberType | 'v128'): number {
  return (isShared(state, value) ? undefined : state.spare[type].pop()) ?? state.strip.code.local(type);
}

function vectorsOf(state: State, value: Value): number[] {
  const known = state.vectors.get(value);
  if (known) return known;
  if (shapeOf(state.strip, value) !== 2) bug(`value ${value} is no vector`);
  const count = partsOf(state, value) * lanesOf(state.plan.kernel.insts[value]!.type);
  const locals = Array.from({ length: count }, () => freshLocal(state, value, 'v128'));
  state.vectors.set(value, locals);
  return locals;
}

function doublesOf(state: State, value: Value): { readonly locals: readonly number[]; readonly isFresh: boolean } {
  const known = state.doubles.get(value);
  if (known) return { locals: known, isFresh: false };
  const locals = Array.from({ length: 2 * state.plan.packs }, () => state.spare.v128.pop() ?? state.strip.code.local('v128'));
  state.doubles.set(value, locals);
  return { locals, isFresh: true };
}

function scalarsOf(state: State, value: Value): number[] {
  const known = state.scalars.get(value);
  if (known) return known;
  if (shapeOf(state.strip, value) === 2) bug(`value ${value} is no number`);
  const type = numberOf(state.strip, value);
  const locals = Array.from({ length: lanesOf(state.plan.kernel.insts[value]!.type) }, () => freshLocal(state, value, type));
  state.scalars.set(value, locals);
  return locals;
}

/** Gives back the locals of operands that nothing uses any more, through expressions that stood in the places of some. */
function finish(state: State, operands: readonly Value[]): void {
  for (const value of operands) {
    const inst = state.plan.kernel.insts[value]!;
    if (isLeaf(inst) || isShared(state, value)) continue;
    if (--state.left[value]! > 0) continue;
    const waiting = state.waiting.get(value);
    if (waiting) {
      state.waiting.delete(value);
      release(state, waiting);
    } else if (state.deferredScalars.delete(value)) finish(state, operandsOf(inst));
    else {
      state.spare.v128.push(...(state.vectors.get(value) ?? []));
      state.spare[numberOf(state.strip, value)].push(...(state.scalars.get(value) ?? []));
      state.vectors.delete(value);
      state.scalars.delete(value);
    }
  }
}

/** What an expression that has been written held. */
function release(state: State, { operands, base }: Deferred): void {
  finish(state, operands);
  if (base !== undefined) state.spare.i32.push(base);
}

// ── defining values ──

function define(state: State, value: Value): void {
  const { strip, plan } = state;
  const inst = strip.kernel.insts[value]!;
  const isLone = specOf(inst.op).effect === 'pure' && !isShared(state, value);
  if (isLeaf(inst)) return;
  if (isLone && plan.uses[value] === 0) return finish(state, operandsOf(inst));
  const mayWait = isLone && plan.uses[value] === 1 && !isVector(inst.type);
  const depth = depthOf(state, value);
  if (shapeOf(strip, value) < 2) {
    const write = (): void => writeScalar(strip, value);
    if (mayWait && depth < deepest && takesNumber(state, value)) return void state.deferredScalars.set(value, { write, depth });
    write();
    for (let i = lanesOf(inst.type) - 1; i >= 0; i--) strip.code.at('local.set', scalarsOf(state, value)[i]!);
  } else {
    const write = partWriter(strip, value);
    if (write && mayWait && depth < deepest && streams(state, value)) {
      const operands = operandsOf(inst);
      const held = heldBy(state, operands);
      if (held <= weightOf(state, value)) {
        const reads = operands.some((operand) => state.waiting.get(operand)?.reads);
        return void state.waiting.set(value, { write: (part) => write(part, 0), depth, held, operands, reads });
      }
    }
    if (write) writeParts(state, value, write);
    else writeLanes(state, value);
  }
  finish(state, operandsOf(inst));
}

/** Of a local that all packs share, beside one that each has. */
const shareOfScalar = 0.2;

/** Vectors of each pack that nothing but the operands' user keeps. */
function heldBy(state: State, operands: readonly Value[]): number {
  const { plan, strip } = state;
  let held = 0;
  for (const operand of new Set(operands)) {
    const waiting = state.waiting.get(operand);
    if (waiting) held += waiting.held;
    else if (isLeaf(plan.kernel.insts[operand]!) || plan.crosses[operand] === 1 || state.left[operand]! > 1) continue;
    else held += shapeOf(strip, operand) === 2 ? weightOf(state, operand) : shareOfScalar;
  }
  return held;
}

/** Vectors of a pack that a value takes. */
const weightOf = ({ strip, plan }: State, value: Value): number => (longOf(strip, value) ? 2 : 1) * lanesOf(plan.kernel.insts[value]!.type);

function deferLoad(state: State, value: Value, address: () => void, write: (base: number, part: number) => void): boolean {
  const { plan, strip } = state;
  const inst = plan.kernel.insts[value]!;
  if (isShared(state, value) || plan.uses[value] !== 1 || isVector(inst.type) || !streams(state, value)) return false;
  const base = state.spare.i32.pop() ?? strip.code.local('i32');
  address();
  strip.code.at('local.set', base);
  state.waiting.set(value, { write: (part) => write(base, part), depth: 1, held: shareOfScalar, operands: [], reads: true, base });
  return true;
}

/** What a block branches on waits for code of its own, which may be written after that of blocks behind it. */
function flushLoads(state: State): void {
  for (const [value, waiting] of [...state.waiting]) {
    if (!waiting.reads || state.plan.home[value] !== state.block || !state.waiting.delete(value)) continue;
    writeParts(state, value, waiting.write);
    release(state, waiting);
  }
}

function depthOf(state: State, value: Value): number {
  let depth = 0;
  for (const operand of operandsOf(state.plan.kernel.insts[value]!))
    depth = Math.max(depth, state.waiting.get(operand)?.depth ?? 0, state.deferredScalars.get(operand)?.depth ?? 0);
  return depth + 1;
}

/** Whether the one who uses a value takes it as a number, once. */
function takesNumber(state: State, value: Value): boolean {
  const by = state.consumer.get(value);
  return by === undefined || shapeOf(state.strip, by) < 2 ? specOf(state.plan.kernel.insts[by ?? value]!.op).effect === 'pure' : false;
}

/** Whether the one who uses a value takes each of its vectors once, for the same vector of its own. */
function streams({ strip, plan, consumer }: State, value: Value): boolean {
  const by = consumer.get(value);
  if (by === undefined) return isCondition(plan, value);
  if (shapeOf(strip, by) !== 2) return false;
  const inst = plan.kernel.insts[by]!;
  const isWide = longOf(strip, by);
  if (specOf(inst.op).effect !== 'pure' || isVector(inst.type) || inst.op === 'extract') return false;
  const isAlike = (operand: Value): boolean => longOf(strip, operand) === isWide;
  const alike = inst.op === 'select' ? [value] : operandsOf(inst);
  return alike.every(isAlike) && partWriter(strip, by) !== undefined;
}

function writeParts(state: State, value: Value, write: (part: number, element: number) => void): void {
  const locals = vectorsOf(state, value);
  const count = partsOf(state, value);
  for (const [i, local] of locals.entries()) {
    write(i % count, Math.floor(i / count));
    blend(state, value, local, i % count);
    state.strip.code.at('local.set', local);
  }
}

/** Lanes that left a loop keep what they had of a value that is used behind it. */
function blend({ strip, plan }: State, value: Value, local: number, part: number): void {
  if (!strip.mask || plan.escapes[value] !== 1) return;
  strip.code.at('local.get', local);
  maskPart(strip, part, longOf(strip, value));
  strip.code.op('v128.bitselect');
}

/** One lane at a time, by the rule of the one-lane path. */
function writeLanes(state: State, value: Value): void {
  const { strip } = state;
  const { code } = strip;
  const type = numberOf(strip, value);
  const each = longOf(strip, value) ? 2 : 4;
  const isFlag = strip.kernel.insts[value]!.type === 'i1';
  withScratch(strip, 'v128', 1, ([sum]) => {
    for (let part = 0; part < partsOf(state, value); part++) {
      code.v128(words(0));
      code.at('local.set', sum);
      for (let lane = 0; lane < each; lane++) {
        code.at('local.get', sum);
        if (isFlag) code.i32(0);
        writeScalar(strip, value, part * each + lane);
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
