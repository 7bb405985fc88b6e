/** Matrix products against JavaScript with f64 or integers, over ragged sizes; quantized weights against the formats' definitions weight by weight. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KernelBuffer } from '../../src/api/index.ts';
import { bf16, f16, f32, f64, s8 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { cpuForm } from '../../src/kernels/choice.ts';
import {
  cpuGemm,
  dequantize,
  doubleGemm,
  type FormatName,
  formats,
  gemm,
  normalFloat,
  quantizedCpuGemm,
  quantizedGemm,
  quantizedTileGemm,
  tf32Gemm,
} from '../../src/kernels/index.ts';
import { close, findings, numbers } from '../support/library.ts';

const test = suite('kernels/products');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}
type At = (row: number, column: number) => number;

const product = ({ m, n, k }: Sizes, a: At, b: At): number[] =>
  Array.from({ length: m * n }, (_, i) => {
    let sum = 0;
    for (let x = 0; x < k; x++) sum += a(Math.floor(i / n), x) * b(x, i % n);
    return sum;
  });

const sizes: Sizes[] = [
  { m: 1, n: 1, k: 1 },
  { m: 67, n: 33, k: 17 },
  { m: 5, n: 130, k: 48 },
];

for (const isTransposed of [false, true])
  test(`f32: ${isTransposed ? 'both transposed, tiles of 128' : 'row by row, tiles of 64'}, with pitches, a bias, alpha and beta`, async () => {
    for (const size of isTransposed ? [{ m: 131, n: 140, k: 35 }] : sizes) {
      const { m, n, k } = size;
      const [lda, ldb, ldc] = [(isTransposed ? m : k) + 3, (isTransposed ? k : n) + 1, n + 2];
      const [a, b] = [numbers((isTransposed ? k : m) * lda, m), numbers((isTransposed ? n : k) * ldb, n)];
      const [before, bias] = [numbers(m * ldc, k), numbers(n, 9)];
      const c = device.bufferOf('f32', before);
      const options = isTransposed ? ({ transposeA: true, transposeB: true, activation: 'relu' } as const) : ({ tile: 64 } as const);
      gemm(options).launch(device, {
        ...{ a: device.bufferOf('f32', a), b: device.bufferOf('f32', b), c, bias: device.bufferOf('f32', bias) },
        ...{ m, n, k, lda, ldb, ldc, alpha: 0.5, beta: 2 },
      });
      const plain = product(
        size,
        (r, x) => a[isTransposed ? x * lda + r : r * lda + x]!,
        (x, q) => b[isTransposed ? q * ldb + x : x * ldb + q]!,
      );
      const expected = Array.from(before, (value, i) => {
        const [r, q] = [Math.floor(i / ldc), i % ldc];
        if (q >= n) return value;
        const sum = 0.5 * plain[r * n + q]! + 2 * value + bias[q]!;
        return isTransposed ? Math.max(sum, 0) : sum;
      });
      close(await c.read(), expected, 3e-6, `${m} x ${n} x ${k}`);
    }
  });

const typed = { f32, f64, f16, bf16, s8 } as const;
const arrays = { f32: 'f32', f64: 'f64', f16: 'f16', bf16: 'bf16', s8: 'i8' } as const;
const transposes = [
  [false, true],
  [true, false],
  [false, false],
  [true, true],
] as const;
/** Small whole numbers, whose sums of products are exact in every type of sums. */
const small = (count: number, seed: number): number[] => Array.from(numbers(count, seed), (x) => Math.round(x * 3));

