/**
 * Values of a region in the scalar compiler: locals and deferred expressions. A pure value with a single use in its own block is deferred and
 * emitted at that use; any other value has a local (a vector one per element), which is freed after the last use unless other blocks use it.
 */
import { bug } from '../../base/bug.ts';
import { bitsOf, elementOf, isVector, type Kernel, lanesOf, specOf, type Type, type Value } from '../../ir/index.ts';
import type { Code, NumberType } from '../../wasm/index.ts';
import { isLeaf, type Plan } from './plan.ts';

/** The WebAssembly type that holds a scalar or pointer: narrow integers zero-extended, f16 and bf16 as their bits. */
export const heldAs = (type: Type): NumberType => (type === 'f32' || type === 'f64' ? type : integerHeldAs(type));

/** The same of an integer, a pointer or the bits of a float. */
export const integerHeldAs = (type: Type): 'i32' | 'i64' => (bitsOf(type) === 64 ? 'i64' : 'i32');

/** Pushes a constant, given by its bits. */
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

/** Deeper expressions are cut by a local, so that emitting them does not exhaust the call stack. */
const maxExpressionDepth = 48;

export interface Values {
  /** Pushes a scalar. */
  push(value: Value): void;
  /** Pushes one element of a vector. */
  pushLane(value: Value, lane: number): void;
  /** Defines a value of a block's body; `write` pushes its elements, the first one first. */
  define(value: Value, write: () => void): void;
  /** Pops the elements of a live-in value or a block parameter into its locals. */
  set(value: Value): void;
}

interface State {
  readonly plan: Plan;
  readonly kernel: Kernel;
  readonly code: Code;
  /** Locals of each value, by element. */
  readonly locals: Map<Value, number[]>;
  /** By value: the uses in its own block that are yet to come. */
  readonly usesLeft: Int32Array;
  readonly freeLocals: Record<NumberType, number[]>;
  /** Expressions that are not emitted yet, with their depth. */
  readonly deferred: Map<Value, { write: () => void; depth: number }>;
}

/** The values of one region's function; `pushLeaf` pushes a leaf value. */
export function regionValues(plan: Plan, code: Code, pushLeaf: (value: Value) => void): Values {
  const { kernel } = plan;
  const state: State = {
    plan,
    kernel,
    code,
    locals: new Map(),
    usesLeft: plan.uses.slice(),
    freeLocals: { i32: [], i64: [], f32: [], f64: [] },
    deferred: new Map(),
  };
  const push = (value: Value): void => {
    if (isLeaf(kernel.insts[value]!)) return pushLeaf(value);
    const expression = state.deferred.get(value);
    if (expression) return expression.write();
    pushLocal(state, value, 0);
  };
  return {
    push,
    pushLane: (value, lane) => pushLocal(state, value, lane),
    define: (value, write) => define(state, value, write),
    set: (value) => popLocals(state, value),
  };
}

/** Whether a value is used outside of its own block's body. */
function isCrossBlock({ plan, kernel }: State, value: Value): boolean {
  return plan.crosses[value] === 1 || kernel.insts[value]!.op === 'arg';
}

function define(state: State, value: Value, write: () => void): void {
  const inst = state.kernel.insts[value]!;
  const isLocalAndPure = specOf(inst.op).effect === 'pure' && !isCrossBlock(state, value);
  if (isLocalAndPure && state.plan.uses[value] === 0) return;
  const depth = depthOf(state, value);
  if (isLocalAndPure && state.plan.uses[value] === 1 && !isVector(inst.type) && depth < maxExpressionDepth) {
    state.deferred.set(value, { write, depth });
    return;
  }
  write();
  if (inst.type !== 'void') popLocals(state, value);
}

function depthOf({ kernel, deferred }: State, value: Value): number {
  const inst = kernel.insts[value] as unknown as Record<string, Value>;
  let depth = 0;
  for (const name of ['cond', 'a', 'b', 'c', 'd']) {
    const operand = inst[name];
    if (typeof operand === 'number') depth = Math.max(depth, deferred.get(operand)?.depth ?? 0);
  }
  return depth + 1;
}

function popLocals(state: State, value: Value): void {
  const locals = localsOf(state, value);
  for (let lane = locals.length - 1; lane >= 0; lane--) state.code.at('local.set', locals[lane]!);
}

function localsOf(state: State, value: Value): number[] {
  const known = state.locals.get(value);
  if (known) return known;
  const { type } = state.kernel.insts[value]!;
  const held = heldAs(elementOf(type));
  const fresh = (): number => (isCrossBlock(state, value) ? undefined : state.freeLocals[held].pop()) ?? state.code.local(held);
  const locals = Array.from({ length: lanesOf(type) }, fresh);
  state.locals.set(value, locals);
  return locals;
}

function pushLocal(state: State, value: Value, lane: number): void {
  const crosses = isCrossBlock(state, value);
  // A value of another block may be used before that block is emitted: a loop's end follows its header.
  const locals = crosses ? localsOf(state, value) : state.locals.get(value);
  const local = locals?.[lane];
  if (local === undefined) return bug(`value ${value} has no local for element ${lane}`);
  state.code.at('local.get', local);
  if (crosses || locals!.length > 1 || --state.usesLeft[value]! > 0) return;
  state.freeLocals[heldAs(state.kernel.insts[value]!.type)].push(local);
  state.locals.delete(value);
}
