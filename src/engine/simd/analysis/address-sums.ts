/**
 * Address sums: an address as a sum of pointers, integers of 64 bits, extended integers of 32 bits and a constant, each times a factor, modulo
 * 2^64. Sums and products are followed through the address arithmetic; each other value is a part. A value that a loop carries is expanded by
 * its first value and a new integer, the distance that the turns before have added.
 */
import {
  addedIntervals,
  addInst,
  type Block,
  type Cfg,
  cfgOf,
  constantOf,
  type DominatorTree,
  definingBlocks,
  dominatorsOf,
  type Edge,
  edgesOf,
  type InstOf,
  type Interval,
  isPointer,
  type Kernel,
  type LaunchFacts,
  type LaunchRanges,
  launchRanges,
  scaledInterval,
  spaceOf,
  type Value,
} from '../../../ir/index.ts';

export interface AddressSum {
  /** By value, its factor, a signed number: pointers, integers of 64 bits, and extensions of integers of 32 bits, which are `zext` or `sext`. */
  readonly parts: ReadonlyMap<Value, bigint>;
  /** A signed number. */
  readonly constant: bigint;
  /** What the address has in addition, because low bits of a part are cleared. */
  readonly rounding: Interval;
}

export interface AddressSums {
  /** The sum of a pointer or a 64-bit integer; values that loops carry are expanded where that is possible. */
  of(value: Value): AddressSum;
  /** The interval of a part where control is in a block. */
  rangeAt(part: Value, block: number): Interval;
  /** Adds the distances among some values to their loops. */
  place(values: Iterable<Value>): void;
}

interface State {
  readonly kernel: Kernel;
  readonly ranges: LaunchRanges;
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly home: Int32Array;
  readonly sums: Map<Value, AddressSum>;
  /** By parameter of a block: its values in a loop; `none` of other parameters, and while they are found. */
  readonly loops: Map<Value, LoopValue | 'none'>;
  /** Distances that are not parameters of their block yet. */
  readonly distances: Map<Value, LoopValue>;
}

/** A value that a loop carries, as its first value plus a distance. */
interface LoopValue {
  readonly first: Value;
  /** An i64. */
  readonly distance: Value;
  readonly header: Block;
  /** The edges to the header, with the sum that a turn adds. */
  readonly edges: readonly LoopEdge[];
}

interface LoopEdge {
  readonly edge: Edge;
  readonly from: Block;
  /** Undefined of the edge that enters the loop. */
  readonly step: AddressSum | undefined;
}

const signed = (bits: bigint): bigint => BigInt.asIntN(64, bits);
const none: Interval = { min: 0n, max: 0n };
const nothing: AddressSum = { parts: new Map(), constant: 0n, rounding: none };
const partOf = (value: Value): AddressSum => ({ ...nothing, parts: new Map([[value, 1n]]) });

/** The sums of a kernel's addresses. */
export function addressSums(kernel: Kernel, facts: LaunchFacts | undefined): AddressSums {
  const cfg = cfgOf(kernel);
  const state: State = {
    kernel,
    ranges: launchRanges(kernel, facts),
    cfg,
    dominators: dominatorsOf(cfg),
    home: definingBlocks(kernel),
    sums: new Map(),
    loops: new Map(),
    distances: new Map(),
  };
  return {
    of: (value) => expanded(state, sumOf(state, value)),
    rangeAt: (part, block) => rangeAt(state, part, block),
    place: (values) => placeDistances(state, values),
  };
}

// ── sums ──

function plus(a: AddressSum, b: AddressSum, by: bigint): AddressSum {
  const parts = new Map(a.parts);
  for (const [value, factor] of b.parts) {
    const sum = signed((parts.get(value) ?? 0n) + factor * by);
    if (sum === 0n) parts.delete(value);
    else parts.set(value, sum);
  }
  const rounding = addedIntervals(a.rounding, scaledInterval(b.rounding, by));
  return { parts, constant: signed(a.constant + b.constant * by), rounding };
}

function sumOf(state: State, value: Value): AddressSum {
  const known = state.sums.get(value);
  if (known) return known;
  const sum = newSum(state, value);
  state.sums.set(value, sum);
  return sum;
}

function newSum(state: State, value: Value): AddressSum {
  const { kernel } = state;
  const inst = kernel.insts[value]!;
  const self = partOf(value);
  const scaled = (operand: Value, by: bigint | undefined): AddressSum =>
    by === undefined ? self : plus(nothing, sumOf(state, operand), by);
  switch (inst.op) {
    case 'const':
      return { ...nothing, constant: signed(inst.bits) };
    case 'ptradd':
    case 'add':
      return plus(sumOf(state, inst.a), sumOf(state, inst.b), 1n);
    case 'sub':
      return plus(sumOf(state, inst.a), sumOf(state, inst.b), -1n);
    case 'mul':
      return scaled(inst.a, constantOf(kernel, inst.b));
    case 'shl': {
      const count = constantOf(kernel, inst.b);
      return scaled(inst.a, count === undefined ? undefined : count > 63n ? 0n : 1n << count);
    }
    case 'ptrtoint':
    case 'inttoptr':
      return isGlobal(kernel, inst.op === 'ptrtoint' ? inst.a : value) ? sumOf(state, inst.a) : self;
    case 'and':
      return withoutLowBits(state, inst, self);
    default:
      return self;
  }
}

/** Whether the address of a pointer is also its number: those of the other spaces are offsets in their window. */
function isGlobal({ insts }: Kernel, pointer: Value): boolean {
  const { type } = insts[pointer]!;
  return isPointer(type) && spaceOf(type) === 'global';
}

