/**
 * Loads of the type that their bits are used as: where every use is one conversion of bits, as of floats that are loaded as words, the load gives what
 * it converts to.
 */
import { addTo } from '../../base/group.ts';
import { edgesOf, type Inst, type InstOf, type Kernel, type Value } from '../kernel.ts';
import { eachOperand, terminatorOperands } from '../operands.ts';
import { isScalar, isVector, lanesOf, type ScalarType, type Type, vectorOf } from '../types.ts';
import { replaceAll, substitution } from './substitution.ts';

/** Not every target has bfloat, and arithmetic is where that is said. */
export const isOfMemory = (type: Type): boolean => isScalar(type) && type !== 'bf16';

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

/** By load, and by element of a loaded vector: the type that every use converts to; undefined where uses differ. */
function wantedTypes(kernel: Kernel): Map<Value, Type | undefined> {
  const wanted = new Map<Value, Type | undefined>();
  const isLoad = (inst: Inst): inst is InstOf<'load'> => inst.op === 'load' && !inst.volatile;
  const isCandidate = (inst: Inst): boolean =>
    (isLoad(inst) && isScalar(inst.type)) || (inst.op === 'extract' && isLoad(kernel.insts[inst.a]!));
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
  agreeOnVectors(kernel, wanted);
  for (const [value, type] of wanted) if (type === undefined || type === kernel.insts[value]!.type) wanted.delete(value);
  return wanted;
}

/** Elements that are used have one type, and give it to the vector. */
function agreeOnVectors({ insts, blocks }: Kernel, wanted: Map<Value, Type | undefined>): void {
  if (![...wanted].some(([value, type]) => type !== undefined && insts[value]!.op === 'extract')) return;
  const elements = new Map<Value, Value[]>();
  const others = new Set<Value>();
  const isVectorLoad = (value: Value): boolean => insts[value]!.op === 'load' && isVector(insts[value]!.type);
  const use = (value: Value): void => void (isVectorLoad(value) && others.add(value));
  for (const { body, end } of blocks) {
    for (const value of body) {
      const inst = insts[value]!;
      if (inst.op === 'extract' && isVectorLoad(inst.a)) addTo(elements, inst.a, value);
      else eachOperand(inst, use);
    }
    terminatorOperands(end).forEach(use);
  }
  for (const [load, parts] of elements) {
    const used = parts.filter((part) => wanted.has(part));
    const types = new Set(used.map((part) => wanted.get(part)));
    const [type] = types;
    const isOne = types.size === 1 && type !== undefined && !others.has(load);
    for (const part of parts) wanted.set(part, isOne ? type : undefined);
    if (isOne) wanted.set(load, vectorOf(type as ScalarType, lanesOf(insts[load]!.type) as 2 | 4));
  }
}
