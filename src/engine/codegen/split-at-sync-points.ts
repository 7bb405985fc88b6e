/**
 * Cuts basic blocks behind stops, where threads wait for each other: barriers, and what a warp does together. Shuffles that do not need
 * each other's results are one stop.
 */
import { addBlock, type Block, edgesOf, type Kernel, operandsOf, renumber, specOf, type Value } from '../../ir/index.ts';

/** Splits in place, so that stops are the last instructions of their block; block ids are positions afterwards. */
export function splitAtSyncPoints(kernel: Kernel): void {
  for (let at = 0; at < kernel.blocks.length; at++) splitFirst(kernel, kernel.blocks[at]!);
  renumber(kernel);
}

/** The rest of the block goes to a new one at the end of the list, which is visited later. */
function splitFirst(kernel: Kernel, block: Block): void {
  const index = block.body.findIndex((value) => isStop(kernel, value));
  if (index < 0) return;
  const { until, behind } = gathered(kernel, block.body, index);
  const rest = addBlock(kernel);
  rest.body = behind;
  rest.end = block.end;
  block.body = until;
  block.end = { op: 'br', to: { block: rest, args: [] } };
}

/**
 * The instructions up to the first stop, and those behind it. Of shuffles further down those come along that can: nothing but
 * computations is between, and what they need of these goes before them.
 */
function gathered(kernel: Kernel, body: readonly Value[], index: number): { until: Value[]; behind: Value[] } {
  const first = body[index]!;
  const [before, together, after] = [body.slice(0, index), [first], [] as Value[]];
  const late = new Set<Value>(together);
  let at = index + 1;
  for (; at < body.length && isShuffle(kernel, first); at++) {
    const value = body[at]!;
    const isLate = operandsOf(kernel.insts[value]!).some((operand) => late.has(operand));
    const joins = isShuffle(kernel, value) && !isLate;
    if (!joins && specOf(kernel.insts[value]!.op).effect !== 'pure') break;
    if (joins) together.push(value);
    else (isLate ? after : before).push(value);
    if (joins || isLate) late.add(value);
  }
  return { until: [...before, ...together], behind: [...after, ...body.slice(at)] };
}

const isShuffle = (kernel: Kernel, value: Value): boolean => kernel.insts[value]!.op === 'shuffle';

function isStop(kernel: Kernel, value: Value): boolean {
  const { effect } = specOf(kernel.insts[value]!.op);
  return effect === 'barrier' || effect === 'warp';
}

/** The stop that a block of a split kernel ends in; the one block that follows is where threads go on. */
export function syncPointOf(kernel: Kernel, block: Block): Value | undefined {
  const last = block.body.at(-1);
  return last !== undefined && isStop(kernel, last) ? last : undefined;
}

/** All stops that a block of a split kernel ends in, the last of which is its stop: one, or shuffles. */
export function syncPointsOf(kernel: Kernel, block: Block): Value[] {
  const stop = syncPointOf(kernel, block);
  if (stop === undefined) return [];
  let from = block.body.length - 1;
  while (from > 0 && isShuffle(kernel, stop) && isShuffle(kernel, block.body[from - 1]!)) from--;
  return block.body.slice(from);
}

/** The block behind a stop. */
export const continuation = (block: Block): Block => edgesOf(block.end)[0]!.block;
