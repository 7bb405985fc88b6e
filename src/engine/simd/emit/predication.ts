/**
 * Predication: linearizes the control flow behind a divergent branch up to its reconvergence point. Each block is emitted once, in thread-
 * frontier order, under the mask of the lanes that reach it. A loop repeats while any lane takes its back edge.
 * Source: Diamos et al., "SIMD Re-Convergence at Thread Frontiers" (MICRO 2011); Karrenberg and Hack, "Whole-Function Vectorization" (CGO
 * 2011), for masks.
 */
import { type Block, type Edge, edgesOf, influenceOf, type Loop, specOf, type Value, varying } from '../../../ir/index.ts';
import { endsInBarrier } from '../analysis/regions.ts';
import { longOf, maskPart, shapeOf } from '../lanes/lane-group.ts';
import { type Flow, underMask } from './frame.ts';
import { writeBlockBody } from './instructions.ts';

/** The region of a divergent branch. */
export interface DivergentRegion {
  /** The block that ends in the branch. */
  readonly from: number;
  /** The reconvergence point: the immediate post-dominator of the branch, or the number of blocks where that is the exit of the kernel. */
  readonly reconvergence: number;
  /** The blocks in between, in linearized order. */
  readonly blocks: readonly number[];
  /** Loops among them whose back edge is in the region. */
  readonly loops: readonly Loop[];
}

/** The divergent region of a branch. */
export function divergentRegionOf({ plan, place, loops }: Pick<Flow, 'plan' | 'place' | 'loops'>, from: number): DivergentRegion {
  const { cfg, post } = plan.shapes;
  const reconvergence = post.parent[from]!;
  const { region } = influenceOf(cfg, from, reconvergence);
  const blocks = [...region].sort((a, b) => place[a]! - place[b]!);
  const isBack = (header: number) => (id: number) => region.has(id) && cfg.successors[id]!.includes(header);
  const own = loops.filter(({ header, latches }) => region.has(header) && latches.some(isBack(header)));
  return { from, reconvergence, blocks, loops: own };
}

interface State {
  readonly flow: Flow;
  readonly divergent: DivergentRegion;
  /** By block: the mask of the lanes that reach it. */
  readonly masks: ReadonlyMap<number, readonly number[]>;
  readonly inside: ReadonlySet<number>;
  readonly loops: LoopPlaces;
  /** By block: the incoming edges emitted so far. */
  readonly written: Map<number, number>;
}

/** Where the loops of a region are, computed once: a region may have thousands of blocks and hundreds of loops. */
interface LoopPlaces {
  /** By block: the loops that contain it. */
  readonly around: ReadonlyMap<number, readonly Loop[]>;
  /** By loop: its last block in linearized order. */
  readonly last: ReadonlyMap<Loop, number>;
  /** By block: the loops that it is the last block of, inner ones first. */
  readonly ending: ReadonlyMap<number, readonly Loop[]>;
}

