/** Plans: tables in memory, and how a transform runs. */
import { type Device, type KernelBuffer, partOf, type Stream } from '../api/index.ts';
import type { TypedKernel } from '../build/index.ts';
import { type Arrays, isPaired, pairsOf, type Step, storedAs, swapped, type Table } from './arrays.ts';
import { blockPassKernel, sequencesOf, threadsOf, widest } from './block-pass.ts';
import {
  blockOf,
  chirpKernel,
  loadKernel,
  narrow,
  type PassForm,
  type Precision,
  passKernel,
  storeKernel,
  threads,
  unravelKernel,
} from './kernels.ts';
import { formsOf, halvedPitch, isPlain, type Layout, layoutsOf, needed, refuse, type Sizes, type TransformType } from './layout.ts';
import { columnStep, convolutionStep, type LineHost, numbersBetween, pitchBetween, rowSteps } from './line-plan.ts';
import { mayOverwrite, type Route, routeOf } from './line-routes.ts';
import { blocksOf, chirpOf, type Parts, paddedLength, radicesOf, rootsOfUnity } from './tables.ts';

/** The largest radix of a pass whose threads have a small transform each. */
const largestSmall = 16;
/** What a pass over blocks needs: `count` sequences of `radix` numbers in each of `outer` parts, behind passes with the product `rootStep`. */
interface BlockPass {
  readonly radix: number;
  readonly count: number;
  readonly own: number;
  readonly rootStep: number;
  readonly outer: number;
  readonly length: number;
}
/** A plan: what `cufftPlan1d` and its relatives give. */
export class CufftPlan {
  /** The kind of the transform. */
  readonly type: TransformType;
  /** @internal */
  readonly sizes: Sizes;
  /** @internal */
  stream: Stream | undefined;
  readonly #device: Device;
  readonly #precision: Precision;
  readonly #tables = new Map<string, Table>();
  readonly #buffers: KernelBuffer[] = [];
  readonly #work: readonly [Arrays, Arrays];
  readonly #steps: readonly Step[];
  readonly #hasBlocks: boolean;
  readonly #lineHost: LineHost;
  /** By whether a transform is in place. */
  readonly #routes = new Map<boolean, Route | undefined>();
  /** The same for real numbers as pairs; undefined where rows of them are not such pairs. */
  readonly #halved: Halved | undefined;
  #isDestroyed = false;

