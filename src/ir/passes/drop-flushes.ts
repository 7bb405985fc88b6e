/**
 * Removes flushes (`ftz`) of values that are never subnormal. Lowering knows of operands what their instructions say; here, the values that lead to a
 * block parameter are known, and sums in loops are flushed once for each turn in place of twice.
 */
import { addTo } from '../../base/group.ts';
import { floatSpan } from '../analysis/float-span.ts';
import { edgesOf, type Kernel, type Value } from '../kernel.ts';
import { minExponent, neverSubnormal } from '../subnormals.ts';
import { replaceAll, substitution } from './substitution.ts';

/** Removes in place; returns whether there was any. */
export function dropFlushes(kernel: Kernel): boolean {
  const { insts } = kernel;
  const flushes = kernel.blocks.flatMap(({ body }) => body.filter((value) => insts[value]!.op === 'ftz'));
  if (flushes.length === 0) return false;
  const mayBeTiny = tinyValues(kernel, flushes);
  const s = substitution(insts.length);
  for (const value of flushes) {
    const inst = insts[value]!;
    if (inst.op === 'ftz' && !mayBeTiny.has(inst.a)) s.replace(value, inst.a);
  }
  replaceAll(kernel, s);
  return s.count() > 0;
}

/** The values that lead to flushes and may be subnormal: those of which it is not known otherwise, and those that they become. */
function tinyValues(kernel: Kernel, flushes: readonly Value[]): ReadonlySet<Value> {
  const incoming = new Map<Value, Value[]>();
  for (const { end } of kernel.blocks)
    for (const { block, args } of edgesOf(end)) for (const [i, arg] of args.entries()) addTo(incoming, block.params[i]!, arg);
  /** The values that each one becomes. */
  const becomes = new Map<Value, Value[]>();
  const seen = new Set<Value>();
  const tiny: Value[] = [];
  const pending: Value[] = [];
  const ask = (value: Value, of: Value | undefined): void => {
    if (of !== undefined) addTo(becomes, value, of);
    if (seen.has(value)) return;
    seen.add(value);
    pending.push(value);
  };
  for (const value of flushes) {
    const inst = kernel.insts[value]!;
    if (inst.op === 'ftz') ask(inst.a, undefined);
  }
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const from = sourcesOf(kernel, value, incoming);
    if (from === 'tiny') tiny.push(value);
    else for (const each of from) ask(each, value);
  }
  const mayBeTiny = new Set(tiny);
  for (let value = tiny.pop(); value !== undefined; value = tiny.pop())
    for (const each of becomes.get(value) ?? []) {
      if (mayBeTiny.has(each)) continue;
      mayBeTiny.add(each);
      tiny.push(each);
    }
  return mayBeTiny;
}

/** The values of which a float, or the bits of one, is always one but for its sign: none where it is no subnormal, and `tiny` where it may be one by itself. */
function sourcesOf(kernel: Kernel, value: Value, incoming: ReadonlyMap<Value, readonly Value[]>): readonly Value[] | 'tiny' {
  const inst = kernel.insts[value]!;
  switch (inst.op) {
    case 'arg':
      return incoming.get(value) ?? 'tiny';
    case 'select':
    case 'fmin':
    case 'fmax':
      return [inst.a, inst.b];
    case 'fneg':
    case 'fabs':
    case 'shuffle':
    case 'shufflesync':
      return [inst.a];
    case 'bitcast':
      return kernel.insts[inst.a]!.type === 'f32' || kernel.insts[inst.a]!.type === 'i32' ? [inst.a] : 'tiny';
    case 'call2':
    case 'call3':
      return kernel.functions?.get(inst.fn)?.isFlushed ? [] : 'tiny';
    case 'fpext':
      // Halves that are subnormal are none as floats.
      return kernel.insts[inst.a]!.type === 'f16' ? [] : 'tiny';
    default:
      return neverSubnormal.has(inst.op) || (inst.type === 'f32' && floatSpan(kernel, value).low >= minExponent) ? [] : 'tiny';
  }
}
