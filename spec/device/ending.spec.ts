/** Where a launch that has not completed is said to have ended: blocks in the order of CUDA, x fastest, and so are threads. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { reportEnding } from '../../src/device/cpu/launch/report-ending.ts';
import { addDone, type Control, claim, newControl, noteEnding, noteWhy, stopAll, stops } from '../../src/device/cpu/workers/control.ts';
import type { Dim3 } from '../../src/device/device.ts';

const test = suite('device/ending');

/** Whether a launch is whole after some events, and what is reported; blocks have 4 x 3 x 2 threads, in lane groups of 4. */
function endOf(grid: Dim3, happen: (control: Control) => void, slots = 1): { isWhole: boolean; said: string[] } {
  const control = newControl(slots, false);
  happen(control);
  const diagnostics = new Diagnostics();
  const request = { kernel: 'k', grid, block: [4, 3, 2], dynamicSharedBytes: 0, args: [], timeoutMs: 2000 } as const;
  const isWhole = reportEnding(control, { work: { grid, sharers: slots, timeoutMs: 2000 }, request, lanes: 4 }, diagnostics);
  return { isWhole, said: diagnostics.list.map(({ code, message }) => `${code} ${message}`) };
}

/** What is reported for a launch that is not whole. */
function saidOf(grid: Dim3, happen: (control: Control) => void, slots = 1): string[] {
  const { isWhole, said } = endOf(grid, happen, slots);
  assert.is(isWhole, false);
  return said;
}

const timeUp = (block: string, thread = '0, 0, 0'): string[] => [
  `CM6010 kernel \`k\` was stopped after 2 s, in block (${block}) at thread (${thread})`,
];

test('a launch whose time is up between two shares was stopped at the first block that nobody had claimed', () => {
  const after = (grid: Dim3, units: number): string[] =>
    saidOf(grid, (control) => {
      claim(control, units);
      stopAll(control, stops.timeUp);
    });
  assert.equal(after([5, 3, 2], 0), timeUp('0, 0, 0'));
  assert.equal(after([5, 3, 2], 4), timeUp('4, 0, 0'));
  assert.equal(after([5, 3, 2], 14), timeUp('4, 2, 0'));
  assert.equal(after([5, 3, 2], 22), timeUp('2, 1, 1'));
  // All are claimed, and claims go beyond the end.
  assert.equal(after([5, 3, 2], 30), timeUp('4, 2, 1'));
  assert.equal(after([5, 3, 2], 64), timeUp('4, 2, 1'));
  // 7 * 2^30 blocks are claimed 14 at a time.
  assert.equal(after([7, 2 ** 15, 2 ** 15], 3), timeUp('0, 6, 0'));
});

test('a launch whose time is up in its shares was stopped in the lowest block among them', () => {
  const said = saidOf(
    [5, 3, 2],
    (control) => {
      claim(control, 20);
      noteEnding(control, 0, 'stopped', { block: [1, 2, 0], thread: 0, first: 11 });
      noteEnding(control, 1, 'stopped', { block: [4, 0, 0], thread: 17, first: 4 });
      stopAll(control, stops.timeUp);
    },
    2,
  );
  // 17 = 1 + 4 * (1 + 3 * 1)
  assert.equal(said, timeUp('4, 0, 0', '1, 1, 1'));
});

test('a fault names the first thread of its lane group, and how many more there are in the block', () => {
  const faultAt = (thread: number): string[] =>
    saidOf([5, 3, 2], (control) => noteEnding(control, 0, 'fault', { block: [2, 1, 0], thread, first: 7 }));
  const fault = 'CM6011 kernel `k` accessed an address outside of device memory, in block (2, 1, 0) at thread';
  assert.equal(faultAt(8), [`${fault} (0, 2, 0) or one of the next 3 threads`]);
  assert.equal(faultAt(21), [`${fault} (1, 2, 1) or one of the next 2 threads`]);
  assert.equal(faultAt(22), [`${fault} (2, 2, 1) or the next one`]);
  assert.equal(faultAt(23), [`${fault} (3, 2, 1)`]);
});

test('a misaligned access and a thread that nothing wakes have messages of their own', () => {
  const endsAs = (ending: 'misaligned' | 'stuck'): string[] =>
    saidOf([5, 3, 2], (control) => noteEnding(control, 0, ending, { block: [2, 1, 0], thread: 21, first: 7 }));
  const place = 'in block (2, 1, 0) at thread (1, 2, 1)';
  const misaligned = 'CM6019 kernel `k` accessed memory at an address that is not a multiple of the size of the access';
  assert.equal(endsAs('misaligned'), [`${misaligned}, ${place} or one of the next 2 threads`]);
  // A thread that waits is known by itself.
  const stuck = 'CM6031 kernel `k` was stopped: a thread waits for threads of its member mask that never come';
  assert.equal(endsAs('stuck'), [`${stuck}, ${place}`]);
});

test('an internal error of a share is reported with its text', () => {
  const said = saidOf([5, 3, 2], (control) => {
    addDone(control, 29);
    noteWhy(control, 'unreachable code');
    noteEnding(control, 0, 'broken', { block: [4, 2, 1], thread: 0, first: 29 });
  });
  assert.equal(said, ['CM6017 the launch of `k` has failed: unreachable code']);
});

test('a launch whose last block has ended is whole, even if it was told to stop at that time', () => {
  for (const why of [stops.no, stops.timeUp, stops.cancelled]) {
    const happen =
      (units: number) =>
      (control: Control): void => {
        addDone(control, units);
        stopAll(control, why);
      };
    assert.equal(endOf([5, 3, 2], happen(30)), { isWhole: true, said: [] });
    assert.is(endOf([5, 3, 2], happen(29)).isWhole, false);
  }
});

test('a canceled launch counts the blocks that have ended', () => {
  const canceled = (grid: Dim3, units: number): string[] =>
    saidOf(grid, (control) => {
      addDone(control, units);
      stopAll(control, stops.cancelled);
    });
  assert.equal(canceled([5, 3, 2], 12), ['CM6016 the launch of `k` was canceled after 12 of 30 blocks']);
  // 7 * 2^30 blocks are 2^29 units of 14 blocks.
  assert.equal(canceled([7, 2 ** 15, 2 ** 15], 3), [`CM6016 the launch of \`k\` was canceled after 42 of ${7 * 2 ** 30} blocks`]);
});

test.run();
