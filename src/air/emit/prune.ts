/** Drops instructions that nothing uses: address arithmetic that went into an index, register reads that went into an input. */
import { operandsOf } from '../../bitcode/index.ts';
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

/** Removes them from every block, and what only they used. */
export function pruneUnused(fn: LlvmFunction): void {
  const used = new Set<Value>();
  const pending: Instruction[] = [];
  const keep = (value: Value): void => {
    if (value.kind !== 'instruction' || used.has(value)) return;
    used.add(value);
    pending.push(value);
  };
  for (const block of fn.blocks) for (const inst of block.body) if (!removable.has(inst.op) && !isPureCall(inst)) keep(inst);
  while (pending.length > 0) for (const operand of operandsOf(pending.pop()!)) keep(operand);
  for (const block of fn.blocks) block.body = block.body.filter((inst) => used.has(inst));
}

/** A call of a function without effects: one whose call site says `readnone`. */
const isPureCall = (inst: Instruction): boolean =>
  inst.op === 'call' && inst.attributes.function.some((a) => a.form === 'enum' && a.kind === 20);
