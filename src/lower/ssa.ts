/**
 * Registers to SSA while blocks are being filled. A read looks upwards through blocks with one predecessor; a block with
 * several gets a parameter for the register, and what its predecessors hand over is worked out once all blocks are filled.
 * Parameters that always receive one value are removed at the end. A register that was never written reads as 0.
 *
 * Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC 2013), sections 2.1 to 2.3,
 * with the operands of all parameters deferred, so that no recursion is needed and irreducible flow is no special case.
 */
import { bug } from '../base/bug.ts';
import {
  addBlockParam,
  addInst,
  type Block,
  type Edge,
  type Inst,
  type Kernel,
  mapBlock,
  type ScalarType,
  type Value,
} from '../ir/index.ts';
import type { Register } from '../ptx/index.ts';

/** A block of the IR with what is known of registers at its end. */
export interface Flow {
  readonly block: Block;
  /** How many edges will lead here; decided before the block is read from. */
  readonly edgeCount: number;
  readonly edges: { readonly from: Flow; readonly edge: Edge }[];
  readonly defs: Map<Register, Value>;
}

/** The registers of one kernel. */
export interface RegisterFile {
  read(flow: Flow, register: Register): Value;
  write(flow: Flow, register: Register, value: Value): void;
  /** Says that a register has no value before a block. */
  begin(register: Register, flow: Flow): void;
  /**
   * Hands every parameter its arguments and removes those that are not needed. Call once, when all edges are known. Gives what stands
   * in the place of each value from then on.
   */
  finish(): (value: Value) => Value;
}

interface Pending {
  readonly flow: Flow;
  readonly register: Register;
  readonly index: number;
}

/** Connects two blocks. */
export function link(from: Flow, to: Flow): Edge {
  const edge: Edge = { block: to.block, args: [] };
  to.edges.push({ from, edge });
  return edge;
}

/** An empty register file; `entry` is the flow without predecessors, in which registers without a value become 0. */
export function registerFile(kernel: Kernel, entry: Flow): RegisterFile {
  const pending: Pending[] = [];
  const zeros = new Map<ScalarType, Value>();
  const starts = new Map<Register, Flow>();

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
    const value = addBlockParam(kernel, flow.block, register.type);
    pending.push({ flow, register, index: flow.block.params.length - 1 });
    return value;
  }

  function read(flow: Flow, register: Register): Value {
    const passed: Flow[] = [];
    let at = flow;
    let value = at.defs.get(register);
    while (value === undefined) {
      passed.push(at);
      if (at.edgeCount !== 1 || starts.get(register) === at) value = find(at, register);
      else {
        at = at.edges[0]?.from ?? bug(`block ${at.block.label ?? at.block.id} is read before its predecessor is filled`);
        value = at.defs.get(register);
      }
    }
    for (const between of passed) between.defs.set(register, value);
    return value;
  }

  return {
    read,
    write: (flow, register, value) => void flow.defs.set(register, value),
    begin: (register, flow) => void starts.set(register, flow),
    finish() {
      for (let i = 0; i < pending.length; i++) {
        const { flow, register, index } = pending[i]!;
        if (flow.edges.length !== flow.edgeCount) bug(`block ${flow.block.label ?? flow.block.id} was promised other edges`);
        for (const { from, edge } of flow.edges) edge.args[index] = read(from, register);
      }
      return removeTrivialParams(
        kernel,
        pending.map((p) => p.flow),
      );
    },
  };
}

/** Replaces each parameter whose arguments are all one value (or itself) by that value. */
function removeTrivialParams(kernel: Kernel, flows: readonly Flow[]): (value: Value) => Value {
  const incoming = new Map<Value, { readonly args: () => Value[]; readonly flow: Flow }>();
  const usedBy = new Map<Value, Value[]>();
  for (const flow of new Set(flows)) {
    flow.block.params.forEach((param, index) => {
      const args = () => flow.edges.map(({ edge }) => edge.args[index]!);
      incoming.set(param, { args, flow });
      for (const arg of args()) pushTo(usedBy, arg, param);
    });
  }
  const replaced = new Map<Value, Value>();
  const final = (value: Value): Value => followReplacements(replaced, value);
  const work = [...incoming.keys()];
  for (let param = work.pop(); param !== undefined; param = work.pop()) {
    if (replaced.has(param)) continue;
    const others = new Set(incoming.get(param)!.args().map(final));
    others.delete(param);
    if (others.size !== 1) continue;
    const [only] = others as Set<Value> & Iterable<Value>;
    replaced.set(param, only!);
    // Those that are replaced themselves are left behind, lest lists grow along a chain of replacements.
    const users = (usedBy.get(param) ?? []).filter((user) => !replaced.has(user));
    usedBy.delete(param);
    for (const user of users) {
      pushTo(usedBy, only!, user);
      work.push(user);
    }
  }
  dropReplaced(kernel, replaced, final);
  return final;
}

function dropReplaced(kernel: Kernel, replaced: ReadonlyMap<Value, Value>, final: (value: Value) => Value): void {
  const kept = new Map<Block, boolean[]>();
  for (const block of kernel.blocks)
    kept.set(
      block,
      block.params.map((param) => !replaced.has(param)),
    );
  for (const block of kernel.blocks) {
    for (const edge of edgesFrom(block)) edge.args = edge.args.filter((_, index) => kept.get(edge.block)![index]);
    mapBlock(kernel.insts as readonly Inst[], block, final);
  }
  for (const block of kernel.blocks) block.params = block.params.filter((param) => !replaced.has(param));
}

const edgesFrom = ({ end }: Block): Edge[] => (end.op === 'br' ? [end.to] : end.op === 'condbr' ? [end.then, end.else] : []);

function pushTo(map: Map<Value, Value[]>, key: Value, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** The end of a chain of replacements, shortening it on the way. */
function followReplacements(replaced: Map<Value, Value>, value: Value): Value {
  let end = value;
  for (let next = replaced.get(end); next !== undefined; next = replaced.get(end)) end = next;
  for (let at = value; at !== end; ) {
    const next = replaced.get(at)!;
    replaced.set(at, end);
    at = next;
  }
  return end;
}
