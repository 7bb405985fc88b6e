/**
 * `cumetal/cublas`, `cumetal/cufft`, `cumetal/curand` and the procedures of `cumetal/kernels` on an NVIDIA GPU, beside cuBLAS, cuFFT, cuRAND and CUB of the CUDA
 * toolkit there, in turns: milliseconds of a call, of as many in a row as take some milliseconds. `--only WORD` takes the rows that contain a word, or those of a
 * library. Needs nvcc and a GPU; the peers are compiled once in CUMETAL_BENCH_FOLDER, if it is set.
 */
import { dlopen } from 'bun:ffi';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Device } from '../src/api/index.ts';
import { f16, f32, globalIndex, kernel, ptr, u32, when } from '../src/build/index.ts';
import {
  CUBLAS_TF32_TENSOR_OP_MATH,
  cublasCreate,
  cublasDgemm,
  cublasHgemm,
  cublasSaxpy,
  cublasScopy,
  cublasSdot,
  cublasSetMathMode,
  cublasSgemm,
  cublasSgemmStridedBatched,
  cublasSgemv,
} from '../src/cublas/index.ts';
import {
  CUFFT_FORWARD,
  type CufftPlan,
  cufftDestroy,
  cufftExecC2C,
  cufftExecR2C,
  cufftExecZ2Z,
  cufftPlan1d,
  cufftPlan2d,
  cufftPlan3d,
} from '../src/cufft/index.ts';
import {
  type CurandGenerator,
  curandCreateGenerator,
  curandGenerate,
  curandGenerateNormal,
  curandGenerateUniform,
  curandGenerateUniformDouble,
  type RngType,
} from '../src/curand/index.ts';
import { histogram, inclusiveScan, radixSort, radixSortPairs, reduce } from '../src/kernels/index.ts';
import type { Bench, Row } from './report.ts';

const macros = { cuBLAS: 'PEER_BLAS', cuFFT: 'PEER_FFT', cuRAND: 'PEER_RAND', CUB: 'PEER_CUB' } as const;
type Library = keyof typeof macros;
const linked: Readonly<Record<Library, readonly string[]>> = { cuBLAS: ['-lcublas'], cuFFT: ['-lcufft'], cuRAND: ['-lcurand'], CUB: [] };
type Numbers = readonly [which: number, m: number, n: number, k: number];

/** What a row compares: the arguments of the peer, and a call of ours that is made when its turn comes. */
interface Compared {
  readonly name: string;
  readonly library: Library;
  readonly peer: Numbers;
  /** A call to be repeated, and what frees its memory. */
  readonly prepare: (on: Machine) => { readonly call: () => unknown; readonly end?: () => void };
}

/** The device, its handle, and memory with random contents. */
interface Machine {
  readonly device: Device;
  readonly handle: ReturnType<typeof cublasCreate>;
  readonly random: (type: 'f32' | 'f64' | 'u32' | 'f16', count: number) => never;
}

