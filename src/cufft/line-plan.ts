/** Which passes over lines a transform takes on CPUs, and their tables. */
import type { Device } from '../api/index.ts';
import type { TypedKernel } from '../build/index.ts';
import { type Step, storedAs, type Table } from './arrays.ts';
import type { Precision } from './kernels.ts';
import { lineRadices, stepRoots } from './line.ts';
import { blockOf, type LineForm, lineKernel, lineNumbers, sharedReals } from './line-pass.ts';
import type { Stored } from './line-ports.ts';
import { chirpOf, type Parts, paddedLength, rootsOfUnity } from './tables.ts';

/** What passes need of a plan. */
export interface LineHost {
  readonly device: Device;
  readonly precision: Precision;
  table(name: string, make: () => Parts): Table;
  /** Memory of `count` numbers while a launch runs. */
  work(count: number): Table;
  launch(
    kernel: TypedKernel,
    grid: number,
    args: Readonly<Record<string, unknown>>,
    block: readonly [number, number, number],
    shared: number,
  ): void;
}

/** The longest line of one thread, and of a pass over columns; and the bytes of shared memory that a block may have: what stays in the second cache. */
const [longestOwn, longestColumn, maxSharedBytes] = [64, 4096, 180 * 1024];
/** The longest line of a block that has it in global memory, and the least number of such lines: fewer are left to all threads of the device. */
const [longestLine, minLongLines] = [2 ** 17, 4];
const bytesOf = (precision: Precision): number => (precision === 'f32' ? 4 : 8);

/** What a number costs in the steps of a line, about: instructions of loads, stores and roots, and of small transforms. */
const costs: Readonly<Record<number, number>> = { 2: 9, 3: 11, 4: 10, 5: 15, 7: 20, 8: 13, 11: 30, 13: 34 };
const costOf = (radices: readonly number[]): number => radices.reduce((sum, radix) => sum + costs[radix]!, 0);
/** How many times as long items take because the last lane group is not full. */
const waste = (items: number): number => (Math.ceil(items / 4) * 4) / items;

