/**
 * Reconstructs warps from threads: the streams of the threads of a warp are replayed with a stack of masks, as the hardware would execute them.
 * Where threads diverge, each side runs by itself up to the immediate post-dominator of the branch, where they reconverge. Source: Fung et al., "Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow"
 * (MICRO 2007), the scheme they start from.
 */

import { cfgOf, type Kernel, postDominatorsOf } from '../../../../ir/index.ts';
import { Overwritten } from '../../observe/endings.ts';
import { profiledAccesses } from './record.ts';
import type { Stream } from './stream.ts';

/** Receives the events of a warp. */
export interface Listener {
  /** Threads of the warp execute a block together. */
  ran(block: number, lanes: number): void;
  /** They execute an access of the block together; `indices` are in the order of their lanes. */
  accessed(block: number, access: number, indices: Uint32Array, lanes: Uint8Array, count: number): void;
  /** They diverge at its end. */
  diverged(block: number): void;
}

/** The control-flow graph of a kernel for the replay. */
export interface Paths {
  readonly exit: number;
  /** For each block: words of its stream, its successors (the second one if the condition fails), and the block where threads reconverge. */
  readonly words: Int32Array;
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly reconvergence: Int32Array;
}

/** The paths of a kernel that was split at its sync points. */
export function pathsOf(kernel: Kernel): Paths {
  const cfg = cfgOf(kernel);
  const exit = kernel.blocks.length;
  const to = (which: number) => Int32Array.from(cfg.successors, (targets) => targets[which] ?? exit);
  return {
    exit,
    words: Int32Array.from(kernel.blocks, (block) => profiledAccesses(kernel, block) + 1),
    first: to(0),
    second: Int32Array.from(kernel.blocks, ({ end }, id) => (end.op === 'condbr' ? cfg.successors[id]![1]! : -1)),
    reconvergence: Int32Array.from(postDominatorsOf(cfg).parent),
  };
}

/** Threads at one block, and the block where they wait for others. */
interface Group {
  block: number;
  readonly until: number;
  readonly mask: number;
}

/** A warp during its replay. */
export interface Warp {
  readonly streams: readonly Stream[];
  readonly stack: Group[];
}

/** A warp before its first instruction. */
export function newWarp({ exit }: Paths, streams: readonly Stream[]): Warp {
  const mask = streams.length === 32 ? -1 : 2 ** streams.length - 1;
  return { streams, stack: [{ block: 0, until: exit, mask }] };
}

const indices = new Uint32Array(32);
const lanes = new Uint8Array(32);

/** Replays a warp as far as its streams reach; true if it has left the kernel. */
export function advance(paths: Paths, { streams, stack }: Warp, listener: Listener): boolean {
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    if (top.block === top.until) {
      stack.pop();
      continue;
    }
    const { block } = top;
    const words = paths.words[block]!;
    let count = 0;
    for (let lane = 0; lane < streams.length; lane++) {
      if (((top.mask >>> lane) & 1) === 0) continue;
      if (streams[lane]!.tail - streams[lane]!.head < words) return false;
      lanes[count++] = lane;
    }
    listener.ran(block, count);
    for (let access = 0; access < words - 1; access++) {
      for (let i = 0; i < count; i++) {
        const stream = streams[lanes[i]!]!;
        indices[i] = stream.words[stream.head + access]!;
      }
      listener.accessed(block, access, indices, lanes, count);
    }
    step(paths, top, streams, stack, count, listener);
  }
  return true;
}

/** Consumes the words of a block, and continues with its successor. */
function step(paths: Paths, top: Group, streams: readonly Stream[], stack: Group[], count: number, listener: Listener): void {
  const { block, mask } = top;
  let holds = 0;
  for (let i = 0; i < count; i++) {
    const stream = streams[lanes[i]!]!;
    stream.head += paths.words[block]!;
    const word = stream.words[stream.head - 1]!;
    // The code records the blocks in an order that the graph has, so that the kernel itself has changed the record.
    if (word >>> 1 !== block) throw new Overwritten();
    holds |= (word & 1) << lanes[i]!;
  }
  const [first, second] = [paths.first[block]!, paths.second[block]!];
  if (second < 0 || holds === mask) top.block = first;
  else if (holds === 0) top.block = second;
  else {
    listener.diverged(block);
    const until = paths.reconvergence[block]!;
    top.block = until;
    // A group that would only wait for the others at the same block is not kept.
    if (until === top.until) stack.pop();
    stack.push({ block: second, until, mask: mask & ~holds }, { block: first, until, mask: holds });
  }
}
