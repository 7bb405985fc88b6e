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
  const flushed = new Map<Value, Value>();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'ftz') flushed.set(value, inst.a);
    }
  if (flushed.size === 0) return false;
  const mayBeSubnormal = spread(waysTo(kernel, [...flushed.values()]));
  const s = substitution(kernel.insts.length);
  for (const [value, a] of flushed) if (!mayBeSubnormal.has(a)) s.replace(value, a);
  replaceAll(kernel, s);
  return s.count() > 0;
}

/** How values lead to others that are the same floats but for their signs. */
interface Ways {
  /** By value: those that it may become. */
  readonly becomes: ReadonlyMap<Value, readonly Value[]>;
  /** The values that may be subnormal by themselves. */
  readonly first: readonly Value[];
}

/** The ways that lead to some values. */
function waysTo(kernel: Kernel, values: readonly Value[]): Ways {
  const incoming = new Map<Value, Value[]>();
  for (const { end } of kernel.blocks)
    for (const { block, args } of edgesOf(end)) for (const [i, arg] of args.entries()) addTo(incoming, block.params[i]!, arg);
  const becomes = new Map<Value, Value[]>();
  const first: Value[] = [];
  const seen = new Set(values);
  // A set is walked with what is added to it meanwhile.
  for (const value of seen) {
    const sources = sourcesOf(kernel, value, incoming);
    if (sources === 'subnormal') first.push(value);
    else
      for (const source of sources) {
        addTo(becomes, source, value);
        seen.add(source);
      }
  }
  return { becomes, first };
}

/** The values that may be subnormal: those that are by themselves, and what they become. */
function spread({ becomes, first }: Ways): ReadonlySet<Value> {
  const found = new Set(first);
  for (const value of found) for (const other of becomes.get(value) ?? []) found.add(other);
  return found;
}

/** The values of which a float, or the bits of one, is always one but for its sign: none for what is never subnormal, and `subnormal` for what may be by itself. */
function sourcesOf(kernel: Kernel, value: Value, incoming: ReadonlyMap<Value, readonly Value[]>): readonly Value[] | 'subnormal' {
  const inst = kernel.insts[value]!;
  switch (inst.op) {
    case 'arg':
      return incoming.get(value) ?? 'subnormal';
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
      return kernel.insts[inst.a]!.type === 'f32' || kernel.insts[inst.a]!.type === 'i32' ? [inst.a] : 'subnormal';
    case 'call2':
    case 'call3':
      return kernel.functions?.get(inst.fn)?.isFlushed ? [] : 'subnormal';
    case 'fpext':
      // Halves that are subnormal are none as floats.
      return kernel.insts[inst.a]!.type === 'f16' ? [] : 'subnormal';
    default:
      return neverSubnormal.has(inst.op) || (inst.type === 'f32' && floatSpan(kernel, value).low >= minExponent) ? [] : 'subnormal';
  }
}
