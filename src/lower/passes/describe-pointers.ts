/**
 * The pointees of pointer parameters, by the accesses that reach them: element type, sign, and whether they are written. And the types of
 * parameters by value that are declared as bits.
 */
import {
  accessOf,
  addressOf,
  bytesOf,
  eachOperand,
  elementOf,
  type Inst,
  instOf,
  isFloat,
  type Kernel,
  operandsOf,
  type ScalarType,
  type Value,
} from '../../ir/index.ts';
import { type Graph, paramBases } from './param-flow.ts';

interface Seen {
  readonly types: Map<ScalarType, number>;
  reads: boolean;
  writes: boolean;
  /** For signed less for unsigned use. */
  signs: number;
}

/** Fills in `element`, `signed`, `size`, `align` and `access` of the parameters whose values `bases` holds. */
export function describePointers(kernel: Kernel, graph: Graph, bases: ReadonlyMap<Value, number>, signed: ReadonlySet<Value>): void {
  const { sets, members } = paramBases(kernel, graph, bases);
  const seen = kernel.params.map((): Seen => ({ types: new Map(), reads: false, writes: false, signs: 0 }));
  // The instruction at hand: one closure serves all.
  let value: Value;
  let inst: Inst;
  const noteEscape = (operand: Value): void => {
    if (sets[operand] === 0 || !escapes(inst, operand, graph, value)) return;
    for (const index of members(sets[operand]!)) {
      seen[index]!.reads = true;
      seen[index]!.writes = true;
    }
  };
  for (value of graph.order) {
    inst = instOf(kernel, value);
    const addr = addressOf(inst);
    if (addr !== undefined) for (const index of members(sets[addr]!)) addAccess(seen[index]!, kernel, graph, value, signed);
    if (bases.size > 0) eachOperand(inst, noteEscape);
  }
  for (const index of new Set(bases.values())) describe(kernel, index, seen[index]!);
}

/** Whether an address escapes this analysis through an operand. */
function escapes(inst: Inst, operand: Value, graph: Graph, value: Value): boolean {
  if (inst.op === 'icmp' || inst.op === 'load') return false;
  if (inst.op === 'store') return operand === inst.value;
  if (inst.op === 'atomic' || inst.op === 'cas') return operand !== inst.a;
  return !graph.sourcesOf(value).includes(operand);
}

function addAccess(seen: Seen, kernel: Kernel, graph: Graph, access: Value, signed: ReadonlySet<Value>): void {
  const inst = instOf(kernel, access);
  const { element: moved, reads, writes } = accessOf(kernel, inst)!;
  const element = inst.op === 'load' ? loadedType(kernel, graph, access) : inst.op === 'store' ? storedType(kernel, inst) : moved;
  seen.reads ||= reads;
  seen.writes ||= writes;
  seen.types.set(element, (seen.types.get(element) ?? 0) + 1);
  seen.signs += signed.has(access) ? Number.POSITIVE_INFINITY : inst.op === 'load' ? signVotes(kernel, graph, access) : 0;
}

function describe(kernel: Kernel, index: number, { types, reads, writes, signs }: Seen): void {
  const param = kernel.params[index]!;
  const most = Math.max(0, ...types.values());
  param.element = [...types].find(([, count]) => count === most)?.[0];
  param.size = param.element ? bytesOf(param.element) : 1;
  param.align = param.size;
  param.signed = param.element !== undefined && !isFloat(param.element) && signs > 0;
  param.access = writes ? (reads ? 'read_write' : 'write') : 'read';
}

/** Makes floats of parameters by value that are declared as bits and only serve as floats of one type. */
export function describeBits(kernel: Kernel, graph: Graph, untyped: ReadonlySet<number>): void {
  const seen = new Map<number, Set<ScalarType>>();
  for (const value of graph.order) {
    const inst = instOf(kernel, value);
    const base = inst.op === 'load' ? instOf(kernel, inst.addr) : undefined;
    if (base?.op !== 'param' || !untyped.has(base.index)) continue;
    const types = seen.get(base.index) ?? new Set();
    seen.set(base.index, types.add(loadedType(kernel, graph, value)));
  }
  for (const [index, types] of seen) {
    const param = kernel.params[index]!;
    const [only] = types;
    if (param.kind === 'value' && param.element && types.size === 1 && isFloat(only!) && bytesOf(only) === param.size) param.element = only;
  }
}

/** Uses of a loaded value, through the elements of a vector. */
function usesOf(kernel: Kernel, graph: Graph, load: Value): Inst[] {
  return (graph.users.get(load) ?? []).flatMap((user) => {
    const inst = instOf(kernel, user);
    return inst.op === 'extract' ? usesOf(kernel, graph, user) : [inst];
  });
}

/** The type loaded; `.b32` bits that only serve as floats are floats. */
function loadedType(kernel: Kernel, graph: Graph, load: Value): ScalarType {
  const element = elementOf(instOf(kernel, load).type);
  const uses = graph.onEdges.has(load) ? [] : usesOf(kernel, graph, load);
  const [first] = uses;
  return first?.op === 'bitcast' && isFloat(first.type) && uses.every((use) => use.op === 'bitcast' && use.type === first.type)
    ? (first.type as ScalarType)
    : element;
}

/** The type stored; bits made of floats are floats. */
function storedType(kernel: Kernel, store: Inst & { op: 'store' }): ScalarType {
  const stored = instOf(kernel, store.value);
  const parts = stored.op === 'vec2' || stored.op === 'vec4' ? operandsOf(stored).map((part) => instOf(kernel, part)) : [stored];
  const types = new Set(parts.map((part) => (part.op === 'bitcast' ? instOf(kernel, part.a).type : part.type)));
  const [only] = types;
  return types.size === 1 && isFloat(only!) ? only : elementOf(stored.type);
}

const signedUses = new Set(['sdiv', 'srem', 'ashr', 'smin', 'smax', 'smulhi', 'sext', 'sitofp']);
const unsignedUses = new Set(['udiv', 'urem', 'lshr', 'umin', 'umax', 'umulhi', 'zext', 'uitofp']);

function signVotes(kernel: Kernel, graph: Graph, load: Value): number {
  return usesOf(kernel, graph, load).reduce((sum, use) => sum + vote(use), 0);
}

function vote(use: Inst): number {
  const name = use.op === 'icmp' ? use.pred : '';
  if (signedUses.has(use.op) || name.startsWith('s')) return 1;
  return unsignedUses.has(use.op) || name.startsWith('u') ? -1 : 0;
}
