/**
 * `.const` variables that the host writes, and addresses in initial values, end to end. Expected results are worked out by
 * hand from PTX ISA 9.0, 5.1.3 (constants), 5.4.4 (initializers) and 9.7.9.19 (`isspacep`).
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type DeviceModule, openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/written-constants');
const head = '.version 9.0\n.target sm_90\n.address_size 64\n';

interface Loaded {
  readonly module: DeviceModule;
  write(name: string, bytes: ArrayBufferView): void;
  /** The words that one thread stores. */
  run(count: number, index?: number): number[];
}

function loaded(source: string): Loaded {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', head + source));
  const compiled = compile(diagnostics.file!, {}, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const device = openCpuDevice();
  const module = device.load(compiled.metallib, diagnostics)!;
  assert.ok(module, diagnostics.list.map((d) => d.message).join('; '));
  const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 1000 } as const;
  return {
    module,
    write(name, { buffer, byteOffset, byteLength }) {
      module.symbols.find((symbol) => symbol.name === name)!.write(new Uint8Array(buffer, byteOffset, byteLength));
    },
    run(count, index = 0) {
      const buffer = device.allocate(4 * count, diagnostics)!;
      buffer.write(new Uint8Array(4 * count).fill(0xa5));
      const bytes = new Uint8Array(Uint32Array.of(index).buffer);
      const args = [{ kind: 'buffer', buffer } as const, { kind: 'bytes', bytes } as const];
      assert.ok(module.launch({ kernel: 'form', ...shape, args }, diagnostics), diagnostics.list.map((d) => d.message).join('; '));
      return [...new Uint32Array(buffer.read().buffer)];
    },
  };
}

function faultOf(source: string): string {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', head + source));
  assert.is(compile(diagnostics.file!, {}, diagnostics), undefined);
  return diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; ');
}

const bits = (x: number): number => new Uint32Array(Float32Array.of(x).buffer)[0]!;
const start = (declared: string): string => `${declared}
.visible .entry form(.param .u64 pout, .param .u32 pi)
{
  .reg .u64 o, a, b; .reg .u32 i, x; .reg .f32 f; .reg .pred p, q;
  ld.param.u64 o, [pout];
  ld.param.u32 i, [pi];
`;

const weights = `${start('.const .align 16 .f32 w[4];\n.const .u32 k = 7;\n.global .u32 g = 9;')}
  mul.wide.u32 a, i, 4;
  mov.u64 b, w;
  add.u64 b, b, a;
  ld.const.f32 f, [b];
  st.global.f32 [o], f;
  ld.const.u32 x, [k];
  st.global.u32 [o+4], x;
  cvta.const.u64 b, b;
  ld.f32 f, [b];
  st.global.f32 [o+8], f;
  cvta.to.const.u64 b, b;
  ld.const.f32 f, [b];
  st.global.f32 [o+12], f;
  ld.const.v2.f32 {f, _}, [w+8];
  st.global.f32 [o+16], f;
  ld.global.u32 x, [g];
  st.global.u32 [o+20], x;
  ret;
}
`;

test('a constant without an initial value is 0 until the host writes it', () => {
  const { write, run } = loaded(weights);
  assert.equal(run(6, 1), [0, 7, 0, 0, 0, 9]);
  write('w', Float32Array.of(1.5, 2.5, 3.5, 4.5));
  assert.equal(run(6, 1), [bits(2.5), 7, bits(2.5), bits(2.5), bits(3.5), 9]);
  assert.equal(run(6, 3), [bits(4.5), 7, bits(4.5), bits(4.5), bits(3.5), 9]);
});

test('then the host can write the other constants of the module too', () => {
  const { module, write, run } = loaded(weights);
  assert.equal(
    module.symbols.map(({ name, size }) => `${name} ${size}`),
    ['g 4', 'w 16', 'k 4'],
  );
  write('k', Uint32Array.of(70));
  write('g', Uint32Array.of(90));
  assert.equal(run(6), [0, 70, 0, 0, 0, 90]);
});

const table = (linkage: string): string => `${start(`${linkage}.const .u32 t[2] = {5, 6};`)}
  ld.const.u32 x, [t+4];
  st.global.u32 [o], x;
  ret;
}
`;

