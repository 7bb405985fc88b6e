/**
 * Products of one form of `mma` (`src/ir/mma.ts`) on targets that do not have the instruction: each thread reads the rows and columns of its elements
 * from the lanes that hold them, unless the target has functions for that. Sums are those of `elements.ts`.
 */
import type { Value } from '../../../ir/index.ts';
import { mmaForm, sumType } from '../../../ir/mma.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Element, elementBits, mmaFragment, sizesOf } from './fragments.ts';
import type { Product } from './matrices.ts';
import { bitProduct, product } from './product.ts';
import { hasProduct, mmaOf, refuseSparse } from './whole-product.ts';

const isElement = (name: string): name is Element => Object.hasOwn(elementBits, name);

/** The registers of a product, by the instruction if the target has it. `e` has the positions of the elements of a sparse a. */
export function productOfForm(
  ir: RowBuilder,
  text: string,
  [a, b, c]: readonly [a: readonly Value[], b: readonly Value[], c: readonly Value[]],
  e?: Value,
): readonly Value[] {
  if (!ir.hasMma) ir.adapt();
  if (hasProduct(ir, text)) return mmaOf(ir, text, a, b, c, e);
  const { a: left, b: right, sum, isSaturated, bits, selector } = mmaForm(text);
  if (selector !== undefined || !isElement(left) || !isElement(right)) {
    refuseSparse(ir);
    return c.map(() => ir.const(sumType(sum), 0));
  }
  const [shape] = text.split('.') as [string];
  const layout = (role: 'a' | 'b' | 'c', element: Element, registers: readonly Value[]): Product['a'] => ({
    fragment: mmaFragment(role, shape, element),
    element,
    registers,
  });
  const sums = layout('c', sum, c);
  const matrices: Product = {
    a: layout('a', left, a),
    b: layout('b', right, b),
    c: sums,
    d: { fragment: sums.fragment, element: sum, isSaturated },
    k: sizesOf(shape).k,
  };
  return bits ? bitProduct(ir, matrices, bits) : product(ir, matrices);
}
