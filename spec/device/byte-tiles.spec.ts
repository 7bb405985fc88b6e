/**
 * Tiles of bytes and small floats (`ldmatrix`, `stmatrix`), and tensor copies to several blocks of a cluster, against loops over elements: which row
 * and column each byte of a register is of. Source: PTX ISA 9.0, 9.7.14.5.15, 9.7.14.5.16 and 9.7.9.25.5.2; the order in transposed registers is that of
 * CUTLASS's `SM100_U8x8_LDSM_T` and `SM100_U8x4_STSM_T`.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { encodeTiled } from '../../src/device/tensor-maps.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('device/byte-tiles');

const metallibOf = (text: string): Uint8Array => {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  return compiled.metallib;
};

let seed = 5;
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed >>> 24;
};
const bytes = Uint8Array.from({ length: 1024 }, random);

/** Row n is at 16 (7 n mod 64). Every thread has the address of the row of its number. */
const rowAt = (n: number): number => 16 * ((7 * n) % 64);
const registers = (count: number): string => Array.from({ length: count }, (_, i) => `%d${i}`).join(', ');
const kernel = (body: string): string =>
  `.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {
.reg .b32 %d<4>, t, a, i, x; .reg .b64 out, in; .reg .pred p;
.shared .align 16 .b8 data[1024];
ld.param.u64 in, [p0]; ld.param.u64 out, [p1]; cvta.to.global.u64 in, in; cvta.to.global.u64 out, out;
mov.u32 t, %tid.x; mul.wide.u32 %rd, t, 16; add.u64 out, out, %rd; mul.wide.u32 %rd, t, 32; add.u64 in, in, %rd;
mov.u32 a, data; mad.lo.u32 a, t, 32, a;
${Array.from({ length: 8 }, (_, i) => `ld.global.u32 x, [in+${4 * i}]; st.shared.u32 [a+${4 * i}], x;`).join('\n')}
bar.sync 0;
mul.lo.u32 a, t, 112; and.b32 a, a, 1023; mov.u32 i, data; add.u32 a, a, i;
${body}
ret; }`.replace('.reg .pred p;', '.reg .pred p; .reg .b64 %rd;');

/** An element of a row in shared memory. */
function element(row: number, column: number, form: string): number {
  const at = rowAt(row);
  if (form === 'b8') return bytes[at + column]!;
  const bits = form === 'b4x16_p64' ? 4 : 6;
  let value = 0;
  for (let bit = 0; bit < bits; bit++) {
    const place = column * bits + bit;
    value |= ((bytes[at + (place >> 3)]! >> (place & 7)) & 1) << bit;
  }
  return value;
}

const wordsOf = (made: Uint8Array): Uint32Array => new Uint32Array(made.buffer, made.byteOffset, made.length / 4);

function load(form: string, count: number): Uint32Array {
  const body = `${form} {${registers(count)}}, [a];\n${Array.from({ length: count }, (_, i) => `st.global.u32 [out+${4 * i}], %d${i};`).join('\n')}`;
  return wordsOf(launchMetallib(metallibOf(kernel(body)), { kernel: 'k', blocks: 1, threads: 32, args: [bytes, new Uint8Array(512)] })[1]!);
}

test('tiles of eight rows', () => {
  for (const form of ['b6x16_p32', 'b4x16_p64'])
    for (const count of [1, 4]) {
      const got = load(`ldmatrix.sync.aligned.m8n16.x${count}.shared.b8x16.${form}`, count);
      for (let thread = 0; thread < 32; thread++)
        for (let i = 0; i < count; i++)
          for (let part = 0; part < 4; part++) {
            const wanted = element(8 * i + (thread >> 2), 4 * (thread & 3) + part, form);
            assert.is((got[4 * thread + i]! >> (8 * part)) & 255, wanted, `${form} x${count} ${thread} ${i} ${part}`);
          }
    }
});

test('tiles of sixteen rows, transposed', () => {
  for (const form of ['b8', 'b6x16_p32', 'b4x16_p64'])
    for (const count of [1, 2]) {
      const name = form === 'b8' ? 'b8' : `b8x16.${form}`;
      const got = load(`ldmatrix.sync.aligned.m16n16.x${count}.trans.shared.${name}`, 2 * count);
      for (let thread = 0; thread < 32; thread++)
        for (let i = 0; i < 2 * count; i++)
          for (let part = 0; part < 4; part++) {
            const row = 16 * (i >> 1) + 4 * (thread & 3) + 2 * (i & 1) + (part & 1);
            const wanted = element(row, (thread >> 2) + 8 * (part >> 1), form);
            assert.is((got[4 * thread + i]! >> (8 * part)) & 255, wanted, `${form} x${count} ${thread} ${i} ${part}`);
          }
    }
});

