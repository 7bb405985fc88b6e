/**
 * Blocks that run by turns, because they may wait for each other: in a cooperative launch, or in a loop that reads what another block writes.
 * Blocks are counted cluster by cluster, and in a cluster by their ranks; a cluster is run by one share.
 * A block that waits keeps its place in memory while others run, and blocks begin in their order. A block begins when those that have begun
 * only wait, so that a kernel whose blocks wait for earlier ones alone has hardly more than one at a time.
 */
import { paramGlobal, turns, type WordGlobal } from '../../../engine/codegen/host.ts';
import { atBarrier, atRendezvous } from '../../../engine/codegen/kernel-code.ts';
import { addDone, addMove, areAllQuiet, type Control, movesOf, quiets, setQuiet } from './control.ts';
import type { BlockParts, Globals, KernelInstance } from './instance.ts';

/** Thrown where all blocks of a launch wait for each other forever. */
export class Waiting extends Error {}

/** The memory of blocks that have begun: areas of the same size, one behind the other. Block n has the area n modulo their number. */
export interface Residents {
  readonly areas: number;
  /** Bytes of an area. */
  readonly bytes: number;
  /** The addresses in the first area: words, and parameters by index. */
  readonly words: readonly WordGlobal[];
  readonly params: readonly number[];
  readonly first: Globals;
  /** By area: whether a block has it. */
  readonly inUse: Int32Array;
  /** Whether blocks that have waited for long wait forever: not where they read a clock, or where other launches may run. */
  readonly canWaitForever: boolean;
  /** The address of the words that count the threads of each area which have ended; 0 without clusters. */
  readonly ended: number;
  /** Blocks of a cluster along each axis. */
  readonly cluster: readonly [number, number, number];
}

/** Blocks of a cluster. */
export const clusterSizeOf = ({ cluster: [x, y, z] }: Pick<Residents, 'cluster'>): number => x * y * z;

/** What a share gives the blocks that it runs. */
export interface ResidentShare {
  readonly grid: readonly [number, number, number];
  /** Most shares of the launch. */
  readonly sharers: number;
  readonly residents: Residents;
  readonly control: Control;
  readonly slot: number;
  readonly instance: KernelInstance;
  readonly parts: BlockParts;
  /** The next block, or the first one of a cluster, if there is one for this share. */
  claimOne(hasOthers: boolean): number | undefined;
  /** Notes the block that runs. */
  choose(block: number): void;
  tick(): void;
  /** Whether what was thrown stops the launch, rather than the block that ran. */
  isStop(error: unknown): boolean;
}

/** Turns of a share in which all of its blocks only wait, and rounds at least, after which they are taken to wait forever. */
const [quietTurns, minQuietRounds] = [2 ** 20, 1024];
/** Rounds between two ticks, and rounds in which no block ends after which another one begins in any case. */
const [roundsPerTick, maxRounds] = [64, 16];

/** Runs blocks until there are no more for the share. A launch that is stopped names the lowest one. */
export function runResidents(share: ResidentShare): void {
  const select = selector(share);
  const begun: number[] = [];
  try {
    runByTurns(share, begun, select);
  } catch (error) {
    if (share.isStop(error) && begun.length > 0) {
      select(begun[0]!);
      noteWaiting(share.instance);
    }
    throw error;
  }
}

function runByTurns(share: ResidentShare, begun: number[], select: (block: number) => void): void {
  const { control, slot, parts, sharers, residents } = share;
  const { memory } = share.instance;
  const quiet = quietCounter(share);
  const release = newRelease(residents);
  let waiting: number | undefined;
  const size = clusterSizeOf(residents);
  /** Begins a block, or all of a cluster, if there is one whose area is free; those of a cluster are free together. */
  const beginOne = (): boolean => {
    waiting ??= share.claimOne(begun.length > 0);
    if (waiting === undefined || Atomics.compareExchange(residents.inUse, waiting % residents.areas, 0, 1) !== 0) return false;
    const end = waiting + size;
    for (; waiting < end; waiting++) {
      Atomics.store(residents.inUse, waiting % residents.areas, 1);
      select(waiting);
      parts.begin();
      if (residents.ended > 0) new Int32Array(memory.buffer, residents.ended)[waiting % residents.areas] = 0;
      begun.push(waiting);
    }
    waiting = undefined;
    return true;
  };
  let roundsWithout = 0;
  setQuiet(control, slot, quiets.busy);
  for (let rounds = 1; ; rounds++) {
    if (begun.length === 0 && !beginOne() && waiting === undefined) break;
    const { ended, runs } = takeTurns(begun, select, parts);
    for (const block of ended) release(block);
    addDone(control, ended.length);
    if (ended.length > 0) roundsWithout = 0;
    const isStalled = ended.length === 0 && (!runs || ++roundsWithout % maxRounds === 0);
    let more = 0;
    // Twice as many each time: blocks that wait for all of the grid should not take many rounds to begin.
    for (const most = begun.length; isStalled && more < most && beginOne(); ) more++;
    if (sharers > 1 && (ended.length > 0 || runs || more > 0)) addMove(control);
    if (ended.length > 0 || runs || more > 0) quiet.reset();
    else quiet.count(begun.length);
    if (ended.length > 0 || rounds % roundsPerTick === 0) share.tick();
  }
  setQuiet(control, slot, quiets.none);
}

