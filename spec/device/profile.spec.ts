/** The profiler's counts, for kernels whose counts are worked out by hand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { noGlobal, noShared } from '../../src/device/cpu/instrument/profile/counts.ts';
import type { Dim3, Order } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import type { Profile, ProfileLine } from '../../src/device/profile.ts';
import type { Trace } from '../../src/device/trace.ts';
import { countGlobal, countShared } from '../../src/ir/index.ts';
import { checkOutput, launch } from '../../src/runtime/index.ts';
import { commandLine } from '../support/command-line.ts';
import { assertQuiet, diskIo, exampleNames, exampleText, recordedLaunch, root } from '../support/examples.ts';
import { profiledLaunches, profileOf } from '../support/profiled.ts';

const test = suite('device/profile');

/** By kernel, for each warp: sectors, lines and distinct bytes of its loads of x, and the reason. Threads of a warp have consecutive indices. */
const loads: [kernel: string, sectors: number, lines: number, bytes: number, why: string][] = [
  ['coalesced', 4, 1, 128, '32 words side by side are one line'],
  ['reversed', 4, 1, 128, 'the order does not matter'],
  ['shifted', 5, 2, 128, 'one word further: the last is in the next line'],
  ['stride2', 8, 2, 128, 'every other word of 256 bytes'],
  ['stride4', 16, 4, 128, 'every fourth word of 512 bytes: two of each sector'],
  ['stride32', 32, 32, 128, 'a line for each word'],
  ['broadcast', 1, 1, 4, 'one word'],
  ['pairs', 8, 2, 256, '32 times 8 bytes'],
  ['doubles', 8, 2, 256, 'the same'],
  ['fours', 16, 4, 512, '32 times 16 bytes'],
  ['fours_apart', 32, 8, 512, 'every other 16 bytes of a kilobyte'],
  ['fours_same', 1, 1, 16, 'one piece of 16 bytes'],
  ['bytes', 1, 1, 32, '32 bytes'],
  ['halves', 6, 2, 64, 'every third short: 188 bytes from a multiple of 192 on, which are in two lines wherever they start'],
];
for (const [kernel, sectors, lines, bytes, why] of loads)
  test(`${kernel}: ${why}`, () => {
    const { load, store } = profileOf(kernel).total.global;
    assert.is(load.requests, 16);
    assert.is(load.lanes, 512);
    assert.is(load.sectors / 16, sectors);
    assert.is(load.bytes / 16, bytes);
    assert.is(load.lines / 16, lines);
    assert.is(load.leastSectors / 16, Math.ceil(bytes / 32));
    assert.is(store.requests, 16);
  });

test('a permutation: p[i] is 8 i, so that each word is in a sector of its own', () => {
  // Four sectors of p and 32 of x for each warp; in lines one and eight.
  const { load, store } = profileOf('permuted').total.global;
  assert.equal([load.requests, load.sectors, load.lines], [32, 16 * (4 + 32), 16 * (1 + 8)]);
  assert.is(store.sectors, 16 * 4);
  const back = profileOf('scattered').total.global;
  assert.equal([back.load.sectors, back.store.sectors, back.store.lines], [16 * (4 + 4), 16 * 32, 16 * 8]);
});

test('inactive lanes make no request', () => {
  const { total } = profileOf('odd_lanes');
  // Every sector contains the word of an odd lane.
  assert.equal([total.global.load.lanes, total.global.load.sectors, total.global.load.bytes], [256, 64, 16 * 64]);
  assert.equal(total.branches, { executed: 16, diverged: 16 });
});

/** Wavefronts of shared memory and the minimum without bank conflicts, for kernels that store and load with the same index. */
const banks: [kernel: string, steps: number, least: number, why: string][] = [
  ['shared_plain', 1, 1, 'a bank each'],
  ['shared_two', 2, 1, 'two words in every other bank'],
  ['shared_three', 1, 1, '3 and 32 have no common divisor'],
  ['shared_eight', 8, 1, 'eight words in each of four banks'],
  ['shared_column', 32, 1, 'all in one bank'],
  ['shared_padded', 1, 1, 'a column with one word of padding a row'],
  ['shared_same', 1, 1, 'one word, which all get'],
  ['shared_few', 4, 1, 'four words of one bank'],
  ['shared_bytes', 1, 1, 'eight words'],
  ['shared_halves', 1, 1, 'shorts 4 bytes apart: 32 words'],
];
for (const [kernel, steps, least, why] of banks)
  test(`${kernel}: ${why}`, () => {
    const { shared } = profileOf(kernel).total;
    for (const { requests, wavefronts, leastWavefronts } of [shared.load, shared.store]) {
      assert.is(wavefronts / requests, steps);
      assert.is(leastWavefronts / requests, least);
    }
  });

