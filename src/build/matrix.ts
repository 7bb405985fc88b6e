/**
 * Matrix products of a warp: fragments in registers, and `mma.sync` on them. Which lane has which element is the manual's; `loadA`, `loadB`,
 * `eachElement` know it. Source: PTX ISA 9.0, 9.7.14.5 (mma) and 9.7.14.5.15 (ldmatrix).
 */
import { fail } from './fail.ts';
import { added, type Handle, inRegister } from './handle.ts';
import { laneIndex } from './ids.ts';
import { nameNode, vectorNode } from './nodes.ts';
import { bracketed } from './pointer.ts';
import { mayNeed, type Tile } from './tile.ts';
import { trace } from './trace.ts';
import { b32, f32, f64, type MemoryName, s32, type Type } from './types.ts';
import { local, Value, type Variable } from './value.ts';
import { vector } from './vector.ts';

/** Larger products of f64, by the indices along `k`: 16 rows, where `f64` has 8. They need sm_90. */
export type LargeDoubleName = 'f64x4' | 'f64x8' | 'f64x16';
/** The types of factors: `tf32` is an f32 of which the tensor core reads 19 bits. */
export type FactorName = 'f16' | 'bf16' | 'tf32' | 's8' | 'u8' | 'f64' | LargeDoubleName;

interface Shape {
  /** Rows of a and of the sum. */
  readonly m: number;
  /** Columns of b and of the sum. */
  readonly n: number;
  /** Columns of a and rows of b. */
  readonly k: number;
  /** The elements of a register of factors. */
  readonly packed: number;
  readonly sum: 'f32' | 's32' | 'f64';
}

/** The shape of the product of each type of factors: `m` by `k` times `k` by `n`. All need sm_80, the larger ones of f64 sm_90. */
export const shapes = {
  f16: { m: 16, n: 8, k: 16, packed: 2, sum: 'f32' },
  bf16: { m: 16, n: 8, k: 16, packed: 2, sum: 'f32' },
  tf32: { m: 16, n: 8, k: 8, packed: 1, sum: 'f32' },
  s8: { m: 16, n: 8, k: 32, packed: 4, sum: 's32' },
  u8: { m: 16, n: 8, k: 32, packed: 4, sum: 's32' },
  f64: { m: 8, n: 8, k: 4, packed: 1, sum: 'f64' },
  f64x4: { m: 16, n: 8, k: 4, packed: 1, sum: 'f64' },
  f64x8: { m: 16, n: 8, k: 8, packed: 1, sum: 'f64' },
  f64x16: { m: 16, n: 8, k: 16, packed: 1, sum: 'f64' },
} as const satisfies Record<FactorName, Shape>;

/** The type of the elements of sums. */
export type SumOf<F extends FactorName> = (typeof shapes)[F]['sum'];
/** The type of the elements of factors in memory. */
export type StoredOf<F extends FactorName> = F extends 'tf32'
  ? 'f32'
  : F extends LargeDoubleName
    ? 'f64'
    : Exclude<F, 'tf32' | LargeDoubleName>;
type RegisterOf<F extends FactorName> = F extends 'f64' | LargeDoubleName ? 'f64' : 'b32';

/** A factor in the registers of a warp. */
export interface Factor<F extends FactorName, W extends 'a' | 'b'> {
  readonly which: W;
  readonly type: F;
  /** The registers of this lane. */
  readonly registers: readonly Value<RegisterOf<F>>[];
}

/** A sum in the registers of a warp: it changes with each `mma`. */
export interface Accumulator<F extends FactorName> {
  readonly type: F;
  /** The elements of this lane: `eachElement` says where they are. */
  readonly elements: readonly Variable<SumOf<F>>[];
}

const sums = { f32, s32, f64 } as const;

/** A sum of zeros. */
export function accumulator<F extends FactorName>(type: F): Accumulator<F> {
  const { m, n, sum } = shapes[type];
  return { type, elements: Array.from({ length: (m * n) / 32 }, () => local(sums[sum] as Type<SumOf<F>>, 0)) };
}

/** Adds the product of two factors to a sum; every lane of the warp takes part. */
export function mma<F extends FactorName>({ elements }: Accumulator<F>, a: Factor<NoInfer<F>, 'a'>, b: Factor<NoInfer<F>, 'b'>): void {
  const { type } = a;
  if (b.type !== type) fail('CM5086', { wanted: type, given: b.type });
  const { m, n, k, sum } = shapes[type];
  const sumNode = vectorNode(elements.map(({ register }) => nameNode(register)));
  const factors = [a, b].map(({ registers }) => vectorNode(registers.map((each) => inRegister(each.type, each))));
  const element = sum === 'f64' ? 'f64' : type;
  const name = `mma.sync.aligned.m${m}n${n}k${k}.row.col.${sum}.${element}.${element}.${sum}`;
  trace('mma').emit(name, [sumNode, ...factors, sumNode]);
}

