/**
 * The nodes of a function, which are its instructions and the parameters of its blocks, numbered in their order: the parameters of a block before its
 * instructions. Uses of values are found by value.
 */
import { dominatorsOf } from '../ssa/flow.ts';
import { type Edge, edgesOf, type Inst, type SsaFunction, type Value } from '../ssa/types.ts';

/** The number of an instruction or parameter. */
export type Node = number;

/** An edge of the flow of control; without `edge` the values that a function returns. */
export interface FlowEdge {
  readonly from: number;
  readonly edge: Edge | undefined;
  readonly args: readonly Value[];
}

/** A use of a value: by the operand of an instruction, or by an argument of a flow edge. */
export interface Use {
  /** The instruction; -1 for a use by a flow edge. */
  readonly node: Node;
  /** The number of the flow edge, if it is one. */
  readonly flow: number;
  /** Which operand or argument it is. */
  readonly operand: number;
}

export interface Numbering {
  readonly fn: SsaFunction;
  readonly count: number;
  /** By node: its instruction (undefined for a parameter), its block, and its value (-1 for an instruction without a result). */
  readonly insts: readonly (Inst | undefined)[];
  readonly blocks: Int32Array;
  readonly values: Int32Array;
  /** By value: the node that defines it. */
  readonly nodeOf: Int32Array;
  /** By block: its first node, its first instruction; the entry behind the last one is the count of nodes. */
  readonly firstNode: Int32Array;
  readonly firstInst: Int32Array;
  readonly flows: readonly FlowEdge[];
  /** By block: the numbers of the flow edges that lead to it, and of those that leave it. */
  readonly into: readonly (readonly number[])[];
  readonly outOf: readonly (readonly number[])[];
  /** By block: its immediate dominator. */
  readonly immediate: Int32Array;
  /** Whether a block is on each way to another one, or is that block. */
  readonly dominates: (above: number, block: number) => boolean;
  /** The numbers that choose the edge of a switch. */
  readonly switched: ReadonlySet<Value>;
  /** The uses of a value, in the order of the function, but for those by which a jump chooses its edge. */
  usesOf(value: Value): readonly Use[];
}

function flowsOf(fn: SsaFunction): Pick<Numbering, 'flows' | 'into' | 'outOf'> {
  const flows: FlowEdge[] = [];
  const into: number[][] = fn.blocks.map(() => []);
  const outOf: number[][] = fn.blocks.map(() => []);
  for (const [from, { end }] of fn.blocks.entries()) {
    for (const edge of edgesOf(end)) {
      into[edge.block]!.push(flows.length);
      outOf[from]!.push(flows.length);
      flows.push({ from, edge, args: edge.args });
    }
    if (end.op === 'return') {
      outOf[from]!.push(flows.length);
      flows.push({ from, edge: undefined, args: end.values });
    }
  }
  return { flows, into, outOf };
}

/** The uses of values, in lists that are made when they are asked for. */
function usesByValue(count: number, insts: readonly (Inst | undefined)[], flows: readonly FlowEdge[]): (value: Value) => readonly Use[] {
  /** Where the uses of each value start; users are nodes, or flow edges as negative numbers from -1 on. */
  const start = new Int32Array(count + 1);
  const each = (see: (value: Value, user: number, operand: number) => void): void => {
    for (let node = 0; node < insts.length; node++) {
      const args = insts[node]?.args;
      for (let i = 0; args && i < args.length; i++) see(args[i]!, node, i);
    }
    for (const [flow, { args }] of flows.entries()) for (let i = 0; i < args.length; i++) see(args[i]!, -1 - flow, i);
  };
  each((value) => void start[value + 1]!++);
  for (let value = 0; value < count; value++) start[value + 1]! += start[value]!;
  const users = new Int32Array(start[count]!);
  const operands = new Int32Array(start[count]!);
  const next = start.slice();
  each((value, user, operand) => {
    const at = next[value]!++;
    users[at] = user;
    operands[at] = operand;
  });
  const lists: (readonly Use[] | undefined)[] = [];
  return (value) => {
    const known = lists[value];
    if (known) return known;
    const list: Use[] = [];
    for (let at = start[value]!; at < start[value + 1]!; at++) {
      const user = users[at]!;
      list.push({ node: Math.max(user, -1), flow: user < 0 ? -1 - user : -1, operand: operands[at]! });
    }
    lists[value] = list;
    return list;
  };
}

/** Numbers the nodes of a function. */
export function numberNodes(fn: SsaFunction): Numbering {
  const count = fn.blocks.reduce((sum, { params, insts }) => sum + params.length + insts.length, 0);
  const insts: (Inst | undefined)[] = [];
  const blocks = new Int32Array(count);
  const values = new Int32Array(count).fill(-1);
  const nodeOf = new Int32Array(fn.types.length).fill(-1);
  const firstNode = new Int32Array(fn.blocks.length + 1);
  const firstInst = new Int32Array(fn.blocks.length);
  const add = (block: number, inst: Inst | undefined, value: Value | undefined): void => {
    const node = insts.push(inst) - 1;
    blocks[node] = block;
    if (value === undefined) return;
    values[node] = value;
    nodeOf[value] = node;
  };
  for (const [at, block] of fn.blocks.entries()) {
    firstNode[at] = insts.length;
    for (const param of block.params) add(at, undefined, param);
    firstInst[at] = insts.length;
    for (const inst of block.insts) add(at, inst, inst.result);
  }
  firstNode[fn.blocks.length] = count;
  const flow = flowsOf(fn);
  const switched = new Set(fn.blocks.flatMap(({ end }) => (end.op === 'switch' ? [end.index] : [])));
  return {
    fn,
    count,
    insts,
    blocks,
    values,
    nodeOf,
    firstNode,
    firstInst,
    ...flow,
    switched,
    ...dominatorsOf(fn.blocks),
    usesOf: usesByValue(fn.types.length, insts, flow.flows),
  };
}
