/** Asynchronous launches: timeouts, cancellation, concurrent launches, faults, and what they leave behind. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { loadLibrary } from '../../src/device/cpu/launch/library.ts';
import type { Engine } from '../../src/device/index.ts';
import { startEndless } from '../support/endless.ts';
import { printCall, printingModule } from '../support/printing.ts';
import { endless, libraryOf, rigOf, wordsIn } from '../support/workers.ts';

const test = suite('device/launch-async');

const text = `${endless}
.visible .entry set(.param .u64 out, .param .u32 value)
{
  .reg .b32 a; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 a, [value];
  st.volatile.global.u32 [p], a;
  ret;
}
.visible .entry count(.param .u64 out)
{
  .reg .b64 p;
  ld.param.u64 p, [out];
  red.global.add.u32 [p], 1;
  ret;
}
.visible .entry slow(.param .u64 out, .param .u32 turns)
{
  .reg .pred q; .reg .b32 n, x; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 n, [turns]; mov.u32 x, %tid.x;
again:
  mad.lo.u32 x, x, 1664525, n; sub.u32 n, n, 1; setp.ne.u32 q, n, 0; @q bra again;
  or.b32 x, x, 1; min.u32 x, x, 1; red.global.add.u32 [p], x;
  ret;
}
.visible .entry faulty(.param .u64 out, .param .u32 first, .param .u32 who)
{
  .reg .pred q, r; .reg .b32 a, b, n; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 b, [first]; ld.param.u32 n, [who];
  mov.u32 a, %ctaid.x; setp.ge.u32 q, a, b;
  mov.u32 a, %tid.x; setp.eq.and.u32 r, a, n, q;
  @r mov.u64 p, 0;
  red.global.add.u32 [p], 1;
  ret;
}`;

const waits = '.visible .entry waits(.param .u32 n) { .reg .b32 a; ld.param.u32 a, [n]; ret; }';

const one = { blocks: 1, threads: 1 };
const engines: readonly Engine[] = ['lane', 'simd'];

test('the result arrives later, and usage errors are reported at once', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  const pending = rig.start('count', { blocks: 100, threads: 64 }, out);
  assert.is(pending.progress().total, 100);
  const result = await pending.done;
  assert.ok(result && result.durationMs >= 0 && result.durationMs < 60_000);
  assert.equal(pending.progress(), { done: 100, total: 100 });
  assert.is(wordsIn(out)[0], 6400);
  const refused = rig.start('count', one);
  assert.match(rig.said()[0]!, 'CM5011');
  assert.is(await refused.done, undefined);
  assert.is(await rig.start('missing', one).done, undefined);
  assert.match(rig.said()[0]!, 'CM5001');
  assert.ok(await rig.start('count', { blocks: 0, threads: 64 }, out).done);
  rig.device.close();
});

test('an endless kernel is stopped at its timeout, and the device stays usable', async () => {
  for (const count of [1, 2, 4])
    for (const isPending of [false, true]) {
      const rig = rigOf(text, { threads: count });
      const out = rig.words(1);
      const shape = { blocks: 9, threads: 32, timeoutMs: 300 };
      const result = isPending ? await rig.start('endless', shape, out).done : rig.launch('endless', shape, out);
      assert.is(result, undefined);
      const said = rig.said();
      assert.is(said.length, 1, `${said}`);
      assert.match(said[0]!, /^CM6010: kernel `endless` was stopped after 0.3 s, in block \(0, 0, 0\) at thread \(\d+, 0, 0\)/);
      assert.ok(await rig.start('count', one, out).done);
      assert.ok(rig.launch('count', one, out));
      assert.is(wordsIn(out)[0], 2);
      rig.device.close();
    }
});

test('a launch is cancelled, and the device stays usable', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  const pending = rig.start('endless', { blocks: 9, threads: 32, timeoutMs: 0 }, out);
  setTimeout(() => pending.cancel(), 100);
  assert.is(await pending.done, undefined);
  assert.match(rig.said().join(), /^CM6016: the launch of `endless` was canceled after 0 of 9 blocks$/);
  // A second cancellation has no effect.
  pending.cancel();
  const early = rig.start('endless', one, out);
  early.cancel();
  assert.is(await early.done, undefined);
  assert.match(rig.said().join(), /^CM6016/);
  assert.ok(await rig.start('count', { blocks: 50, threads: 64 }, out).done);
  assert.is(wordsIn(out)[0], 3200);
  rig.device.close();
});

test('an exception of the print callback fails its launch, and no other', async () => {
  const call = printCall('line').replaceAll('list', '0');
  const printing = printingModule({ line: 'x' }, call).replace(/^.*\n.*\n.*\n/, '');
  for (const threads of [1, 2]) {
    const rig = rigOf(printing, { threads });
    const print = (): never => {
      throw new Error('no room');
    };
    assert.is(await rig.start('k', { ...one, print }, rig.words(1)).done, undefined);
    assert.match(rig.said().join(), 'no room');
    assert.ok(await rig.start('k', one, rig.words(1)).done);
    rig.device.close();
  }
});

test('closing the device cancels pending launches', async () => {
  for (const threads of [1, 2]) {
    const rig = rigOf(text, { threads });
    const pending = rig.start('endless', one, rig.words(1));
    rig.device.close();
    assert.is(await pending.done, undefined);
    assert.match(rig.said().join(), /^CM6016/);
  }
});

test('a launch that waits for another one: both run at once, with one or many blocks', async () => {
  for (const blocks of [1, 64])
    for (const count of [2, 4]) {
      const rig = rigOf(text, { threads: count });
      const out = rig.words(1);
      const waiting = rig.start('endless', { blocks, threads: 32 }, out);
      const setting = rig.start('set', one, out, 77);
      assert.ok(await setting.done, rig.said().join());
      assert.ok(await waiting.done, rig.said().join());
      // A blocking launch works too.
      out.write(Uint8Array.of(0));
      const again = rig.start('endless', { blocks, threads: 32 }, out);
      assert.ok(rig.launch('set', one, out, 77));
      assert.ok(await again.done, rig.said().join());
      rig.device.close();
    }
});

test('several pending launches each have their result', async () => {
  const rig = rigOf(text, { threads: 3 });
  const buffers = Array.from({ length: 12 }, () => rig.words(1));
  const pendings = buffers.map((buffer, i) => rig.start('count', { blocks: 40 * (i + 1), threads: 64 }, buffer));
  for (const { done } of pendings) assert.ok(await done, rig.said().join());
  assert.equal(
    buffers.map((buffer) => wordsIn(buffer)[0]),
    buffers.map((_, i) => 2560 * (i + 1)),
  );
  rig.device.close();
});

test('short launches do not wait for the end of a long one, which gets its workers back afterwards', async () => {
  const rig = rigOf(text, { threads: 2 });
  const [long, short] = [rig.words(1), rig.words(1)];
  let isOver = false;
  const pending = rig.start('slow', { blocks: 2000, threads: 64 }, long, 12_000);
  const end = pending.done.then((result) => {
    isOver = true;
    return result;
  });
  for (let i = 1; i <= 20; i++) {
    assert.ok(await rig.start('count', { blocks: 4, threads: 32 }, short).done, rig.said().join());
    assert.is(wordsIn(short)[0], 128 * i);
  }
  assert.not(isOver);
  assert.ok(pending.progress().done < 2000);
  assert.ok(await end);
  assert.is(wordsIn(long)[0], 2000 * 64);
  rig.device.close();
});

test('a thousand launches leak no memory', async () => {
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  const address = (): bigint => {
    const buffer = rig.words(1 << 16);
    buffer.free();
    return buffer.deviceAddress();
  };
  rig.launch('count', { blocks: 4, threads: 64 }, out);
  const before = address();
  for (let i = 0; i < 500; i++) {
    assert.ok(rig.launch('count', { blocks: 4, threads: 64 }, out));
    assert.ok(await rig.start('count', { blocks: 4, threads: 64 }, out).done);
  }
  assert.is(wordsIn(out)[0], 1001 * 256);
  assert.is(address(), before);
  rig.device.close();
});

test('a library that is loaded again shares its code with equal options only', () => {
  const codeOf = (options: Parameters<typeof loadLibrary>[2]) =>
    loadLibrary(libraryOf(text), new Diagnostics(), options)!.kernels[0]!.compiled([64, 1, 1]).wasm;
  const first = codeOf({ engine: 'lane' });
  assert.is(codeOf({ engine: 'lane' }), first);
  assert.is.not(codeOf({ engine: 'lane', isShared: true }), first);
  assert.is(codeOf({ engine: 'lane', threads: 5, kernels: ['count', 'endless', 'set', 'slow', 'faulty'] }), first);
  assert.is.not(codeOf({ engine: 'simd' }), first);
  assert.is.not(codeOf({ engine: 'simd', lanes: 4 }), codeOf({ engine: 'simd', lanes: 8 }));
});

test('of faults in several blocks the first block is reported, once', async () => {
  for (const engine of engines)
    for (const count of [1, 2, 4])
      for (const isPending of [false, true]) {
        const rig = rigOf(text, { engine, threads: count });
        const out = rig.words(1);
        const shape = { blocks: 4000, threads: 64 };
        // Blocks from 1234 on fault, each at its thread 37.
        const args = [out, 1234, 37] as const;
        assert.is(isPending ? await rig.start('faulty', shape, ...args).done : rig.launch('faulty', shape, ...args), undefined);
        const said = rig.said();
        assert.is(said.length, 1, `${said}`);
        assert.match(said[0]!, /^CM6011: .* in block \(1234, 0, 0\) at thread \((\d+), 0, 0\)/);
        const thread = Number(/at thread \((\d+)/.exec(said[0]!)![1]);
        if (engine === 'lane') assert.is(thread, 37);
        else assert.ok(thread <= 37 && thread > 37 - 32);
        assert.ok(await rig.start('count', one, out).done);
        rig.device.close();
      }
});

test('a misaligned atomic is reported as such', async () => {
  const misaligned = `.visible .entry k(.param .u64 out)
{
  .reg .pred q; .reg .b32 a; .reg .b64 p, o;
  ld.param.u64 p, [out]; mov.u32 a, %ctaid.x; setp.eq.u32 q, a, 2; selp.b64 o, 2, 0, q; add.u64 p, p, o;
  red.global.add.u32 [p], 1;
  ret;
}`;
  for (const isPending of [false, true]) {
    const rig = rigOf(misaligned, { threads: 2 });
    const [out, shape] = [rig.words(4), { blocks: 4, threads: 1 }];
    assert.is(isPending ? await rig.start('k', shape, out).done : rig.launch('k', shape, out), undefined);
    assert.match(rig.said().join(), /^CM6019: .* in block \(2, 0, 0\) at thread \(0, 0, 0\)$/);
    rig.device.close();
  }
});

test('instrumented launches and printing launches run in order for any number of threads', async () => {
  const line = { line: '%u\n' };
  const call = `mov.u32 x, %ctaid.x; st.local.u32 [depot], x;\n${printCall('line', 'list')}`;
  const printing = printingModule(line, call).replace(/^.*\n.*\n.*\n/, '');
  const expected = Array.from({ length: 200 }, (_, i) => `${i}\n`).join('');
  for (const count of [1, 4]) {
    const rig = rigOf(printing, { threads: count });
    const out = rig.words(1);
    for (const isPending of [false, true]) {
      const pieces: string[] = [];
      const shape = { blocks: 200, threads: 1, print: (bytes: Uint8Array) => void pieces.push(new TextDecoder().decode(bytes)) };
      assert.ok(isPending ? await rig.start('k', shape, out).done : rig.launch('k', shape, out), rig.said().join());
      assert.is(pieces.join(''), expected);
    }
    const sanitized = rigOf(text, { threads: count });
    const sanitize = { kinds: new Set(['memory'] as const) };
    for (const isPending of [false, true]) {
      const shape = { blocks: 20, threads: 64, sanitize };
      const args = [sanitized.words(1), 3, 5] as const;
      if (isPending) await sanitized.start('faulty', shape, ...args).done;
      else sanitized.launch('faulty', shape, ...args);
      const [found] = sanitized.diagnostics.list.splice(0);
      assert.match(found!.notes.join(), /thread \(5, 0, 0\) of block \(3, 0, 0\)/);
    }
    rig.device.close();
    sanitized.device.close();
  }
});

test('a worker that does not return is abandoned with its launch, and its memory is not reused', async () => {
  const { result, said, isGivenBack } = await startEndless(waits, 'waits', 200);
  assert.is(result, undefined);
  assert.equal(said, ['CM6010']);
  // Bun does not terminate a thread in such a loop.
  assert.not(isGivenBack());
  const rig = rigOf(text, { threads: 2 });
  const out = rig.words(1);
  assert.ok(await rig.start('count', { blocks: 50, threads: 64 }, out).done, rig.said().join());
  assert.is(wordsIn(out)[0], 3200);
  rig.device.close();
});

test.run();
