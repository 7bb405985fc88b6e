/**
 * Elements of matrices: unpacking registers, multiplying and adding elements, and packing sums. Float products are summed in f32, in order
 * of `k`, each with a single rounding (`fma`). The manual fixes neither order nor rounding, and tensor cores sum differently (9.7.14.5), so
 * that results agree within an error bound.
 */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Rounding, saturated32 } from '../compose.ts';
import { joined } from '../halves.ts';
import { fusedIn } from '../rounding.ts';
import { decoded } from '../small-floats.ts';
import { type Element, elementBits } from './fragments.ts';

const word = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** An element as a number: an i32, f32 or f64. */
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

/** A factor for tile products: f16 if the element is or fits f16, else f32. */
export function factorIn(ir: RowBuilder, element: Element, register: Value, part: Value): Value {
  const at = ir.shl(part, word(ir, Math.log2(elementBits[element])));
  if (element === 'f16') return half(ir, register, at);
  if (element === 'e4m3' || element === 'e5m2') return decoded(ir, element, ir.lshr(register, at), undefined);
  return numberIn(ir, element, register, part);
}

const half = (ir: RowBuilder, register: Value, at: Value): Value => ir.bitcast('f16', ir.trunc('i16', ir.lshr(register, at)));
const single = (ir: RowBuilder, register: Value, at: Value): Value => ir.fpext('f32', half(ir, register, at));

/** The type of the results of a product, and their rounding or saturation. */
export interface Sum {
  readonly element: 'f16' | 'f32' | 's32' | 'f64';
  readonly rounding?: Rounding | undefined;
  /** For integers: saturates the sum. */
  readonly isSaturated?: boolean;
}

/** The dot product plus an element of c. */
export function addProducts(
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

/** An integer plus terms whose sum is a small integer. */
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
