/**
 * `cumetal/cufft` on the CPU device beside FFTW of single precision (`libfftw3f.so.3`), one thread each, in turns: milliseconds of processor time of a
 * transform, the best of some rounds, so that what else the machine does counts little. FFTW plans by measuring; with `--estimate` by its model.
 * `--only WORD` takes the rows that contain a word.
 */
import { dlopen, ptr } from 'bun:ffi';
import { Device } from '../src/api/index.ts';
import { CUFFT_FORWARD, cufftDestroy, cufftExecC2C, cufftExecR2C, cufftPlan1d, cufftPlan2d } from '../src/cufft/index.ts';
import { type Bench, geomean, type Row } from './report.ts';

const rounds = 7;
/** Milliseconds of one side in a round. */
const roundMs = 60;
/** The least share of FFTW's speed that was asked for. */
const bar = 0.3;

/** Numbers of a transform: rows and columns, or one dimension, and how many of them. */
interface Case {
  readonly n: readonly number[];
  readonly batch: number;
  readonly type: 'C2C' | 'R2C';
}
const total = ({ n, batch }: Case): number => n.reduce((product, each) => product * each, batch);
const nameOf = ({ n, batch, type }: Case): string => `${type} ${batch > 1 ? `${batch} of ` : ''}${n.join(' x ')}`;

const lengths = [1024, 4096, 16384, 65536];
const cases: readonly Case[] = [
  ...(['C2C', 'R2C'] as const).flatMap((type) => [
    ...lengths.map((n): Case => ({ n: [n], batch: 2 ** 18 / n, type })),
    ...[256, 1024].map((n): Case => ({ n: [n, n], batch: 1, type })),
  ]),
  { n: [2 ** 20], batch: 1, type: 'C2C' },
  { n: [1000], batch: 256, type: 'C2C' },
  { n: [1009], batch: 256, type: 'C2C' },
];

const pointer = 'ptr';
const library = () =>
  dlopen('libfftw3f.so.3', {
    fftwf_plan_many_dft: {
      args: ['i32', pointer, 'i32', pointer, pointer, 'i32', 'i32', pointer, pointer, 'i32', 'i32', 'i32', 'u32'],
      returns: pointer,
    },
    fftwf_plan_many_dft_r2c: {
      args: ['i32', pointer, 'i32', pointer, pointer, 'i32', 'i32', pointer, pointer, 'i32', 'i32', 'u32'],
      returns: pointer,
    },
    fftwf_execute: { args: [pointer], returns: 'void' },
    fftwf_destroy_plan: { args: [pointer], returns: 'void' },
  }).symbols;
type Fftw = ReturnType<typeof library>;

/** FFTW; nothing, said on the way, where it is not on this machine. */
function fftwHere(): Fftw | undefined {
  try {
    return library();
  } catch {
    console.error('FFTW is not there; it comes as libfftw3-single3');
    return undefined;
  }
}

/** A side of a comparison: a call to be repeated, what waits for it, what it left, and what frees it. */
interface Side {
  readonly call: () => void;
  readonly wait: () => Promise<unknown> | undefined;
  readonly result: () => Promise<Float32Array>;
  readonly end: () => void;
}

const fraction = (i: number): number => (Math.imul(i + 1, 0x9e37_79b1) >>> 8) / 2 ** 24 - 0.5;
const inputOf = (each: Case): Float32Array =>
  Float32Array.from({ length: total(each) * (each.type === 'R2C' ? 1 : 2) }, (_, i) => fraction(i));
/** Numbers of the last dimension that are stored, and reals of the whole result. */
const stored = ({ n, type }: Case): number => (type === 'R2C' ? Math.floor(n.at(-1)! / 2) + 1 : n.at(-1)!);
const outputReals = (each: Case): number => (2 * total(each) * stored(each)) / each.n.at(-1)!;

