/**
 * Values of a region as locals and expressions. A pure value that its own block uses once is an expression, written where it
 * is used; other values have a local (a vector one per lane), given back after the last use unless other blocks see it.
 */
import { bug } from '../../base/bug.ts';
import { bitsOf, elementOf, isVector, type Kernel, lanesOf, specOf, type Type, type Value } from '../../ir/index.ts';
import type { Code, NumberType, ValueType } from '../../wasm/index.ts';
import { isLeaf, type Plan } from './plan.ts';

/** How a scalar or pointer is held: narrow integers zero-extended, halves and bfloats as their bits. */
export function heldAs(type: Type): NumberType {
  if (type === 'f32' || type === 'f64') return type;
  return bitsOf(type) === 64 ? 'i64' : 'i32';
}

/** Puts a constant on the stack, as a number of at most as many bits. */
export function writeConstant(code: Code, type: NumberType, bits: bigint): void {
  switch (type) {
    case 'i32':
      return code.i32(Number(BigInt.asIntN(32, bits)));
    case 'i64':
      return code.i64(bits);
    case 'f32':
      return code.f32(Number(bits));
    case 'f64':
      return code.f64(bits);
  }
}

/** Expressions deeper than this are cut by a local, so that writing them does not exhaust the stack. */
const deepest = 48;

export interface Values {
  /** Puts a scalar on the stack. */
  push(value: Value): void;
  /** Puts one lane of a vector on the stack. */
  pushLane(value: Value, lane: number): void;
  /** Defines a value of a block's body; `write` puts its lanes on the stack, the first one first. */
  define(value: Value, write: () => void): void;
  /** Sets a value of other blocks or a block parameter from its lanes on the stack. */
  set(value: Value): void;
  /** A local for the inside of one rule. */
  scratch(type: ValueType, which?: number): number;
}

interface State {
  readonly plan: Plan;
  readonly kernel: Kernel;
  readonly code: Code;
  /** Locals of each value, by lane. */
  readonly held: Map<Value, number[]>;
  readonly left: Int32Array;
  readonly spare: Record<NumberType, number[]>;
  /** Expressions not written yet, with their depth. */
  readonly waiting: Map<Value, { write: () => void; depth: number }>;
  readonly scratch: Map<string, number>;
}

/** The values of one region's function. */
export function regionValues(plan: Plan, code: Code, writeFree: (value: Value) => void): Values {
  const { kernel } = plan;
  const state: State = {
    plan,
    kernel,
    code,
    held: new Map(),
    left: plan.uses.slice(),
    spare: { i32: [], i64: [], f32: [], f64: [] },
    waiting: new Map(),
    scratch: new Map(),
  };
  const push = (value: Value): void => {
    if (isLeaf(kernel.insts[value]!)) return writeFree(value);
    const waiting = state.waiting.get(value);
    if (waiting) return waiting.write();
    pushHeld(state, value, 0);
  };
  return {
    push,
    pushLane: (value, lane) => pushHeld(state, value, lane),
    define: (value, write) => define(state, value, write),
    set: (value) => setHeld(state, value),
    scratch(type, which = 0) {
      const known = state.scratch.get(`${type} ${which}`) ?? code.local(type);
      state.scratch.set(`${type} ${which}`, known);
      return known;
    },
  };
}

/** Whether a value is seen outside of its own block's body. */
function isShared({ plan, kernel }: State, value: Value): boolean {
  return plan.crosses[value] === 1 || kernel.insts[value]!.op === 'arg';
}

function define(state: State, value: Value, write: () => void): void {
  const inst = state.kernel.insts[value]!;
  const isPure = specOf(inst.op).effect === 'pure';
  const shared = isShared(state, value);
  if (isPure && !shared && state.plan.uses[value] === 0) return;
  const depth = depthOf(state, value);
  if (isPure && !shared && state.plan.uses[value] === 1 && !isVector(inst.type) && depth < deepest) {
    state.waiting.set(value, { write, depth });
    return;
  }
  write();
  if (inst.type !== 'void') setHeld(state, value);
}

function depthOf({ kernel, waiting }: State, value: Value): number {
  const inst = kernel.insts[value] as unknown as Record<string, Value>;
  let depth = 0;
  for (const name of ['cond', 'a', 'b', 'c', 'd']) {
    const operand = inst[name];
    if (typeof operand === 'number') depth = Math.max(depth, waiting.get(operand)?.depth ?? 0);
  }
  return depth + 1;
}

function setHeld(state: State, value: Value): void {
  const locals = localsOf(state, value);
  for (let lane = locals.length - 1; lane >= 0; lane--) state.code.at('local.set', locals[lane]!);
}

function localsOf(state: State, value: Value): number[] {
  const known = state.held.get(value);
  if (known) return known;
  const { type } = state.kernel.insts[value]!;
  const held = heldAs(elementOf(type));
  const fresh = (): number => (isShared(state, value) ? undefined : state.spare[held].pop()) ?? state.code.local(held);
  const locals = Array.from({ length: lanesOf(type) }, fresh);
  state.held.set(value, locals);
  return locals;
}

function pushHeld(state: State, value: Value, lane: number): void {
  const shared = isShared(state, value);
  // A value of another block may be used before that block is written: a loop's end comes after its start.
  const locals = shared ? localsOf(state, value) : state.held.get(value);
  const local = locals?.[lane];
  if (local === undefined) return bug(`value ${value} has no lane ${lane}`);
  state.code.at('local.get', local);
  if (shared || locals!.length > 1 || --state.left[value]! > 0) return;
  state.spare[heldAs(state.kernel.insts[value]!.type)].push(local);
  state.held.delete(value);
}
