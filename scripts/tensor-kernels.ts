/**
 * Compares all kernels by tensor cores with f64 on the CPU device, over ragged sizes, forms and types: `bun scripts/tensor-kernels.ts [word]`. The specs run
 * some of this; the whole takes minutes.
 */
import { assertAttends, assertMultiplies, assertQuantized, products } from '../spec/support/tensor-kernels.ts';
import { bf16, f16 } from '../src/build/index.ts';
import { Device } from '../src/index.ts';
import { singleGemm, tensorGemm } from '../src/kernels/index.ts';

const device = Device.open('cpu', { print: false });
const [word = ''] = process.argv.slice(2);
const proofs: [name: string, run: () => Promise<void>][] = [];

const tensorTiles = [
  { by: 'mma', tile: { rows: 128, columns: 128, stages: 3, warp: [64, 64] } },
  { by: 'mma', tile: { rows: 64, columns: 64, stages: 3, warp: [32, 32] } },
  { by: 'wgmma', tile: { rows: 128, columns: 256, stages: 4 } },
  { by: 'wgmma', tile: { rows: 256, columns: 128, stages: 4 } },
  { by: 'wgmma', tile: { rows: 128, columns: 128, stages: 3 } },
] as const;
for (const form of tensorTiles)
  for (const type of [f16, bf16] as const) {
    const within = type === f16 ? 2 ** -11 + 2e-6 : 2 ** -8 + 2e-6;
    const made = (options: object) => tensorGemm<'f16' | 'bf16'>({ type, ...form, ...options });
    proofs.push([
      `gemm ${form.by} ${type.name} ${form.tile.rows}x${form.tile.columns}`,
      () => assertMultiplies(device, type.name, made, { sizes: products, within }),
    ]);
  }
const singleTiles = [
  { rows: 128, columns: 128, stages: 3, depth: 16, own: 8, minBlocks: 2 },
  { rows: 64, columns: 64, stages: 3, depth: 16, own: 8 },
] as const;
for (const tile of singleTiles)
  proofs.push([
    `gemm single ${tile.rows}`,
    () => assertMultiplies(device, 'f32', (options) => singleGemm({ tile, ...options }), { sizes: products, within: 3e-6 }),
  ]);

const weights = [
  ['q4_K', [37, 768, 3]],
  ['q5_K', [17, 512, 1]],
  ['q6_K', [5, 768, 2]],
  ['q4_0', [35, 416, 1]],
  ['q8_0', [20, 288, 5]],
] as const;
for (const [format, sizes] of weights)
  for (const multiprocessors of [1, 3, 132])
    proofs.push([
      `${format} on ${multiprocessors}`,
      () => assertQuantized(device, format, sizes, { vectors: sizes[2] > 1 ? 2 : 1, multiprocessors }),
    ]);

const heads = [
  { batch: 1, queries: 1, keys: 1, heads: 1, keyHeads: 1, causal: false },
  { batch: 2, queries: 70, keys: 150, heads: 2, keyHeads: 1, causal: false },
  { batch: 1, queries: 150, keys: 100, heads: 2, keyHeads: 2, causal: true },
  { batch: 1, queries: 50, keys: 200, heads: 3, keyHeads: 1, causal: true },
] as const;
for (const size of [64, 128] as const)
  for (const by of ['mma', 'wgmma'] as const)
    for (const shape of heads)
      proofs.push([`attention ${by} ${size} ${shape.queries} x ${shape.keys}`, () => assertAttends(device, { size, by }, shape)]);

for (const [name, run] of proofs.filter(([each]) => each.includes(word))) {
  await run();
  console.log(name);
}
await device.close();
