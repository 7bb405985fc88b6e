/**
 * Clusters of blocks, in PTX of nvcc (`fixtures/clusters`) and PTX by hand, against what the manual says each value is. Source: PTX ISA 9.0, 9.7.9.22,
 * 9.7.9.23, 9.7.13.3 and 10; CUDA C++ Programming Guide, "Thread Block Clusters".
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type Dim3, openCpuDevice } from '../../src/device/index.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { readLaunchFile } from '../../src/runtime/launch-file.ts';
import { root } from '../support/examples.ts';

const test = suite('device/clusters');

const product = ([x, y, z]: Dim3): number => x * y * z;

/** A device with the kernels of a text. */
function loaded(text: string, threads = 1) {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  const device = openCpuDevice({ threads });
  const module = device.load(compiled.metallib, diagnostics)!;
  interface Shape {
    readonly grid: Dim3;
    readonly block: number;
    readonly cluster?: Dim3;
    readonly shared?: number;
  }
  /** The words that a kernel writes, or the codes of what is reported. */
  const launch = (name: string, words: number, { grid, block, cluster, shared = 0 }: Shape, more: readonly number[] = []) => {
    const out = device.allocate(4 * words, diagnostics)!;
    const args = [
      { kind: 'buffer' as const, buffer: out },
      ...more.map((n) => ({ kind: 'bytes' as const, bytes: new Uint8Array(Int32Array.of(n).buffer) })),
    ];
    const shape = { grid, block: [block, 1, 1] as const, dynamicSharedBytes: shared, timeoutMs: 60_000 };
    module.launch({ kernel: name, ...shape, ...(cluster ? { cluster } : {}), args }, diagnostics);
    const codes = diagnostics.list.splice(0).map(({ code }) => code);
    const written = [...new Uint32Array(out.read().buffer)];
    out.free();
    return codes.length > 0 ? codes : written;
  };
  return { launch };
}

const text = readFileSync(join(root, 'fixtures/clusters/clusters.ptx'), 'utf8');
const one = loaded(text);
const three = loaded(text, 3);

/** The blocks of a grid in their order, with their place in clusters. */
function blocksOf(grid: Dim3, cluster: Dim3) {
  return Array.from({ length: product(grid) }, (_, number) => {
    const at = [number % grid[0], Math.floor(number / grid[0]) % grid[1], Math.floor(number / (grid[0] * grid[1]))] as const;
    const inside = at.map((n, axis) => n % cluster[axis]!) as unknown as Dim3;
    const outside = at.map((n, axis) => Math.floor(n / cluster[axis]!)) as unknown as Dim3;
    const rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2]);
    return { number, inside, outside, rank };
  });
}

type Block = ReturnType<typeof blocksOf>[number];
/** The block of a rank in the cluster of another one. */
const peer = (blocks: readonly Block[], of: Block, rank: number): Block =>
  blocks.find((each) => each.rank === rank && each.outside.join() === of.outside.join())!;

test('special registers', () => {
  const shapes: readonly (readonly [Dim3, Dim3 | undefined])[] = [
    [
      [4, 4, 2],
      [2, 2, 1],
    ],
    [
      [6, 2, 4],
      [3, 1, 2],
    ],
    [
      [16, 1, 1],
      [16, 1, 1],
    ],
    [[3, 2, 1], undefined],
    [
      [3, 2, 1],
      [1, 1, 1],
    ],
  ];
  for (const [grid, given] of shapes) {
    const cluster = given ?? [1, 1, 1];
    const wanted = blocksOf(grid, cluster).map(({ inside, outside, rank }) => [
      ...[...inside, ...cluster, ...outside, ...grid.map((n, axis) => n / cluster[axis]!)],
      ...[rank, product(cluster), given ? 1 : 0, 0x77],
    ]);
    const found = one.launch('registers', 24 * product(grid), { grid, block: 32, ...(given ? { cluster: given } : {}) }) as number[];
    assert.equal(
      wanted.map((_, i) => found.slice(24 * i, 24 * i + 16)),
      wanted,
      grid.join(),
    );
  }
});

