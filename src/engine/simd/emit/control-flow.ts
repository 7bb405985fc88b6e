/**
 * The blocks of a region for a strip. While all lanes go one way they go there by jumps; where they part, `predication.ts` takes them to where they
 * meet.
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
  type Value,
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

/** Work behind a branch from which on it is worth looking whether all lanes go one way, in pure instructions. */
const worthLooking = 20;
/** Work of an access under a mask. */
const memoryWeight = 10;

/** What a whole kernel may grow by through code for lanes that parted. */
const maxGrowth = 6;

interface Graph {
  readonly cfg: Cfg;
  readonly partings: ReadonlyMap<number, DivergentRegion>;
  /** Blocks at whose end it is looked first whether all lanes go one way. */
  readonly looked: ReadonlySet<number>;
}

/** Writes the blocks of a region; control never runs off the end. False, with nothing worth keeping written, where the graph cannot be nested. */
export function writeFlow(flow: Flow): boolean {
  const graph = graphOf(flow);
  const dominators = dominatorsOf(graph.cfg, flow.region.entry);
  if (!loopsOf(graph.cfg, dominators).isReducible) return false;
  writeTree(flow, graph, dominators.children);
  flow.code.op('unreachable');
  return true;
}

/** The blocks that lanes reach all together, and how. */
function graphOf(flow: Flow): Graph {
  const { kernel, region, strip } = flow;
  const successors: number[][] = kernel.blocks.map(() => []);
  const partings = new Map<number, DivergentRegion>();
  const looked = new Set<number>();
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
    if (end.op === 'condbr' && shapeOf(strip, end.cond) !== 0 && next.length > 0) {
      const parting = divergentRegionOf(flow, id);
      partings.set(id, parting);
      const cost = size(parting.blocks);
      budget -= cost;
      const isLong = parting.loops.length > 0 || work(parting.blocks) > worthLooking || mayTestUniformity(strip, end.cond);
      const isWorth = !strip.mask && budget > 0 && isLong && !isRerolledAlone(flow, parting);
      if (isWorth) looked.add(id);
      next = [...(isWorth ? next : []), ...(parting.reconvergence < kernel.blocks.length ? [parting.reconvergence] : [])];
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
    partings,
    looked,
  };
}

/** Whether all there is behind a branch is one block that is rolled: a mask costs it nothing, and another copy of it would be large. */
const isRerolledAlone = ({ kernel, strip }: Flow, { blocks }: DivergentRegion): boolean =>
  blocks.length === 1 && rerolledStretches(strip, kernel.blocks[blocks[0]!]!).length > 0;

/** The part of a condition that lanes share: where it is `decides` it decides for all of them, else the rest does. */
interface UniformPart {
  readonly shared: Value;
  readonly rest: Value;
  readonly decides: boolean;
}

function uniformPart(strip: LaneGroup, cond: Value): UniformPart | undefined {
  const inst = strip.kernel.insts[cond]!;
  if (inst.op !== 'and' && inst.op !== 'or') return undefined;
  const [a, b] = [shapeOf(strip, inst.a), shapeOf(strip, inst.b)];
  if ((a === 0) === (b === 0)) return undefined;
  return { shared: a === 0 ? inst.a : inst.b, rest: a === 0 ? inst.b : inst.a, decides: inst.op === 'or' };
}

/** The way with more to do. */
function usualWay({ blocks }: Kernel, { then, else: otherwise }: Branch): Edge {
  const size = ({ block }: Edge): number => (block.end.op === 'ret' ? 0 : 1e6) + blocks[block.id]!.body.length;
  return size(then) >= size(otherwise) ? then : otherwise;
}

function writeTree(flow: Flow, { cfg, partings, looked }: Graph, children: readonly (readonly number[])[]): void {
  const { kernel, region } = flow;
  /** Jumps into a block may be more than edges of the graph: a branch may go there by three ways. */
  const ways = (id: number): number[] => {
    const { end } = kernel.blocks[id]!;
    const parting = partings.get(id);
    if (endsInBarrier(kernel, id) || end.op === 'ret') return [];
    if (end.op === 'br') return [end.to.block.id];
    const both = [end.then.block.id, end.else.block.id];
    if (!parting) return both;
    return [
      ...(looked.has(id) ? [...both, ...both] : []),
      ...(looked.has(id) && uniformPart(flow.strip, end.cond) ? both : []),
      ...(parting.reconvergence < kernel.blocks.length ? [parting.reconvergence] : []),
    ];
  };
  writeNest(flow.code, { ...cfg, children, ways }, region.entry, (nest) => contentsOf(flow, { cfg, partings, looked }, nest));
}

