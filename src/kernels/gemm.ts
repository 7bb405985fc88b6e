/**
 * Matrix products by tiles in shared memory: 256 threads compute a tile of 128 by 128 or 64 by 64, each a part of 8 by 8 or 4 by 4 in registers. While a
 * tile of 16 along k is used, the next one is on its way through registers, so that the scheme needs no architecture in particular.
 */
import {
  type Arguments,
  bf16,
  blockIndex,
  constant,
  f16,
  f32,
  f64,
  type Index,
  kernel,
  local,
  loop,
  type Pointer,
  pointerAt,
  ptr,
  s8,
  s32,
  shared,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  type Variable,
  v2,
  v4,
  when,
} from '../build/index.ts';
import { type Activation, activations } from './functions.ts';
import { refuse } from './refuse.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';

/** The types of the factors. */
export type GemmType = 'f32' | 'f64' | 'f16' | 'bf16' | 's8';
/** The type in which products are summed: that of `alpha`, `beta` and the bias. */
export type GemmSum<T extends GemmType> = T extends 'f64' ? 'f64' : T extends 's8' ? 's32' : 'f32';
/** The type of the result: that of the factors, and s32 for s8. */
export type GemmResult<T extends GemmType> = T extends 's8' ? 's32' : T;

const types = { f32, f64, f16, bf16, s8 } as const;
const sums = { f32, f64, f16: f32, bf16: f32, s8: s32 } as const;
const results = { f32, f64, f16, bf16, s8: s32 } as const;

/** Options of `gemm`. */
export interface GemmOptions<T extends GemmType = GemmType> {
  /** The type of the factors: f32 by default. */
  readonly type?: Type<T>;
  /** Whether `a` has a row for each index of k, and not for each row of the result. */
  readonly transposeA?: boolean;
  /** Whether `b` has a row for each column of the result, and not for each index of k. */
  readonly transposeB?: boolean;
  /** A function of each element at the end; of f32, f16 and bf16. */
  readonly activation?: Activation;
  /** The rows and columns of the result that a block computes: 128 by default, 64 for f64 and for small matrices. */
  readonly tile?: 64 | 128;
}

const depth = 16;
const side = 16;
const threads = side * side;

type Parametersof<T extends GemmType> = ReturnType<typeof parametersOf<T>>;
const parametersOf = <T extends GemmType>(type: T) => {
  const sum = sums[type] as unknown as Type<GemmSum<T>>;
  const [element, result] = [types[type] as unknown as Type<T>, results[type] as unknown as Type<GemmResult<T>>];
  return {
    ...{ a: ptr(element), b: ptr(element), c: ptr(result), bias: ptr(sum), m: u32, n: u32, k: u32, lda: u64, ldb: u64, ldc: u64 },
    ...{ strideA: u64, strideB: u64, strideC: u64, alpha: sum, beta: sum },
  };
};

/** What a launch of `gemm` is given: matrices row by row. */
export type GemmArguments<T extends GemmType> = Pick<Arguments<Parametersof<T>>, 'a' | 'b' | 'c' | 'm' | 'n' | 'k'> &
  Partial<Omit<Arguments<Parametersof<T>>, 'a' | 'b' | 'c' | 'm' | 'n' | 'k'>> & {
    /** The number of products: matrices follow each other by the strides. 1 by default. */
    readonly batch?: number;
  };

/** The sum types as the body sees them: what it does is the same for all. */
type Sum = Value<'f32'>;
interface Inside {
  readonly a: Pointer<'f32', 'global'>;
  readonly b: Pointer<'f32', 'global'>;
  readonly c: Pointer<'f32', 'global'>;
  readonly bias: Pointer<'f32', 'global'>;
  readonly m: Value<'u32'>;
  readonly n: Value<'u32'>;
  readonly k: Value<'u32'>;
  readonly lda: Value<'u64'>;
  readonly ldb: Value<'u64'>;
  readonly ldc: Value<'u64'>;
  readonly strideA: Value<'u64'>;
  readonly strideB: Value<'u64'>;
  readonly strideC: Value<'u64'>;
  readonly alpha: Sum;
  readonly beta: Sum;
}