/** Calls a function with each element of a sum that this lane has, its row and its column in the tile of `m` by `n`. */
export function eachElement<F extends FactorName>(
  { type, elements }: Accumulator<F>,
  visit: (element: Variable<SumOf<F>>, row: Value<'u32'>, column: Value<'u32'>) => void,
): void {
  const lane = laneIndex();
  const [row, column] = [lane.shr(2), lane.and(3).mul(2)];
  elements.forEach((element, i) => {
    visit(element, i < 2 || type === 'f64' ? row : row.add(8), i % 2 === 0 ? column : column.add(1));
  });
}

/** Options of loads of factors. */
export interface FactorOptions {
  /**
   * Whether the tile has the factor the other way: `a` with columns as rows, or `b` with its rows along the columns of the tile. By default a tile
   * has `k` along its rows: rows of `a`, columns of `b`.
   */
  readonly transposed?: boolean;
}

/** The part of `a` from a row and a column of a tile on, of `m` rows and `k` columns. */
export const loadA = <F extends FactorName>(
  type: F,
  tile: Tile<StoredOf<F>>,
  row: Value<'u32'> | number,
  column: Value<'u32'> | number,
  options: FactorOptions = {},
): Factor<F, 'a'> => ({ which: 'a', type, registers: load(type, tile, { which: 'a', row, column, ...options }) });

/** The part of `b` with column `column` and row `row` first, of `k` rows and `n` columns. A tile has a column of `b` in each of its rows. */
export const loadB = <F extends FactorName>(
  type: F,
  tile: Tile<StoredOf<F>>,
  row: Value<'u32'> | number,
  column: Value<'u32'> | number,
  options: FactorOptions = {},
): Factor<F, 'b'> => ({ which: 'b', type, registers: load(type, tile, { which: 'b', row: column, column: row, ...options }) });

interface Wanted extends FactorOptions {
  readonly which: 'a' | 'b';
  /** The first row of `a`, or the first column of `b`. */
  readonly row: Value<'u32'> | number;
  /** The first index along `k`. */
  readonly column: Value<'u32'> | number;
}

function load<F extends FactorName>(type: F, tile: Tile<StoredOf<F>>, wanted: Wanted): Value<RegisterOf<F>>[] {
  const isHalf = type === 'f16' || type === 'bf16';
  assertInside(type, tile as Tile<MemoryName>, wanted);
  if (isHalf && mayNeed(75)) return loadHalves(tile as Tile<MemoryName>, wanted) as unknown as Value<RegisterOf<F>>[];
  return loadElements(type, tile as Tile<MemoryName>, wanted) as Value<RegisterOf<F>>[];
}

/** What is known of an index while the kernel is made. */
const atLeast = (index: Value<'u32'> | number): number => (typeof index === 'number' ? index : 0);

/** Throws CM5088 for a factor that reaches beyond its tile, or whose rows are not where `ldmatrix` reads them. */
function assertInside(type: FactorName, tile: Tile<MemoryName>, { which, row, column, transposed = false }: Wanted): void {
  const { m, n, k } = shapes[type];
  const [lines, along] = [atLeast(row) + (which === 'a' ? m : n), atLeast(column) + k];
  const [rows, columns] = transposed ? [along, lines] : [lines, along];
  const what = `a factor of ${type}`;
  if (rows > tile.rows || columns > tile.columns)
    fail('CM5088', { what, why: `it needs ${rows} rows and ${columns} columns of a tile of ${tile.rows} by ${tile.columns}` });
  // Eight halves of a row are 16 bytes, which `ldmatrix` reads at a multiple of 16.
  const isApart = tile.pitch % 8 !== 0 || atLeast(transposed ? row : column) % 8 !== 0;
  if ((type === 'f16' || type === 'bf16') && isApart)
    fail('CM5088', { what, why: 'its rows do not start at multiples of 16 bytes: columns and `pad` are multiples of 8' });
}

const plus = (lane: Value<'u32'>, first: Value<'u32'> | number): Value<'u32'> => lane.add(first);

/** Four or two matrices of eight by eight halves: each lane gives the place of one of their rows. */
function loadHalves(tile: Tile<MemoryName>, { which, row, column, transposed = false }: Wanted): Value<'b32'>[] {
  const lane = laneIndex();
  const count = which === 'a' ? 4 : 2;
  // The matrices of `a` follow each other down its rows and then along `k`; those of `b` along `k`.
  const [near, far] = which === 'a' ? [lane.and(15), lane.shr(4).mul(8)] : [lane.and(7), lane.shr(3).and(1).mul(8)];
  const turned = which === 'a' ? [lane.and(7).add(lane.shr(4).mul(8)), lane.shr(3).and(1).mul(8)] : [lane.and(15), undefined];
  const place = transposed
    ? tile.at(plus(turned[0]!, column), turned[1] === undefined ? row : plus(turned[1], row))
    : tile.at(plus(near, row), plus(far, column));
  const made = Array.from({ length: count }, () => trace().fresh('b32'));
  trace().emit(`ldmatrix.sync.aligned.m8n8.x${count}${transposed ? '.trans' : ''}.shared.b16`, [
    vectorNode(made.map(nameNode)),
    bracketed(place.address),
  ]);
  return made.map((register) => new Value('b32', register));
}

