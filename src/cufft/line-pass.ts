/**
 * Passes of transforms for CPUs: a lane group has as many lines as a vector has numbers, which it transforms in memory of its own (`line.ts`). A long line is a
 * matrix, whose columns and then rows are transformed (D. Bailey, "FFTs in external or hierarchical memory", 1990): by the groups of a block, which meet between
 * the two, or by two passes.
 */
import {
  blockIndex,
  dynamicShared,
  f32,
  f64,
  kernel,
  loop,
  type Pointer,
  ptr,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  when,
} from '../build/index.ts';
import type { Precision } from './kernels.ts';
import { type Line, lineRadices, moved, rootCount, scaled, transformLine, type Word } from './line.ts';
import { type LineArguments, linePointers, lineWords } from './line-arguments.ts';
import { convolve, type Inside, join, split } from './line-phases.ts';
import { from, type Ports, portsOf, type Side, type Stored } from './line-ports.ts';
import { multiply } from './small.ts';

/** The threads of a block: the least that the engine runs in vectors. */
const threads = 32;
/** The threads of a block: lanes, and lane groups. */
export const blockOf = ({ lanes }: Pick<LineForm, 'lanes'>): readonly [number, number, number] => [lanes, threads / lanes, 1];

/** What a pass does. */
export interface LineForm {
  readonly precision: Precision;
  /**
   * What neighboring lanes have: `rows` neighboring lines, whose numbers are neighbors in memory; `columns` neighboring lines, which are neighbors in memory; `items`
   * parts of the same line.
   */
  readonly across: 'rows' | 'columns' | 'items';
  /** The lanes of a lane group: 4 are one vector of f32, whose numbers fit the registers; 8 have the whole of a line of the cache. */
  readonly lanes: 4 | 8;
  /** The length of a line as two factors; the second one is 1 where a thread has a whole line. */
  readonly lengths: readonly [number, number];
  readonly from: Stored;
  readonly to: Stored;
  /**
   * `first`: columns of a longer line, so that roots follow and results are stored as rows. Of `items`: `split` and `join` are transforms of twice as many real
   * numbers, to the first half of their transform and back; `convolution` pads a line, convolves it with a chirp and cuts it.
   */
  readonly kind: 'plain' | 'first' | 'split' | 'join' | 'convolution';
  /** Of `items`: whether a line is in global memory between its factors, because it is too long for that of a block. */
  readonly isLong?: boolean;
  /** Whether the number of columns is a multiple of the lanes. */
  readonly isFull: boolean;
  /** Of `rows`: numbers from one line to the next, of the input and of the output. */
  readonly pitches?: readonly [number, number];
}

/** The reals of lines between their steps, in shared memory. */
const ownReals = ([a, b]: readonly [number, number]): number => 2 * threads * Math.max(a, b);
/** Numbers from one column to the next between the factors of a line: with a gap, as those of a power of two share few places of the caches. */
const pitchOf = (length: number): number => length + (length % 64 === 0 ? 4 : 0);
/** Numbers of a line between its factors, and of the line beside it that takes real numbers apart. */
export const lineNumbers = ({ lengths: [a, b], kind }: Pick<LineForm, 'lengths' | 'kind'>): number =>
  pitchOf(a) * b + (kind === 'plain' ? 0 : a * b);
/** The reals of shared memory of a block. */
export function sharedReals(form: Pick<LineForm, 'across' | 'lanes' | 'lengths' | 'kind' | 'isLong'>): number {
  const { across, lanes, lengths, isLong } = form;
  const [a, b] = lengths;
  if (b === 1 || isLong) return ownReals(lengths);
  return ownReals(lengths) + 2 * (across === 'columns' ? lanes * a * b : lineNumbers(form));
}

const kernels = new Map<string, TypedKernel>();

/** The kernel of a pass. */
export function lineKernel(form: LineForm): TypedKernel {
  const { precision, across, lanes, lengths, kind, isFull, isLong, pitches = [] } = form;
  const words = [
    'cufft',
    precision,
    `${across}${lanes}`,
    kind,
    lengths.join('x'),
    form.from,
    form.to,
    isFull ? 'full' : 'ragged',
    ...(isLong ? ['long'] : []),
    ...pitches,
  ];
  const name = words.join('_');
  const known = kernels.get(name);
  if (known) return known;
  const type = (precision === 'f32' ? f32 : f64) as unknown as Type<'f32'>;
  const parameters = Object.fromEntries([
    ...linePointers.map((each) => [each, ptr(type)] as const),
    ...lineWords.map((each) => [each, u32] as const),
  ]);
  const body = across === 'items' ? oneLine : lengths[1] === 1 ? wholeLines : matrices;
  const made = kernel(name, parameters as never, ((p: LineArguments) => body(p, form, type)) as never, {
    locations: false,
    block: blockOf(form) as [number, number, number],
  }) as unknown as TypedKernel;
  kernels.set(name, made);
  return made;
}