test('initialized constants that no other module sees are private to the kernel', () => {
  const own = loaded(table(''));
  assert.equal(own.module.symbols, []);
  assert.equal(own.run(1), [6]);
  for (const linkage of ['.visible ', '.weak ']) {
    const { write, run } = loaded(table(linkage));
    assert.equal(run(1), [6]);
    write('t', Uint32Array.of(1, 2));
    assert.equal(run(1), [2]);
  }
});

test('generic addresses of constants are in the constant space only', () => {
  const { run } = loaded(`${start('.const .u32 before = 3;\n.const .u32 w[4];\n.global .u32 g;')}
  mov.u64 a, w;
  cvta.const.u64 a, a;
  isspacep.const p, a;
  isspacep.global q, a;
  selp.u32 x, 1, 0, p;
  @q add.u32 x, x, 2;
  st.global.u32 [o], x;
  mov.u64 a, g;
  cvta.global.u64 a, a;
  isspacep.const p, a;
  isspacep.global q, a;
  selp.u32 x, 1, 0, p;
  @q add.u32 x, x, 2;
  st.global.u32 [o+4], x;
  isspacep.const p, o;
  isspacep.global q, o;
  selp.u32 x, 1, 0, p;
  @q add.u32 x, x, 2;
  st.global.u32 [o+8], x;
  mov.u64 a, before;
  cvta.const.u64 a, a;
  isspacep.const p, a;
  isspacep.shared q, a;
  selp.u32 x, 1, 0, p;
  @q add.u32 x, x, 2;
  st.global.u32 [o+12], x;
  ret;
}
`);
  assert.equal(run(4), [1, 2, 2, 1]);
});

test('global memory is not read as constant memory, nor the reverse', () => {
  assert.match(faultOf(weights.replace('ld.const.u32 x, [k]', 'ld.global.u32 x, [k]')), /CM1118 `k` is in `.const` memory/);
  assert.match(faultOf(weights.replace('ld.global.u32 x, [g]', 'ld.const.u32 x, [g]')), /CM1118 `g` is in `.global` memory/);
});

const pointers = `${start(`.global .u32 g[4] = {10, 11, 12, 13};
.const .u32 c[2] = {20, 21};
.global .u64 list[5] = {generic(g), g+4, generic(g)+8, generic(c)+4, 30};
.global .align 8 .u8 packed[16] = {1, 0, 0, 0, 0, 0, 0, 0,
  0xff(generic(g)+12), 0xff00(generic(g)+12), 0xff0000(generic(g)+12), 0xff000000(generic(g)+12),
  0xff00000000(generic(g)+12), 0xff0000000000(generic(g)+12), 0xff000000000000(generic(g)+12), 0xff00000000000000(generic(g)+12)};
.const .u64 first = g;`)}
  mul.wide.u32 a, i, 8;
  mov.u64 b, list;
  add.u64 b, b, a;
  ld.global.u64 a, [b];
  ld.u32 x, [a];
  st.global.u32 [o], x;
  ld.global.u64 a, [packed+8];
  ld.u32 x, [a];
  st.global.u32 [o+4], x;
  ld.const.u64 a, [first];
  ld.global.u32 x, [a];
  st.global.u32 [o+8], x;
  ret;
}
`;

test('initial values hold addresses of other variables', () => {
  const { run, write } = loaded(pointers);
  assert.equal(
    [0, 1, 2, 3].map((i) => run(3, i)),
    [10, 11, 12, 21].map((first) => [first, 13, 10]),
  );
  write('g', Uint32Array.of(50, 51, 52, 53));
  assert.equal(run(3, 2), [52, 53, 50]);
});

test('addresses in fields of less than 64 bits, and of other state spaces, are refused', () => {
  const with_ = (declared: string): string => `${start(`.global .u32 g[4];\n${declared}`)} mov.u64 a, v; st.global.u64 [o], a; ret;\n}\n`;
  for (const declared of [
    '.global .u32 v = g;',
    '.global .b8 v[2] = {0xff(g), 0xff00(g)};',
    '.global .align 8 .b8 v[8] = {0xff00(g), 0xff(g), 0xff0000(g), 0xff000000(g), 0, 0, 0, 0};',
    '.global .u64 v = g+17;',
    '.global .u64 v = g-4;',
  ])
    assert.match(faultOf(with_(declared)), /^CM2043 .*address/);
});

test.run();