for (const type of Object.keys(typed) as (keyof typeof typed)[])
  for (const [transposeA, transposeB] of type === 'f32' || type === 'f64' ? transposes : transposes.slice(0, 1))
    test(`products of ${type} for processors, ${transposeA ? 'a' : 'no'} and ${transposeB ? 'b' : 'no'} transposed: exact sums`, async () => {
      // Of several blocks and parts of k, of one that is not full, of a row and of a column.
      for (const [m, n, k] of [
        [1, 1, 1],
        [131, 67, 130],
        [3, 150, 129],
        [70, 1, 5],
      ] as const) {
        const [lda, ldb, ldc] = [(transposeA ? m : k) + 1, (transposeB ? k : n) + 2, n + 3];
        const [a, b] = [small(lda * (transposeA ? k : m), 3), small(ldb * (transposeB ? n : k), 4)];
        const before = small(ldc * m, 5);
        const c = device.bufferOf(type === 's8' ? 'i32' : arrays[type], before as never);
        const args = { a: device.bufferOf(arrays[type], a as never), b: device.bufferOf(arrays[type], b as never), c };
        const options = { type: typed[type], transposeA, transposeB, isFused: !device.info.emulatesFma } as never;
        const made = cpuGemm(options);
        assert.is(gemm(options).variant(device, { ...args, m, n, k } as never), made);
        made.launch(device, { ...args, m, n, k, lda, ldb, ldc, alpha: 2, beta: -1 } as never);
        const plain = product(
          { m, n, k },
          (r, x) => a[transposeA ? x * lda + r : r * lda + x]!,
          (x, q) => b[transposeB ? q * ldb + x : x * ldb + q]!,
        );
        const expected = before.map((value, i) => {
          const [r, q] = [Math.floor(i / ldc), i % ldc];
          return q >= n ? value : 2 * plain[r * n + q]! - value;
        });
        if (type === 'bf16') close((await c.read()) as never, expected, 2 ** -8, `${m} x ${n} x ${k}`);
        else assert.equal([...((await c.read()) as never as Iterable<number>)], expected, `${m} x ${n} x ${k}`);
      }
    });

for (const vectorBits of [256, 512] as const)
  for (const type of ['f32', 'f64'] as const)
    for (const [transposeA, transposeB] of type === 'f32' && vectorBits === 512 ? transposes : transposes.slice(0, 1))
      test(`products of ${type} in the form for vectors of ${vectorBits} bits, ${transposeA ? 'a' : 'no'} and ${transposeB ? 'b' : 'no'} transposed: exact sums`, async () => {
        // Rows and columns of more than one block, and of panels that are not full.
        for (const [m, n, k] of [
          [1, 1, 1],
          [167, 17, 3],
          [13, 145, 130],
        ] as const) {
          const [a, b] = [small(m * k, 3), small(k * n, 4)];
          const c = device.bufferOf(arrays[type], small(m * n, 5) as never);
          const args = { a: device.bufferOf(arrays[type], a as never), b: device.bufferOf(arrays[type], b as never), c };
          const options = { type: typed[type], transposeA, transposeB, vectorBits } as never;
          cpuGemm(options).launch(device, { ...args, m, n, k } as never);
          const plain = product(
            { m, n, k },
            (r, x) => a[transposeA ? x * m + r : r * k + x]!,
            (x, q) => b[transposeB ? q * k + x : x * n + q]!,
          );
          assert.equal([...((await c.read()) as never as Iterable<number>)], plain, `${m} x ${n} x ${k}`);
        }
      });

test('long products have the form for native code, whose vectors are wider', () => {
  const on = (emulatesFma: boolean, vectorBits: 128 | 512) => ({ info: { ...device.info, emulatesFma, vectorBits } }) as never;
  const sizes = (size: number) => ({ m: size, n: size, k: size });
  assert.equal(cpuForm(on(true, 128), sizes(1024)), { isFused: false, vectorBits: 128 });
  assert.equal(cpuForm(on(true, 512), sizes(1024)), { isFused: true, vectorBits: 512 });
  assert.equal(cpuForm(on(true, 512), sizes(128)), { isFused: false, vectorBits: 128 });
  assert.equal(cpuForm(on(true, 512), { ...sizes(128), batch: 64 }), { isFused: true, vectorBits: 512 });
  assert.equal(cpuForm(on(false, 512), sizes(1)), { isFused: true, vectorBits: 512 });
  assert.equal(cpuForm(on(false, 128), sizes(1024)), { isFused: true, vectorBits: 128 });
});

