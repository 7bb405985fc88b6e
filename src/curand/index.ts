/**
 * cuRAND: generators by the names of NVIDIA's library, over buffers of the API. The numbers are those of its host interface, in the same order: threads have
 * sequences of their own, one after another in the output. Start at `starts.ts` for where threads begin, `sequences.ts` for generators, `kernels.ts` for what
 * fills memory.
 */

import { errorOf } from '../api/failures.ts';
import { type Device, type KernelBuffer, partOf, type Stream } from '../api/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { blockThreads, directionWords, isRows, type Kind, rowSize, runKernel, type SobolKind, sobolKernel } from './kernels.ts';
import { scrambledDirections } from './scrambles.ts';
import { type SequenceName, sequences } from './sequences.ts';
import { maxDimensions, mrgStates, philoxStates, sobolDirections, xorwowStates } from './starts.ts';
import { Twister } from './twister.ts';

/** XORWOW, which is also the default generator. */
export const CURAND_RNG_PSEUDO_XORWOW = 'xorwow';
/** The default generator. */
export const CURAND_RNG_PSEUDO_DEFAULT = CURAND_RNG_PSEUDO_XORWOW;
/** MRG32k3a. */
export const CURAND_RNG_PSEUDO_MRG32K3A = 'mrg32k3a';
/** Philox with four words and ten rounds. */
export const CURAND_RNG_PSEUDO_PHILOX4_32_10 = 'philox';
/** The Mersenne Twister MT19937. */
export const CURAND_RNG_PSEUDO_MT19937 = 'mt19937';
/** Sobol's points of 32 bits. */
export const CURAND_RNG_QUASI_SOBOL32 = 'sobol32';
/** The default points. */
export const CURAND_RNG_QUASI_DEFAULT = CURAND_RNG_QUASI_SOBOL32;
/** Sobol's points of 64 bits. */
export const CURAND_RNG_QUASI_SOBOL64 = 'sobol64';
/** Scrambled points of 32 bits. */
export const CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 'scrambledSobol32';
/** Scrambled points of 64 bits. */
export const CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 'scrambledSobol64';
const types = new Set<RngType>(['xorwow', 'mrg32k3a', 'philox', 'mt19937', 'sobol32', 'sobol64', 'scrambledSobol32', 'scrambledSobol64']);
/** The kind of a generator. */
export type RngType = SequenceName | 'mt19937' | 'sobol32' | 'sobol64' | 'scrambledSobol32' | 'scrambledSobol64';

/** The default order of the output. */
export const CURAND_ORDERING_PSEUDO_DEFAULT = 'default';
/** The order of the output before CUDA 11. */
export const CURAND_ORDERING_PSEUDO_LEGACY = 'legacy';
/** The order of the output: which thread has which number. */
export type Ordering = 'default' | 'legacy';

function refuse(name: string, why: string): never {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5093', { kernel: name, why });
  throw errorOf(diagnostics);
}

/** A generator: what `curandCreateGenerator` gives. */
export class CurandGenerator {
  /** @internal */
  readonly device: Device;
  /** What it is. */
  readonly type: RngType;
  /** @internal */
  stream: Stream | undefined;
  /** @internal */
  seed = 0n;
  /** @internal */
  offset = 0n;
  /** @internal */
  ordering: Ordering = 'default';
  /** @internal */
  dimensions = 1;
  /** @internal */
  states: KernelBuffer<'u32'> | undefined;
  /** @internal */
  directions: KernelBuffer<'u64'> | undefined;
  /** @internal */
  twister: Twister | undefined;
  /** @internal The thread that has the next number, and how many of its group are gone. */
  next = 0;
  /** @internal */
  within = 0;

  /** @internal */
  constructor(device: Device, type: RngType) {
    this.device = device;
    this.type = type;
  }

  /** @internal */
  get isQuasi(): boolean {
    return /sobol/i.test(this.type);
  }

  /** @internal */
  get isScrambled(): boolean {
    return this.type.startsWith('scrambled');
  }

