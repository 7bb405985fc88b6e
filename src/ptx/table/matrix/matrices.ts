/** The matrices of a product in the registers of a warp. */
import type { Value } from '../../../ir/index.ts';
import type { Sum } from './elements.ts';
import type { Element, Fragment } from './fragments.ts';

/** A matrix of a product: its layout, its element type, and the thread's registers. */
export interface Matrix {
  readonly fragment: Fragment;
  readonly element: Element;
  readonly registers: readonly Value[];
}

export interface Product {
  readonly a: Matrix;
  readonly b: Matrix;
  readonly c: Matrix;
  readonly d: { readonly fragment: Fragment } & Sum;
  readonly k: number;
}