test('a tile that is read by columns', () => {
  // Each of 8 warps writes 4 rows and reads 4 columns, each of which is one bank.
  const { shared, global } = profileOf('transposed').total;
  assert.equal([shared.store.requests, shared.store.wavefronts], [32, 32]);
  assert.equal([shared.load.requests, shared.load.wavefronts], [32, 32 * 32]);
  assert.equal([global.load.sectors, global.store.sectors], [128, 128]);
});

test('half-warps diverge and reconverge', () => {
  const { total } = profileOf('half_warp');
  // Two stores of 16 threads and one of 32, for 16 warps.
  assert.equal([total.global.store.requests, total.global.store.lanes], [48, 16 * 64]);
  assert.equal([total.global.store.sectors, total.branches], [16 * (2 + 2 + 4), { executed: 16, diverged: 16 }]);
});

test('a loop runs for a warp until its last thread leaves it', () => {
  // Lane i makes i iterations: 31 iterations of the warp, with 31, 30, … 1 active threads.
  const { load } = profileOf('trips').total.global;
  assert.equal([load.requests, load.lanes], [16 * 31, 16 * ((31 * 32) / 2)]);
});

test('threads that diverge in a loop reconverge before its next iteration', () => {
  // Four iterations with a store on each side, two loads on divergent sides and one after; bits of the lane choose the side; bit 4 and above none.
  const { global } = profileOf('nested').total;
  assert.equal([global.store.requests, global.store.lanes], [16 * (4 * 2 + 1), 16 * (4 * 32 + 32)]);
  assert.equal([global.load.requests, global.load.lanes], [16 * 4 * 3, 16 * 4 * 64]);
});

test('exited threads are inactive afterwards; a switch has a side per case', () => {
  const exit = profileOf('early_exit').total;
  assert.equal([exit.global.load.requests, exit.global.load.lanes, exit.flops.f32], [16, 16 * 20, 16 * 20]);
  const ways = profileOf('four_ways').total.global.store;
  assert.equal([ways.requests, ways.lanes], [16 * 5, 16 * 64]);
});

test('source lines of the PTX', () => {
  const text = readFileSync(join(root, 'fixtures/profile/profile.cu'), 'utf8').split('\n');
  const line = text.findIndex((each) => each.includes(' stride4(')) + 1;
  const loads = profileOf('stride4').lines.filter(({ global }) => global.load.requests > 0);
  assert.equal(
    loads.map(({ source }) => source),
    [`profile.cu:${line}`],
  );
});

test('atomics on one word, and on one word per thread', () => {
  assert.equal(profileOf('same_counter').total.global.atomic, {
    requests: 16,
    lanes: 512,
    bytes: 64,
    sectors: 16,
    lines: 16,
    leastSectors: 16,
  });
  assert.is(profileOf('own_counter').total.global.atomic.sectors, 64);
});

test('floating-point operations and footprint', () => {
  const { total, footprint, operations } = profileOf('polynomial');
  // 16 fused multiply-adds of two operations each, a sum and a product, for 512 threads.
  assert.equal(total.flops, { f16: 0, f32: 512 * (2 * 16 + 2), f64: 0 });
  assert.is(operations.float.lanes, 512 * 18);
  assert.equal(footprint, { read: 512 * 4, written: 512 * 4 });
  assert.equal(profileOf('stride32').footprint, { read: 512 * 32, written: 512 * 4 });
  // A word that is modified is read and written.
  assert.equal(profileOf('same_counter').footprint, { read: 512 * 4 + 32, written: 32 });
});

// ── by line ──

