/** The trace of one thread: lines, values and addresses worked out by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { traceText } from '../../src/cli/run/trace-text.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import type { Dim3 } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import type { Trace, TraceRequest } from '../../src/device/trace.ts';
import { checkOutput, launch } from '../../src/runtime/index.ts';
import { assertQuiet, diskIo, exampleNames, exampleText, recordedLaunch } from '../support/examples.ts';

const test = suite('device/trace');

const head = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u64 %rd<9>; .reg .u32 %r<19>; .reg .f32 %f<9>; .reg .pred %p<9>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
`;
/** The line of the first instruction of a body. */
const first = 12;

interface TraceOptions extends Partial<Pick<TraceRequest, 'block' | 'thread' | 'limit'>> {
  readonly options?: CompileOptions;
  readonly grid?: Dim3;
  readonly threads?: Dim3;
  readonly buffer?: Uint32Array;
}

function trace(body: string, options: TraceOptions = {}): { trace: Trace; diagnostics: Diagnostics; after: Uint32Array } {
  const source = new SourceFile('k.ptx', `${head}${body}\n  ret;\n}\n`);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu', marks: true, ...options.options }, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  const device = openCpuDevice();
  const bytes = new Uint8Array((options.buffer ?? Uint32Array.from({ length: 64 }, (_, i) => 10 * i)).buffer);
  const buffer = device.allocate(bytes.length, diagnostics)!;
  buffer.write(bytes);
  let found: Trace | undefined;
  const take = (each: Trace): void => {
    found = each;
  };
  const { block = 0, thread = 3, limit } = options;
  const asked = { block, thread, source, ...(limit === undefined ? {} : { limit }), take };
  const shape = { grid: options.grid ?? [1, 1, 1], block: options.threads ?? [32, 1, 1], dynamicSharedBytes: 0 } as const;
  device
    .load(compiled.metallib, diagnostics)!
    .launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }], timeoutMs: 1000, trace: asked }, diagnostics);
  const after = new Uint32Array(buffer.read().buffer);
  device.close();
  return { trace: found!, diagnostics, after };
}

/** The lines of a trace's text after the header, with runs of spaces collapsed. */
const linesOf = (of: Trace): string[] =>
  traceText(of)
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => Number(/^\+? ?(\d+)/.exec(line)?.[1]) >= first);

test('values of operands and results, with addresses relative to their buffer', () => {
  const { trace: traced, after } = trace(`  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r2, 7;
  st.global.u32 [%rd3+128], %r3;`);
  const stepAt = (line: number) => traced.steps.filter((step) => step.line === line);
  assert.equal(
    [12, 13, 14].map((line) => stepAt(line).map(({ text }) => text)),
    [['ld.global.u32 %r2, [%rd3];'], ['add.u32 %r3, %r2, 7;'], ['st.global.u32 [%rd3+128], %r3;']],
  );
  const last = (line: number) => stepAt(line)[0]!.operations.at(-1)!;
  assert.is(last(12).what, 'load i32');
  assert.is(last(12).operands[0]!.place, 'byte 12 of `p` (argument 0, 256 bytes)');
  assert.equal(last(12).result, { type: 'i32', bits: [30n] });
  assert.equal(last(13), {
    what: 'add i32',
    operands: [30n, 7n].map((bits) => ({ type: 'i32', bits: [bits] })),
    result: { type: 'i32', bits: [37n] },
  });
  assert.is(last(14).what, 'store i32');
  assert.is(last(14).operands[0]!.place, 'byte 140 of `p` (argument 0, 256 bytes)');
  assert.ok(traceText(traced).includes('store i32 [byte 140 of `p` (argument 0, 256 bytes)], 37'));
  assert.is(traced.count, 5 + 3 + 1);
  assert.is(after[35], 37);
  assert.equal(
    [traced.block, traced.thread],
    [
      [0, 0, 0],
      [3, 0, 0],
    ],
  );
});

test('a loop has a step per iteration, a branch has its condition', () => {
  const { trace: traced } = trace(`  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 5;
  setp.lt.u32 %p1, %r2, 12;
  @%p1 bra again;
  st.global.u32 [%rd3], %r2;`);
  const iterations = linesOf(traced).slice(1, 10);
  assert.equal(iterations, [
    '14 add.u32 %r2, %r2, 5; add i32 0, 5 -> 5',
    '15 setp.lt.u32 %p1, %r2, 12; icmp ult i32 5, 12 -> true',
    '16 @%p1 bra again; condbr true',
    '14 add.u32 %r2, %r2, 5; add i32 5, 5 -> 10',
    '15 setp.lt.u32 %p1, %r2, 12; icmp ult i32 10, 12 -> true',
    '16 @%p1 bra again; condbr true',
    '14 add.u32 %r2, %r2, 5; add i32 10, 5 -> 15',
    '15 setp.lt.u32 %p1, %r2, 12; icmp ult i32 15, 12 -> false',
    '16 @%p1 bra again; condbr false',
  ]);
  assert.is(traced.count, 5 + 1 + 9 + 2);
});