test('products for processors round a product and a sum once where they are fused', async () => {
  // 97 * 172961 is 16777217, halfway between two values of single precision, and the sum is above that.
  const [a, b] = [device.bufferOf('f32', [2 ** -80, 97]), device.bufferOf('f32', [1, 172961])];
  for (const [isFused, expected] of [
    [true, 16777218],
    [false, 16777216],
  ] as const) {
    const c = device.bufferOf('f32', [0]);
    cpuGemm({ isFused }).launch(device, { a, b, c, m: 1, n: 1, k: 2 });
    assert.equal([...(await c.read())], [expected]);
  }
  assert.is(gemm().variant(device, { a, b, c: a, m: 1, n: 1, k: 2 }), cpuGemm({ isFused: !device.info.emulatesFma }));
});

test('products for processors read no result where beta is 0, and NaN of a factor stays in its row', async () => {
  const a = device.bufferOf('f32', [1, Number.NaN, 2, 3]);
  const c = device.bufferOf('f32', [Number.NaN, Number.NaN, Number.NaN, Number.POSITIVE_INFINITY]);
  cpuGemm({ activation: 'relu' }).launch(device, { a, b: device.bufferOf('f32', [1, -1, 1, -1]), c, m: 2, n: 2, k: 2 });
  assert.equal([...(await c.read())].slice(2), [5, 0]);
  const sum = device.bufferOf('f32', [Number.NaN, 7]);
  cpuGemm().launch(device, { a, b: a, c: sum, bias: device.bufferOf('f32', [3]), m: 1, n: 1, k: 0 });
  assert.equal([...(await sum.read())], [3, 7]);
});

test('no k: the result is the bias and beta', async () => {
  const c = device.bufferOf('f32', [1, 2, 3, 4]);
  const a = device.allocate('f32', 1);
  gemm({ tile: 64 }).launch(device, { a, b: a, c, bias: device.bufferOf('f32', [10, 20]), m: 2, n: 2, k: 0, beta: 1 });
  assert.equal([...(await c.read())], [11, 22, 13, 24]);
});

test('batches, of which one matrix may be the same for all', async () => {
  const [size, batch] = [{ m: 7, n: 9, k: 21 }, 3];
  const { m, n, k } = size;
  const [a, b] = [numbers(batch * m * k, 4), numbers(k * n, 5)];
  const c = device.allocate('f32', batch * m * n);
  gemm({ tile: 64 }).launch(device, { a: device.bufferOf('f32', a), b: device.bufferOf('f32', b), c, ...size, batch, strideB: 0 });
  const expected = [0, 1, 2].flatMap((i) =>
    product(
      size,
      (r, x) => a[i * m * k + r * k + x]!,
      (x, q) => b[x * n + q]!,
    ),
  );
  close(await c.read(), expected, 2e-6);
});

test('f64, f16 and bf16 with sums of f32, and s8 with exact sums', async () => {
  const size = { m: 19, n: 35, k: 50 };
  const { m, n, k } = size;
  const [a, b] = [numbers(m * k, 6), numbers(k * n, 7)];
  const of = (left: ArrayLike<number>, right: ArrayLike<number>): number[] =>
    product(
      size,
      (r, x) => left[r * k + x]!,
      (x, q) => right[x * n + q]!,
    );
  const c64 = device.allocate('f64', m * n);
  gemm({ type: f64 }).launch(device, { a: device.bufferOf('f64', [...a]), b: device.bufferOf('f64', [...b]), c: c64, ...size });
  close(await c64.read(), of(a, b), 1e-14);
  const [a16, b16, c16] = [device.bufferOf('f16', a), device.bufferOf('f16', b), device.allocate('f16', m * n)];
  gemm({ type: f16, tile: 64 }).launch(device, { a: a16, b: b16, c: c16, ...size });
  close(await c16.read(), of(await a16.read(), await b16.read()), 2 ** -11 + 1e-6);
  const [aShort, bShort, cShort] = [device.bufferOf('bf16', a), device.bufferOf('bf16', b), device.allocate('bf16', m * n)];
  gemm({ type: bf16, tile: 64 }).launch(device, { a: aShort, b: bShort, c: cShort, ...size });
  close(await cShort.read(), of(await aShort.read(), await bShort.read()), 2 ** -8);
  const [aByte, bByte] = [Int8Array.from(a, (x) => x * 128), Int8Array.from(b, (x) => x * 128)];
  const cWord = device.allocate('i32', m * n);
  gemm({ type: s8, tile: 64 }).launch(device, { a: device.bufferOf('i8', aByte), b: device.bufferOf('i8', bByte), c: cWord, ...size });
  assert.equal([...(await cWord.read())], of(aByte, bByte));
});

