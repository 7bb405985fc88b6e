/**
 * Which 64-bit parameters are pointers. PTX declares them as plain `.u64`; one is a pointer when it is declared `.ptr`, when
 * `cvta` makes a global address of it, or when an access of global or generic memory takes its address from it. The walk goes
 * from the address of each access back through additions, selections and block parameters. Where a sum has two such
 * parameters, a byte offset must be distinguished from a base: the one known to be a pointer by other evidence is the base, and
 * without such evidence the kernel is refused, since binding a number as a buffer would go unnoticed.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { addressOf, instOf, isPointer, type Kernel, spaceOf, type Value } from '../../ir/index.ts';
import { describeBits, describePointers } from './describe-pointers.ts';
import { type Graph, type ParamBases, paramBases, useGraph } from './param-flow.ts';

/** Facts of the source about parameters that the IR does not hold. */
export interface ParamEvidence {
  /** Parameters that are 64-bit scalars, and so may be pointers. */
  readonly candidates: ReadonlySet<number>;
  /** Parameters declared `.ptr`. */
  readonly declared: ReadonlySet<number>;
  /** Operands of `cvta` that are taken for addresses of global memory. */
  readonly addresses: ReadonlySet<Value>;
  /** Parameters whose declared type says nothing but their size. */
  readonly untyped: ReadonlySet<number>;
  /** Loads and stores whose instruction names a signed type. */
  readonly signed: ReadonlySet<Value>;
}

/**
 * Makes pointer parameters of those values that are used as addresses, and describes their pointees.
 * Reports CM2046 where it is not known which of two parameters is the pointer, and CM2049 for pointers read in parts.
 */
export function classifyParams(kernel: Kernel, evidence: ParamEvidence, diagnostics: Diagnostics): void {
  const graph = useGraph(kernel);
  const { seeds, spoilt } = wholeLoads(kernel, graph, evidence.candidates);
  const pointers = findPointers(kernel, graph, seeds, evidence, diagnostics);
  for (const [index, access] of spoilt)
    if (pointers.has(index) || evidence.declared.has(index)) refuseParts(kernel, index, access, diagnostics);
  const bases = new Map([...seeds].filter(([, index]) => pointers.has(index)));
  for (const [load, index] of bases) bindPointer(kernel, load, index);
  for (const index of evidence.declared) if (evidence.candidates.has(index)) pointers.add(index);
  for (const index of pointers) {
    const param = kernel.params[index]!;
    Object.assign(param, { kind: 'pointer', space: 'global', element: undefined, size: 1, align: 1, signed: false, access: 'read' });
  }
  describePointers(kernel, graph, bases, evidence.signed);
  describeBits(kernel, graph, evidence.untyped);
}

function refuseParts(kernel: Kernel, index: number, access: Value, diagnostics: Diagnostics): void {
  const span = kernel.locs[access];
  const why = 'a pointer parameter must be read as one whole address';
  diagnostics.report('CM2049', { operand: kernel.params[index]!.name, why }, span ? { span } : {});
}

interface ParamLoads {
  /** Loads of whole candidate parameters by the parameter they load. */
  readonly seeds: Map<Value, number>;
  /** Parameters whose memory has another use, and the first such use. */
  readonly spoilt: Map<number, Value>;
}

function wholeLoads(kernel: Kernel, graph: Graph, candidates: ReadonlySet<number>): ParamLoads {
  const loads = new Map<Value, number>();
  const spoilt = new Map<number, Value>();
  const spoil = (index: number, use: Value): void => void (spoilt.has(index) || spoilt.set(index, use));
  for (const value of graph.order) {
    const inst = instOf(kernel, value);
    if (inst.op !== 'param') continue;
    for (const user of graph.users.get(value) ?? []) {
      const use = instOf(kernel, user);
      if (use.op === 'load' && use.type === 'i64' && !graph.onEdges.has(value)) loads.set(user, inst.index);
      else spoil(inst.index, user);
    }
    if (graph.onEdges.has(value)) spoil(inst.index, value);
  }
  return { seeds: new Map([...loads].filter(([, index]) => candidates.has(index))), spoilt };
}

function findPointers(
  kernel: Kernel,
  graph: Graph,
  seeds: ReadonlyMap<Value, number>,
  evidence: ParamEvidence,
  diagnostics: Diagnostics,
): Set<number> {
  const bases = paramBases(kernel, graph, seeds);
  const loaded = new Set(seeds.values());
  const pointers = new Set([...evidence.declared].filter((index) => loaded.has(index)));
  const starts = [...evidence.addresses, ...globalAddresses(kernel, graph)];
  for (let before = -1; before !== pointers.size; ) {
    before = pointers.size;
    walkBack(kernel, graph, starts, { bases, seeds, pointers }, undefined);
  }
  walkBack(kernel, graph, starts, { bases, seeds, pointers }, (sum, a, b) => {
    const span = kernel.locs[sum];
    diagnostics.report('CM2046', { a: kernel.params[a]!.name, b: kernel.params[b]!.name }, span ? { span } : {});
  });
  return pointers;
}

/** The addresses of all accesses of global or generic memory. */
function globalAddresses(kernel: Kernel, graph: Graph): Value[] {
  const addresses: Value[] = [];
  for (const value of graph.order) {
    const inst = instOf(kernel, value);
    const addr = addressOf(inst);
    if (addr === undefined) continue;
    const { type } = instOf(kernel, addr);
    if (isPointer(type) && (spaceOf(type) === 'global' || spaceOf(type) === 'generic')) addresses.push(addr);
  }
  return addresses;
}

interface Search {
  readonly bases: ParamBases;
  readonly seeds: ReadonlyMap<Value, number>;
  readonly pointers: Set<number>;
}

type OnDoubt = ((sum: Value, a: number, b: number) => void) | undefined;

/** Adds the parameters that are the base of addresses; sums whose base is in doubt are left to `onDoubt`. */
function walkBack(kernel: Kernel, graph: Graph, starts: readonly Value[], search: Search, onDoubt: OnDoubt): void {
  const { bases, seeds, pointers } = search;
  const { sets } = bases;
  const known = new Set(pointers);
  const isKnown = (index: number): boolean => known.has(index);
  const seen = new Set<Value>();
  const work = [...starts];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    if (sets[value] === 0 || seen.has(value)) continue;
    seen.add(value);
    const index = seeds.get(value);
    if (index !== undefined) {
      pointers.add(index);
      continue;
    }
    const inst = instOf(kernel, value);
    const sources = graph.sourcesOf(value);
    const carrying = sources.filter((source) => sets[source] !== 0);
    const isSum = inst.op === 'add' || inst.op === 'ptradd';
    if (!isSum || carrying.length < 2) work.push(...carrying);
    else {
      const based = carrying.filter((source) => bases.members(sets[source]!).some(isKnown));
      if (based.length > 0) work.push(...based);
      else onDoubt?.(value, bases.members(sets[carrying[0]!]!)[0]!, bases.members(sets[carrying[1]!]!)[0]!);
    }
  }
}

/** `load i64 (param i : ptr.param)` becomes `ptrtoint i64 (param i : ptr.global)`. */
function bindPointer(kernel: Kernel, load: Value, index: number): void {
  const inst = instOf(kernel, load);
  if (inst.op !== 'load') return;
  kernel.insts[inst.addr] = { op: 'param', type: 'ptr.global', index };
  kernel.insts[load] = { op: 'ptrtoint', type: 'i64', a: inst.addr };
}