interface Form {
  readonly type: GemmType;
  readonly tile: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: Activation;
}

const bytes = { f32: 4, f64: 8, f16: 2, bf16: 2, s8: 1, s32: 4 } as const;

/**
 * `c = f(alpha * a b + beta * c + bias)`: `a` is m by k, `b` is k by n, `c` is m by n, and the bias has an element for each column. f16 and bf16 are summed as
 * f32, s8 as s32 (exactly). `lda`, `ldb` and `ldc` are the elements from one row to the next, by default as few as possible, and below 2^25 for the factors; `strideA`, `strideB` and
 * `strideC` those from one matrix of a batch to the next. `bias` is null by default; `c` is read only if `beta` is not 0. Deterministic.
 */
export function gemm<T extends GemmType = 'f32'>(options: GemmOptions<T> = {}): Routine<Parametersof<T>, GemmArguments<T>> {
  const type = (options.type?.name ?? 'f32') as T;
  const { transposeA = false, transposeB = false, activation = 'identity', tile = type === 'f64' ? 64 : 128 } = options;
  const key = named('gemm', type, tile, transposeA && 'ta', transposeB && 'tb', activation !== 'identity' && activation);
  if (activation !== 'identity' && sums[type].name !== 'f32') refuse(key, 'activations are functions of f32');
  if (type === 'f64' && tile !== 64) refuse(key, 'tiles of f64 are 64 by 64');
  const form: Form = { type, tile, transposeA, transposeB, activation };
  const make = (name: string): TypedKernel<Parametersof<T>> =>
    kernel(name, parametersOf(type), (p) => body(p as unknown as Inside, form), {
      ...portable,
      block: threads,
      // Two blocks of 128 registers for each thread hide what one would wait for.
      minBlocks: tile === 128 ? 2 : undefined,
    });
  return routine(
    key,
    make,
    (given: GemmArguments<T>) => planOf(form, given as unknown as GemmArguments<'f32'>) as unknown as Plan<Parametersof<T>>,
  );
}

/** A pitch that a tile's offsets of 32 bits hold. */
const pitchOf = (pitch: number, columns: number): number => (pitch < columns || pitch > 2 ** 25 - 1 ? Number.NaN : pitch);

/** The elements of a batch of matrices of rows and columns. */
const extentOf = (rows: number, columns: number, pitch: number, batch: number, stride: number): number =>
  rows === 0 || columns === 0 || batch === 0 ? 0 : (batch - 1) * stride + (rows - 1) * pitch + columns;

function planOf({ tile, transposeA, transposeB }: Form, given: GemmArguments<'f32'>): Plan<Parametersof<'f32'>> {
  const { m, n, k, batch = 1, alpha = 1, beta = 0, bias = null } = given;
  const [rowsA, columnsA, rowsB, columnsB] = [transposeA ? k : m, transposeA ? m : k, transposeB ? n : k, transposeB ? k : n];
  const [lda, ldb, ldc] = [Number(given.lda ?? columnsA), Number(given.ldb ?? columnsB), Number(given.ldc ?? n)];
  const [strideA, strideB, strideC] = [
    Number(given.strideA ?? rowsA * lda),
    Number(given.strideB ?? rowsB * ldb),
    Number(given.strideC ?? m * ldc),
  ];
  const { a, b, c } = given;
  return {
    grid: [blocksFor(n, tile), blocksFor(m, tile), batch],
    block: threads,
    args: { a, b, c, bias, m, n, k, lda, ldb, ldc, strideA, strideB, strideC, alpha, beta },
    sizes: {
      ...{
        m: m > 65535 * tile ? Number.NaN : m,
        n,
        k: k > 0xffff_ffff - depth ? Number.NaN : k,
        batch: batch > 65535 ? Number.NaN : batch,
      },
      ...{ lda: pitchOf(lda, columnsA), ldb: pitchOf(ldb, columnsB), ldc: ldc < n ? Number.NaN : ldc },
    },
    needs: {
      a: extentOf(rowsA, columnsA, lda, batch, strideA),
      b: extentOf(rowsB, columnsB, ldb, batch, strideB),
      c: extentOf(m, n, ldc, batch, strideC),
      bias: n,
    },
  };
}