  /** @internal `hasBlocks`: whether the threads of a block share sequences, which is slower where one core runs them all. */
  constructor(device: Device, sizes: Sizes, hasBlocks = device.info.kind !== 'cpu') {
    this.#device = device;
    this.sizes = sizes;
    this.#hasBlocks = hasBlocks;
    this.type = sizes.type;
    this.#precision = /[ZD]/.test(sizes.type) ? 'f64' : 'f32';
    const total = sizes.n.reduce((product, n) => product * n, sizes.batch);
    const pitch = halvedPitch(sizes);
    // Rows between passes over lines may have gaps.
    const row = (length: number): number => (hasBlocks ? length : numbersBetween(length));
    const lengths = sizes.n.map((n) => (total / n) * row(radicesOf(n) ? n : paddedLength(n)));
    const between = Math.max(hasBlocks ? 0 : pitchBetween(sizes.n[2]), pitch ?? 0);
    const most = Math.max((total / sizes.n[2]) * between, ...lengths);
    if (most > 2 ** 31 - 2 ** 16) refuse('cufftPlan', `${most} numbers are more than 2147418112`);
    const array = (): Arrays => ({ re: this.#allocate(most), im: this.#allocate(most), stride: 1 });
    this.#work = [array(), array()];
    this.#lineHost = {
      ...{ device, precision: this.#precision, table: (name, make) => this.#table(name, make) },
      work: (count) => ({ re: this.#allocate(count), im: this.#allocate(count) }),
      launch: (kernel, grid, args, block, shared) => this.#launch(kernel, grid, args, block, shared),
    };
    this.#halved = pitch === undefined ? undefined : this.#halvedOf(total / sizes.n[2], pitch);
    this.#steps = this.#stepsOf(sizes.n, total, 1);
  }

  #allocate(count: number): KernelBuffer {
    const buffer = this.#device.allocate(this.#precision, Math.max(1, count)) as unknown as KernelBuffer;
    this.#buffers.push(buffer);
    return buffer;
  }

  /** A table in memory, made when it is first needed. */
  #table(name: string, make: () => Parts): Table {
    const known = this.#tables.get(name);
    if (known) return known;
    const { re, im } = make();
    const of = (values: Float64Array): KernelBuffer => {
      const rounded = this.#precision === 'f32' ? Float32Array.from(values) : values;
      const buffer = this.#device.bufferOf(this.#precision, rounded as never) as unknown as KernelBuffer;
      this.#buffers.push(buffer);
      return buffer;
    };
    const made = { re: of(re), im: of(im) };
    this.#tables.set(name, made);
    return made;
  }

  #launch(
    kernel: TypedKernel,
    grid: number | readonly [number, number, number],
    args: Readonly<Record<string, unknown>>,
    block: readonly [number, number, number] = [threads, 1, 1],
    shared = 0,
  ): void {
    const options = { ...(this.stream ? { stream: this.stream } : {}), ...(shared > 0 ? { shared } : {}) };
    kernel.launch(this.#device, { grid, block: block as never, args: args as never, ...options });
  }

  /** The radices of passes over blocks, if the device has the shared memory. */
  #blocksOf(length: number, inner: number): readonly number[] | undefined {
    const radices = this.#hasBlocks ? blocksOf(length, inner) : undefined;
    const { limits } = this.#device.info;
    const fits = (radix: number): boolean =>
      radix <= largestSmall || sequencesOf(radix, radix === length && inner === 1, this.#precision, limits) !== undefined;
    return radices?.every(fits) ? radices : undefined;
  }

  /** The passes of one length: `outer` parts, and `inner` numbers between neighbors. */
  #passes(length: number, outer: number, inner: number): Step[] {
    return this.#linePasses(length, outer, inner) ?? this.#otherPasses(length, outer, inner);
  }

  /** Passes over lines, on CPUs. */
  #linePasses(length: number, outer: number, inner: number): Step[] | undefined {
    if (this.#hasBlocks) return undefined;
    if (inner === 1) return rowSteps(this.#lineHost, length, outer);
    const step = columnStep(this.#lineHost, { length, outer, inner, kind: 'plain', isOfPlanes: inner > this.sizes.n[2] });
    return step && [step];
  }

  #otherPasses(length: number, outer: number, inner: number): Step[] {
    const radices = this.#blocksOf(length, inner) ?? radicesOf(length)!;
    const roots = this.#table(`roots ${length}`, () => rootsOfUnity(length));
    let step = 1;
    return radices.map((radix, index) => {
      const [count, own, rootStep] = [(length / radix) * inner, step * inner, step];
      if (radix > largestSmall) {
        step *= radix;
        return this.#blockPass({ radix, count, own, rootStep, outer, length }, roots);
      }
      const isPower = (own & (own - 1)) === 0;
      const form: Omit<PassForm, 'from' | 'to'> = {
        precision: this.#precision,
        radix,
        ...rowsOf(count, own),
        isLast: index === radices.length - 1,
      };
      step *= radix;
      const lines = Math.ceil((outer * form.row) / threads);
      const grid = [Math.ceil(count / form.row), Math.min(65535, lines), Math.ceil(lines / 65535)] as const;
      const words = { count, step: own, shift: isPower ? Math.log2(own) : 0, rootStep, length: length * inner, outer };
      return (from, to) => {
        const arrays = { fromRe: from.re, fromIm: from.im, toRe: to.re, toIm: to.im, rootsRe: roots.re, rootsIm: roots.im };
        const whole = { ...form, from: from.stride, to: to.stride };
        this.#launch(passKernel(whole), grid, { ...arrays, ...words }, blockOf(whole));
      };
    });
  }

  /** A pass whose small transforms are those of blocks. */
  #blockPass({ radix, count, own, rootStep, outer, length }: BlockPass, roots: Table): Step {
    const inner = this.#table(`roots ${radix}`, () => rootsOfUnity(radix));
    const precision = this.#precision;
    const isWhole = count === 1;
    const sequences = sequencesOf(radix, isWhole, precision, this.#device.info.limits)!;
    const form = { precision, length: radix, sequences, isWhole, isFirst: own === 1, isLast: rootStep * radix === length };
    const words = { count, step: own, rootStep, sequences: count * outer };
    const tables = { rootsRe: roots.re, rootsIm: roots.im, innerRe: inner.re, innerIm: inner.im };
    const blocks = Math.ceil((count * outer) / sequences);
    const grid = [Math.min(widest, blocks), Math.ceil(blocks / widest), 1] as const;
    return (given, taken) => {
      const [from, to] = [storedAs(given), storedAs(taken)];
      const arrays = { fromRe: from.re, fromIm: from.im, toRe: to.re, toIm: to.im };
      const pass = blockPassKernel({ ...form, from: from.stored, to: to.stored });
      const pitches = { fromPitch: given.real?.pitch ?? 0, toPitch: taken.real?.pitch ?? 0 };
      this.#launch(pass, grid, { ...arrays, ...tables, ...words, ...pitches }, [threadsOf(form), 1, 1]);
    };
  }

  /** The steps of a length with a large prime: a convolution with a chirp. */
  #convolution(length: number, outer: number, inner: number): Step[] {
    const whole = this.#hasBlocks || inner > 1 ? undefined : convolutionStep(this.#lineHost, length, outer);
    if (whole) return [whole];
    const padded = paddedLength(length);
    const both = (() => {
      let made: ReturnType<typeof chirpOf> | undefined;
      return (): ReturnType<typeof chirpOf> => {
        made ??= chirpOf(length, padded);
        return made;
      };
    })();
    const [chirp, filter] = [this.#table(`chirp ${length}`, () => both().chirp), this.#table(`filter ${length}`, () => both().filter)];
    const lines = outer * inner;
    const step = (what: 'pad' | 'filter' | 'unpad', total: number, table: typeof chirp): Step => {
      const run = (from: Arrays, to: Arrays): void => {
        const arrays = { fromRe: from.re, fromIm: from.im, toRe: to.re, toIm: to.im, chirpRe: table.re, chirpIm: table.im };
        const grid = Math.min(65535, Math.ceil(total / threads));
        this.#launch(chirpKernel(this.#precision, what), grid, { ...arrays, total, inner, length, padded, scale: 1 / padded });
      };
      return Object.assign(run, { takesParts: true });
    };
    const passes = this.#passes(padded, lines, 1);
    const back = passes.map(
      (pass): Step =>
        (from, to) =>
          pass(swapped(from), swapped(to)),
    );
    return [
      step('pad', lines * padded, chirp),
      ...passes,
      step('filter', lines * padded, filter),
      ...back,
      step('unpad', lines * length, chirp),
    ];
  }

  /** Real numbers as half as many complex ones: their transform, what takes it apart to rows of `pitch`, and the other dimensions. */
  #halvedOf(rows: number, pitch: number): Halved {
    const { n, rank } = this.sizes;
    const length = n[2] / 2;
    const roots = this.#table(`roots ${n[2]}`, () => rootsOfUnity(n[2]));
    const grid = [Math.ceil((length + 1) / threads), Math.min(65535, rows), Math.ceil(rows / 65535)] as const;
    const unravel: Step = (from, to) => {
      const arrays = { fromRe: from.re, fromIm: from.im, toRe: to.re, toIm: to.im, rootsRe: roots.re, rootsIm: roots.im };
      this.#launch(unravelKernel(this.#precision, to.stride), grid, { ...arrays, length, pitch, outer: rows });
    };
    const others = rank === 1 ? [] : this.#stepsOf([n[0], n[1]], rows * pitch, pitch);
    return { pitch, steps: [...this.#passes(length, rows, 1), unravel, ...others] };
  }

  /** The steps of some dimensions of `total` numbers, with `inner` numbers between those of the last one. */
  #stepsOf(dimensions: readonly number[], total: number, inner: number): Step[] {
    const all: Step[] = [];
    for (const n of [...dimensions].reverse()) {
      const outer = total / (inner * n);
      if (n > 1 && total > 0) all.push(...(radicesOf(n) ? this.#passes(n, outer, inner) : this.#convolution(n, outer, inner)));
      inner *= n;
    }
    return all;
  }

  /** Whether numbers are in the order of the transform, so that the passes read and write them themselves. */
  get #isDirect(): boolean {
    const { type, input, output } = this.sizes;
    const isWhole = this.sizes.n.every((each) => radicesOf(each));
    return (
      (type === 'C2C' || type === 'Z2Z') && isWhole && this.#steps.length > 0 && isPlain(this.sizes, input) && isPlain(this.sizes, output)
    );
  }

  /** Whether passes over blocks read and write real numbers and halves themselves. */
  get #isDirectReal(): boolean {
    const { n, type, input, output, rank } = this.sizes;
    const radices = this.#blocksOf(n[2], 1);
    const isReal = type !== 'C2C' && type !== 'Z2Z';
    return isReal && rank === 1 && input.stride === 1 && output.stride === 1 && (radices?.every((radix) => radix > largestSmall) ?? false);
  }

  /** Runs the transform. `isInverse` exchanges real and imaginary parts before and after it. */
  run(name: string, from: unknown, to: unknown, isInverse: boolean): void {
    if (this.#isDestroyed) refuse(name, 'the plan is destroyed');
    if (this.sizes.batch === 0) return;
    const [input, output] = layoutsOf(this.sizes, from === to);
    const [inForm, outForm] = formsOf(this.type);
    assertHolds(name, 'the input', from, needed(this.sizes, input, inForm));
    assertHolds(name, 'the output', to, needed(this.sizes, output, outForm));
    const turned = (arrays: Arrays): Arrays => (isInverse ? swapped(arrays) : arrays);
    const areBothPaired = [from, to].every(isPaired);
    if (!this.#hasBlocks && areBothPaired) {
      const route = this.#routeOf(from === to, [input, output]);
      if (route && (from !== to || mayOverwrite(route))) return this.#runRoute(route, name, from, to, isInverse);
    }
    if (this.#isDirect && this.#hasBlocks && areBothPaired) {
      this.#chain(turned(pairsOf(name, from)), turned(pairsOf(name, to)));
      return;
    }
    if (this.#isDirectReal && isPaired(inForm === 'half' ? from : to)) {
      const arrays = (memory: unknown, stored: 'real' | 'half', { distance }: Layout): Arrays => ({
        ...{ re: memory, im: memory, stride: 1 },
        real: { stored, pitch: distance },
      });
      this.#chain(arrays(from, inForm as 'half', input), arrays(to, outForm as 'half', output));
      return;
    }
    if (this.#halved && from !== to && areBothPaired) return this.#runHalved(this.#halved, name, from, to, output);
    const [first] = this.#work;
    this.#move(loadKernel(this.#precision, inForm), from, turned(first), input);
    const last = this.#chain(first, undefined);
    this.#move(storeKernel(this.#precision, outForm), to, turned(last), output);
  }

  #routeOf(isInPlace: boolean, layouts: readonly [Layout, Layout]): Route | undefined {
    if (!this.#routes.has(isInPlace)) this.#routes.set(isInPlace, routeOf(this.#lineHost, this.sizes, this.#steps, layouts));
    return this.#routes.get(isInPlace);
  }

  /** Runs passes over lines, from the memory of the program to that of its results. */
  #runRoute(route: Route, name: string, from: unknown, to: unknown, isInverse: boolean): void {
    const isComplex = this.type === 'C2C' || this.type === 'Z2Z';
    const [given, taken] = [from, to].map((buffer, i) => ({ ...pairsOf(name, buffer), pitch: route.pitches[i] })) as [Arrays, Arrays];
    const turned = isComplex && isInverse;
    const work = this.#work.map((arrays) => ({ ...arrays, pitch: route.pitch })) as [Arrays, Arrays];
    this.#chain(turned ? swapped(given) : given, turned || route.isSwapped ? swapped(taken) : taken, route.steps, work);
  }

  /** Runs the transform of rows of real numbers. */
  #runHalved({ steps, pitch }: Halved, name: string, from: unknown, to: unknown, output: Layout): void {
    const [input, result] = [from, to].map((buffer) => pairsOf(name, buffer)) as [Arrays, Arrays];
    if (this.sizes.rank === 1) return void this.#chain(input, result, steps);
    const last = this.#chain(input, undefined, steps);
    this.#move(storeKernel(this.#precision, 'half'), to, last, output, pitch);
  }

  /** Runs all steps, from one array to another, or to that of the work which has the result. */
  #chain(from: Arrays, to: Arrays | undefined, steps = this.#steps, work = this.#work): Arrays {
    let current = from;
    for (const [i, step] of steps.entries()) {
      const other = work[current === work[0] ? 1 : 0];
      const next = to && i === steps.length - 1 ? to : other;
      step(current, next);
      current = next;
    }
    return current;
  }

  /** `row` is the length of the rows of the arrays. */
  #move(kernel: TypedKernel, memory: unknown, { re, im }: Arrays, { embed, stride, distance }: Layout, row = this.sizes.n[2]): void {
    const { n, batch, rank } = this.sizes;
    const total = n[0] * n[1] * row * batch;
    const stored = Math.floor(n[2] / 2) + 1;
    const words = { n0: n[0], n1: n[1], n2: row, stored, embed1: embed[1], embed2: embed[2], stride, distance, total, rank };
    this.#launch(kernel, Math.min(65535, Math.ceil(total / threads)), { memory, re, im, ...words });
  }

