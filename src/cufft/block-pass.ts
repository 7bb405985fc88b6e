/**
 * Passes of a large power of two, for GPUs: the threads of a block transform several sequences in shared memory, so that the numbers go over global memory
 * once for 5 to 12 bits of their index. Each thread has 16 numbers of a sequence in registers; sequences that are short next to a block, or are the columns of
 * a longer one, share a block so that neighboring threads have neighboring numbers. Source: N. Govindaraju et al., "High performance discrete Fourier
 * transforms on graphics processors", 2008.
 */
import {
  blockIndex,
  constant,
  f32,
  f64,
  kernel,
  local,
  type Pointer,
  ptr,
  shared,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  type Value,
  v2,
  vector,
  when,
} from '../build/index.ts';
import { type Precision, rootsOf } from './kernels.ts';
import { type Complex, multiply, type Real, small } from './small.ts';

type Word = Value<'u32'>;
type Reals = Pointer<'f32', 'global'>;

/** Numbers of a thread. */
const own = 16;
/** Blocks along the first axis of a grid. */
export const widest = 65535;

/**
 * Arrays of parts, pairs, pairs with the imaginary part first, real numbers, or the first half of a transform of such in pairs. A transform from halves to real
 * numbers is the inverse one, which exchanges the parts of both.
 */
export type Stored = 'parts' | 'pairs' | 'swapped' | 'real' | 'half';

/** How a pass finds its numbers, and how many sequences a block has. */
export interface BlockForm {
  readonly precision: Precision;
  /** Numbers of a sequence: a power of two from 32 on. */
  readonly length: number;
  /** Sequences of a block: a power of two. */
  readonly sequences: number;
  /** Whether a sequence is a whole transform, whose numbers are neighbors; otherwise those of neighboring sequences are. */
  readonly isWhole: boolean;
  /** Whether no pass was before, so that the results of a sequence are neighbors. */
  readonly isFirst: boolean;
  /** Whether no root is left to multiply with. */
  readonly isLast: boolean;
  readonly from: Stored;
  readonly to: Stored;
}

/** What a block may have: those of the device. */
interface BlockLimits {
  readonly maxThreadsPerThreadgroup: number;
  readonly maxThreadgroupBytes: number;
}

const bytesOf = (precision: Precision): number => (precision === 'f32' ? 4 : 8);
const lanesOf = (length: number): number => length / own;
/** Threads of a block. */
export const threadsOf = ({ length, sequences }: Pick<BlockForm, 'length' | 'sequences'>): number => lanesOf(length) * sequences;

/** A gap after each 16 numbers: those of neighboring threads are 16 apart in the first step. */
const gapped = (at: Word): Word => at.add(at.shr(4));

/** The banks of shared memory. Source: CUDA C++ Programming Guide, "Shared Memory". */
const banks = 32;

/** Numbers from one sequence to the next in shared memory: the threads of a warp that have different sequences meet different banks. */
function pitchOf(length: number, sequences: number, isWhole: boolean): number {
  const least = length + length / own;
  const lanes = isWhole ? lanesOf(length) : banks / Math.min(banks, sequences);
  return least + ((((lanes - least) % banks) + banks) % banks);
}

/** The sequences of a block on a device; nothing if not one fits. */
export function sequencesOf(length: number, isWhole: boolean, precision: Precision, limits: BlockLimits): number | undefined {
  const threads = 256;
  let sequences = isWhole ? Math.max(1, threads / lanesOf(length)) : Math.min(banks, Math.max(8, threads / lanesOf(length)));
  const bytes = (): number => sequences * pitchOf(length, sequences, isWhole) * bytesOf(precision);
  // What every CUDA device has without asking for more.
  const most = Math.min(limits.maxThreadgroupBytes, 48 * 1024);
  while (sequences >= 1 && (sequences * lanesOf(length) > limits.maxThreadsPerThreadgroup || bytes() > most)) sequences /= 2;
  return sequences >= 1 ? sequences : undefined;
}

/** The radices of the steps of a sequence: 16 first. */
function stepsOf(length: number): number[] {
  const bits = Math.log2(length);
  const radices = Array<number>(Math.floor(bits / 4)).fill(own);
  return bits % 4 === 0 ? radices : [...radices, 2 ** (bits % 4)];
}

type Pass = Record<'fromRe' | 'fromIm' | 'toRe' | 'toIm' | 'rootsRe' | 'rootsIm' | 'innerRe' | 'innerIm', Reals> &
  Record<'count' | 'step' | 'rootStep' | 'sequences' | 'fromPitch' | 'toPitch', Word>;

const kernels = new Map<string, TypedKernel>();

/**
 * A pass over `sequences` sequences of `form.length` numbers, of which `count` are a part; `step` is the product of the radices before and of the numbers
 * between neighbors, and `rootStep` without the latter. `fromPitch` and `toPitch` are numbers from one part to the next of `real` and `half`. `rootsRe` and `rootsIm` are roots of unity of the whole length, `inner…` of that of a sequence.
 */
