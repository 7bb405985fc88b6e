/** Waits for the GPU by polling: first a completion word, then the status, with growing pauses up to a deadline. */
import type { Handle, MetalBinding } from '../../ffi/index.ts';

interface Word {
  isDone(): boolean;
}

/** Polls of the word alone, for kernels of a few microseconds. */
const spins = 256;
/** Microseconds. */
const pauses = { first: 10, longest: 500 } as const;

/** Whether the commands have ended by the deadline; 0 ms is none. */
export function waitFor(binding: MetalBinding, commands: Handle, word: Word, timeoutMs: number): boolean {
  const deadline = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY;
  for (let i = 0; i < spins; i++) if (word.isDone()) return true;
  for (let pause: number = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
    if (word.isDone() || binding.hasEnded(commands)) return true;
    if (performance.now() > deadline) return false;
    binding.pause(pause);
  }
}