type Shared = Pointer<'f32', 'shared'>;
/** Shared memory from a constant on. */
const sharedFrom = (type: Type<'f32'>, reals: number): Shared => dynamicShared(type).at(reals).pointer() as Shared;

/** The memory of a thread for a line between its steps, which is behind other shared memory. */
const memoryOf = (type: Type<'f32'>, form: LineForm): Shared =>
  sharedFrom(type, sharedReals(form) - ownReals(form.lengths))
    .add(threadIndex('y').mul(2 * form.lanes * Math.max(...form.lengths)))
    .add(threadIndex('x'));

/** The lines of the first or the second factor of a length. */
function linesOf(p: LineArguments, form: LineForm, which: 0 | 1, memory: Shared): Omit<Line, 'read' | 'write'> {
  const [first, second] = form.lengths.map((length) => lineRadices(length)!) as [number[], number[]];
  const common = { memory, lanes: form.lanes, roots: p.steps };
  return which === 0 ? { ...common, radices: first, rootsAt: 0 } : { ...common, radices: second, rootsAt: rootCount(first) };
}

/** The roots of the lines of a lane group, which are next to each other. */
const turnsOf = (p: LineArguments, form: LineForm, group: Word, numbers: number): Side => {
  const lanes = form.lanes;
  const start = [group.mul(2 * lanes * numbers), threadIndex('x')];
  return { stored: 'parts', re: p.turns, im: p.turns.at(lanes).pointer(), start, step: 2 * lanes };
};

/** Where the columns of a lane group are. */
interface Columns {
  readonly part: Word;
  /** Lane groups of the part that are before this one. */
  readonly group: Word;
  /** That of this lane. */
  readonly column: Word;
}
function columnsOf(p: LineArguments, form: LineForm, unit: Word): Columns {
  const lanes = form.lanes;
  const perPart = p.inner.add(lanes - 1).shr(Math.log2(lanes));
  const part = unit.div(perPart);
  const group = unit.sub(part.mul(perPart));
  return { part, group, column: group.mul(lanes).add(threadIndex('x')) };
}
/** Runs a body in the lanes that have a column. */
const inColumns = (p: LineArguments, { isFull }: LineForm, { column }: Columns, run: () => void): void =>
  isFull ? run() : when(column.lt(p.inner), run);

/** The ports of columns; behind a first pass their results are rows. */
function columnPorts(p: LineArguments, form: LineForm, type: Type<'f32'>, { part, group, column }: Columns): Ports {
  const [a, b] = form.lengths;
  const { read } = portsOf(
    { stored: form.from, re: p.fromRe, im: p.fromIm, start: [part.mul(p.fromPitch), column], step: p.fromStep },
    type,
  );
  const to = { stored: form.to, re: p.toRe, im: p.toIm };
  if (form.kind !== 'first') return { read, write: portsOf({ ...to, start: [part.mul(p.toPitch), column], step: p.toStep }, type).write };
  const { write } = portsOf({ ...to, start: [part.mul(p.toPitch), column.mul(p.toStep)], step: 1 }, type);
  const turns = portsOf(turnsOf(p, form, group, a * b), type);
  return { read, write: (k, value) => write(k, multiply(value, turns.read(k))) };
}

/** Each thread transforms a line by itself. */
function wholeLines(p: LineArguments, form: LineForm, type: Type<'f32'>): void {
  const { across, pitches } = form;
  const [lanes, groups] = blockOf(form);
  const unit = blockIndex().mul(groups).add(threadIndex('y'));
  const line = linesOf(p, form, 0, memoryOf(type, form));
  if (across === 'columns') {
    when(unit.lt(p.units), () => {
      const where = columnsOf(p, form, unit);
      inColumns(p, form, where, () => transformLine({ ...line, ...columnPorts(p, form, type, where) }));
    });
    return;
  }
  const row = unit.mul(lanes).add(threadIndex('x'));
  const [fromPitch, toPitch] = pitches!;
  when(row.lt(p.units), () =>
    transformLine({
      ...line,
      read: portsOf({ stored: form.from, re: p.fromRe, im: p.fromIm, start: [row.mul(fromPitch)], step: 1 }, type).read,
      write: portsOf({ stored: form.to, re: p.toRe, im: p.toIm, start: [row.mul(toPitch)], step: 1 }, type).write,
    }),
  );
}

