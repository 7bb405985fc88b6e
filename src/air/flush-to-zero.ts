/**
 * Flush to zero in AIR: a choice between a float and its product with zero, by its magnitude. No instruction of AIR flushes subnormals on every
 * device; this form is exact where subnormals are kept, and where the device flushes them itself.
 */
import type { Constant, InstructionOf, Value } from '../bitcode/model.ts';
import { types } from '../bitcode/types.ts';

/** The least magnitude of a float that is no subnormal. */
export const smallestNormal = { kind: 'constant', form: 'float', type: types.float, bits: 0x0080_0000n } as const satisfies Constant;
export const positiveZero = { kind: 'constant', form: 'float', type: types.float, bits: 0n } as const satisfies Constant;

/** The value that a choice flushes; undefined for another choice. */
export function flushedBy({ condition, a, b }: InstructionOf<'select'>): Value | undefined {
  if (b.type !== types.float || condition.kind !== 'instruction' || condition.op !== 'fcmp' || condition.predicate !== 'olt')
    return undefined;
  if (!isFloat(condition.b, smallestNormal.bits) || !isMagnitudeOf(condition.a, b)) return undefined;
  const isZero = a.kind === 'instruction' && a.op === 'binary' && a.opcode === 'fmul' && a.flags === 0 && a.a === b;
  return isZero && isFloat(a.b, positiveZero.bits) ? b : undefined;
}

const isFloat = (value: Value, bits: bigint): boolean =>
  value.kind === 'constant' && value.form === 'float' && value.type === types.float && value.bits === bits;

const isMagnitudeOf = (value: Value, of: Value): boolean =>
  value.kind === 'instruction' &&
  value.op === 'call' &&
  value.callee.kind === 'function' &&
  value.callee.name === 'air.fabs.f32' &&
  value.args[0] === of;
