/** Launches of native code beside those of WebAssembly: faults, time limits, cancellation, workers, and what a kernel needs of its launch. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canRunNative, nativeFeatures } from '../../src/device/cpu/native/mode.ts';
import type { NativeMode } from '../../src/device/device.ts';
import { type Engine, openCpuDevice } from '../../src/device/index.ts';
import { processorFeatures } from '../../src/ffi/native/processor.ts';
import { checkRecorded, openRecorded, recordedClusters } from '../support/clusters.ts';
import { printCall, printingModule } from '../support/printing.ts';
import { endless, type Rig, rigOf, wordsIn } from '../support/workers.ts';

const test = suite('device/native-launch');
const onlyHere = canRunNative() ? test : test.skip;

const text = `${endless}
.visible .entry squares(.param .u64 out)
{
  .reg .b32 i, n, t; .reg .b64 p, o;
  ld.param.u64 p, [out]; mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, n, t;
  mul.wide.u32 o, i, 4; add.s64 p, p, o; mul.lo.u32 i, i, i; st.global.u32 [p], i;
  ret;
}
.visible .entry follow(.param .u64 out, .param .u32 who, .param .u64 where)
{
  .reg .pred q; .reg .b32 i, w, n, t; .reg .b64 p, o;
  ld.param.u64 p, [out]; ld.param.u32 w, [who]; ld.param.u64 o, [where];
  mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, n, t;
  setp.eq.u32 q, i, w; @q add.s64 p, p, o;
  red.global.add.u32 [p], 1;
  ret;
}
.visible .entry meet(.param .u64 out)
{
  .reg .pred q; .reg .b32 a, n; .reg .b64 p;
  ld.param.u64 p, [out]; mov.u32 n, %nctaid.x;
  red.global.add.u32 [p], 1;
again:
  ld.volatile.global.u32 a, [p]; setp.lt.u32 q, a, n; @q bra again;
  red.global.add.u32 [p+4], a;
  ret;
}
.visible .entry halves(.param .u64 out)
{
  .shared .align 4 .b8 s[512];
  .reg .b32 t, a, b; .reg .b64 p, o;
  ld.param.u64 p, [out]; mov.u32 t, %tid.x; mov.u32 a, s; shl.b32 b, t, 2; add.u32 a, a, b;
  st.shared.u32 [a], t; bar.sync 0; xor.b32 b, b, 256; mov.u32 a, s; add.u32 a, a, b; ld.shared.u32 t, [a];
  shfl.sync.bfly.b32 t, t, 1, 31, -1;
  mov.u32 b, %tid.x; mul.wide.u32 o, b, 4; add.s64 p, p, o; st.global.u32 [p], t;
  ret;
}`;

const modes: readonly NativeMode[] = ['never', 'always'];
const engines: readonly Engine[] = ['lane', 'simd'];

/** What both modes do, for each compiler. */
function both<T>(act: (rig: Rig) => T, more: Parameters<typeof rigOf>[1] = { threads: 1 }): T {
  const all = engines.flatMap((engine) =>
    modes.map((native) => {
      const rig = rigOf(text, { ...more, engine, native });
      const did = act(rig);
      rig.device.close();
      return did;
    }),
  );
  for (const each of all.slice(1)) assert.equal(each, all[0]);
  return all[0]!;
}

onlyHere('results are those of WebAssembly, with barriers, shared memory and shuffles', () => {
  const squares = both((rig) => {
    const out = rig.words(1000);
    assert.ok(rig.launch('squares', { blocks: 8, threads: 125 }, out), rig.said().join());
    return [...wordsIn(out)];
  });
  assert.equal(
    squares,
    Array.from({ length: 1000 }, (_, i) => i * i),
  );
  const halves = both((rig) => {
    const out = rig.words(128);
    assert.ok(rig.launch('halves', { blocks: 1, threads: 128 }, out), rig.said().join());
    return [...wordsIn(out)];
  });
  assert.equal(
    halves,
    Array.from({ length: 128 }, (_, i) => i ^ 64 ^ 1),
  );
});

