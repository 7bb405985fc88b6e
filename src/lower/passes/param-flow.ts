/** Where the values of parameters flow as addresses: through sums, differences, selections, casts and block parameters. */
import { eachOperand, edgesOf, type Inst, instOf, type Kernel, type Op, type Value } from '../../ir/index.ts';

/** The uses of a kernel's values, made once. */
export interface Graph {
  /** All values of all blocks, parameters of a block before its body. */
  readonly order: readonly Value[];
  /** Instructions that use a value which is of memory: a parameter, what is loaded, and elements of that. */
  readonly users: Lists;
  /** Values that a jump hands to a block parameter. */
  readonly onEdges: ReadonlySet<Value>;
  /** The operands whose address the result may be, or be based on. */
  readonly sourcesOf: (value: Value) => readonly Value[];
  /** The reverse: the values that may be, or be based on, the address that a value is. */
  readonly targets: Lists;
}

/** Lists by value. */
interface Lists {
  get(value: Value): readonly Value[] | undefined;
}

/** Lists in an array, which are found faster than in a map: every operand of a kernel is in one. */
class ListsByValue implements Lists {
  readonly #lists: (Value[] | undefined)[] = [];

  get(value: Value): Value[] | undefined {
    return this.#lists[value];
  }

  add(value: Value, member: Value): void {
    const list = this.#lists[value];
    if (list) list.push(member);
    else this.#lists[value] = [member];
  }

  constructor(length: number) {
    this.#lists.length = length;
  }
}

/** Reads a kernel's uses. */
export function useGraph(kernel: Kernel): Graph {
  const order: Value[] = [];
  const users = new ListsByValue(kernel.insts.length);
  const incoming = new ListsByValue(kernel.insts.length);
  const targets = new ListsByValue(kernel.insts.length);
  const onEdges = new Set<Value>();
  let user = 0 as Value;
  const use = (operand: Value): void => {
    const { op } = kernel.insts[operand]!;
    if ((op === 'load' || op === 'param' || op === 'extract') && users.get(operand)?.at(-1) !== user) users.add(operand, user);
  };
  for (const block of kernel.blocks) {
    for (const param of block.params) order.push(param);
    for (const value of block.body) {
      order.push(value);
      const inst = instOf(kernel, value);
      user = value;
      eachOperand(inst, use);
      if (addressOps.has(inst.op)) for (const operand of addressOperands(inst)) targets.add(operand, value);
    }
    for (const edge of edgesOf(block.end))
      edge.args.forEach((arg, i) => {
        onEdges.add(arg);
        targets.add(arg, edge.block.params[i]!);
        incoming.add(edge.block.params[i]!, arg);
      });
  }
  const sourcesOf = (value: Value): readonly Value[] => incoming.get(value) ?? addressOperands(instOf(kernel, value));
  return { order, users, onEdges, sourcesOf, targets };
}

const addressOps: ReadonlySet<Op> = new Set(['add', 'ptradd', 'and', 'or', 'select', 'sub', 'ptrtoint', 'inttoptr'] as const);

/** The operands that the result may point into. */
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

/** By value the parameters that it may be based on, as bits; values based on none are absent. */
export type ParamMasks = readonly (bigint | undefined)[];

/** The masks of values that flow from `seeds`, which are parameters themselves. */
export function paramMasks(kernel: Kernel, graph: Graph, seeds: ReadonlyMap<Value, number>): ParamMasks {
  const masks: (bigint | undefined)[] = [];
  masks.length = kernel.insts.length;
  for (const [value, index] of seeds) masks[value] = 1n << BigInt(index);
  const work = [...seeds.keys()];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    const mask = masks[value]!;
    for (const target of graph.targets.get(value) ?? []) {
      const before = masks[target] ?? 0n;
      if (seeds.has(target) || (before | mask) === before) continue;
      masks[target] = before | mask;
      work.push(target);
    }
  }
  return masks;
}
