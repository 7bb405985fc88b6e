/** The lanes of a warp that execute a block together. */
import { type Lanes, type State, seenFrom } from './state.ts';

const allLanes = ({ warp }: State): number => (warp.width === 32 ? -1 : 2 ** warp.width - 1);

/** The lanes of a block, by those of the blocks before it; undefined while they are not known. */
export function lanesOfBlock(state: State, id: number): Lanes | undefined {
  const { cfg, loops } = state.all;
  if (id === 0) return allLanes(state);
  const loop = loops.loops.find(({ header }) => header === id);
  if (!loop) return lanesBehind(state, id, loops.innermost[id]!, cfg.predecessors[id]!);
  const outside = cfg.predecessors[id]!.filter((from) => !loop.blocks.includes(from));
  const first = lanesBehind(state, id, loop.parent, outside);
  const back = cfg.predecessors[id]!.filter((from) => loop.blocks.includes(from));
  return joinLanes([first, ...back.map((from) => lanesOnEdges(state, from, id))]);
}

/** The lanes of a block that is entered from some blocks of a loop or of the kernel. */
function lanesBehind(state: State, id: number, loop: number, from: readonly number[]): Lanes | undefined {
  const { dominators, post, loops } = state.all;
  let above = dominators.parent[id]!;
  while (above >= 0 && loops.innermost[above] !== loop) above = dominators.parent[above]!;
  // The lanes of a block whose every way leads here arrive here, and no others do.
  if (above >= 0 && post.dominates(id, above)) {
    state.sure[id] = state.sure[above]!;
    state.open[id] = state.open[above]!;
    return state.lanes[above];
  }
  for (const each of from) {
    if (state.sure[each] === 0 || !isEndSure(state, each)) state.sure[id] = 0;
    if (state.open[each] === 1 || !isEndDecided(state, each) || from.length > 1) state.open[id] = 1;
  }
  return joinLanes([...new Set(from)].map((each) => lanesOnEdges(state, each, id)));
}

const isEndSure = (state: State, from: number): boolean => {
  const { end } = state.all.kernel.blocks[from]!;
  if (end.op !== 'condbr') return true;
  const cond = seenFrom(state, end.cond, from);
  return cond.kind !== 'truth' || cond.isSure;
};

/** Whether it is known which lanes take which side at the end of a block. */
const isEndDecided = (state: State, from: number): boolean => {
  const { end } = state.all.kernel.blocks[from]!;
  if (end.op !== 'condbr') return true;
  const cond = seenFrom(state, end.cond, from);
  const lanes = state.lanes[from];
  return (
    cond.kind === 'truth' && typeof lanes === 'number' && cond.lanes.every((truth, lane) => ((lanes >>> lane) & 1) === 0 || truth !== -1)
  );
};

function joinLanes(found: readonly (Lanes | undefined)[]): Lanes | undefined {
  const given = found.filter((each) => each !== undefined && each !== 'none');
  if (given.length === 0) return found.includes('none') ? 'none' : undefined;
  return given.every((each) => each === given[0]) ? given[0] : 'some';
}

/** The lanes that go from one block to another. */
export function lanesOnEdges(state: State, from: number, to: number): Lanes | undefined {
  const lanes = state.lanes[from];
  if (lanes === undefined || lanes === 'none') return lanes;
  const { end } = state.all.kernel.blocks[from]!;
  if (end.op !== 'condbr' || end.then.block === end.else.block) return lanes;
  const cond = seenFrom(state, end.cond, from);
  if (state.forms[end.cond] === undefined) return undefined;
  if (cond.kind !== 'truth') return 'some';
  const wanted = end.then.block.id === to ? 1 : 0;
  return lanesWhere(cond.lanes, cond.isUniform, wanted, lanes);
}

function lanesWhere(truths: readonly number[], isUniformTruth: boolean, wanted: number, lanes: number | 'some'): Lanes {
  if (truths.every((truth) => truth === wanted)) return lanes;
  if (truths.every((truth) => truth === 1 - wanted)) return 'none';
  if (lanes === 'some') return 'some';
  let [some, isOpen] = [0, false];
  truths.forEach((truth, lane) => {
    if (((lanes >>> lane) & 1) === 0) return;
    if (truth === -1) isOpen = true;
    else if (truth === wanted) some |= 1 << lane;
  });
  if (isOpen) return isUniformTruth ? lanes : 'some';
  return some === 0 ? 'none' : some;
}