function peerOf(fftw: Fftw, each: Case, flags: number): Side {
  const { n, batch, type } = each;
  const [from, to] = [new Float32Array(total(each) * 2), new Float32Array(outputReals(each))];
  const [distance, outDistance] = [total(each) / batch, outputReals(each) / 2 / batch];
  const sizes = Int32Array.from(n);
  const places = [n.length, ptr(sizes), batch, ptr(from), null, 1, distance, ptr(to), null, 1, outDistance] as const;
  const plan = type === 'R2C' ? fftw.fftwf_plan_many_dft_r2c(...places, flags) : fftw.fftwf_plan_many_dft(...places, -1, flags);
  // Planning by measuring writes to both arrays.
  from.set(inputOf(each));
  return {
    call: () => fftw.fftwf_execute(plan),
    wait: () => undefined,
    result: async () => to,
    end: () => {
      fftw.fftwf_destroy_plan(plan);
      // Until here the plan uses it.
      from.fill(0);
    },
  };
}

function oursOf(device: Device, each: Case): Side {
  const { n, batch, type } = each;
  const plan = n.length === 1 ? cufftPlan1d(device, n[0]!, type, batch) : cufftPlan2d(device, n[0]!, n[1]!, type);
  const from = device.bufferOf('f32', inputOf(each));
  const to = device.allocate('f32', outputReals(each));
  return {
    call: () => (type === 'R2C' ? cufftExecR2C(plan, from, to) : cufftExecC2C(plan, from, to, CUFFT_FORWARD)),
    wait: () => device.synchronize(),
    result: async () => Float32Array.from(await to.read()),
    end: () => {
      cufftDestroy(plan);
      from.free();
      to.free();
    },
  };
}

const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function timed({ call, wait }: Side, count: number): Promise<number> {
  const start = spentMs();
  for (let i = 0; i < count; i++) call();
  await wait();
  return (spentMs() - start) / count;
}

/** Throws where results differ by more than 1e-5 of the largest. */
async function assertAlike(name: string, sides: readonly [Side, Side]): Promise<void> {
  for (const side of sides) await timed(side, 1);
  const [a, b] = [await sides[0].result(), await sides[1].result()];
  let [most, error] = [0, 0];
  for (const [i, value] of b.entries()) {
    most = Math.max(most, Math.abs(value));
    error = Math.max(error, Math.abs(value - a[i]!));
  }
  if (!(error <= 1e-5 * most)) throw new Error(`${name}: an error of ${error} beside values of ${most}`);
}

async function rowOf(each: Case, device: Device, fftw: Fftw, flags: number): Promise<Row> {
  const sides = [oursOf(device, each), peerOf(fftw, each, flags)] as const;
  const name = nameOf(each);
  try {
    await assertAlike(name, sides);
    const counts: number[] = [];
    for (const side of sides) {
      // The engine compiles what is hot while it runs, for which a busy machine gives it little time.
      const start = spentMs();
      while (spentMs() - start < 600) await timed(side, 2);
      counts.push(Math.max(1, Math.ceil(roundMs / (await timed(side, 4)))));
    }
    const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round++)
      for (const [i, side] of sides.entries()) best[i] = Math.min(best[i]!, await timed(side, counts[i]!));
    const [ours, other] = best as [number, number];
    console.error(`${name}: ours ${ours.toFixed(3)} ms, FFTW ${other.toFixed(3)} ms, ${(other / ours).toFixed(3)}`);
    return { name, ours, other, unit: 'ms', ratio: other / ours };
  } finally {
    for (const side of sides) side.end();
  }
}

/** Nothing where FFTW is not on this machine. */
export async function fft(words: readonly string[]): Promise<Bench | undefined> {
  const fftw = fftwHere();
  if (!fftw) return undefined;
  const only = words.includes('--only') ? words[words.indexOf('--only') + 1]! : '';
  // Source: FFTW 3.3.10, api/fftw3.h: FFTW_MEASURE is 0, and FFTW_ESTIMATE bit 6.
  const flags = words.includes('--estimate') ? 1 << 6 : 0;
  const device = Device.open('cpu', { threads: 1, print: false });
  const rows: Row[] = [];
  try {
    for (const each of cases.filter((one) => nameOf(one).includes(only))) rows.push(await rowOf(each, device, fftw, flags));
  } finally {
    await device.close();
  }
  const ratios = rows.map(({ ratio }) => ratio);
  const about = `cuFFT's functions on the CPU device beside FFTW, planned by ${flags === 0 ? 'measuring' : 'its model'}; one thread, processor time`;
  return { bench: 'fft', about, rows, bars: [{ name: 'of FFTW, geometric mean', value: geomean(ratios), bar }] };
}