test('floats of all sizes, vectors and negative numbers are formatted by type', () => {
  const { trace: traced } = trace(
    `  .reg .f64 %d<4>; .reg .b16 %h<4>; .reg .f32 %g<3>;
  ld.global.v2.f32 {%g1, %g2}, [%rd1];
  mul.f32 %f1, %g1, 0fBF000000;
  cvt.f64.f32 %d1, %g2;
  cvt.rn.f16.f32 %h1, %f1;
  sub.u32 %r2, %r1, 5;
  st.global.u16 [%rd3+256], %h1; st.global.u32 [%rd3+512], %r2; st.global.f64 [%rd1+1024], %d1;`,
    { buffer: new Uint32Array(Float32Array.from({ length: 512 }, (_, i) => [3, 0.1][i] ?? 0).buffer), thread: 1 },
  );
  const text = traceText(traced);
  for (const part of [
    'load v2.f32 [byte 0 of `p` (argument 0, 2048 bytes)] -> (3, 0.1)',
    'fmul f32 3, -0.5 -> -1.5',
    `fpext f64 0.1 -> ${Math.fround(0.1)}`,
    'fptrunc f16 -1.5 -> -1.5',
    ' -> -4',
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
});

test('a vector instruction is one step', () => {
  const { trace: traced } = trace(`  .reg .u32 %v<5>;
  ld.global.v4.u32 {%v1, %v2, %v3, %v4}, [%rd1+16]; add.u32 %v1, %v1, %v4;
  st.global.v2.u32 [%rd1], {%v1, %v3};`);
  const of = (word: string) => traced.steps.flatMap(({ operations }) => operations.filter(({ what }) => what.startsWith(word)));
  const last = (word: string) => of(word).at(-1)!;
  assert.equal(last('load').result, { type: 'v4.i32', bits: [40n, 50n, 60n, 70n] });
  assert.is(of('load v4').length, 1);
  assert.equal(last('store').operands[1], { type: 'v2.i32', bits: [110n, 60n] });
  assert.is(of('store').length, 1);
});

test('warp collectives and shared memory', () => {
  const { trace: traced } = trace(`  mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  xor.b32 %r5, %r3, 4; add.u32 %r5, %r2, %r5;
  ld.shared.u32 %r6, [%r5];
  vote.sync.ballot.b32 %r7, 1, -1;
  add.u32 %r8, %r6, %r7;
  st.global.u32 [%rd3], %r8;`);
  const text = traceText(traced);
  assert.ok(text.includes('store i32 [byte 12 of the shared memory of the block (256 bytes)], 3'), text);
  assert.ok(text.includes('load i32 [byte 8 of the shared memory of the block (256 bytes)] -> 2'), text);
  // All 32 lanes: -1.
  assert.match(text, /vote\.sync\.ballot\.b32 %r7, 1, -1;\s+ballot i32 true -> -1/);
  assert.ok(text.includes('add i32 2, -1 -> 1'));
});

test('guarded instructions are executed where the guard holds', () => {
  const body = `  setp.eq.u32 %p1, %r1, 3;
  @%p1 add.u32 %r1, %r1, 100;
  @!%p1 add.u32 %r1, %r1, 200;
  st.global.u32 [%rd3], %r1;`;
  const { trace: traced, after } = trace(body);
  assert.equal(linesOf(traced).slice(1, 3), ['13 @%p1 add.u32 %r1, %r1, 100; condbr true', '14 @!%p1 add.u32 %r1, %r1, 200; condbr false']);
  assert.ok(traceText(traced).includes('add i32 3, 100 -> 103'));
  assert.not.ok(traceText(traced).includes('200 ->'));
  assert.equal([after[3], after[4]], [103, 204]);
});

test('a thread by three coordinates in a three-dimensional grid', () => {
  const { trace: traced } = trace(
    '  mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.z; mad.lo.u32 %r4, %r3, 100, %r2; st.global.u32 [%rd3], %r4;',
    {
      grid: [2, 2, 3],
      threads: [4, 4, 1],
      block: [1, 0, 2],
      thread: [2, 3, 0],
    },
  );
  assert.equal(
    [traced.block, traced.thread],
    [
      [1, 0, 2],
      [2, 3, 0],
    ],
  );
  // 100 * 2 + 3.
  assert.ok(traceText(traced).includes('-> 203'), traceText(traced));
});

test('instructions beyond the limit are counted', () => {
  const { trace: traced } = trace('  mov.u32 %r2, 0;\nagain:\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p1, %r2, 1000;\n  @%p1 bra again;', {
    limit: 10,
  });
  assert.is(traced.count, 5 + 1 + 3000 + 1);
  assert.is(traced.steps.filter(({ isStart }) => isStart).length, 10);
  assert.match(traceText(traced), /… 2997 more beyond --trace-limit/);
});

test('a failed launch has a trace up to the fault', () => {
  const { trace: traced, diagnostics } = trace('  mov.u64 %rd4, 8;\n  st.global.u32 [%rd4], %r1;', { thread: 0 });
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM6011'],
  );
  assert.is(traced.steps.at(-1)!.line, 13);
  assert.is(traced.count, 7);
});

test('a metallib without marks is traced by operations', () => {
  const body = '  ld.global.u32 %r2, [%rd3];\n  add.u32 %r3, %r2, 7;\n  st.global.u32 [%rd3], %r3;';
  const text = traceText(trace(body, { options: { marks: false } }).trace);
  assert.ok(text.includes('add i32 30, 7 -> 37'), text);
  // The limit applies to operations.
  const whole = trace(body, { options: { marks: false } }).trace;
  assert.is(whole.count, whole.steps.length);
  const few = trace(body, { options: { marks: false }, limit: 2 }).trace;
  assert.equal([few.steps.length, few.count], [2, whole.count]);
  assert.match(traceText(few), new RegExp(`… ${whole.count - 2} more`));
});

test('a thread outside of the launch is refused', () => {
  for (const options of [
    { thread: 32 },
    { block: 1 },
    { thread: [0, 1, 0] as const },
    { thread: [0, 0, 1] as const },
    { thread: [32, 0, 0] as const },
    { block: [0, 0, 3] as const, grid: [2, 2, 3] as const },
    { block: 12, grid: [2, 2, 3] as const },
  ]) {
    const { diagnostics } = trace('  st.global.u32 [%rd3], %r1;', options);
    assert.equal(
      diagnostics.list.map(({ code }) => code),
      ['CM5028'],
    );
  }
});

test('tracing does not change results', () => {
  const body = `  and.b32 %r2, %r1, 3; setp.gt.u32 %p1, %r2, 1; @%p1 bra odd;
  mul.lo.u32 %r3, %r1, 3; bra done;
odd: shl.b32 %r3, %r1, 4;
done: shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; st.global.u32 [%rd3], %r4;`;
  const value = (i: number) => ((i & 3) > 1 ? i << 4 : 3 * i);
  const { after } = trace(body);
  assert.equal(
    [...after.slice(0, 32)],
    Array.from({ length: 32 }, (_, i) => value(i ^ 1)),
  );
});

for (const name of exampleNames)
  test(`${name} has the same results when it is traced`, () => {
    const source = new SourceFile(`${name}.ptx`, exampleText(name));
    const diagnostics = new Diagnostics(source);
    const { metallib } = compile(source, { target: 'cpu', marks: true }, diagnostics)!;
    const device = openCpuDevice();
    const module = device.load(metallib, diagnostics)!;
    const traces: Trace[] = [];
    const watch = { trace: { block: 0, thread: 1, take: (each: Trace) => void traces.push(each) } };
    const outcome = launch(device, module, recordedLaunch(name), { repeat: 1, timeoutMs: 0, observe: watch }, { io: diskIo, diagnostics })!;
    device.close();
    for (const output of outcome.outputs) if (output.expect) assert.ok(checkOutput(output, output.expect, diskIo, diagnostics)!.pass);
    assertQuiet(diagnostics);
    // Each instruction is a line of the text, and the last one exits.
    const { steps, count } = traces[0]!;
    assert.ok(count > 10 && steps.every(({ line }) => line > 0));
    const lines = exampleText(name).split('\n');
    for (const { line, column } of steps) assert.match(lines[line - 1]!.slice(column - 1), /^(@!?%p\d+ )?[a-z]+/);
    if (steps.length < 5000) assert.match(lines[steps.at(-1)!.line - 1]!, /ret;/);
  });

test.run();
