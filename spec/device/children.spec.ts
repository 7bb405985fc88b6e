/** Kernels that launch kernels: what nvcc makes of them as an H200 ran it, and the order of launches by the CUDA C++ Programming Guide. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { entryNumber } from '../../src/base/entry-number.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { type LaunchArgument, type LaunchRequest, type OpenOptions, openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/children');
const textOf = (name: string): string => readFileSync(new URL(`../../fixtures/linking/${name}`, import.meta.url), 'utf8');
const head = '.version 8.0\n.target sm_80\n.address_size 64\n';

function compiled(text: string, options: CompileOptions = {}): { metallib: Uint8Array; said: string[] } {
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  const made = compile(source, { target: 'cpu', verifiesPasses: true, ...options }, diagnostics);
  return { metallib: made?.metallib ?? new Uint8Array(), said: diagnostics.list.map(({ code, message }) => `${code} ${message}`) };
}

interface Choice {
  readonly kernel?: string;
  readonly threads?: number;
  /** Arguments behind the buffer: words. */
  readonly values?: readonly number[];
  readonly words?: number;
  readonly options?: OpenOptions;
  readonly more?: Partial<LaunchRequest>;
  readonly isAsync?: boolean;
  /** A second buffer with these words. */
  readonly second?: readonly number[];
}

/** The words of the buffer after a launch, or what is reported. */
async function run(metallib: Uint8Array, choice: Choice): Promise<number[] | string[]> {
  const { kernel = 'k', threads = 1, values = [], words = 64, options = { threads: 1 }, more = {}, isAsync = false, second } = choice;
  const diagnostics = new Diagnostics();
  const device = openCpuDevice(options);
  const buffer = device.allocate(4 * words, diagnostics)!;
  buffer.write(new Uint8Array(4 * words));
  const args: LaunchArgument[] = [{ kind: 'buffer', buffer }];
  if (second) {
    const other = device.allocate(4 * second.length, diagnostics)!;
    other.write(new Uint8Array(Int32Array.from(second).buffer));
    args.push({ kind: 'buffer', buffer: other });
  }
  for (const value of values) args.push({ kind: 'bytes', bytes: new Uint8Array(Int32Array.of(value).buffer) });
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 20_000 } as const;
  const module = device.load(metallib, diagnostics, { kernels: [kernel] })!;
  const request = { kernel, ...shape, args, ...more };
  const done = isAsync ? await module.start!(request, diagnostics).done : module.launch(request, diagnostics);
  const found = [...new Int32Array(buffer.read().slice().buffer)];
  device.close();
  return done && diagnostics.list.length === 0 ? found : diagnostics.list.map(({ code, message }) => `${code} ${message}`);
}

const cdp = compiled(textOf('cdp.ptx')).metallib;
const recorded = new Map(
  textOf('cdp.txt')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name, ...rest]) => [name!, rest.map(Number)]),
);
const sizes = Array.from({ length: 32 }, (_, i) => ((i % 5) * 8) % 33);
const programs: readonly (readonly [string, Choice])[] = [
  ['parent', { kernel: '_Z6parentPii', threads: 32, values: [50], words: 64 }],
  ['recursive', { kernel: '_Z9recursivePii', values: [5], words: 1 }],
  ['sized', { kernel: '_Z5sizedPiPKi', threads: 32, words: 1024, second: sizes }],
  ['forget', { kernel: '_Z6forgetPi', words: 32 }],
];

for (const [name, choice] of programs)
  test(`what nvcc makes of \`${name}\`, as an H200 runs it`, async () => {
    const all = [{ threads: 1 }, { engine: 'lane', threads: 1 }, { engine: 'simd', threads: 1 }, { threads: 2 }] as const;
    for (const options of name === 'parent' ? all.slice(1) : all.slice(0, 1))
      assert.equal(await run(cdp, { ...choice, options, isAsync: options.threads === 2 }), recorded.get(name), JSON.stringify(options));
  });

test('what clang makes of the same program, by the first version of the functions', async () => {
  const { metallib, said } = compiled(textOf('cdp-clang.ptx'));
  assert.equal(said, []);
  for (const [name, choice] of programs.slice(0, 2)) assert.equal(await run(metallib, choice), recorded.get(name), name);
});

test('the sanitizer follows the launches', async () => {
  const { metallib } = compiled(textOf('cdp.ptx'), { sanitize: true });
  const more = { sanitize: { kinds: new Set(['memory', 'race', 'init', 'sync'] as const) } };
  assert.equal(await run(metallib, { ...programs[0]![1], more }), recorded.get('parent'));
});

const runtime = `.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 p, .param .b64 s);\n`;
const registers = '.reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b16 %h<3>;';