  /** @internal Whether integers have 64 bits. */
  get isLong(): boolean {
    return this.type.endsWith('64');
  }

  /** @internal Begins anew with the next numbers. */
  restart(): void {
    this.states?.free();
    this.states = undefined;
    this.twister?.free();
    this.twister = undefined;
  }

  /** @internal */
  get sequence(): SequenceName {
    return this.type as SequenceName;
  }

  /** @internal */
  get threads(): number {
    const { threads, legacyThreads } = sequences[this.sequence];
    return this.ordering === 'legacy' ? legacyThreads : threads;
  }
}

/** A generator for a device, with the seed 0. MTGP32 is refused (CM5093). */
export function curandCreateGenerator(device: Device, type: RngType = CURAND_RNG_PSEUDO_DEFAULT): CurandGenerator {
  if (!types.has(type)) refuse('curandCreateGenerator', `the generator ${type} is not there`);
  return new CurandGenerator(device, type);
}
/** Frees the states of a generator when pending work has ended. */
export function curandDestroyGenerator(generator: CurandGenerator): void {
  generator.restart();
  generator.directions?.free();
  generator.directions = undefined;
}
/** Puts later numbers into a stream; without one into the default stream. */
export function curandSetStream(generator: CurandGenerator, stream?: Stream): void {
  generator.stream = stream;
}
/** Begins the sequences of a seed of 64 bits. */
export function curandSetPseudoRandomGeneratorSeed(generator: CurandGenerator, seed: number | bigint): void {
  if (generator.isQuasi) refuse('curandSetPseudoRandomGeneratorSeed', 'points have no seed');
  if (typeof seed === 'number' && !Number.isSafeInteger(seed)) refuse('curandSetPseudoRandomGeneratorSeed', `${seed} is no whole number`);
  generator.seed = BigInt.asUintN(64, BigInt(seed));
  generator.restart();
}
/** The number in the output (the point) that comes next. */
export function curandSetGeneratorOffset(generator: CurandGenerator, offset: number | bigint): void {
  if (generator.type === 'mt19937') refuse('curandSetGeneratorOffset', 'as in cuRAND, mt19937 has no offset');
  if (typeof offset === 'number' && !(Number.isSafeInteger(offset) && offset >= 0))
    refuse('curandSetGeneratorOffset', `${offset} is no place in the output`);
  generator.offset = BigInt.asUintN(64, BigInt(offset));
  generator.restart();
}
/** Which thread has which number. */
export function curandSetGeneratorOrdering(generator: CurandGenerator, ordering: Ordering): void {
  if (generator.isQuasi || (ordering !== 'default' && ordering !== 'legacy'))
    refuse('curandSetGeneratorOrdering', `the ordering ${ordering} is not there`);
  generator.ordering = ordering;
  generator.restart();
}
/** The dimensions of points, 1 to 20: each has a part of the output of its own. */
export function curandSetQuasiRandomGeneratorDimensions(generator: CurandGenerator, dimensions: number): void {
  const isRight = generator.isQuasi && Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= maxDimensions;
  if (!isRight) refuse('curandSetQuasiRandomGeneratorDimensions', `${dimensions} dimensions of ${generator.type} are not there`);
  generator.dimensions = dimensions;
}

const makers = { xorwow: xorwowStates, mrg32k3a: mrgStates, philox: philoxStates } as const;