function body(p: Inside, form: Form): void {
  const { type, tile } = form;
  const sum = sums[type] as unknown as Type<'f32'>;
  const batch = blockIndex('z').to(u64);
  const pitch = tile + 4;
  const tiles = shared(sum, [4, depth * pitch], { align: 128 });
  const [row, column] = [blockIndex('y').mul(tile), blockIndex('x').mul(tile)];
  const readA = reader({ ...form, isAlong: !form.transposeA }, p.a, batch.mul(p.strideA), { line: row, lines: p.m, k: p.k, pitch: p.lda });
  const readB = reader({ ...form, isAlong: form.transposeB }, p.b, batch.mul(p.strideB), {
    line: column,
    lines: p.n,
    k: p.k,
    pitch: p.ldb,
  });
  const per = tile / side;
  const total = Array.from({ length: per * per }, () => local(sum, 0));
  readA.load(constant(u32, 0));
  readB.load(constant(u32, 0));
  const rounds = p.k.add(depth - 1).div(depth);
  loop(constant(u32, 0), rounds, 1, (round) => {
    const stage = round.and(1).mul(2 * depth * pitch);
    const [left, right] = [tiles.add(stage), tiles.add(stage.add(depth * pitch))];
    readA.store(left, pitch);
    readB.store(right, pitch);
    syncThreads();
    const next = round.add(1).mul(depth);
    when(next.lt(p.k), () => {
      readA.load(next);
      readB.load(next);
    });
    multiply(left, right, total, { pitch, per, type: sum });
  });
  store(p, form, total, { row, column, batch });
}

interface Reader {
  /** Loads the part of this thread of a tile from an index of k on. */
  load(k: Value<'u32'>): void;
  store(to: Pointer<'f32', 'shared'>, pitch: number): void;
}
interface From {
  /** The first row of `a` or column of `b`, and how many there are. */
  readonly line: Value<'u32'>;
  readonly lines: Value<'u32'>;
  readonly k: Value<'u32'>;
  readonly pitch: Value<'u64'>;
}

/**
 * Loads of a factor into registers and its stores to shared memory, k by line. `isAlong`: k is contiguous in memory. Lines beyond the last read the last
 * one, because their results are not stored; indices of k beyond the last are zeros.
 */
function reader(
  { type, tile, isAlong }: Form & { readonly isAlong: boolean },
  from: Pointer<'f32', 'global'>,
  offset: Value<'u64'>,
  { line, lines, k, pitch }: From,
): Reader {
  const sum = sums[type] as unknown as Type<'f32'>;
  const [element, size] = [types[type] as unknown as Type<'f32'>, bytes[type]];
  const index = threadIndex();
  const count = (tile * depth) / threads;
  const [across, step] = isAlong ? [depth, threads / depth] : [tile, threads / tile];
  const [fast, slow] = [index.rem(across), index.div(across)];
  // What each load of this thread is: its line in the tile, its index of k, and its place in memory.
  const last = lines.sub(1);
  // Offsets in a tile have 32 bits, which takes half of the registers: the plan refuses larger pitches.
  const step32 = pitch.to(u32);
  const parts = Array.from({ length: count }, (_, i) => {
    const other = i === 0 ? slow : slow.add(i * step);
    const [own, depthAt] = isAlong ? [other, fast] : [fast, other];
    const at = line.add(own).min(last).sub(line);
    const place = isAlong ? at.mad(step32, depthAt) : depthAt.mad(step32, at);
    return { own, depthAt, place };
  });
  const firstLine = isAlong ? line.to(u64).mul(pitch) : line.to(u64);
  const base = from.address().add(offset.add(firstLine).mul(size)) as Value<'u64'>;
  const values = parts.map(() => local(sum, 0));
  const get = (address: Value<'u64'>): Sum => (pointerAt(element, 'global', address).at(0).get() as Value<'f32'>).to(sum);
  return {
    load: (first) => {
      const start = base.add(isAlong ? first.to(u64).mul(size) : first.to(u64).mul(pitch).mul(size));
      when(
        first.add(depth).le(k),
        () => {
          for (const [i, { place }] of parts.entries()) values[i]!.set(get(place.madWide(size, start)));
        },
        () =>
          parts.forEach(({ place, depthAt }, i) => {
            values[i]!.set(0);
            when(first.add(depthAt).lt(k), () => values[i]!.set(get(place.madWide(size, start))));
          }),
      );
    },
    store: (to, rowPitch) => {
      for (const [i, { own, depthAt }] of parts.entries()) to.at(depthAt.mad(rowPitch, own)).set(values[i]!);
    },
  };
}

