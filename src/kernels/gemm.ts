/**
 * Matrix products by tiles in shared memory: 256 threads compute a tile of 128 by 128 or 64 by 64, each a part of 8 by 8 or 4 by 4 in registers. While a
 * tile of 16 along k is used, the next one is on its way through registers, so that the scheme needs no architecture in particular.
 */
import {
  blockIndex,
  constant,
  type Index,
  kernel,
  local,
  loop,
  type Pointer,
  pointerAt,
  shared,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  toTf32,
  u32,
  u64,
  type Value,
  type Variable,
  v2,
  v4,
  when,
} from '../build/index.ts';
import { chooseGemm, gemmCandidates, type PlainGemm } from './choice.ts';
import { type Activation, activations } from './functions.ts';
import {
  type FactorKind,
  type GemmArguments,
  type GemmInside,
  type GemmOptions,
  type GemmParameters,
  type GemmType,
  gemmParameters,
  gemmPlan,
  kindOf,
  results,
  sums,
  types,
} from './gemm-plan.ts';
import { refuse } from './refuse.ts';
import { named, type Plan, portable, type Routine, routine } from './routine.ts';

const depth = 16;
/** The threads of a block along each side of a tile. */
export const side = 16;
const threads = side * side;

type Sum = Value<'f32'>;

interface Form {
  readonly type: FactorKind;
  readonly tile: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: Activation;
}

/** The types that have several kernels. */
const candidateTypes = new Set<FactorKind>(gemmCandidates.flatMap(({ types: each }) => each));

const bytes = { f32: 4, f64: 8, f16: 2, bf16: 2, s8: 1, s32: 4, tf32: 4 } as const;

/**
 * `c = f(alpha * a b + beta * c + bias)`: `a` is m by k, `b` is k by n, `c` is m by n, and the bias has an element for each column. f16 and bf16 are summed as
 * f32, s8 as s32 (exactly). `lda`, `ldb` and `ldc` are the elements from one row to the next, by default as few as possible, and below 2^25 for the factors; `strideA`, `strideB` and
 * `strideC` those from one matrix of a batch to the next. `bias` is null by default; `c` is read only if `beta` is not 0. Deterministic. On NVIDIA's GPUs from sm_80 on, a
 * launch of f32, f16 or bf16 without `tile` runs `singleGemm` or `tensorGemm`.
 */
export function gemm<T extends GemmType = 'f32'>(options: GemmOptions<T> = {}): Routine<GemmParameters<T>, GemmArguments<T>> {
  const element = (options.type?.name ?? 'f32') as T;
  const type = kindOf(options as GemmOptions);
  const { transposeA = false, transposeB = false, activation = 'identity', tile = type === 'f64' ? 64 : 128 } = options;
  const key = named('gemm', type, tile, transposeA && 'ta', transposeB && 'tb', activation !== 'identity' && activation);
  if (activation !== 'identity' && sums[type].name !== 'f32') refuse(key, 'activations are functions of f32');
  if (type === 'f64' && tile !== 64) refuse(key, 'tiles of f64 are 64 by 64');
  const form: Form = { type, tile, transposeA, transposeB, activation };
  const make = (name: string): TypedKernel<GemmParameters<T>> =>
    kernel(name, gemmParameters(element), (p) => body(p as unknown as GemmInside, form), {
      ...portable,
      block: threads,
      // Two blocks of 128 registers for each thread hide what one would wait for.
      minBlocks: tile === 128 ? 2 : undefined,
    });
  const plan = (given: GemmArguments<T>): Plan<GemmParameters<T>> => gemmPlan({ ...form, tile: [tile, tile], threads }, given);
  // A tile that is asked for is this kernel's.
  const name = options.tile === undefined && candidateTypes.has(type) ? `${key}_any` : key;
  return routine(name, make, plan, (device, given) => chooseGemm(device, options, given, gemm as PlainGemm));
}

function body(p: GemmInside, form: Form): void {
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
  const get = (address: Value<'u64'>): Sum => {
    const value = (pointerAt(element, 'global', address).at(0).get() as Value<'f32'>).to(sum);
    return type === 'tf32' ? toTf32(value) : value;
  };
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
export const vectorsOf = (type: string, per: number): { width: number; firsts: number[] } => {
  const width = type === 'f64' ? 2 : 4;
  return { width, firsts: Array.from({ length: per / width }, (_, q) => q * side * width) };
};

/** Adds the product of two tiles, of 16 indices of k, to the sums of this thread. */
export function multiply(
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
function store(p: GemmInside, { type, tile, activation }: Form, total: readonly Variable<'f32'>[], { row, column, batch }: Where): void {
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