/** A random block array: any bytes, but halves that are scales from 0.01 to 0.1 where the format has them. */
function blocksOf(format: FormatName, count: number, seed: number): Uint8Array {
  const { bytes } = formats[format];
  const made = Uint8Array.from(numbers(count * bytes, seed), (x) => Math.floor((x + 1) * 128) & 255);
  const places = { q4_0: [0], q8_0: [0], q4_K: [0, 2], q5_K: [0, 2], q6_K: [208], nf4: [] }[format];
  for (let i = 0; i < count; i++)
    for (const place of places) {
      // 0x2000 to 0x2fff are halves from 2^-7 to 2^-3.
      made[i * bytes + place + 1] = 0x20 + (made[i * bytes + place + 1]! % 15);
    }
  return made;
}

function half(bytes: Uint8Array, at: number): number {
  const bits = bytes[at]! | (bytes[at + 1]! << 8);
  return (1 + (bits & 1023) / 1024) * 2 ** ((bits >> 10) - 15);
}

/** The six bits of a scale (0) or a least value (1) of sub-block j of Q4_K and Q5_K. */
function six(b: Uint8Array, j: number, which: 0 | 1): number {
  const q = b.subarray(4, 16);
  if (j < 4) return q[j + 4 * which]! & 63;
  return ((q[j + 4]! >> (4 * which)) & 15) | ((q[j - 4 + 4 * which]! >> 6) << 4);
}

/** Weight i of a block, by the definition of the format. */
const weightOf: Record<FormatName, (b: Uint8Array, i: number, scale: number) => number> = {
  q4_0: (b, i) => half(b, 0) * (((b[2 + (i % 16)]! >> (i < 16 ? 0 : 4)) & 15) - 8),
  q8_0: (b, i) => half(b, 0) * ((b[2 + i]! << 24) >> 24),
  q4_K: (b, i) => {
    const j = Math.floor(i / 32);
    const code = (b[16 + 32 * (j >> 1) + (i % 32)]! >> (4 * (j & 1))) & 15;
    return half(b, 0) * six(b, j, 0) * code - half(b, 2) * six(b, j, 1);
  },
  q5_K: (b, i) => {
    const j = Math.floor(i / 32);
    const code = ((b[48 + 32 * (j >> 1) + (i % 32)]! >> (4 * (j & 1))) & 15) + 16 * ((b[16 + (i % 32)]! >> j) & 1);
    return half(b, 0) * six(b, j, 0) * code - half(b, 2) * six(b, j, 1);
  },
  q6_K: (b, i) => {
    const [n, q, l] = [i >> 7, (i >> 5) & 3, i & 31];
    const low = (b[64 * n + l + 32 * (q & 1)]! >> (4 * (q >> 1))) & 15;
    const code = low | (((b[128 + 32 * n + l]! >> (2 * q)) & 3) << 4);
    return half(b, 208) * ((b[192 + (i >> 4)]! << 24) >> 24) * (code - 32);
  },
  nf4: (b, i, scale) => scale * normalFloat[(b[i >> 1]! >> (i % 2 === 0 ? 4 : 0)) & 15]!,
};

