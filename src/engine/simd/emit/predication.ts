/**
 * Code behind a branch at which lanes part, up to where all are together again: every block once, in an order in which lanes that are ahead
 * wait for those behind, each for the lanes that came to it. A loop goes on while any lane has come back to its start.
 * Source: Diamos et al., "SIMD Re-Convergence at Thread Frontiers" (MICRO 2011); Karrenberg and Hack, "Whole-Function
 * Vectorization" (CGO 2011), for masks.
 */
import { type Block, type Edge, edgesOf, influenceOf, type Loop, specOf, type Value } from '../../../ir/index.ts';
import { endsInBarrier } from '../analysis/regions.ts';
import { longOf, maskPart, shapeOf } from '../lanes/lane-group.ts';
import type { Flow } from './frame.ts';
import { writeBlockBody } from './instructions.ts';

/** A branch at which lanes part. */
export interface DivergentRegion {
  /** The block that ends in it. */
  readonly from: number;
  /** Where lanes are together again; the number of blocks where that is the end of the kernel. */
  readonly reconvergence: number;
  /** Blocks between. */
  readonly blocks: readonly number[];
  /** Loops among them whose lanes may come back to the start. */
  readonly loops: readonly Loop[];
}

/** What lies behind a branch. */
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
  readonly parting: DivergentRegion;
  /** By block: the lanes that have come to it. */
  readonly masks: ReadonlyMap<number, readonly number[]>;
  readonly inside: ReadonlySet<number>;
  /** Edges written so far into each block. */
  readonly written: Map<number, number>;
}

/** Writes it; `then` and `otherwise` are locals with the lanes that take either way. */
export function writeLinearized(flow: Flow, parting: DivergentRegion, then: readonly number[], otherwise: readonly number[]): void {
  const { strip, code, kernel } = flow;
  const outside = strip.mask;
  const masks = new Map(parting.blocks.map((id) => [id, flow.takeMasks()]));
  const state: State = { flow, parting, masks, inside: new Set(parting.blocks), written: new Map() };
  for (const locals of masks.values())
    for (const local of locals) {
      code.v128([0, 0, 0, 0]);
      code.at('local.set', local);
    }
  const { end } = kernel.blocks[parting.from]!;
  if (end.op === 'condbr') followBoth(state, parting.from, end, then, otherwise);
  for (const id of parting.blocks) writeOne(state, id);
  for (const locals of masks.values()) flow.giveMasks(locals);
  strip.mask = outside;
}

/** Loops of the parting that a block is in. */
const loopsAround = ({ parting }: State, id: number): Loop[] => parting.loops.filter(({ blocks }) => blocks.includes(id));

function writeOne(state: State, id: number): void {
  const { flow, parting, masks } = state;
  const { code, strip, kernel } = flow;
  const block = kernel.blocks[id]!;
  for (const loop of parting.loops)
    if (loop.header === id) {
      code.open('loop');
      flow.turn();
    }
  const inLoop = loopsAround(state, id).length > 0;
  const own = masks.get(id)!;
  const isGuarded = inLoop || !isCheap(state, block);
  if (isGuarded) {
    flow.pushAnyActive(own);
    code.open('if');
  }
  const lanes = inLoop ? movedAway(state, own) : own;
  strip.mask = lanes;
  flow.values.begin(block);
  writeBlockBody(flow.values, block);
  leave(state, block, lanes, isGuarded);
  if (inLoop) flow.giveMasks(lanes);
  if (isGuarded) code.end();
  for (const loop of [...parting.loops].reverse()) if (lastOf(state, loop) === id) closeLoop(state, loop);
}

/** The last block of a loop among those that are written. */
function lastOf({ parting }: State, { blocks }: Loop): number {
  const inLoop = new Set(blocks);
  return parting.blocks.filter((id) => inLoop.has(id)).at(-1)!;
}

function closeLoop({ flow, masks }: State, { header }: Loop): void {
  flow.pushAnyActive(masks.get(header)!);
  flow.code.at('br_if', 0);
  flow.code.end();
}

/** A block comes again: who comes next is counted from nothing. */
function movedAway({ flow }: State, own: readonly number[]): readonly number[] {
  const lanes = flow.takeMasks();
  for (const [pack, local] of own.entries()) {
    flow.code.at('local.get', local);
    flow.code.at('local.set', lanes[pack]!);
    flow.code.v128([0, 0, 0, 0]);
    flow.code.at('local.set', local);
  }
  return lanes;
}

/** Whether a block may as well be run for no lane: it is short, and does nothing but compute. */
function isCheap({ flow }: State, { body }: Block): boolean {
  return body.length <= 6 && body.every((value) => specOf(flow.kernel.insts[value]!.op).effect === 'pure');
}

