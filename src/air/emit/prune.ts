/** Removes unused instructions: address arithmetic folded into an index, and register reads folded into an input. */
import { eachOperand } from '../../bitcode/index.ts';
import type { Instruction, Function as LlvmFunction, Value } from '../../bitcode/model.ts';

const removable = new Set<Instruction['op']>([
  'binary',
  'fneg',
  'cast',
  'icmp',
  'fcmp',
  'select',
  'phi',
  'gep',
  'extractelement',
  'insertelement',
]);

/** Removes unused instructions from every block, and then the operands that only they used. */
export function pruneUnused(fn: LlvmFunction): void {
  const used = new Set<Value>();
  const pending: Instruction[] = [];
  const keep = (value: Value): void => {
    if (value.kind !== 'instruction' || used.has(value)) return;
    used.add(value);
    pending.push(value);
  };
  for (const block of fn.blocks) for (const inst of block.body) if (!removable.has(inst.op) && !isPureCall(inst)) keep(inst);
  while (pending.length > 0) eachOperand(pending.pop()!, keep);
  for (const block of fn.blocks) block.body = block.body.filter((inst) => used.has(inst));
}

/** A call without effects: its call site is `readnone`. */
const isPureCall = (inst: Instruction): boolean =>
  inst.op === 'call' && inst.attributes.function.some((a) => a.form === 'enum' && a.kind === 20);
