/** Atomics, fences and spin loops of blocks on several workers: expected results follow from the PTX manual for any order. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import type { Engine } from '../../src/device/index.ts';
import { type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';
import { bindArguments } from '../../src/runtime/bind.ts';
import { fillPlan } from '../../src/runtime/default-launch.ts';
import { compileExample, diskIo, exampleNames, launchOnCpu, recordedLaunch } from '../support/examples.ts';
import { type Rig, rigOf, type Shape, wordsIn } from '../support/workers.ts';

const test = suite('device/workers');

const [blocks, threads, turns] = [48, 64, 20];
const calls = blocks * threads * turns;

/** Every thread executes `line` in a loop, with its id in `t` and the iteration in `i`, on the words at `p`. */
const loopOf = (line: string): string => `.visible .entry k(.param .u64 out)
{
  .reg .pred q; .reg .b32 t, i, a, b, c; .reg .b64 p, la, lb, lc; .reg .f32 f, g; .reg .f64 d, e;
  ld.param.u64 p, [out]; mov.u32 t, %ctaid.x; mov.u32 i, %ntid.x; mul.lo.u32 t, t, i; mov.u32 i, %tid.x; add.u32 t, t, i;
  mov.u32 i, 0;
again:
  ${line}
  add.u32 i, i, 1; setp.lt.u32 q, i, ${turns}; @q bra again;
  ret;
}`;

interface Case {
  readonly line: string;
  /** Words before and after. */
  readonly from?: readonly number[];
  readonly to: readonly number[];
}

const single = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;
const double = (value: number): number[] => [...new Uint32Array(Float64Array.of(value).buffer)];
const last = blocks * threads - 1;

/** Sums of all thread ids in one word, modulo 2^32. */
const cases: Record<string, Case> = {
  'add.u32': { line: 'red.global.add.u32 [p], 3;', to: [(3 * calls) >>> 0] },
  'add.u64': { line: 'red.global.add.u64 [p], 0x100000001;', to: [calls, calls] },
  'atom.add.u32': {
    line: 'atom.global.add.u32 a, [p], 1; red.global.add.u32 [p+4], a;',
    to: [calls, Number(((BigInt(calls) * BigInt(calls - 1)) / 2n) & 0xffff_ffffn)],
  },
  'add.f32': { line: 'red.global.add.f32 [p], 0f40000000;', to: [single(2 * calls)] },
  'add.f64': { line: 'red.global.add.f64 [p], 0d3FE0000000000000;', to: double(calls / 2) },
  'and.b32': { line: 'and.b32 a, t, 31; shl.b32 a, 1, a; not.b32 a, a; red.global.and.b32 [p], a;', from: [0xffff_ffff], to: [0] },
  'or.b64': { line: 'and.b32 a, t, 63; cvt.u64.u32 la, 1; shl.b64 la, la, a; red.global.or.b64 [p], la;', to: [0xffff_ffff, 0xffff_ffff] },
  'xor.b32': { line: 'mad.lo.u32 a, t, 64, i; red.global.xor.b32 [p], a;', to: [0] },
  'max.u32': { line: 'mad.lo.u32 a, t, 64, i; red.global.max.u32 [p], a;', to: [last * 64 + turns - 1] },
  'max.s32': { line: 'mad.lo.s32 a, t, -64, i; red.global.max.s32 [p], a;', from: [0x8000_0000], to: [turns - 1] },
  'min.s32': { line: 'mad.lo.s32 a, t, -64, i; red.global.min.s32 [p], a;', to: [(-64 * last) >>> 0] },
  'min.u64': { line: 'mul.wide.u32 la, t, 64; add.u64 la, la, 5; red.global.min.u64 [p], la;', from: [0, 1], to: [5, 0] },
  'inc.u32': { line: 'atom.global.inc.u32 a, [p], 999;', to: [calls % 1000] },
  'dec.u32': { line: 'atom.global.dec.u32 a, [p], 999;', to: [(1000 - (calls % 1000)) % 1000] },
  'cas.b32': {
    line: 'ld.global.u32 a, [p];\nretry: add.u32 b, a, 5; atom.global.cas.b32 c, [p], a, b; setp.ne.u32 q, c, a; mov.u32 a, c; @q bra retry;',
    to: [5 * calls],
  },
  'cas.b64': {
    line: 'ld.global.u64 la, [p];\nretry: add.u64 lb, la, 0x300000001; atom.global.cas.b64 lc, [p], la, lb; setp.ne.u64 q, lc, la; mov.b64 la, lc; @q bra retry;',
    to: [calls, 3 * calls],
  },
  // Each value taken out was stored by one thread: the sums of stored and of taken values differ by the final value.
  'exch.b32': {
    line: 'mad.lo.u32 b, t, 64, i; atom.global.exch.b32 a, [p], b; sub.u32 b, b, a; red.global.add.u32 [p+4], b; @q bra done;\ndone:',
    to: [],
  },
  lock: {
    line: `wait: atom.global.cas.b32 a, [p], 0, 1; setp.ne.u32 q, a, 0; @q bra wait;
  membar.gl; ld.volatile.global.u32 b, [p+4]; add.u32 b, b, 1; st.volatile.global.u32 [p+4], b; membar.gl; atom.global.exch.b32 a, [p], 0;`,
    to: [0, calls],
  },
};

