/**
 * Uniformity: which values are the same in all threads of a block (or of a warp) that compute them together, and which blocks of code
 * only some of those threads run. Sources of difference are thread numbers, loads and clocks; difference spreads through operands, through
 * joins of paths that a divergent branch separated, and out of loops that threads leave at different turns.
 * Source: Karrenberg and Hack, "Improving Performance of OpenCL on CPUs" (2012), for joins and temporal divergence.
 */
import { type Block, edgesOf, type Inst, type Kernel, type Terminator, type Value } from '../kernel.ts';
import { argsOf } from '../operands.ts';
import { specOf } from '../ops.ts';
import { isPointer, spaceOf } from '../types.ts';
import { type Cfg, cfgOf } from './cfg.ts';
import { type DominatorTree, postDominatorsOf } from './dominators.ts';
import { influenceOf } from './influence.ts';
import { definingBlocks } from './liveness.ts';

/** 0: the same in all threads of the block; 1: in all threads of a warp; 2: may differ from lane to lane. */
export type Variance = 0 | 1 | 2;

export interface Uniformity {
  /** By value: its variance among the threads that compute it together, at its definition. */
  readonly variance: Uint8Array;
  /** By block id: 0 where all threads of the block run it together, 1 where whole warps do, 2 where a warp may have diverged. */
  readonly divergence: Uint8Array;
  /** By block id: variance of the condition the block branches on. */
  readonly branch: Uint8Array;
  /** By value: 1 for a parameter of a block at which paths join that a divergent branch separated, bringing different values. */
  readonly mixed: Uint8Array;
  /** Variance of a value as seen from a block: higher than where it is defined when threads left its loop at different turns. */
  at(value: Value, block: number): Variance;
  /** Whether lanes may have left the loop of a value at different turns before they see it from a block. */
  leavesUnequally(value: Value, block: number): boolean;
}

/** The variance that an instruction adds to that of its operands. */
export type VarianceSource = (inst: Inst, value: Value) => Variance;
/** Whether an instruction gives all threads the same, whatever it is given. */
export type Levelling = (inst: Inst, value: Value) => boolean;

/** A cycle that threads leave at different turns. */
interface UnequalCycle {
  readonly blocks: ReadonlySet<number>;
  readonly level: number;
}

interface State {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly post: DominatorTree;
  readonly home: Int32Array;
  readonly variance: Uint8Array;
  readonly divergence: Uint8Array;
  readonly branch: Uint8Array;
  /** By block id: variance that parameters of the block have because divergent paths join there. */
  readonly joins: Uint8Array;
  readonly mixed: Uint8Array;
  /** By block id, for blocks that edges were followed to: whether edges pass more than one value for each of its parameters. */
  readonly differing: (readonly boolean[] | undefined)[];
  readonly source: VarianceSource;
  readonly levels: Levelling;
  readonly cycles: UnequalCycle[];
  /** Values that a thread computes from constants and numbers of its own alone: they are the same at every turn of every loop. */
  readonly fixed: ReadonlySet<Value>;
  changed: boolean;
}

/**
 * The uniformity of every value and block; blocks that cannot be reached keep 0. `source` and `levels` may know more of the launch than the
 * kernel says.
 */
export function uniformityOf(
  kernel: Kernel,
  cfg: Cfg = cfgOf(kernel),
  post: DominatorTree = postDominatorsOf(cfg),
  source: VarianceSource = (inst) => sourceVariance(inst, kernel),
  levels: Levelling = () => false,
): Uniformity {
  const state = emptyState(kernel, cfg, post, { source, levels });
  while (state.changed) {
    state.changed = false;
    for (const id of cfg.order) visitBlock(state, id);
  }
  const { variance, divergence, branch, mixed, cycles, home, fixed } = state;
  const leavesUnequally = (value: Value, block: number): boolean =>
    !fixed.has(value) && cycles.some(({ level, blocks }) => level === 2 && blocks.has(home[value]!) && !blocks.has(block));
  return { variance, divergence, branch, mixed, at: (value, block) => seenFrom(state, value, block) as Variance, leavesUnequally };
}

function emptyState(kernel: Kernel, cfg: Cfg, post: DominatorTree, known: Pick<State, 'source' | 'levels'>): State {
  const bytes = (): Uint8Array => new Uint8Array(kernel.blocks.length);
  return {
    kernel,
    cfg,
    post,
    home: definingBlocks(kernel),
    variance: new Uint8Array(kernel.insts.length),
    divergence: bytes(),
    branch: bytes(),
    joins: bytes(),
    mixed: new Uint8Array(kernel.insts.length),
    differing: [],
    ...known,
    cycles: [],
    fixed: fixedValues(kernel, cfg),
    changed: true,
  };
}

function visitBlock(state: State, id: number): void {
  const block = state.kernel.blocks[id]!;
  // What differs from lane to lane stays so.
  for (const value of block.body) if (state.variance[value]! < 2) raise(state, value, levelOf(state, value, id));
  visitEdges(state, id, block.end);
  if (block.end.op === 'condbr') visitBranch(state, id, seenFrom(state, block.end.cond, id));
}