export function blockPassKernel(form: BlockForm): TypedKernel {
  const { precision, length, sequences, isWhole, isFirst, isLast, from, to } = form;
  const kind = [isWhole ? 'whole' : isFirst ? 'first' : 'later', isLast ? 'last' : 'inner'];
  const name = ['cufft', precision, `block${length}x${sequences}`, ...kind, from, to].join('_');
  const known = kernels.get(name);
  if (known) return known;
  const type = (precision === 'f32' ? f32 : f64) as unknown as Type<'f32'>;
  const memory = ['fromRe', 'fromIm', 'toRe', 'toIm', 'rootsRe', 'rootsIm', 'innerRe', 'innerIm'] as const;
  const words = { count: u32, step: u32, rootStep: u32, sequences: u32, fromPitch: u32, toPitch: u32 };
  const parameters = { ...Object.fromEntries(memory.map((each) => [each, ptr(type)])), ...words };
  const made = kernel(name, parameters as never, ((p: Pass) => body(p, form, type)) as never, {
    locations: false,
    block: threadsOf(form),
  }) as unknown as TypedKernel;
  kernels.set(name, made);
  return made;
}

function body(p: Pass, form: BlockForm, type: Type<'f32'>): void {
  const { length, sequences, isWhole, isFirst, isLast, from, to } = form;
  const lanes = lanesOf(length);
  const thread = threadIndex();
  const [sequence, lane] = isWhole
    ? [thread.shr(Math.log2(lanes)), thread.and(lanes - 1)]
    : [thread.and(sequences - 1), thread.shr(Math.log2(sequences))];
  const first = blockIndex('y').mad(widest, blockIndex('x')).mul(sequences);
  const j = first.add(sequence);
  const isIn = j.lt(p.sequences);
  const part = isWhole ? j : j.div(p.count);
  const inside = isWhole ? part : j.sub(part.mul(p.count));
  const whole = isWhole ? constant(u32, length) : p.count.mul(length);
  const place = (slot: number): Word => lane.add(slot * lanes);

  const loaded = Array.from({ length: own }, () => ({ re: local(type, 0), im: local(type, 0) }));
  when(isIn, () => {
    for (const [slot, { re, im }] of loaded.entries()) {
      const value = read(p, from, type, { part, whole, k: isWhole ? place(slot) : place(slot).mad(p.count, inside) });
      re.set(value.re);
      im.set(value.im);
    }
  });
  const exchange = exchanger(form, type);
  const row = sequence.mul(pitchOf(length, sequences, isWhole));
  const inRow = (at: Word): Word => row.add(gapped(at));
  let values: Complex[] = loaded.map(({ re, im }) => ({ re: re.get(), im: im.get() }));
  let size = 1;
  const radices = stepsOf(length);
  for (const [index, radix] of radices.entries()) {
    const results = butterflies(p, { radix, size, length, values, place });
    size *= radix;
    values = index === radices.length - 1 ? results.map(({ value }) => value) : exchange(results, inRow, (slot) => inRow(place(slot)));
  }
  if (!isLast) {
    const turned = isFirst ? inside : inside.div(p.step);
    const roots = rootsBySlot(p, turned.mul(p.rootStep), lane, lanes);
    values = values.map((value, slot) => multiply(value, roots[slot]!));
  }
  if (isFirst && !isWhole) {
    // The results of the sequences of a block are one range of memory, which its threads store in order.
    const results = values.map((value, slot) => ({ value, at: place(slot) }));
    const rank = (slot: number): Word => thread.add(slot * threadsOf(form));
    const stored = exchange(results, inRow, (slot) => {
      const at = rank(slot);
      return at
        .shr(Math.log2(length))
        .mul(pitchOf(length, sequences, isWhole))
        .add(gapped(at.and(length - 1)));
    });
    for (const [slot, value] of stored.entries())
      when(first.add(rank(slot).shr(Math.log2(length))).lt(p.sequences), () =>
        write(p, to, type, { part: constant(u32, 0), whole, k: first.mul(length).add(rank(slot)) }, value),
      );
    return;
  }
  when(isIn, () => {
    const turned = isWhole ? undefined : inside.div(p.step);
    const begin = turned
      ?.mul(p.step)
      .mul(length - 1)
      .add(inside);
    for (const [slot, value] of values.entries())
      write(p, to, type, { part, whole, k: begin ? place(slot).mad(p.step, begin) : place(slot) }, value);
  });
}

interface Step {
  readonly radix: number;
  /** The product of the radices before. */
  readonly size: number;
  readonly length: number;
  readonly values: readonly Complex[];
  /** The number of a slot in the sequence. */
  place(slot: number): Word;
}