const product = (name: string, which: number, [m, n, k]: readonly [number, number, number], type: 'f32' | 'f64' | 'f16'): Compared => ({
  name: `${name} ${m} x ${n} x ${k}`,
  library: 'cuBLAS',
  peer: [which, m, n, k],
  prepare: ({ handle, random }) => {
    const [a, b, c] = [random(type, m * k), random(type, k * n), random(type, m * n)];
    const gemm = { f32: cublasSgemm, f64: cublasDgemm, f16: cublasHgemm }[type] as typeof cublasSgemm;
    return { call: () => gemm(handle, 'N', 'N', m, n, k, 1, a, m, b, k, 0, c, m) };
  },
});
const inTf32 = (m: number, n: number, k: number): Compared => ({
  ...{ name: `cublasSgemm in tf32 ${m} x ${n} x ${k}`, library: 'cuBLAS', peer: [8, m, n, k] },
  prepare: ({ device, random }) => {
    const handle = cublasCreate(device);
    cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
    const [a, b, c] = [random('f32', m * k), random('f32', k * n), random('f32', m * n)];
    return { call: () => cublasSgemm(handle, 'N', 'N', m, n, k, 1, a, m, b, k, 0, c, m) };
  },
});
const vectors = (name: string, which: number, n: number, call: (on: Machine, x: never, y: never) => () => unknown): Compared => ({
  ...{ name: `${name} of ${n}`, library: 'cuBLAS', peer: [which, 1, n, 1] },
  prepare: (on) => ({ call: call(on, on.random('f32', n), on.random('f32', n)) }),
});
const transposes = { N: 3, T: 4 } as const;
const matrixVector = (trans: 'N' | 'T', m: number, n: number): Compared => ({
  ...{ name: `cublasSgemv ${trans} ${m} x ${n}`, library: 'cuBLAS', peer: [transposes[trans], m, n, 1] },
  prepare: ({ handle, random }) => {
    const [a, x, y] = [random('f32', m * n), random('f32', m + n), random('f32', m + n)];
    return { call: () => cublasSgemv(handle, trans, m, n, 1, a, m, x, 1, 0, y, 1) };
  },
});
const batched: Compared = {
  ...{ name: 'cublasSgemmStridedBatched, 256 of 128 x 128 x 128', library: 'cuBLAS', peer: [7, 128, 128, 128] },
  prepare: ({ handle, random }) => {
    const [a, b, c] = [0, 1, 2].map(() => random('f32', 256 * 128 * 128)) as [never, never, never];
    return {
      call: () => cublasSgemmStridedBatched(handle, 'N', 'N', 128, 128, 128, 1, a, 128, 16384, b, 128, 16384, 0, c, 128, 16384, 256),
    };
  },
};
const transform = (
  name: string,
  [which, m, n, k]: Numbers,
  planOf: (device: Device) => CufftPlan,
  run: (plan: CufftPlan, from: never, to: never) => void,
): Compared => ({
  ...{ name, library: 'cuFFT', peer: [which, m, n, k] },
  prepare: ({ device, random }) => {
    const plan = planOf(device);
    const type = which === 1 ? 'f64' : 'f32';
    const [from, to] = [random(type, 2 * m * n * k), random(type, 2 * m * n * k + 2 * m)];
    return { call: () => run(plan, from, to), end: () => cufftDestroy(plan) };
  },
});
const forward = (plan: CufftPlan, from: never, to: never): void => cufftExecC2C(plan, from, to, CUFFT_FORWARD);
const rows1d = (n: number, batch: number): Compared =>
  transform(`cufftExecC2C, ${batch} of ${n}`, [0, batch, n, 1], (device) => cufftPlan1d(device, n, 'C2C', batch), forward);
const numbers = (type: RngType, which: number, isNormal: boolean, n = 2 ** 26): Compared => ({
  ...{
    name: `curandGenerate${isNormal ? 'Normal' : 'Uniform'} by ${type}, ${n}`,
    library: 'cuRAND',
    peer: [which, Number(isNormal), n, 1],
  },
  prepare: ({ device, random }) => {
    const [generator, out] = [curandCreateGenerator(device, type), random('f32', n)];
    return { call: () => (isNormal ? curandGenerateNormal(generator, out, n, 0, 1) : curandGenerateUniform(generator, out, n)) };
  },
});
const whole = 2 ** 26;
const procedure = (name: string, which: number, call: (on: Machine) => () => unknown, bins = 0): Compared => ({
  ...{ name: `${name} of ${whole}`, library: 'CUB', peer: [which, bins, whole, 1] },
  prepare: (on) => ({ call: call(on) }),
});