  /** Frees the tables and the memory between passes when pending work has ended. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const buffer of this.#buffers.splice(0)) buffer.free();
  }
}

/** How real numbers are transformed as pairs: rows of `pitch` numbers between the dimensions. */
interface Halved {
  readonly pitch: number;
  readonly steps: readonly Step[];
}

/** How the threads of a pass lie: `count` small transforms of a part, `own` numbers between neighbors. */
function rowsOf(count: number, own: number): Pick<PassForm, 'step' | 'row' | 'isFull'> {
  const row = [threads, 64, 32, narrow].find((each) => count % each === 0);
  const isPower = (own & (own - 1)) === 0;
  const ofRows = [threads, 64, 32, narrow].find((each) => count % each === 0 && own % each === 0);
  if (!isPower && ofRows) return { step: 'rows', row: ofRows, isFull: true };
  const step = own === 1 ? 'first' : !isPower ? 'any' : row && own % row === 0 ? 'wide' : row && own % narrow === 0 ? 'narrow' : 'power';
  return { step, row: row ?? threads, isFull: row !== undefined };
}

function assertHolds(name: string, what: string, buffer: unknown, count: number): void {
  const part = partOf(buffer);
  if (part && part.length < count) refuse(name, `${what} has ${part.length} elements, and ${count} are needed`);
}