/** The small transforms of a step: results by slot, with their places in the sequence, in the order of the next step. */
function butterflies(p: Pass, { radix, size, length, values, place }: Step): { value: Complex; at: Word }[] {
  const each = own / radix;
  const to: { value: Complex; at: Word }[] = [];
  for (let k = 0; k < each; k++) {
    const results = small(Array.from({ length: radix }, (_, t) => values[k + t * each]!));
    const at = place(k);
    const [q, turned] = [at.and(size - 1), at.shr(Math.log2(size))];
    const hasRoots = size * radix < length;
    const roots = hasRoots ? rootsOf({ rootsRe: p.innerRe, rootsIm: p.innerIm }, radix, turned.mul(size)) : [];
    for (const [u, result] of results.entries())
      to[k + u * each] = {
        value: u === 0 || !hasRoots ? result : multiply(result, roots[u]!),
        at: turned
          .mul(size * radix)
          .add(q)
          .add(size * u),
      };
  }
  return to;
}

const rootAt = (re: Reals, im: Reals, at: Word): Complex => ({ re: re.at(at).get(), im: im.at(at).get() });

/** Roots of the whole length to the powers `k` times the place of each slot. */
function rootsBySlot({ rootsRe, rootsIm }: Pass, k: Word, lane: Word, lanes: number): Complex[] {
  const powers = rootsOf({ rootsRe, rootsIm }, own, k.mul(lanes));
  const base = rootAt(rootsRe, rootsIm, k.mul(lane));
  return Array.from({ length: own }, (_, slot) => (slot === 0 ? base : multiply(base, powers[slot]!)));
}

type Exchange = (
  results: readonly { readonly value: Complex; readonly at: Word }[],
  to: (at: Word) => Word,
  from: (slot: number) => Word,
) => Complex[];

/** Passes numbers to other threads of the block, real parts first, so that shared memory holds one part of each. */
function exchanger({ length, sequences, isWhole }: BlockForm, type: Type<'f32'>): Exchange {
  const memory = shared(type, sequences * pitchOf(length, sequences, isWhole));
  let isUsed = false;
  return (results, to, from) => {
    const places = results.map(({ at }) => to(at));
    const passed = (['re', 'im'] as const).map((part) => {
      if (isUsed) syncThreads();
      isUsed = true;
      for (const [slot, { value }] of results.entries()) memory.at(places[slot]!).set(value[part]);
      syncThreads();
      return results.map((_, slot) => local(type, memory.at(from(slot)).get()).get());
    });
    return results.map((_, slot) => ({ re: passed[0]![slot]!, im: passed[1]![slot]! }));
  };
}

/** The number `k` of a part, which has `whole` numbers. */
interface Where {
  readonly part: Word;
  readonly whole: Word;
  readonly k: Word;
}
const indexOf = ({ part, whole, k }: Where): Word => part.mul(whole).add(k);

function read({ fromRe, fromIm, fromPitch }: Pass, stored: Stored, type: Type<'f32'>, where: Where): Complex {
  if (stored === 'parts') return rootAt(fromRe, fromIm, indexOf(where));
  const { part, whole, k } = where;
  if (stored === 'real') return { re: fromRe.at(part.mad(fromPitch, k)).get(), im: constant(type, 0) };
  const pairs = fromRe.as(v2(type)) as Pairs;
  if (stored !== 'half') {
    const { x, y } = pairs.at(indexOf(where)).get();
    return stored === 'pairs' ? { re: x, im: y } : { re: y, im: x };
  }
  // What is behind the half is the conjugate of what is as far from the other end. Where a number is its own conjugate, it is real.
  const other = whole.sub(k);
  const isBehind = k.gt(other);
  const { x, y } = pairs.at(part.mad(fromPitch, isBehind.select(other, k))).get();
  const isReal = k.eq(0).or(k.eq(other));
  return { re: isReal.select(constant(type, 0), isBehind.select(y.neg(), y)), im: x };
}

function write({ toRe, toIm, toPitch }: Pass, stored: Stored, type: Type<'f32'>, where: Where, { re, im }: Complex): void {
  const { part, whole, k } = where;
  if (stored === 'parts') {
    toRe.at(indexOf(where)).set(re);
    toIm.at(indexOf(where)).set(im);
    return;
  }
  if (stored === 'real') {
    toRe.at(part.mad(toPitch, k)).set(im);
    return;
  }
  const pairs = toRe.as(v2(type)) as Pairs;
  if (stored === 'half') when(k.le(whole.shr(1)), () => pairs.at(part.mad(toPitch, k)).set(vector(type, [re, im])));
  else pairs.at(indexOf(where)).set(vector(type, stored === 'pairs' ? [re, im] : [im, re]));
}

/** Memory of pairs. */
interface Pairs {
  at(index: Word): { get(): { readonly x: Real; readonly y: Real }; set(value: unknown): void };
}
