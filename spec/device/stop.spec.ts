/**
 * Kernels that stop themselves, end to end: `trap` ends the thread and fails the launch once the others have ended, and so
 * does `__assertfail`, which reports the assertion of the source.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/stop');

const bytesOf = (text: string): string => [...new TextEncoder().encode(`${text}\0`)].join(', ');

/** Each thread stores 1, and 2 after the given code; the launch passes a limit. */
const kernelOf = (code: string): string => `.version 9.0
.target sm_90
.address_size 64
.extern .func __assertfail(.param .b64 e, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 expression[6] = {${bytesOf('i < n')}};
.global .align 1 .b8 source[5] = {${bytesOf('k.cu')}};
.func over(.param .b32 x)
{
  .reg .pred p;
  .reg .b32 y;
  ld.param.u32 y, [x];
  setp.gt.u32 p, y, 5;
  @p trap;
  ret;
}
.visible .entry k(.param .u64 out, .param .u32 limit)
{
  .reg .pred p;
  .reg .b32 t, n;
  .reg .b64 at, offset, e, f, e2, f2;
  mov.u32 t, %tid.x;
  mul.wide.u32 offset, t, 4;
  ld.param.u64 at, [out];
  add.s64 at, at, offset;
  ld.param.u32 n, [limit];
  st.global.u32 [at], 1;
  setp.ge.u32 p, t, n;
${code}
  st.global.u32 [at], 2;
  ret;
}
`;

const assertion = `  @!p bra fine;
  mov.u64 e, expression;
  cvta.global.u64 e2, e;
  mov.u64 f, source;
  cvta.global.u64 f2, f;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], e2; st.param.b64 [p1], f2; st.param.b32 [p2], 12; st.param.b64 [p3], f2; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
fine:`;

const threads = 8;

function run(code: string, limit: number): { messages: string[]; words: number[]; params: number } {
  const source = new SourceFile('k.ptx', kernelOf(code));
  const compiling = new Diagnostics(source);
  const compiled = compile(source, {}, compiling);
  assert.ok(compiled, compiling.list.map((d) => d.message).join('; '));
  const diagnostics = new Diagnostics();
  const device = openCpuDevice();
  const module = device.load(compiled.metallib, diagnostics)!;
  const buffer = device.allocate(4 * threads, diagnostics)!;
  const args = [
    { kind: 'buffer', buffer },
    { kind: 'bytes', bytes: new Uint8Array(Uint32Array.of(limit).buffer) },
  ] as const;
  const shape = { kernel: 'k', grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 1000 } as const;
  const result = module.launch({ ...shape, args }, diagnostics);
  assert.is(result === undefined, diagnostics.list.length > 0, 'a launch fails if and only if there are diagnostics');
  return {
    messages: diagnostics.list.map(({ code, message }) => `${code} ${message}`),
    words: [...new Uint32Array(buffer.read().buffer)],
    params: module.kernels[0]!.params.length,
  };
}

const all = (value: number): number[] => new Array<number>(threads).fill(value);
const but = (last: number): number[] => [...all(2).slice(1), last];

test('trap ends the thread and fails the launch; the other threads run to their end', () => {
  assert.equal(run('  @p trap;', 7), {
    messages: ['CM6014 kernel `k` stopped itself: `trap` was executed (k.ptx:28)'],
    words: but(1),
    params: 2,
  });
  assert.equal(run('  @p trap;', 8), { messages: [], words: all(2), params: 2 });
  assert.equal(run('  trap;', 8).words, all(1));
});

test('a failed assertion reports its text and place', () => {
  assert.equal(run(assertion, 7), {
    messages: ['CM6014 kernel `k` stopped itself: assertion `i < n` failed (k.cu:12)'],
    words: but(1),
    params: 2,
  });
  assert.equal(run(assertion, 8), { messages: [], words: all(2), params: 2 });
});

test('an assertion with unknown text reports that it failed', () => {
  const unknown = assertion.replace('mov.u64 e, expression;', 'ld.param.u64 e, [out];');
  assert.equal(run(unknown, 0).messages, ['CM6014 kernel `k` stopped itself: assertion failed (k.cu:12)']);
});

test('trap in a called function', () => {
  const called = '  { .param .b32 a; st.param.b32 [a], t; call.uni over, (a); }';
  assert.equal(run(called, 8), {
    messages: ['CM6014 kernel `k` stopped itself: `trap` was executed (k.ptx:13)'],
    words: [2, 2, 2, 2, 2, 2, 1, 1],
    params: 2,
  });
});

test.run();
