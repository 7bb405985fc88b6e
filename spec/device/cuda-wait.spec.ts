/** Waiting for a kernel on the CUDA device, by a clock whose time passes as the test says. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { waitFor } from '../../src/device/cuda/wait.ts';

/** A kernel of some milliseconds, a poll of a microsecond, and pauses that take a tenth of a millisecond more than they are asked for. */
function wait(kernelMs: number, timeoutMs: number): { state: string; endedMs: number; polls: number } {
  let [time, polls] = [1000, 0];
  const pause = (milliseconds: number): void => {
    time += milliseconds + 0.1;
  };
  const poll = (): 'done' | 'running' => {
    polls++;
    time += 0.001;
    return time - 1000 >= kernelMs ? 'done' : 'running';
  };
  const state = waitFor({ state: poll }, 1n as never, timeoutMs, { now: () => time, pause });
  return { state, endedMs: time - 1000, polls };
}

test('a launch seems longer by at most a ninth, and a poll of a long kernel comes each millisecond', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 20_000, noNaN: true }), (kernelMs) => {
      const { state, endedMs, polls } = wait(kernelMs, 60_000);
      assert.is(state, 'done');
      assert.ok(endedMs <= kernelMs + 0.002 + Math.min(kernelMs / 9, 1.11), `${kernelMs} ms seem ${endedMs} ms`);
      assert.ok(polls <= 10_100 + kernelMs, `${polls} polls for ${kernelMs} ms`);
    }),
  );
});

test('a kernel that has not ended at the deadline is overdue', () => {
  for (const timeoutMs of [0.5, 3, 700]) {
    const { state, endedMs } = wait(Number.POSITIVE_INFINITY, timeoutMs);
    assert.is(state, 'overdue');
    assert.ok(endedMs >= timeoutMs && endedMs <= timeoutMs + 1.2, `${endedMs}`);
  }
});

test('a failure ends the wait', () => {
  assert.is(waitFor({ state: () => 'failed' }, 1n as never, 10), 'failed');
});

test.run();