onlyHere('a fault is reported as in WebAssembly, and the next launch runs', () => {
  for (const [where, code] of [
    [-(2n ** 16n), 'CM6011'],
    [2n ** 33n, 'CM6011'],
    [2n ** 31n + 2n ** 30n, 'CM6011'],
    [2n, 'CM6019'],
  ] as const) {
    const said = both((rig) => {
      const out = rig.words(4);
      const isDone = rig.launch('follow', { blocks: 3, threads: 32 }, out, 41, where) !== undefined;
      const lines = rig.said();
      assert.ok(rig.launch('follow', { blocks: 1, threads: 32 }, out, 99, 0n), 'the next launch');
      // A lane group names its threads together.
      return [isDone, lines.map((line) => line.replace(/thread.*/, ''))];
    });
    assert.is(said[0], false);
    assert.match((said[1] as string[])[0] ?? '', new RegExp(`^${code}: .*block`));
  }
});

onlyHere('a launch stops at its time limit', () => {
  const said = both((rig) => {
    const isDone = rig.launch('endless', { blocks: 2, threads: 32, timeoutMs: 60 }, rig.words(1)) !== undefined;
    return [isDone, rig.said().map((line) => line.slice(0, 6))];
  });
  assert.equal(said, [false, ['CM6010']]);
});

onlyHere('a launch on a worker is canceled, and the worker runs others', async () => {
  for (const engine of engines) {
    const rig = rigOf(text, { threads: 2, inBackground: true, native: 'always', engine });
    const pending = rig.start('endless', { blocks: 2, threads: 32 }, rig.words(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    pending.cancel();
    assert.is(await pending.done, undefined);
    assert.equal(
      rig.said().map((line) => line.slice(0, 6)),
      ['CM6016'],
    );
    const out = rig.words(64 * 500);
    assert.ok(await rig.start('squares', { blocks: 500, threads: 64 }, out).done, rig.said().join());
    assert.ok(wordsIn(out).every((word, i) => word === Math.imul(i, i) >>> 0));
    rig.device.close();
  }
});

onlyHere('blocks of a cooperative launch wait for each other', () => {
  const words = both((rig) => {
    const out = rig.words(2);
    assert.ok(rig.launch('meet', { blocks: 5, threads: 1, cooperative: true }, out), rig.said().join());
    return [...wordsIn(out)];
  });
  assert.equal(words, [5, 25]);
});

onlyHere('a launch prints in the order of threads', () => {
  const call = `mov.u32 x, %ctaid.x; st.local.u32 [depot], x;\n${printCall('line', 'list')}`;
  const rig = rigOf(printingModule({ line: '%u ' }, call).replace(/^.*\n.*\n.*\n/, ''), { threads: 1, native: 'always' });
  const pieces: string[] = [];
  const print = (bytes: Uint8Array): void => void pieces.push(new TextDecoder().decode(bytes));
  assert.ok(rig.launch('k', { blocks: 12, threads: 1, print }, rig.words(1)), rig.said().join());
  assert.is(pieces.join(''), '0 1 2 3 4 5 6 7 8 9 10 11 ');
  rig.device.close();
});

onlyHere('kernels in clusters leave what they left on an H200', () => {
  const device = openCpuDevice({ threads: 1, native: 'always' });
  const open = openRecorded(device, { target: 'cpu' });
  for (const recorded of recordedClusters.slice(0, 4)) checkRecorded(open, recorded);
  device.close();
});

onlyHere('a kernel sees memory that the device has got since the last launch', () => {
  const rig = rigOf(text, { threads: 1, native: 'always' });
  for (const count of [1 << 10, 1 << 22, 1 << 23]) {
    const out = rig.words(count);
    assert.ok(rig.launch('squares', { blocks: count / 256, threads: 256 }, out), rig.said().join());
    assert.is(wordsIn(out)[count - 1], Math.imul(count - 1, count - 1) >>> 0);
  }
  rig.device.close();
});

onlyHere('CUMETAL_NATIVE_BITS keeps code to 256 bits', () => {
  const { CUMETAL_NATIVE_BITS: before } = process.env;
  try {
    process.env.CUMETAL_NATIVE_BITS = '256';
    assert.equal(nativeFeatures(), { avx512: false });
    const rig = rigOf(text, { threads: 1, native: 'always' });
    assert.is(rig.device.info.vectorBits, 256);
    const out = rig.words(1024);
    assert.ok(rig.launch('squares', { blocks: 4, threads: 256 }, out), rig.said().join());
    assert.ok(wordsIn(out).every((word, i) => word === i * i));
    rig.device.close();
    process.env.CUMETAL_NATIVE_BITS = '512';
    assert.is(nativeFeatures().avx512, processorFeatures().hasAvx512, 'no wider than the processor has');
  } finally {
    if (before === undefined) delete process.env.CUMETAL_NATIVE_BITS;
    else process.env.CUMETAL_NATIVE_BITS = before;
  }
});

test.run();
