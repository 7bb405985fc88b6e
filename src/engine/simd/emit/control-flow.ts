/**
 * Control flow of a region. A uniform branch is a real jump. A divergent branch goes through `predication.ts` to its reconvergence point,
 * behind a run-time test for uniformity where that pays.
 */
import {
  type Cfg,
  dominatorsOf,
  type Edge,
  isAddressCheck,
  loopsOf,
  positionsIn,
  reversed,
  reversePostorder,
  specOf,
  uniform,
  type Value,
  varying,
} from '../../../ir/index.ts';
import { type NestContents, type Nested, type Task, writeNest } from '../../codegen/nesting.ts';
import { tuning } from '../../tuning.ts';
import { endsInBarrier } from '../analysis/regions.ts';
import { shapeOf } from '../lanes/lane-group.ts';
import type { Flow } from './frame.ts';
import { writeBlockBody } from './instructions.ts';
import { type DivergentRegion, divergentRegionOf } from './predication.ts';
import { rerolledStretches } from './reroll.ts';
import { mayTestUniformity } from './uniform-branch.ts';
import { uniformPart, type VaryingBranch, writeVaryingBranch } from './varying-branch.ts';

interface Graph {
  readonly cfg: Cfg;
  readonly divergentRegions: ReadonlyMap<number, DivergentRegion>;
  /** Blocks whose branch is tested for uniformity first. */
  readonly tested: ReadonlySet<number>;
}

/**
 * Emits the blocks of a region; control never falls off the end. Returns false, with nothing useful emitted, where the graph cannot be
 * nested.
 */
export function writeFlow(flow: Flow): boolean {
  const graph = graphOf(flow);
  const dominators = dominatorsOf(graph.cfg, flow.region.entry);
  if (!loopsOf(graph.cfg, dominators).isReducible) return false;
  writeTree(flow, graph, dominators.children);
  flow.code.op('unreachable');
  return true;
}

/** The blocks that all lanes reach together, and their control-flow graph. */
function graphOf(flow: Flow): Graph {
  const { kernel, region, group } = flow;
  const successors: number[][] = kernel.blocks.map(() => []);
  const divergentRegions = new Map<number, DivergentRegion>();
  const tested = new Set<number>();
  const size = (ids: readonly number[]): number => ids.reduce((sum, id) => sum + kernel.blocks[id]!.body.length, 0);
  const weight = (value: Value): number => {
    const inst = kernel.insts[value]!;
    return specOf(inst.op).effect === 'pure' || isAddressCheck(inst) ? 1 : tuning.memoryWeight;
  };
  const work = (ids: readonly number[]): number =>
    ids.reduce((sum, id) => sum + kernel.blocks[id]!.body.reduce((all, value) => all + weight(value), 0), 0);
  let budget = flow.omitsUniformPaths ? 0 : tuning.maxGrowth * size(region.cfg.order) + 400;
  const stack = [region.entry];
  const seen = new Set(stack);
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const { end } = kernel.blocks[id]!;
    let next = region.cfg.successors[id]! as number[];
    if (end.op === 'condbr' && shapeOf(group, end.cond) !== uniform && next.length > 0) {
      const divergent = divergentRegionOf(flow, id);
      divergentRegions.set(id, divergent);
      const cost = size(divergent.blocks);
      budget -= cost;
      const isLong = divergent.loops.length > 0 || work(divergent.blocks) > tuning.minTestedWork || mayTestUniformity(group, end.cond);
      const isWorth = !group.mask && budget > 0 && isLong && !isRerolledAlone(flow, divergent);
      if (isWorth) tested.add(id);
      next = [...(isWorth ? next : []), ...(divergent.reconvergence < kernel.blocks.length ? [divergent.reconvergence] : [])];
    }
    successors[id] = [...new Set(next)];
    for (const to of next) {
      if (seen.has(to)) continue;
      seen.add(to);
      stack.push(to);
    }
  }
  const order = reversePostorder(successors, region.entry);
  return {
    cfg: { successors, predecessors: reversed(successors), order, position: positionsIn(order, successors.length) },
    divergentRegions,
    tested,
  };
}

/** Whether a divergent region is one re-rolled block: masks cost it nothing, and a second copy would be large. */
const isRerolledAlone = ({ kernel, group }: Flow, { blocks }: DivergentRegion): boolean =>
  blocks.length === 1 && rerolledStretches(group, kernel.blocks[blocks[0]!]!).length > 0;

function writeTree(flow: Flow, { cfg, divergentRegions, tested }: Graph, children: readonly (readonly number[])[]): void {
  const { kernel, region } = flow;
  /** A block may be the target of more jumps than it has incoming edges: a branch may reach it on three paths. */
  const ways = (id: number): number[] => {
    const { end } = kernel.blocks[id]!;
    const divergent = divergentRegions.get(id);
    if (endsInBarrier(kernel, id) || end.op === 'ret') return [];
    if (end.op === 'br') return [end.to.block.id];
    const both = [end.then.block.id, end.else.block.id];
    if (!divergent) return both;
    return [
      ...(tested.has(id) ? [...both, ...both] : []),
      ...(tested.has(id) && uniformPart(flow.group, end.cond) ? both : []),
      ...(divergent.reconvergence < kernel.blocks.length ? [divergent.reconvergence] : []),
    ];
  };
  writeNest(flow.code, { ...cfg, children, ways }, region.entry, (nest) => contentsOf(flow, { cfg, divergentRegions, tested }, nest));
}

/** Emits the blocks and the jumps between them. */
function contentsOf(flow: Flow, graph: Graph, nest: Nested): NestContents {
  const { kernel, values } = flow;
  const jumps = jumpsOf(flow, nest);
  const leaf = (id: number): void => {
    const block = kernel.blocks[id]!;
    values.beginBlock(block);
    writeBlockBody(values, block);
    const { end } = block;
    if (end.op === 'ret' || endsInBarrier(kernel, id)) return flow.leave(block);
    if (end.op === 'br') return jumps.jump(id, end.to);
    const divergent = graph.divergentRegions.get(id);
    if (divergent) return writeVaryingBranch({ flow, nest, ...jumps, id, end, divergent, isTested: graph.tested.has(id) });
    flow.group.scalar(end.cond);
    nest.either(
      () => jumps.jump(id, end.then),
      () => jumps.jump(id, end.else),
    );
  };
  return { leaf, turn: (header) => flow.spendFuel(header) };
}

/** Jumps along an edge, and to a reconvergence point. */
const jumpsOf = (flow: Flow, { go }: Nested): Pick<VaryingBranch, 'jump' | 'reconverge'> => ({
  jump(from, edge) {
    transfer(flow, edge);
    go(from, edge.block.id);
  },
  reconverge: (from, to) => (to >= flow.kernel.blocks.length ? flow.leave(undefined) : go(from, to)),
});

/** All arguments are read before any parameter is set. */
function transfer({ values, group }: Flow, { block, args }: Edge): void {
  const sets: Task[] = [];
  for (const [i, arg] of args.entries()) {
    const param = block.params[i]!;
    values.eachPart(param, (element, part) => {
      if (shapeOf(group, param) !== varying) values.pushElement(arg, element);
      else group.element(arg, element, part);
      sets.push(() => (shapeOf(group, param) !== varying ? values.setScalar(param, element) : values.set(param, element, part)));
    });
  }
  for (const set of sets.reverse()) set();
}
