/** Asynchronous launches that take less than the messages to a worker: the caller runs them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { expectedMs, noteTime } from '../../src/device/cpu/launch/launch-times.ts';
import type { PendingLaunch } from '../../src/device/index.ts';
import { rigOf, wordsIn } from '../support/workers.ts';

const test = suite('device/brief-launches');

const text = `
.visible .entry count(.param .u64 out)
{
  .reg .b64 p;
  ld.param.u64 p, [out];
  red.global.add.u32 [p], 1;
  ret;
}
.visible .entry passes(.param .u64 out)
{
  .reg .pred q; .reg .b32 a; .reg .b64 p;
  ld.param.u64 p, [out];
again:
  ld.volatile.global.u32 a, [p]; setp.eq.u32 q, a, 0; @q bra again;
  st.volatile.global.u32 [p+4], a;
  ret;
}
.visible .entry faulty(.param .u64 out, .param .u32 far)
{
  .reg .b32 a; .reg .b64 p, q;
  ld.param.u64 p, [out]; ld.param.u32 a, [far]; cvt.u64.u32 q, a; add.u64 p, p, q;
  red.global.add.u32 [p], 1;
  ret;
}
.visible .entry strays(.param .u64 out)
{
  .reg .b32 a; .reg .b64 p, q;
  ld.param.u64 p, [out]; ld.global.u32 a, [p+4]; cvt.u64.u32 q, a; add.u64 p, p, q;
  red.global.add.u32 [p], 1;
  ret;
}
.visible .entry loops(.param .u64 out, .param .u32 count)
{
  .reg .pred q; .reg .b32 i, n; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 n, [count]; mov.u32 i, 0;
again:
  red.global.add.u32 [p], 1; add.u32 i, i, 1; setp.lt.u32 q, i, n; @q bra again;
  ret;
}`;

/** Loops as often as the second word says. */
const turns = `
.visible .entry turns(.param .u64 out)
{
  .reg .pred q; .reg .b32 i, n; .reg .b64 p;
  ld.param.u64 p, [out]; mov.u32 i, 0;
again:
  red.global.add.u32 [p], 1; add.u32 i, i, 1; ld.volatile.global.u32 n, [p+4]; setp.lt.u32 q, i, n; @q bra again;
  ret;
}`;

/** A time that code has taken is the least, and a larger one counts twice the one before at most. */
test('the time of a unit grows by at most two from one launch to the next', () => {
  const code = { address: 0, contextBytes: 0, entries: {}, imports: [], globals: [] };
  assert.is(expectedMs(code, 3), undefined);
  noteTime(code, 8, 4);
  assert.is(expectedMs(code, 3), 6);
  noteTime(code, 400, 4);
  assert.is(expectedMs(code, 3), 12);
  noteTime(code, 4, 4);
  assert.is(expectedMs(code, 3), 3);
  noteTime(code, 0, 4);
  assert.is(expectedMs(code, 3), 3);
});

/** After it, the caller runs brief launches again, for some milliseconds. */
const eventsHadTheirTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Launches until one has ended when the call returns: on a busy machine an earlier one may have taken long. */
async function untilBrief(launch: () => ReturnType<ReturnType<typeof rigOf>['start']>, most = 200): Promise<boolean> {
  for (let i = 0; i < most; i++) {
    const pending = launch();
    const { ended } = pending;
    const result = await pending.done;
    if (!ended) continue;
    assert.is(ended.result, result);
    return true;
  }
  return false;
}

test('the first launch is run by a worker, and a later one by the caller', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  const shape = { blocks: 3, threads: 64 };
  let launches = 0;
  const launch = () => {
    launches++;
    return rig.start('count', shape, out);
  };
  const first = launch();
  assert.is(first.ended, undefined);
  assert.ok(await first.done);
  assert.ok(await untilBrief(launch));
  assert.is(wordsIn(out)[0], launches * 3 * 64);
  // Without waiting for anything, the words are there.
  const pending = rig.start('count', shape, out);
  if (pending.ended) assert.is(wordsIn(out)[0], (launches + 1) * 3 * 64);
  assert.ok(await pending.done);
  assert.equal(pending.progress(), { done: 3, total: 3 });
  rig.device.close();
});

