/**
 * Sizes of 0: each routine writes what mathematics says of no elements (a sum is 0, a product of factors without k is `beta * c` and the bias), and nothing
 * else. One table has a row for each routine with all of its sizes; from it come the launches with each size alone as 0, and with all of them.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Arrays, KernelBuffer } from '../../src/api/index.ts';
import { f16, f64, s8, s32, u8 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import type { Routine } from '../../src/kernels/index.ts';
import * as library from '../../src/kernels/index.ts';
import { close, numbers } from '../support/library.ts';

const test = suite('kernels/empty');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

const all = { ...library };

type Dims = Readonly<Record<string, number>>;
type Given = Readonly<Record<string, readonly number[]>>;
/** What an array is: its element, and how many a size has. */
type Of = readonly [element: keyof Arrays, count: number];
interface Row {
  /** Names of `cumetal/kernels`, without which the table is not whole. */
  readonly names: readonly string[];
  readonly what?: string;
  /** Sizes above 0. */
  readonly dims: Dims;
  /** The arrays that are read: numbers from -1 to 1, or what a function says. */
  readonly inputs?: (d: Dims) => Readonly<Record<string, Of>>;
  readonly values?: Readonly<Record<string, (i: number, d: Dims) => number>>;
  /** The arrays that are written, all of which are 7 before. */
  readonly outputs: (d: Dims) => Readonly<Record<string, Of>>;
  readonly launch: (args: never, d: Dims) => unknown;
  /** What is in the arrays by the definition, in f64. */
  readonly expect: (given: Given, d: Dims) => Readonly<Record<string, readonly number[]>>;
  /** The sizes that are refused as 0, with what the message says. */
  readonly refused?: Readonly<Record<string, RegExp>>;
  /** The sizes that are 0 only where all are. */
  readonly nonzero?: readonly string[];
}

const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i));
const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
const silu = (x: number): number => x / (1 + Math.exp(-x));
/** The rows of a matrix. */
const rowsOf = (x: readonly number[], rows: number, columns: number): number[][] =>
  times(rows, (r) => x.slice(r * columns, (r + 1) * columns));
const softmaxOf = (row: readonly number[]): number[] => {
  const powers = row.map(Math.exp);
  return powers.map((power) => power / sum(powers));
};
const zero = (): number => 0;
const matrix = ({ rows, columns }: Dims): number => rows! * columns!;

const elementwise = (
  name: string,
  arrays: readonly string[],
  launch: Row['launch'],
  of: (values: readonly number[]) => number,
  to = 'y',
): Row => ({
  names: [name],
  dims: { n: 5 },
  inputs: ({ n }) => Object.fromEntries(arrays.map((each) => [each, ['f32', n!]])),
  outputs: ({ n }) => ({ [to]: ['f32', n!] }),
  launch,
  expect: (given, { n }) => ({ [to]: times(n!, (i) => of(arrays.map((each) => given[each]![i]!))) }),
});

const ofRows = (
  name: string,
  launch: Row['launch'],
  of: (row: number[], r: number, given: Given) => number[],
  more: Partial<Row> = {},
): Row => ({
  names: [name],
  dims: { rows: 3, columns: 5 },
  inputs: (d) => ({ x: ['f32', matrix(d)], ...more.inputs?.(d) }),
  outputs: (d) => ({ y: ['f32', matrix(d)] }),
  launch,
  expect: (given, { rows, columns }) => ({ y: rowsOf(given.x!, rows!, columns!).flatMap((row, r) => of(row, r, given)) }),
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'inputs')),
});

const gemmRow = (
  what: string,
  routine: { launch(device: Device, args: never): unknown },
  more: { relu?: boolean; element?: keyof Arrays; to?: keyof Arrays; names?: string[] } = {},
): Row => {
  const { relu = false, element = 'f32', to = element, names = ['gemm'] } = more;
  const type: keyof Arrays = to === 'f16' ? 'f32' : to;
  return {
    names,
    what,
    dims: { m: 3, n: 4, k: 5, batch: 2 },
    inputs: ({ m, n, k, batch }) => ({ a: [element, batch! * m! * k!], b: [element, batch! * k! * n!], bias: [type, n!] }),
    values: { a: (i) => (i % 5) - 2, b: (i) => (i % 3) - 1, bias: (i) => i - 2 },
    outputs: ({ m, n, batch }) => ({ c: [to, batch! * m! * n!] }),
    launch: (args, d) => routine.launch(device, { ...(args as object), ...d, alpha: 2, beta: -1 } as never),
    expect: ({ a, b, bias }, { m, n, k, batch }) => ({
      c: times(batch! * m! * n!, (i) => {
        const [at, r, c] = [Math.floor(i / (m! * n!)), Math.floor(i / n!) % m!, i % n!];
        const product = sum(times(k!, (x) => a![(at * m! + r) * k! + x]! * b![(at * k! + x) * n! + c]!));
        const value = 2 * product - 7 + bias![c]!;
        return relu ? Math.max(value, 0) : value;
      }),
    }),
  };
};