/** Puts the states to their places, if they are not there. */
export function curandGenerateSeeds(generator: CurandGenerator): void {
  if (generator.isQuasi) {
    if (generator.directions) return;
    const all = new BigUint64Array(directionWords * maxDimensions);
    for (let d = 0; d < maxDimensions; d++)
      if (generator.isScrambled) all.set(scrambledDirections(d), directionWords * d);
      else all.set(sobolDirections(d), directionWords * d + 1);
    generator.directions = generator.device.bufferOf('u64', all);
    return;
  }
  if (generator.type === 'mt19937') {
    // As in cuRAND, the upper half of a seed is not used.
    generator.twister ??= new Twister(generator.device, Number(generator.seed & 0xffffffffn));
    return;
  }
  if (generator.states) return;
  const { threads, seed, offset, sequence } = generator;
  const group = BigInt(sequences[sequence].group);
  const units = offset / group;
  const [next, rounds] = [units % BigInt(threads), units / BigInt(threads)];
  const gone = (t: number): bigint => (rounds + (BigInt(t) < next ? 1n : 0n)) * group + (BigInt(t) === next ? offset % group : 0n);
  generator.states = generator.device.bufferOf('u32', makers[sequence]({ threads, seed, gone }));
  generator.next = Number(next);
  generator.within = Number(offset % group);
}

/** The most numbers of a call: places in the output have 32 bits. */
const maxCount = 2 ** 32 - 2 ** 18;

function assertOut(name: string, out: unknown, count: number): void {
  if (!Number.isInteger(count) || count < 0 || count > maxCount) refuse(name, `${count} numbers are no whole number up to ${maxCount}`);
  const part = partOf(out);
  if (part && part.length < count) refuse(name, `the buffer has ${part.length} elements, and ${count} are needed`);
}

interface Request {
  readonly name: string;
  readonly kind: Kind;
  readonly out: unknown;
  readonly count: number;
  readonly first?: number;
  readonly second?: number;
}

function generate(generator: CurandGenerator, { name, kind, out, count, first = 0, second = 1 }: Request): void {
  assertOut(name, out, count);
  const { sequence, device, stream } = generator;
  if (isRows(kind) && kind !== 'uniformDouble' && count % 2 !== 0) refuse(name, `${count} is odd, and normal numbers are made in pairs`);
  if (count === 0) return;
  curandGenerateSeeds(generator);
  const { threads, seed } = generator;
  // Rows begin at whole ones: numbers of a row that has begun are left out.
  if (isRows(kind) && generator.within > 0) {
    generator.next = (generator.next + 1) % threads;
    generator.within = 0;
  }
  const { next, within } = generator;
  const args = {
    ...{ states: generator.states, out, keyLow: Number(seed & 0xffffffffn), keyHigh: Number(seed >> 32n) },
    ...{ threads, next, within, count, first, second },
  };
  const options = { grid: Math.ceil(threads / blockThreads), block: blockThreads, args: args as never, ...(stream ? { stream } : {}) };
  runKernel(sequence, kind).launch(device, options);
  const size = rowSize(sequence, kind);
  const end = within + count;
  generator.next = (next + (isRows(kind) ? Math.ceil(end / size) : Math.floor(end / size))) % threads;
  generator.within = isRows(kind) ? 0 : end % size;
}

function points(generator: CurandGenerator, request: Request, kind: SobolKind): void {
  const { name, out, count, first = 0, second = 1 } = request;
  assertOut(name, out, count);
  const { dimensions, device, stream } = generator;
  if (count % dimensions !== 0) refuse(name, `${count} is no multiple of ${dimensions} dimensions`);
  if (count === 0) return;
  curandGenerateSeeds(generator);
  const each = count / dimensions;
  for (let dimension = 0; dimension < dimensions; dimension++) {
    const place = { directions: generator.directions, out, dimension, begin: dimension * each, count: each, offset: generator.offset };
    const args = { ...place, first, second };
    const grid = Math.min(1024, Math.ceil(each / blockThreads));
    sobolKernel(kind).launch(device, { grid, block: blockThreads, args: args as never, ...(stream ? { stream } : {}) });
  }
  generator.offset += BigInt(each);
}

/** Numbers of MT19937: each is made of one integer, as coordinates of points are. */
function drawTwister(generator: CurandGenerator, { name, out, count, first = 0, second = 1 }: Request, kind: SobolKind): void {
  assertOut(name, out, count);
  if (count === 0) return;
  curandGenerateSeeds(generator);
  const to = partOf(out) ?? refuse(name, 'the output is no buffer');
  generator.twister?.draw({ kind, out: to, count, first, second }, generator.stream);
}

