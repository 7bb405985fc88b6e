/** The staging area of products of matrices, and what the writers of their functions share. */
import { type MmaForm, mmaColumns, mmaForm, mmaRegisters } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';

/** Offsets in the staging area: registers by number, of each lane, and the unpacked factors. */
export interface Staging {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** The words with the positions of the elements of a sparse a. */
  readonly d: number;
  /** Rows of a, and rows of b of which each has first the even columns and then the odd ones. */
  readonly rows: number;
  readonly columns: number;
  readonly bytes: number;
  /** Bytes of a register, and of an unpacked element. */
  readonly wordBytes: 4 | 8;
}

/** Lanes. */
export const warp = 32;

export function stagingOf(form: MmaForm): Staging {
  const count = mmaRegisters(form);
  const wordBytes = form.sum === 'f64' ? 8 : 4;
  let bytes = 0;
  const place = (words: number): number => {
    const at = bytes;
    bytes += words * wordBytes;
    return at;
  };
  const [a, b, c, d] = [place(count.a * warp), place(count.b * warp), place(count.c * warp), place(warp)] as const;
  const [rows, columns] = [place(form.m * form.k), place(form.k * mmaColumns)] as const;
  return { a, b, c, d, rows, columns, bytes, wordBytes };
}

/** Bytes of the staging area of a kernel's products; 0 without any. */
export const stagingBytes = (forms: Iterable<string>): number => Math.max(0, ...[...forms].map((form) => stagingOf(mmaForm(form)).bytes));

/** A function of a product while it is being written. */
export interface MmaFrame {
  readonly code: Code;
  /** The function of fused multiply-add of doubles, for products of them. */
  readonly fma: number;
  readonly form: MmaForm;
  readonly staging: Staging;
  /** The parameter. */
  readonly base: number;
}

export const get = (code: Code, ...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));

export function add(code: Code, value: number): void {
  if (value === 0) return;
  code.i32(value);
  code.op('i32.add');
}

export function binary(code: Code, op: 'i32.and' | 'i32.shl' | 'i32.shr_u' | 'i32.mul', value: number): void {
  code.i32(value);
  code.op(op);
}

/** A loop from 0 up to a count, at least once. */
export function count(code: Code, counter: number, limit: number, body: () => void): void {
  code.i32(0);
  code.at('local.set', counter);
  code.open('loop');
  body();
  get(code, counter);
  add(code, 1);
  code.at('local.tee', counter);
  code.i32(limit);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}