interface Shape {
  readonly pitch: number;
  readonly per: number;
  readonly type: Type<'f32'>;
}

/** The elements of 16 bytes, and the first of each of these of a thread. */
const vectorsOf = (type: string, per: number): { width: number; firsts: number[] } => {
  const width = type === 'f64' ? 2 : 4;
  return { width, firsts: Array.from({ length: per / width }, (_, q) => q * side * width) };
};

/** Adds the product of two tiles to the sums of this thread. */
function multiply(
  left: Pointer<'f32', 'shared'>,
  right: Pointer<'f32', 'shared'>,
  total: readonly Variable<'f32'>[],
  { pitch, per, type }: Shape,
): void {
  const { width, firsts } = vectorsOf(type.name, per);
  const index = threadIndex();
  const [x, y] = [index.rem(side).mul(width), index.div(side).mul(width)];
  const fragment = (from: Pointer<'f32', 'shared'>, first: Index): Sum[] =>
    firsts.flatMap((each) => {
      const place = from.add(first).add(each);
      const lanes = width === 2 ? place.as(v2(type)).at(0).get().lanes : place.as(v4(type)).at(0).get().lanes;
      return [...lanes];
    });
  const unroll = 4;
  loop(0, depth, unroll, (k) => {
    for (let i = 0; i < unroll; i++) {
      const start = k.add(i).mul(pitch);
      const [a, b] = [fragment(left, start.add(y)), fragment(right, start.add(x))];
      for (const [r, u] of a.entries()) for (const [c, v] of b.entries()) total[r * per + c]!.set(u.mad(v, total[r * per + c]!));
    }
  });
}

interface Where {
  readonly row: Value<'u32'>;
  readonly column: Value<'u32'>;
  readonly batch: Value<'u64'>;
}

/** Stores the sums of this thread that are inside of the result. */
function store(p: Inside, { type, tile, activation }: Form, total: readonly Variable<'f32'>[], { row, column, batch }: Where): void {
  const per = tile / side;
  const sum = sums[type] as unknown as Type<'f32'>;
  const result = results[type] as unknown as Type<'f32'>;
  const { width, firsts } = vectorsOf(sum.name, per);
  const index = threadIndex();
  const [x, y] = [index.rem(side).mul(width), index.div(side).mul(width)];
  const places = firsts.flatMap((first) => Array.from({ length: width }, (_, e) => first + e));
  const columns = places.map((place) => column.add(x).add(place));
  const biases = columns.map((each) => {
    const own = local(sum, 0);
    when(p.bias.address().ne(0).and(each.lt(p.n)), () => own.set(p.bias.at(each)));
    return own;
  });
  const start = p.c.add(batch.mul(p.strideC));
  places.forEach((place, r) => {
    const at = row.add(y).add(place);
    when(at.lt(p.m), () => {
      const line = start.add(at.to(u64).mul(p.ldc));
      for (const [c, each] of columns.entries())
        when(each.lt(p.n), () => {
          const value = local(sum, p.alpha.mul(total[r * per + c]!).add(biases[c]!));
          when(p.beta.ne(0), () => value.set(p.beta.mad(line.at(each).get().to(sum), value)));
          line.at(each).set(activations[activation](value.get()).to(result));
        });
    });
  });
}
