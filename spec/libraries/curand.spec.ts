/** cuRAND's numbers: what the library printed on an H200 (`fixtures/libraries/curand.cu`), the moments of distributions, and points by their definition. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KernelBuffer } from '../../src/api/index.ts';
import * as curand from '../../src/curand/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { close } from '../support/library.ts';
import { prove } from '../support/prove.ts';

const test = suite('libraries/curand');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

/** Twelve numbers of a generator's output at some places, by the words of the recording. */
const recording = new Map<string, { readonly isExact: boolean; readonly place: number; readonly numbers: number[] }[]>();
const fixture = new URL('../../fixtures/libraries/curand.txt.gz', import.meta.url);
for (const line of gunzipSync(readFileSync(fixture)).toString().trim().split('\n')) {
  const [, equal, name, place, values] = /^(=?)(.+?) (\d+) \d+: (.*)$/.exec(line)!;
  const all = recording.get(name!) ?? [];
  all.push({ isExact: equal === '=', place: Number(place), numbers: values!.trim().split(' ').map(Number) });
  recording.set(name!, all);
}

type Run = (generator: curand.CurandGenerator, out: never, count: number) => void;
const kinds: Readonly<Record<string, { readonly element: 'u32' | 'f32' | 'f64'; readonly run: Run }>> = {
  integers: { element: 'u32', run: curand.curandGenerate },
  uniform: { element: 'f32', run: curand.curandGenerateUniform },
  'uniform double': { element: 'f64', run: curand.curandGenerateUniformDouble },
  normal: { element: 'f32', run: (g, out, n) => curand.curandGenerateNormal(g, out, n, 0, 1) },
  'normal double': { element: 'f64', run: (g, out, n) => curand.curandGenerateNormalDouble(g, out, n, 0, 1) },
  'log normal': { element: 'f32', run: (g, out, n) => curand.curandGenerateLogNormal(g, out, n, 0.5, 0.25) },
  'log normal double': { element: 'f64', run: (g, out, n) => curand.curandGenerateLogNormalDouble(g, out, n, 0.5, 0.25) },
};

/** Compares a kind of numbers with the recording, in two parts of which the second continues the first. */
async function compare(
  type: 'xorwow' | 'mrg32k3a' | 'philox',
  kind: string,
  count: number,
  ordering: curand.Ordering = 'default',
): Promise<void> {
  const generator = curand.curandCreateGenerator(device, type);
  curand.curandSetGeneratorOrdering(generator, ordering);
  curand.curandSetPseudoRandomGeneratorSeed(generator, 1234);
  const { element, run } = kinds[kind]!;
  const out = device.allocate(element, count) as KernelBuffer<typeof element>;
  const part = Math.floor(count / 2 / 8) * 8;
  run(generator, out.part(0, part) as never, part);
  run(generator, out.part(part) as never, count - part);
  const values = (await out.read()) as ArrayLike<number>;
  curand.curandDestroyGenerator(generator);
  const places = recording.get(`${type}${ordering === 'legacy' ? ' legacy' : ''} ${kind}`)!;
  assert.ok(places.length > 0);
  for (const { isExact, place, numbers } of places) {
    const found = Array.from({ length: 12 }, (_, i) => values[place + i]!);
    const rounded = element === 'f32' ? numbers.map(Math.fround) : numbers;
    if (isExact) assert.equal(found, rounded, `${type} ${kind} ${place}`);
    else close(found, rounded, element === 'f32' ? 2e-6 : 2e-14, `${type} ${kind} ${place}`);
  }
}

test('XORWOW: the integers of an H200', () => compare('xorwow', 'integers', 90000));
test('MRG32k3a in the legacy ordering: the numbers of f64', () => compare('mrg32k3a', 'uniform double', 9000, 'legacy'));
test('Philox: the numbers of f64, and normal ones but for the last digits', async () => {
  await compare('philox', 'uniform double', 270000);
  await compare('philox', 'normal', 270000);
});
for (const [type, count, ordering] of [
  ['xorwow', 90000, 'default'],
  ['mrg32k3a', 90000, 'default'],
  ['mrg32k3a', 9000, 'legacy'],
  ['philox', 270000, 'default'],
] as const)
  prove(test, `${type}, ${ordering}: every kind of numbers`, async () => {
    for (const kind of Object.keys(kinds)) await compare(type, kind, count, ordering);
  });