const attentionDims: Dims = { batch: 2, queries: 3, keys: 5, keyHeads: 2, group: 2 };
const attentionSizes = ({ batch, queries, keys, keyHeads, group }: Dims) => ({
  results: batch! * queries! * keyHeads! * group! * 8,
  stored: batch! * keys! * keyHeads! * 8,
});
const poolOf = ({ pageCount, keyHeads }: Dims): number => pageCount! * keyHeads! * 8;
const pageOf = (i: number, { keys }: Dims): number => (i % Math.max(keys!, 1)) + Math.floor(i / Math.max(keys!, 1));
const attentionGiven = (args: object, { group, ...d }: Dims): never => ({ ...args, ...d, heads: d.keyHeads! * group! }) as never;

interface Scores {
  readonly y: number[];
  readonly logSum: number[];
  readonly dq: number[];
  readonly dk: number[];
  readonly dv: number[];
}
/** Attention and its gradients by their definition: heads of eight elements. */
function attend({ q, k, v, dy = q }: Given, d: Dims): Scores {
  const { results, stored } = attentionSizes(d);
  const heads = d.keyHeads! * d.group!;
  const [y, logSum, dq, dk, dv] = [times(results, zero), [] as number[], times(results, zero), times(stored, zero), times(stored, zero)];
  const dot = (a: readonly number[], i: number, b: readonly number[], j: number): number => sum(times(8, (e) => a[i + e]! * b[j + e]!));
  for (let at = 0; at < results / 8; at++) {
    const [b, h] = [Math.floor(at / (d.queries! * heads)), Math.floor((at % heads) / d.group!)];
    const places = times(d.keys!, (j) => ((b * d.keys! + j) * d.keyHeads! + h) * 8);
    const powers = places.map((place) => Math.exp(dot(q!, 8 * at, k!, place) / Math.sqrt(8)));
    const shares = powers.map((power) => power / sum(powers));
    logSum.push(Math.log(sum(powers)));
    const slopes = places.map((place) => dot(dy!, 8 * at, v!, place));
    const mean = sum(slopes.map((slope, j) => slope * shares[j]!));
    for (const [j, place] of places.entries())
      for (let e = 0; e < 8; e++) {
        const change = (shares[j]! * (slopes[j]! - mean)) / Math.sqrt(8);
        y[8 * at + e]! += shares[j]! * v![place + e]!;
        dq[8 * at + e]! += change * k![place + e]!;
        dk[place + e]! += change * q![8 * at + e]!;
        dv[place + e]! += shares[j]! * dy![8 * at + e]!;
      }
  }
  return { y, logSum, dq, dk, dv };
}

const image = { batch: 2, channels: 4, filters: 4, height: 3, width: 3 } as const;
const shapeOf = (d: Dims) => ({
  batch: d.batch!,
  channels: d.channels!,
  filters: d.filters!,
  size: [d.height!, d.width!] as const,
  kernel: 2,
  padding: 1,
});
/** A convolution with filters of 2 by 2 and a frame of zeros: what is multiplied with what. */
function taps(d: Dims, visit: (x: number, weight: number, y: number, filter: number) => void): void {
  const [rows, columns] = library.convolutionSize(shapeOf(d));
  for (let i = 0; i < d.batch! * d.filters! * rows * columns; i++) {
    const [b, f, r, c] = [
      Math.floor(i / (d.filters! * rows * columns)),
      Math.floor(i / (rows * columns)) % d.filters!,
      Math.floor(i / columns) % rows,
      i % columns,
    ];
    for (let w = 0; w < d.channels! * 4; w++) {
      const [channel, y, x] = [w >> 2, r - 1 + ((w >> 1) & 1), c - 1 + (w & 1)];
      if (y >= 0 && y < d.height! && x >= 0 && x < d.width!)
        visit(((b * d.channels! + channel) * d.height! + y) * d.width! + x, f * d.channels! * 4 + w, i, f);
    }
  }
}
const imageCounts = (d: Dims) => {
  const [rows, columns] = library.convolutionSize(shapeOf(d));
  return {
    x: d.batch! * d.channels! * d.height! * d.width!,
    weights: d.filters! * d.channels! * 4,
    y: d.batch! * d.filters! * rows * columns,
  };
};
const loraDims: Dims = { rows: 3, inputs: 4, outputs: 5, rank: 2 };
const product = (m: number, n: number, k: number, a: (r: number, x: number) => number, b: (x: number, c: number) => number): number[] =>
  times(m * n, (i) => sum(times(k, (x) => a(Math.floor(i / n), x) * b(x, i % n))));

