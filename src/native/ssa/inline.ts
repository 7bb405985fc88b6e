/**
 * Bodies of functions in the place of calls, from the leaves of the call graph up: vectors are packed inside a function only, and a call keeps no value
 * in a register.
 */
import type { WasmModuleRead } from '../../wasm/index.ts';
import { simplify } from './simplify.ts';
import { type Block, type End, edgesOf, type Inst, type SsaFunction, type Value } from './types.ts';

/** Instructions of a function, once it is simplified, that takes the place of any call of it. */
const maxSmall = 60;
/** The same of a function with vectors, whose callers are packed. */
const maxWithVectors = 2000;
/** Instructions of a function that is called in one place, before it is simplified. */
const maxOnce = 6000;
/** Instructions that all calls in a function may add to it. */
const maxAdded = 30_000;

/**
 * Simplifies the functions of a module by number, with calls inlined where that pays. Functions that call each other in a circle keep those calls;
 * functions that no exported one calls any more are removed.
 */
export function inlineCalls(functions: Map<number, SsaFunction>, module: WasmModuleRead): void {
  const calls = new Map<number, number>();
  for (const fn of functions.values()) for (const callee of calleesOf(fn)) calls.set(callee, (calls.get(callee) ?? 0) + 1);
  const exported = new Set(module.exports.filter(({ kind }) => kind === 'func').map(({ index }) => index));
  const sizes = new Map<number, number>();
  const done = new Set<number>();
  /** Functions that are simplified where they are inlined. */
  const plain = new Set<number>();
  const isOnce = (callee: number): boolean => calls.get(callee) === 1 && !exported.has(callee);
  const isInlined = (callee: number): boolean => {
    const size = sizes.get(callee);
    if (size === undefined) return false;
    const { params, results } = module.functions[callee]!;
    const hasVectors = [...params, ...results].includes('v128');
    return size <= Math.max(maxSmall, hasVectors ? maxWithVectors : 0, isOnce(callee) ? maxOnce : 0);
  };
  for (const index of calleesFirst(functions)) {
    const fn = functions.get(index)!;
    inlineInto(fn, (callee) => (isInlined(callee) ? { fn: functions.get(callee)!, size: sizes.get(callee)! } : undefined));
    if (isOnce(index) && sizeOf(fn) <= maxOnce) plain.add(index);
    else simplify(fn);
    done.add(index);
    // What calls a function of which it is a part stays a function.
    if (calleesOf(fn).every((callee) => callee !== index && (done.has(callee) || !functions.has(callee)))) sizes.set(index, sizeOf(fn));
  }
  removeUncalled(functions, exported);
  for (const index of plain) if (functions.has(index)) simplify(functions.get(index)!);
}

/** Removes the functions that no exported one calls, at whatever distance. */
function removeUncalled(functions: Map<number, SsaFunction>, exported: ReadonlySet<number>): void {
  const called = new Set<number>();
  const left = [...exported];
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    const fn = functions.get(index);
    if (!fn || called.has(index)) continue;
    called.add(index);
    left.push(...new Set(calleesOf(fn)));
  }
  for (const index of [...functions.keys()]) if (!called.has(index)) functions.delete(index);
}

const sizeOf = ({ blocks }: SsaFunction): number => blocks.reduce((sum, { insts }) => sum + insts.length + 1, 0);

const calleesOf = ({ blocks }: SsaFunction): number[] =>
  blocks.flatMap(({ insts }) => insts.filter(({ op }) => op === 'call').map(({ index }) => index!));

/** Functions in an order in which each follows those that it calls, other than in a circle. */
function calleesFirst(functions: ReadonlyMap<number, SsaFunction>): number[] {
  const order: number[] = [];
  const seen = new Set<number>();
  const visit = (index: number): void => {
    if (seen.has(index) || !functions.has(index)) return;
    seen.add(index);
    for (const callee of new Set(calleesOf(functions.get(index)!))) visit(callee);
    order.push(index);
  };
  for (const index of functions.keys()) visit(index);
  return order;
}

interface Callee {
  readonly fn: SsaFunction;
  /** Its instructions. */
  readonly size: number;
}

/** Puts bodies into the place of calls outside of rare blocks. */
function inlineInto(fn: SsaFunction, calleeOf: (index: number) => Callee | undefined): void {
  let left = maxAdded;
  const count = fn.blocks.length;
  for (let i = 0; i < count; i++) {
    const block = fn.blocks[i]!;
    if (block.isRare || !block.insts.some(({ op }) => op === 'call')) continue;
    const { insts, end } = block;
    block.insts = [];
    let current = block;
    for (const inst of insts) {
      const callee = inst.op === 'call' ? calleeOf(inst.index!) : undefined;
      if (!callee || callee.size > left || callee.fn === fn) {
        current.insts.push(inst);
        continue;
      }
      left -= callee.size;
      current = inlineCall(fn, current, inst, callee.fn);
    }
    current.end = end;
  }
}

/** Ends a block with a jump to a copy of a function's body, and returns the block behind that copy, whose parameter is the result. */
function inlineCall(fn: SsaFunction, from: Block, call: Inst, callee: SsaFunction): Block {
  const values = new Map<Value, Value>();
  callee.blocks[0]!.params.forEach((param, i) => void values.set(param, call.args[i]!));
  const copyOf = (value: Value): Value => {
    const known = values.get(value);
    if (known !== undefined) return known;
    const copy = fn.types.push(callee.types[value]!) - 1;
    values.set(value, copy);
    return copy;
  };
  const first = fn.blocks.length;
  const behind = first + callee.blocks.length;
  for (const [i, { params, insts, end, isRare }] of callee.blocks.entries())
    fn.blocks.push({
      params: i === 0 ? [] : params.map(copyOf),
      insts: insts.map((inst) => ({
        ...inst,
        args: inst.args.map(copyOf),
        result: inst.result === undefined ? undefined : copyOf(inst.result),
      })),
      end: copyOfEnd(end, first, behind, copyOf),
      loopDepth: 0,
      ...(isRare ? { isRare } : {}),
    });
  from.end = { op: 'jump', to: { block: first, args: [] } };
  const rest: Block = { params: call.result === undefined ? [] : [call.result], insts: [], end: { op: 'trap' }, loopDepth: 0 };
  fn.blocks.push(rest);
  return rest;
}

/** The end of a copied block; a return jumps behind the copy. */
function copyOfEnd(end: End, first: number, behind: number, copyOf: (value: Value) => Value): End {
  const edges = edgesOf(end).map(({ block, args }) => ({ block: first + block, args: args.map(copyOf) }));
  switch (end.op) {
    case 'jump':
      return { op: 'jump', to: edges[0]! };
    case 'branch':
      return { ...end, cond: copyOf(end.cond), then: edges[0]!, else: edges[1]! };
    case 'switch':
      return { op: 'switch', index: copyOf(end.index), edges };
    case 'return':
      return { op: 'jump', to: { block: behind, args: end.values.map(copyOf) } };
    case 'trap':
      return end;
  }
}
