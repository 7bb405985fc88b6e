/** The heap of kernels: what `malloc` gives never overlaps, is aligned, and comes back. Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation". */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { withHeap } from '../../src/compile/heap.ts';
import { compile } from '../../src/compile/index.ts';
import type { DeviceModule } from '../../src/device/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { root } from '../support/examples.ts';

const test = suite('compile/heap');

const declared = `.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
`;
const head = '.version 6.0\n.target sm_50\n.address_size 64\n';
/** Each thread allocates `size` bytes and a number of its own, and writes where; or frees what it has. */
const text = `${head}${declared}.visible .entry take(.param .u64 out, .param .u32 size, .param .u32 step)
{
  .reg .b64 %d<9>; .reg .b32 %r<9>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r2, [size]; ld.param.u32 %r4, [step];
  mov.u32 %r1, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r1, %r1, %r5, %r6;
  mad.lo.u32 %r2, %r1, %r4, %r2; cvt.u64.u32 %d2, %r2;
  { .param .b64 p0; .param .b64 q0; st.param.b64 [p0], %d2; call (q0), malloc, (p0); ld.param.b64 %d3, [q0]; }
  mul.wide.u32 %d4, %r1, 8; add.u64 %d1, %d1, %d4; st.global.u64 [%d1], %d3;
  ret;
}
.visible .entry give(.param .u64 out, .param .u32 size, .param .u32 step)
{
  .reg .b64 %d<9>; .reg .b32 %r<9>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r1, %r1, %r5, %r6;
  mul.wide.u32 %d4, %r1, 8; add.u64 %d1, %d1, %d4; ld.global.u64 %d3, [%d1];
  { .param .b64 p0; st.param.b64 [p0], %d3; call free, (p0); }
  ret;
}
`;

function rig(threads = 1) {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  const device = openCpuDevice({ threads });
  const module: DeviceModule = device.load(compiled.metallib, diagnostics)!;
  const codes = (): string[] => diagnostics.list.splice(0).map(({ code, message }) => `${code} ${message}`);
  return {
    codes,
    /** Launches a kernel; gives the pointers as they are then. */
    launch(kernel: 'take' | 'give', pointers: readonly bigint[], { size = 0, step = 0, heapBytes = 1 << 20, blocks = 1 } = {}): bigint[] {
      const buffer = device.allocate(8 * pointers.length, diagnostics)!;
      buffer.write(new Uint8Array(BigUint64Array.from(pointers).buffer));
      const word = (value: number) => ({ kind: 'bytes', bytes: new Uint8Array(Uint32Array.of(value).buffer) }) as const;
      const args = [{ kind: 'buffer', buffer }, word(size), word(step)] as const;
      const shape = { grid: [blocks, 1, 1], block: [pointers.length / blocks, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
      module.launch({ kernel, ...shape, args, heapBytes }, diagnostics);
      const after = [...new BigUint64Array(buffer.read().buffer)];
      buffer.free();
      return after;
    },
  };
}

const none = (count: number): bigint[] => Array<bigint>(count).fill(0n);

/** Whether the blocks lie apart, each at a multiple of 16. */
function assertApart(pointers: readonly bigint[], sizes: readonly number[]): void {
  const spans = pointers.map((at, i) => ({ at, end: at + BigInt(sizes[i]!) })).sort((a, b) => (a.at < b.at ? -1 : 1));
  assert.ok(spans.every(({ at }) => at > 0n && at % 16n === 0n));
  for (let i = 1; i < spans.length; i++) assert.ok(spans[i - 1]!.end <= spans[i]!.at, `${i}`);
}

for (const threads of [1, 4])
  test(`blocks of memory lie apart, on ${threads} of the machine's threads`, () => {
    const { launch, codes } = rig(threads);
    const [a, b] = [launch('take', none(96), { size: 5, step: 7, blocks: 3 }), launch('take', none(64), { size: 100 })];
    const sizes = [...a.map((_, i) => 5 + 7 * i), ...b.map(() => 100)];
    assertApart([...a, ...b], sizes);
    // What the odd threads free is given again.
    launch(
      'give',
      a.map((at, i) => (i % 2 ? at : 0n)),
    );
    const c = launch('take', none(48), { size: 3 });
    const kept = a.flatMap((at, i) => (i % 2 ? [] : [{ at, size: sizes[i]! }]));
    assertApart([...kept.map(({ at }) => at), ...b, ...c], [...kept.map(({ size }) => size), ...b.map(() => 100), ...c.map(() => 3)]);
    assert.equal(codes(), []);
  });

test('a heap that is used up gives null, and all of it again once it is freed', () => {
  const { launch, codes } = rig();
  const heapBytes = 1 << 16;
  for (let round = 0; round < 5; round++) {
    const all = launch('take', none(64), { size: 4000, heapBytes });
    const found = all.filter((at) => at !== 0n);
    // Each takes its 4000 bytes and a head of 16.
    assert.is(found.length, Math.floor((heapBytes - 32) / 4016));
    assert.equal(launch('take', none(1), { size: 60_000, heapBytes }), [0n]);
    launch('give', all, { heapBytes });
    const [whole] = launch('take', none(1), { size: heapBytes - 48, heapBytes });
    assert.ok(whole! > 0n);
    launch('give', [whole!], { heapBytes });
  }
  assert.equal(launch('take', none(1), { size: heapBytes - 47 + 16, heapBytes }), [0n]);
  assert.equal(codes(), []);
});

test('CM6014: what is freed was given, and is not free', () => {
  for (const change of [(at: bigint) => at + 16n, (at: bigint) => at + 4n, () => 4096n, () => 2n ** 40n]) {
    const { launch, codes } = rig();
    const [at] = launch('take', none(1), { size: 64 });
    launch('give', [change(at!)]);
    assert.match(codes().join(), /^CM6014 .*`free of a pointer that malloc has given` failed/);
    launch('give', [at!]);
    assert.equal(codes(), []);
    launch('give', [at!]);
    assert.match(codes().join(), /^CM6014/);
    launch('give', [0n]);
    assert.equal(codes(), []);
  }
});

test('the places of the source stay, and nothing is said of the functions behind it', () => {
  const source = new SourceFile('k.ptx', text);
  const whole = withHeap(source);
  assert.is(whole.text.slice(0, text.length), text.replaceAll('.extern .func', '        .func'));
  const diagnostics = new Diagnostics(source);
  compile(source, { target: 'cpu', lints: true }, diagnostics);
  assert.equal(
    diagnostics.list.filter(({ labels }) => labels.some(({ span }) => span.start >= text.length)),
    [],
  );
  const own = new SourceFile('k.ptx', `${head}.func (.param .b64 r) malloc (.param .b64 n) { ret; }\n`);
  assert.is(withHeap(own), own);
});

test('CM2090: a heap needs fences, which macOS has from 15 on', () => {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  assert.is(compile(diagnostics.file!, { target: 'macos14' }, diagnostics), undefined);
  assert.match(diagnostics.list[0]!.message, /fence/);
});

test('PTX of nvcc with `new` and `delete` compiles', () => {
  const diagnostics = new Diagnostics(new SourceFile('heap.ptx', readFileSync(join(root, 'fixtures/linking/heap.ptx'), 'utf8')));
  assert.ok(compile(diagnostics.file!, { target: 'cpu' }, diagnostics), diagnostics.list.map(({ message }) => message).join('; '));
});

test.run();