test('each block reads what the others of its cluster have, and adds to that of its neighbour', () => {
  const n = 100;
  const shapes: readonly (readonly [Dim3, number, Dim3])[] = [
    [[8, 1, 1], 64, [4, 1, 1]],
    [[4, 4, 1], 40, [2, 2, 1]],
    [[48, 1, 1], 96, [8, 1, 1]],
  ];
  for (const [grid, block, cluster] of shapes) {
    const blocks = blocksOf(grid, cluster);
    const wanted = blocks.flatMap((own) =>
      Array.from({ length: block }, (_, thread) => {
        let sum = 0;
        for (let rank = 0; rank < product(cluster); rank++)
          for (let i = thread; i < n; i += block) sum = (Math.imul(sum, 3) + peer(blocks, own, rank).number * 1000 + i) >>> 0;
        return (sum + (block * (block + 1)) / 2) >>> 0;
      }),
    );
    for (const device of [one, three])
      assert.equal(device.launch('neighbours', wanted.length, { grid, block, cluster, shared: 4 * n + 4 }, [n]), wanted, grid.join());
  }
});

/** What kernel `accesses` does, on bytes. */
function accesses(count: number, size: number): number[] {
  const memories = Array.from({ length: count }, (_, b) => {
    const words = Uint32Array.from({ length: 64 }, (_, i) => (b + 1) * 0x01010101 + i * 0x10203);
    return new DataView(words.buffer);
  });
  const near = (b: number, by: number): DataView => memories[b - (b % size) + ((b + by + size) % size)]!;
  const first = memories.map((_, b) => {
    const far = near(b, 1);
    const word = (at: number): number => far.getUint32(at, true);
    const small = [far.getUint8(3), far.getInt8(41) >>> 0, far.getUint16(6, true)];
    const next = ((b % size) + 1) % size;
    return [
      ...[word(4), word(16), word(20), word(24), word(28), word(32), word(36), ...small, word(8), word(12), word(20)],
      ...[next, next, 1, 0, word(28)],
    ];
  });
  const old = memories.map((_, b) => [160, 164, 168].map((at) => near(b, -1).getUint32(at, true)));
  for (const b of memories.keys()) {
    const to = near(b, -1);
    for (const [i, at] of [128, 136, 140, 144, 148].entries()) to.setUint32(at, b * 7 + 1 + i, true);
    to.setUint8(152, b * 7 + 6);
    to.setUint32(156, to.getUint32(156, true) + 1000, true);
    to.setUint32(160, to.getUint32(160, true) + 5, true);
    to.setUint32(168, 77, true);
    to.setUint32(172, 0, true);
    to.setUint32(176, 0x7fffffff, true);
  }
  const places = [32, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43];
  return memories.flatMap((memory, b) => [...first[b]!, ...old[b]!, ...places.map((i) => memory.getUint32(4 * i, true))]);
}

test('loads, stores and atomics of every kind, and addresses', () => {
  for (const [count, size] of [
    [6, 3],
    [4, 4],
    [2, 1],
  ] as const)
    assert.equal(one.launch('accesses', 32 * count, { grid: [count, 1, 1], block: 64, cluster: [size, 1, 1] }), accesses(count, size));
});

test('barriers do not wait for threads that have ended', () => {
  assert.equal(
    one.launch('early', 12, { grid: [4, 1, 1], block: 64, cluster: [2, 1, 1] }),
    Array.from({ length: 12 }, (_, i) => 96 * ((i % 3) + 1)),
  );
});

test('a kernel with `__cluster_dims__` needs no word of the launch', () => {
  const wanted = Array.from({ length: 8 * 64 }, (_, i) => {
    const [block, thread] = [Math.floor(i / 64), i % 64];
    const first = block - (block % 4);
    const sum = [0, 1, 2, 3].reduce((all, rank) => all * 5 + (first + rank) * 10 + 1, 0);
    return sum + (block % 4) * 64 + thread + 1000 * (block % 4);
  });
  assert.equal(one.launch('fixed4', wanted.length, { grid: [8, 1, 1], block: 64 }), wanted);
  assert.equal(one.launch('fixed4', wanted.length, { grid: [8, 1, 1], block: 64, cluster: [4, 1, 1] }), wanted);
});

test('CM5054: clusters that a grid, a kernel or the device does not have', () => {
  const shapes: readonly (readonly [string, Dim3, Dim3 | undefined])[] = [
    ['registers', [5, 1, 1], [2, 1, 1]],
    ['registers', [4, 3, 1], [2, 2, 1]],
    ['registers', [32, 1, 1], [32, 1, 1]],
    ['registers', [4, 1, 1], [0, 1, 1]],
    ['fixed4', [8, 1, 1], [2, 1, 1]],
    ['fixed4', [6, 1, 1], undefined],
  ];
  for (const [name, grid, cluster] of shapes)
    assert.equal(one.launch(name, 4096, { grid, block: 32, ...(cluster ? { cluster } : {}) }), ['CM5054'], `${name} ${grid} ${cluster}`);
});