/** Enqueues what a request asks for, by threads in turn or by points. */
function any(generator: CurandGenerator, request: Request): void {
  const { kind } = request;
  const own = kind === 'poissonSum' || kind === 'poissonNormal' ? 'poisson' : kind;
  if (generator.type === 'mt19937') return drawTwister(generator, request, own);
  if (!generator.isQuasi) return generate(generator, request);
  points(generator, request, generator.isLong && own !== 'uniform' && own !== 'integers' ? `${own}64` : own);
}

/** Integers of 32 bits. */
export function curandGenerate(generator: CurandGenerator, out: KernelBuffer<'u32'>, count: number): void {
  const name = 'curandGenerate';
  if (generator.isLong) refuse(name, 'points of 64 bits are integers of 64 bits');
  any(generator, { name, kind: 'integers', out, count });
}
/** Integers of 64 bits, of Sobol's points of 64 bits. */
export function curandGenerateLongLong(generator: CurandGenerator, out: KernelBuffer<'u64'>, count: number): void {
  const name = 'curandGenerateLongLong';
  if (!generator.isLong) refuse(name, `${generator.type} has integers of 32 bits`);
  points(generator, { name, kind: 'integers', out, count }, 'integers64');
}
/** Numbers above 0 and up to 1. */
export function curandGenerateUniform(generator: CurandGenerator, out: KernelBuffer<'f32'>, count: number): void {
  any(generator, { name: 'curandGenerateUniform', kind: 'uniform', out, count });
}
/** The same of f64. */
export function curandGenerateUniformDouble(generator: CurandGenerator, out: KernelBuffer<'f64'>, count: number): void {
  any(generator, { name: 'curandGenerateUniformDouble', kind: 'uniformDouble', out, count });
}

/** Normal numbers; their count is even, but of points. */
export function curandGenerateNormal(
  generator: CurandGenerator,
  out: KernelBuffer<'f32'>,
  count: number,
  mean: number,
  deviation: number,
): void {
  any(generator, { name: 'curandGenerateNormal', kind: 'normal', out, count, first: mean, second: deviation });
}
/** The same of f64. */
export function curandGenerateNormalDouble(
  generator: CurandGenerator,
  out: KernelBuffer<'f64'>,
  count: number,
  mean: number,
  deviation: number,
): void {
  any(generator, { name: 'curandGenerateNormalDouble', kind: 'normalDouble', out, count, first: mean, second: deviation });
}
/** Powers of e to normal numbers; their count is even, but of points. */
export function curandGenerateLogNormal(
  generator: CurandGenerator,
  out: KernelBuffer<'f32'>,
  count: number,
  mean: number,
  deviation: number,
): void {
  any(generator, { name: 'curandGenerateLogNormal', kind: 'logNormal', out, count, first: mean, second: deviation });
}
/** The same of f64. */
export function curandGenerateLogNormalDouble(
  generator: CurandGenerator,
  out: KernelBuffer<'f64'>,
  count: number,
  mean: number,
  deviation: number,
): void {
  any(generator, { name: 'curandGenerateLogNormalDouble', kind: 'logNormalDouble', out, count, first: mean, second: deviation });
}
/** Numbers of Poisson's distribution. */
export function curandGeneratePoisson(generator: CurandGenerator, out: KernelBuffer<'u32'>, count: number, lambda: number): void {
  const name = 'curandGeneratePoisson';
  if (!(lambda > 0 && lambda < 2 ** 31)) refuse(name, `the mean is ${lambda}`);
  const kind: Kind = lambda < 64 ? 'poisson' : lambda <= 4000 ? 'poissonSum' : 'poissonNormal';
  any(generator, { name, kind, out, count, first: lambda, second: lambda < 64 ? Math.exp(lambda) : Math.sqrt(lambda) });
}
