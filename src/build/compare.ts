/** Comparisons and selections. Source: PTX ISA 9.0, 9.7.6 and 9.7.7. */
import type { Operand as Node } from '../ptx/index.ts';
import { toSingle } from './arithmetic.ts';
import { computed, type Handle, inRegister, nodeOf, type Operand } from './handle.ts';
import { nameNode } from './nodes.ts';
import { assertOptions, type CompareOptions } from './options.ts';
import { isFloat, type TypeName, types } from './types.ts';

/** A relation of two values. */
export type Relation = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';

/** Whether a relation holds. */
export function compare(relation: Relation, a: Handle, b: Operand<TypeName>, options: CompareOptions = {}): string {
  const { type } = a;
  assertOptions('comparison', type, options);
  if (type === 'bf16') return compareSingles(relation, inSingle(a), inSingle(b), options);
  const operands = [inRegister(type, a), nodeOf(type, b)];
  if (!isFloat(type)) return computed('pred', `setp.${relation}.${comparedType(relation, type)}`, operands);
  return computed('pred', `setp.${floatRelation(relation, options)}.${type}`, operands);
}

const floatRelation = (relation: Relation, { unordered = relation === 'ne', ftz = false }: CompareOptions): string =>
  `${relation}${unordered ? 'u' : ''}${ftz ? '.ftz' : ''}`;

/** A bfloat as an f32, which has the same order: those of bfloats need sm_90. */
const inSingle = (given: Operand<TypeName>): Node => nameNode(toSingle('bf16', inRegister('bf16', given)));
const compareSingles = (relation: Relation, a: Node, b: Node, options: CompareOptions): string =>
  computed('pred', `setp.${floatRelation(relation, options)}.f32`, [a, b]);

/** Types of bits have equality only. */
const comparedType = (relation: Relation, type: TypeName): string =>
  types[type].kind === 'bits' && relation !== 'eq' && relation !== 'ne' ? `u${types[type].bits}` : type;

/** Whether a float is NaN. */
export const isNan = (a: Handle): string =>
  a.type === 'bf16'
    ? computed('pred', 'setp.nan.f32', [inSingle(a), inSingle(a)])
    : computed('pred', `setp.nan.${a.type}`, [inRegister(a.type, a), inRegister(a.type, a)]);

/** `whenTrue` or `whenFalse`, without a branch. */
export function select(condition: Handle, type: TypeName, whenTrue: Operand<TypeName>, whenFalse: Operand<TypeName>): string {
  const { bits, kind } = types[type];
  const word = kind === 'float' && bits >= 32 ? type : `b${Math.max(16, bits)}`;
  return computed(type, `selp.${word}`, [nodeOf(type, whenTrue), nodeOf(type, whenFalse), inRegister('pred', condition)]);
}
