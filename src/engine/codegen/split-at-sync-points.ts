/**
 * Splits basic blocks behind sync points: barriers and warp collectives, at which threads wait for each other. Shuffles that are independent of
 * each other form one sync point, and so do products of matrices that follow each other.
 */
import {
  addBlock,
  type Block,
  edgesOf,
  type Inst,
  isMasked,
  type Kernel,
  operandsOf,
  renumber,
  specOf,
  type Value,
} from '../../ir/index.ts';

/** Splits in place, so that a sync point is the last instruction of its block; block ids are positions afterwards. */
export function splitAtSyncPoints(kernel: Kernel): void {
  for (let at = 0; at < kernel.blocks.length; at++) splitFirst(kernel, kernel.blocks[at]!);
  renumber(kernel);
}

/** Moves the instructions behind the first sync point to a new block at the end of the list, which is visited later. */
function splitFirst(kernel: Kernel, block: Block): void {
  const index = block.body.findIndex((value) => isSyncPoint(kernel, value));
  if (index < 0) return;
  const { until, behind } = hoistShuffles(kernel, block.body, index);
  const rest = addBlock(kernel);
  rest.body = behind;
  rest.end = block.end;
  block.body = until;
  block.end = { op: 'br', to: { block: rest, args: [] } };
}

/**
 * The instructions up to the first sync point, and those behind it. If it is a shuffle or a product of matrices, others of its kind further down join
 * it where they can: only pure instructions are in between, and none that they need depends on an instruction of this sync point, other than an
 * earlier product that is an operand itself. Needed instructions move before it.
 */
function hoistShuffles(kernel: Kernel, body: readonly Value[], index: number): { until: Value[]; behind: Value[] } {
  const first = body[index]!;
  const [before, together, after] = [body.slice(0, index), [first], [] as Value[]];
  const late = new Set<Value>(together);
  const results = new Set<Value>(isProduct(kernel, first) ? together : []);
  let at = index + 1;
  for (; at < body.length && (isShuffle(kernel, first) || isProduct(kernel, first)); at++) {
    const value = body[at]!;
    const isSame = kernel.insts[value]!.op === kernel.insts[first]!.op;
    const isLate = operandsOf(kernel.insts[value]!).some((operand) => late.has(operand) && !(isSame && results.has(operand)));
    const joins = isSame && !isLate;
    if (!joins && specOf(kernel.insts[value]!.op).effect !== 'pure') break;
    if (joins) together.push(value);
    else (isLate ? after : before).push(value);
    if (joins || isLate) late.add(value);
    if (joins && isProduct(kernel, value)) results.add(value);
  }
  return { until: [...before, ...together], behind: [...after, ...body.slice(at)] };
}

const isProduct = (kernel: Kernel, value: Value): boolean => kernel.insts[value]!.op === 'mma';
const isShuffle = (kernel: Kernel, value: Value): boolean => kernel.insts[value]!.op === 'shuffle';

function isSyncPoint(kernel: Kernel, value: Value): boolean {
  const { effect } = specOf(kernel.insts[value]!.op);
  return effect === 'barrier' || effect === 'warp';
}

/** The sync point that a block of a split kernel ends with; such a block has one successor. */
export function syncPointOf(kernel: Kernel, block: Block): Value | undefined {
  const last = block.body.at(-1);
  return last !== undefined && isSyncPoint(kernel, last) ? last : undefined;
}

/** Whether a sync point is a barrier, a collective of the threads that reach it together, a collective by a member mask, or a yield. */
export function syncKindOf(inst: Inst): 'barrier' | 'collective' | 'rendezvous' | 'yield' {
  const { op } = inst;
  if (op === 'barrier' || op === 'yield') return op;
  return isMasked(inst) ? 'rendezvous' : 'collective';
}

/** The instructions of the sync point that a block of a split kernel ends with: one, or several shuffles or products of matrices. */
export function syncPointsOf(kernel: Kernel, block: Block): Value[] {
  const last = syncPointOf(kernel, block);
  if (last === undefined) return [];
  let from = block.body.length - 1;
  const { op } = kernel.insts[last]!;
  while (from > 0 && (op === 'shuffle' || op === 'mma') && kernel.insts[block.body[from - 1]!]!.op === op) from--;
  return block.body.slice(from);
}

/** The block behind a sync point. */
export const continuation = (block: Block): Block => edgesOf(block.end)[0]!.block;