const kernel = (body: string, directives = ''): string => `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
${directives}
{
.reg .pred p, q;
.reg .b32 rank, size, a, b, c, d, own, tid;
.reg .b64 o, x, y, z;
.shared .align 16 .b32 mem[8];
ld.param.u64 o, [out];
mov.u32 rank, %cluster_ctarank;
mov.u32 size, %cluster_nctarank;
mov.u32 tid, %tid.x;
mad.lo.s32 own, %ctaid.x, %ntid.x, tid;
mad.wide.u32 o, own, 4, o;
${body}
ret;
}
`;
const sync = 'barrier.cluster.arrive; barrier.cluster.wait;';
/** What a block of the cluster at a distance has. */
const far = (by: number, to: string): string => `add.u32 ${to}, rank, ${by}; rem.u32 ${to}, ${to}, size;`;

test('a mapped address means the same in every block of the cluster', () => {
  // Each block leaves the address of the memory of the one behind it with the one before it, which reads there.
  const body = `st.shared.u32 [mem], own;
mov.u32 a, mem; ${far(1, 'b')} mapa.shared::cluster.u32 c, a, b;
mov.u64 x, mem; cvta.shared.u64 x, x; mapa.u64 x, x, b;
add.u32 b, rank, size; sub.u32 b, b, 1; rem.u32 b, b, size; mapa.shared::cluster.u32 d, a, b;
st.shared::cluster.u32 [d+4], c; st.shared::cluster.u64 [d+8], x;
${sync}
ld.shared.u32 c, [mem+4]; ld.shared::cluster.u32 a, [c];
ld.shared.u64 x, [mem+8]; ld.u32 b, [x]; mad.lo.u32 a, b, 100, a; st.global.u32 [o], a;
${sync}`;
  const wanted = Array.from({ length: 8 }, (_, b) => 101 * (b - (b % 4) + ((b + 2) % 4)));
  assert.equal(loaded(kernel(body)).launch('k', 8, { grid: [8, 1, 1], block: 1, cluster: [4, 1, 1] }), wanted);
});

test('shared memory of another block is of the cluster, and not of the block', () => {
  const body = `mov.u64 x, mem; cvta.shared.u64 x, x; ${far(1, 'b')} mapa.u64 y, x, b; mapa.u64 z, x, rank; mov.u32 a, 0;
${['x', 'y', 'z', 'o']
  .flatMap((at, i) =>
    ['shared', 'shared::cta', 'shared::cluster', 'global'].map(
      (space, j) => `isspacep.${space} p, ${at}; @p or.b32 a, a, ${1 << (4 * i + j)};`,
    ),
  )
  .join('\n')}
st.global.u32 [o], a;`;
  assert.equal(loaded(kernel(body)).launch('k', 2, { grid: [2, 1, 1], block: 1, cluster: [2, 1, 1] }), [0x8747, 0x8747]);
});

test('one that has arrived and ended counts once', () => {
  // Of block 1, thread 0 arrives and ends; block 0 waits for the others, of which thread 5 comes later by much.
  const body = `setp.eq.u32 p, rank, 1; setp.eq.and.u32 q, tid, 0, p; @q bra first;
setp.eq.and.u32 q, tid, 5, p; @q bra later; @p bra quick;
${sync}
mov.u32 a, mem; mapa.shared::cluster.u32 b, a, 1; ld.shared::cluster.u32 c, [b]; st.global.u32 [o], c;
bra all;
later: mov.u32 a, 0; mov.u32 c, 0;
again: ld.volatile.global.u32 d, [o]; setp.eq.u32 q, d, 1; @q bra again; add.u32 c, c, d; add.u32 a, a, 1; setp.lt.u32 p, a, 5000; @p bra again;
st.shared.u32 [mem], 7;
quick: barrier.cluster.arrive;
barrier.cluster.wait;
all: ${sync}
ret;
first: barrier.cluster.arrive;`;
  assert.equal(
    (loaded(kernel(body)).launch('k', 128, { grid: [2, 1, 1], block: 64, cluster: [2, 1, 1] }) as number[]).slice(0, 64),
    Array.from({ length: 64 }, () => 7),
  );
});

