/**
 * The layout of matrix fragments in a warp: the lane, register and part of each element. All layouts are permutations of bits: each bit of
 * an element's row and column is a bit of the lane (`l0` to `l4`), of the register index (`r0`, …) or of the position in the register
 * (`p0`, …), lowest first. Register bits that no element uses duplicate the content.
 * Source: PTX ISA 9.0, 9.7.14.5 (`mma`, `ldmatrix`); the manual leaves the layouts of `wmma` open, and these are the layouts of an NVIDIA
 * H200.
 */

/** The matrices of `d = a * b + c`; d has the layout of c. */
export type Role = 'a' | 'b' | 'c';

/** The target of a bit of a row or column. */
export interface Place {
  readonly of: 'lane' | 'register' | 'part';
  readonly bit: number;
}

export interface Fragment {
  /** Bits of the row, lowest first. */
  readonly row: readonly Place[];
  readonly column: readonly Place[];
  /** The number of registers per thread. */
  readonly registers: number;
  /** The size of an element and of a register in bits. */
  readonly bits: number;
  readonly registerBits: number;
}

/** Sizes of elements in bits. */
export const elementBits = {
  b1: 1,
  s4: 4,
  u4: 4,
  s8: 8,
  u8: 8,
  e4m3: 8,
  e5m2: 8,
  f16: 16,
  bf16: 16,
  b16: 16,
  tf32: 32,
  f32: 32,
  s32: 32,
  f64: 64,
} as const;
export type Element = keyof typeof elementBits;

/** The row, column and depth extents of a shape such as `m16n8k16`. */
export function sizesOf(shape: string): Readonly<Record<'m' | 'n' | 'k', number>> {
  const [, m = 0, n = 0, k = 0] = (/^m(\d+)n(\d+)k(\d+)$/.exec(shape) ?? []).map(Number);
  return { m, n, k };
}

const kinds = { l: 'lane', r: 'register', p: 'part' } as const;
/** Parses a list such as `p0 l0 l1`. */
const places = (text: string): Place[] =>
  text.split(' ').flatMap((word) => (word === '' ? [] : [{ of: kinds[word[0] as keyof typeof kinds], bit: Number(word[1]) }]));
const log2 = (n: number): number => 31 - Math.clz32(n);
const range = (letter: string, from: number, to: number): string =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => `${letter}${from + i}`).join(' ');

function fragment(row: string, column: string, element: Element, registers?: number): Fragment {
  const [rowPlaces, columnPlaces] = [places(row), places(column)];
  const own = [...rowPlaces, ...columnPlaces].filter(({ of }) => of === 'register');
  const bits = elementBits[element];
  return { row: rowPlaces, column: columnPlaces, registers: registers ?? 2 ** own.length, bits, registerBits: Math.max(32, bits) };
}

/**
 * The bits along `k` of a factor: neighbors share a register, the next two bits select one of four threads, and the rest are in further
 * registers.
 */
function depth(element: Element, k: number, from: number): string {
  const parts = log2(Math.max(1, 32 / elementBits[element]));
  return `${range('p', 0, parts)} l0 l1 ${range('r', from, from + log2(k) - parts - 2)}`.trim();
}

/**
 * The layouts of `mma.sync` and of 8-by-8 tiles: eight groups of four threads, each with a row of a and c and a column of b. Rows 8 to 15
 * are in further registers.
 */
export function mmaFragment(role: Role, shape: string, element: Element): Fragment {
  const { m, k } = sizesOf(shape);
  const groups = 'l2 l3 l4';
  if (role === 'b') return fragment(depth(element, k, 0), groups, element);
  const lower = m === 16 ? 1 : 0;
  if (role === 'a') return fragment(lower ? `${groups} r0` : groups, depth(element, k, lower), element);
  const pair = elementBits[element] === 16 ? 'p0' : 'r0';
  return fragment(lower ? `${groups} ${pair === 'p0' ? 'r0' : 'r1'}` : groups, `${pair} l0 l1`, element);
}

/** `mma.m8n8k4`: four products, each by two groups of four threads, which bits `l2` and `l3` of the lane select. */
export function quadPairFragment(role: Role, layout: 'row' | 'col', element: Element): Fragment {
  const eight = 'l0 l1 l4';
  if (role === 'a') return layout === 'row' ? fragment(eight, 'p0 r0', element) : fragment('p0 r0 l4', 'l0 l1', element);
  if (role === 'b') return layout === 'row' ? fragment('l0 l1', 'p0 r0 l4', element) : fragment('p0 r0', eight, element);
  return element === 'f16' ? fragment(eight, 'p0 r0 r1', element) : fragment('l0 r1 l4', 'r0 l1 r2', element);
}

/** The layouts of `wmma`: those of `mma.sync`, with two of them side by side for 16 columns of b and c, or 32 rows. */
export function wmmaFragment(role: Role, shape: string, element: Element): Fragment {
  const { m, n, k } = sizesOf(shape);
  // Duplicated in eight registers, for every shape.
  const registers = element === 'f16' && role !== 'c' ? 8 : undefined;
  if (n === 32) return transposed(wmmaFragment(role === 'c' ? 'c' : role === 'a' ? 'b' : 'a', `m32n8k${k}`, element));
  const one = mmaFragment(role, `m${Math.min(m, 16)}n8k${k}`, element);
  const further: Place = { of: 'register', bit: log2(one.registers) };
  const [isHigher, isWider] = [m === 32 && role !== 'b', n === 16 && role !== 'a'];
  return {
    ...one,
    row: isHigher ? [...one.row, further] : one.row,
    column: isWider ? [...one.column, further] : one.column,
    registers: registers ?? one.registers * (isHigher || isWider ? 2 : 1),
  };
}

const transposed = (one: Fragment): Fragment => ({ ...one, row: one.column, column: one.row });
