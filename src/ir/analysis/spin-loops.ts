/**
 * Spin loops: loops that may wait for another thread. Lanes of one group execute such a loop together and would wait for each other
 * forever.
 */
import { edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { eachOperand, operandsOf } from '../operands.ts';
import { cfgOf } from './cfg.ts';
import { dominatorsOf } from './dominators.ts';
import { type Loop, loopsOf } from './loops.ts';

/** Operations whose result another thread may change. */
const isShared = (inst: Inst, _: Value): boolean => inst.op === 'atomic' || inst.op === 'cas' || (inst.op === 'load' && inst.volatile);

/**
 * Whether the exit of a loop may depend on what another lane writes. Such a loop needs forward progress of every thread, which a lane group
 * cannot give.
 */
export function isSpinLoop(kernel: Kernel, loop: Loop, isSource = isShared): boolean {
  const { blocks } = loop;
  const hasSource = blocks.some((id) => kernel.blocks[id]!.body.some((value) => isSource(kernel.insts[value]!, value)));
  if (!hasSource || retriesExchange(kernel, loop)) return false;
  const tainted = new Set<Value>();
  let before: number;
  do {
    before = tainted.size;
    for (const id of blocks) {
      const { body, end } = kernel.blocks[id]!;
      for (const value of body) {
        const inst = kernel.insts[value]!;
        if (isSource(inst, value)) tainted.add(value);
        else
          eachOperand(inst, (operand) => {
            if (tainted.has(operand)) tainted.add(value);
          });
      }
      for (const edge of edgesOf(end))
        edge.args.forEach((arg, i) => {
          if (tainted.has(arg)) tainted.add(edge.block.params[i]!);
        });
    }
  } while (tainted.size > before);
  return blocks.some((id) => {
    const { end } = kernel.blocks[id]!;
    return end.op === 'condbr' && tainted.has(end.cond);
  });
}

/**
 * Whether a loop repeats only after a failed compare-and-swap against the value read last. In that case another thread's exchange has
 * succeeded, so some thread makes progress. A comparison against a loop-invariant value would be a lock that another thread has to release.
 */
function retriesExchange(kernel: Kernel, { header, latches, blocks }: Loop): boolean {
  const inLoop = new Set(blocks.flatMap((id) => [...kernel.blocks[id]!.params, ...kernel.blocks[id]!.body]));
  /** Whether a value depends on what each iteration reads at an address. */
  const follows = (value: Value, addr: Value, seen: Set<Value>): boolean => {
    if (!inLoop.has(value) || seen.has(value)) return false;
    seen.add(value);
    const inst = kernel.insts[value]!;
    if (inst.op === 'cas' || inst.op === 'load') return (inst.op === 'cas' ? inst.a : inst.addr) === addr;
    const param = kernel.blocks[header]!.params.indexOf(value);
    if (param >= 0) return backEdgeArgs().every((args) => follows(args[param]!, addr, seen));
    return operandsOf(inst).some((operand) => follows(operand, addr, seen));
  };
  const backEdgeArgs = (): (readonly Value[])[] =>
    latches.flatMap((id) => edgesOf(kernel.blocks[id]!.end).flatMap((edge) => (edge.block.id === header ? [edge.args] : [])));
  /** Whether a condition that evaluates to `holds` means that the exchange failed. */
  const impliesFailure = (cond: Value, holds: boolean): boolean => {
    const inst = kernel.insts[cond]!;
    if (inst.op === (holds ? 'and' : 'or')) return impliesFailure(inst.a, holds) || impliesFailure(inst.b, holds);
    if (inst.op !== 'icmp' || inst.pred !== (holds ? 'ne' : 'eq')) return false;
    return isExchange(inst.a, inst.b) || isExchange(inst.b, inst.a);
  };
  const isExchange = (before: Value, expected: Value): boolean => {
    const inst = kernel.insts[before]!;
    return inst.op === 'cas' && inLoop.has(before) && inst.b === expected && follows(expected, inst.a, new Set());
  };
  /** Whether control reaches `to` from `from` only through such a condition, looking back to the last join. */
  const comesFromFailure = (from: number, to: number): boolean => {
    const { end } = kernel.blocks[from]!;
    const isChoice = end.op === 'condbr' && end.then.block.id !== end.else.block.id;
    if (isChoice && impliesFailure(end.cond, end.then.block.id === to)) return true;
    const before = blocks.filter((id) => edgesOf(kernel.blocks[id]!.end).some((edge) => edge.block.id === from));
    return from !== header && before.length === 1 && comesFromFailure(before[0]!, from);
  };
  return latches.every((id) => comesFromFailure(id, header));
}

/** Whether a kernel has a spin loop. */
export function hasSpinLoop(kernel: Kernel): boolean {
  const cfg = cfgOf(kernel);
  return loopsOf(cfg, dominatorsOf(cfg)).loops.some((loop) => isSpinLoop(kernel, loop));
}