test('a block of the cluster that there is not has no memory', () => {
  for (const rank of [2, 3, 254, 255, 0xffff_ffff]) {
    const body = `mov.u32 a, mem; mapa.shared::cluster.u32 b, a, ${rank}; ld.shared::cluster.u32 c, [b]; st.global.u32 [o], c;`;
    assert.equal(loaded(kernel(body)).launch('k', 2, { grid: [2, 1, 1], block: 1, cluster: [2, 1, 1] }), ['CM6011'], `${rank}`);
  }
});

test('memory of a block that has ended is out of reach', () => {
  const reads = `mov.u32 a, mem; mapa.shared::cluster.u32 b, a, 0; setp.eq.u32 p, rank, 0; @p bra done;
mov.u32 a, 0; again: ld.volatile.global.u32 d, [o]; add.u32 a, a, 1; setp.lt.u32 q, a, 5000; @q bra again;
ld.shared::cluster.u32 c, [b]; add.u32 c, c, 5; st.global.u32 [o], c; done:`;
  const generic = 'mov.u64 x, mem; cvta.shared.u64 x, x; mapa.u64 y, x, 0;';
  const shape = { grid: [4, 1, 1], block: 33, cluster: [2, 1, 1] } as const;
  for (const body of [reads, generic + reads.replace('ld.shared::cluster.u32 c, [b]', 'ld.u32 c, [y]')]) {
    assert.equal(loaded(kernel(body)).launch('k', 132, shape), ['CM6011'], body);
    const waits = loaded(kernel(body + sync)).launch('k', 132, shape) as number[];
    assert.equal([waits[0], waits[33], waits[131]], [0, 5, 5]);
  }
});

test('a block that never arrives is reported', () => {
  const body = `setp.eq.u32 p, rank, 1; @p bra here; ${sync} bra done; here: mov.u32 a, 1; again: ld.volatile.global.u32 b, [o]; setp.ne.u32 p, a, b; @p bra again; done:`;
  assert.equal(loaded(kernel(body)).launch('k', 2, { grid: [2, 1, 1], block: 1, cluster: [2, 1, 1] }), ['CM6032']);
});

test('`.explicitcluster` and `.maxclusterrank`', () => {
  const explicit = loaded(kernel('st.global.u32 [o], size;', '.explicitcluster'));
  assert.equal(explicit.launch('k', 2, { grid: [2, 1, 1], block: 1 }), ['CM5054']);
  assert.equal(explicit.launch('k', 2, { grid: [2, 1, 1], block: 1, cluster: [2, 1, 1] }), [2, 2]);
  const most = loaded(kernel('st.global.u32 [o], size;', '.maxclusterrank 2'));
  assert.equal(most.launch('k', 4, { grid: [4, 1, 1], block: 1, cluster: [4, 1, 1] }), ['CM5054']);
  assert.equal(most.launch('k', 4, { grid: [4, 1, 1], block: 1, cluster: [2, 1, 1] }), [2, 2, 2, 2]);
});

const signal = 'mbarrier::complete_tx::bytes';
/** Waits for the first phase of the barrier of the block. */
const wait = 'WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [bar], 0; @!p bra WAIT;';
/** Each block has a barrier for one arrival and `bytes`; `far` and `there` are the barrier and the memory of the next block. */
const withBarrier = (bytes: number, body: string): string => `.shared .b64 bar;
.shared .align 16 .b32 data[16];
.reg .b32 there, far;
.reg .b16 mask;
mbarrier.init.shared.b64 [bar], 1;
st.shared.u32 [data], own; st.shared.u32 [data+4], 1000; st.shared.u32 [data+8], 0; st.shared.u32 [data+12], 0;
fence.mbarrier_init.release.cluster;
${sync}
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], ${bytes};
${far(1, 'b')} mov.u32 a, bar; mapa.shared::cluster.u32 far, a, b; mov.u32 a, data; mapa.shared::cluster.u32 there, a, b;
${sync}
${body}
${wait}
${sync}`;

