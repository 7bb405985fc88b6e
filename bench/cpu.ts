/**
 * The CPU device against other ways to run such kernels on a CPU, one thread each, in alternation: eleven kernels, as PTX through the whole
 * pipeline, as OpenCL through PoCL (its default method and its best one), and as plain loops through g++ (-O3 and -Ofast). The device runs native code
 * where the machine can, compiled before the time counts as that of its peers is; a column has its WebAssembly, and `--native=never` measures that alone.
 * Products and sums are rounded twice, as the peers do. Further columns: the device with its default, which rounds once as CUDA does, and each
 * number of lanes; with `--node=PATH` the device in that Node, whose engine may fuse in one instruction. `--workers` compares two threads with one, by
 * rates, and by the processor time of the busier thread, which counts how work is shared out also on a machine that does other work.
 * `--ours` shows the effect of a change, also with `--fma=exact`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedWorker } from '../scripts/worker.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { loadLibrary } from '../src/device/cpu/launch/library.ts';
import {
  type Device,
  type Dim3,
  type EngineOptions,
  type Fma,
  type LaunchArgument,
  type LaunchRequest,
  nativeModes,
} from '../src/device/device.ts';
import { openCpuDevice } from '../src/device/index.ts';
import { type Bar, type Bench, geomean, type Row } from './report.ts';
import { busiestMs } from './thread-times.ts';

export const folder = join(import.meta.dirname, 'kernels/cpu');
export const rounds = 5;
/** Milliseconds of launches before the engine has compiled what is hot. */
const warmingMs = 750;
/** Sizes of lane groups. */
const widths = [4, 8, 16, 32] as const;

export interface Kernel {
  readonly name: string;
  readonly entry?: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Buffers of floats (count, scale, least) or of words (count), and numbers. */
  readonly args: readonly (
    | readonly ['floats', number, number, number]
    | readonly ['words', number]
    | readonly ['float', number]
    | readonly ['int', number]
  )[];
  /** What one launch does of what is counted. */
  readonly units: number;
  readonly unit: string;
  /** Launches that are timed together. */
  readonly times?: number;
}

const reals = (count: number, scale = 1, least = 0): readonly ['floats', number, number, number] => ['floats', count, scale, least];
const words = (count: number) => ['words', count] as const;
const int = (value: number) => ['int', value] as const;
const line = (threads: number): { grid: Dim3; block: Dim3 } => ({ grid: [threads / 256, 1, 1], block: [256, 1, 1] });
const sgemm = (tile: number): Kernel => ({
  name: `sgemm${tile}`,
  grid: [512 / tile, 512 / tile, 1],
  block: [tile, tile, 1],
  args: [reals(262144), reals(262144), reals(262144), int(512)],
  units: 2 * 512 ** 3,
  unit: 'FLOP',
});
const saxpy = (name: string, n: number, times: number): Kernel => ({
  name,
  entry: 'saxpy',
  ...line(n),
  args: [reals(n), reals(n), ['float', 1e-6], int(n)],
  units: 12 * n,
  unit: 'B',
  times,
});
const many = 4194304;

/** Numbers of `peer.cpp`. */
export const kernels: readonly Kernel[] = [
  saxpy('saxpy', 8388608, 1),
  saxpy('saxpy_small', 16384, 64),
  {
    name: 'stencil5',
    grid: [16, 256, 1],
    block: [64, 4, 1],
    args: [reals(1048576), reals(1048576), int(1024)],
    units: 1048576,
    unit: 'points',
  },
  sgemm(16),
  sgemm(32),
  { name: 'reduce', ...line(many), args: [reals(many), reals(16384), int(many)], units: many, unit: 'elements' },
  { name: 'shuffled', ...line(many), args: [reals(many), reals(16384), int(many)], units: many, unit: 'elements' },
  { name: 'histogram', ...line(262144), args: [words(many), words(256), int(many)], units: many, unit: 'elements' },
  { name: 'xorshift', ...line(262144), args: [words(262144), int(262144), int(64)], units: 262144 * 64, unit: 'turns' },
  { name: 'sha256', ...line(65536), args: [words(65536 * 16), words(65536 * 8), int(65536)], units: 65536, unit: 'blocks' },
  { name: 'mandelbrot', grid: [32, 32, 1], block: [16, 16, 1], args: [words(262144), int(512), int(256)], units: 262144, unit: 'pixels' },
  {
    name: 'black_scholes',
    ...line(262144),
    args: [reals(262144, 25, 5), reals(262144, 99, 1), reals(262144, 9.75, 0.25), reals(262144), reals(262144), int(262144)],
    units: 262144,
    unit: 'options',
  },
];

