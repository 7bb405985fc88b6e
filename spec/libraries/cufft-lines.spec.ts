/** Passes over lines, which CPUs run: against the transform of a few impulses, which has a closed form for every length. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as cufft from '../../src/cufft/index.ts';
import { lineRadices, rootCount, stepRoots } from '../../src/cufft/line.ts';
import { linePointers, lineWords } from '../../src/cufft/line-arguments.ts';
import { blockOf, type LineForm, lineKernel, sharedReals } from '../../src/cufft/line-pass.ts';
import { Device } from '../../src/index.ts';
import { type Impulse, impulsesOf, indexOf, product, sumAt } from '../support/impulses.ts';
import { close, numbers } from '../support/library.ts';
import { prove } from '../support/prove.ts';

const test = suite('libraries/cufft-lines');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

/** Elements of rows that may be longer than their numbers: `[rows of a plane, elements of a row]`, and those from one transform to the next. */
interface Rows {
  readonly embed: readonly number[];
  readonly distance: number;
}
const usual = (n: readonly number[]): Rows => ({ embed: n, distance: product(n) });
const half = (n: readonly number[]): number[] => [...n.slice(0, -1), Math.floor(n.at(-1)! / 2) + 1];
const placesOf = (n: readonly number[], k: number): number[] => {
  const at: number[] = [];
  let rest = k;
  for (const length of [...n].reverse()) {
    at.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return at;
};
/** Where the numbers of some transforms are. */
const indices = (n: readonly number[], batch: number, { embed, distance }: Rows): number[] =>
  Array.from({ length: batch * product(n) }, (_, i) => Math.floor(i / product(n)) * distance + indexOf(embed, placesOf(n, i % product(n))));

interface Case {
  readonly n: readonly number[];
  readonly batch?: number;
  readonly isDouble?: boolean;
  readonly direction?: 1 | -1;
  readonly input?: Rows;
  readonly output?: Rows;
  readonly isInPlace?: boolean;
}
const bufferOf = (isDouble: boolean, values: Float64Array) =>
  device.bufferOf(isDouble ? 'f64' : 'f32', (isDouble ? values : Float32Array.from(values)) as never);
const plan = (n: readonly number[], type: cufft.TransformType, batch: number, input?: Rows, output?: Rows): cufft.CufftPlan =>
  cufft.cufftPlanMany(
    ...([device, n.length, n, input?.embed ?? null, 1, input?.distance ?? 0] as const),
    ...([output?.embed ?? null, 1, output?.distance ?? 0, type, batch] as const),
  );
const bounds = { true: 1e-14, false: 2e-6 } as const;

async function complex({ n, batch = 1, isDouble = false, direction = -1, input, output, isInPlace = false }: Case): Promise<void> {
  const [from, to] = [input ?? usual(n), output ?? usual(n)];
  const all = Array.from({ length: batch }, (_, b) => impulsesOf(n, product(n) + b));
  const given = new Float64Array(2 * Math.max(from.distance, to.distance) * batch);
  for (const [b, impulses] of all.entries())
    for (const { at, weight } of impulses)
      for (const part of [0, 1]) given[2 * (b * from.distance + indexOf(from.embed, at)) + part]! += weight[part]!;
  const x = bufferOf(isDouble, given);
  const y = isInPlace ? x : bufferOf(isDouble, new Float64Array(given.length));
  const type = isDouble ? 'Z2Z' : 'C2C';
  const own = plan(n, type, batch, input || output ? from : undefined, input || output ? to : undefined);
  (isDouble ? cufft.cufftExecZ2Z : cufft.cufftExecC2C)(own, x as never, y as never, direction);
  cufft.cufftDestroy(own);
  const result = (await y.read()) as never as ArrayLike<number>;
  const what = `${batch} of ${n.join(' x ')}, ${type}${isInPlace ? ' in place' : ''}`;
  const got = indices(n, batch, to).flatMap((k) => [result[2 * k]!, result[2 * k + 1]!]);
  const expected = all.flatMap((impulses) => Array.from({ length: product(n) }, (_, k) => sumAt(n, impulses, k, direction)).flat());
  close(got, expected, bounds[`${isDouble}`], what, 1);
  if (!isInPlace) close((await x.read()) as never, isDouble ? given : Float32Array.from(given), 0, `${what}: the input`, 1);
}

/** Real numbers, and back from what was made of them. */
async function real({ n, batch = 1, isDouble = false, input, output, isInPlace = false }: Case): Promise<void> {
  const stored = half(n);
  const row = isInPlace ? [...n.slice(0, -1), 2 * stored.at(-1)!] : n;
  const [from, to] = [input ?? usual(row), output ?? usual(stored)];
  const all = Array.from({ length: batch }, (_, b) =>
    impulsesOf(n, product(n) + b).map(({ at, weight }): Impulse => ({ at, weight: [weight[0], 0] })),
  );
  const given = new Float64Array(from.distance * batch);
  for (const [b, impulses] of all.entries())
    for (const { at, weight } of impulses) given[b * from.distance + indexOf(from.embed, at)]! += weight[0];
  const x = bufferOf(isDouble, given);
  const y = isInPlace ? x : bufferOf(isDouble, new Float64Array(2 * to.distance * batch));
  const back = isInPlace ? x : bufferOf(isDouble, new Float64Array(given.length));
  const isMany = input || output;
  const there = plan(n, isDouble ? 'D2Z' : 'R2C', batch, isMany && from, isMany && to);
  const home = plan(n, isDouble ? 'Z2D' : 'C2R', batch, isMany && to, isMany && from);
  const bound = bounds[`${isDouble}`];
  const what = `${batch} of ${n.join(' x ')}, real${isDouble ? ' f64' : ''}${isInPlace ? ' in place' : ''}`;
  (isDouble ? cufft.cufftExecD2Z : cufft.cufftExecR2C)(there, x as never, y as never);
  const result = (await y.read()) as never as ArrayLike<number>;
  const expected = all.flatMap((impulses) =>
    Array.from({ length: product(stored) }, (_, k) => sumAt(n, impulses, indexOf(n, placesOf(stored, k)), -1)).flat(),
  );
  close(
    indices(stored, batch, to).flatMap((k) => [result[2 * k]!, result[2 * k + 1]!]),
    expected,
    bound,
    what,
    1,
  );
  (isDouble ? cufft.cufftExecZ2D : cufft.cufftExecC2R)(home, y as never, back as never);
  const got = (await back.read()) as never as ArrayLike<number>;
  const places = indices(n, batch, from);
  close(
    places.map((i) => got[i]! / product(n)),
    places.map((i) => given[i]!),
    bound,
    `${what}, back`,
    1,
  );
  for (const each of [there, home]) cufft.cufftDestroy(each);
}

test('lines of one thread, of a block, and of two passes', async () => {
  for (const [length, batch] of [
    [8, 33],
    [60, 7],
    [100, 3],
    [143, 2],
    [1000, 2],
    [2048, 3],
    [32768, 1],
    [32768, 4],
  ] as const)
    await complex({ n: [length], batch });
  await complex({ n: [512], batch: 5, direction: 1, isInPlace: true });
  await complex({ n: [16384], isDouble: true, direction: 1 });
});
test('columns of several dimensions, whose number is no multiple of the lanes', async () => {
  await complex({ n: [130, 20], direction: 1 });
  await complex({ n: [9, 5, 14], batch: 2 });
  await complex({ n: [96, 3], isDouble: true, isInPlace: true });
  await complex({ n: [1, 64, 7] });
  await complex({ n: [128, 1, 6], direction: 1 });
});
test('lengths with large primes', async () => {
  await complex({ n: [37], batch: 5 });
  await complex({ n: [509], batch: 2, direction: 1, isInPlace: true });
  await complex({ n: [5, 67], isDouble: true });
  await complex({ n: [67, 5] });
});
test('real numbers by pairs, there and back, in place and not', async () => {
  for (const isInPlace of [false, true]) {
    await real({ n: [100], batch: 3, isInPlace });
    await real({ n: [2048], batch: 2, isDouble: true, isInPlace });
    await real({ n: [6, 70], batch: 2, isInPlace });
    await real({ n: [3, 5, 96], isInPlace });
  }
});
test('rows that are longer than their numbers', async () => {
  const rows = (n: readonly number[], row: number, gap: number): Rows => {
    const embed = [...n.slice(0, -1), row];
    return { embed, distance: product(embed) + gap };
  };
  await complex({ n: [48], batch: 5, input: rows([48], 50, 0), output: rows([48], 49, 0) });
  await complex({ n: [160], batch: 3, input: rows([160], 165, 0), output: rows([160], 163, 0) });
  await complex({ n: [160], batch: 4, input: rows([160], 160, 0), output: rows([160], 240, 0), isInPlace: true });
  await complex({ n: [6, 80], batch: 2, input: rows([6, 80], 81, 0), output: rows([6, 80], 83, 0) });
  await complex({ n: [6, 80], batch: 2, input: rows([6, 80], 81, 4), output: rows([6, 80], 83, 2) });
  await complex({ n: [4, 6, 20], input: rows([4, 6, 20], 21, 0), output: rows([4, 6, 20], 20, 0) });
  await real({ n: [200], batch: 3, input: rows([200], 202, 0), output: rows([101], 103, 0) });
  await real({ n: [200], batch: 3, input: rows([200], 203, 0), output: rows([101], 103, 0) });
  await real({ n: [6, 80], batch: 2, input: rows([6, 80], 82, 0), output: rows([6, 41], 44, 0) });
});
prove(test, 'lines of many lengths', async () => {
  for (const isDouble of [false, true]) {
    for (let length = 2; length <= 300; length++) await complex({ n: [length], batch: 3, isDouble });
    for (let bits = 9; bits <= 20; bits++) await complex({ n: [2 ** bits], batch: bits < 14 ? 3 : 1, isDouble, direction: 1 });
    for (const length of [66, 90, 130, 154, 350, 1014, 8192, 16384, 65536]) await real({ n: [length], batch: 2, isDouble });
    for (const length of [1009, 3000, 10007, 20000, 30030]) await complex({ n: [length], isDouble });
    for (const length of [32768, 65536]) await real({ n: [length], batch: 4, isDouble });
    for (const length of [20011, 50000]) await complex({ n: [length], batch: 4, isDouble });
    for (const n of [
      [2048, 5],
      [4096, 3],
      [8192, 4],
      [256, 256],
      [7, 11, 13],
      [33, 64, 10],
    ]) {
      await complex({ n, isDouble });
      await complex({ n, isDouble, isInPlace: true });
      await real({ n, isDouble });
      await real({ n, isDouble, isInPlace: true });
    }
  }
});

test('the roots of the steps of a line are as many as its steps read', () => {
  for (const length of [1, 2, 8, 64, 30, 125, 16384]) assert.is(stepRoots(lineRadices(length)!).length, rootCount(lineRadices(length)!));
  assert.is(lineRadices(17), undefined);
  for (let bits = 1; bits <= 14; bits++) assert.is(product(lineRadices(2 ** bits)!), 2 ** bits);
});

test('no races and no missing barriers', async () => {
  const common = { precision: 'f32', from: 'parts', to: 'parts', isFull: true } as const;
  const forms: readonly LineForm[] = [
    { ...common, across: 'rows', lanes: 4, lengths: [32, 1], kind: 'plain', pitches: [32, 32] },
    { ...common, across: 'columns', lanes: 8, lengths: [8, 16], kind: 'plain' },
    { ...common, across: 'columns', lanes: 4, lengths: [32, 1], kind: 'first' },
    { ...common, across: 'items', lanes: 4, lengths: [8, 16], kind: 'plain' },
    { ...common, across: 'items', lanes: 4, lengths: [5, 7], kind: 'split' },
    { ...common, across: 'items', lanes: 4, lengths: [16, 8], kind: 'split', isLong: true },
    { ...common, across: 'items', lanes: 4, lengths: [8, 16], kind: 'join' },
    { ...common, across: 'items', lanes: 4, lengths: [8, 16], kind: 'convolution' },
  ];
  for (const form of forms) {
    const kernel = lineKernel(form);
    kernel.module(device, { compile: { target: 'cpu', sanitize: true, marks: true } });
    const whole = product(form.lengths);
    const [units, inner] = [form.across === 'rows' ? 32 : 2, 16];
    const memory = linePointers.map((name, i) => [name, device.bufferOf('f32', numbers(64 * (whole + 1), i + 1))]);
    const isItems = form.across === 'items';
    const pitch = isItems ? whole + 1 : whole * inner;
    const words = { units, inner, fromPitch: pitch, fromStep: inner, toPitch: pitch, toStep: form.kind === 'first' ? whole : inner };
    const args = { ...Object.fromEntries(memory), ...words, length: Math.floor(whole / 2) };
    assert.equal(Object.keys(args).sort(), [...linePointers, ...lineWords].sort());
    const sanitize = { kinds: new Set(['memory', 'race', 'init', 'sync'] as const), source: kernel.source };
    const options = { block: blockOf(form) as never, shared: 4 * sharedReals(form), args: args as never, watch: { sanitize } };
    const launched = kernel.launch(device, { grid: form.lengths[1] === 1 ? 1 : 2, ...options });
    assert.equal(
      (await launched.ended()).warnings.map(({ code, message }) => `${code} ${message}`),
      [],
      JSON.stringify(form),
    );
  }
});

test.run();
