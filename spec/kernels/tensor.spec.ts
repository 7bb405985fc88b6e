/** Kernels by tensor cores and asynchronous copies against JavaScript with f64, over ragged sizes; and which of them a launch runs on which device. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bf16, f16, f32, f64 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import {
  attention,
  cpuGemm,
  doubleGemm,
  gemm,
  quantizedGemm,
  quantizedTensorGemm,
  singleGemm,
  tensorAttention,
  tensorGemm,
  tf32Gemm,
  tune,
  useTable,
} from '../../src/kernels/index.ts';
import { fakeCandidates } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';
import { assertAttends, assertMultiplies, assertQuantized, cores, products } from '../support/tensor-kernels.ts';

const test = suite('kernels/tensor');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

test('products of halves by wgmma, and of f32 without tensor cores', async () => {
  // The results are rounded to 11 bits once.
  const within = 2 ** -11 + 2e-6;
  const [aligned, ragged] = [products[0]!, products[1]!];
  const byGroups = (options: object) => tensorGemm({ type: f16, by: 'wgmma', tile: cores.wgmma, ...options });
  await assertMultiplies(device, 'f16', byGroups, { sizes: [aligned, ragged], within });
  const tile = { rows: 32, columns: 64, stages: 2, depth: 8, own: 8 } as const;
  await assertMultiplies(device, 'f32', (options) => singleGemm({ tile, ...options }), {
    // Rows that are not aligned; and blocks that are inside, with a last tile that is not whole.
    sizes: [ragged, { m: 40, n: 128, k: 28, transposed: false, pad: 0 }, { m: 32, n: 70, k: 24, transposed: true, pad: 0 }],
    within: 3e-6,
  });
});

test('products of f32 that are rounded to tf32: by mma, by wgmma, without tensor cores', async () => {
  // Products of 11 by 11 bits are exact; their sums are those of f32.
  const small = { mma: { rows: 64, columns: 64, warp: [32, 32] }, wgmma: { rows: 64, columns: 64 } } as const;
  for (const by of ['mma', 'wgmma'] as const)
    await assertMultiplies(device, 'tf32', (options) => tf32Gemm({ by, tile: small[by], ...options }), { sizes: products, within: 2e-6 });
  for (const tile of [undefined, 64] as const)
    await assertMultiplies(device, 'tf32', (options) => gemm({ tf32: true, ...(tile ? { tile } : {}), ...options }), {
      sizes: products.slice(1),
      within: 2e-6,
    });
});

test('tf32 is a tie away from zero, infinity and NaN, and one factor alone', async () => {
  // Between 1 and 1 + 2^-10; above and below it; the largest number, which becomes infinite.
  const a = [1 + 2 ** -11, -1 - 2 ** -11, 1 + 2 ** -11 - 2 ** -23, 3.4028234663852886e38, Number.NaN];
  const expected = [1 + 2 ** -10, -1 - 2 ** -10, 1, Number.POSITIVE_INFINITY, Number.NaN];
  const b = device.bufferOf('f32', [1]);
  for (const made of [
    tf32Gemm(),
    tf32Gemm({ by: 'wgmma', tile: { rows: 64, columns: 64 } }),
    gemm({ tf32: true }),
    gemm({ tf32: true, tile: 64 }),
  ]) {
    const c = device.allocate('f32', a.length);
    made.launch(device, { a: device.bufferOf('f32', a), b, c, m: a.length, n: 1, k: 1 });
    assert.equal([...(await c.read())], expected, made.name);
  }
  assert.throws(() => gemm({ type: f64, tf32: true }), /rounds factors of f32, and these are f64/);
});

const { test: onFake, folder } = openFake(test);
for (const { name, open } of folder ? fakeCandidates(folder).slice(0, 1) : [])
  onFake(`${name}: the same definition of tf32`, async () => {
    const metal = Device.over(open());
    const within = 2e-6;
    await assertMultiplies(metal, 'tf32', (options) => gemm({ tf32: true, tile: 64, ...options }), { sizes: products.slice(1), within });
    metal.close();
  });

test('products of f64 by mma of 8 and of 16 rows', async () => {
  for (const by of ['f64', 'f64x4', 'f64x8', 'f64x16'] as const) {
    const sizes = by === 'f64x16' ? products : [products[1]!];
    const tile = { rows: 64, columns: 64, warp: [32, 32], stages: 3 } as const;
    await assertMultiplies(device, 'f64', (options) => doubleGemm({ by, tile, ...options }), { sizes, within: 1e-15 });
  }
});

test('quantized weights: parts of units, vectors two by two, and rows that warps share', async () => {
  await assertQuantized(device, 'q4_K', [37, 768, 3], { warps: 8, vectors: 2, multiprocessors: 3 });
  await assertQuantized(device, 'q5_K', [17, 512, 1], { warps: 8, multiprocessors: 1 });
});

test('attention: masks, grouped heads, more and fewer keys than queries', async () => {
  const few = { batch: 2, queries: 20, keys: 70, heads: 2, keyHeads: 1, causal: false };
  await assertAttends(device, { size: 64, by: 'wgmma', warps: 4, tile: 64 }, few);
  await assertAttends(device, { size: 64, by: 'wgmma', warps: 4, tile: 64 }, { ...few, batch: 1, queries: 70, keys: 66, causal: true });
});

test('what a launch runs: by the architecture and the sizes, and by a table', () => {
  const on = (sm: number, name = 'of a test') =>
    ({
      info: { kind: 'cuda', name, properties: { major: Math.floor(sm / 10), minor: sm % 10, multiProcessorCount: 132 } },
    }) as unknown as Device;
  const sizes = (size: number) => ({ a: 0n, b: 0n, c: 0n, m: size, n: size, k: size });
  const half = gemm({ type: f16 });
  const nameOf = (routine: { name: string }): string => routine.name;
  const small = sizes(128);
  assert.is(nameOf(half.variant(device, small)), 'gemm_f16_cpu');
  assert.is(nameOf(gemm({ type: f64 }).variant(device, small)), 'gemm_f64_cpu');
  assert.match(nameOf(gemm({ type: f64 }).variant(on(90), sizes(4096))), /^gemm_mma_f64x\d+_64x64/);
  assert.match(nameOf(gemm({ type: f64 }).variant(on(80), sizes(4096))), /^gemm_mma_f64_64x64/);
  assert.is(nameOf(gemm({ type: f64 }).variant(on(75), sizes(4096))), 'gemm_f64_64_any');
  assert.match(nameOf(gemm({ tf32: true }).variant(on(90), sizes(4096))), /^gemm_tf32_wgmma/);
  assert.match(nameOf(gemm({ tf32: true }).variant(on(86), sizes(4096))), /^gemm_tf32_mma_128x128/);
  assert.is(nameOf(gemm({ tf32: true }).variant(device, small)), nameOf(cpuGemm({ tf32: true, isFused: !device.info.emulatesFma })));
  assert.is(nameOf(half.variant(on(75), sizes(4096))), half.name);
  assert.match(nameOf(half.variant(on(80), sizes(4096))), /^gemm_mma_f16_128x128/);
  assert.match(nameOf(half.variant(on(100), sizes(4096))), /^gemm_mma_f16_128x128/);
  assert.match(nameOf(half.variant(on(90), sizes(4096))), /^gemm_wgmma_f16_128x256/);
  assert.match(nameOf(half.variant(on(90), sizes(1024))), /^gemm_wgmma_f16_128x64/);
  assert.match(nameOf(gemm({ type: bf16, transposeB: true, activation: 'relu' }).variant(on(90), sizes(4096))), /bf16.*tb_relu$/);
  assert.match(nameOf(gemm().variant(on(90), sizes(4096))), /^gemm_single_128x256/);
  assert.match(nameOf(gemm().variant(on(90), sizes(1024))), /^gemm_single_64x128x8_4_8/);
  assert.is(nameOf(gemm({ tile: 128 }).variant(on(90), sizes(4096))), 'gemm_f32_128');
  useTable({ version: 1, device: 'of a table', sm: 90, gemm: { f16: { 'wgmma 128x256': 1, 'mma 128x128': 2 } } });
  assert.match(nameOf(half.variant(on(90, 'of a table'), sizes(4096))), /^gemm_mma_f16_128x128/);
  const given = { weights: 0n, x: 0n, y: 0n, rows: 4096, columns: 4096 };
  assert.match(nameOf(quantizedGemm('q4_K').variant(on(90), given)), /^gemm_tensor_q4_K_1/);
  assert.match(nameOf(quantizedGemm('q4_K').variant(on(90), { ...given, batch: 4 })), /^gemm_tensor_q4_K_2/);
  assert.is(nameOf(quantizedGemm('q4_K').variant(on(90), { ...given, columns: 65536 })), 'gemm_q4_K');
  assert.is(nameOf(quantizedGemm('nf4').variant(on(90), given)), 'gemm_nf4');
  const heads = { q: 0n, k: 0n, v: 0n, y: 0n, queries: 1, keys: 1, heads: 1 };
  assert.match(nameOf(attention({ size: 64, type: f16 }).variant(on(90), heads)), /^attention_wgmma/);
  assert.match(nameOf(attention({ size: 64, type: f16 }).variant(on(86), heads)), /^attention_mma/);
  assert.is(nameOf(attention({ size: 64, type: f16 }).variant(on(90), { ...heads, k: 8n })), 'attention_64_f16');
  assert.is(nameOf(attention({ size: 64, type: f32 }).variant(on(90), heads)), 'attention_64_f32');
});

test('CM5093: what a tensor kernel cannot do', async () => {
  const fails = (run: () => unknown, why: RegExp): void => {
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  };
  const heads = { q: 0n, k: 8n, v: 0n, y: 0n, queries: 1, keys: 1, heads: 1 };
  fails(() => tensorAttention({ size: 64, type: f16 }).plan(heads), /`k` is not aligned to 16 bytes/);
  fails(() => tensorAttention({ size: 80 as 64 }), /80 elements/);
  fails(() => quantizedTensorGemm('q4_K').plan({ weights: 8n, x: 0n, y: 0n, rows: 1, columns: 256 }), /aligned to 16 bytes/);
  fails(() => quantizedTensorGemm('q4_0').plan({ weights: 0n, x: 0n, y: 0n, rows: 1, columns: 100 }), /multiple of 32/);
  fails(() => tensorGemm({ tile: { rows: 48, columns: 64, stages: 2 } }), /multiples of 64/);
  // Its 128 threads would copy four rows at a time, whose parts are not exchanged alike.
  fails(() => tensorGemm({ by: 'wgmma', tile: { rows: 64, columns: 256, stages: 3 } }).kernel, /128 threads do not divide/);
  const reason = await tune(device, { size: 0 }).catch((error: unknown) => error);
  assert.ok(reason instanceof CumetalError && reason.code === 'CM5093');
});

test.run();
