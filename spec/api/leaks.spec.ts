/**
 * What a process holds after thousands of launches, modules, devices, buffers, streams and events is what it held before: nothing is remembered
 * for ever. `scripts/soak/main.ts` does the same for longer, and prints a table.
 */
import { heapStats } from 'bun:jsc';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildSoak, growth, type Kind, soak } from '../../scripts/soak/main.ts';
import { Device } from '../../src/api/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { kernels } from '../support/api-contract.ts';
import { nodeNeed } from '../support/both-runtimes.ts';
import { withoutStart } from '../support/delayed-device.ts';
import { need } from '../support/need.ts';

const test = suite('api/leaks');

test('10 000 launches and 1 000 buffers, streams and events leave no objects behind', async () => {
  // By itself a kernel becomes native code at some launch, whose compiler has thousands of objects.
  const device = Device.over(withoutStart(openCpuDevice({ native: 'always' })));
  const [bump, counter] = [device.load(kernels.bump).kernel('bump', ['u32*']), device.allocate('u32', 1)];
  const round = async (): Promise<number> => {
    for (let i = 0; i < 10_000; i++) {
      bump.launch({ grid: 1, block: 1, args: [counter] });
      if (i % 500 === 499) await device.synchronize();
    }
    for (let i = 0; i < 1000; i++) {
      using buffer = device.allocate('u8', 64);
      using stream = device.stream();
      using event = device.event();
      stream.copy(buffer, new Uint8Array([Number(buffer.address & 0xffn)]));
      stream.record(event);
      device.perThreadStream.wait(event);
    }
    await device.synchronize();
    // What finalizers release is collected the next time.
    for (let i = 0; i < 3; i++) {
      Bun.gc(true);
      await new Promise((done) => setTimeout(done, 1));
    }
    return heapStats().objectCount;
  };
  const first = await round();
  // A collection leaves what 1,000 buffers have for the next one, some 8,000 objects, and not every time.
  const later = Math.min(await round(), await round(), await round());
  assert.ok(later < first + 10_000, `${later - first} more objects`);
  assert.equal([...(await counter.read())], [40_000]);
  device.close();
});

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
let program: Promise<string> | undefined;
const mib = 2 ** 20;

/** Rounds of each kind. Each module has variables of 1 MiB, and each device a buffer of 16 MiB. */
const rounds: Record<Kind, number> = { launches: 5000, modules: 150, devices: 40 };
/** Most MiB that WebAssembly memories have at any time, and by which the heap and the process may grow. */
// Memories of closed devices are collected when they are 64 MiB, and Node collects its heap when it likes to there.
const most: Record<Kind, { readonly wasm: number; readonly heap: number; readonly rss: number }> = {
  launches: { wasm: 2, heap: 4, rss: 120 },
  modules: { wasm: 4, heap: 4, rss: 120 },
  devices: { wasm: 160, heap: 16, rss: 200 },
};

for (const [kind, count] of Object.entries(rounds) as [Kind, number][])
  for (const runtime of ['bun', 'node'] as const)
    need(test, runtime === 'node' ? [nodeNeed] : [], `${count} ${kind} take no more memory after a while (${runtime})`, async () => {
      program ??= buildSoak(folder);
      const levels = soak(runtime, await program, kind, count);
      assert.is(levels.length, 10);
      const found = { wasm: Math.max(...levels.map(({ wasm }) => wasm)), heap: growth(levels, 'heap') };
      // Collections are not exact, and code is compiled meanwhile. All rounds would leave 150 and 640 MiB of memories.
      assert.ok(found.wasm <= most[kind].wasm * mib && found.heap < most[kind].heap * mib, JSON.stringify(found));
      // Workers of Node collect when they like to, so that the process itself may hold more for a while.
      assert.ok(growth(levels, 'rss') < most[kind].rss * mib, JSON.stringify(levels));
    });

test.run();