const table: readonly Row[] = [
  elementwise(
    'activation',
    ['x'],
    (args, { n }) => library.activation('silu').launch(device, { ...(args as object), n } as never),
    ([x]) => silu(x!),
  ),
  elementwise(
    'activationBackward',
    ['x', 'dy'],
    (args, { n }) => library.activationBackward('relu').launch(device, { ...(args as object), n } as never),
    ([x, dy]) => (x! > 0 ? dy! : 0),
    'dx',
  ),
  elementwise(
    'binary',
    ['a', 'b'],
    (args, { n }) => library.binary('sub').launch(device, { ...(args as object), n } as never),
    ([a, b]) => a! - b!,
  ),
  ofRows(
    'biasAdd',
    (args, d) => library.biasAdd().launch(device, { ...(args as object), n: matrix(d), columns: d.columns } as never),
    (row, _, { bias }) => row.map((x, c) => x + bias![c]!),
    { inputs: ({ columns }) => ({ bias: ['f32', columns!] }) },
  ),
  ofRows('softmax', (args, d) => library.softmax().launch(device, { ...(args as object), ...d } as never), softmaxOf),
  {
    names: ['softmaxBackward'],
    dims: { rows: 3, columns: 5 },
    inputs: (d) => ({ y: ['f32', matrix(d)], dy: ['f32', matrix(d)] }),
    outputs: (d) => ({ dx: ['f32', matrix(d)] }),
    launch: (args, d) => library.softmaxBackward().launch(device, { ...(args as object), ...d } as never),
    expect: ({ y, dy }, { rows, columns }) => ({
      dx: rowsOf(y!, rows!, columns!).flatMap((row, r) =>
        row.map((p, c) => p * (dy![r * columns! + c]! - sum(row.map((each, k) => each * dy![r * columns! + k]!)))),
      ),
    }),
  },
  {
    // No column has the sum 0, whose logarithm is -Infinity, and no target is a column.
    names: ['crossEntropy'],
    dims: { rows: 3, columns: 5 },
    inputs: (d) => ({ x: ['f32', matrix(d)], targets: ['i32', d.rows!] }),
    values: { targets: (i) => i },
    outputs: ({ rows }) => ({ loss: ['f32', rows!], logSum: ['f32', rows!] }),
    launch: (args, d) => library.crossEntropy().launch(device, { ...(args as object), ...d } as never),
    expect: ({ x, targets }, { rows, columns }) => {
      const logSum = rowsOf(x!, rows!, columns!).map((row) => Math.log(sum(row.map(Math.exp))));
      return { logSum, loss: logSum.map((whole, r) => (targets![r]! < columns! ? whole - x![r * columns! + targets![r]!]! : 0)) };
    },
  },
  {
    names: ['crossEntropyBackward'],
    dims: { rows: 3, columns: 5 },
    inputs: (d) => ({ x: ['f32', matrix(d)], targets: ['i32', d.rows!], logSum: ['f32', d.rows!], dloss: ['f32', d.rows!] }),
    values: { targets: (i) => i },
    outputs: (d) => ({ dx: ['f32', matrix(d)] }),
    launch: (args, d) => library.crossEntropyBackward().launch(device, { ...(args as object), ...d } as never),
    expect: ({ x, targets, logSum, dloss }, { rows, columns }) => ({
      dx: rowsOf(x!, rows!, columns!).flatMap((row, r) =>
        row.map((each, c) => (Math.exp(each - logSum![r]!) - Number(c === targets![r])) * dloss![r]!),
      ),
    }),
  },
  ...(['layerNorm', 'rmsNorm'] as const).map((name): Row => {
    const mean = (row: readonly number[]): number => (name === 'layerNorm' ? sum(row) / row.length : 0);
    const scale = (row: readonly number[]): number => 1 / Math.sqrt(sum(row.map((x) => (x - mean(row)) ** 2)) / row.length + 1e-5);
    return {
      names: [name],
      dims: { rows: 3, columns: 5 },
      inputs: (d) => ({ x: ['f32', matrix(d)], weight: ['f32', d.columns!] }),
      // The mean of no elements is 0 / 0.
      outputs: (d) => ({
        y: ['f32', matrix(d)],
        scale: ['f32', d.rows!],
        ...(name === 'layerNorm' ? { mean: ['f32', d.rows!] as const } : {}),
      }),
      launch: (args, d) => all[name]().launch(device, { bias: null, ...(args as object), ...d, epsilon: 1e-5 } as never),
      expect: ({ x, weight }, { rows, columns }) => {
        const rowsOfX = rowsOf(x!, rows!, columns!);
        const y = rowsOfX.flatMap((row) => row.map((each, c) => (each - mean(row)) * scale(row) * weight![c]!));
        return { y, scale: rowsOfX.map(scale), ...(name === 'layerNorm' ? { mean: rowsOfX.map(mean) } : {}) };
      },
    };
  }),
  ...(['layerNormBackward', 'rmsNormBackward'] as const).map(
    (name): Row => ({
      names: [name],
      dims: { rows: 3, columns: 5 },
      inputs: (d) => ({
        x: ['f32', matrix(d)],
        dy: ['f32', matrix(d)],
        weight: ['f32', d.columns!],
        mean: ['f32', d.rows!],
        scale: ['f32', d.rows!],
      }),
      outputs: (d) => ({ dx: ['f32', matrix(d)] }),
      launch: (args, d) => all[name]().launch(device, { ...(args as object), ...d } as never),
      expect: ({ x, dy, weight, mean, scale }, { rows, columns }) => ({
        dx: rowsOf(x!, rows!, columns!).flatMap((row, r) => {
          const hasMean = name === 'layerNormBackward';
          const normal = row.map((each) => (each - (hasMean ? mean![r]! : 0)) * scale![r]!);
          const g = row.map((_, c) => dy![r * columns! + c]! * weight![c]!);
          const [a, b] = [hasMean ? sum(g) / columns! : 0, sum(g.map((each, c) => each * normal[c]!)) / columns!];
          return g.map((each, c) => scale![r]! * (each - a - normal[c]! * b));
        }),
      }),
    }),
  ),
  {
    names: ['normWeightsBackward'],
    dims: { rows: 3, columns: 5 },
    inputs: (d) => ({ x: ['f32', matrix(d)], dy: ['f32', matrix(d)], mean: ['f32', d.rows!], scale: ['f32', d.rows!] }),
    outputs: ({ columns }) => ({ dweight: ['f32', columns!], dbias: ['f32', columns!] }),
    launch: (args, d) => library.normWeightsBackward().launch(device, { ...(args as object), ...d } as never),
    expect: ({ x, dy, mean, scale }, { rows, columns }) => ({
      dweight: times(columns!, (c) => sum(times(rows!, (r) => dy![r * columns! + c]! * (x![r * columns! + c]! - mean![r]!) * scale![r]!))),
      dbias: times(columns!, (c) => sum(times(rows!, (r) => dy![r * columns! + c]!))),
    }),
  },
  {
    names: ['rope', 'ropeTables'],
    dims: { tokens: 3, heads: 2, size: 6, pairs: 2 },
    inputs: ({ tokens, heads, size, pairs }) => ({
      x: ['f32', tokens! * heads! * size!],
      positions: ['i32', tokens!],
      cosines: ['f32', 4 * pairs!],
      sines: ['f32', 4 * pairs!],
    }),
    values: { positions: (i) => i },
    outputs: ({ tokens, heads, size }) => ({ y: ['f32', tokens! * heads! * size!] }),
    launch: (args, d) => library.rope().launch(device, { ...(args as object), ...d } as never),
    expect: ({ x, cosines, sines }, { tokens, heads, size, pairs }) => ({
      y: times(tokens! * heads! * size!, (at) => {
        const [i, start, angle] = [at % size!, at - (at % size!), Math.floor(at / (heads! * size!)) * pairs!];
        if (i >= 2 * pairs!) return x![at]!;
        const p = i % pairs!;
        const [a, b, cosine, sine] = [x![start + p]!, x![start + p + pairs!]!, cosines![angle + p]!, sines![angle + p]!];
        return i < pairs! ? a * cosine - b * sine : a * sine + b * cosine;
      }),
    }),
    refused: { size: /`pairs`/ },
  },
  gemmRow('for processors', library.gemm({ activation: 'relu' }), { relu: true }),
  gemmRow('tiles of 64', library.gemm({ tile: 64 })),
  gemmRow('tiles of 128', library.gemm({ tile: 128, activation: 'relu' }), { relu: true }),
  gemmRow('f64', library.gemm({ type: f64, tile: 64 }), { element: 'f64' }),
  gemmRow('tf32', library.gemm({ tf32: true, tile: 64 })),
  gemmRow('tf32 for processors', library.gemm({ tf32: true })),
  gemmRow('f16', library.gemm({ type: f16, tile: 64 }), { element: 'f16' }),
  gemmRow('s8', library.gemm({ type: s8, tile: 64 }), { element: 'i8', to: 'i32' }),
  gemmRow('s8 for processors', library.cpuGemm({ type: s8 }), { element: 'i8', to: 'i32', names: ['cpuGemm'] }),
  gemmRow('singleGemm', library.singleGemm(), { names: ['singleGemm'] }),
  gemmRow('tf32Gemm by mma', library.tf32Gemm({ activation: 'relu' }), { relu: true, names: ['tf32Gemm'] }),
  gemmRow('tf32Gemm by wgmma', library.tf32Gemm({ by: 'wgmma', tile: { rows: 128, columns: 64 } }), { names: ['tf32Gemm'] }),
  gemmRow('doubleGemm', library.doubleGemm({ by: 'f64x16' }), { element: 'f64', names: ['doubleGemm'] }),
  gemmRow('tensorGemm by mma', library.tensorGemm({ type: f16, by: 'mma', tile: { rows: 64, columns: 64, stages: 3, warp: [32, 32] } }), {
    element: 'f16',
    names: ['tensorGemm'],
  }),
  gemmRow('tensorGemm by wgmma', library.tensorGemm({ type: f16, by: 'wgmma', tile: { rows: 128, columns: 64, stages: 4 } }), {
    element: 'f16',
    names: ['tensorGemm'],
  }),
  ...(['quantizedGemm', 'quantizedTensorGemm', 'quantizedCpuGemm', 'quantizedTileGemm', 'dequantize'] as const).map((name): Row => {
    const isDense = name === 'dequantize';
    const count = ({ rows, blocks, batch }: Dims): number => rows! * (isDense ? 32 * blocks! : batch!);
    return {
      names: [name],
      dims: { rows: 3, blocks: 2, batch: 2 },
      // The scale 1 in each block, and the code 100 for each weight.
      inputs: ({ rows, blocks, batch }) => ({
        weights: ['u8', rows! * blocks! * 34],
        ...(isDense ? {} : { x: ['f32', batch! * blocks! * 32] as const }),
      }),
      values: { weights: (i) => (i % 34 === 0 ? 0 : i % 34 === 1 ? 0x3c : 100) },
      outputs: (d) => ({ y: ['f32', isDense ? d.rows! * d.blocks! * 32 : d.batch! * d.rows!] }),
      launch: (args, { rows, blocks, batch }) => {
        const given = { ...(args as object), rows, columns: 32 * blocks!, ...(isDense ? {} : { batch }) } as never;
        // The kernel of the name, and not the one that serves this device best.
        const options = name === 'quantizedTensorGemm' ? { vectors: 2 } : {};
        const routine = (all[name] as unknown as (format: string, options: object) => Routine)('q8_0', options);
        const plan = routine.plan(given);
        if ([plan.grid].flat().includes(0)) return;
        routine.kernel.module(device, { compile: { target: 'cpu' } });
        const { grid, block, args: own, shared } = plan;
        routine.kernel.launch(device, { grid, block: block as number, args: own, ...(shared ? { shared } : {}) });
      },
      expect: ({ x }, d) => ({
        y: times(isDense ? d.rows! * d.blocks! * 32 : count(d), (i) =>
          isDense ? 100 : 100 * sum(x!.slice(Math.floor(i / d.rows!) * d.blocks! * 32).slice(0, d.blocks! * 32)),
        ),
      }),
    };
  }),
  ...(['f32', 'paged'] as const).map(
    (what): Row => ({
      names: ['attention'],
      what,
      dims: attentionDims,
      inputs: (d) => {
        const { results, stored } = attentionSizes(d);
        return {
          q: ['f32', results],
          k: ['f32', stored],
          v: ['f32', stored],
          ...(what === 'paged' ? { pages: ['i32', d.batch! * d.keys!] as const } : {}),
        };
      },
      values: { pages: (i) => i },
      outputs: (d) => ({ y: ['f32', attentionSizes(d).results], logSum: ['f32', attentionSizes(d).results / 8] }),
      launch: (args, d) =>
        library
          .attention({ size: 8, paged: what === 'paged' })
          .launch(device, { ...(attentionGiven(args, d) as object), ...(what === 'paged' ? { pageSize: 1 } : {}) } as never),
      expect: (given, d) => {
        const { y, logSum } = attend(given, d);
        return { y, logSum };
      },
    }),
  ),
  {
    names: ['attentionBackward'],
    dims: attentionDims,
    inputs: (d) => {
      const { results, stored } = attentionSizes(d);
      return { q: ['f32', results], k: ['f32', stored], v: ['f32', stored], dy: ['f32', results] };
    },
    outputs: (d) => {
      const { results, stored } = attentionSizes(d);
      return { y: ['f32', results], logSum: ['f32', results / 8], dq: ['f32', results], dk: ['f32', stored], dv: ['f32', stored] };
    },
    launch: (args, d) => {
      library.attention({ size: 8 }).launch(device, attentionGiven(args, d));
      return library.attentionBackward({ size: 8 }).launch(device, attentionGiven(args, d));
    },
    expect: (given, d) => ({ ...attend(given, d) }),
  },
  {
    // A page for each key, of which all but one are shared by both sequences: the page of a sequence is that of the other one before.
    names: ['attentionBackward'],
    what: 'paged',
    dims: { ...attentionDims, pageCount: 6 },
    inputs: (d) => ({
      q: ['f32', attentionSizes(d).results],
      k: ['f32', poolOf(d)],
      v: ['f32', poolOf(d)],
      dy: ['f32', attentionSizes(d).results],
      pages: ['i32', d.batch! * d.keys!],
    }),
    values: { pages: (i, d) => pageOf(i, d) },
    outputs: (d) => {
      const { results } = attentionSizes(d);
      return { y: ['f32', results], logSum: ['f32', results / 8], dq: ['f32', results], dk: ['f32', poolOf(d)], dv: ['f32', poolOf(d)] };
    },
    launch: (args, { pageCount, ...d }) => {
      const given = { ...(attentionGiven(args, d) as object), pageSize: 1 } as never;
      library.attention({ size: 8, paged: true }).launch(device, given);
      return library.attentionBackward({ size: 8, paged: true }).launch(device, { ...(given as object), pageCount } as never);
    },
    expect: (given, d) => {
      const width = d.keyHeads! * 8;
      const pages = times(d.batch! * d.keys!, (i) => pageOf(i, d));
      const flat = (pool: readonly number[]): number[] => pages.flatMap((page) => pool.slice(page * width, (page + 1) * width));
      const { y, logSum, dq, dk, dv } = attend({ ...given, k: flat(given.k!), v: flat(given.v!) }, d);
      const pooled = (of: readonly number[]): number[] => {
        const pool = times(poolOf(d), zero);
        for (const [i, value] of of.entries()) pool[pages[Math.floor(i / width)]! * width + (i % width)]! += value;
        return pool;
      };
      return { y, logSum, dq, dk: pooled(dk), dv: pooled(dv) };
    },
    nonzero: ['pageCount'],
  },
  {
    names: ['adam'],
    dims: { n: 5 },
    inputs: ({ n }) => ({ gradients: ['f32', n!] }),
    outputs: ({ n }) => ({ weights: ['f32', n!], first: ['f32', n!], second: ['f32', n!] }),
    launch: (args, { n }) => library.adam().launch(device, { ...(args as object), n, rate: 0, step: 1 } as never),
    expect: ({ gradients }, { n }) => ({
      weights: times(n!, () => 7),
      first: gradients!.slice(0, n!).map((g) => 0.9 * 7 + 0.1 * g),
      second: gradients!.slice(0, n!).map((g) => 0.999 * 7 + 0.001 * g * g),
    }),
  },
  {
    names: ['transpose'],
    dims: { rows: 3, columns: 5 },
    inputs: (d) => ({ x: ['f32', matrix(d)] }),
    outputs: (d) => ({ y: ['f32', matrix(d)] }),
    launch: (args, d) => library.transpose().launch(device, { ...(args as object), ...d } as never),
    expect: ({ x }, { rows, columns }) => ({ y: times(rows! * columns!, (i) => x![(i % rows!) * columns! + Math.floor(i / rows!)]!) }),
  },
  {
    // What is no row of the table gives zeros.
    names: ['gather'],
    dims: { rows: 4, tableRows: 3, columns: 5 },
    inputs: ({ rows, tableRows, columns }) => ({ table: ['f32', tableRows! * columns!], indices: ['i32', rows!] }),
    values: { indices: (i) => [2, 0, 2, 1][i]! },
    outputs: (d) => ({ y: ['f32', matrix(d)] }),
    launch: (args, d) => library.gather().launch(device, { ...(args as object), ...d } as never),
    expect: ({ table: from, indices }, d) => ({
      y: times(matrix(d), (i) =>
        indices![Math.floor(i / d.columns!)]! < d.tableRows!
          ? from![indices![Math.floor(i / d.columns!)]! * d.columns! + (i % d.columns!)]!
          : 0,
      ),
    }),
  },
  {
    names: ['gatherBackward'],
    dims: { rows: 4, tableRows: 3, columns: 5 },
    inputs: (d) => ({ dy: ['f32', matrix(d)], indices: ['i32', d.rows!] }),
    values: { indices: (i) => [2, 0, 2, 1][i]! },
    outputs: ({ tableRows, columns }) => ({ dtable: ['f32', tableRows! * columns!] }),
    launch: (args, d) => library.gatherBackward().launch(device, { ...(args as object), ...d } as never),
    expect: ({ dy, indices }, { rows, tableRows, columns }) => ({
      dtable: times(tableRows! * columns!, (i) =>
        sum(times(rows!, (r) => (indices![r] === Math.floor(i / columns!) ? dy![r * columns! + (i % columns!)]! : 0))),
      ),
    }),
  },
  {
    names: ['reduce'],
    dims: { rows: 3, n: 5 },
    inputs: ({ rows, n }) => ({ x: ['f32', rows! * n!] }),
    outputs: ({ rows }) => ({ y: ['f32', rows!] }),
    launch: (args, d) => library.reduce('sum').launch(device, { ...(args as object), ...d } as never),
    expect: ({ x }, { rows, n }) => ({ y: rowsOf(x!, rows!, n!).map(sum) }),
  },
  {
    names: ['reduce'],
    what: 'max',
    dims: { rows: 3, n: 5 },
    inputs: ({ rows, n }) => ({ x: ['f32', rows! * n!] }),
    outputs: ({ rows }) => ({ y: ['f32', rows!] }),
    launch: (args, d) => library.reduce('max').launch(device, { ...(args as object), ...d } as never),
    expect: ({ x }, { rows, n }) => ({ y: rowsOf(x!, rows!, n!).map((row) => Math.max(...row)) }),
  },
  ...(['argmax', 'argmin'] as const).map(
    (name): Row => ({
      names: [name],
      dims: { rows: 3, n: 5 },
      inputs: ({ rows, n }) => ({ x: ['f32', rows! * n!] }),
      outputs: ({ rows }) => ({ y: ['u32', rows!] }),
      launch: (args, d) => all[name]().launch(device, { ...(args as object), ...d } as never),
      expect: ({ x }, { rows, n }) => ({
        y: rowsOf(x!, rows!, n!).map((row) => row.indexOf(name === 'argmax' ? Math.max(...row) : Math.min(...row))),
      }),
      refused: { n: /`n` is 0/ },
    }),
  ),
  ...(['inclusiveScan', 'exclusiveScan'] as const).map(
    (name): Row => ({
      names: [name],
      dims: { n: 5 },
      inputs: ({ n }) => ({ x: ['f32', n!] }),
      outputs: ({ n }) => ({ y: ['f32', n!] }),
      launch: (args, d) => all[name]().launch(device, { ...(args as object), ...d } as never),
      expect: ({ x }, { n }) => ({ y: times(n!, (i) => sum(x!.slice(0, i + Number(name === 'inclusiveScan')))) }),
    }),
  ),
  {
    names: ['radixSort'],
    dims: { n: 5 },
    outputs: ({ n }) => ({ keys: ['u32', n!] }),
    launch: (args, d) => library.radixSort().launch(device, { ...(args as object), ...d } as never),
    expect: (_, { n }) => ({ keys: times(n!, () => 7) }),
  },
  {
    names: ['radixSortPairs'],
    dims: { n: 5 },
    outputs: ({ n }) => ({ keys: ['i32', n!], values: ['u32', n!] }),
    launch: (args, d) => library.radixSortPairs({ key: s32 }).launch(device, { ...(args as object), ...d } as never),
    expect: (_, { n }) => ({ keys: times(n!, () => 7), values: times(n!, () => 7) }),
  },
  {
    names: ['histogram'],
    dims: { n: 5, bins: 3 },
    inputs: ({ n }) => ({ x: ['u8', n!] }),
    values: { x: (i) => i },
    outputs: ({ bins }) => ({ counts: ['u32', bins!] }),
    launch: (args, d) => library.histogram({ type: u8 }).launch(device, { ...(args as object), ...d, lower: 0, upper: 6 } as never),
    expect: ({ x }, { n, bins }) => ({ counts: times(bins!, (b) => x!.slice(0, n!).filter((each) => Math.floor(each / 2) === b).length) }),
    refused: { bins: /`bins` is 0/, all: /`bins` is 0/ },
  },
  {
    names: ['masked'],
    dims: { n: 5 },
    inputs: ({ n }) => ({ x: ['f32', n!], mask: ['u8', n!] }),
    values: { mask: (i) => i % 2 },
    outputs: ({ n }) => ({ y: ['f32', n!] }),
    launch: (args, d) => library.masked().launch(device, { ...(args as object), ...d, value: -2 } as never),
    expect: ({ x }, { n }) => ({ y: times(n!, (i) => (i % 2 ? x![i]! : -2)) }),
  },
  {
    names: ['compact'],
    dims: { n: 5 },
    inputs: ({ n }) => ({ x: ['f32', n!], mask: ['u8', n!] }),
    values: { mask: (i) => i % 2 },
    outputs: ({ n }) => ({ y: ['f32', Math.floor(n! / 2)], count: ['u32', 1] }),
    launch: (args, d) => library.compact().launch(device, { ...(args as object), ...d } as never),
    expect: ({ x }, { n }) => ({ y: x!.slice(0, n!).filter((_, i) => i % 2), count: [Math.floor(n! / 2)] }),
  },
  {
    names: ['compactBackward'],
    dims: { n: 5 },
    inputs: ({ n }) => ({ dy: ['f32', n!], mask: ['u8', n!] }),
    values: { mask: (i) => i % 2 },
    outputs: ({ n }) => ({ dx: ['f32', n!] }),
    launch: (args, d) => library.compactBackward().launch(device, { ...(args as object), ...d } as never),
    expect: ({ dy }, { n }) => ({ dx: times(n!, (i) => (i % 2 ? dy![(i - 1) / 2]! : 0)) }),
  },
  ...(['gemm', 'direct'] as const).map(
    (algorithm): Row => ({
      names: ['convolution', 'convolutionSize'],
      what: algorithm,
      dims: image,
      inputs: (d) => ({ x: ['f32', imageCounts(d).x], weights: ['f32', imageCounts(d).weights], bias: ['f32', d.filters!] }),
      outputs: (d) => ({ y: ['f32', imageCounts(d).y] }),
      launch: (args, d) => library.convolution({ algorithm }).launch(device, { ...(args as object), ...shapeOf(d) } as never),
      expect: ({ x, weights, bias }, d) => {
        const [rows, columns] = library.convolutionSize(shapeOf(d));
        const y = times(imageCounts(d).y, (i) => bias![Math.floor(i / (rows * columns)) % d.filters!]!);
        taps(d, (from, weight, to) => {
          y[to]! += x![from]! * weights![weight]!;
        });
        return { y };
      },
    }),
  ),
  {
    names: ['convolutionBackward'],
    dims: image,
    inputs: (d) => ({ x: ['f32', imageCounts(d).x], weights: ['f32', imageCounts(d).weights], dy: ['f32', imageCounts(d).y] }),
    outputs: (d) => ({ dx: ['f32', imageCounts(d).x], dweights: ['f32', imageCounts(d).weights], dbias: ['f32', d.filters!] }),
    launch: (args, d) => library.convolutionBackward().launch(device, { ...(args as object), ...shapeOf(d) } as never),
    expect: ({ x, weights, dy }, d) => {
      const counts = imageCounts(d);
      const pixels = d.filters! * d.batch! > 0 ? counts.y / (d.filters! * d.batch!) : 0;
      const [dx, dweights, dbias] = [times(counts.x, zero), times(counts.weights, zero), times(d.filters!, zero)];
      taps(d, (from, weight, to) => {
        dx[from]! += dy![to]! * weights![weight]!;
        dweights[weight]! += dy![to]! * x![from]!;
      });
      for (let i = 0; i < counts.y; i++) dbias[Math.floor(i / pixels) % d.filters!]! += dy![i]!;
      return { dx, dweights, dbias };
    },
  },
  {
    names: ['lora'],
    dims: loraDims,
    inputs: ({ rows, inputs, outputs, rank }) => ({
      x: ['f32', rows! * inputs!],
      weights: ['f32', outputs! * inputs!],
      a: ['f32', rank! * inputs!],
      b: ['f32', outputs! * rank!],
    }),
    outputs: ({ rows, outputs, rank }) => ({ y: ['f32', rows! * outputs!], hidden: ['f32', rows! * rank!] }),
    launch: (args, d) => library.lora().launch(device, { ...(args as object), ...d, scale: 0.5 } as never),
    expect: ({ x, weights, a, b }, { rows, inputs, outputs, rank }) => {
      const hidden = product(
        rows!,
        rank!,
        inputs!,
        (r, k) => x![r * inputs! + k]!,
        (k, c) => a![c * inputs! + k]!,
      );
      const whole = product(
        rows!,
        outputs!,
        inputs!,
        (r, k) => x![r * inputs! + k]!,
        (k, c) => weights![c * inputs! + k]!,
      );
      const part = product(
        rows!,
        outputs!,
        rank!,
        (r, k) => hidden[r * rank! + k]!,
        (k, c) => b![c * rank! + k]!,
      );
      return { hidden, y: whole.map((value, i) => value + 0.5 * part[i]!) };
    },
  },
  {
    names: ['loraBackward'],
    dims: loraDims,
    inputs: ({ rows, inputs, outputs, rank }) => ({
      ...{ x: ['f32', rows! * inputs!], weights: ['f32', outputs! * inputs!], a: ['f32', rank! * inputs!], b: ['f32', outputs! * rank!] },
      ...{ hidden: ['f32', rows! * rank!], dy: ['f32', rows! * outputs!] },
    }),
    outputs: ({ rows, inputs, outputs, rank }) => ({
      da: ['f32', rank! * inputs!],
      db: ['f32', outputs! * rank!],
      dx: ['f32', rows! * inputs!],
    }),
    launch: (args, d) => library.loraBackward().launch(device, { ...(args as object), ...d, scale: 0.5 } as never),
    expect: ({ x, weights, a, b, hidden, dy }, { rows, inputs, outputs, rank }) => {
      const between = product(
        rows!,
        rank!,
        outputs!,
        (r, k) => 0.5 * dy![r * outputs! + k]!,
        (k, c) => b![k * rank! + c]!,
      );
      const plain = product(
        rows!,
        inputs!,
        outputs!,
        (r, k) => dy![r * outputs! + k]!,
        (k, c) => weights![k * inputs! + c]!,
      );
      const added = product(
        rows!,
        inputs!,
        rank!,
        (r, k) => between[r * rank! + k]!,
        (k, c) => a![k * inputs! + c]!,
      );
      return {
        da: product(
          rank!,
          inputs!,
          rows!,
          (r, k) => between[k * rank! + r]!,
          (k, c) => x![k * inputs! + c]!,
        ),
        db: product(
          outputs!,
          rank!,
          rows!,
          (r, k) => 0.5 * dy![k * outputs! + r]!,
          (k, c) => hidden![k * rank! + c]!,
        ),
        dx: plain.map((value, i) => value + added[i]!),
      };
    },
  },
];

