/** Waits for an event by polling, with growing pauses up to a deadline. */
import type { CudaBinding, CudaHandle } from '../../ffi/index.ts';

/** Polls without a pause, for kernels of a few microseconds. */
const spins = 2000;
/** Milliseconds. */
const pauses = { first: 0.02, longest: 1 } as const;

const idle = new Int32Array(new SharedArrayBuffer(4));

/** The state of an event at the deadline. */
export function waitFor(binding: CudaBinding, event: CudaHandle, timeoutMs: number): 'done' | 'failed' | 'overdue' {
  const deadline = performance.now() + timeoutMs;
  for (let i = 0; i < spins; i++) {
    const state = binding.state(event);
    if (state !== 'running') return state;
  }
  for (let pause: number = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
    const state = binding.state(event);
    if (state !== 'running') return state;
    if (performance.now() > deadline) return 'overdue';
    Atomics.wait(idle, 0, 0, pause);
  }
}