for (const format of Object.keys(formats) as FormatName[])
  test(`${format}: weights, and products with vectors`, async () => {
    const { weights: perBlock, bytes } = formats[format];
    const [rows, batch, perRow] = [9, 2, perBlock === 256 ? 5 : 17];
    const columns = perRow * perBlock;
    const data = blocksOf(format, rows * perRow, 3);
    const scaleValues = numbers(rows * perRow, 4);
    const scales = format === 'nf4' ? device.bufferOf('f32', scaleValues) : null;
    const weights = device.bufferOf('u8', data);
    const y = device.allocate('f32', rows * columns);
    dequantize(format).launch(device, { weights, scales, y, rows, columns });
    const expected = Array.from({ length: rows * columns }, (_, i) => {
      const block = Math.floor(i / perBlock);
      return weightOf[format](data.subarray(block * bytes, (block + 1) * bytes), i % perBlock, scaleValues[block]!);
    });
    close(await y.read(), expected, 1e-6, 'weights', 0.5);
    for (const count of [batch, 1]) await compareProducts(format, { weights, scales, rows, columns, expected }, count);
  });

interface Quantized {
  readonly weights: KernelBuffer<'u8'>;
  readonly scales: KernelBuffer<'f32'> | null;
  readonly rows: number;
  readonly columns: number;
  /** The weights by the definition. */
  readonly expected: readonly number[];
}
/** Compares products with some vectors with those in f64: by each kernel that runs on every device. */
async function compareProducts(format: FormatName, { expected, ...given }: Quantized, batch: number): Promise<void> {
  const { rows, columns } = given;
  const vectors = numbers(batch * columns, 6);
  const x = device.bufferOf('f32', vectors);
  const products = Array.from({ length: batch * rows }, (_, i) => {
    const [vector, row] = [Math.floor(i / rows), i % rows];
    let sum = 0;
    for (let c = 0; c < columns; c++) sum += expected[row * columns + c]! * vectors[vector * columns + c]!;
    return sum;
  });
  const scale = Math.max(...products.map(Math.abs));
  for (const routine of [
    quantizedGemm(format),
    quantizedCpuGemm(format),
    quantizedTileGemm(format),
    quantizedTileGemm(format, { tile: 128 }),
  ]) {
    // A place behind the last one, which nothing writes.
    const y = device.bufferOf('f32', new Float32Array(batch * rows + 1).fill(7));
    // The kernel itself, and not the one that serves this device best.
    const { grid, block, args, shared } = routine.plan({ ...given, x, y, batch } as never);
    routine.kernel.module(device, { compile: { target: 'cpu' } });
    routine.kernel.launch(device, { grid, block: block as number, args: args as never, ...(shared ? { shared } : {}) });
    const found = await y.read();
    close(found.subarray(0, -1), products, 3e-6, `${routine.name} of ${batch}`, scale);
    assert.is(found.at(-1), 7);
  }
}

test('products of quantized weights over blocks: more rows and vectors than a tile has', async () => {
  for (const [format, rows, perRow, batch] of [
    ['q4_K', 131, 2, 130],
    ['q4_0', 70, 3, 66],
    ['nf4', 66, 5, 3],
  ] as const) {
    const { weights: perBlock, bytes } = formats[format];
    const columns = perRow * perBlock;
    const data = blocksOf(format, rows * perRow, 5);
    const scaleValues = numbers(rows * perRow, 7);
    const expected = Array.from({ length: rows * columns }, (_, i) => {
      const block = Math.floor(i / perBlock);
      return weightOf[format](data.subarray(block * bytes, (block + 1) * bytes), i % perBlock, scaleValues[block]!);
    });
    const scales = format === 'nf4' ? device.bufferOf('f32', scaleValues) : null;
    await compareProducts(format, { weights: device.bufferOf('u8', data), scales, rows, columns, expected }, batch);
  }
});

