/**
 * Warps from threads: the streams of the threads of a warp are followed as the hardware's stack of masks would run them, 32 threads
 * together as long as they are at the same place. Where they part, each side runs alone up to the immediate post-dominator of the
 * branch, where they go on together. Source: Fung et al., "Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow"
 * (MICRO 2007), the scheme they start from.
 */
import { bug } from '../../../../base/bug.ts';
import { cfgOf, type Kernel, postDominatorsOf } from '../../../../ir/index.ts';
import { watchedAccesses } from './record.ts';
import type { Stream } from './stream.ts';

/** What is told of a warp. */
export interface Listener {
  /** Threads of the warp run a block together. */
  ran(block: number, lanes: number): void;
  /** They do its access of that number together: their indices, in the order of their lanes. */
  accessed(block: number, access: number, indices: Uint32Array, lanes: Uint8Array, count: number): void;
  /** They part at its end. */
  parted(block: number): void;
}

/** The graph of a kernel as a walk needs it. */
export interface Paths {
  readonly exit: number;
  /** By block: words of its stream, where it leads (the second where the condition fails), and where threads that part meet. */
  readonly words: Int32Array;
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly meets: Int32Array;
}

/** The paths of a kernel that was split at stops. */
export function pathsOf(kernel: Kernel): Paths {
  const cfg = cfgOf(kernel);
  const exit = kernel.blocks.length;
  const to = (which: number) => Int32Array.from(cfg.successors, (targets) => targets[which] ?? exit);
  return {
    exit,
    words: Int32Array.from(kernel.blocks, (block) => watchedAccesses(kernel, block) + 1),
    first: to(0),
    second: Int32Array.from(kernel.blocks, ({ end }, id) => (end.op === 'condbr' ? cfg.successors[id]![1]! : -1)),
    meets: Int32Array.from(postDominatorsOf(cfg).parent),
  };
}

/** Threads that are at one place, and where they wait for others. */
interface Group {
  block: number;
  readonly until: number;
  readonly mask: number;
}

/** A warp on its way. */
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

/** Follows a warp as far as its streams go; true where it has left the kernel. */
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
    goOn(paths, top, streams, stack, count, listener);
  }
  return true;
}

/** Takes the words of a block, and goes where its end leads. */
function goOn(paths: Paths, top: Group, streams: readonly Stream[], stack: Group[], count: number, listener: Listener): void {
  const { block, mask } = top;
  let holds = 0;
  for (let i = 0; i < count; i++) {
    const stream = streams[lanes[i]!]!;
    stream.head += paths.words[block]!;
    const word = stream.words[stream.head - 1]!;
    if (word >>> 1 !== block) bug(`a thread is at block ${word >>> 1}, and its warp at ${block}`);
    holds |= (word & 1) << lanes[i]!;
  }
  const [first, second] = [paths.first[block]!, paths.second[block]!];
  if (second < 0 || holds === mask) top.block = first;
  else if (holds === 0) top.block = second;
  else {
    listener.parted(block);
    const until = paths.meets[block]!;
    top.block = until;
    // Those that only wait for the others at the same place need not be kept apart.
    if (until === top.until) stack.pop();
    stack.push({ block: second, until, mask: mask & ~holds }, { block: first, until, mask: holds });
  }
}
