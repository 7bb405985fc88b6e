/**
 * Comparisons of generic addresses with null. `cvta` of an address in shared, constant, local or parameter memory gives an address in
 * the window of that space, which is never 0, so that a function's test of such a pointer for null is decided. Source: PTX ISA 9.0, 5.1 (generic addressing) and 9.7.9.20 (cvta).
 */
import { edgesOf, type Inst, type Kernel, type Value } from '../../ir/index.ts';

/** Makes constants of comparisons for equality with 0 of `marked` addresses and those based on them. Gives whether there were any. */
export function decideNullComparisons(kernel: Kernel, marked: ReadonlySet<Value>): boolean {
  if (marked.size === 0) return false;
  const based = addressesFrom(kernel, marked);
  let changed = false;
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op !== 'icmp' || (inst.pred !== 'eq' && inst.pred !== 'ne')) continue;
      if (!(based.has(inst.a) && isZero(kernel, inst.b)) && !(based.has(inst.b) && isZero(kernel, inst.a))) continue;
      kernel.insts[value] = { op: 'const', type: 'i1', bits: inst.pred === 'ne' ? 1n : 0n };
      changed = true;
    }
  return changed;
}

function isZero(kernel: Kernel, value: Value): boolean {
  const inst = kernel.insts[value]!;
  return inst.op === 'const' && inst.bits === 0n;
}

/** The values that are such an address on every path: those that may be one, less those that have another source as well. */
function addressesFrom(kernel: Kernel, marked: ReadonlySet<Value>): Set<Value> {
  const sources = sourcesOf(kernel);
  const based = new Set(marked);
  for (let size = -1; size !== based.size; ) {
    size = based.size;
    for (const [value, from] of sources) if (from.some((each) => based.has(each))) based.add(value);
  }
  for (let size = -1; size !== based.size; ) {
    size = based.size;
    for (const [value, from] of sources)
      if (!marked.has(value) && based.has(value) && !isBased(kernel, value, from, based)) based.delete(value);
  }
  return based;
}

/** Of a sum one operand is the address and the other an offset; of a choice all are addresses. */
const isBased = (kernel: Kernel, value: Value, from: readonly Value[], based: ReadonlySet<Value>): boolean =>
  kernel.insts[value]!.op === 'add' ? based.has(from[0]!) !== based.has(from[1]!) : from.every((each) => based.has(each));

/** The operands of a value that may be an address. */
function sourcesOf(kernel: Kernel): Map<Value, Value[]> {
  const sources = new Map<Value, Value[]>();
  for (const { params, body } of kernel.blocks) {
    for (const param of params) sources.set(param, []);
    for (const value of body) {
      const from = addressOperands(kernel.insts[value]!);
      if (from.length > 0) sources.set(value, from);
    }
  }
  for (const { end } of kernel.blocks)
    for (const { block, args } of edgesOf(end)) for (const [i, arg] of args.entries()) sources.get(block.params[i]!)!.push(arg);
  return sources;
}

function addressOperands(inst: Inst): Value[] {
  if (inst.type !== 'i64') return [];
  if (inst.op === 'add' || inst.op === 'select') return [inst.a, inst.b];
  return inst.op === 'sub' ? [inst.a] : [];
}