test('an offset is a place in the output', async () => {
  const all = device.allocate('u32', 70000);
  const rest = device.allocate('u32', 50);
  const generator = curand.curandCreateGenerator(device, curand.CURAND_RNG_PSEUDO_PHILOX4_32_10);
  curand.curandSetPseudoRandomGeneratorSeed(generator, 2n ** 40n + 5n);
  curand.curandGenerate(generator, all, 70000);
  curand.curandSetGeneratorOffset(generator, 65531);
  // In parts that are no whole groups.
  curand.curandGenerate(generator, rest, 3);
  curand.curandGenerate(generator, rest.part(3), 47);
  assert.equal(await rest.read(), (await all.read()).subarray(65531, 65581));
});

/** The first half of a digest of SHA-256, and the first 16 bytes of the numbers. */
const digest = (values: ArrayBufferView): [digest: string, first: Uint8Array<ArrayBuffer>] => {
  const bytes = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
  return [createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes.slice(0, 16)];
};
test('MRG32k3a: every integer and uniform number of an H200, also those that the least bit of a factor decides', async () => {
  // Digests of what an H200 gave one after another, with the seed that a generator has at first.
  const generator = curand.curandCreateGenerator(device, 'mrg32k3a');
  const recorded = [
    ['integers', 10000, '77f926dc4c2de861'],
    ['uniform', 5000, 'cbf417e5e38b157e'],
    ['uniform double', 3000, 'f201eb213b6896cf'],
  ] as const;
  for (const [kind, count, expected] of recorded) {
    const { element, run } = kinds[kind]!;
    const out = device.allocate(element, count);
    run(generator, out as never, count);
    assert.is(digest((await out.read()) as ArrayBufferView)[0], expected, kind);
  }
});

/** Numbers in two parts, of which the second continues the first. */
async function inParts(generator: curand.CurandGenerator, element: 'u32' | 'u64' | 'f32' | 'f64', count: number, run: Run) {
  const out = device.allocate(element, count) as KernelBuffer<'u32'>;
  const part = Math.floor(count / 16) * 8;
  run(generator, out.part(0, part) as never, part);
  run(generator, out.part(part) as never, count - part);
  return digest((await out.read()) as ArrayBufferView);
}

/**
 * Digests of 20000 numbers of an H200, of 1000 points from the seventh on in 20 dimensions; and the first bytes of normal numbers, whose last digits are others.
 * cuRAND 13.0, `curandGenerate…` in two parts of 10000.
 */
const pointsOfH200 = {
  sobol32: {
    integers: '10eda182e82f5c0b',
    uniform: 'c89215d358c811d5',
    double: '568880ab22a2106b',
    normal: 'a63e93bf081c63bfe740fa3e0f5ec43f',
  },
  scrambledSobol32: {
    integers: 'e16beaf607250dfb',
    uniform: '4e0817c150dc729e',
    double: '81768ac5235cfec9',
    normal: '0d96753fff80313fbfd264bf2087bbbd',
  },
  sobol64: {
    integers: '4a0c5cca62bfed6e',
    uniform: 'c89215d358c811d5',
    double: 'af98d813fba876af',
    normal: 'a63e93bf081c63bfe740fa3e0f5ec43f',
  },
  scrambledSobol64: {
    integers: '05fb26f1c7a14728',
    uniform: '4e0817c150dc729e',
    double: 'b1c88117a23f68d1',
    normal: '0d96753fff80313fbfd264bf2087bbbd',
  },
} as const;
for (const [type, expected] of Object.entries(pointsOfH200))
  test(`points of ${type}: the bits of an H200`, async () => {
    const make = (): curand.CurandGenerator => {
      const generator = curand.curandCreateGenerator(device, type as curand.RngType);
      curand.curandSetQuasiRandomGeneratorDimensions(generator, 20);
      curand.curandSetGeneratorOffset(generator, 7);
      return generator;
    };
    const isLong = type.endsWith('64');
    const integers = await inParts(make(), isLong ? 'u64' : 'u32', 20000, isLong ? curand.curandGenerateLongLong : curand.curandGenerate);
    assert.is(integers[0], expected.integers);
    assert.is((await inParts(make(), 'f32', 20000, curand.curandGenerateUniform))[0], expected.uniform);
    assert.is((await inParts(make(), 'f64', 20000, curand.curandGenerateUniformDouble))[0], expected.double);
    const [, first] = await inParts(make(), 'f32', 20000, (g, out, n) => curand.curandGenerateNormal(g, out, n, 0, 1));
    const words = Uint8Array.from(expected.normal.match(/../g)!, (each) => Number.parseInt(each, 16));
    close(new Float32Array(first.buffer), new Float32Array(words.buffer), 2e-6, type);
  });