/** A register for each row of eight and each half of `k`, of elements that are loaded one by one or next to each other. */
function loadElements(
  type: FactorName,
  tile: Tile<MemoryName>,
  { which, row, column, transposed = false }: Wanted,
): Value<'b32' | 'f64'>[] {
  const { packed, m, k } = shapes[type];
  const lane = laneIndex();
  const [line, along] = [lane.shr(2), lane.and(3).mul(packed)];
  const lines = which === 'a' && m === 16 ? [0, 8] : [0];
  // The four lanes of a row have as many registers of elements next to each other, and then those behind them.
  const halves = Array.from({ length: k / (4 * packed) }, (_, part) => 4 * packed * part);
  const element = (r: Value<'u32'>, c: Value<'u32'>) => (transposed ? tile.at(c, r) : tile.at(r, c));
  return halves.flatMap((half) =>
    lines.map((first) => {
      const [r, c] = [plus(line, row).add(first), plus(along, column).add(half)];
      if (isDouble(type)) return element(r, c).get() as Value<'f64'>;
      if (type === 'tf32') return shortBits(element(r, c).get() as Value<'f32'>);
      if (!transposed) return element(r, c).pointer().as(b32).at(0).get();
      return joined(
        type,
        Array.from({ length: packed }, (_, i) => element(r, c.add(i)).get()),
      );
    }),
  );
}

const isDouble = (type: FactorName): boolean => shapes[type].sum === 'f64';

const shortBits = (value: Handle<'f32'>): Value<'b32'> => new Value('b32', added('b32', 'cvt.rna.tf32.f32', [inRegister('f32', value)]));

/** An f32 as tensor cores read it: rounded to 11 bits of precision, ties away from zero (`cvt.rna.tf32`). It needs sm_80. */
export const toTf32 = (value: Handle<'f32'>): Value<'f32'> => shortBits(value).as(f32);

/** Values of 8 or 16 bits in a register, the first in the lowest bits. */
function joined(type: FactorName, values: readonly Value<MemoryName>[]): Value<'b32'> {
  const bits = type === 's8' || type === 'u8' ? 8 : 16;
  const words = values.map((value) => {
    const raw =
      bits === 16 ? (value as Value<'f16'>).as({ kind: 'scalar', name: 'u16' }) : (value as Value<'u8'>).as({ kind: 'scalar', name: 'u8' });
    return (raw as Value<'u16'>).to({ kind: 'scalar', name: 'u32' });
  });
  return words.reduce((sum, word, i) => (i === 0 ? word : sum.or(word.shl(i * bits)))).as(b32);
}

/** A sum as a factor `a` of another product, rounded to halves or bfloats: two sums next to each other have the columns of one factor. */
export function asFactor<F extends 'f16' | 'bf16'>(type: F, left: Accumulator<FactorName>, right: Accumulator<FactorName>): Factor<F, 'a'> {
  const pair = (low: Variable<'f32'>, high: Variable<'f32'>): Value<'b32'> =>
    new Value('b32', added('b32', `cvt.rn.${type}x2.f32`, [inRegister('f32', high), inRegister('f32', low)]));
  const [a, b] = [left, right].map(({ elements }) => elements as readonly Variable<'f32'>[]);
  const registers = [pair(a![0]!, a![1]!), pair(a![2]!, a![3]!), pair(b![0]!, b![1]!), pair(b![2]!, b![3]!)];
  return { which: 'a', type, registers: registers as unknown as Value<RegisterOf<F>>[] };
}

/** Stores a sum as halves or bfloats in a tile: `m` rows and `n` columns from a row and a column on. It needs sm_90 (`stmatrix`). */
export function storeHalves<T extends 'f16' | 'bf16'>(
  { elements }: Accumulator<FactorName>,
  tile: Tile<T>,
  row: Value<'u32'> | number,
  column: Value<'u32'> | number,
): void {
  const [e0, e1, e2, e3] = elements as readonly Variable<'f32'>[];
  const pair = (low: Variable<'f32'>, high: Variable<'f32'>): Value<'b32'> =>
    new Value('b32', added('b32', `cvt.rn.${tile.type}x2.f32`, [inRegister('f32', high), inRegister('f32', low)]));
  const words = vector(b32, [pair(e0!, e1!), pair(e2!, e3!)]);
  const place = tile.at(plus(laneIndex().and(15), row), column);
  trace().emit('stmatrix.sync.aligned.m8n8.x2.shared.b16', [
    bracketed(place.address),
    vectorNode(words.lanes.map((each) => inRegister('b32', each))),
  ]);
}
