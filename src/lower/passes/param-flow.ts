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

/** Sets of parameters by number, so that equal sets are one number: few of those that there could be occur. 0 is the empty set. */
class ParamSets {
  /** The members of each set, in ascending order. */
  readonly #members: (readonly number[])[] = [[]];
  readonly #numbers = new Map<string, number>();
  /** By the numbers of two sets. */
  readonly #unions = new Map<number, number>();

  of(members: readonly number[]): number {
    const key = members.join();
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const made = this.#members.push(members) - 1;
    this.#numbers.set(key, made);
    return made;
  }

  members(set: number): readonly number[] {
    return this.#members[set]!;
  }

  union(a: number, b: number): number {
    if (a === b || b === 0) return a;
    if (a === 0) return b;
    const key = a * 2 ** 26 + b;
    let union = this.#unions.get(key);
    if (union === undefined) {
      union = this.of([...new Set([...this.members(a), ...this.members(b)])].sort((x, y) => x - y));
      this.#unions.set(key, union);
    }
    return union;
  }
}

/** The parameters that values may be based on. */
export interface ParamBases {
  /** By value the number of a set, which is 0 for values that are based on none. */
  readonly sets: Int32Array;
  /** The indices of the parameters of a set, in ascending order. */
  members(set: number): readonly number[];
}

/** The parameters that values may be based on, by where the values of `seeds` flow, which are parameters themselves. */
export function paramBases(kernel: Kernel, graph: Graph, seeds: ReadonlyMap<Value, number>): ParamBases {
  const all = new ParamSets();
  const sets = new Int32Array(kernel.insts.length);
  for (const [value, index] of seeds) sets[value] = all.of([index]);
  const work = [...seeds.keys()];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    const targets = graph.targets.get(value);
    if (targets === undefined) continue;
    const set = sets[value]!;
    for (const target of targets) {
      const before = sets[target]!;
      const union = all.union(before, set);
      if (union === before || seeds.has(target)) continue;
      sets[target] = union;
      work.push(target);
    }
  }
  return { sets, members: (set) => all.members(set) };
}
