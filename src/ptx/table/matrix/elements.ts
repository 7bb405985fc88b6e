/**
 * Elements of matrices: out of the registers that hold several, what a product of two adds to a sum, and sums into registers again.
 * Products of floats are summed in singles, one after the other along `k`, each with one rounding (`fma`): the manual fixes neither order
 * nor rounding, and no tensor core sums so (9.7.14.5), so that what comes out is within a bound of what another sum gives.
 */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Rounding, saturated32 } from '../compose.ts';
import { joined } from '../halves.ts';
import { fusedIn } from '../rounding.ts';
import { decoded } from '../small-floats.ts';
import { type Element, elementBits } from './fragments.ts';

const word = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** What is computed with an element: an i32, a single or a double. */
export function numberIn(ir: RowBuilder, element: Element, register: Value, part: Value): Value {
  const at = ir.shl(part, word(ir, Math.log2(elementBits[element])));
  switch (element) {
    case 'f64':
      return register;
    case 'tf32':
      return ir.bitcast('f32', ir.and(register, word(ir, 0xffffe000)));
    case 'bf16':
      return ir.bitcast('f32', ir.shl(ir.lshr(register, at), word(ir, 16)));
    case 'f16':
      return single(ir, register, at);
    case 'e4m3':
    case 'e5m2':
      return ir.fpext('f32', decoded(ir, element, ir.lshr(register, at), undefined));
    case 's4':
    case 's8': {
      const unused = word(ir, 32 - elementBits[element]);
      return ir.ashr(ir.shl(register, ir.sub(unused, at)), unused);
    }
    case 'u4':
    case 'u8':
      return ir.and(ir.lshr(register, at), word(ir, 2 ** elementBits[element] - 1));
    default:
      return register;
  }
}

/** A factor of a product as it is multiplied by tiles: a half where it is one, or fits one, else a single. */
export function factorIn(ir: RowBuilder, element: Element, register: Value, part: Value): Value {
  const at = ir.shl(part, word(ir, Math.log2(elementBits[element])));
  if (element === 'f16') return half(ir, register, at);
  if (element === 'e4m3' || element === 'e5m2') return decoded(ir, element, ir.lshr(register, at), undefined);
  return numberIn(ir, element, register, part);
}

const half = (ir: RowBuilder, register: Value, at: Value): Value => ir.bitcast('f16', ir.trunc('i16', ir.lshr(register, at)));
const single = (ir: RowBuilder, register: Value, at: Value): Value => ir.fpext('f32', half(ir, register, at));

/** How the results of a product are held, and what is done on the way. */
export interface Sum {
  readonly element: 'f16' | 'f32' | 's32' | 'f64';
  readonly rounding?: Rounding | undefined;
  /** Of integers: the sum stops at the ends of its type. */
  readonly isSaturated?: boolean;
}

/** The sum of products and an element of c. */
export function summed(
  ir: RowBuilder,
  { element, rounding = 'rn', isSaturated }: Sum,
  pairs: readonly (readonly [Value, Value])[],
  c: Value,
): Value {
  if (element === 's32')
    return addedTo(
      ir,
      pairs.map(([a, b]) => ir.mul(a, b)),
      c,
      isSaturated ?? false,
    );
  return pairs.reduce((sum, [a, b]) => (rounding === 'rn' ? ir.fma(a, b, sum) : fusedIn(ir, rounding, a, b, sum)), c);
}

/** Terms whose sum is a small integer, and an integer. */
export function addedTo(ir: RowBuilder, terms: readonly Value[], c: Value, isSaturated: boolean): Value {
  const sum = terms.reduce((all, each) => ir.add(all, each));
  return isSaturated ? saturated32(ir, (widen) => ir.add(widen(sum), widen(c))) : ir.add(sum, c);
}

/** The registers of a fragment of d. */
export function packed(ir: RowBuilder, element: Sum['element'], elements: readonly Value[]): Value[] {
  if (element !== 'f16') return [...elements];
  const halves = elements.map((each) => ir.fptrunc('f16', each));
  return Array.from({ length: halves.length / 2 }, (_, i) => joined(ir, halves[2 * i]!, halves[2 * i + 1]!));
}