const engines: readonly Engine[] = ['lane', 'simd'];

for (const [name, { line, from = [], to }] of Object.entries(cases))
  test(`${name}: no update of all threads to one place is lost`, async () => {
    for (const engine of engines)
      for (const count of [1, 2, 4]) {
        const rig = rigOf(loopOf(line), { engine, threads: count });
        const buffer = rig.words(4, ...from);
        assert.ok(await rig.start('k', { blocks, threads }, buffer).done, rig.said().join());
        const words = wordsIn(buffer);
        const about = `${engine} ${count}`;
        if (name === 'exch.b32') assert.is(words[1], words[0], about);
        else assert.equal([...words.subarray(0, to.length)], to, about);
        rig.device.close();
      }
  });

test('volatile accesses of every width, with sign or zero extension of narrow ones', () => {
  const text = `.visible .entry k(.param .u64 out)
{
  .reg .b16 h; .reg .b32 a; .reg .b64 p, l; .reg .f32 f; .reg .f64 d;
  ld.param.u64 p, [out];
  ld.volatile.global.u8 a, [p]; st.volatile.global.u32 [p+16], a;
  ld.volatile.global.s8 a, [p]; st.volatile.global.u32 [p+20], a;
  ld.volatile.global.u16 a, [p+2]; st.volatile.global.u32 [p+24], a;
  ld.volatile.global.s16 a, [p+2]; st.volatile.global.u32 [p+28], a;
  ld.volatile.global.u64 l, [p+8]; st.volatile.global.u64 [p+32], l;
  ld.volatile.global.f32 f, [p]; st.volatile.global.f32 [p+40], f;
  ld.volatile.global.f64 d, [p+8]; st.volatile.global.f64 [p+48], d;
  ld.volatile.global.u8 h, [p+1]; st.volatile.global.u8 [p+57], h;
  ld.volatile.global.u16 h, [p+2]; st.volatile.global.u16 [p+62], h;
  ret;
}`;
  for (const engine of engines)
    for (const count of [1, 2]) {
      const rig = rigOf(text, { engine, threads: count });
      const buffer = rig.words(16, 0xfedc_ba98, 0, 0x8123_4567, 0x4009_21fb);
      assert.ok(rig.launch('k', { blocks: 1, threads: 1 }, buffer), rig.said().join());
      assert.equal(
        [...wordsIn(buffer).subarray(4)],
        [0x98, 0xffff_ff98, 0xfedc, 0xffff_fedc, 0x8123_4567, 0x4009_21fb, 0xfedc_ba98, 0, 0x8123_4567, 0x4009_21fb, 0xba00, 0xfedc_0000],
        `${engine} ${count}`,
      );
      rig.device.close();
    }
});

