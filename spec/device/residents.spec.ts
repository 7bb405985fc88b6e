/**
 * Blocks that wait for each other: they take turns, with shared memory, local memory and registers of their own. Expected words are computed here
 * from what each block does by itself. Source: PTX ISA 9.0, 8.9 (progress); CUDA C++ Programming Guide, "Grid Synchronization".
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { Dim3, LaunchRequest, OpenOptions } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/residents');

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
/** The number of the block, and that of the thread in the grid. */
const places = `  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r1, %r4, %r3; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd3, %rd2, %rd3;`;
const registers = '.reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<4>;';

interface Choice {
  readonly grid: Dim3;
  readonly threads: number;
  readonly options?: OpenOptions;
  readonly more?: Partial<LaunchRequest>;
  readonly target?: 'cpu' | 'macos14' | 'macos15';
  /** Whether workers run the launch. */
  readonly isAsync?: boolean;
}

/** Runs a kernel with the parameters `flags` and `out`, both words, one of each for a thread. */
async function run(
  text: string,
  { grid, threads, options = { threads: 1 }, more = {}, target = 'cpu', isAsync = (options.threads ?? 1) > 1 }: Choice,
) {
  const source = new SourceFile('k.ptx', head + text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target }, diagnostics);
  if (!compiled) return { flags: [], out: [], messages: diagnostics.list.map(({ code, message }) => `${code} ${message}`) };
  const device = openCpuDevice(options);
  const module = device.load(compiled.metallib, diagnostics)!;
  const bytes = 4 * grid[0] * grid[1] * grid[2] * threads;
  const [flags, out] = [device.allocate(bytes, diagnostics)!, device.allocate(bytes, diagnostics)!];
  const args = [flags, out].map((buffer) => ({ kind: 'buffer', buffer }) as const);
  const request: LaunchRequest = { kernel: 'k', grid, block: [threads, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 60_000, ...more };
  if (isAsync) await module.start!(request, diagnostics).done;
  else module.launch(request, diagnostics);
  const [after, words] = [flags, out].map((buffer) => [...new Uint32Array(buffer.read().buffer)]);
  device.close();
  return { flags: after!, out: words!, messages: diagnostics.list.map(({ code, message }) => `${code} ${message}`) };
}

/** Every block waits for the one behind it, after having written shared and local memory that it reads afterwards. */
const backwards = `.visible .entry k(.param .u64 flags, .param .u64 out) {
  ${registers}
  .shared .u32 mine[64]; .local .u32 own[4];
  ld.param.u64 %rd1, [flags]; ld.param.u64 %rd2, [out];
${places}
  mov.u32 %r10, mine; shl.b32 %r11, %r3, 2; add.u32 %r10, %r10, %r11;
  mad.lo.u32 %r12, %r1, 1000, %r3;
  st.shared.u32 [%r10], %r12;
  and.b32 %r13, %r3, 3; shl.b32 %r13, %r13, 2; mov.u32 %r14, own; add.u32 %r14, %r14, %r13;
  st.local.u32 [%r14], %r12;
  cvt.rn.f32.u32 %f1, %r12;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra DONE;
  mov.u32 %r20, 1;
  add.u32 %r21, %r1, 1;
  setp.ge.u32 %p2, %r21, %r2;
  @%p2 bra GO;
  mul.wide.u32 %rd4, %r21, 4; add.s64 %rd4, %rd1, %rd4;
WAIT:
  ld.volatile.global.u32 %r20, [%rd4];
  setp.eq.u32 %p3, %r20, 0;
  @%p3 bra WAIT;
GO:
  add.u32 %r22, %r20, 1;
  mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd1, %rd5;
  membar.gl;
  st.volatile.global.u32 [%rd5], %r22;
DONE:
  bar.sync 0;
  xor.b32 %r23, %r11, 4; mov.u32 %r24, mine; add.u32 %r24, %r24, %r23;
  ld.shared.u32 %r25, [%r24];
  ld.local.u32 %r26, [%r14];
  cvt.rzi.u32.f32 %r27, %f1;
  add.u32 %r28, %r25, %r26; add.u32 %r28, %r28, %r27;
  st.global.u32 [%rd3], %r28;
  ret;
}`;

function backwardsWords(blocks: number, threads: number): number[] {
  return Array.from({ length: blocks * threads }, (_, i) => {
    const [block, thread] = [Math.floor(i / threads), i % threads];
    return 1000 * block + (thread ^ 1) + 2 * (1000 * block + thread);
  });
}

for (const [blocks, threads] of [
  [1, 2],
  [7, 34],
  [300, 64],
] as const)
  for (const options of [{ threads: 1 }, { threads: 2 }])
    test(`each of ${blocks} blocks waits for the one behind it, on ${options.threads} of the machine's threads`, async () => {
      const { flags, out, messages } = await run(backwards, { grid: [blocks, 1, 1], threads, options });
      assert.equal(messages, []);
      assert.equal(
        flags.slice(0, blocks),
        Array.from({ length: blocks }, (_, i) => blocks - i + 1),
      );
      assert.equal(out, backwardsWords(blocks, threads));
    });