function levelOf(state: State, value: Value, block: number): number {
  const inst = state.kernel.insts[value]!;
  if (state.levels(inst, value)) return 0;
  // A collective gives one result to each warp.
  let level: number = state.source(inst, value);
  if (level < 2 && (inst.op === 'ballot' || inst.op === 'reduce')) return 1;
  // Lanes with one mask have one result.
  if (level < 2 && (inst.op === 'ballotsync' || inst.op === 'reducesync')) return Math.max(1, seenFrom(state, inst.members, block));
  if (level < 2 && inst.op === 'shuffle' && seenFrom(state, inst.b, block) < 2) return 1;
  if (inst.op === 'mma') return 2;
  if (level === 2) return level;
  const fields = inst as unknown as Record<string, Value>;
  for (const name of argsOf(inst.op)) level = Math.max(level, seenFrom(state, fields[name]!, block));
  return level;
}

function visitEdges(state: State, id: number, end: Terminator): void {
  for (const { block: to, args } of edgesOf(end)) {
    const differing = state.differing[to.id] ?? differingParams(state, to);
    state.differing[to.id] = differing;
    args.forEach((arg, i) => {
      const joined = differing[i] ? state.joins[to.id]! : 0;
      if (joined === 2) state.mixed[to.params[i]!] = 1;
      const own = state.source(state.kernel.insts[to.params[i]!]!, to.params[i]!);
      raise(state, to.params[i]!, Math.max(joined, own, seenFrom(state, arg, id), seenFrom(state, arg, to.id)));
    });
  }
}

/** By parameter of a block: whether the edges to it pass more than one value. */
function differingParams({ kernel, cfg }: State, { id, params }: Block): boolean[] {
  const edges = [...new Set(cfg.predecessors[id])].flatMap((from) =>
    edgesOf(kernel.blocks[from]!.end).filter(({ block }) => block.id === id),
  );
  return params.map((_, i) => edges.some(({ args }) => args[i] !== edges[0]!.args[i]));
}

function visitBranch(state: State, id: number, level: number): void {
  if (level <= state.branch[id]!) return;
  state.branch[id] = level;
  state.changed = true;
  const { region, joins, cycle } = influenceOf(state.cfg, id, state.post.parent[id]!);
  for (const block of region) state.divergence[block] = Math.max(state.divergence[block]!, level);
  for (const block of joins) state.joins[block] = Math.max(state.joins[block]!, level);
  if (cycle.size > 0) state.cycles.push({ blocks: cycle, level });
}

/** Blocks are in an order in which definitions precede uses. */
function fixedValues({ blocks, insts }: Kernel, cfg: Cfg): Set<Value> {
  const fixed = new Set<Value>();
  for (const id of cfg.order)
    for (const value of blocks[id]!.body) {
      const inst = insts[value]!;
      if (specOf(inst.op).effect === 'pure' && areFixed(inst, fixed)) fixed.add(value);
    }
  return fixed;
}

function areFixed(inst: Inst, fixed: ReadonlySet<Value>): boolean {
  const fields = inst as unknown as Record<string, Value>;
  for (const name of argsOf(inst.op)) if (!fixed.has(fields[name]!)) return false;
  return true;
}

function seenFrom(state: State, value: Value, block: number): number {
  let level = state.variance[value]!;
  if (level === 2 || state.cycles.length === 0 || state.home[value] === block || state.fixed.has(value)) return level;
  for (const cycle of state.cycles)
    if (cycle.level > level && cycle.blocks.has(state.home[value]!) && !cycle.blocks.has(block)) level = cycle.level;
  return level;
}

function raise(state: State, value: Value, level: number): void {
  if (level <= state.variance[value]!) return;
  state.variance[value] = level;
  state.changed = true;
}

/** The variance of an instruction whose operands are uniform. */
export function sourceVariance(inst: Inst, kernel: Kernel): Variance {
  if (inst.op === 'atomic' || inst.op === 'cas' || inst.op === 'clock') return 2;
  if (inst.op === 'load') return readsSameForAll(inst.addr, kernel) ? 0 : 2;
  if (inst.op !== 'sreg') return 0;
  if (inst.name === 'warpid') return 1;
  const axis = /^(?:tid|gid)\.([xyz])$/.exec(inst.name)?.[1];
  if (axis !== undefined) return kernel.requiredThreads?.['xyz'.indexOf(axis)] === 1 ? 0 : 2;
  return inst.name === 'tid.linear' || inst.name === 'laneid' ? 2 : 0;
}

/** Memory that no thread writes while the kernel runs. */
function readsSameForAll(address: Value, kernel: Kernel): boolean {
  const type = kernel.insts[address]!.type;
  return isPointer(type) && (spaceOf(type) === 'param' || spaceOf(type) === 'constant');
}