function loopPlacesOf({ blocks, loops }: DivergentRegion): LoopPlaces {
  const position = new Map(blocks.map((id, at) => [id, at]));
  const around = new Map<number, Loop[]>();
  const last = new Map<Loop, number>();
  const ending = new Map<number, Loop[]>();
  for (const loop of loops) {
    let end = -1;
    for (const id of new Set(loop.blocks)) {
      end = Math.max(end, position.get(id) ?? -1);
      push(around, id, loop);
    }
    last.set(loop, blocks[end]!);
  }
  for (const loop of [...loops].reverse()) push(ending, last.get(loop)!, loop);
  return { around, last, ending };
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Emits a divergent region; `then` and `otherwise` are locals with the masks of both successors. */
export function writeLinearized(flow: Flow, divergent: DivergentRegion, then: readonly number[], otherwise: readonly number[]): void {
  const { code, kernel } = flow;
  const masks = new Map(divergent.blocks.map((id) => [id, flow.takeMasks()]));
  const state: State = { flow, divergent, masks, inside: new Set(divergent.blocks), loops: loopPlacesOf(divergent), written: new Map() };
  for (const locals of masks.values())
    for (const local of locals) {
      code.v128([0, 0, 0, 0]);
      code.at('local.set', local);
    }
  const { end } = kernel.blocks[divergent.from]!;
  if (end.op === 'condbr') emitBothEdges(state, divergent.from, end, then, otherwise);
  for (const id of divergent.blocks) writeOne(state, id);
  for (const locals of masks.values()) flow.giveMasks(locals);
}

/** Loops of the region that contain a block. */
const loopsAround = ({ loops }: State, id: number): readonly Loop[] => loops.around.get(id) ?? [];

function writeOne(state: State, id: number): void {
  const { flow, masks } = state;
  const { code, kernel } = flow;
  const block = kernel.blocks[id]!;
  for (const loop of loopsAround(state, id))
    if (loop.header === id) {
      code.open('loop');
      flow.spendFuel();
    }
  const inLoop = loopsAround(state, id).length > 0;
  const own = masks.get(id)!;
  const isGuarded = inLoop || !mayRunInactive(state, block);
  if (isGuarded) {
    flow.pushAnyActive(own);
    code.open('if');
  }
  const lanes = inLoop ? moveMask(state, own) : own;
  const masked = underMask(flow, lanes);
  masked.values.beginBlock(block);
  writeBlockBody(masked.values, block);
  leave({ ...state, flow: masked }, block, lanes, isGuarded);
  if (inLoop) flow.giveMasks(lanes);
  if (isGuarded) code.end();
  for (const loop of state.loops.ending.get(id) ?? []) closeLoop(state, loop);
}

function closeLoop({ flow, masks }: State, { header }: Loop): void {
  flow.pushAnyActive(masks.get(header)!);
  flow.code.at('br_if', 0);
  flow.code.end();
}

/** Moves the mask of a block in a loop to other locals and clears it for the next iteration. */
function moveMask({ flow }: State, own: readonly number[]): readonly number[] {
  const lanes = flow.takeMasks();
  for (const [pack, local] of own.entries()) {
    flow.code.at('local.get', local);
    flow.code.at('local.set', lanes[pack]!);
    flow.code.v128([0, 0, 0, 0]);
    flow.code.at('local.set', local);
  }
  return lanes;
}

/** Whether a block may run without active lanes: it is short and pure. */
function mayRunInactive({ flow }: State, { body }: Block): boolean {
  return body.length <= 6 && body.every((value) => specOf(flow.kernel.insts[value]!.op).effect === 'pure');
}

/** Emits the terminator of a block; `isAny` says that some lanes are active. */
function leave(state: State, block: Block, lanes: readonly number[], isAny: boolean): void {
  const { flow } = state;
  const { end } = block;
  if (endsInBarrier(flow.kernel, block.id)) return flow.arrive(flow.values, block);
  if (end.op === 'br') emitEdge(state, block.id, end.to, lanes, isAny);
  if (end.op !== 'condbr') return;
  const then = flow.masksWhere(end.cond, lanes);
  const otherwise = flow.masksExcept(then, lanes);
  emitBothEdges(state, block.id, end, then, otherwise);
  flow.giveMasks(then);
  flow.giveMasks(otherwise);
}

/** Back edges come last, that of an inner loop after those of outer ones: they set parameters that the other edge may read. */
function emitBothEdges(
  state: State,
  from: number,
  end: Extract<Block['end'], { op: 'condbr' }>,
  then: readonly number[],
  otherwise: readonly number[],
): void {
  const { place } = state.flow;
  const rank = (edge: Edge): number => (place[edge.block.id]! > place[from]! ? -1 : place[edge.block.id]!);
  const ways = [
    { edge: end.then, lanes: then },
    { edge: end.else, lanes: otherwise },
  ].sort((a, b) => rank(a.edge) - rank(b.edge));
  for (const { edge, lanes } of ways) emitEdge(state, from, edge, lanes);
}

/** Emits an edge for some lanes; `isTaken` says that there are some. */
function emitEdge(state: State, from: number, edge: Edge, lanes: readonly number[], isTaken = false): void {
  const { flow, masks, inside, written } = state;
  const { code } = flow;
  const to = edge.block.id;
  const before = written.get(to) ?? 0;
  written.set(to, before + 1);
  const isOnly = flow.plan.shapes.cfg.predecessors[to]!.length === 1;
  transferMasked(flow, edge, lanes, { isDead: mayOverwriteParams(state, from, to, before), isTaken: isTaken || isOnly });
  if (!inside.has(to)) return;
  for (const [pack, mask] of masks.get(to)!.entries()) {
    code.at('local.get', lanes[pack]!);
    code.at('local.get', mask);
    code.op('v128.or');
    code.at('local.set', mask);
  }
}

/** Whether an edge may set parameters in all lanes: no lane needs their old values. */
function mayOverwriteParams(state: State, from: number, to: number, before: number): boolean {
  const { divergent, flow } = state;
  // Lanes reach a block behind a loop in different iterations.
  if (!loopsAround(state, from).every(({ blocks }) => blocks.includes(to))) return false;
  if (flow.place[from]! < flow.place[to]!) return before === 0;
  // Other back edges may read the parameters of this iteration.
  const loop = divergent.loops.find(({ header }) => header === to);
  return loop !== undefined && isLatch(state, loop, from);
}

/** Whether a block is the only latch of a loop and the last of its blocks, with a single back edge. */
function isLatch(state: State, loop: Loop, from: number): boolean {
  const back = edgesOf(state.flow.kernel.blocks[from]!.end).filter(({ block }) => block.id === loop.header);
  return loop.latches.length === 1 && state.loops.last.get(loop) === from && back.length === 1;
}

/** How an edge sets parameters. */
interface ParamUpdate {
  /** Whether the old values of the parameters are dead in all lanes. */
  readonly isDead: boolean;
  /** Whether some lanes are known to take the edge, or the target has no other edge. */
  readonly isTaken: boolean;
}

/** All arguments are read before any parameter is set. */
function transferMasked(flow: Flow, { block, args }: Edge, lanes: readonly number[], { isDead, isTaken }: ParamUpdate): void {
  const { values, group } = underMask(flow, lanes);
  const sets: (() => void)[] = [];
  for (const [i, arg] of args.entries()) {
    const param = block.params[i]!;
    const keeps = !isDead || group.plan.escapes[param] === 1;
    if (shapeOf(group, param) !== varying) {
      values.eachPart(param, (element) => {
        values.pushElement(arg, element);
        sets.push(() => {
          if (keeps && !isTaken) keepUniformUnlessTaken(flow, param, element, lanes);
          values.setScalar(param, element);
        });
      });
      continue;
    }
    values.eachPart(param, (element, part) => {
      group.element(arg, element, part);
      if (keeps) keepInactive(group, values, param, element, part);
      sets.push(() => values.set(param, element, part));
    });
  }
  for (const set of sets.reverse()) set();
}

/** Keeps a uniform parameter where no lane takes the edge: the lanes may have arrived by another one. */
function keepUniformUnlessTaken({ values, group, pushAnyActive }: Flow, param: Value, element: number, lanes: readonly number[]): void {
  values.pushElement(param, element);
  pushAnyActive(lanes);
  group.code.op('select');
}

function keepInactive(group: Flow['group'], values: Flow['values'], param: Value, element: number, part: number): void {
  values.get(param, element, part);
  maskPart(group, part, longOf(group, param));
  group.code.op('v128.bitselect');
}
