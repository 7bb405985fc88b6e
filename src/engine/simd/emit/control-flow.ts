/**
 * Control flow of a region. A uniform branch is a real jump. A divergent branch goes through `predication.ts` to its reconvergence point,
 * behind a run-time test for uniformity where that pays.
 */
import {
  type Block,
  type Cfg,
  dominatorsOf,
  type Edge,
  type Kernel,
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
import { endsInBarrier } from '../analysis/regions.ts';
import { type LaneGroup, shapeOf } from '../lanes/lane-group.ts';
import type { Flow } from './frame.ts';
import { writeBlockBody } from './instructions.ts';
import { pushAllActive } from './memory-access.ts';
import { type DivergentRegion, divergentRegionOf, writeLinearized } from './predication.ts';
import { rerolledStretches } from './reroll.ts';
import { isAvailable, mayTestUniformity, uniformTests, writeUniformTest } from './uniform-branch.ts';

type Branch = Extract<Block['end'], { op: 'condbr' }>;

/** Instructions in a divergent region from which on a test for uniformity pays, counted in pure instructions. */
const minTestedWork = 20;
/** Weight of a masked memory access in the same unit. */
const memoryWeight = 10;

/** Factor by which the uniform paths may enlarge a kernel. */
const maxGrowth = 6;

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
  const weight = (value: Value): number => (specOf(kernel.insts[value]!.op).effect === 'pure' ? 1 : memoryWeight);
  const work = (ids: readonly number[]): number =>
    ids.reduce((sum, id) => sum + kernel.blocks[id]!.body.reduce((all, value) => all + weight(value), 0), 0);
  let budget = flow.omitsUniformPaths ? 0 : maxGrowth * size(region.cfg.order) + 400;
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
      const isLong = divergent.loops.length > 0 || work(divergent.blocks) > minTestedWork || mayTestUniformity(group, end.cond);
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

/** The uniform operand of a varying condition: where it equals `decides` it decides for all lanes, else `rest` does. */
interface UniformPart {
  readonly shared: Value;
  readonly rest: Value;
  readonly decides: boolean;
}

function uniformPart(group: LaneGroup, cond: Value): UniformPart | undefined {
  const inst = group.kernel.insts[cond]!;
  if (inst.op !== 'and' && inst.op !== 'or') return undefined;
  const [a, b] = [shapeOf(group, inst.a), shapeOf(group, inst.b)];
  if ((a === 0) === (b === 0)) return undefined;
  return { shared: a === 0 ? inst.a : inst.b, rest: a === 0 ? inst.b : inst.a, decides: inst.op === 'or' };
}

/** The successor with more work. */
function likelySuccessor({ blocks }: Kernel, { then, else: otherwise }: Branch): Edge {
  const size = ({ block }: Edge): number => (block.end.op === 'ret' ? 0 : 1e6) + blocks[block.id]!.body.length;
  return size(then) >= size(otherwise) ? then : otherwise;
}

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
function contentsOf(flow: Flow, { divergentRegions, tested }: Graph, { go, either }: Nested): NestContents {
  const { code, kernel, values, group } = flow;
  const leaf = (id: number): void => {
    const block = kernel.blocks[id]!;
    values.beginBlock(block);
    writeBlockBody(values, block);
    const { end } = block;
    if (end.op === 'ret' || endsInBarrier(kernel, id)) return flow.leave(block);
    if (end.op === 'br') return jump(id, end.to);
    const divergent = divergentRegions.get(id);
    if (!divergent) {
      group.scalar(end.cond);
      return either(
        () => jump(id, end.then),
        () => jump(id, end.else),
      );
    }
    if (tested.has(id) && decidedByEnds(block)) {
      const isThen = likelySuccessor(kernel, end) === end.then;
      const isUsualTold = emitCheapTest(id, end, isThen);
      if (emitCheapTest(id, end, !isThen) && isUsualTold) return part(id, divergent, end);
      const answer = group.temp('i32', 30);
      writeUniformTest(group, end.cond, answer);
      const restore = values.snapshot(block);
      return either(
        () => {
          code.at('local.get', answer);
          either(
            () => jump(id, end.then),
            () => jump(id, end.else),
          );
        },
        () => {
          restore();
          part(id, divergent, end);
        },
      );
    }
    part(id, divergent, end);
  };

  /** Whether the first and the last lane can decide for all. */
  const decidedByEnds = ({ end }: Block): boolean =>
    end.op === 'condbr' && mayTestUniformity(group, end.cond) && isAvailable(group, end.cond);

  /** Emits the cheap test for one outcome and the jump that it allows; false where the condition has no cheap test. */
  const emitCheapTest = (id: number, end: Branch, isThen: boolean): boolean => {
    const tests = uniformTests(group, end.cond, isThen);
    if (!tests) return false;
    code.open('block');
    for (const test of tests) {
      test();
      code.at('br_if', 0);
    }
    jump(id, isThen ? end.then : end.else);
    code.end();
    return true;
  };

  /** Emits a varying branch: real jumps where all lanes agree, else linearized code. */
  const part = (id: number, divergent: DivergentRegion, end: Branch): void => {
    const split =
      tested.has(id) && !decidedByEnds(kernel.blocks[id]!) && group.isDeferred(end.cond) ? uniformPart(group, end.cond) : undefined;
    if (!split) return branchOn(end.cond, id, divergent, end);
    const restore = values.snapshot(kernel.blocks[id]!);
    const rest = (): void => {
      restore();
      branchOn(split.rest, id, divergent, end);
    };
    group.scalar(split.shared);
    if (split.decides) either(() => jump(id, end.then), rest);
    else either(rest, () => jump(id, end.else));
  };

  /** The same for a condition that is the whole of the branch's, or what is left of it. */
  const branchOn = (cond: Value, id: number, divergent: DivergentRegion, end: Branch): void => {
    const then = flow.masksWhere(cond, group.mask);
    const masked = (): void => {
      const otherwise = flow.masksExcept(then, group.mask);
      writeLinearized(flow, divergent, then, otherwise);
      flow.giveMasks(then);
      flow.giveMasks(otherwise);
      reconverge(id, divergent.reconvergence);
    };
    // Where the test on the first and the last lane was emitted before, its failure means divergence.
    if (!tested.has(id) || decidedByEnds(kernel.blocks[id]!)) return masked();
    pushAllActive(group, then);
    either(
      () => jump(id, end.then),
      () => {
        flow.pushAnyActive(then);
        code.op('i32.eqz');
        either(() => jump(id, end.else), masked);
      },
    );
  };

  const jump = (from: number, edge: Edge): void => {
    transfer(flow, edge);
    go(from, edge.block.id);
  };
  const reconverge = (from: number, reconvergence: number): void =>
    reconvergence >= kernel.blocks.length ? flow.leave(undefined) : go(from, reconvergence);
  return { leaf, turn: () => flow.spendFuel() };
}

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