/** Clearing the last bits of a number subtracts less than the lowest bit that stays. */
function withoutLowBits(state: State, { a, b }: InstOf<'and'>, self: AddressSum): AddressSum {
  const mask = constantOf(state.kernel, b);
  const lowest = mask === undefined ? 0n : -signed(mask);
  const isCut = lowest > 0n && (lowest & (lowest - 1n)) === 0n;
  if (!isCut) return self;
  const sum = sumOf(state, a);
  return { ...sum, rounding: addedIntervals(sum.rounding, { min: 1n - lowest, max: 0n }) };
}

// ── loops ──

/** A sum in which values that loops carry are replaced by their first value and the distance from it. */
function expanded(state: State, sum: AddressSum): AddressSum {
  for (const [value, by] of sum.parts) {
    const loop = state.kernel.insts[value]!.op === 'arg' ? loopOf(state, value) : 'none';
    if (loop === 'none') continue;
    const parts = new Map(sum.parts);
    parts.delete(value);
    const first = plus({ ...sum, parts }, sumOf(state, loop.first), by);
    return expanded(state, plus(first, partOf(loop.distance), by));
  }
  return sum;
}

function loopOf(state: State, param: Value): LoopValue | 'none' {
  const known = state.loops.get(param);
  if (known) return known;
  state.loops.set(param, 'none');
  const found = loopValue(state, param);
  state.loops.set(param, found);
  return found;
}

/** The values of a parameter of a loop header to which each turn adds a sum without pointers. */
function loopValue(state: State, param: Value): LoopValue | 'none' {
  const { kernel, cfg, dominators, home, distances } = state;
  const header = kernel.blocks[home[param]!]!;
  const at = header.params.indexOf(param);
  const edges = cfg.predecessors[header.id]!.flatMap((id) => {
    const from = kernel.blocks[id]!;
    return edgesOf(from.end).flatMap((edge) => (edge.block === header ? [{ edge, from }] : []));
  });
  const entering = edges.filter(({ from }) => !dominators.dominates(header.id, from.id));
  if (entering.length !== 1 || edges.length === 1) return 'none';
  const [entry] = entering;
  const steps: LoopEdge[] = [];
  for (const each of edges) {
    const step = each === entry ? undefined : stepOf(state, param, each.edge.args[at]!);
    if (each !== entry && !step) return 'none';
    steps.push({ ...each, step });
  }
  const distance = addInst(kernel, { op: 'arg', type: 'i64' });
  const found = { first: entry!.edge.args[at]!, distance, header, edges: steps };
  distances.set(distance, found);
  state.loops.set(distance, 'none');
  return found;
}

/** What a turn adds; undefined if the next value is no such sum. */
function stepOf(state: State, param: Value, next: Value): AddressSum | undefined {
  const sum = expanded(state, sumOf(state, next));
  const isExact = sum.rounding.min === 0n && sum.rounding.max === 0n;
  if (sum.parts.get(param) !== 1n || !isExact) return undefined;
  const parts = new Map(sum.parts);
  parts.delete(param);
  return [...parts.keys()].some((value) => isPointer(state.kernel.insts[value]!.type)) ? undefined : { ...sum, parts };
}

/** Makes distances parameters of their headers, with the distances that they are computed from. */
function placeDistances(state: State, values: Iterable<Value>): void {
  for (const value of values) {
    const loop = state.distances.get(value);
    if (!loop || loop.header.params.includes(value)) continue;
    loop.header.params.push(value);
    for (const { edge, from, step } of loop.edges) {
      const written: Value[] = [];
      edge.args.push(integerSum(state.kernel, step ?? nothing, step ? [value] : [], written));
      from.body.push(...written);
      placeDistances(state, step?.parts.keys() ?? []);
    }
  }
}

/** Makes the instructions of a sum of 64-bit integers plus some values, at least a constant 0. */
export function integerSum(
  kernel: Kernel,
  { parts, constant }: Pick<AddressSum, 'parts' | 'constant'>,
  before: readonly Value[],
  written: Value[],
): Value {
  const write = (inst: Parameters<typeof addInst>[1]): Value => {
    const value = addInst(kernel, inst);
    written.push(value);
    return value;
  };
  const constantOf64 = (number: bigint): Value => write({ op: 'const', type: 'i64', bits: BigInt.asUintN(64, number) });
  const terms = [...before];
  for (const [value, by] of parts) terms.push(by === 1n ? value : write({ op: 'mul', type: 'i64', a: value, b: constantOf64(by) }));
  if (constant !== 0n || terms.length === 0) terms.push(constantOf64(constant));
  return terms.reduce((a, b) => write({ op: 'add', type: 'i64', a, b }));
}

// ── ranges ──

/** The interval of a sum of integers where control is in a block. */
function rangeOfSum(state: State, { parts, constant, rounding }: AddressSum, block: number): Interval {
  let sum = addedIntervals(rounding, { min: constant, max: constant });
  for (const [value, by] of parts) sum = addedIntervals(sum, scaledInterval(rangeAt(state, value, block), by));
  return sum;
}

function rangeAt(state: State, value: Value, block: number): Interval {
  const loop = state.distances.get(value);
  return loop ? rangeOfDistance(state, loop) : state.ranges.at(value, block);
}

const all: Interval = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

function rangeOfDistance(state: State, { header, edges }: LoopValue): Interval {
  const turns = state.ranges.turnsOf(header.id);
  if (turns === undefined) return all;
  let [min, max] = [0n, 0n];
  for (const { step, from } of edges) {
    if (!step) continue;
    const range = rangeOfSum(state, step, from.id);
    if (range.min < min) min = range.min;
    if (range.max > max) max = range.max;
  }
  return scaledInterval({ min, max }, turns);
}
