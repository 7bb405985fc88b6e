/**
 * Ranges of integers in one launch: intervals that follow from the sizes of its grid and the values of its parameters, through loops by their
 * numbers of turns, and in a block by the conditions of the branches that lead to it. Every claim holds in all threads.
 */
import type { Block, Edge, Inst, InstOf, Kernel, Value } from '../kernel.ts';
import { constantOf, edgesOf } from '../kernel.ts';
import type { IcmpPredicate } from '../ops.ts';
import type { Sreg } from '../sregs.ts';
import { bitsOf, isInt } from '../types.ts';
import { type Condition, conditionOf, conditionsOf, mirrored, negated, rangeWhere } from './branch-conditions.ts';
import { type Cfg, cfgOf } from './cfg.ts';
import { type DominatorTree, dominatorsOf } from './dominators.ts';
import { added, allOf, type Interval, intervalOf, isInside, isSingle, scaled, single, union } from './interval.ts';
import { definingBlocks } from './liveness.ts';
import { type Loop, loopsOf } from './loops.ts';
import { isMultiple } from './multiples.ts';
import { turnsWhile } from './turns.ts';
import { sregMax } from './value-range.ts';

/** What is known of a launch. */
export interface LaunchFacts {
  /** The interval of a special register. */
  sreg(name: Sreg): Interval | undefined;
  /** The bits of an integer that a parameter by value has at an offset in bytes. */
  valueOf(param: number, offset: number, bits: number): bigint | undefined;
}

/** What is known of every launch. */
export const anyLaunch: LaunchFacts = {
  sreg: (name) => (name in sregMax ? { min: 0n, max: sregMax[name as keyof typeof sregMax] } : undefined),
  valueOf: () => undefined,
};

export interface LaunchRanges {
  /** The interval of an integer where control is in a block. */
  at(value: Value, block: number): Interval;
  /** The most turns of the loop with this header after the first one; undefined where no bound is known. */
  turnsOf(header: number): bigint | undefined;
}

interface Ranges {
  readonly kernel: Kernel;
  readonly facts: LaunchFacts;
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly home: Int32Array;
  readonly loops: ReadonlyMap<number, Loop>;
  readonly known: Map<Value, Interval>;
  readonly turns: Map<number, bigint | undefined>;
  /** By block. */
  readonly conditions: Map<number, readonly Condition[]>;
  /** Values whose interval is being found, each of which counts as any number, and headers whose turns are. */
  readonly open: Set<Value>;
  readonly openLoops: Set<number>;
  /** Parameters of headers whose distance from another value is being found. */
  readonly openDistances: Set<Value>;
  /** How often something open was asked for. What is found then depends on where the search began, and is forgotten unless it began there. */
  misses: number;
  /** Steps that are left, until everything is kept. */
  budget: number;
}

/** The most steps of a search that forgets. */
const maxSteps = 20_000;

/** The ranges of a kernel in a launch. */
export function launchRanges(kernel: Kernel, facts: LaunchFacts = anyLaunch): LaunchRanges {
  const cfg = cfgOf(kernel);
  const dominators = dominatorsOf(cfg);
  const loops = new Map(loopsOf(cfg, dominators).loops.map((loop) => [loop.header, loop]));
  const state: Ranges = {
    kernel,
    facts,
    cfg,
    dominators,
    home: definingBlocks(kernel),
    loops,
    known: new Map(),
    turns: new Map(),
    conditions: new Map(),
    open: new Set(),
    openLoops: new Set(),
    openDistances: new Set(),
    misses: 0,
    budget: maxSteps,
  };
  return { at: (value, block) => rangeAt(state, value, block), turnsOf: (header) => turnsOf(state, header) };
}

/** The interval of a value wherever it is used. */
function rangeOf(state: Ranges, value: Value): Interval {
  const known = state.known.get(value);
  if (known) return known;
  const inst = state.kernel.insts[value]!;
  const all = allOf(isInt(inst.type) ? bitsOf(inst.type) : 64);
  if (!isInt(inst.type)) return all;
  if (state.open.has(value)) {
    state.misses++;
    return all;
  }
  state.open.add(value);
  const { misses } = state;
  const found = rangeOfInst(state, inst, value);
  state.open.delete(value);
  const range = isInside(found, all) ? found : all;
  if (isFinal(state, misses)) state.known.set(value, range);
  return range;
}