test('barriers in memory, asynchronous stores and copies reach other blocks', () => {
  const arrive = 'mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];';
  const get = 'ld.shared.u32 a, [data+4]; ld.shared.u32 b, [data+8]; mad.lo.u32 a, b, 65536, a; st.global.u32 [o], a;';
  const forms: readonly (readonly [number, string, (before: number) => number])[] = [
    [0, arrive, () => 1000],
    [4, `st.async.shared::cluster.${signal}.u32 [there+4], own, [far]; ${arrive}`, (before) => before],
    [8, `st.async.shared::cluster.${signal}.v2.u32 [there+4], {own, 7}, [far]; ${arrive}`, (before) => before + 7 * 65536],
    [4, `red.async.relaxed.cluster.shared::cluster.${signal}.add.u32 [there+4], own, [far]; ${arrive}`, (before) => 1000 + before],
    [
      16,
      `st.shared.u32 [data+36], own; cp.async.bulk.shared::cluster.shared::cta.${signal} [there], [data+32], 16, [far]; ${arrive}`,
      (before) => before,
    ],
  ];
  for (const [bytes, form, wanted] of forms) {
    const found = loaded(kernel(withBarrier(bytes, form) + get)).launch('k', 8, { grid: [8, 1, 1], block: 1, cluster: [4, 1, 1] });
    const before = (b: number): number => b - (b % 4) + ((b + 3) % 4);
    assert.equal(
      found,
      Array.from({ length: 8 }, (_, b) => wanted(before(b))),
      form,
    );
  }
});

test('a bulk copy to several blocks', () => {
  // Block 1 of each cluster sends what its part of the output has to blocks 0, 2 and 3.
  const send = `mov.b16 mask, 0b1101; mov.u32 a, data; setp.eq.u32 q, rank, 1; ld.param.u64 x, [out]; add.u64 x, x, 128;
@q cp.async.bulk.shared::cluster.global.${signal}.multicast::cluster [a], [x], 16, [bar], mask;
@q mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;
mbarrier.arrive.shared::cta.b64 _, [bar];`;
  const fill = 'ld.param.u64 x, [out]; st.global.v2.u32 [x+128], {11, 12}; st.global.v2.u32 [x+136], {13, 14}; fence.proxy.async;';
  const get = 'ld.shared.v4.u32 {a, b, c, d}, [data]; add.u32 a, a, b; add.u32 a, a, c; add.u32 a, a, d; st.global.u32 [o], a;';
  const found = loaded(kernel(fill + withBarrier(16, send) + get)).launch('k', 36, { grid: [8, 1, 1], block: 1, cluster: [4, 1, 1] });
  assert.equal((found as number[]).slice(0, 8), [50, 1001, 50, 50, 50, 1005, 50, 50]);
});

const refusedBy = (source: string, target: 'cpu' | 'macos15'): string[] => {
  const own = new Diagnostics(new SourceFile('k.ptx', source));
  compile(own.file!, { target }, own);
  return [...new Set(own.list.map(({ code }) => code))];
};

test('CM2090: barriers of blocks that not all blocks of a cluster reach together, where a whole cluster is one threadgroup', () => {
  const alone = `setp.eq.u32 p, rank, 0; @!p bra on; bar.sync 0; on: ${sync}`;
  assert.equal([refusedBy(kernel(alone), 'macos15'), refusedBy(kernel(alone), 'cpu')], [['CM2090'], []]);
  for (const body of [`bar.sync 0; ${sync}`, sync, 'st.global.u32 [o], rank;']) assert.equal(refusedBy(kernel(body), 'macos15'), [], body);
});

test('a launch file has the clusters', () => {
  const diagnostics = new Diagnostics();
  const file = (cluster: string): string =>
    `{"module": "k.ptx", "kernel": "k", "grid": [4, 1, 1], "block": [32, 1, 1], "cluster": ${cluster}, "args": []}`;
  assert.equal(readLaunchFile('launch.json', file('[2, 1, 1]'), diagnostics)?.cluster, [2, 1, 1]);
  assert.is(readLaunchFile('launch.json', file('[2]'), diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM5041'],
  );
});

test('CUDA C++ that clang compiles with our headers: `this_cluster()` and `__cluster_dims__`', () => {
  const bitcode = gunzipSync(readFileSync(join(root, 'fixtures/cuda/headers/clusters.bc.gz')));
  const made = loaded(ptxOfBitcode(new Uint8Array(bitcode), new Diagnostics())!);
  const found = made.launch('_Z4ringILi4EEvPi', 8, { grid: [8, 1, 1], block: 32 });
  assert.equal(
    found,
    Array.from({ length: 8 }, (_, b) => (((b % 4) + 5) % 4) * 100 + 34),
  );
  assert.equal(made.launch('_Z4ringILi4EEvPi', 8, { grid: [6, 1, 1], block: 32 }), ['CM5054']);
});

test.run();
