/**
 * Dead code: instructions whose results nothing needs, and block parameters that only feed themselves or nothing. Stores, barriers,
 * volatile loads and branches are live.
 */
import { edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { eachOperand } from '../operands.ts';
import { type Op, specOf } from '../ops.ts';
import { dropParams } from './substitution.ts';

/** Removes dead code, in place; returns whether there was any. */
export function dce(kernel: Kernel): boolean {
  const isLive = liveValues(kernel);
  let changed = false;
  for (const block of kernel.blocks) {
    const kept = block.body.filter((value) => isLive[value]);
    changed ||= kept.length < block.body.length;
    block.body = kept;
  }
  return dropParams(kernel, (param) => isLive[param] === 1) || changed;
}

/** 1 for each value that is needed. */
function liveValues(kernel: Kernel): Uint8Array {
  const isLive = new Uint8Array(kernel.insts.length);
  const stack: Value[] = [];
  const need = (value: Value): void => {
    if (isLive[value]) return;
    isLive[value] = 1;
    stack.push(value);
  };
  for (const { body, end } of kernel.blocks) {
    for (const value of body) if (hasEffect(kernel.insts[value]!)) need(value);
    if (end.op === 'condbr') need(end.cond);
  }
  const { first, next, args } = incomingOf(kernel);
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    eachOperand(kernel.insts[value]!, need);
    for (let at = first[value]!; at !== 0; at = next[at]!) need(args[at]!);
  }
  return isLive;
}

/** Ops that read memory, and exchanges between threads: they have no effect where their results are unused. */
const withoutEffects: ReadonlySet<Op> = new Set(['fetch', 'exchange', 'shuffle', 'matmul', 'mma']);

function hasEffect(inst: Inst): boolean {
  if (inst.op === 'load') return inst.volatile;
  return !withoutEffects.has(inst.op) && specOf(inst.op).effect !== 'pure';
}

/** The arguments that edges pass for each block parameter, in linked lists: the first by parameter, and the one after each; 0 is none. */
interface Incoming {
  readonly first: Int32Array;
  readonly next: number[];
  readonly args: Value[];
}

function incomingOf(kernel: Kernel): Incoming {
  const incoming: Incoming = { first: new Int32Array(kernel.insts.length), next: [0], args: [0 as Value] };
  for (const { end } of kernel.blocks)
    for (const { block, args } of edgesOf(end))
      for (let i = 0; i < args.length; i++) {
        const param = block.params[i]!;
        incoming.next.push(incoming.first[param]!);
        incoming.first[param] = incoming.args.push(args[i]!) - 1;
      }
  return incoming;
}