/** Whether what was found since a number of misses holds wherever it is asked for. */
function isFinal(state: Ranges, misses: number): boolean {
  state.budget--;
  return state.misses === misses || state.budget < 0 || state.open.size + state.openLoops.size === 0;
}

function rangeOfInst(state: Ranges, inst: Inst, value: Value): Interval {
  const { kernel, facts } = state;
  switch (inst.op) {
    case 'const':
      return single(BigInt.asIntN(bitsOf(inst.type), inst.bits));
    case 'sreg':
      return facts.sreg(inst.name) ?? allOf(32);
    case 'load': {
      const bits = bitsOf(inst.type);
      const given = givenValue(kernel, facts, inst);
      return given === undefined ? allOf(bits) : single(BigInt.asIntN(bits, given));
    }
    case 'arg':
      return rangeOfParam(state, value);
    default:
      return intervalOf(inst, { typeOf: (operand) => kernel.insts[operand]!.type, of: (operand) => rangeOf(state, operand) });
  }
}

/** The bits that a load of a parameter by value gives in a launch; undefined of another load, and where they are not known. */
export function givenValue(kernel: Kernel, facts: LaunchFacts, { addr, type }: InstOf<'load'>): bigint | undefined {
  const found = isInt(type) ? paramAt(kernel, addr) : undefined;
  return found && facts.valueOf(found.index, found.offset, bitsOf(type));
}

/** The parameter by value and the offset that an address is. */
function paramAt({ insts, params }: Kernel, address: Value): { readonly index: number; readonly offset: number } | undefined {
  let offset = 0n;
  let inst = insts[address]!;
  for (; inst.op === 'ptradd'; inst = insts[inst.a]!) {
    const by = insts[inst.b]!;
    if (by.op !== 'const') return undefined;
    offset += BigInt.asIntN(64, by.bits);
  }
  return inst.op === 'param' && params[inst.index]?.kind === 'value' ? { index: inst.index, offset: Number(offset) } : undefined;
}

// ── parameters of blocks ──

interface Incoming {
  readonly from: Block;
  readonly edge: Edge;
}

/** The edges to a block that can be taken. */
function incomingOf({ kernel, cfg }: Ranges, block: number): Incoming[] {
  const to = kernel.blocks[block]!;
  return cfg.predecessors[block]!.filter((from) => cfg.position[from]! >= 0).flatMap((id) => {
    const from = kernel.blocks[id]!;
    return edgesOf(from.end).flatMap((edge) => (edge.block === to ? [{ from, edge }] : []));
  });
}

function rangeOfParam(state: Ranges, param: Value): Interval {
  const { home, loops, kernel } = state;
  const at = kernel.blocks[home[param]!]!.params.indexOf(param);
  const loop = loops.get(home[param]!);
  if (loop) return rangeInLoop(state, param, loop);
  return incomingOf(state, home[param]!)
    .map(({ from, edge }) => rangeOnEdge(state, edge.args[at]!, from, edge))
    .reduce(union);
}

/** What a loop adds to a parameter of its header in each turn, and the value that it starts with. */
interface Induction {
  readonly first: Interval;
  readonly step: Interval;
}

/** The induction of a parameter of a header; undefined if turns do not add to it. */
function inductionOf(state: Ranges, param: Value, loop: Loop): Induction | undefined {
  const step = stepOf(state, param, loop);
  return step && { first: firstOf(state, param, loop), step };
}

/** What a parameter of a header has when the loop is entered. */
function firstOf(state: Ranges, param: Value, { header, blocks }: Loop): Interval {
  const at = state.kernel.blocks[header]!.params.indexOf(param);
  return incomingOf(state, header)
    .filter(({ from }) => !blocks.includes(from.id))
    .map(({ from, edge }) => rangeOnEdge(state, edge.args[at]!, from, edge))
    .reduce(union);
}

/** What a turn adds to a parameter of a header. */
function stepOf(state: Ranges, param: Value, { header, blocks }: Loop): Interval | undefined {
  const at = state.kernel.blocks[header]!.params.indexOf(param);
  if (at < 0) return undefined;
  let all: Interval | undefined;
  for (const { from, edge } of incomingOf(state, header)) {
    if (!blocks.includes(from.id)) continue;
    const step = distance(state, edge.args[at]!, param);
    if (!step) return undefined;
    all = all ? union(all, step) : step;
  }
  return all;
}