test('CM5093: pitches, sizes and alignments that cannot be right', () => {
  const x = device.allocate('f32', 64);
  const bytes = device.allocate('u8', 1000);
  const fails = (run: () => void, why: RegExp): void => {
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  };
  fails(() => gemm().launch(device, { a: x, b: x, c: x, m: 9, n: 8, k: 8 }), /`a` has 64 elements, and 72 are needed/);
  fails(() => gemm().launch(device, { a: x, b: x, c: x, m: 8, n: 8, k: 8, lda: 7 }), /`lda`/);
  fails(() => gemm({ type: f64, activation: 'silu' }), /functions of f32/);
  fails(() => quantizedGemm('q4_0').launch(device, { weights: bytes, x, y: x, rows: 1, columns: 40 }), /multiple of 32/);
  fails(() => quantizedGemm('q4_K').launch(device, { weights: bytes.part(4), x, y: x, rows: 1, columns: 256 }), /aligned to 16/);
  fails(() => quantizedGemm('nf4').launch(device, { weights: bytes, x, y: x, rows: 1, columns: 64 }), /`scales` is missing/);
  assert.is(gemm(), gemm({ type: f32 }));
});

test('the sanitizer finds nothing', async () => {
  const filled = (on: Device, count: number) => on.bufferOf('f32', new Float32Array(count).fill(0.5));
  const found = [
    ...(await findings(gemm({ tile: 64 }), (on) => ({
      ...{ a: filled(on, 65 * 20), b: filled(on, 20 * 3), c: filled(on, 65 * 3), bias: filled(on, 3), m: 65, n: 3, k: 20, beta: 1 },
    }))),
    ...(await findings(cpuGemm(), (on) => ({
      ...{ a: filled(on, 65 * 130), b: filled(on, 130 * 19), c: filled(on, 65 * 19), m: 65, n: 19, k: 130, beta: 1 },
    }))),
    ...(await findings(cpuGemm({ type: f64, transposeA: true, transposeB: true }), (on) => ({
      ...{ a: on.bufferOf('f64', new Float64Array(65 * 13)), b: on.bufferOf('f64', new Float64Array(13 * 19)) },
      ...{ c: on.bufferOf('f64', new Float64Array(65 * 19)), m: 65, n: 19, k: 13 },
    }))),
    ...(await findings(tf32Gemm({ tile: { rows: 64, columns: 64, warp: [32, 32] } }), (on) => ({
      ...{ a: filled(on, 65 * 37), b: filled(on, 37 * 3), c: filled(on, 65 * 3), bias: filled(on, 3), m: 65, n: 3, k: 37, beta: 1 },
    }))),
    ...(await findings(tf32Gemm({ transposeA: true, transposeB: true, tile: { rows: 64, columns: 64, warp: [32, 32] } }), (on) => ({
      ...{ a: filled(on, 65 * 70), b: filled(on, 70 * 9), c: filled(on, 65 * 9), m: 65, n: 9, k: 70 },
    }))),
    ...(await findings(doubleGemm({ by: 'f64x8', tile: { rows: 64, columns: 64, warp: [32, 32], stages: 2 } }), (on) => ({
      ...{ a: on.bufferOf('f64', new Float64Array(65 * 33)), b: on.bufferOf('f64', new Float64Array(33 * 9)) },
      ...{ c: on.bufferOf('f64', new Float64Array(65 * 9)), m: 65, n: 9, k: 33 },
    }))),
    ...(await findings(quantizedGemm('nf4'), (on) => ({
      ...{
        weights: on.bufferOf('u8', new Uint8Array(9 * 32)),
        scales: filled(on, 9),
        x: filled(on, 64),
        y: filled(on, 9),
        rows: 9,
        columns: 64,
      },
    }))),
    ...(await findings(quantizedCpuGemm('q4_K'), (on) => ({
      ...{ weights: on.bufferOf('u8', new Uint8Array(9 * 144)), x: filled(on, 512), y: filled(on, 18), rows: 9, columns: 256, batch: 2 },
    }))),
    ...(await findings(quantizedTileGemm('q6_K', { tile: 64 }), (on) => ({
      ...{ weights: on.bufferOf('u8', new Uint8Array(9 * 210)), x: filled(on, 512), y: filled(on, 18), rows: 9, columns: 256, batch: 2 },
    }))),
    ...(await findings(quantizedGemm('q6_K'), (on) => ({
      ...{ weights: on.bufferOf('u8', new Uint8Array(9 * 210)), x: filled(on, 256), y: filled(on, 9), rows: 9, columns: 256 },
    }))),
  ];
  assert.equal(found, []);
});

test.run();