/** The best two factors of a length whose block has enough shared memory; undefined where there are none. */
function factorsOf(
  length: number,
  form: Pick<LineForm, 'precision' | 'across' | 'lanes' | 'kind' | 'isLong'>,
): [number, number] | undefined {
  let [best, least]: [[number, number] | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (let a = 2; a < length; a++) {
    const b = length / a;
    const [first, second] = Number.isInteger(b) ? [lineRadices(a), lineRadices(b)] : [];
    if (!first || !second || sharedReals({ ...form, lengths: [a, b] }) * bytesOf(form.precision) > maxSharedBytes) continue;
    const isItems = form.across === 'items';
    const cost = costOf(first) * (isItems ? waste(b) : 1) + costOf(second) * (isItems ? waste(a) : 1) + Math.max(a, b) / length;
    if (cost < least) [best, least] = [[a, b], cost];
  }
  return best;
}

/** Two lengths of passes over columns whose product is a length, as near to each other as they can be, the smaller one first. */
function passesOf(length: number): [number, number] | undefined {
  for (let a = Math.floor(Math.sqrt(length)); a >= 2; a--)
    if (length % a === 0) return length / a <= longestColumn ? [a, length / a] : undefined;
  return undefined;
}

type Places = (pitch: number | undefined) => readonly [pitch: number, step: number];

/** Launches of a form: `units` blocks or, where threads have whole lines, groups of lines. */
interface Pass {
  readonly form: Omit<LineForm, 'precision' | 'from' | 'to'>;
  readonly units: number;
  readonly inner: number;
  /** Of the input and the output: numbers from one part or line to the next, and from one number to the next, where rows may have a pitch. */
  readonly places: readonly [Places, Places];
  readonly turns?: Table;
  readonly other?: Table;
  readonly filter?: Table;
  readonly length?: number;
}

const loaded = new WeakMap<TypedKernel, WeakSet<Device>>();
/** Compiles a kernel with lane groups of its own. */
function load(device: Device, kernel: TypedKernel, lanes: number): void {
  const devices = loaded.get(kernel) ?? new WeakSet();
  if (!devices.has(device)) kernel.module(device, { compile: { target: 'cpu' }, lanes });
  devices.add(device);
  loaded.set(kernel, devices);
}

function stepOf(host: LineHost, pass: Pass): Step {
  const { form, units, inner, turns, other, filter, length = 0 } = pass;
  const { precision } = host;
  const work = form.isLong ? host.work(units * lineNumbers(form)) : undefined;
  const [a, b] = form.lengths;
  const steps = host.table(`steps ${a} ${b}`, () => {
    const re = Float64Array.from([...stepRoots(lineRadices(a)!), ...stepRoots(lineRadices(b)!), 0]);
    return { re, im: new Float64Array(1) };
  });
  const [, none] = [steps.re, steps.im];
  const parts = (name: string, table: Table | undefined) => ({ [`${name}Re`]: table?.re ?? none, [`${name}Im`]: table?.im ?? none });
  const tables = {
    steps: steps.re,
    turns: turns?.re ?? none,
    ...parts('other', other),
    ...parts('filter', filter),
    ...parts('work', work),
  };
  const block = blockOf(form);
  const [lanes, groups] = block;
  const grid = b > 1 ? units : Math.ceil(form.across === 'rows' ? units / lanes / groups : units / groups);
  const shared = sharedReals(form) * bytesOf(precision);
  const step: Step = (given, taken) => {
    const [from, to] = [storedAs(given), storedAs(taken)];
    const [[fromPitch, fromStep], [toPitch, toStep]] = [pass.places[0](given.pitch), pass.places[1](taken.pitch)];
    const pitches = form.across === 'rows' ? { pitches: [fromPitch, toPitch] as const } : {};
    const kernel = lineKernel({ ...form, precision, from: from.stored as Stored, to: to.stored as Stored, ...pitches });
    load(host.device, kernel, lanes);
    const memory = { fromRe: from.re, fromIm: from.im, toRe: to.re, toIm: to.im };
    const words = { units, inner, fromPitch, fromStep, toPitch, toStep, length };
    host.launch(kernel, grid, { ...memory, ...tables, ...words }, block, shared);
  };
  return Object.assign(step, { takesPitches: true });
}

/** Roots of unity of a product of two lengths to products of indices, those of the second one beside each other. */
const rootsBetween = (host: LineHost, a: number, b: number): Table =>
  host.table(`between ${a} ${b}`, () => {
    const { re, im } = rootsOfUnity(a * b);
    const at = (parts: Float64Array): Float64Array => Float64Array.from({ length: a * b }, (_, i) => parts[Math.floor(i / b) * (i % b)]!);
    return { re: at(re), im: at(im) };
  });

/** The same for lane groups: the real parts of one after another number of the first length, each with its imaginary parts behind it. */
const turnsOf = (host: LineHost, a: number, b: number, lanes: number): Table =>
  host.table(`turns ${a} ${b} ${lanes}`, () => {
    const { re, im } = rootsOfUnity(a * b);
    const all = new Float64Array(2 * a * lanes * Math.ceil(b / lanes));
    for (let c = 0; c < b; c++)
      for (let u = 0; u < a; u++) {
        const at = 2 * lanes * (Math.floor(c / lanes) * a + u) + (c % lanes);
        [all[at], all[at + lanes]] = [re[u * c]!, im[u * c]!];
      }
    return { re: all, im: new Float64Array(1) };
  });

const rowPlaces = (length: number): [Places, Places] => {
  const places: Places = (pitch = length) => [pitch, 1];
  return [places, places];
};

/** Numbers behind a row between two passes: rows of a power of two would share few places of the caches. */
const gapOf = (length: number): number => (length % 64 === 0 ? 16 : 0);
/** Numbers from one row between passes to the next. */
export const pitchBetween = (length: number): number => length + gapOf(length);
/** Numbers of a line between the passes that it may take. */
export function numbersBetween(length: number): number {
  const passes = passesOf(length);
  return passes ? Math.max(length, passes[1] * pitchBetween(passes[0])) : length;
}

/** The form of a pass of some lines each of which has a block; undefined where they are too long. */
function lineForm(precision: Precision, length: number, lines: number, kind: LineForm['kind']): Pass['form'] | undefined {
  const common = { across: 'items', lanes: 4, kind, isFull: true } as const;
  const inShared = factorsOf(length, { precision, ...common });
  if (inShared) return { ...common, lengths: inShared };
  const isLong = length <= longestLine && lines >= minLongLines;
  const lengths = isLong ? factorsOf(length, { precision, ...common, isLong }) : undefined;
  return lengths && { ...common, lengths, isLong };
}

/** The passes of lines whose numbers are neighbors; undefined where other passes have to do. */
export function rowSteps(host: LineHost, length: number, rows: number): Step[] | undefined {
  const { precision } = host;
  if (!lineRadices(length)) return undefined;
  if (length <= longestOwn) {
    const form = { across: 'rows', lanes: 4, lengths: [length, 1], kind: 'plain', isFull: true } as const;
    return [stepOf(host, { form, units: rows, inner: 1, places: rowPlaces(length) })];
  }
  const form = lineForm(precision, length, rows, 'plain');
  if (form) return [stepOf(host, { form, units: rows, inner: 1, places: rowPlaces(length), turns: turnsOf(host, ...form.lengths, 4) })];
  const passes = passesOf(length);
  if (!passes) return undefined;
  const [a, b] = passes;
  // What is between the passes are rows of the first length.
  const row = pitchBetween(a);
  const middle: Places = () => [row * b, row];
  const first = columnStep(host, { length: a, outer: rows, inner: b, kind: 'first', places: [(pitch = length) => [pitch, b], middle] });
  const second =
    first && columnStep(host, { length: b, outer: rows, inner: a, kind: 'plain', places: [middle, (pitch = length) => [pitch, a]] });
  return first && second && [first, second];
}

interface ColumnPass {
  readonly length: number;
  readonly outer: number;
  readonly inner: number;
  readonly kind: 'plain' | 'first';
  /** Of passes of a longer line. */
  readonly places?: readonly [Places, Places];
  /** Whether the columns are those of planes, whose rows follow each other. */
  readonly isOfPlanes?: boolean;
}

type Columns = Pick<LineForm, 'lanes' | 'lengths'>;

/** A pass over columns; undefined where they are too long. */
export function columnStep(
  host: LineHost,
  { length, outer, inner, kind, places: given, isOfPlanes = false }: ColumnPass,
): Step | undefined {
  const { precision } = host;
  if (length > longestColumn || !lineRadices(length)) return undefined;
  const across = 'columns';
  const matrix = (lanes: 4 | 8): Columns | undefined => {
    const lengths = factorsOf(length, { precision, across, lanes, kind });
    return lengths && { lanes, lengths };
  };
  const found: Columns | undefined = length <= longestOwn ? { lanes: 4, lengths: [length, 1] } : (matrix(8) ?? matrix(4));
  if (!found) return undefined;
  const { lanes, lengths } = found;
  const places: Places = (pitch = inner) => (isOfPlanes ? [inner * length, inner] : [pitch * length, pitch]);
  return stepOf(host, {
    form: { across, lanes, lengths, kind, isFull: inner % lanes === 0 },
    units: outer * Math.ceil(inner / lanes),
    inner,
    places: given ?? [places, places],
    ...(kind === 'first' ? { turns: turnsOf(host, length, inner, lanes) } : {}),
    ...(lengths[1] === 1 ? {} : { other: rootsBetween(host, lengths[0], lengths[1]) }),
  });
}

/** A pass of rows of real numbers, to the first halves of their transforms or back; undefined where other passes have to do. */
export function realStep(host: LineHost, length: number, rows: number, kind: 'split' | 'join'): Step | undefined {
  const { precision } = host;
  const half = length / 2;
  if (length % 2 !== 0 || half <= longestOwn / 2 || !lineRadices(half)) return undefined;
  const form = lineForm(precision, half, rows, kind);
  if (!form) return undefined;
  const other = host.table(`roots ${length}`, () => rootsOfUnity(length));
  return stepOf(host, { form, units: rows, inner: 1, places: rowPlaces(half), turns: turnsOf(host, ...form.lengths, 4), other });
}

/** A pass of rows of a length with a large prime; undefined where other passes have to do. */
export function convolutionStep(host: LineHost, length: number, rows: number): Step | undefined {
  const padded = paddedLength(length);
  if (padded <= longestOwn / 2) return undefined;
  const form = lineForm(host.precision, padded, rows, 'convolution');
  if (!form) return undefined;
  let made: ReturnType<typeof chirpOf> | undefined;
  const both = (): ReturnType<typeof chirpOf> => {
    made ??= chirpOf(length, padded);
    return made;
  };
  const [other, filter] = [host.table(`chirp ${length}`, () => both().chirp), host.table(`filter ${length}`, () => both().filter)];
  return stepOf(host, {
    form,
    units: rows,
    inner: 1,
    places: rowPlaces(length),
    turns: turnsOf(host, ...form.lengths, 4),
    other,
    filter,
    length,
  });
}