/** The last block to arrive sums what all have stored. */
const lastBlock = `.visible .entry k(.param .u64 parts, .param .u64 ticket, .param .u64 out)
{
  .reg .pred q; .reg .b32 b, n, a, s, i; .reg .b64 p, o, w, t;
  .reg .b32 tid;
  ld.param.u64 p, [parts]; ld.param.u64 o, [out]; ld.param.u64 w, [ticket];
  mov.u32 b, %ctaid.x; mov.u32 n, %nctaid.x; mov.u32 tid, %tid.x;
  setp.ne.u32 q, tid, 0; @q bra end;
  mul.wide.u32 t, b, 4; add.u64 t, t, p; mad.lo.u32 a, b, b, 7; st.global.u32 [t], a;
  membar.gl;
  sub.u32 i, n, 1; atom.global.inc.u32 a, [w], i;
  setp.ne.u32 q, a, i; @q bra end;
  membar.gl;
  mov.u32 s, 0; mov.u32 i, 0;
again:
  mul.wide.u32 t, i, 4; add.u64 t, t, p; ld.volatile.global.u32 a, [t]; add.u32 s, s, a; add.u32 i, i, 1;
  setp.lt.u32 q, i, n; @q bra again;
  atom.global.add.u32 a, [o], s;
end:
  ret;
}`;

test('the last block to arrive sees the stores of all others', async () => {
  const n = 600;
  let sum = 0;
  for (let b = 0; b < n; b++) sum = (sum + b * b + 7) >>> 0;
  for (const count of [1, 2, 4]) {
    const rig = rigOf(lastBlock, { threads: count });
    const [parts, ticket, out] = [rig.words(n), rig.words(1), rig.words(1)];
    for (let round = 1; round <= 20; round++) {
      assert.ok(await rig.start('k', { blocks: n, threads: 32 }, parts, ticket, out).done, rig.said().join());
      assert.equal([wordsIn(ticket)[0], wordsIn(out)[0]], [0, Math.imul(sum, round) >>> 0], `${count} ${round}`);
    }
    rig.device.close();
  }
});

/** Each block waits for the one before it. */
const chain = `.visible .entry k(.param .u64 turn, .param .u64 out)
{
  .reg .pred q; .reg .b32 b, a; .reg .b64 p, o;
  ld.param.u64 p, [turn]; ld.param.u64 o, [out]; mov.u32 b, %ctaid.x;
wait:
  ld.volatile.global.u32 a, [p]; setp.ne.u32 q, a, b; @q bra wait;
  membar.gl;
  ld.global.u32 a, [o]; mad.lo.u32 a, a, 31, b; st.global.u32 [o], a;
  membar.gl;
  add.u32 b, b, 1; st.volatile.global.u32 [p], b;
  ret;
}`;

test('blocks that spin on earlier ones make progress and see their stores', async () => {
  const n = 700;
  let hash = 0;
  for (let b = 0; b < n; b++) hash = (Math.imul(hash, 31) + b) >>> 0;
  for (const count of [1, 2, 4]) {
    const rig = rigOf(chain, { threads: count });
    for (const isPending of [true, false]) {
      const [turn, out] = [rig.words(1), rig.words(1)];
      const shape: Shape = { blocks: n, threads: 1 };
      const result = isPending ? await rig.start('k', shape, turn, out).done : rig.launch('k', shape, turn, out);
      assert.ok(result, rig.said().join());
      assert.equal([wordsIn(turn)[0], wordsIn(out)[0]], [n, hash], `${count}`);
    }
    rig.device.close();
  }
});

// ── blocking launches ──

/** A random generator, iterated a given number of times per thread. */
const work = `.visible .entry k(.param .u64 out, .param .u32 turns)
{
  .reg .pred q; .reg .b32 t, n, x, y; .reg .b64 p, o;
  ld.param.u64 p, [out]; ld.param.u32 n, [turns];
  mov.u32 t, %ctaid.x; mov.u32 x, %ntid.x; mul.lo.u32 t, t, x; mov.u32 x, %tid.x; add.u32 t, t, x;
  add.u32 x, t, 1;
again:
  shl.b32 y, x, 13; xor.b32 x, x, y; shr.u32 y, x, 17; xor.b32 x, x, y; shl.b32 y, x, 5; xor.b32 x, x, y;
  sub.u32 n, n, 1; setp.ne.u32 q, n, 0; @q bra again;
  mul.wide.u32 o, t, 4; add.u64 o, o, p; st.global.u32 [o], x;
  ret;
}`;