const head = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u64 %rd<9>; .reg .u32 %r<19>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>; .reg .pred %p<9>;
  .shared .align 16 .b8 s[1024];
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
`;
/** The line of the first instruction of a body. */
const first = 12;

interface ProfileOptions {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly marks?: boolean;
  readonly schedule?: Order;
  readonly trace?: { readonly block: number; readonly thread: number; take(trace: Trace): void };
}

function profile(
  body: string,
  { grid = [1, 1, 1], block = [32, 1, 1], marks = true, schedule, trace }: ProfileOptions = {},
): Profile | undefined {
  const source = new SourceFile('k.ptx', `${head}${body}\n  ret;\n}\n`);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu', marks, sanitize: !marks }, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  const device = openCpuDevice();
  const buffer = device.allocate(65536, diagnostics)!;
  let found: Profile | undefined;
  const take = (each: Profile): void => {
    found = each;
  };
  const watch = trace ? { trace } : { profile: { source, take } };
  const shape = { kernel: 'k', grid, block, dynamicSharedBytes: 0, timeoutMs: 5000 };
  const module = device.load(compiled.metallib, diagnostics)!;
  module.launch({ ...shape, args: [{ kind: 'buffer', buffer }], ...watch, ...(schedule ? { schedule } : {}) }, diagnostics);
  device.close();
  return found;
}

const lineOf = (of: Profile | undefined, line: number): ProfileLine => of!.lines.find((each) => each.line === line)!;
const executed = (of: Profile | undefined, line: number): [number, number] => {
  const { warps, lanes } = lineOf(of, line).executed;
  return [warps, lanes];
};

const branching = `  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra even;
  mov.u32 %r3, 3;
  bra done;
even:
  mov.u32 %r3, 4;
done:
  add.u32 %r4, %r3, %r1;
  st.global.u32 [%rd3], %r4;`;

test('each instruction is counted, those without an IR operation too', () => {
  const got = profile(branching, { block: [48, 1, 1], grid: [3, 1, 1] });
  // Six warps, of which three have 16 threads.
  assert.is(got!.warps, 6);
  for (const line of [first, first + 1, first + 2, first + 8, first + 9, first + 10]) assert.equal(executed(got, line), [6, 3 * 48]);
  for (const line of [first + 3, first + 4, first + 6]) assert.equal(executed(got, line), [6, 3 * 24]);
  assert.equal(lineOf(got, first + 2).branches, { executed: 6, diverged: 6 });
  assert.is(got!.lines.length, 5 + 9);
  assert.equal(got!.total.executed, { warps: 6 * 14, lanes: 3 * (11 * 48 + 3 * 24) });
});

test('a guarded instruction is executed by all active threads, and accesses memory where the guard holds', () => {
  const got = profile(`  setp.lt.u32 %p1, %r1, 5;
  @%p1 st.global.u32 [%rd3], %r1;
  mov.f32 %f1, 0f3F800000;
  cvt.rn.f32.u32 %f2, %r1;
  @!%p1 fma.rn.f32 %f1, %f2, %f2, %f1;
  st.global.f32 [%rd3+4096], %f1;`);
  assert.equal(executed(got, first + 1), [1, 32]);
  assert.is(lineOf(got, first + 1).global.store.lanes, 5);
  assert.equal(executed(got, first + 4), [1, 32]);
  assert.is(lineOf(got, first + 4).flops.f32, 2 * 27);
});

test('a loop with a trip count per lane', () => {
  const got = profile(`  mov.u32 %r2, 0;
again:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra out;
  add.u32 %r2, %r2, 1;
  bra again;
out:
  st.global.u32 [%rd3], %r2;`);
  // The condition is executed by 32 + 31 + … + 1 threads in 32 iterations, the body by 31 + … + 1 in 31.
  assert.equal(executed(got, first + 2), [32, 528]);
  assert.equal(executed(got, first + 4), [31, 496]);
  assert.equal(executed(got, first + 7), [1, 32]);
  assert.equal(lineOf(got, first + 3).branches, { executed: 32, diverged: 31 });
});

test('sides that may leave a loop reconverge after it, and not before', () => {
  // Where a is 0 and b is not, threads leave from within the first side: the post-dominator of the branch on a is after the loop.
  const got = profile(`  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  and.b32 %r3, %r1, 1;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra rest;
  setp.gt.u32 %p2, %r2, 9;
  @%p2 bra out;
rest:
  setp.lt.u32 %p3, %r2, 4;
  @%p3 bra again;
out:
  st.global.u32 [%rd3], %r2;`);
  // Once the odd and the even threads have diverged they iterate separately: four iterations each, the first of which starts converged.
  assert.equal(executed(got, first + 2), [1 + 2 * 3, 32 * 4]);
  assert.equal(executed(got, first + 9), [2 * 4, 32 * 4]);
  assert.equal(executed(got, first + 12), [1, 32]);
});

test('barriers and warp collectives, in any thread order', () => {
  const body = `  mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
  mov.u32 %r5, 0;
