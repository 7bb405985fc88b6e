/** Values of WebAssembly's locals while SSA form is built: looked up from block to block, where they are read. */
import type { ReadInstruction, ValueType } from '../../wasm/index.ts';
import type { Block, Edge, Inst, SsaType, Value } from './types.ts';

export interface LocalValues {
  /** The value of a local at the place that a block has reached. */
  get(block: number, local: number): Value;
  set(block: number, local: number, value: Value): void;
  /** Notes an edge whose block is known. */
  addEdge(from: number, edge: Edge): void;
  /** Says that a block has but one edge, from another block. */
  follow(block: number, from: number): void;
  /**
   * Says that a block has several edges: the header of a loop, or what follows a structure, which opens in the block `opened` and has the
   * instructions from `start` to `end`.
   */
  join(block: number, opened: number, start: number, end: number): void;
  /** The number of the `end` of the structure that an instruction opens. */
  endOf(start: number): number;
  /** Gives each edge the values of the parameters that were made for locals. */
  finish(): void;
}

interface Given {
  readonly blocks: readonly Block[];
  readonly types: SsaType[];
  readonly localTypes: readonly ValueType[];
  readonly instructions: readonly ReadInstruction[];
}

/** Where to look for a local that a block does not assign. */
interface Above {
  readonly block: number;
  /** The instructions of the structure that the block joins; empty where it has one edge. */
  readonly start: number;
  readonly end: number;
}

export function newLocalValues({ blocks, types, localTypes, instructions }: Given): LocalValues {
  const known: Map<number, Value>[] = [];
  const above: Above[] = [];
  const edges: { readonly from: number; readonly edge: Edge }[][] = [];
  const zeros = new Map<ValueType, Value>();
  /** Parameters for locals in the order in which they were made. */
  const made: { readonly block: number; readonly local: number }[] = [];
  const { isAssigned, endOf } = assignmentsOf(instructions, localTypes.length);
  const valuesOf = (block: number): Map<number, Value> => {
    known[block] ??= new Map();
    return known[block];
  };
  const newParam = (block: number, local: number): Value => {
    const param = types.push(localTypes[local]!) - 1;
    blocks[block]!.params.push(param);
    made.push({ block, local });
    valuesOf(block).set(local, param);
    return param;
  };
  const zeroOf = (type: ValueType): Value => {
    const zero = zeros.get(type) ?? types.push(type) - 1;
    zeros.set(type, zero);
    return zero;
  };
  const find = (block: number, local: number): Value => {
    for (let at = block; ; ) {
      const value = valuesOf(at).get(local);
      if (value !== undefined) return value;
      const next = above[at];
      if (!next) return zeroOf(localTypes[local]!);
      if (isAssigned(local, next.start, next.end)) return newParam(at, local);
      at = next.block;
    }
  };
  const get = (block: number, local: number): Value => {
    const value = find(block, local);
    valuesOf(block).set(local, value);
    return value;
  };
  const addEdge = (from: number, edge: Edge): void => {
    edges[edge.block] ??= [];
    edges[edge.block]!.push({ from, edge });
  };
  return {
    get,
    set: (block, local, value) => void valuesOf(block).set(local, value),
    addEdge,
    follow(block, from) {
      above[block] = { block: from, start: 0, end: 0 };
    },
    join(block, opened, start, end) {
      above[block] = { block: opened, start, end };
    },
    endOf,
    finish() {
      // Parameters are made while the values that edges pass are looked up, and come after earlier ones of the same block.
      for (let i = 0; i < made.length; i++) {
        const { block, local } = made[i]!;
        for (const { from, edge } of edges[block] ?? []) edge.args.push(get(from, local));
      }
      blocks[0]!.insts.unshift(...[...zeros].map(([type, result]) => zeroInst(type, result)));
    },
  };
}

const zeroInst = (type: ValueType, result: Value): Inst =>
  type === 'v128'
    ? { op: 'v128.const', args: [], result, bytes: Array<number>(16).fill(0) }
    : { op: `${type}.const`, args: [], result, bits: 0n };

interface Assignments {
  /** Whether an instruction from `start` to `end` assigns a local. */
  isAssigned(local: number, start: number, end: number): boolean;
  endOf(start: number): number;
}

/** Where locals are assigned, and where structures end. */
function assignmentsOf(instructions: readonly ReadInstruction[], locals: number): Assignments {
  const at: number[][] = Array.from({ length: locals }, () => []);
  const ends = new Map<number, number>();
  const open: number[] = [];
  instructions.forEach(({ name, index }, i) => {
    if (name === 'local.set' || name === 'local.tee') at[index!]!.push(i);
    else if (name === 'block' || name === 'loop' || name === 'if') open.push(i);
    else if (name === 'end') {
      const start = open.pop();
      if (start !== undefined) ends.set(start, i);
    }
  });
  return {
    endOf: (start) => ends.get(start)!,
    isAssigned(local, start, end) {
      const places = at[local]!;
      let [low, high] = [0, places.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (places[middle]! < start) low = middle + 1;
        else high = middle;
      }
      return low < places.length && places[low]! < end;
    },
  };
}