/** The groups of a block transform the matrices of a few columns: first the columns of the matrices, then their rows. */
function matrices(p: LineArguments, form: LineForm, type: Type<'f32'>): void {
  const [a, b] = form.lengths;
  const [lanes, groups] = blockOf(form);
  const where = columnsOf(p, form, blockIndex());
  const memory = memoryOf(type, form);
  const matrix = (start: Word): Side => ({
    ...{ stored: 'parts', start: [threadIndex('x'), start.mul(2 * lanes)], step: 2 * lanes },
    ...{ re: sharedFrom(type, 0), im: sharedFrom(type, lanes) },
  });
  const y = threadIndex('y');
  inColumns(p, form, where, () => {
    const { read } = columnPorts(p, form, type, where);
    loop(y, b, groups, (j) => {
      const { write } = portsOf(matrix(j), type);
      const between = portsOf({ stored: 'parts', re: p.otherRe, im: p.otherIm, start: [j], step: b }, type);
      transformLine({
        ...linesOf(p, form, 0, memory),
        read: (k) => read(moved(scaled(k, b), j)),
        write: (u, value) => write(scaled(u, b), multiply(value, between.read(u))),
      });
    });
  });
  syncThreads();
  inColumns(p, form, where, () => {
    const { write } = columnPorts(p, form, type, where);
    loop(y, a, groups, (u) =>
      transformLine({
        ...linesOf(p, form, 1, memory),
        read: portsOf(matrix(u.mul(b)), type).read,
        write: (v, value) => write(moved(scaled(v, a), u), value),
      }),
    );
  });
}

/** The groups of a block transform one line, whose columns and then rows are the lanes. */
function oneLine(p: LineArguments, form: LineForm, type: Type<'f32'>): void {
  const { lengths, kind } = form;
  const [a, b] = lengths;
  const [lanes, groups] = blockOf(form);
  const whole = a * b;
  const line = blockIndex();
  const memory = memoryOf(type, form);
  /** Visits the items of this thread. */
  const own = (count: number, visit: (item: Word, group: Word) => void): void =>
    loop(threadIndex('y'), Math.ceil(count / lanes), groups, (group) => {
      const item = group.mul(lanes).add(threadIndex('x'));
      if (count % lanes === 0) visit(item, group);
      else when(item.lt(count), () => visit(item, group));
    });
  const numbers = lineNumbers(form);
  const inside = (at: number): Side =>
    form.isLong
      ? { stored: 'parts', re: p.workRe.at(at).pointer(), im: p.workIm.at(at).pointer(), start: [line.mul(numbers)], step: 1 }
      : { stored: 'parts', re: sharedFrom(type, at), im: sharedFrom(type, numbers + at), start: [], step: 1 };
  const pitch = pitchOf(a);
  const middle = inside(0);
  const transform = (source: Side, target: Side): void => {
    own(b, (column, group) => {
      const { read } = portsOf({ ...from(source, column), step: b }, type);
      const { write } = portsOf(from(middle, column.mul(pitch)), type);
      const turns = portsOf(turnsOf(p, form, group, a), type);
      transformLine({ ...linesOf(p, form, 0, memory), read, write: (u, value) => write(u, multiply(value, turns.read(u))) });
    });
    syncThreads();
    own(a, (row) => {
      const { read } = portsOf({ ...from(middle, row), step: pitch }, type);
      const { write } = portsOf({ ...from(target, row), step: a }, type);
      transformLine({ ...linesOf(p, form, 1, memory), read, write });
    });
  };
  const given: Side = { stored: form.from, re: p.fromRe, im: p.fromIm, start: [line.mul(p.fromPitch)], step: 1 };
  const taken: Side = { stored: form.to, re: p.toRe, im: p.toIm, start: [line.mul(p.toPitch)], step: 1 };
  if (kind === 'plain') return transform(given, taken);
  const all: Inside = { p, type, whole, given, taken, other: inside(pitch * b), own, transform };
  if (kind === 'split') split(all);
  else if (kind === 'join') join(all);
  else convolve(all);
}