again:
  st.shared.u32 [%r4], %r5;
  bar.sync 0;
  shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 10;
  @%p1 bra again;
  setp.lt.u32 %p2, %r1, 40;
  @%p2 bra skip;
  bar.warp.sync -1;
skip:
  st.global.u32 [%rd3], %r6;`;
  const plain = profile(body, { block: [96, 1, 1], grid: [2, 1, 1] });
  for (const line of [first + 3, first + 4, first + 5, first + 6]) assert.equal(executed(plain, line), [60, 1920]);
  // Warp 0 skips the branch, warp 1 diverges with 8 and 24 threads, warp 2 takes it.
  assert.equal(executed(plain, first + 11), [2 * 2, 2 * (24 + 32)]);
  assert.equal(executed(plain, first + 13), [6, 192]);
  for (const seed of [1, 2]) assert.equal(profile(body, { block: [96, 1, 1], grid: [2, 1, 1], schedule: { kind: 'rand', seed } }), plain);
});

test('the instructions of single threads add up to those of the warps', () => {
  const lanes = profile(branching, { block: [48, 1, 1] })!.total.executed.lanes;
  let sum = 0;
  const take = ({ count }: Trace): void => {
    sum += count;
  };
  for (let thread = 0; thread < 48; thread++) profile(branching, { block: [48, 1, 1], trace: { block: 0, thread, take } });
  assert.is(sum, lanes);
});

test('in a loop, a warp executes a line in each iteration in which one of its threads does', () => {
  // Traces of all threads give the iterations in which each executed a line; threads that have left the loop are inactive in later iterations.
  const body = `  mad.lo.u32 %r2, %r1, 7, 3; and.b32 %r2, %r2, 15; mov.u32 %r3, 0; mov.u32 %r7, 0;
again:
  add.u32 %r3, %r3, 1;
  mul.lo.u32 %r4, %r3, %r1; shr.u32 %r4, %r4, 1; and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 0;
  @%p1 bra other;
  add.u32 %r7, %r7, 3;
  and.b32 %r6, %r4, 2; setp.eq.u32 %p2, %r6, 0;
  @%p2 bra both;
  xor.b32 %r7, %r7, %r1;
  bra both;
other:
  add.u32 %r7, %r7, 5;
