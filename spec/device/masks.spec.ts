/**
 * Collectives by member masks whose lanes stand apart, and threads that wait for later ones. Expected words are worked out from the PTX manual
 * (9.7.9.6, 9.7.13): a lane waits for the live lanes of its mask, and a result is that of these lanes.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type EngineOptions, type LaunchRequest, sanitizeKinds } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { tryOnCpu } from '../support/cpu.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('device/masks');

const ptx = (body: string, functions = ''): string => `.version 8.0
.target sm_80
.address_size 64
${functions}
.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<5>;
  .shared .align 4 .b8 s[512];
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r20, 0;
${body}
  st.global.u32 [%rd1], %r20;
  ret;
}
`;

interface Outcome {
  readonly words: number[];
  readonly codes: string[];
}

interface Choice {
  readonly threads?: number;
  readonly target?: 'cpu' | 'macos15';
  readonly options?: EngineOptions;
  readonly watch?: Pick<LaunchRequest, 'schedule'>;
  readonly isSanitized?: boolean;
}

function run(text: string, { threads = 32, target = 'cpu', options = {}, watch = {}, isSanitized = false }: Choice = {}): Outcome {
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target, sanitize: isSanitized }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  const device = openCpuDevice(options);
  const module = device.load(compiled.metallib, diagnostics)!;
  const buffer = device.allocate(4 * threads, diagnostics)!;
  const sanitize = isSanitized ? { kinds: new Set(sanitizeKinds), source } : undefined;
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 } as const;
  const request = { kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }], timeoutMs: 10_000, ...watch } as const;
  module.launch(sanitize ? { ...request, sanitize } : request, diagnostics);
  const words = [...new Uint32Array(buffer.read().buffer)];
  device.close();
  return { words, codes: diagnostics.list.map(({ code }) => code) };
}

const choices: readonly Choice[] = [
  {},
  { options: { engine: 'lane' } },
  { options: { engine: 'simd' } },
  ...[{ kind: 'reverse' } as const, { kind: 'rand', seed: 3 } as const].map((schedule): Choice => ({ watch: { schedule } })),
  { isSanitized: true },
];

const lanes = (of: (lane: number) => number, threads = 32): number[] => Array.from({ length: threads }, (_, lane) => of(lane) >>> 0);

/** Gives the words in every engine and order of threads, without a finding. */
function assertWords(text: string, expected: readonly number[]): void {
  for (const choice of choices) assert.equal(run(text, { threads: expected.length, ...choice }), { words: expected, codes: [] });
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

test('a warp barrier orders memory between the two arms of a branch', () => {
  const body = `  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra OTHERS;
  st.shared.u32 [s], 42;
  bar.warp.sync -1;
  bra DONE;
OTHERS:
  bar.warp.sync -1;
  ld.shared.u32 %r20, [s];
DONE:`.replace('st.shared.u32 [s], 42;', 'mov.u32 %r2, 42; st.shared.u32 [s], %r2;');
  assertWords(
    ptx(body),
    lanes((lane) => (lane === 0 ? 0 : 42)),
  );
});

test('two lanes hand a number back and forth from loops of their own', () => {
  const round = (isFirst: boolean): string => `
  ${isFirst ? 'ld.shared.u32 %r3, [s]; add.u32 %r3, %r3, 1; st.shared.u32 [s], %r3;' : ''}
  bar.warp.sync 3;
  ${isFirst ? '' : 'ld.shared.u32 %r3, [s]; mul.lo.u32 %r3, %r3, 3; st.shared.u32 [s], %r3;'}
  bar.warp.sync 3;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 5;`;
  const body = `  mov.u32 %r4, 0; mov.u32 %r3, 0;
  setp.gt.u32 %p3, %r1, 1;
  @%p3 bra DONE;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra SECOND;
  st.shared.u32 [s], %r3;
FIRST:${round(true)}
  @%p2 bra FIRST;
  bra READ;
SECOND:${round(false)}
  @%p2 bra SECOND;
READ:
  bar.warp.sync 3;
  ld.shared.u32 %r20, [s];
DONE:`;
  let value = 0;
  for (let i = 0; i < 5; i++) value = (value + 1) * 3;
  assertWords(
    ptx(body),
    lanes((lane) => (lane < 2 ? value : 0)),
  );
});

test('a lane meets the others one iteration later', () => {
  // Lane 0 first counts by itself, and then executes the shuffle in the loop at its turn i where the others are at turn i - 1.
  const body = `  mov.u32 %r4, 0;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra LOOP;
  add.u32 %r20, %r20, 1000;
  redux.sync.add.u32 %r5, %r1, -1;
  add.u32 %r20, %r20, %r5;
  mov.u32 %r4, 1;
LOOP:
  redux.sync.add.u32 %r5, %r1, -1;
  add.u32 %r20, %r20, %r5;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 4;
  @%p2 bra LOOP;`;
  assertWords(
    ptx(body),
    lanes((lane) => 4 * sum(lanes((each) => each)) + (lane === 0 ? 1000 : 0)),
  );
});

test('a function called in both arms is one rendezvous, and so are different calls', () => {
  const functions = `.func (.reg .b32 d) total(.reg .b32 a) {
  redux.sync.add.u32 d, a, -1;
  ret;
}`;
  const body = `  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  call (%r20), total, (%r1);
  bra DONE;
EVEN:
  mul.lo.u32 %r3, %r1, 100;
  call (%r20), total, (%r3);
  add.u32 %r20, %r20, 1;
DONE:`;
  const all = sum(lanes((lane) => (lane % 2 === 0 ? 100 * lane : lane)));
  assertWords(
    ptx(body, functions),
    lanes((lane) => all + (lane % 2 === 0 ? 1 : 0)),
  );
});

const folds = {
  'add.u32': (a: number, b: number) => (a + b) >>> 0,
  'min.u32': Math.min,
  'max.u32': Math.max,
  'min.s32': (a: number, b: number) => Math.min(a | 0, b | 0) >>> 0,
  'max.s32': (a: number, b: number) => Math.max(a | 0, b | 0) >>> 0,
  'and.b32': (a: number, b: number) => (a & b) >>> 0,
  'or.b32': (a: number, b: number) => (a | b) >>> 0,
  'xor.b32': (a: number, b: number) => (a ^ b) >>> 0,
} as const;
/** A number of each lane that uses all bits. */
const scattered = (lane: number): number => Math.imul(lane + 1, 0x9e3779b1) >>> 0;

for (const [op, fold] of Object.entries(folds))
  for (const size of [1, 2, 4, 8, 16, 32])
    test(`redux.sync.${op} of tiles of ${size} lanes at one instruction`, () => {
      const body = `  add.u32 %r2, %r1, 1; mul.lo.u32 %r2, %r2, ${0x9e3779b1 | 0};
  and.b32 %r3, %r1, ${32 - size};
  mov.u32 %r4, ${size === 32 ? -1 : 2 ** size - 1};
  shl.b32 %r4, %r4, %r3;
  redux.sync.${op} %r20, %r2, %r4;`;
      const expected = lanes((lane) => {
        const first = lane - (lane % size);
        return Array.from({ length: size }, (_, i) => scattered(first + i)).reduce((a, b) => fold(a, b));
      });
      for (const target of ['cpu', 'macos15'] as const) assert.equal(run(ptx(body), { target }), { words: expected, codes: [] });
    });

test('groups of a ballot have their own masks at one instruction of a divergent branch', () => {
  const body = `  and.b32 %r2, %r1, 3;
  setp.ne.u32 %p1, %r2, 0;
  vote.sync.ballot.b32 %r3, %p1, -1;
  @!%p1 bra DONE;
  match.any.sync.b32 %r4, %r2, %r3;
  redux.sync.add.u32 %r20, %r1, %r4;
DONE:`;
  const expected = lanes((lane) => (lane % 4 === 0 ? 0 : sum(lanes((each) => each).filter((each) => each % 4 === lane % 4))));
  assertWords(ptx(body), expected);
});

test('lanes that have exited are not waited for', () => {
  const body = `  setp.gt.u32 %p1, %r1, 20;
  @%p1 bra EXIT;
  setp.lt.u32 %p2, %r1, 7;
  @%p2 bra LOW;
  vote.sync.ballot.b32 %r20, %p1, -1;
  bra DONE;
LOW:
  vote.sync.ballot.b32 %r20, %p2, -1;
DONE:
  st.global.u32 [%rd1], %r20;
EXIT:
  ret;`;
  assertWords(
    ptx(body),
    lanes((lane) => (lane > 20 ? 0 : 0x7f)),
  );
});

test('a thread waits for what a later one of its block writes, also of another warp', () => {
  const body = `  setp.eq.u32 %p1, %r1, 69;
  @!%p1 bra WAIT;
  mov.u32 %r2, 5;
  st.volatile.shared.u32 [s], %r2;
WAIT:
  ld.volatile.shared.u32 %r20, [s];
  setp.ne.u32 %p2, %r20, 5;
  @%p2 bra WAIT;`;
  for (const choice of choices.filter(({ isSanitized }) => !isSanitized))
    assert.equal(run(ptx(body), { threads: 70, ...choice }), { words: lanes(() => 5, 70), codes: [] });
});

test('each lane waits for the next one in a chain, behind a barrier', () => {
  const body = `  shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
  mov.u32 %r4, 0; st.shared.u32 [%r3], %r4;
  bar.sync 0;
  setp.eq.u32 %p1, %r1, 63;
  @%p1 bra GO;
WAIT:
  ld.volatile.shared.u32 %r4, [%r3+4];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
GO:
  add.u32 %r20, %r4, 1;
  st.volatile.shared.u32 [%r3], %r20;`;
  for (const choice of choices.filter(({ isSanitized }) => !isSanitized))
    assert.equal(run(ptx(body), { threads: 64, ...choice }), { words: lanes((lane) => 64 - lane, 64), codes: [] });
});

const never = {
  'lanes that wait at another kind of collective': [
    `  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra A;
  bar.warp.sync -1;
  bra B;
A:
  redux.sync.add.u32 %r20, %r1, -1;
B:`,
    'CM6133',
  ],
  'lanes that wait at a barrier': [
    `  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra A;
  bar.sync 0;
  bra B;
A:
  bar.warp.sync -1;
B:`,
    'CM6133',
  ],
  'a lane that does not name itself': [
    `  setp.lt.u32 %p1, %r1, 2;
  @!%p1 bra B;
  bar.warp.sync 1;
B: bar.warp.sync -1;`,
    'CM6132',
  ],
  'lanes with another mask': [
    `  setp.lt.u32 %p1, %r1, 2;
  mov.u32 %r2, -1;
  @%p1 mov.u32 %r2, 3;
  setp.lt.u32 %p2, %r1, 4;
  @!%p2 bra B;
  redux.sync.add.u32 %r20, %r1, %r2;
  redux.sync.add.u32 %r20, %r1, %r2;
B:`,
    'CM6134',
  ],
} as const;

for (const [what, [body, finding]] of Object.entries(never)) {
  test(`${what} never come: the sanitizer names them`, () => {
    assert.ok(run(ptx(body), { isSanitized: true }).codes.includes(finding), run(ptx(body), { isSanitized: true }).codes.join());
  });
  if (finding !== 'CM6134')
    test(`${what} never come: the launch is stopped`, () => {
      for (const options of [{}, { engine: 'lane' }] as const) assert.equal(run(ptx(body), { options }).codes, ['CM6031']);
    });
}

for (const [what, [body, finding]] of Object.entries(never))
  if (finding !== 'CM6134')
    test(`${what} never come: a kernel for Apple GPUs stops itself`, () => {
      for (const options of [{}, { engine: 'lane' }] as const)
        assert.equal(run(ptx(body), { target: 'macos15', options }).codes, ['CM6014']);
    });

test('lanes of a mask that reach another collective first are waited for on Apple GPUs', () => {
  const branch = (mask: string): string => `  ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1;
  setp.lt.u32 %p1, %r2, 16;
  @!%p1 bra B;
  redux.sync.add.u32 %r20, %r1, ${mask};
B: bar.warp.sync -1;`;
  const expected = lanes((lane) => (lane < 16 ? 120 : 0));
  assert.equal(run(ptx(branch('0xffff')), { target: 'macos15' }), { words: expected, codes: [] });
  assert.equal(run(ptx(branch('-1')), { target: 'macos15' }).codes, ['CM6014']);
});

test('a kernel for Apple GPUs with a shuffle that has no mask checks the masks of divergent lanes, and warns', () => {
  const branch = (mask: string): string =>
    ptx(`  ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1;
  setp.lt.u32 %p1, %r2, 16;
  @!%p1 bra B;
  vote.sync.ballot.b32 %r20, %p1, ${mask};
B: bar.warp.sync -1;
  shfl.idx.b32 %r20, %r20, 3, 31;`).replace('sm_80', 'sm_60');
  assert.equal(run(branch('0xffff'), { target: 'macos15' }), { words: lanes(() => 0xffff), codes: ['CM2099'] });
  assert.equal(run(branch('-1'), { target: 'macos15' }).codes, ['CM2099', 'CM6014']);
});

test('threads that start the next turn of a loop at two places execute its collective together', () => {
  const body = `  mov.u32 %r4, 0; mov.u32 %r6, 0;
  setp.lt.u32 %p1, %r1, 16;
  @!%p1 bra L;
  redux.sync.add.u32 %r20, %r1, 0xffff;
L:
  vote.sync.ballot.b32 %r5, %p1, -1;
  add.u32 %r20, %r20, %r5;
  add.u32 %r4, %r4, 1;
  setp.ge.u32 %p3, %r4, 4;
  @%p3 bra DONE;
  @%p1 bra L;
  and.b32 %r7, %r1, 1;
  setp.eq.u32 %p4, %r7, 0;
  @%p4 bra EVEN;
  st.shared.u32 [s], %r6;
  bra ODD;
EVEN:
  st.shared.u32 [s+4], %r6;
ODD:
  st.shared.u32 [s+8], %r6;
  bra L;
DONE:`;
  for (const target of ['cpu', 'macos15'] as const)
    for (const { options = {}, watch = {} } of choices)
      assert.equal(run(ptx(body), { target, options, watch }), { words: lanes((lane) => 4 * 0xffff + (lane < 16 ? 120 : 0)), codes: [] });
});

test('a branch that is uniform in a warp needs no check where rows are aligned', () => {
  const body = `  setp.lt.u32 %p1, %r1, 32;
  @!%p1 bra B;
  redux.sync.add.u32 %r20, %r1, -1;
B:`;
  const expected = lanes((lane) => (lane < 32 ? 496 : 0), 64);
  for (const target of ['cpu', 'macos15'] as const) assert.equal(run(ptx(body), { threads: 64, target }), { words: expected, codes: [] });
});

test('threads meet at a collective of their kind: a barrier of a warp is none of convergence alone', () => {
  const arms = (first: boolean, second: boolean): string => `kernel "k" {
  param "p" pointer global size 4 align 4 slot 0
b0:
  %0 = sreg i32 {name: laneid}
  %1 = const i32 16
  %2 = const i32 -1
  %3 = icmp i1 %0, %1 {pred: ult}
  condbr %3, b1, b2
b1:
  warpsync %2 {isFence: ${first}}
  br b3
b2:
  warpsync %2 {isFence: ${second}}
  br b3
b3:
  %4 = param ptr.global {index: 0}
  store %4, %2 {align: 4, volatile: false}
  ret
}
`;
  const codes = (first: boolean, second: boolean): string[] =>
    tryOnCpu(kernelOf(arms(first, second)), [new Uint8Array(4)], { block: [32, 1, 1] }).diagnostics.list.map(({ code }) => code);
  assert.equal(codes(true, true), []);
  assert.equal(codes(false, false), []);
  assert.equal(codes(true, false), ['CM6031']);
  assert.equal(codes(false, true), ['CM6031']);
});

test.run();
