/**
 * Which values are wanted where. A block's own parameters are not live into it; the arguments of an edge are uses at the end of the
 * block the edge leaves.
 * Source: Boissinot et al., "Computing Liveness Sets for SSA-Form Programs" (2012), path exploration by use.
 */
import type { Kernel, Value } from '../kernel.ts';
import { eachOperand, terminatorOperands } from '../operands.ts';
import type { Cfg } from './cfg.ts';

export interface Liveness {
  /** By block id: values made elsewhere that the block or a block after it uses. */
  readonly liveIn: readonly ReadonlySet<Value>[];
  /** By block id: values that a successor has live, edge arguments excluded. */
  readonly liveOut: readonly ReadonlySet<Value>[];
}

/** The block id in which each value is defined; -1 for values that no block holds. */
export function definingBlocks(kernel: Kernel): Int32Array {
  const home = new Int32Array(kernel.insts.length).fill(-1);
  for (const { id, params, body } of kernel.blocks) {
    for (let i = 0; i < params.length; i++) home[params[i]!] = id;
    for (let i = 0; i < body.length; i++) home[body[i]!] = id;
  }
  return home;
}

/** Live-in and live-out sets of every block, without the values of some blocks, by id: constants of the first one are live nearly everywhere. */
export function livenessOf(kernel: Kernel, cfg: Cfg, leftOut?: Uint8Array): Liveness {
  const home = definingBlocks(kernel);
  const liveIn: Set<Value>[] = kernel.blocks.map(() => new Set());
  const liveOut: Set<Value>[] = kernel.blocks.map(() => new Set());
  let user = 0;
  const stack: number[] = [];
  const use = (value: Value): void => {
    // Most values are used where they are made.
    if (home[value] === user || leftOut?.[home[value]!] === 1) return;
    stack.push(user);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (at === home[value] || liveIn[at]!.has(value)) continue;
      liveIn[at]!.add(value);
      for (const from of cfg.predecessors[at]!) {
        liveOut[from]!.add(value);
        stack.push(from);
      }
    }
  };
  for (const { id, body, end } of kernel.blocks) {
    user = id;
    for (const value of body) eachOperand(kernel.insts[value]!, use);
    for (const operand of terminatorOperands(end)) use(operand);
  }
  return { liveIn, liveOut };
}
