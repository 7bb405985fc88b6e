/**
 * Dead code: instructions whose results nothing needs, and block parameters that only feed themselves or nothing. Stores, barriers,
 * volatile loads and branches are live.
 */
import { edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { eachOperand } from '../operands.ts';
import { specOf } from '../ops.ts';
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
  const incoming = incomingOf(kernel);
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    eachOperand(kernel.insts[value]!, need);
    for (const arg of incoming.get(value) ?? []) need(arg);
  }
  return isLive;
}

function hasEffect(inst: Inst): boolean {
  if (inst.op === 'load') return inst.volatile;
  // An exchange between threads has no effect where its result is unused.
  return inst.op !== 'shuffle' && inst.op !== 'matmul' && inst.op !== 'mma' && specOf(inst.op).effect !== 'pure';
}

/** The arguments that edges pass for each block parameter. */
function incomingOf(kernel: Kernel): Map<Value, Value[]> {
  const incoming = new Map<Value, Value[]>();
  for (const { params } of kernel.blocks) for (const param of params) incoming.set(param, []);
  for (const { end } of kernel.blocks)
    for (const { block, args } of edgesOf(end))
      args.forEach((arg, i) => {
        incoming.get(block.params[i]!)!.push(arg);
      });
  return incoming;
}