both:
  setp.lt.u32 %p3, %r3, %r2;
  @%p3 bra again;
  st.global.u32 [%rd3], %r7;`;
  const iterationsOf = new Map<number, Set<number>>();
  const lanesOf = new Map<number, number>();
  const iterationLine = first + 2;
  for (let thread = 0; thread < 32; thread++)
    profile(body, {
      trace: {
        block: 0,
        thread,
        take({ steps }) {
          let iteration = 0;
          for (const { line, column } of steps) {
            if (line === iterationLine) iteration++;
            const key = line * 1000 + column;
            const of = iterationsOf.get(key) ?? new Set();
            iterationsOf.set(key, of.add(iteration));
            lanesOf.set(key, (lanesOf.get(key) ?? 0) + 1);
          }
        },
      },
    });
  const got = profile(body)!;
  const byLine = new Map<number, [number, number]>();
  for (const [key, iterations] of iterationsOf) {
    const [warps, lanes] = byLine.get(Math.floor(key / 1000)) ?? [0, 0];
    byLine.set(Math.floor(key / 1000), [warps + iterations.size, lanes + lanesOf.get(key)!]);
  }
  assert.ok(byLine.size >= 17);
  // After the loop the threads have made different numbers of iterations, and have reconverged.
  for (const [line, counts] of byLine) assert.equal(executed(got, line), line > first + 14 ? [1, 32] : counts, `line ${line}`);
});

test('a metallib without marks is counted by its debug lines', () => {
  const got = profile(branching, { marks: false });
  assert.equal(executed(got, first + 9), [1, 32]);
  assert.is(lineOf(got, first + 9).global.store.sectors, 4);
});

test('a metallib without lines is counted by its operations', () => {
  const source = new SourceFile('k.ptx', `${head}${branching}\n  ret;\n}\n`);
  const diagnostics = new Diagnostics(source);
  const { metallib } = compile(source, { target: 'cpu' }, diagnostics)!;
  const device = openCpuDevice();
  const buffer = device.allocate(4096, diagnostics)!;
  const profiles: Profile[] = [];
  const shape = { kernel: 'k', grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0 } as const;
  const asked = { profile: { take: (each: Profile) => void profiles.push(each) } };
  device.load(metallib, diagnostics)!.launch({ ...shape, args: [{ kind: 'buffer', buffer }], ...asked }, diagnostics);
  device.close();
  const [got] = profiles;
  assert.is(got!.lines.length, 1);
  const operations = Object.entries(got!.operations).reduce((sum, [name, { warps }]) => sum + (name === 'branch' ? 0 : warps), 0);
  assert.is(got!.total.executed.warps, operations);
  assert.ok(got!.total.global.store.sectors === 4 && got!.lines[0]!.line === 0);
});

test('f16, f32 and f64 operations are counted separately', () => {
  const got = profile(`  cvt.rn.f32.u32 %f1, %r1; cvt.f64.f32 %d1, %f1; cvt.rn.f16.f32 %h1, %f1;
  add.rn.f32 %f2, %f1, %f1;
  fma.rn.f64 %d2, %d1, %d1, %d1;
  mul.rn.f16 %h2, %h1, %h1;
  sqrt.rn.f32 %f3, %f2;
  st.global.f32 [%rd3], %f3; st.global.f64 [%rd1+1024], %d2; st.global.b16 [%rd1+2048], %h2;`);
  assert.equal(got!.total.flops, { f16: 32, f32: 64, f64: 64 });
  assert.is(got!.operations.function.lanes, 32);
});

test('accesses of arbitrary addresses and sizes, against a count over all bytes', () => {
  let state = 12345;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let round = 0; round < 500; round++) {
    const [size, count, span] = [[1, 2, 4, 8, 16][random(5)]!, 1 + random(32), [8, 64, 1000][random(3)]!];
    const addresses = Uint32Array.from({ length: 32 }, () => 65536 + size * random(span));
    const to = noGlobal();
    countGlobal(to, addresses, count, size);
    const bytes = new Set([...addresses.slice(0, count)].flatMap((at) => Array.from({ length: size }, (_, i) => at + i)));
    const pieces = (of: number) => new Set([...bytes].map((at) => Math.floor(at / of))).size;
    assert.equal([to.bytes, to.sectors, to.lines], [bytes.size, pieces(32), pieces(128)]);
    if (size > 4) continue;
    const shared = noShared();
    const lanes = Uint8Array.from({ length: 32 }, (_, i) => i);
    countShared(shared, addresses, lanes, count, { size, kind: 'store' });
    const words = [...new Set([...bytes].map((at) => at >> 2))];
    assert.is(shared.wavefronts, Math.max(...Array.from({ length: 32 }, (_, bank) => words.filter((word) => word % 32 === bank).length)));
  }
});

for (const name of exampleNames)
  test(`${name} has the same results when it is profiled`, () => {
    const source = new SourceFile(`${name}.ptx`, exampleText(name));
    const diagnostics = new Diagnostics(source);
    const { metallib } = compile(source, { target: 'cpu', marks: true }, diagnostics)!;
    const device = openCpuDevice();
    const module = device.load(metallib, diagnostics)!;
    const profiles: Profile[] = [];
    const watch = { profile: { source, take: (each: Profile) => void profiles.push(each) } };
    const outcome = launch(device, module, recordedLaunch(name), { repeat: 1, timeoutMs: 0, observe: watch }, { io: diskIo, diagnostics })!;
    device.close();
    assertQuiet(diagnostics);
    for (const output of outcome.outputs) if (output.expect) assert.ok(checkOutput(output, output.expect, diskIo, diagnostics)!.pass);
    const [got] = profiles;
    // A warp has at most 32 active threads, and all warps start converged.
    for (const { executed: of } of got!.lines) assert.ok(of.lanes <= 32 * of.warps && of.lanes >= of.warps);
    assert.is(Math.max(...got!.lines.slice(0, 1).map((line) => line.executed.warps)), got!.warps);
  });

test('every kernel of the fixture has a test', () => {
  assert.ok(profiledLaunches.length >= 46);
  for (const { kernel, grid, block } of profiledLaunches) assert.is(profileOf(kernel).warps, (grid * block) / 32);
});

test('CM6034: a kernel that writes over the record of the profiler', async () => {
  // Buffers are side by side, and the record follows them: 4000 threads write a buffer of ten words.
  const text = exampleText('saxpy').replace('--arg f32:4000=iota', '--arg f32:10=iota');
  const { code, err } = await commandLine(['run', 'outside.ptx', '--profile', '--device', 'cpu'], { 'outside.ptx': text });
  assert.is(code, 1);
  assert.match(err, /^error\[CM6034\]: the profile of kernel `saxpy` is of no use/);
});

test.run();