/** The code of the blocks, and how they go from one to the next. */
function contentsOf(flow: Flow, { partings, looked }: Graph, { go, either }: Nested): NestContents {
  const { code, kernel, values, strip } = flow;
  const leaf = (id: number): void => {
    const block = kernel.blocks[id]!;
    values.begin(block);
    writeBlockBody(values, block);
    const { end } = block;
    if (end.op === 'ret' || endsInBarrier(kernel, id)) return flow.leave(block);
    if (end.op === 'br') return jump(id, end.to);
    const parting = partings.get(id);
    if (!parting) {
      strip.scalar(end.cond);
      return either(
        () => jump(id, end.then),
        () => jump(id, end.else),
      );
    }
    if (looked.has(id) && agrees(block)) {
      const isThen = usualWay(kernel, end) === end.then;
      const isUsualTold = goQuickly(id, end, isThen);
      if (goQuickly(id, end, !isThen) && isUsualTold) return part(id, parting, end);
      const answer = strip.scratch.take('i32');
      writeUniformTest(strip, end.cond, answer);
      const again = values.hold(block);
      return either(
        () => {
          code.at('local.get', answer);
          strip.scratch.give(answer);
          either(
            () => jump(id, end.then),
            () => jump(id, end.else),
          );
        },
        () => {
          again();
          part(id, parting, end);
        },
      );
    }
    part(id, parting, end);
  };

  /** Whether the ends of the strip may tell of all lanes. */
  const agrees = ({ end }: Block): boolean => end.op === 'condbr' && mayTestUniformity(strip, end.cond) && isAvailable(strip, end.cond);

  /** That all lanes go the one way or the other is told by few steps each for most guards of bounds; false where it is not. */
  const goQuickly = (id: number, end: Branch, isThen: boolean): boolean => {
    const tests = uniformTests(strip, end.cond, isThen);
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

  /** Lanes take their ways, all one way where all want the same. */
  const part = (id: number, parting: DivergentRegion, end: Branch): void => {
    const split = looked.has(id) && !agrees(kernel.blocks[id]!) && strip.isDeferred(end.cond) ? uniformPart(strip, end.cond) : undefined;
    if (!split) return partOn(end.cond, id, parting, end);
    const again = values.hold(kernel.blocks[id]!);
    const rest = (): void => {
      again();
      partOn(split.rest, id, parting, end);
    };
    strip.scalar(split.shared);
    if (split.decides) either(() => jump(id, end.then), rest);
    else either(rest, () => jump(id, end.else));
  };

  /** The same where a condition decides that is all of the branch's, or what is left of it. */
  const partOn = (cond: Value, id: number, parting: DivergentRegion, end: Branch): void => {
    const then = flow.masksWhere(cond, strip.mask);
    const masked = (): void => {
      const otherwise = flow.masksExcept(then, strip.mask);
      writeLinearized(flow, parting, then, otherwise);
      flow.giveMasks(then);
      flow.giveMasks(otherwise);
      meet(id, parting.reconvergence);
    };
    // Where the ends of the strip tell of all, what they do not tell of is where lanes part.
    if (!looked.has(id) || agrees(kernel.blocks[id]!)) return masked();
    pushAllActive(strip, then);
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
  const meet = (from: number, reconvergence: number): void =>
    reconvergence >= kernel.blocks.length ? flow.leave(undefined) : go(from, reconvergence);
  return { leaf, turn: () => flow.turn() };
}

/** All arguments are read before any parameter is set. */
function transfer({ values, strip }: Flow, { block, args }: Edge): void {
  const sets: Task[] = [];
  for (const [i, arg] of args.entries()) {
    const param = block.params[i]!;
    values.eachPart(param, (element, part) => {
      if (shapeOf(strip, param) < 2) values.pushElement(arg, element);
      else strip.element(arg, element, part);
      sets.push(() => (shapeOf(strip, param) < 2 ? values.setScalar(param, element) : values.set(param, element, part)));
    });
  }
  for (const set of sets.reverse()) set();
}
