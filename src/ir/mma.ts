/**
 * Forms of `mma`, the product of matrices that a warp holds in registers: `d = a * b + c`, where c and d are spread as `mma.sync` spreads them. A
 * form is spelled as `m16n8k16.f16.f16.f32`, and behind that `satfinite` or, for bits, `xor` or `and`, and `sp0` and so on for a sparse a.
 * Source of the layouts: PTX ISA 9.0, 9.7.14.5 and 9.7.14.6.
 */
import { bug } from '../base/bug.ts';
import { type ScalarType, type Type, vectorOf } from './types.ts';

/** Elements of factors, with their bits. `e3m2`, `e2m3` and `e2m1` are in bytes; `packed` is two `e2m1` in a byte. */
export const factorBits = {
  b1: 32,
  s4: 4,
  u4: 4,
  s8: 8,
  u8: 8,
  e4m3: 8,
  e5m2: 8,
  e3m2: 8,
  e2m3: 8,
  e2m1: 8,
  packed: 4,
  f16: 16,
  bf16: 16,
  tf32: 32,
  f64: 64,
} as const;
export type Factor = keyof typeof factorBits;
/** The elements of sums. `f16` are two in a register, and only functions have them. */
export type Sum = 'f32' | 's32' | 'f64' | 'f16';

export interface MmaForm {
  readonly m: 8 | 16;
  /** Elements along the common axis: of bits, words of 32. */
  readonly k: number;
  readonly a: Factor;
  readonly b: Factor;
  readonly sum: Sum;
  readonly isSaturated: boolean;
  /** How words of bits are combined before their bits are counted. */
  readonly bits: 'xor' | 'and' | undefined;
  /** Of a sparse a: the number of the threads that have the positions of its elements (PTX: the sparsity selector). */
  readonly selector: number | undefined;
}

/** Columns of b and c. */
export const mmaColumns = 8;

/** The form with a spelling. */
export function mmaForm(text: string): MmaForm {
  const found = /^m(8|16)n8k(\d+)\.(\w+)\.(\w+)\.(f16|f32|s32|f64)((?:\.\w+)*)$/.exec(text);
  const [, m, k, a, b, sum, rest] = found ?? bug(`no form of matrix products: ${text}`);
  const words = rest!.split('.');
  const selector = words.find((word) => word.startsWith('sp'));
  return {
    m: Number(m) as 8 | 16,
    k: a === 'b1' ? Number(k) / 32 : Number(k),
    a: a as Factor,
    b: b as Factor,
    sum: sum as Sum,
    isSaturated: words.includes('satfinite'),
    bits: words.find((word) => word === 'xor' || word === 'and') as MmaForm['bits'],
    selector: selector === undefined ? undefined : Number(selector.slice(2)),
  };
}

/** Whether a text is a form that functions compute. */
export const isProductForm = (text: string): boolean => /^m(8|16)n8k\d+\.\w+\.\w+\.(f16|f32|s32|f64)(\.\w+)*$/.test(text);

/** Whether a text is a form of the instruction. */
export const isMmaForm = (text: string): boolean => /^m(8|16)n8k\d+\.\w+\.\w+\.(f32|s32|f64)(\.\w+)*$/.test(text);

/** Elements of a factor in a register. */
export const perRegister = (factor: Factor): number => Math.max(1, 32 / factorBits[factor]);

/** Columns of a that are in registers: a sparse one has half of them. */
export const heldColumns = ({ k, selector }: MmaForm): number => (selector === undefined ? k : k / 2);

/** Registers of each matrix in a thread. */
export function mmaRegisters(form: MmaForm): Readonly<Record<'a' | 'b' | 'c', number>> {
  const { m, k, a, b } = form;
  return {
    a: ((m / 8) * heldColumns(form)) / (4 * perRegister(a)),
    b: k / (4 * perRegister(b)),
    c: form.sum === 'f16' ? m / 8 : m / 4,
  };
}

/** Lanes that hold the registers of a row of a, and those of a column of b: as many as there are columns of d in two of them. */
export const gatheredLanes = 4;
/** Columns of d, and of b, of a thread. */
export const columnsOfThread = 2;

/** The name of the function that computes a form from gathered factors, on targets without the instruction. */
export const productFunctionName = (form: string): string => `cumetal.product.${form}`;

/** The scalar in the registers of factors and sums. */
export const factorType = (factor: Factor): 'i32' | 'f64' => (factor === 'f64' ? 'f64' : 'i32');
export const sumType = (sum: Sum): 'f32' | 'i32' | 'f64' => (sum === 's32' || sum === 'f16' ? 'i32' : sum);

/** The type of registers of a thread as one value. */
export const registersAs = (type: ScalarType, count: number): Type => (count === 1 ? type : vectorOf(type, count as 2 | 4));

/** Where the positions of the elements of a row of a sparse matrix are. */
export interface Positions {
  /** Elements of a that share a position of two bits; half an element for `tf32`, whose position is the upper bit of the second one. */
  readonly shared: 0.5 | 1 | 2;
  /** Bits of a row. */
  readonly rowBits: number;
  /** Whether the two halves of a word are for rows 0 to 7 and 8 to 15; otherwise whole words of two threads are. */
  readonly isHalved: boolean;
}

/** Where the positions of a sparse matrix are; a thread has 32 bits of them. */
export function positionsOf(form: MmaForm): Positions {
  const bits = factorBits[form.a];
  const shared = bits === 32 ? 0.5 : bits === 4 ? 2 : 1;
  return { shared, rowBits: (2 * heldColumns(form)) / shared, isHalved: bits >= 16 };
}