/** A launch with the code that fills its parameters at `%rd9`; `%r9` is the error, or -1 without memory. */
const launch = (kernel: string, fill: string, { stream = 0, grid = [1, 1, 1], block = [1, 1, 1] } = {}): string => `{
  .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r; .param .b64 p; .param .b64 t; .param .b32 e;
  ${kernel.startsWith('%') ? '' : `mov.u64 %rd8, ${kernel};`} st.param.b64 [f], ${kernel.startsWith('%') ? kernel : '%rd8'};
  ${grid.map((n, i) => `st.param.b32 [g+${4 * i}], ${n}; `).join('')} ${block.map((n, i) => `st.param.b32 [b+${4 * i}], ${n}; `).join('')} st.param.b32 [s], 0;
  call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %rd9, [r]; ${fill}
  st.param.b64 [p], %rd9; st.param.b64 [t], ${stream}; call.uni (e), __cudaCDP2LaunchDeviceV2, (p, t); ld.param.b32 %r9, [e]; }\n`;
const logs = (value: number, stream = 0): string =>
  launch('log', `st.u64 [%rd9], %rd1; mov.u32 %r8, ${value}; st.u32 [%rd9+8], %r8;`, { stream });
const log = `.visible .entry log(.param .u64 out, .param .u32 v) { ${registers} ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [v];
  atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+4], %r1; ret; }\n`;
const entry = (name: string, code: string): string =>
  `.visible .entry ${name}(.param .u64 out) { ${registers} ld.param.u64 %rd1, [out]; ${code} ret; }\n`;
const passed = 'st.u64 [%rd9], %rd1;';

test('launches run in their order, with all that they launch, and the tail stream last', async () => {
  const inner = entry('inner', logs(4, 3) + logs(3));
  const k = entry('k', logs(1) + logs(9, 3) + logs(2) + launch('inner', passed) + logs(5, 4) + launch('inner', passed, { stream: 3 }));
  const { metallib, said } = compiled(head + runtime + log + inner + k);
  assert.equal(said, []);
  const order = [1, 2, 3, 4, 5, 9, 3, 4];
  assert.equal((await run(metallib, { words: 16 })).slice(0, 9), [8, ...order]);
  assert.equal((await run(metallib, { words: 16, options: { threads: 2 }, isAsync: true })).slice(0, 9), [8, ...order]);
});

test('a kernel that launches itself in the tail stream a thousand times', async () => {
  const again = `.visible .entry again(.param .u64 out, .param .u32 n) { ${registers} ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;
    setp.eq.u32 %p1, %r1, 0; @%p1 ret; sub.u32 %r1, %r1, 1; ${launch('again', 'st.u64 [%rd9], %rd1; st.u32 [%rd9+8], %r1;', { stream: 3 })} ret; }\n`;
  const { metallib } = compiled(head + runtime + again);
  assert.equal(await run(metallib, { kernel: 'again', values: [999], words: 1 }), [1000]);
});

test('parameters of every alignment, and a grid of three dimensions', async () => {
  const child = `.visible .entry child(.param .u8 a, .param .u16 b, .param .u64 out, .param .u8 c, .param .align 8 .b8 s[16]) { ${registers}
    ld.param.u8 %r1, [a]; ld.param.u16 %r2, [b]; ld.param.u64 %rd1, [out]; ld.param.u8 %r3, [c]; ld.param.u32 %r4, [s]; ld.param.u32 %r5, [s+12];
    mov.u32 %r6, %ctaid.z; mov.u32 %r7, %nctaid.z; mov.u32 %r8, %tid.y; mov.u32 %r10, %ntid.y; mad.lo.u32 %r6, %r6, %r10, %r8; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd2, %rd1;
    mad.lo.u32 %r1, %r1, 1000, %r2; mad.lo.u32 %r1, %r1, 1000, %r3; add.u32 %r4, %r4, %r5; mad.lo.u32 %r1, %r4, 7, %r1; add.u32 %r1, %r1, %r6; st.global.u32 [%rd2], %r1; ret; }\n`;
  const fill =
    'mov.u32 %r8, 3; st.u8 [%rd9], %r8; mov.u32 %r8, 500; st.u16 [%rd9+2], %r8; st.u64 [%rd9+8], %rd1; mov.u32 %r8, 77; st.u8 [%rd9+16], %r8; mov.u32 %r8, 11; st.u32 [%rd9+24], %r8; mov.u32 %r8, 13; st.u32 [%rd9+36], %r8;';
  const k = entry('k', launch('child', fill, { grid: [1, 1, 3], block: [1, 2, 1] }));
  const { metallib, said } = compiled(head + runtime + child + k);
  assert.equal(said, []);
  const one = (3 * 1000 + 500) * 1000 + 77 + 24 * 7;
  assert.equal(
    await run(metallib, { words: 6 }),
    Array.from({ length: 6 }, (_, i) => one + i),
  );
});