/** Gives, each time, how many units a second the best of some launches on the CPU device does. */
export const ours = (kernel: Kernel, metallib: Uint8Array, options: EngineOptions): (() => number) =>
  rater(kernel, launcher(kernel, metallib, openCpuDevice(options)));

/** Gives, each time, how many units a second the best of some launches does. */
export function rater(kernel: Kernel, launch: () => number): () => number {
  let isWarm = false;
  return () => {
    let least = Number.POSITIVE_INFINITY;
    const start = performance.now();
    // What others compile before they run, the engine compiles while it runs.
    const lasts = isWarm ? 250 : 250 + warmingMs;
    isWarm = true;
    for (let i = 0; i < 5 || performance.now() - start < lasts; i++) least = Math.min(least, launch());
    return (kernel.units * (kernel.times ?? 1)) / (least / 1000);
  };
}

/** Launches a kernel as often as is timed together each time, with arguments of its own; the milliseconds that the kernel took. */
export function launcher(kernel: Kernel, metallib: Uint8Array, device: Device, watch: Pick<LaunchRequest, 'sanitize'> = {}): () => number {
  const diagnostics = new Diagnostics();
  const module = device.load(metallib, diagnostics);
  const args = kernel.args.map((arg): LaunchArgument => {
    if (arg[0] === 'int') return { kind: 'bytes', bytes: new Uint8Array(Int32Array.of(arg[1]).buffer) };
    if (arg[0] === 'float') return { kind: 'bytes', bytes: new Uint8Array(Float32Array.of(arg[1]).buffer) };
    const buffer = device.allocate(4 * arg[1], diagnostics)!;
    buffer.write(arg[0] === 'words' ? numbers(arg[1]) : floats(...(arg.slice(1) as [number, number, number])));
    return { kind: 'buffer', buffer };
  });
  const request = {
    kernel: kernel.entry ?? kernel.name,
    grid: kernel.grid,
    block: kernel.block,
    dynamicSharedBytes: 0,
    args,
    timeoutMs: 0,
    ...watch,
  };
  return () => {
    let time = 0;
    for (let k = 0; k < (kernel.times ?? 1); k++) time += module?.launch(request, diagnostics)?.durationMs ?? Number.NaN;
    if (diagnostics.list.length > 0) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
    return time;
  };
}

function* generated(count: number): Generator<number> {
  for (let i = 0, x = 12345; i < count; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    yield x;
  }
}
export const numbers = (count: number): Uint8Array => new Uint8Array(Uint32Array.from(generated(count), (x) => x >>> 7).buffer);
export const floats = (count: number, scale: number, least: number): Uint8Array =>
  new Uint8Array(Float32Array.from(generated(count), (x) => least + (scale * (x >>> 8)) / 16777216).buffer);

/** Ways of PoCL to run the work-items of a group, the default one first; `repl` does not end for some kernels. */
const pocls = ['', 'cbs', 'repl'] as const;

interface Peers {
  readonly native: readonly string[];
  readonly opencl: string;
  /** What runs a kernel in Node, but for its name; nothing where no Node was named. */
  readonly node: readonly string[] | undefined;
}

