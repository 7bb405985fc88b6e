/** Waits for an event by polling: without pauses at first, then with pauses that are short beside the time that has passed. */
import type { CudaBinding, CudaHandle } from '../../ffi/index.ts';

/** Milliseconds. Most kernels of library calls have ended by then, and a pause takes at least a tenth of one. */
const spinning = 10;
/** A pause is at most this share of the time that has passed, so that it is what a launch seems longer by. */
const share = 1 / 16;
/** Milliseconds. */
const longest = 1;

const idle = new Int32Array(new SharedArrayBuffer(4));

/** The time in milliseconds, and what lets some of it pass. */
export interface Clock {
  now(): number;
  pause(milliseconds: number): void;
}

const clockOfHost: Clock = {
  now: () => performance.now(),
  pause: (milliseconds) => void Atomics.wait(idle, 0, 0, milliseconds),
};

/** The state of an event at the deadline. */
export function waitFor(
  binding: Pick<CudaBinding, 'state'>,
  event: CudaHandle,
  timeoutMs: number,
  clock = clockOfHost,
): 'done' | 'failed' | 'overdue' {
  const start = clock.now();
  for (;;) {
    const state = binding.state(event);
    if (state !== 'running') return state;
    const passed = clock.now() - start;
    if (passed > timeoutMs) return 'overdue';
    if (passed > spinning) clock.pause(Math.min(passed * share, longest));
  }
}