test('shapes that no device runs are an error of the launch, and nothing runs', async () => {
  const tried = [
    { block: [1025, 1, 1] },
    { grid: [0, 1, 1] },
    { grid: [1, 65536, 1] },
    { block: [1, 1, 65] },
    { block: [32, 32, 2] },
    { block: [32, 32, 1] },
  ];
  const stores = tried.map(
    (shape, i) =>
      `${launch('log', `st.u64 [%rd9], %rd1; mov.u32 %r8, 7; st.u32 [%rd9+8], %r8;`, shape)} st.global.u32 [%rd1+${4 * (1500 + i)}], %r9;`,
  );
  const last = (name: string, at: number): string =>
    `{ .param .b32 e; call.uni (e), ${name}, (); ld.param.b32 %r9, [e]; st.global.u32 [%rd1+${4 * at}], %r9; }`;
  const errors = ['__cudaCDP2PeekAtLastError', '__cudaCDP2GetLastError'];
  const declared = errors.map((name) => `.extern .func (.param .b32 r) ${name} ();\n`).join('');
  const asked = [errors[0]!, errors[1]!, errors[1]!].map((name, i) => last(name, 1510 + i)).join('\n');
  const { metallib, said } = compiled(head + runtime + declared + log + entry('k', `${stores.join('\n')}\n${asked}`));
  assert.equal(said, []);
  const found = await run(metallib, { words: 2000 });
  assert.equal(found.slice(1500, 1506), [9, 9, 9, 9, 9, 0], 'cudaErrorInvalidConfiguration');
  assert.equal(found.slice(1510, 1513), [9, 9, 0], 'the last error, which the second call takes');
  assert.is(found[0], 1024, 'only the last one ran');
});

test('copies and fills are work of a stream', async () => {
  const more = `.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync (.param .b64 d, .param .b64 s, .param .b64 n, .param .b32 k, .param .b64 t);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync (.param .b64 d, .param .b32 v, .param .b64 n, .param .b64 t);\n`;
  const fill =
    '{ .param .b64 d; .param .b32 v; .param .b64 n; .param .b64 t; .param .b32 e; add.u64 %rd4, %rd1, 128; st.param.b64 [d], %rd4; st.param.b32 [v], 258; st.param.b64 [n], 6; st.param.b64 [t], 0; call.uni (e), __cudaCDP2MemsetAsync, (d, v, n, t); }';
  const copy =
    '{ .param .b64 d; .param .b64 s; .param .b64 n; .param .b32 k; .param .b64 t; .param .b32 e; add.u64 %rd5, %rd1, 160; st.param.b64 [d], %rd5; st.param.b64 [s], %rd4; st.param.b64 [n], 12; st.param.b32 [k], 3; st.param.b64 [t], 0; call.uni (e), __cudaCDP2MemcpyAsync, (d, s, n, k, t); }';
  const { metallib, said } = compiled(head + runtime + more + log + entry('k', `${fill}\n${copy}\n${logs(5)}`));
  assert.equal(said, []);
  const found = await run(metallib, {});
  assert.equal(found.slice(0, 3), [1, 5, 0]);
  assert.equal(found.slice(32, 35), [0x02020202, 0x0202, 0]);
  assert.equal(found.slice(40, 43), [0x02020202, 0x0202, 0]);
});

test('a kernel that is chosen by name is compiled with those that it launches', () => {
  const { metallib } = compiled(head + runtime + log + entry('k', logs(1)) + entry('other', 'st.global.u32 [%rd1], 1;'), {
    entries: ['k'],
  });
  const device = openCpuDevice({ threads: 1 });
  assert.equal(
    device.load(metallib, new Diagnostics())!.kernels.map(({ name }) => name),
    ['log', 'k'],
  );
  device.close();
});

test('faults: of what is launched, of no kernel, and of too many launches', async () => {
  const bad = '.visible .entry bad(.param .u64 out) { trap; }\n';
  const children = compiled(head + runtime + bad + entry('k', launch('bad', passed))).metallib;
  assert.match(String(await run(children, {})), /CM6014 kernel `bad` stopped itself/);
  const none = compiled(head + runtime + log + entry('k', `mov.u64 %rd7, 77; ${launch('%rd7', passed)}`)).metallib;
  assert.match(String(await run(none, {})), /`launch of a kernel of this module` failed/);
  const many = entry('k', `mov.u32 %r3, 0; LOOP: ${logs(1)} add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 131072; @%p1 bra LOOP;`);
  assert.match(String(await run(compiled(head + runtime + log + many).metallib, {})), /`memory for one more launch` failed/);
});

test('a library for Apple GPUs notes its launches as well', async () => {
  const { metallib, said } = compiled(textOf('cdp.ptx'), { target: 'macos15' });
  assert.equal(said, []);
  for (const [name, choice] of programs) assert.equal(await run(metallib, choice), recorded.get(name), name);
});

test('numbers of kernels are no addresses, and apart', () => {
  const numbers = ['a', 'b', '_Z6parentPii', ''].map(entryNumber);
  assert.is(new Set(numbers).size, 4);
  for (const number of numbers) assert.is(number >> 59n, 1n);
});

test.run();