/** The device as a program for Node, with the library that it takes. */
async function inNode(node: string, at: string, metallib: Uint8Array): Promise<readonly string[]> {
  const entry = join(import.meta.dirname, 'in-node.ts');
  const { success, logs } = await Bun.build({
    entrypoints: [entry],
    outdir: at,
    target: 'node',
    naming: 'in-node.mjs',
    external: ['bun:ffi'],
    plugins: [await embeddedWorker()],
  });
  if (!success) throw new Error(logs.join('\n'));
  const library = join(at, 'eleven.metallib');
  writeFileSync(library, metallib);
  return [node, join(at, 'in-node.mjs'), library];
}

/** Builds the peers; nothing, said on the way, where one is not on this machine. */
export function peersIn(at: string): Omit<Peers, 'node'> | undefined {
  const build = (out: string, ...options: string[]): string | undefined => {
    const command = ['g++', '-march=native', ...options, join(folder, 'peer.cpp'), '-o', join(at, out)];
    const { exitCode } = Bun.spawnSync(out === 'opencl' ? [...command, '-lOpenCL'] : command, { stderr: 'ignore' });
    return exitCode === 0 ? join(at, out) : undefined;
  };
  if (!Bun.which('g++')) {
    console.error('g++ is not on the PATH');
    return undefined;
  }
  const native = [build('o3', '-O3'), build('ofast', '-Ofast')].filter((path) => path !== undefined);
  const opencl = build('opencl', '-O3', '-DWITH_OPENCL');
  if (!opencl || rateOf([opencl, 'opencl', 'saxpy', join(folder, 'eleven.cu')], '') === undefined) {
    console.error('PoCL is not there; it comes as pocl-opencl-icd and ocl-icd-opencl-dev');
    return undefined;
  }
  return { native, opencl };
}

export function rateOf(command: readonly string[], method: string): number | undefined {
  const env = { ...process.env, POCL_DEVICES: 'basic', ...(method === '' ? {} : { POCL_WORK_GROUP_METHOD: method }) };
  const { exitCode, stdout } = Bun.spawnSync([...command], { env, stderr: 'ignore', timeout: 20_000 });
  const rate = Number(stdout.toString());
  return exitCode === 0 && rate > 0 ? rate : undefined;
}

