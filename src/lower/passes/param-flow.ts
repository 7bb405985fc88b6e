/** Where the values of parameters flow as addresses: through sums, differences, selections, casts and block parameters. */
import { edgesOf, type Inst, instOf, type Kernel, operandsOf, terminatorOperands, type Value } from '../../ir/index.ts';

/** The uses of a kernel's values, made once. */
export interface Graph {
  /** All values of all blocks, parameters of a block before its body. */
  readonly order: readonly Value[];
  /** Instructions that use a value. */
  readonly users: ReadonlyMap<Value, readonly Value[]>;
  /** Values that a jump hands to a block parameter. */
  readonly onEdges: ReadonlySet<Value>;
  /** The operands whose address the result may be, or be based on. */
  readonly sourcesOf: (value: Value) => readonly Value[];
}

/** Reads a kernel's uses. */
export function useGraph(kernel: Kernel): Graph {
  const order: Value[] = [];
  const users = new Map<Value, Value[]>();
  const incoming = new Map<Value, Value[]>();
  const onEdges = new Set<Value>();
  const push = (map: Map<Value, Value[]>, key: Value, value: Value) => map.get(key)?.push(value) ?? map.set(key, [value]);
  for (const block of kernel.blocks) {
    order.push(...block.params, ...block.body);
    for (const value of block.body) for (const operand of new Set(operandsOf(instOf(kernel, value)))) push(users, operand, value);
    for (const edge of edgesOf(block.end))
      edge.args.forEach((arg, i) => {
        onEdges.add(arg);
        push(incoming, edge.block.params[i]!, arg);
      });
    if (block.end.op === 'condbr') terminatorOperands(block.end);
  }
  const sourcesOf = (value: Value): readonly Value[] => incoming.get(value) ?? addressOperands(instOf(kernel, value));
  return { order, users, onEdges, sourcesOf };
}

/** The operands that can be what the result points into. */
function addressOperands(inst: Inst): readonly Value[] {
  switch (inst.op) {
    case 'add':
    case 'ptradd':
    case 'and':
    case 'or':
      return [inst.a, inst.b];
    case 'select':
      return [inst.a, inst.b];
    case 'sub':
    case 'ptrtoint':
    case 'inttoptr':
      return [inst.a];
    default:
      return [];
  }
}

/** For each value the parameters it may be based on, as bits; values based on none are absent. */
export function paramMasks(graph: Graph, seeds: ReadonlyMap<Value, number>): Map<Value, bigint> {
  const masks = new Map<Value, bigint>();
  for (const [value, index] of seeds) masks.set(value, 1n << BigInt(index));
  for (let changed = seeds.size > 0; changed; ) {
    changed = false;
    for (const value of graph.order) {
      if (seeds.has(value)) continue;
      const before = masks.get(value) ?? 0n;
      const after = graph.sourcesOf(value).reduce((mask, source) => mask | (masks.get(source) ?? 0n), before);
      if (after === before) continue;
      masks.set(value, after);
      changed = true;
    }
  }
  return masks;
}