/** The sizes as they are, each alone as 0, and all as 0. */
const cases = ({ dims, nonzero }: Row): { name: string; dims: Dims }[] => [
  { name: '', dims },
  ...Object.keys(dims)
    .filter((name) => !nonzero?.includes(name))
    .map((name) => ({ name, dims: { ...dims, [name]: 0 } })),
  { name: 'all', dims: Object.fromEntries(Object.keys(dims).map((name) => [name, 0])) },
];

const tolerance = { f16: 2 ** -10, f32: 4e-6, f64: 1e-13 } as Readonly<Record<string, number>>;

for (const row of table)
  test(`${row.names[0]}${row.what ? `, ${row.what}` : ''}: with ${Object.keys(row.dims).join(', ')} as 0`, async () => {
    for (const { name, dims } of cases(row)) {
      const given: Record<string, readonly number[]> = {};
      const args: Record<string, unknown> = {};
      for (const [word, [element, count]] of Object.entries(row.inputs?.(dims) ?? {})) {
        const of = row.values?.[word];
        given[word] = of ? times(count, (i) => of(i, dims)) : [...numbers(count, word.length + word.charCodeAt(0))];
        args[word] = device.bufferOf(element, (given[word].length ? given[word] : [0]) as never);
      }
      const outputs = row.outputs(dims);
      // An element more, which nothing writes.
      for (const [word, [element, count]] of Object.entries(outputs))
        args[word] = device.bufferOf(element, times(count + 1, () => 7) as never);
      const refused = row.refused?.[name];
      const what = `${row.names[0]} with ${name || 'none'} as 0`;
      if (refused) {
        assert.throws(
          () => row.launch(args as never, dims),
          (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && refused.test(error.message),
          what,
        );
        continue;
      }
      row.launch(args as never, dims);
      const expected = row.expect(given, dims);
      assert.equal(Object.keys(expected).sort(), Object.keys(outputs).sort(), what);
      for (const [word, [element]] of Object.entries(outputs)) {
        const found = Array.from((await (args[word] as KernelBuffer).read()) as ArrayLike<number>, Number);
        close(found, [...expected[word]!, 7], tolerance[element] ?? 0, `${what}: ${word}`);
      }
    }
  });

test('quantizedTensorGemm by digits: no columns give zeros', async () => {
  const [weights, x, y] = [
    device.allocate('u8', 1),
    device.allocate('f32', 1),
    device.bufferOf(
      'f32',
      times(4, () => 7),
    ),
  ];
  library.quantizedTensorGemm('q4_K').launch(device, { weights, x, y, rows: 3, columns: 0 });
  assert.equal([...(await y.read())], [0, 0, 0, 7]);
});

test('the table has every routine', () => {
  const there = new Set(table.flatMap(({ names }) => names));
  // Tables, names and formats are no routines; `tensorAttention` has sizes that `attention` refuses or has.
  const others = new Set([
    'tune',
    'parseTables',
    'tablesText',
    'useTable',
    'normalFloat',
    'normalDistribution',
    'sigmoid',
    'Procedure',
    'Routine',
  ]);
  const functions = Object.entries(library).filter(([name, value]) => typeof value === 'function' && !others.has(name));
  const missing = functions.map(([name]) => name).filter((name) => !there.has(name) && name !== 'tensorAttention');
  assert.equal(missing, []);
});

test.run();
