/**
 * Convergence: which blocks the lanes of a warp run together. Lanes that can reach no further barrier or collective count as exited, because
 * no other thread meets them again.
 */
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { specOf } from '../ops.ts';
import { type Cfg, cfgOf, positionsIn, reversed, reversePostorder } from './cfg.ts';
import { dominatorsOf, postDominatorsOf } from './dominators.ts';
import { influenceOf } from './influence.ts';
import { definingBlocks } from './liveness.ts';
import { loopsOf } from './loops.ts';
import { newMaskOrigin } from './mask-origin.ts';
import { sourceVariance, uniformityOf, type Variance } from './uniformity.ts';

export interface StayingGraph {
  /** The control-flow graph of threads that will meet others again. */
  readonly staying: Cfg;
  /** By block: 1 where a thread can still reach a barrier or a collective. */
  readonly stays: Uint8Array;
}

/** Whether an instruction makes threads wait for each other. */
const isSyncPoint = (kernel: Kernel, value: Value): boolean => {
  const { effect } = specOf(kernel.insts[value]!.op);
  return effect === 'barrier' || effect === 'warp';
};

/**
 * The blocks from which a thread can still reach a barrier or a warp collective, and their graph. The graph has one more block as the
 * target of loop exits that lead out of it. Without that block a thread that stays in a loop would look like the only way on to an exit,
 * and would seem to reconverge with waiting threads in a later iteration.
 */
export function stayingGraphOf(kernel: Kernel, cfg: Cfg): StayingGraph {
  const rendezvous = cfg.order.filter((id) => kernel.blocks[id]!.body.some((value) => isSyncPoint(kernel, value)));
  const stays = blocksReaching(cfg, rendezvous);
  const { innermost } = loopsOf(cfg, dominatorsOf(cfg));
  const out = cfg.successors.length;
  const successors = cfg.successors.map((targets, id) => {
    if (!stays[id]) return [];
    const on = targets.filter((to) => stays[to]);
    return innermost[id]! >= 0 && on.length < targets.length ? [...on, out] : on;
  });
  successors.push([]);
  const order = reversePostorder(successors, 0);
  return { staying: { successors, predecessors: reversed(successors), order, position: positionsIn(order, successors.length) }, stays };
}

/** The blocks from which one of the given blocks is reachable, the given ones included. */
export function blocksReaching({ predecessors }: Pick<Cfg, 'predecessors'>, blocks: readonly number[]): Uint8Array {
  const found = new Uint8Array(predecessors.length);
  const stack = [...blocks];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (found[id]) continue;
    found[id] = 1;
    for (const from of predecessors[id]!) if (!found[from]) stack.push(from);
  }
  return found;
}

export interface Convergence {
  /** By block: 1 where all lanes of a warp that have not exited run it together. */
  readonly blocks: Uint8Array;
  /** By value: whether it may differ from lane to lane of a warp. */
  readonly variance: Uint8Array;
  /** Whether all lanes that a mask names execute a block together. */
  areTogether(mask: Value, block: number): boolean;
}

/**
 * The convergence of a kernel. `areRowsAligned`: consecutive lanes of a warp have consecutive `tid.x`, because the x extent of the block is a
 * multiple of 32, or because the block has one row. No block converges if a barrier is in divergent code, since lanes that wait there
 * are late for a collective, or if some path has no exit.
 */
export function convergenceOf(kernel: Kernel, areRowsAligned: boolean): Convergence {
  const cfg = cfgOf(kernel);
  const source = (inst: Inst): Variance => warpVariance(inst, kernel, areRowsAligned);
  const { branch, variance } = uniformityOf(kernel, cfg, postDominatorsOf(cfg), source, (inst) => dropsLane(kernel, inst, areRowsAligned));
  const { staying, stays } = stayingGraphOf(kernel, cfg);
  const ends = blocksReaching(
    staying,
    staying.order.filter((id) => staying.successors[id]!.length === 0),
  );
  const none = { blocks: new Uint8Array(kernel.blocks.length), variance, areTogether: () => false };
  if (staying.order.some((id) => !ends[id])) return none;
  const post = postDominatorsOf(staying);
  const blocks = new Uint8Array(kernel.blocks.length).fill(1);
  const splits = new Map<number, ReadonlySet<number>>();
  for (const id of cfg.order) {
    if (branch[id] !== 2 || !cfg.successors[id]!.every((to) => stays[to])) continue;
    const { region } = influenceOf(staying, id, post.parent[id]!);
    splits.set(id, region);
    // The block behind all exits has no element.
    for (const block of region) blocks[block] = 0;
  }
  const isBarrier = (value: Value): boolean => kernel.insts[value]!.op === 'barrier';
  if (cfg.order.some((id) => !blocks[id] && kernel.blocks[id]!.body.some(isBarrier))) return none;
  const isFromVote = newMaskOrigin({ kernel, cfg, home: definingBlocks(kernel), convergent: blocks, splits, areRowsAligned });
  return { blocks, variance, areTogether: (mask, block) => blocks[block] === 1 || isFromVote(mask, block) };
}

/** The convergence by `areRowsAligned`, computed once each: of a kernel that stays as it is. */
export type Convergences = (areRowsAligned: boolean) => Convergence;

export function convergencesOf(kernel: Kernel): Convergences {
  const known = new Map<boolean, Convergence>();
  return (areRowsAligned) => {
    const found = known.get(areRowsAligned) ?? convergenceOf(kernel, areRowsAligned);
    known.set(areRowsAligned, found);
    return found;
  };
}

/** The variance of an instruction with uniform operands, in a warp. Lanes that load from one address together read the same. */
function warpVariance(inst: Inst, kernel: Kernel, areRowsAligned: boolean): Variance {
  if (inst.op === 'load') return inst.volatile ? 2 : 0;
  if (inst.op === 'sreg' && areRowsAligned && /^(?:tid|gid)\.[yz]$/.test(inst.name)) return 1;
  return sourceVariance(inst, kernel);
}

const laneBits = 5;
const lanes = 1n << BigInt(laneBits);

/** Whether a value is the lane in its low five bits and uniform in a warp above. */
function isLaneIndex(kernel: Kernel, value: Value, areRowsAligned: boolean): boolean {
  const inst = kernel.insts[value]!;
  if (inst.op === 'zext' || inst.op === 'sext') return isLaneIndex(kernel, inst.a, areRowsAligned);
  if (inst.op !== 'sreg') return false;
  return inst.name === 'tid.linear' || inst.name === 'laneid' || (inst.name === 'tid.x' && areRowsAligned);
}

/** Whether an instruction uses a lane index without its low five bits, as in `tid / 32` and `tid < 64`. */
function dropsLane(kernel: Kernel, inst: Inst, areRowsAligned: boolean): boolean {
  if (!('a' in inst && 'b' in inst) || !isLaneIndex(kernel, inst.a, areRowsAligned)) return false;
  const constant = constantOf(kernel, inst.b);
  if (constant === undefined) return false;
  const isMultiple = constant % lanes === 0n;
  switch (inst.op) {
    case 'lshr':
    case 'ashr':
      return constant >= laneBits;
    case 'udiv':
      return isMultiple && constant !== 0n;
    case 'and':
      return isMultiple;
    case 'icmp':
      if (inst.pred === 'ult' || inst.pred === 'uge' || inst.pred === 'slt' || inst.pred === 'sge') return isMultiple;
      return inst.pred !== 'eq' && inst.pred !== 'ne' && (constant + 1n) % lanes === 0n;
    default:
      return false;
  }
}