const compared: readonly Compared[] = [
  product('cublasSgemm', 0, [4096, 4096, 4096], 'f32'),
  product('cublasSgemm', 0, [4091, 4093, 4099], 'f32'),
  product('cublasSgemm', 0, [3000, 1000, 517], 'f32'),
  product('cublasSgemm', 0, [1024, 1024, 1024], 'f32'),
  inTf32(4096, 4096, 4096),
  inTf32(4091, 4093, 4099),
  inTf32(1024, 1024, 1024),
  product('cublasDgemm', 1, [4096, 4096, 4096], 'f64'),
  product('cublasDgemm', 1, [4091, 4093, 4099], 'f64'),
  product('cublasDgemm', 1, [1024, 1024, 1024], 'f64'),
  product('cublasHgemm', 2, [4096, 4096, 4096], 'f16'),
  batched,
  matrixVector('N', 8192, 8192),
  matrixVector('T', 8192, 8192),
  vectors(
    'cublasSaxpy',
    5,
    whole,
    ({ handle }, x, y) =>
      () =>
        cublasSaxpy(handle, whole, 1, x, 1, y, 1),
  ),
  vectors('cublasSdot', 6, whole, ({ handle, random }, x, y) => {
    const result = random('f32', 1);
    return () => cublasSdot(handle, whole, x, 1, y, 1, result);
  }),
  rows1d(1024, 65536),
  rows1d(2 ** 20, 64),
  rows1d(2 ** 24, 1),
  rows1d(1009, 16384),
  transform(
    'cufftExecZ2Z, 32 of 1048576',
    [1, 32, 2 ** 20, 1],
    (on) => cufftPlan1d(on, 2 ** 20, 'Z2Z', 32),
    (plan, from, to) => cufftExecZ2Z(plan, from, to, CUFFT_FORWARD),
  ),
  transform('cufftExecR2C, 64 of 1048576', [2, 64, 2 ** 20, 1], (on) => cufftPlan1d(on, 2 ** 20, 'R2C', 64), cufftExecR2C),
  transform('cufftExecC2C, 4096 x 4096', [3, 4096, 4096, 1], (on) => cufftPlan2d(on, 4096, 4096, 'C2C'), forward),
  transform('cufftExecC2C, 256 x 256 x 256', [4, 256, 256, 256], (on) => cufftPlan3d(on, 256, 256, 256, 'C2C'), forward),
  numbers('xorwow', 0, false),
  numbers('xorwow', 0, true),
  numbers('philox', 1, false),
  numbers('philox', 1, true),
  numbers('mrg32k3a', 2, false),
  procedure('reduce', 0, ({ device, random }) => {
    const [x, y] = [random('f32', whole), random('f32', 1)];
    return () => reduce('sum').launch(device, { x, y, n: whole });
  }),
  procedure('inclusiveScan', 1, ({ device, random }) => {
    const [x, y] = [random('f32', whole), random('f32', whole)];
    return () => inclusiveScan().launch(device, { x, y, n: whole });
  }),
  procedure('radixSort', 2, ({ device, handle, random }) => {
    const [x, keys] = [random('u32', whole), random('u32', whole)];
    return () => {
      cublasScopy(handle, whole, x, 1, keys, 1);
      radixSort().launch(device, { keys, n: whole });
    };
  }),
  procedure('radixSortPairs', 3, ({ device, handle, random }) => {
    const [x, keys, values] = [random('u32', whole), random('u32', whole), random('u32', whole)];
    return () => {
      cublasScopy(handle, whole, x, 1, keys, 1);
      radixSortPairs().launch(device, { keys, values, n: whole });
    };
  }),
  procedure(
    'histogram with 1024 ranges',
    4,
    ({ device, random }) => {
      const [x, counts] = [random('u32', whole), random('u32', 1024)];
      const made = histogram({ type: u32 });
      return () => made.launch(device, { x, counts, n: whole, bins: 1024, lower: 0, upper: 2 ** 32 - 1 });
    },
    1024,
  ),
];

type Peer = (which: number, m: number, n: number, k: number, count: number) => number;

/** The library of a macro, compiled; undefined where it is not on this machine. */
function peerOf(library: Library, folder: string): Peer | undefined {
  const [source, file] = [join(import.meta.dir, 'libraries/peers.cu'), join(folder, `${library}.so`)];
  // Made before, in a folder that is kept.
  if (existsSync(file)) return opened(file);
  const words = [
    '-O3',
    '-w',
    '-arch=native',
    '-shared',
    '-Xcompiler',
    '-fPIC',
    `-D${macros[library]}`,
    '-o',
    file,
    source,
    ...linked[library],
  ];
  const { exitCode, stderr } = Bun.spawnSync(['nvcc', ...words]);
  if (exitCode !== 0) {
    console.error(`${library}: ${stderr.toString().split('\n')[0]}`);
    return undefined;
  }
  return opened(file);
}