/** MT19937: digests of an H200 by seed and count. */
const mt19937 = (seed: bigint): curand.CurandGenerator => {
  const generator = curand.curandCreateGenerator(device, curand.CURAND_RNG_PSEUDO_MT19937);
  curand.curandSetPseudoRandomGeneratorSeed(generator, seed);
  return generator;
};
test('MT19937: the bits of an H200', async () => {
  assert.is((await inParts(mt19937(0n), 'u32', 1000, curand.curandGenerate))[0], '7a1c4fbb5dc00570');
  // What an H200 has at the start of numbers of each kind.
  const starts = [
    ['f32', curand.curandGenerateUniform, 'ad1d443e00708b3d026e193e9063283f'],
    ['f64', curand.curandGenerateUniformDouble, '0000c097b583c83f0000800a006eb13f'],
  ] as const;
  for (const [element, run, expected] of starts) {
    const [, first] = await inParts(mt19937(1234n), element, 16, run);
    assert.is(Buffer.from(first).toString('hex'), expected);
  }
  const normal = (g: curand.CurandGenerator, out: never, n: number): void => curand.curandGenerateNormalDouble(g, out, n, 0, 1);
  const [, first] = await inParts(mt19937(1234n), 'f64', 15, normal);
  close(new Float64Array(first.buffer), new Float64Array(Buffer.from('a0126c22f8e9ebbf28e883cde4d7f7bf', 'hex').buffer.slice(0)), 2e-14);
});
prove(test, 'MT19937: all generators, and the end of a generation', async () => {
  assert.is((await inParts(mt19937(1234n), 'u32', 100_000, curand.curandGenerate))[0], '55cb1f0320ef84b4');
  assert.is((await inParts(mt19937((1n << 40n) | 5n), 'u32', 100_000, curand.curandGenerate))[0], 'dac4eec3aafeff45');
  assert.is((await inParts(mt19937(1234n), 'u32', 5_200_000, curand.curandGenerate))[0], '8c16771cf440a071');
  assert.is((await inParts(mt19937(1234n), 'f32', 5_200_000, curand.curandGenerateUniform))[0], '3dd597176700adfb');
  assert.is((await inParts(mt19937(1234n), 'f64', 5_200_000, curand.curandGenerateUniformDouble))[0], '4d7baa7fae13add3');
});

test("Sobol's points: by their definition, in dimensions that follow each other", async () => {
  const generator = curand.curandCreateGenerator(device, curand.CURAND_RNG_QUASI_SOBOL32);
  curand.curandSetQuasiRandomGeneratorDimensions(generator, 3);
  const out = device.allocate('f32', 24);
  curand.curandGenerateUniform(generator, out, 24);
  const values = await out.read();
  // The points of S. Joe and F. Kuo, in the order of Gray codes.
  const expected = [
    [0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125],
    [0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625],
    [0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375],
  ];
  assert.equal(
    [...values],
    expected.flat().map((value) => Math.fround(value + 2 ** -33)),
  );
});

/** The share of the normal distribution below a number up to 0, by the series of erf and the continued fraction of erfc. */
function shareBelow(z: number): number {
  const x = -z / Math.SQRT2;
  if (x > 2) {
    let fraction = 0;
    for (let n = 200; n >= 1; n--) fraction = n / 2 / (x + fraction);
    return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction) / 2;
  }
  let [term, sum] = [x, x];
  for (let n = 1; n < 60; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return 0.5 - sum / Math.sqrt(Math.PI);
}

