/**
 * Registers to SSA while blocks are being filled. A read looks upwards through blocks with one predecessor, and through those
 * whose predecessors are all filled and have one value for it; any other gets a parameter for the register, whose arguments
 * are found once all blocks are filled. Parameters that always receive one value are removed at the end. A register that was
 * never written reads as 0.
 *
 * Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC 2013), sections 2.1 to 2.3,
 * with the operands of all parameters deferred, so that recursion has a bound and irreducible flow is no special case.
 */
import { bug } from '../../base/bug.ts';
import {
  addBlockParam,
  addInst,
  type Block,
  dropParams,
  type Edge,
  type Kernel,
  type ScalarType,
  substitute,
  substitution,
  type Value,
} from '../../ir/index.ts';
import type { Register } from '../../ptx/index.ts';

/** A block of the IR with the known values of registers at its end. */
export interface Flow {
  readonly block: Block;
  /** How many edges will lead here; decided before the block is read from. */
  readonly edgeCount: number;
  /** The edges from blocks that are filled: the registers at the end of such a block no longer change. */
  readonly edges: { readonly from: Flow; readonly edge: Edge }[];
  readonly defs: Map<Register, Value>;
}

/** The registers of one kernel. */
export interface RegisterFile {
  read(flow: Flow, register: Register): Value;
  write(flow: Flow, register: Register, value: Value): void;
  /** Declares that a register has no value before a block. */
  begin(register: Register, flow: Flow): void;
  /**
   * Passes every parameter its arguments and removes those that are not needed. Call once, when all edges are known. Returns the
   * replacement of each value.
   */
  finish(): (value: Value) => Value;
}

interface Pending {
  readonly flow: Flow;
  readonly register: Register;
  readonly index: number;
}

/** Connects two blocks, the first of which is filled. */
export function link(from: Flow, to: Flow): Edge {
  const edge: Edge = { block: to.block, args: [] };
  to.edges.push({ from, edge });
  return edge;
}

/** Nesting of blocks with several edges to which a value is searched for. */
const maxAsked = 32;

/** Blocks of a line between two that note what a read through them found: each would take memory for every register that is read far below. */
const noteEvery = 8;

/** An empty register file; `entry` is the flow without predecessors, in which registers without a value become 0. */
export function registerFile(kernel: Kernel, entry: Flow): RegisterFile {
  const pending: Pending[] = [];
  const zeros = new Map<ScalarType, Value>();
  const starts = new Map<Register, Flow>();
  /** Blocks whose edges are being compared for one register. */
  const asking = new Set<Flow>();

  function zero(type: ScalarType): Value {
    const known = zeros.get(type);
    if (known !== undefined) return known;
    const value = addInst(kernel, { op: 'const', type, bits: 0n });
    entry.block.body.unshift(value);
    zeros.set(type, value);
    return value;
  }

  function find(flow: Flow, register: Register): Value {
    if (flow.edgeCount === 0 || starts.get(register) === flow) return zero(register.type);
    const known = commonValue(flow, register) ?? flow.defs.get(register);
    if (known !== undefined) return known;
    const value = addBlockParam(kernel, flow.block, register.type);
    pending.push({ flow, register, index: flow.block.params.length - 1 });
    return value;
  }

  /** The one value that all edges into a block pass, if they are all known and the search does not need the block itself. */
  function commonValue(flow: Flow, register: Register): Value | undefined {
    if (flow.edges.length !== flow.edgeCount || asking.size >= maxAsked || asking.has(flow)) return undefined;
    asking.add(flow);
    let only: Value | undefined;
    for (const { from } of flow.edges) {
      const value = read(from, register);
      const isSame = only === undefined || value === only;
      only = isSame && !flow.defs.has(register) ? value : undefined;
      if (only === undefined) break;
    }
    asking.delete(flow);
    return only;
  }

  function read(flow: Flow, register: Register): Value {
    let value = flow.defs.get(register);
    if (value !== undefined) return value;
    const noted: Flow[] = [];
    const start = starts.size > 0 ? starts.get(register) : undefined;
    let at = flow;
    for (let steps = 1; at.edgeCount === 1 && at !== start; steps++) {
      at = at.edges[0]?.from ?? bug(`block ${at.block.label ?? at.block.id} is read before its predecessor is filled`);
      value = at.defs.get(register);
      if (value !== undefined) break;
      if (steps % noteEvery === 0) noted.push(at);
    }
    if (value === undefined) {
      value = find(at, register);
      at.defs.set(register, value);
    }
    flow.defs.set(register, value);
    for (const between of noted) between.defs.set(register, value);
    return value;
  }

  return {
    read,
    write: (flow, register, value) => void flow.defs.set(register, value),
    begin: (register, flow) => void starts.set(register, flow),
    finish() {
      // Reading may add to the list.
      for (let i = 0; i < pending.length; i++) passArguments(pending[i]!, read);
      const flows = pending.map(({ flow }) => flow);
      return removeTrivialParams(kernel, flows);
    },
  };
}