test('stores of tiles, transposed', () => {
  for (const count of [1, 2, 4]) {
    const values = Array.from({ length: count }, (_, i) => `mad.lo.u32 %d${i}, t, 0x01020304, ${(0x51_00_33_00 + 0x11 * i) >>> 0};`).join(
      '\n',
    );
    const back = Array.from({ length: 4 }, (_, i) => `ld.shared.u32 x, [a+${4 * i}]; st.global.u32 [out+${4 * i}], x;`).join('\n');
    const body = `${values}\nstmatrix.sync.aligned.m16n8.x${count}.trans.shared.b8 [a], {${registers(count)}};\nbar.sync 0;\n${back}`;
    const [, made] = launchMetallib(metallibOf(kernel(body)), { kernel: 'k', blocks: 1, threads: 32, args: [bytes, new Uint8Array(512)] });
    const wanted = Uint8Array.from({ length: 512 }, (_, at) => bytes[rowAt(at >> 4) + (at & 15)]!);
    for (let thread = 0; thread < 32; thread++)
      for (let i = 0; i < count; i++)
        for (let part = 0; part < 4; part++) {
          const value = (Math.imul(thread, 0x01020304) + 0x51_00_33_00 + 0x11 * i) >>> 0;
          wanted[16 * (8 * i + 2 * (thread & 3) + (part & 1)) + (thread >> 2) + 8 * (part >> 1)] = value >>> (8 * part);
        }
    assert.equal([...made!], [...wanted], `x${count}`);
  }
});

/** Each block of a cluster of four waits for 256 bytes and writes its memory; block 1 copies to those of a mask. */
const copies = (form: string, operands: string, setup: string): string => `.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p0, .param .align 64 .b8 p1[128], .param .u64 p2) {
.reg .b32 t, rank, a, b, far; .reg .b64 out, map, o; .reg .pred p, q; .reg .b16 mask;
.shared .align 1024 .b8 data[1024]; .shared .align 8 .b64 bar;
ld.param.u64 out, [p0]; mov.b64 map, p1; cvta.param.u64 map, map; mov.u32 t, %tid.x; mov.u32 rank, %cluster_ctarank;
mov.u32 a, data; mad.lo.u32 b, t, 4, a; st.shared.u32 [b], 0;
setp.eq.u32 p, t, 0;
@p mbarrier.init.shared.b64 [bar], 1;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive; barrier.cluster.wait;
@p mbarrier.arrive.expect_tx.shared.b64 _, [bar], ${form.includes('::2') ? 'EXPECTED' : '256'};
setp.eq.and.u32 q, rank, 1, p; mov.b16 mask, 0b1101;
mov.u32 far, bar; ${setup}
@q ${form} ${operands};
setp.eq.u32 q, rank, 1; @q bra SKIP;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [bar], 0; @!p bra WAIT;
SKIP: barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 a, %ctaid.x; mad.lo.u32 a, a, 64, t; mul.wide.u32 o, a, 4; add.u64 o, o, out; ld.shared.u32 b, [b]; st.global.u32 [o], b;
ret; }`;

test('a tensor copy to several blocks', () => {
  const device = openCpuDevice({ threads: 1 });
  const diagnostics = new Diagnostics();
  const signal = 'mbarrier::complete_tx::bytes';
  const tensor = device.allocate(4096, diagnostics)!;
  const values = Uint32Array.from({ length: 1024 }, (_, i) => i * 3 + 1);
  tensor.write(new Uint8Array(values.buffer));
  const shape = { type: 'u32', dims: [32, 32], strides: [128], box: [8, 8], swizzle: 32, fill: 'zero' } as const;
  const map = encodeTiled({ ...shape, address: tensor.deviceAddress()! });
  assert.ok('bytes' in map);
  const run = (text: string): Uint32Array => {
    const out = device.allocate(4 * 4 * 64, diagnostics)!;
    const module = device.load(metallibOf(text), diagnostics)!;
    const args = [
      { kind: 'buffer' as const, buffer: out },
      { kind: 'bytes' as const, bytes: map.bytes },
      { kind: 'buffer' as const, buffer: tensor },
    ];
    module.launch(
      { kernel: 'k', grid: [4, 1, 1], block: [64, 1, 1], cluster: [4, 1, 1], dynamicSharedBytes: 0, timeoutMs: 20_000, args },
      diagnostics,
    );
    assert.equal(
      diagnostics.list.map(({ message }) => message),
      [],
    );
    return wordsOf(out.read());
  };
  /** Unit u of 16 bytes of row y lies where the swizzle of 32 bytes puts it. */
  const wanted = (rank: number, at: number): number => {
    if (rank === 1) return 0;
    const unit = (at >> 2) ^ ((at >> 5) & 1);
    return values[32 * (4 + (unit >> 1)) + 8 + 4 * (unit & 1) + (at & 3)]!;
  };
  const all = Array.from({ length: 256 }, (_, i) => wanted(i >> 6, i & 63));
  const form = `cp.async.bulk.tensor.2d.shared::cluster.global.tile.${signal}.multicast::cluster`;
  assert.equal([...run(copies(form, '[data], [map, {8, 4}], [bar], mask', ''))], all);
  // By pairs: the barriers of blocks 0 and 2 learn of the bytes of their pairs, since the named barrier is that of an even block.
  const pairs = copies(`${form}.cta_group::2`, '[data], [map, {8, 4}], [far], mask', 'mapa.shared::cluster.u32 far, far, 0;')
    .replace('EXPECTED', 'a')
    .replace('@p mbarrier.arrive.expect_tx', 'shl.b32 a, rank, 7; and.b32 a, a, 256; add.u32 a, a, 256; @p mbarrier.arrive.expect_tx')
    .replace('setp.eq.u32 q, rank, 1; @q bra SKIP;', 'and.b32 a, rank, 1; setp.eq.u32 q, a, 1; @q bra SKIP;');
  assert.equal([...run(pairs)], all);
  device.close();
});

test.run();
