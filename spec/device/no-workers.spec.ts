/** Without shared memory, as in a page that is not isolated, or without workers, launches run on the calling thread. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rigOf, wordsIn } from '../support/workers.ts';

const test = suite('device/no-workers');

const count = `.visible .entry count(.param .u64 out)
{
  .reg .b64 p;
  ld.param.u64 p, [out];
  red.global.add.u32 [p], 1;
  ret;
}`;

async function works(): Promise<void> {
  const rig = rigOf(count, { threads: 4 });
  const out = rig.words(1);
  const shape = { blocks: 3000, threads: 64 };
  const [first, second] = [rig.start('count', shape, out), rig.start('count', shape, out)];
  assert.equal(first.progress(), { done: 0, total: 3000 });
  assert.ok(rig.launch('count', shape, out));
  second.cancel();
  assert.ok(await first.done, rig.said().join());
  assert.is(await second.done, undefined);
  assert.match(rig.said().join(), /^CM6016: the launch of `count` was canceled after 0 of 3000 blocks$/);
  assert.is(wordsIn(out)[0], 2 * 3000 * 64);
  rig.device.close();
}

test('without shared memory', async () => {
  const scope = globalThis as { SharedArrayBuffer?: unknown };
  const { SharedArrayBuffer: shared } = scope;
  scope.SharedArrayBuffer = undefined;
  try {
    await works();
  } finally {
    scope.SharedArrayBuffer = shared;
  }
});

test('without workers, whose start a page may forbid', async () => {
  const started: unknown[] = [];
  (globalThis as { Worker?: unknown }).Worker = class {
    constructor() {
      started.push(this);
    }
    addEventListener(type: string, act: (event: object) => void): void {
      if (type === 'error') setTimeout(() => act({ message: 'not here' }), 5);
    }
    postMessage(): void {}
    terminate(): void {}
  };
  const rig = rigOf(count, { threads: 4 });
  const out = rig.words(1);
  assert.ok(await rig.start('count', { blocks: 3000, threads: 64 }, out).done, rig.said().join());
  assert.is(wordsIn(out)[0], 3000 * 64);
  await works();
  assert.ok(started.length > 0 && started.length < 12, `${started.length}`);
});

test.run();