/** Gives areas of blocks back that have ended: all of a cluster at once, since others of it may still read them. */
function newRelease(residents: Residents): (block: number) => void {
  const { inUse, areas } = residents;
  const size = clusterSizeOf(residents);
  const left = new Map<number, number>();
  return (block) => {
    const first = block - (block % size);
    const others = (left.get(first) ?? size) - 1;
    left.set(first, others);
    if (others > 0) return;
    left.delete(first);
    for (let each = first; each < first + size; each++) Atomics.store(inUse, each % areas, 0);
  };
}

/** Where a block is in the grid. */
function newPlaces(grid: readonly [number, number, number], { cluster }: Residents): (block: number) => [number, number, number] {
  const size = clusterSizeOf({ cluster });
  const [nx, ny] = [grid[0] / cluster[0], grid[1] / cluster[1]];
  return (block) => {
    const [number, rank] = [Math.floor(block / size), block % size];
    return [
      (number % nx) * cluster[0] + (rank % cluster[0]),
      (Math.floor(number / nx) % ny) * cluster[1] + (Math.floor(rank / cluster[0]) % cluster[1]),
      Math.floor(number / (nx * ny)) * cluster[2] + Math.floor(rank / (cluster[0] * cluster[1])),
    ];
  };
}

/** A turn for each block. Those that have ended are taken from the list; `runs` is whether one of the others does more than wait. */
function takeTurns(begun: number[], select: (block: number) => void, parts: BlockParts): { ended: number[]; runs: boolean } {
  const ended: number[] = [];
  let runs = false;
  for (let i = 0; i < begun.length; ) {
    select(begun[i]!);
    const result = parts.turn();
    if (result === turns.ended) ended.push(...begun.splice(i, 1));
    else i++;
    runs ||= result === turns.runs;
  }
  return { ended, runs };
}

/** Makes a block the one that the instance runs. */
function selector({ grid, residents, instance, choose }: ResidentShare): (block: number) => void {
  const { areas, bytes, words, params, first } = residents;
  const placeOf = newPlaces(grid, residents);
  const axes = (['x', 'y', 'z'] as const).map((axis) => instance.global(`ctaid.${axis}`));
  const places = words.map((name) => ({ global: instance.global(name), start: first.words[name]! }));
  const pointers = params.map((index) => ({ global: instance.global(paramGlobal(index)), start: first.paramAddresses[index]! }));
  let selected = -1;
  return (block) => {
    if (block === selected) return;
    selected = block;
    choose(block);
    for (const [axis, at] of placeOf(block).entries()) axes[axis]!.value = at;
    const offset = (block % areas) * bytes;
    for (const { global, start } of places) global.value = start + offset;
    for (const { global, start } of pointers) global.value = start + BigInt(offset);
  };
}

/** Counts rounds in which all blocks of a share wait. Throws where no share has a block that does anything else. */
function quietCounter({ control, slot, residents }: ResidentShare) {
  let rounds = 0;
  let seen = 0;
  return {
    reset(): void {
      if (rounds > 0) setQuiet(control, slot, quiets.busy);
      rounds = 0;
    },
    count(blocks: number): void {
      if (!residents.canWaitForever || blocks === 0) return;
      const most = Math.max(minQuietRounds, Math.ceil(quietTurns / blocks));
      rounds++;
      if (rounds === most) {
        setQuiet(control, slot, quiets.quiet);
        seen = movesOf(control);
      }
      if (rounds < 2 * most || !areAllQuiet(control)) return;
      if (movesOf(control) !== seen) {
        rounds = most - 1;
        return;
      }
      throw new Waiting();
    },
  };
}

/** Makes the first thread that polls the one that a report names; the others of its block have ended or are at a barrier. */
function noteWaiting({ memory, word, global }: KernelInstance): void {
  const states = new Int32Array(memory.buffer, word('states'), word('threads'));
  const found = states.findIndex((state) => state >= 0 && (state & (atBarrier | atRendezvous)) === 0);
  global('thread').value = Math.max(0, found);
}