/** By how much a value of the same type is above another one, modulo its type; undefined where it is no such sum. */
function distance(state: Ranges, value: Value, from: Value): Interval | undefined {
  if (value === from) return single(0n);
  const { kernel, loops, home } = state;
  const inst = kernel.insts[value]!;
  const plus = (operand: Value, by: Value, sign: 1n | -1n): Interval | undefined => {
    const found = distance(state, operand, from);
    return found && added(found, scaled(rangeOf(state, by), sign));
  };
  switch (inst.op) {
    case 'add':
      return plus(inst.a, inst.b, 1n) ?? plus(inst.b, inst.a, 1n);
    case 'sub':
      return plus(inst.a, inst.b, -1n);
    case 'arg': {
      const loop = loops.get(home[value]!);
      return loop && !state.openDistances.has(value) ? carriedDistance(state, value, from, loop) : undefined;
    }
    default:
      return undefined;
  }
}

/** The distance of a parameter of an inner loop. */
function carriedDistance(state: Ranges, param: Value, from: Value, loop: Loop): Interval | undefined {
  state.openDistances.add(param);
  const at = state.kernel.blocks[loop.header]!.params.indexOf(param);
  const firsts = incomingOf(state, loop.header)
    .filter((each) => !loop.blocks.includes(each.from.id))
    .map(({ edge }) => distance(state, edge.args[at]!, from));
  const step = firsts.includes(undefined) ? undefined : stepOf(state, param, loop);
  const turns = step && turnsOf(state, loop.header);
  state.openDistances.delete(param);
  if (!step || turns === undefined) return undefined;
  return added((firsts as Interval[]).reduce(union), union(single(0n), scaled(step, turns)));
}

function rangeInLoop(state: Ranges, param: Value, loop: Loop): Interval {
  const all = allOf(bitsOf(state.kernel.insts[param]!.type));
  const induction = inductionOf(state, param, loop);
  if (!induction) return shrinking(state, param, loop) ?? all;
  const turns = turnsOf(state, loop.header);
  if (turns === undefined) return all;
  const range = added(induction.first, union(single(0n), scaled(induction.step, turns)));
  return isInside(range, all) ? range : all;
}

/** The range of a parameter that each turn makes smaller or keeps, by a shift to the right or the like. */
function shrinking(state: Ranges, param: Value, { header, blocks }: Loop): Interval | undefined {
  const at = state.kernel.blocks[header]!.params.indexOf(param);
  let first: Interval | undefined;
  for (const { from, edge } of incomingOf(state, header)) {
    const arg = edge.args[at]!;
    if (blocks.includes(from.id)) {
      if (!isPartOf(state, arg, param)) return undefined;
    } else {
      const range = rangeOnEdge(state, arg, from, edge);
      first = first ? union(first, range) : range;
    }
  }
  return first && first.min >= 0n ? { min: 0n, max: first.max } : undefined;
}

/** Whether a value is at most a natural number. */
function isPartOf({ kernel }: Ranges, value: Value, of: Value): boolean {
  const inst = kernel.insts[value]!;
  switch (inst.op) {
    case 'lshr':
    case 'ashr':
      return inst.a === of;
    case 'and':
    case 'umin':
      return inst.a === of || inst.b === of;
    case 'udiv':
      return inst.a === of && (constantOf(kernel, inst.b) ?? 0n) > 0n;
    default:
      return value === of;
  }
}

// ── turns ──

function turnsOf(state: Ranges, header: number): bigint | undefined {
  if (state.turns.has(header)) return state.turns.get(header);
  const loop = state.loops.get(header);
  if (!loop) return undefined;
  if (state.openLoops.has(header)) {
    state.misses++;
    return undefined;
  }
  state.openLoops.add(header);
  const { misses } = state;
  const found = maxTurns(state, loop);
  state.openLoops.delete(header);
  if (isFinal(state, misses)) state.turns.set(header, found);
  return found;
}