const opened = (file: string): Peer =>
  dlopen(file, { peer: { args: ['i32', 'i32', 'i32', 'i32', 'i32'], returns: 'f64' } }).symbols.peer as unknown as Peer;

/** Rounds numbers to halves. */
const halves = kernel('halves', { x: ptr(f32), y: ptr(f16), n: u32 }, ({ x, y, n }) => {
  const i = globalIndex();
  when(i.lt(n), () => y.at(i).set(x.at(i).get().to(f16)));
});

/** Memory with random contents, and what frees it. */
function machineOf(device: Device): { machine: Machine; free: () => void } {
  const held: { free(): void }[] = [];
  const generator: CurandGenerator = curandCreateGenerator(device, 'philox');
  const random = (type: 'f32' | 'f64' | 'u32' | 'f16', count: number): never => {
    const made = device.allocate(type, count);
    held.push(made);
    if (type === 'f32') curandGenerateUniform(generator, made as never, count);
    else if (type === 'f64') curandGenerateUniformDouble(generator, made as never, count);
    else if (type === 'u32') curandGenerate(generator, made as never, count);
    else halves.launch(device, { grid: Math.ceil(count / 256), block: 256, args: { x: random('f32', count), y: made as never, n: count } });
    return made as never;
  };
  const free = (): void => {
    for (const each of held.splice(0)) each.free();
  };
  return { machine: { device, handle: cublasCreate(device), random }, free };
}

/** Milliseconds of a call of ours, of `count` in a row. */
async function timed(device: Device, call: () => unknown, count: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < count; i++) call();
  await device.synchronize();
  return (performance.now() - start) / count;
}

/** A row: both sides in turns, and the best of each. */
async function rowOf({ name, peer: numbersOf, prepare }: Compared, peer: Peer, device: Device): Promise<Row | undefined> {
  const { machine, free } = machineOf(device);
  const { call, end } = prepare(machine);
  try {
    await timed(device, call, 1);
    const count = Math.max(3, Math.min(200, Math.ceil(8 / (await timed(device, call, 2)))));
    let [ours, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < 3; turn++) {
      const spent = peer(...numbersOf, count);
      if (spent < 0) return undefined;
      other = Math.min(other, spent);
      ours = Math.min(ours, await timed(device, call, count));
    }
    return { name, ours, other, unit: 'ms', ratio: other / ours };
  } finally {
    end?.();
    await device.synchronize();
    free();
  }
}

function openGpu(): Device | undefined {
  try {
    return Device.open('cuda', { print: false });
  } catch (error) {
    console.error(`there is no NVIDIA GPU here: ${(error as Error).message}`);
    return undefined;
  }
}

/** Nothing where there is no GPU or no nvcc. */
export async function libraries(words: readonly string[]): Promise<Bench | undefined> {
  if (Bun.which('nvcc') === null) {
    console.error('there is no nvcc here');
    return undefined;
  }
  const only = words.includes('--only') ? words[words.indexOf('--only') + 1]! : '';
  const kept = process.env.CUMETAL_BENCH_FOLDER;
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  const rows: Row[] = [];
  const device = openGpu();
  if (!device) return undefined;
  try {
    const peers = new Map<Library, Peer | undefined>();
    for (const each of compared.filter(({ name, library }) => name.includes(only) || library === only)) {
      if (!peers.has(each.library)) peers.set(each.library, peerOf(each.library, folder));
      const peer = peers.get(each.library);
      const row = peer && (await rowOf(each, peer, device));
      if (row) {
        rows.push(row);
        console.error(`${row.name}: ${row.ratio.toFixed(3)}`);
      } else console.error(`${each.name}: not compared`);
    }
    await device.close();
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return { bench: 'libraries', about: 'Library functions beside those of the CUDA toolkit: milliseconds of a call', rows };
}