test('a kernel that may wait for another launch is never run by the caller', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(2, 1, 0);
  assert.not(await untilBrief(() => rig.start('passes', { blocks: 1, threads: 1 }, out), 20));
  assert.is(wordsIn(out)[1], 1);
  rig.device.close();
});

test('a fault of a launch that the caller runs is reported as that of any other', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(2);
  const shape = { blocks: 1, threads: 64 };
  let ended: PendingLaunch['ended'];
  // On a busy machine, the launch before may have taken too long for the caller to run this one.
  for (let i = 0; i < 50 && !ended; i++) {
    out.write(Uint8Array.of(0, 0, 0, 0), 4);
    assert.ok(await untilBrief(() => rig.start('strays', shape, out)));
    out.write(Uint8Array.of(0, 0, 0, 0xf0), 4);
    await eventsHadTheirTurn();
    const pending = rig.start('strays', shape, out);
    assert.is(await pending.done, undefined);
    ended = pending.ended;
  }
  assert.equal(ended, { result: undefined });
  assert.match(rig.said()[0]!, 'CM6011');
  rig.device.close();
});

test('a launch that follows a fault knows nothing of it', () => {
  for (const threads of [1, 2]) {
    const rig = rigOf(text, { threads });
    const out = rig.words(1);
    const shape = { blocks: 5, threads: 64 };
    for (let i = 1; i <= 3; i++) {
      assert.is(rig.launch('faulty', shape, out, 0xf000_0000), undefined);
      assert.match(rig.said()[0]!, 'CM6011');
      assert.ok(rig.launch('count', shape, out));
      assert.is(wordsIn(out)[0], i * 5 * 64);
    }
    rig.device.close();
  }
});

test('a launch with other arguments is run by a worker, since it may loop for longer', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  const shape = { blocks: 1, threads: 1 };
  assert.ok(await untilBrief(() => rig.start('loops', shape, out, 1)));
  const before = wordsIn(out)[0]!;
  await eventsHadTheirTurn();
  const pending = rig.start('loops', shape, out, 2);
  assert.is(pending.ended, undefined);
  assert.ok(await pending.done);
  assert.is(wordsIn(out)[0], before + 2);
  rig.device.close();
});

test('a caller that waits for launch after launch gets to its other events', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  let isOver = false;
  assert.ok(await untilBrief(() => rig.start('count', { blocks: 1, threads: 1 }, out)));
  setTimeout(() => {
    isOver = true;
  }, 1);
  const start = performance.now();
  while (!isOver && performance.now() - start < 20_000) assert.ok(await rig.start('count', { blocks: 1, threads: 1 }, out).done);
  assert.ok(isOver);
  rig.device.close();
});

test('a launch that was brief, and takes long for what is in memory now, is complete and can be stopped', () => {
  const rig = rigOf(turns, { threads: 2 });
  const out = rig.words(2, 0, 1);
  const [blocks, threads] = [40, 32];
  const timesOf = (count: number): void => out.write(Uint8Array.of(count, count >> 8, count >> 16, count >> 24), 4);
  let expected = 0;
  for (const count of [1, 1, 1, 1, 1, 1, 1, 1, 700, 1, 1, 1, 700, 700, 700, 1, 1]) {
    timesOf(count);
    assert.ok(rig.launch('turns', { blocks, threads }, out), `${count}`);
    expected += count * blocks * threads;
    assert.is(wordsIn(out)[0], expected, `${count}`);
  }
  timesOf(-1);
  assert.is(rig.launch('turns', { blocks, threads, timeoutMs: 30 }, out), undefined);
  assert.match(rig.said()[0]!, 'CM6010');
  rig.device.close();
});

test.run();