/** A barrier of the grid between rounds, in which each thread reads the word of another one. */
const rounds = `.visible .entry k(.param .u64 flags, .param .u64 out) {
  ${registers}
  ld.param.u64 %rd1, [flags]; ld.param.u64 %rd2, [out];
  mov.u32 %r6, %nctaid.y; mov.u32 %r7, %ctaid.y; mov.u32 %r3, %tid.x; mov.u32 %r4, %ntid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
  mad.lo.u32 %r1, %r7, %r2, %r1; mul.lo.u32 %r2, %r2, %r6;
  mad.lo.u32 %r5, %r1, %r4, %r3; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd3, %rd2, %rd3;
  mul.lo.u32 %r8, %r2, %r4;
  mov.b32 %r9, %envreg1; mov.b32 %r10, %envreg2;
  mov.b64 %rd4, {%r10, %r9};
  setp.eq.s64 %p1, %rd4, 0;
  mov.u32 %r30, 4294967295;
  @%p1 bra END;
  mov.u32 %r30, %r5;
  mov.u32 %r11, 0;
ROUND:
  st.global.u32 [%rd3], %r30;
  bar.sync 0;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra PASSED;
  membar.gl;
  sub.u32 %r12, 2147483649, %r2;
  setp.eq.u32 %p3, %r1, 0;
  selp.b32 %r13, %r12, 1, %p3;
  atom.global.add.u32 %r14, [%rd4+4], %r13;
SPIN:
  ld.volatile.global.u32 %r15, [%rd4+4];
  xor.b32 %r16, %r15, %r14;
  setp.ge.s32 %p4, %r16, 0;
  @%p4 bra SPIN;
  membar.gl;
PASSED:
  bar.sync 0;
  add.u32 %r17, %r5, 5; rem.u32 %r17, %r17, %r8;
  mul.wide.u32 %rd5, %r17, 4; add.s64 %rd5, %rd2, %rd5;
  ld.volatile.global.u32 %r18, [%rd5];
  mad.lo.u32 %r30, %r18, 3, %r11;
  bar.sync 0;
  @%p2 bra AGAIN;
  membar.gl;
  atom.global.add.u32 %r14, [%rd4+4], %r13;
SPIN2:
  ld.volatile.global.u32 %r15, [%rd4+4];
  xor.b32 %r16, %r15, %r14;
  setp.ge.s32 %p4, %r16, 0;
  @%p4 bra SPIN2;
  membar.gl;
AGAIN:
  bar.sync 0;
  add.u32 %r11, %r11, 1;
  setp.lt.u32 %p5, %r11, 6;
  @%p5 bra ROUND;
END:
  st.global.u32 [%rd3], %r30;
  ret;
}`;

function roundsWords(count: number): number[] {
  let words = Array.from({ length: count }, (_, i) => i);
  for (let round = 0; round < 6; round++) words = words.map((_, i) => (Math.imul(words[(i + 5) % count]!, 3) + round) >>> 0);
  return words;
}

for (const grid of [
  [1, 1, 1],
  [4, 1, 1],
  [9, 5, 1],
] as const)
  for (const options of [{ threads: 1 }, { threads: 2 }])
    test(`a barrier of a cooperative grid of ${grid.join(' x ')}, on ${options.threads} of the machine's threads`, async () => {
      const { out, messages } = await run(rounds, { grid, threads: 33, options, more: { cooperative: true } });
      assert.equal(messages, []);
      assert.equal(out, roundsWords(grid[0] * grid[1] * 33));
    });

/** Blocks other than the last wait for a word that nobody writes. */
const forever = backwards
  .replace('setp.ge.u32 %p2, %r21, %r2;', 'setp.gt.u32 %p2, %r21, %r2;')
  .replace('%r21, 4; add.s64 %rd4', '%r5, 4; add.s64 %rd4');

for (const options of [{ threads: 1 }, { threads: 2 }])
  test(`CM6032: blocks that wait forever, on ${options.threads} of the machine's threads`, async () => {
    const { messages } = await run(forever, { grid: [3, 1, 1], threads: 2, options, isAsync: false });
    assert.is(messages.length, 1);
    assert.match(messages[0]!, /^CM6032 kernel `k` was stopped: .*in block \(\d, 0, 0\) at thread \(0, 0, 0\)$/);
  });

test('CM6010: a kernel that reads a clock may wait as long as it likes', async () => {
  const timed = forever
    .replace('ld.volatile.global.u32 %r20', 'mov.u64 %rd9, %clock64;\n  ld.volatile.global.u32 %r20')
    .replace('cvt.rn.f32.u32', 'mov.u64 %rd9, 0;\n  cvt.rn.f32.u32')
    .replace('add.u32 %r28, %r28, %r27;', 'add.u32 %r28, %r28, %r27; cvt.u32.u64 %r29, %rd9; add.u32 %r28, %r28, %r29;');
  const { messages } = await run(timed, { grid: [2, 1, 1], threads: 2, more: { timeoutMs: 3000 } });
  assert.match(messages[0] ?? '', /^CM6010/);
});

test('CM5029: observers follow one block after the other', async () => {
  const more = { cooperative: true, schedule: { kind: 'reverse' } } as const;
  const { messages } = await run(rounds, { grid: [2, 1, 1], threads: 2, more });
  assert.equal(messages, [
    'CM5029 the launch of kernel `k` requests `schedule`, which a kernel with barriers of the grid does not support',
  ]);
  assert.equal((await run(rounds, { grid: [1, 1, 1], threads: 2, more })).messages, []);
});

test('CM2090: a barrier of the grid needs fences, which macOS has from 15 on', async () => {
  const { messages } = await run(rounds, { grid: [2, 1, 1], threads: 2, target: 'macos14' });
  assert.ok(messages.length > 0 && messages.every((each) => each.startsWith('CM2090') && each.includes('fence')), messages.join());
});

test.run();
