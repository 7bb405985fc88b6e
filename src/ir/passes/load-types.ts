/**
 * Loads of the type that their bits are used as: where every use is one conversion of bits, as of floats that are loaded as words, the load gives what
 * it converts to.
 */
import { edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { eachOperand, terminatorOperands } from '../operands.ts';
import { isScalar, type Type } from '../types.ts';
import { replaceAll, substitution } from './substitution.ts';

/** Not every target has bfloat, and arithmetic is where that is said. */
const isOfMemory = (type: Type): boolean => isScalar(type) && type !== 'bf16';

/** Gives such loads their type, in place; returns whether there were any. */
export function typeLoads(kernel: Kernel): boolean {
  const wanted = wantedTypes(kernel);
  if (wanted.size === 0) return false;
  const s = substitution();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'bitcast' && wanted.get(inst.a)) s.replace(value, inst.a);
    }
  let changed = false;
  for (const [load, type] of wanted) {
    if (type === undefined) continue;
    kernel.insts[load]!.type = type;
    changed = true;
  }
  replaceAll(kernel, s);
  return changed;
}

/** By load: the type that every use converts to; undefined where uses differ. */
function wantedTypes(kernel: Kernel): Map<Value, Type | undefined> {
  const wanted = new Map<Value, Type | undefined>();
  const isCandidate = (inst: Inst): boolean => inst.op === 'load' && !inst.volatile && isScalar(inst.type);
  const use = (value: Value, as: Type | undefined): void => {
    if (!isCandidate(kernel.insts[value]!)) return;
    wanted.set(value, wanted.has(value) && wanted.get(value) !== as ? undefined : as);
  };
  // One function for all instructions, with what the one at hand converts to.
  let as: Type | undefined;
  const visit = (operand: Value): void => use(operand, as);
  for (const { body, end } of kernel.blocks) {
    for (const value of body) {
      const inst = kernel.insts[value]!;
      as = inst.op === 'bitcast' && isOfMemory(inst.type) ? inst.type : undefined;
      eachOperand(inst, visit);
    }
    for (const value of terminatorOperands(end)) use(value, undefined);
    for (const { args } of edgesOf(end)) for (const value of args) use(value, undefined);
  }
  for (const [value, type] of wanted) if (type === undefined || type === kernel.insts[value]!.type) wanted.delete(value);
  return wanted;
}
