/** Fields of records by their names in the table: as an object, or, for the many records of functions, as indices of operands. */
import { callFlags } from '../codes.ts';
import { type Fields, type Plan, planOf, type Read, type RecordRow, steps } from '../fields.ts';
import { Malformed } from '../malformed.ts';
import { type RawRecord, textOf } from './record-reader.ts';

type Word = number | bigint;

/** The values of each kind of field, for records outside of function bodies. */
interface RawOperands {
  word: Word;
  words: readonly Word[];
  pairs: readonly Word[];
  text: string;
  blob: Uint8Array;
}

/** The index of a field that the record does not have, behind all operands. */
const absent = 0x7fffffff;
/** No record has more fields. */
export const maxFields = 32;

/**
 * Puts the index of the first operand of each field into `starts`; a field at or behind `count` is absent. `next` is the id of the
 * next value of a function, which decides whether a distance points to a later value.
 */
export function locateFields({ steps: list, behind }: Plan, starts: Int32Array, ops: Float64Array, count: number, next: number): void {
  let at = 0;
  let flags = 0;
  for (let i = 0; i < list.length; i++) {
    starts[i] = at;
    switch (list[i]) {
      case steps.one:
        at++;
        break;
      case steps.typed:
        at += (next - ops[at]!) >>> 0 >= next ? 2 : 1;
        break;
      case steps.optional:
        if (isPresent(list[i + 1], count - at - behind[i]!)) at++;
        else starts[i] = absent;
        break;
      case steps.callFlags:
        flags = ops[at++]!;
        break;
      case steps.fastMath:
        if ((flags & callFlags.fastMath) !== 0) at++;
        else starts[i] = absent;
        break;
      case steps.explicitType:
        if ((flags & callFlags.explicitType) !== 0) at++;
        else starts[i] = absent;
        break;
      case steps.rest:
        at = count;
        break;
      case steps.pairs:
        at = Math.max(at, count - ((count - at) & 1));
    }
  }
}

/** Whether an optional field is present; in front of pairs the number of remaining operands is odd then. */
const isPresent = (following: number | undefined, left: number): boolean => (following === steps.pairs ? left % 2 === 1 : left > 0);

const starts = new Int32Array(maxFields);
const noOperands = new Float64Array(0);

/** The fields of a record as an object; refuses a record that lacks a required one. */
export function fieldsOf<F extends Fields>(row: RecordRow<F>, record: RawRecord): Read<F, RawOperands> {
  const { ops } = record;
  const plan = planOf(row);
  locateFields(plan, starts, noOperands, ops.length, 0);
  const found: Record<string, Word | readonly Word[] | string | Uint8Array | undefined> = {};
  for (let i = 0; i < plan.fields.length; i++) {
    const { name, kind, isOptional } = plan.fields[i]!;
    const start = starts[i]!;
    if (kind === 'text') found[name] = textOf(record, start);
    else if (kind === 'words' || kind === 'pairs') found[name] = start === 0 ? ops : ops.slice(start);
    else if (kind === 'blob') found[name] = record.blob ?? missing(record);
    else found[name] = start < ops.length ? ops[start] : isOptional ? undefined : missing(record);
  }
  return found as Read<F, RawOperands>;
}

function missing({ bit, code }: RawRecord): never {
  throw new Malformed(bit, 'a record', `operands of record ${code} are missing`);
}