/** Rows against PoCL's default method; what the others do is printed beside. */
export async function cpu(given: readonly string[] = []): Promise<Bench | undefined> {
  const fma: Fma = given.includes('--fma=exact') ? 'exact' : 'fast';
  const engine = given.includes('--engine=lane') ? ('lane' as const) : ('auto' as const);
  const native = nativeModes.find((mode) => given.includes(`--native=${mode}`)) ?? 'always';
  const threads = Number(given.find((word) => word.startsWith('--threads='))?.slice('--threads='.length) ?? 1);
  const only = given.find((word) => word.startsWith('--only='))?.slice('--only='.length);
  const at = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    const isAlone = given.includes('--ours') || given.includes('--workers');
    const peers = isAlone ? undefined : peersIn(at);
    if (!peers && !isAlone) return undefined;
    const path = join(folder, 'eleven.ptx');
    const compiled = compile(new SourceFile(path, readFileSync(path, 'utf8')), { target: 'macos15' }, new Diagnostics());
    if (!compiled) throw new Error('the kernels do not compile');
    if (given.includes('--workers')) {
      const open = (kernel: Kernel, threads: number) =>
        launcher(kernel, compiled.metallib, openCpuDevice({ fma, engine, threads, native }));
      const rows = kernels
        .filter(({ name }) => only === undefined || name === only)
        .map((each) => scalingOf(each, open(each, 2), open(each, 1)));
      return { bench: 'cpu --workers', about: 'two threads against one, best of many launches, the better of rounds', rows };
    }
    // Ours alone, to see what a change does.
    if (given.includes('--ours')) {
      for (const kernel of kernels.filter(({ name }) => only === undefined || name === only))
        console.log(
          `${kernel.name}: ${(ours(kernel, compiled.metallib, { fma, engine, threads, native })() / 1e6).toFixed(1)} M${kernel.unit}/s`,
        );
      process.exit(0);
    }
    const nodePath = given.find((word) => word.startsWith('--node='))?.slice('--node='.length);
    const node = nodePath === undefined ? undefined : await inNode(nodePath, at, compiled.metallib);
    const chosen = kernels.filter(({ name }) => only === undefined || name === only);
    const found = chosen.map((kernel) =>
      compared(
        kernel,
        chosenLanes(kernel, compiled.metallib),
        (more) => ours(kernel, compiled.metallib, { engine, threads, native, ...more }),
        {
          ...peers!,
          node,
        },
      ),
    );
    const about = `one thread each, best of many launches in ${rounds} rounds; fma fast`;
    return { bench: 'cpu', about, rows: found.map(({ row }) => row), bars: barsOf(found) };
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

/** Two threads and one in turns: a machine that does other work meanwhile is as busy for both, so the best round of each counts. */
function scalingOf(kernel: Kernel, two: () => number, one: () => number): Row {
  const runs = [two, one];
  const rates = runs.map((launch) => rater(kernel, launch));
  const best = [0, 0];
  const busiest = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 2 * rounds; round++)
    for (const [i, rate] of rates.entries()) {
      best[i] = Math.max(best[i]!, rate());
      busiest[i] = Math.min(busiest[i]!, busiestMs(runs[i]!, 250) ?? Number.NaN);
    }
  const [mine, other] = best.map((rate) => rate / 1e6) as [number, number];
  console.log(`${kernel.name}: ${(mine / other).toFixed(2)}; by the busier thread ${(busiest[1]! / busiest[0]!).toFixed(2)}`);
  return { name: kernel.name, ours: mine, other, unit: `M${kernel.unit}/s`, ratio: mine / other };
}

/** What the device does with a kernel beside what others do, as units a second. */
interface Compared {
  readonly row: Row;
  readonly fast: number;
  readonly exact: number;
  readonly exactInNode: number | undefined;
  /** The chosen number of lanes against the best one, of WebAssembly. */
  readonly chosen: number;
  readonly pocl: number | undefined;
  readonly bestPocl: number | undefined;
  readonly native: number;
}

/** The number of lanes chosen for a kernel. */
function chosenLanes({ name, entry = name, block }: Kernel, metallib: Uint8Array): number {
  const [kernel] = loadLibrary(metallib, new Diagnostics(), { fma: 'fast', kernels: [entry] })!.kernels;
  return kernel!.compiled(block).lanes;
}

