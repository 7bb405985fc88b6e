/**
 * Products of one form of `mma` (`src/ir/mma.ts`) from factors that a thread has gathered: its rows of a and its columns of b, of which `gatheredLanes`
 * are lanes. What is left is straight code of one thread, which targets without the instruction have as a function.
 */
import type { Value } from '../../../ir/index.ts';
import { gatheredLanes, mmaForm, mmaRegisters } from '../../../ir/mma.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Element, elementBits, type Fragment, mmaFragment, type Place, sizesOf } from './fragments.ts';
import type { Product } from './matrices.ts';
import { bitProduct, product } from './product.ts';

const isElement = (name: string): name is Element => Object.hasOwn(elementBits, name);

/** Whether a form is one that functions compute: of dense matrices, and without doubles, whose products are short. */
export function isGatherable(text: string): boolean {
  const { a, b, sum, selector } = mmaForm(text);
  return selector === undefined && isElement(a) && isElement(b) && sum !== 'f64';
}

const log2 = (n: number): number => 31 - Math.clz32(n);
const inRegister = (bit: number): Place => ({ of: 'register', bit });

/** The bits of the depth: those of a lane select one of the gathered registers, the lowest ones of their number. */
const depthPlaces = (places: readonly Place[], above: number): Place[] =>
  places.map((place) => (place.of === 'lane' ? inRegister(place.bit) : place.of === 'register' ? inRegister(place.bit + above) : place));

/**
 * The registers of d. `a` has the elements of each register of the factor a in the lanes of the group of this thread; `b` those of each register of the
 * factor b, for both columns of the thread; `c` its registers.
 */
export function gatheredProduct(ir: RowBuilder, text: string, a: readonly Value[], b: readonly Value[], c: readonly Value[]): Value[] {
  const form = mmaForm(text);
  const [shape] = text.split('.') as [string];
  const [left, right, sum] = [form.a as Element, form.b as Element, form.sum];
  const of = { a: mmaFragment('a', shape, left), b: mmaFragment('b', shape, right), c: mmaFragment('c', shape, sum) };
  const lanes = log2(gatheredLanes);
  const moved = (places: readonly Place[]): Place[] => depthPlaces(places, lanes);
  // A row of a is that of the group of the thread, whose bits are those of its lane.
  const rowOf = (place: Place): Place => (place.of === 'register' ? inRegister(place.bit + lanes) : place);
  const aLaid: Fragment = { ...of.a, row: of.a.row.map(rowOf), column: moved(of.a.column), registers: a.length };
  // A column of b is one of the two of the thread: which of them is above the lanes in the number of a register.
  const columns = log2(mmaRegisters(form).b) + lanes;
  const bLaid: Fragment = {
    ...of.b,
    row: moved(of.b.row),
    column: [inRegister(columns), { of: 'lane', bit: 0 }, { of: 'lane', bit: 1 }],
    registers: b.length,
  };
  const matrices: Product = {
    a: { fragment: aLaid, element: left, registers: a },
    b: { fragment: bLaid, element: right, registers: b },
    c: { fragment: of.c, element: sum, registers: c },
    d: { fragment: of.c, element: sum, isSaturated: form.isSaturated },
    k: sizesOf(shape).k,
  };
  return form.bits ? bitProduct(ir, matrices, form.bits) : product(ir, matrices);
}