/** Lets the lanes of a block go on; `isAny` where there are some. */
function leave(state: State, block: Block, lanes: readonly number[], isAny: boolean): void {
  const { flow } = state;
  const { end } = block;
  if (endsInBarrier(flow.kernel, block.id)) return flow.wait(block);
  if (end.op === 'br') follow(state, block.id, end.to, lanes, isAny);
  if (end.op !== 'condbr') return;
  const then = flow.masksWhere(end.cond, lanes);
  const otherwise = flow.masksExcept(then, lanes);
  followBoth(state, block.id, end, then, otherwise);
  flow.giveMasks(then);
  flow.giveMasks(otherwise);
}

/** Ways back come last, that of the innermost loop behind others: they change parameters that the other way may hand on. */
function followBoth(
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
  for (const { edge, lanes } of ways) follow(state, from, edge, lanes);
}

/** Lets lanes take an edge; `isTaken` where there are some. */
function follow(state: State, from: number, edge: Edge, lanes: readonly number[], isTaken = false): void {
  const { flow, masks, inside, written } = state;
  const { code } = flow;
  const to = edge.block.id;
  const before = written.get(to) ?? 0;
  written.set(to, before + 1);
  const isOnly = flow.plan.shapes.cfg.predecessors[to]!.length === 1;
  transferMasked(flow, edge, lanes, { isPlain: isAlone(state, from, to, before), isTaken: isTaken || isOnly });
  if (!inside.has(to)) return;
  for (const [pack, mask] of masks.get(to)!.entries()) {
    code.at('local.get', lanes[pack]!);
    code.at('local.get', mask);
    code.op('v128.or');
    code.at('local.set', mask);
  }
}

/** Whether an edge may set parameters for all lanes: no lane has, or will need, what they were. */
function isAlone(state: State, from: number, to: number, before: number): boolean {
  const { parting, flow } = state;
  // What comes to a block behind a loop comes at several turns of it.
  if (!loopsAround(state, from).every(({ blocks }) => blocks.includes(to))) return false;
  if (flow.place[from]! < flow.place[to]!) return before === 0;
  // Other ways back may hand on what the parameters of this turn were.
  const loop = parting.loops.find(({ header }) => header === to);
  return loop !== undefined && isLatch(state, loop, from);
}

/** Whether a block is the only one, and the last, that goes back to the start of a loop, by one edge. */
function isLatch(state: State, loop: Loop, from: number): boolean {
  const back = edgesOf(state.flow.kernel.blocks[from]!.end).filter(({ block }) => block.id === loop.header);
  return loop.latches.length === 1 && lastOf(state, loop) === from && back.length === 1;
}

/** How an edge sets parameters. */
interface Setting {
  /** Whether what parameters were is of no use to anybody. */
  readonly isPlain: boolean;
  /** Whether some lanes are known to take the edge, or no other edge leads there. */
  readonly isTaken: boolean;
}

/** All arguments are read before any parameter is set. */
function transferMasked(flow: Flow, { block, args }: Edge, lanes: readonly number[], { isPlain, isTaken }: Setting): void {
  const { values, strip } = flow;
  const outside = strip.mask;
  strip.mask = lanes;
  const sets: (() => void)[] = [];
  for (const [i, arg] of args.entries()) {
    const param = block.params[i]!;
    const keeps = !isPlain || strip.plan.escapes[param] === 1;
    if (shapeOf(strip, param) < 2) {
      values.eachPart(param, (element) => {
        values.pushElement(arg, element);
        sets.push(() => {
          if (keeps && !isTaken) keepUnlessTaken(flow, param, element, lanes);
          values.setScalar(param, element);
        });
      });
      continue;
    }
    values.eachPart(param, (element, part) => {
      strip.element(arg, element, part);
      if (keeps) keepOthers(strip, values, param, element, part);
      sets.push(() => values.set(param, element, part));
    });
  }
  for (const set of sets.reverse()) set();
  strip.mask = outside;
}

/** What all lanes share of a parameter stays what it is where none takes the edge: they may have come by another. */
function keepUnlessTaken({ values, strip, pushAnyActive }: Flow, param: Value, element: number, lanes: readonly number[]): void {
  values.pushElement(param, element);
  pushAnyActive(lanes);
  strip.code.op('select');
}

function keepOthers(strip: Flow['strip'], values: Flow['values'], param: Value, element: number, part: number): void {
  values.get(param, element, part);
  maskPart(strip, part, longOf(strip, param));
  strip.code.op('v128.bitselect');
}