function compared(
  kernel: Kernel,
  lanes: number,
  device: (options: EngineOptions) => () => number,
  { native, opencl, node }: Peers,
): Compared {
  const rates = new Map<string, number[]>();
  const note = (name: string, rate: number | undefined): void => {
    if (rate !== undefined) rates.set(name, [...(rates.get(name) ?? []), rate]);
  };
  const mine: readonly (readonly [string, () => number])[] = [
    ['fast', device({ fma: 'fast' })],
    ['exact', device({ fma: 'exact' })],
    ['WebAssembly', device({ fma: 'fast', native: 'never' })],
    ...widths.map((lanes) => [`${lanes} lanes`, device({ fma: 'fast', engine: 'simd', lanes, native: 'never' })] as const),
  ];
  const failed = new Set<string>();
  const others: readonly (readonly [string, () => number | undefined])[] = [
    ...(node ? [['exact in Node', () => rateOf([...node, kernel.name, 'exact'], '')] as const] : []),
    ...native.map((path, i) => [i === 0 ? 'g++ -O3' : 'g++ -Ofast', () => rateOf([path, 'native', kernel.name], '')] as const),
    ...pocls.map(
      (method) =>
        [`PoCL ${method || 'default'}`, () => rateOf([opencl, 'opencl', kernel.name, join(folder, 'eleven.cu')], method)] as const,
    ),
  ];
  const contestants = [...mine, ...others];
  // Each round starts at another one: who comes after whom matters where wide vectors slow a processor down for a while.
  for (let round = 0; round < rounds; round++)
    for (let i = 0; i < contestants.length; i++) {
      const [name, run] = contestants[(i + Math.floor((round * contestants.length) / rounds)) % contestants.length]!;
      // What does not end is not asked again.
      const rate = failed.has(name) ? undefined : run();
      if (rate === undefined) failed.add(name);
      note(name, rate);
    }
  // The best round of each: what other tenants of a machine do slows some of them down, for seconds and by up to a third.
  const all = new Map([...rates].map(([name, each]) => [name, Math.max(...each)] as const));
  const best = (names: RegExp): number | undefined => {
    const found = [...all].filter(([name]) => names.test(name)).map(([, rate]) => rate);
    return found.length > 0 ? Math.max(...found) : undefined;
  };
  const fast = all.get('fast')!;
  const beside = [...all].filter(([name]) => name !== 'fast').map(([name, rate]) => `${name} ${(fast / rate).toFixed(2)}`);
  console.log(`${kernel.name}: ${(fast / 1e6).toFixed(1)} M${kernel.unit}/s, which is of ${beside.join(', ')}`);
  const pocl = all.get('PoCL default');
  const other = pocl ?? best(/^g/)!;
  const row = { name: kernel.name, ours: fast / 1e6, other: other / 1e6, unit: `M${kernel.unit}/s`, ratio: fast / other };
  return {
    row,
    fast,
    exact: all.get('exact')!,
    exactInNode: all.get('exact in Node'),
    // Two devices do the same at different rates, by where their memory is.
    chosen: Math.max(all.get('WebAssembly')!, all.get(`${lanes} lanes`) ?? 0) / best(/lanes$/)!,
    pocl,
    bestPocl: best(/^PoCL/),
    native: best(/^g/)!,
  };
}

/** What the whole is measured by. */
function barsOf(found: readonly Compared[]): Bar[] {
  const known = found.flatMap((each) => (each.pocl && each.bestPocl ? [{ ...each, pocl: each.pocl, bestPocl: each.bestPocl }] : []));
  const least = (each: readonly { readonly row: Row; readonly value: number }[]): string =>
    each.reduce((least, one) => (one.value < least.value ? one : least)).row.name;
  const slowest = known.map(({ row, fast, pocl }) => ({ row, value: fast / pocl }));
  const chosen = found.map((each) => ({ row: each.row, value: each.chosen }));
  const mean = (name: string, bar: number, ratios: readonly number[]): Bar => ({
    name: `${name}, geometric mean`,
    value: geomean(ratios),
    bar,
  });
  if (known.length === 0) return [];
  return [
    mean(
      'of PoCL by default',
      2.5,
      known.map(({ fast, pocl }) => fast / pocl),
    ),
    mean(
      'of the best of PoCL',
      1.5,
      known.map(({ fast, bestPocl }) => fast / bestPocl),
    ),
    mean(
      'of PoCL by default, fma exact',
      1.5,
      known.map(({ exact, pocl }) => exact / pocl),
    ),
    ...(known.some(({ exactInNode }) => exactInNode === undefined)
      ? []
      : [
          mean(
            'of PoCL by default, fma exact, in Node',
            1.5,
            known.map(({ exactInNode, pocl }) => exactInNode! / pocl),
          ),
        ]),
    mean(
      'of the better g++',
      0.35,
      found.map(({ fast, native }) => fast / native),
    ),
    { name: `of PoCL by default, the least (${least(slowest)})`, value: Math.min(...slowest.map(({ value }) => value)), bar: 0.15 },
    { name: `of the best number of lanes, the worst (${least(chosen)})`, value: Math.min(...chosen.map(({ value }) => value)), bar: 0.9 },
  ];
}
