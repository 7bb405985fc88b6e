/** Waiting with a deadline: looking at an event, at first without a pause, then with pauses that grow. */
import type { CudaBinding, CudaHandle } from '../../ffi/index.ts';

/** Looks without a pause: for kernels of a few microseconds. */
const spins = 2000;
/** Milliseconds. */
const pauses = { first: 0.02, longest: 1 } as const;

const nobody = new Int32Array(new SharedArrayBuffer(4));

/** What became of an event by the deadline. */
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
    Atomics.wait(nobody, 0, 0, pause);
  }
}
