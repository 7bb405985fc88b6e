/**
 * `.global` variables of a module, end to end: initial values, sharing between kernels, lifetime across launches, and symbols
 * that the host writes. Expected results are worked out by hand.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type DeviceModule, openCpuDevice } from '../../src/device/index.ts';
import { launch } from '../../src/runtime/index.ts';

const test = suite('device/module-memory');

const head = '.version 9.0\n.target sm_90\n.address_size 64\n';
const text = `${head}
.global .align 1 .b8 tag = 7;
.visible .global .align 8 .u64 wide = 0x1122334455667788;
.global .align 8 .f32 table[3] = {1.0, 2.5};
.global .u32 count;
.visible .entry bump(.param .u32 by)
{
  .reg .b32 d, x;
  ld.param.u32 x, [by];
  atom.global.add.u32 d, [count], x;
  ret;
}
.visible .entry show(.param .u64 out)
{
  .reg .b16 t;
  .reg .b32 x;
  .reg .b64 p, q, w;
  .reg .f32 f<3>;
  ld.param.u64 p, [out];
  ld.global.u8 t, [tag];
  cvt.u32.u16 x, t;
  st.global.u32 [p], x;
  ld.global.u32 x, [wide+4];
  st.global.u32 [p+4], x;
  mov.u64 q, table;
  ld.global.v2.f32 {f1, f0}, [q];
  ld.global.f32 f1, [q+8];
  st.global.f32 [p+8], f0;
  st.global.f32 [p+12], f1;
  cvta.global.u64 q, q;
  ld.f32 f2, [q];
  st.global.f32 [p+16], f2;
  ld.u32 x, [count];
  st.global.u32 [p+20], x;
  ret;
}
`;

function loaded(source: string): { module: DeviceModule; show: () => Uint32Array; bump: (by: number) => void } {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', source));
  const compiled = compile(diagnostics.file!, {}, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const device = openCpuDevice();
  const module = device.load(compiled.metallib, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 1000 } as const;
  return {
    module,
    show() {
      const buffer = device.allocate(24, diagnostics)!;
      buffer.write(new Uint8Array(24).fill(0xa5));
      assert.ok(module.launch({ kernel: 'show', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics));
      return new Uint32Array(buffer.read().buffer);
    },
    bump(by) {
      const bytes = new Uint8Array(Uint32Array.of(by).buffer);
      assert.ok(module.launch({ kernel: 'bump', ...shape, args: [{ kind: 'bytes', bytes }] }, diagnostics));
    },
  };
}

const bits = (x: number): number => new Uint32Array(Float32Array.of(x).buffer)[0]!;

test('initial values, and zeros without one', () => {
  assert.equal([...loaded(text).show()], [7, 0x11223344, bits(2.5), 0, bits(1), 0]);
});

test('variables keep their values across kernels, and another module starts with the initial values', () => {
  const first = loaded(text);
  first.bump(3);
  first.bump(40);
  assert.is(first.show()[5], 43);
  assert.is(loaded(text).show()[5], 0);
});

test('the host writes and reads symbols by name', () => {
  const { module, show, bump } = loaded(text);
  const named = (name: string) => module.symbols.find((symbol) => symbol.name === name)!;
  assert.equal(
    module.symbols.map(({ name, size }) => [name, size]),
    [
      ['tag', 1],
      ['wide', 8],
      ['table', 12],
      ['count', 4],
    ],
  );
  named('table').write(new Uint8Array(Float32Array.of(9).buffer), 4);
  named('count').write(new Uint8Array(Uint32Array.of(100).buffer));
  bump(1);
  assert.equal([...show()], [7, 0x11223344, bits(9), 0, bits(1), 101]);
  assert.equal([...new Uint32Array(named('count').read().buffer)], [101]);
});

test('a launch writes symbols from files, also before each repetition', () => {
  const { module, show } = loaded(text);
  const diagnostics = new Diagnostics();
  const files: Record<string, Uint8Array> = { 'count.bin': new Uint8Array(Uint32Array.of(10).buffer), 'short.bin': new Uint8Array(3) };
  const io = { readFile: (path: string) => files[path] ?? { why: 'no such file' }, writeFile: () => undefined };
  const plan = { kernel: 'bump', sharedBytes: 0, args: [{ label: 'u32=5', kind: 'scalar', element: 'u32', value: 5n }] } as const;
  const options = { repeat: 3, timeoutMs: 0 };
  const one = { grid: [1, 1, 1], block: [1, 1, 1] } as const;
  const run = (name: string, path: string) =>
    launch(openCpuDevice(), module, { ...plan, ...one, constants: [{ name, path }] }, options, { io, diagnostics });
  assert.ok(run('count', 'count.bin'), diagnostics.list.map((d) => d.message).join('; '));
  assert.is(show()[5], 15);
  assert.is(run('count', 'short.bin'), undefined);
  assert.is(run('cuont', 'count.bin'), undefined);
  assert.equal(
    diagnostics.list.map(({ code, message }) => `${code} ${message}`),
    ['CM5025 symbol `count` has 4 bytes, but `short.bin` has 3', 'CM5023 the module has no writable symbol `cuont`'],
  );
});

test('an initial value that has no address in memory is refused where the variable is used', () => {
  const source = new SourceFile(
    'k.ptx',
    `${head}.global .u32 x;\n.global .u32 p = x;\n.visible .entry k() { .reg .b32 r; ld.global.u32 r, [p]; ret; }`,
  );
  const diagnostics = new Diagnostics(source);
  assert.is(compile(source, {}, diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM2043'],
  );
});

test.run();