/** Passes a parameter the value of its register at the end of each edge. */
function passArguments({ flow, register, index }: Pending, read: RegisterFile['read']): void {
  if (flow.edges.length !== flow.edgeCount) bug(`block ${flow.block.label ?? flow.block.id} was promised other edges`);
  for (const { from, edge } of flow.edges) edge.args[index] = read(from, register);
}

/** Replaces each parameter whose arguments are all one value (or itself) by that value. */
function removeTrivialParams(kernel: Kernel, flows: readonly Flow[]): (value: Value) => Value {
  const places = new Map<Value, { readonly edges: Flow['edges']; readonly index: number }>();
  for (const { block, edges } of new Set(flows)) block.params.forEach((param, index) => void places.set(param, { edges, index }));
  const uses = usesOf(kernel, places);
  const replaced = substitution(kernel.insts.length);
  const work = [...places.keys()];
  for (let param = work.pop(); param !== undefined; param = work.pop()) {
    if (replaced.has(param)) continue;
    const { edges, index } = places.get(param)!;
    let only: number = none;
    for (const { edge } of edges) {
      const arg = replaced.of(edge.args[index]!);
      if (arg === param || arg === only) continue;
      only = only === none ? arg : several;
      if (only === several) break;
    }
    if (only < 0) continue;
    replaced.replace(param, only as Value);
    moveUses(uses, param, only as Value, (user) => {
      // Those that are replaced themselves are left behind, lest lists grow along a chain of replacements.
      if (replaced.has(user)) return false;
      work.push(user);
      return true;
    });
  }
  substitute(kernel, replaced);
  dropParams(kernel, (param) => !replaced.has(param));
  return replaced.of;
}

const none = -1;
const several = -2;

/** For each value the parameters that receive it, in linked lists: the first use of a value, and the next use after a use. */
interface Uses {
  readonly first: Int32Array;
  readonly next: number[];
  readonly users: Value[];
}

function usesOf(kernel: Kernel, places: ReadonlyMap<Value, { readonly edges: Flow['edges']; readonly index: number }>): Uses {
  const uses: Uses = { first: new Int32Array(kernel.insts.length).fill(none), next: [], users: [] };
  for (const [param, { edges, index }] of places)
    for (const { edge } of edges) {
      const arg = edge.args[index]!;
      uses.next.push(uses.first[arg]!);
      uses.first[arg] = uses.users.push(param) - 1;
    }
  return uses;
}

/** Hands the uses of a value over to another, but for those whose user is not kept. */
function moveUses({ first, next, users }: Uses, from: Value, to: Value, isKept: (user: Value) => boolean): void {
  for (let use = first[from]!; use !== none; ) {
    const after = next[use]!;
    if (isKept(users[use]!)) {
      next[use] = first[to]!;
      first[to] = use;
    }
    use = after;
  }
  first[from] = none;
}