/** The least bound that a condition which every turn tests gives. */
function maxTurns(state: Ranges, loop: Loop): bigint | undefined {
  const found = testsOf(state, loop).flatMap(({ inst, pred }) => [
    turnsBy(state, loop, { tested: inst.a, limit: inst.b, pred }),
    turnsBy(state, loop, { tested: inst.b, limit: inst.a, pred: mirrored[pred] }),
  ]);
  return found.reduce((least, each) => (each !== undefined && (least === undefined || each < least) ? each : least), undefined);
}

/** The comparisons of which one side leaves the loop, and which every turn makes before it jumps back, with the predicate that stays. */
function testsOf(
  { kernel, dominators }: Ranges,
  { blocks, latches }: Loop,
): { readonly inst: InstOf<'icmp'>; readonly pred: IcmpPredicate }[] {
  const inside = new Set(blocks);
  return blocks.flatMap((id) => {
    const { end } = kernel.blocks[id]!;
    if (end.op !== 'condbr' || !latches.every((latch) => dominators.dominates(id, latch))) return [];
    const [then, otherwise] = [inside.has(end.then.block.id), inside.has(end.else.block.id)];
    const inst = kernel.insts[end.cond]!;
    if (then === otherwise || inst.op !== 'icmp') return [];
    return [{ inst, pred: then ? inst.pred : negated[inst.pred] }];
  });
}

interface Test {
  readonly tested: Value;
  readonly limit: Value;
  readonly pred: IcmpPredicate;
}

/** The turns until an integer reaches a limit; undefined if it is no integer to which turns add, or if it may wrap around first. */
function turnsBy(state: Ranges, loop: Loop, { tested, limit, pred }: Test): bigint | undefined {
  const { kernel, home } = state;
  // Constants may be anywhere.
  if (loop.blocks.includes(home[limit]!) && kernel.insts[limit]!.op !== 'const') return undefined;
  const { type } = kernel.insts[tested]!;
  const all = allOf(bitsOf(type));
  for (const param of kernel.blocks[loop.header]!.params) {
    const ahead = kernel.insts[param]!.type === type ? distance(state, tested, param) : undefined;
    const induction = ahead && inductionOf(state, param, loop);
    const first = induction && added(induction.first, ahead);
    if (!first || !isSingle(ahead) || !isInside(first, all)) continue;
    const areMultiples = (of: bigint): boolean =>
      ahead.min % of === 0n && startsAsMultiple(state, param, loop, of) && isMultipleIn(state, limit, of);
    const turns = turnsWhile(pred, { first, step: induction.step, bound: rangeAt(state, limit, loop.header), all, areMultiples });
    if (turns !== undefined) return turns;
  }
  return undefined;
}

const isMultipleIn = (state: Ranges, value: Value, of: bigint): boolean =>
  isMultiple(state.kernel, (each) => rangeOf(state, each), value, of);

function startsAsMultiple(state: Ranges, param: Value, { header, blocks }: Loop, of: bigint): boolean {
  const at = state.kernel.blocks[header]!.params.indexOf(param);
  return incomingOf(state, header).every(({ from, edge }) => blocks.includes(from.id) || isMultipleIn(state, edge.args[at]!, of));
}

// ── conditions ──

/** The interval of a value where control is in a block. */
function rangeAt(state: Ranges, value: Value, block: number): Interval {
  return underConditions(state, value, conditionsIn(state, block));
}

function conditionsIn({ kernel, cfg, dominators, conditions }: Ranges, block: number): readonly Condition[] {
  const found = conditions.get(block) ?? conditionsOf(kernel, cfg, dominators, block);
  conditions.set(block, found);
  return found;
}

/** The interval of a value where an edge is taken. */
function rangeOnEdge(state: Ranges, value: Value, from: Block, edge: Edge): Interval {
  const own = conditionOf(from, edge);
  return underConditions(state, value, [...(own ? [own] : []), ...conditionsIn(state, from.id)]);
}

function underConditions(state: Ranges, value: Value, conditions: readonly Condition[]): Interval {
  const { kernel } = state;
  const inst = kernel.insts[value]!;
  const of = (each: Value): Interval => rangeOf(state, each);
  if (inst.op === 'sext' || inst.op === 'zext') {
    const inner = underConditions(state, inst.a, conditions);
    return intervalOf(inst, { typeOf: (operand) => kernel.insts[operand]!.type, of: () => inner });
  }
  return conditions.reduce((range, condition) => rangeWhere(kernel, of, value, range, condition), of(value));
}