function generated(count: number, rounds: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, t) => {
    let x = t + 1;
    for (let i = 0; i < rounds; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
    }
    return x;
  });
}

test('a long launch has the same results with and without workers, and reports progress', () => {
  const [blocks, threads, rounds] = [300, 128, 3000];
  const expected = generated(blocks * threads, rounds);
  for (const engine of engines)
    for (const count of [1, 2, 4]) {
      const rig = rigOf(work, { engine, threads: count });
      const out = rig.words(blocks * threads);
      const reports: [number, number][] = [];
      const progress = (done: number, total: number): void => void reports.push([done, total]);
      for (const n of [1, rounds]) assert.ok(rig.launch('k', { blocks, threads, progress }, out, n), rig.said().join());
      assert.equal(wordsIn(out), expected, `${engine} ${count}`);
      assert.ok(reports.every(([done, total], i) => total === blocks && done <= total && (i === 0 || done >= reports[i - 1]![0])));
      rig.device.close();
    }
});

test('every block of a three-dimensional grid runs once', async () => {
  const text = `.visible .entry k(.param .u64 out)
{
  .reg .b32 x, y, z, n; .reg .b64 p, o;
  ld.param.u64 p, [out]; mov.u32 x, %ctaid.x; mov.u32 y, %ctaid.y; mov.u32 z, %ctaid.z;
  mov.u32 n, %nctaid.y; mad.lo.u32 z, z, n, y; mov.u32 n, %nctaid.x; mad.lo.u32 z, z, n, x;
  mul.wide.u32 o, z, 4; add.u64 o, o, p; red.global.add.u32 [o], 1;
  ret;
}`;
  for (const count of [1, 2, 4]) {
    const rig = rigOf(text, { threads: count });
    const out = rig.words(7 * 11 * 13);
    for (const grid of [
      [7, 11, 13],
      [1, 1, 1001],
      [1001, 1, 1],
      [13, 77, 1],
    ] as const) {
      assert.ok(rig.launch('k', { blocks: 1, threads: 1, grid }, out));
      assert.ok(await rig.start('k', { blocks: 1, threads: 1, grid }, out).done);
    }
    assert.equal(new Set(wordsIn(out)), new Set([8]), `${count}`);
    rig.device.close();
  }
});

// ── the examples ──

/** The buffers of an example after a run on workers. */
async function onWorkers(name: string, count: number): Promise<Uint8Array[]> {
  const device = openCpuDevice({ threads: count });
  const diagnostics = new Diagnostics();
  const module = device.load(compileExample(name).metallib, diagnostics)!;
  const file = recordedLaunch(name);
  const kernel = module.kernels.find((each) => file.kernel === undefined || each.name === file.kernel)!;
  const plan = fillPlan(file, kernel, device.info.limits);
  const bound = bindArguments(plan, kernel, diskIo, diagnostics)!;
  const buffers: ReturnType<typeof device.allocate>[] = [];
  const args = bound.map((each): LaunchArgument => {
    if (each.kind !== 'buffer') return each;
    const buffer = device.allocate(each.buffer.bytes.length, diagnostics)!;
    buffer.write(each.buffer.bytes);
    buffers.push(buffer);
    return { kind: 'buffer', buffer };
  });
  const shape = { grid: plan.grid, block: plan.block, dynamicSharedBytes: plan.sharedBytes };
  const result = await module.start!({ kernel: kernel.name, ...shape, args, timeoutMs: 60_000 }, diagnostics).done;
  assert.ok(result, diagnostics.list.map(({ message }) => message).join());
  const after = buffers.map((buffer) => buffer!.read());
  device.close();
  return after;
}

for (const name of exampleNames)
  test(`${name}: equal results with 1, 2 and 4 workers`, async () => {
    const expected = launchOnCpu(compileExample(name).metallib, recordedLaunch(name)).outputs.map(({ bytes }) => bytes);
    for (const count of [1, 2, 4]) assert.equal(await onWorkers(name, count), expected, `${count}`);
  });

export type { Rig };

test.run();