for (const type of ['sobol32', 'sobol64', 'scrambledSobol64', 'mt19937'] as const)
  test(`normal numbers of points of ${type}: the share below each is its coordinate`, async () => {
    const make = () => curand.curandCreateGenerator(device, type);
    const n = 257;
    const [shares, normals, singles] = [device.allocate('f64', n), device.allocate('f64', n), device.allocate('f32', n)];
    curand.curandGenerateUniformDouble(make(), shares, n);
    curand.curandGenerateNormalDouble(make(), normals, n, 0, 1);
    curand.curandGenerateNormal(make(), singles, n, 3, 2);
    // Of points of 32 bits, uniform numbers of f64 are the upper ends of what normal ones have the middle of.
    const uniform = (await shares.read()).map((value) => (type === 'sobol32' ? value - 2 ** -33 : value));
    const [normal, single] = [await normals.read(), await singles.read()];
    // The coordinate 0 is the middle of the numbers that it stands for; a half is the middle itself, or next to it.
    for (let i = 0; i < n; i++) {
      const below = normal[i]! <= 0 ? shareBelow(normal[i]!) : shareBelow(-normal[i]!);
      const share = normal[i]! <= 0 ? uniform[i]! : 1 - uniform[i]!;
      assert.ok(
        Math.abs(below / share - 1) < (i === 1 ? 1e-9 : 2e-12) || (normal[i]! > 0 && Math.abs(below - share) < 2 ** -31),
        `${i}: ${normal[i]}`,
      );
      assert.ok(Math.abs(single[i]! - (3 + 2 * normal[i]!)) < 2e-6, `${i}: ${single[i]}`);
    }
    const logs = device.allocate('f64', 3);
    curand.curandGenerateLogNormalDouble(make(), logs, 3, 1, 0.5);
    for (const [i, value] of (await logs.read()).entries()) assert.ok(Math.abs(value / Math.exp(1 + 0.5 * normal[i]!) - 1) < 1e-14);
  });

test("Poisson's numbers of points: the least whose distribution reaches the coordinate", async () => {
  const n = 64;
  const shares = device.allocate('f64', n);
  curand.curandGenerateUniformDouble(curand.curandCreateGenerator(device, 'sobol32'), shares, n);
  const uniform = await shares.read();
  for (const mean of [0.5, 20, 701]) {
    const out = device.allocate('u32', n);
    curand.curandGeneratePoisson(curand.curandCreateGenerator(device, 'sobol32'), out, n, mean);
    for (const [i, value] of (await out.read()).entries()) {
      let [k, own] = [0, Math.exp(-mean)];
      let sum = own;
      while (sum < uniform[i]!) {
        own *= mean / ++k;
        sum += own;
      }
      // Of large means by the normal distribution, whose skewness is less than a deviation of a sixth.
      if (mean < 700) assert.is(value, k, `${mean}: ${i}`);
      else if (i > 0) assert.ok(Math.abs((value - k) / Math.sqrt(mean)) < 0.1, `${mean}: ${i} ${value} ${k}`);
    }
  }
});

prove(test, "Poisson's numbers have their mean and their variance", async () => {
  for (const lambda of [5, 100, 5000]) {
    const generator = curand.curandCreateGenerator(device);
    const out = device.allocate('u32', 8000);
    curand.curandGeneratePoisson(generator, out, 8000, lambda);
    const values = await out.read();
    const mean = values.reduce((a, b) => a + b, 0) / 8000;
    const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / 8000;
    assert.ok(Math.abs(mean - lambda) < 5 * Math.sqrt(lambda / 8000), `${lambda}: ${mean}`);
    assert.ok(Math.abs(variance / lambda - 1) < 0.06, `${lambda}: ${variance}`);
  }
});

test('what is refused', () => {
  const is = (error: unknown): boolean => error instanceof CumetalError && error.code === 'CM5093';
  const generator = curand.curandCreateGenerator(device);
  const out = device.allocate('f32', 8);
  assert.throws(() => curand.curandCreateGenerator(device, 'mtgp32' as 'xorwow'), is);
  assert.throws(() => curand.curandSetGeneratorOffset(curand.curandCreateGenerator(device, 'mt19937'), 8), is);
  assert.throws(() => curand.curandGenerateNormal(generator, out, 3, 0, 1), is);
  assert.throws(() => curand.curandGenerateUniform(generator, out, 9), is);
  assert.throws(() => curand.curandSetQuasiRandomGeneratorDimensions(generator, 2), is);
});

test('the page names every function', () => {
  const page = readFileSync(new URL('../../docs/curand.md', import.meta.url), 'utf8');
  const missing = Object.keys(curand).filter((name) => /^curand/.test(name) && !page.includes(`\`${name}\``));
  assert.equal(missing, []);
});

test.run();
