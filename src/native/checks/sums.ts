/**
 * Values as sums: modulo 2^32, as addresses are computed, and exactly, as the code that checks addresses of 64 bits computes them. Two addresses are then
 * seen to differ by a constant.
 */
import type { Inst, Value } from '../ssa/types.ts';

export type Definition = (value: Value) => Inst | undefined;

/** A sum modulo 2^32: products of values (their low 32 bits) and factors, as text that is the same for equal ones, and a constant from 0 to 2^32 - 1. */
export interface LowSum {
  readonly key: string;
  readonly constant: number;
}

/**
 * A sum modulo 2^64 of values and a constant, in which an unsigned number of 32 bits, if it is itself the sum of a value and a constant modulo 2^32, counts
 * as that value, and its constant apart.
 */
export interface WideSum {
  /** The values, as text that is the same for equal ones. */
  readonly key: string;
  /** Constants inside unsigned numbers, from 0 to 2^32 - 1, in the order of the key. */
  readonly inner: readonly number[];
  readonly constant: bigint;
  /** Whether all values are unsigned numbers of 32 bits, so that none is above the sum. */
  readonly isUnsigned: boolean;
}

/** Terms of a sum at most; what has more is a value by itself. */
const maxTerms = 8;

export interface Sums {
  low(value: Value): LowSum;
  wide(value: Value): WideSum;
}

interface Terms {
  /** Factors, modulo 2^32, by value. */
  readonly factors: ReadonlyMap<Value, number>;
  readonly constant: number;
}

/** Sums of the values of a function. */
export function newSums(definition: Definition): Sums {
  const terms = new Map<Value, Terms>();
  const lows = new Map<Value, LowSum>();
  const termsOf = (value: Value): Terms => {
    const known = terms.get(value);
    if (known) return known;
    const made = makeTerms(value, definition, termsOf);
    terms.set(value, made);
    return made;
  };
  return {
    low(value) {
      const known = lows.get(value);
      if (known) return known;
      const { factors, constant } = termsOf(value);
      const key = [...factors]
        .sort(([a], [b]) => a - b)
        .map(([term, factor]) => `${term}*${factor}`)
        .join();
      const made = { key, constant };
      lows.set(value, made);
      return made;
    },
    wide: (value) => wideSum(value, definition),
  };
}

const alone = (value: Value): Terms => ({ factors: new Map([[value, 1]]), constant: 0 });

function makeTerms(value: Value, definition: Definition, termsOf: (value: Value) => Terms): Terms {
  const inst = definition(value);
  if (inst === undefined) return alone(value);
  const [a, b] = inst.args;
  switch (inst.op) {
    case 'i32.const':
    case 'i64.const':
      return { factors: new Map(), constant: Number(BigInt.asUintN(32, inst.bits!)) };
    case 'i32.wrap_i64':
    case 'i64.extend_i32_u':
    case 'i64.extend_i32_s':
      return termsOf(a!);
    case 'i32.add':
    case 'i64.add':
      return combine(value, termsOf(a!), termsOf(b!), 1);
    case 'i32.sub':
    case 'i64.sub':
      return combine(value, termsOf(a!), termsOf(b!), -1);
    case 'i32.shl':
    case 'i64.shl':
      return shifted(value, termsOf(a!), definition(b!), inst.op === 'i32.shl' ? 31n : 63n);
    default:
      return alone(value);
  }
}

function combine(value: Value, a: Terms, b: Terms, sign: 1 | -1): Terms {
  const factors = new Map(a.factors);
  for (const [term, factor] of b.factors) {
    const sum = ((factors.get(term) ?? 0) + sign * factor) >>> 0;
    if (sum === 0) factors.delete(term);
    else factors.set(term, sum);
  }
  return factors.size > maxTerms ? alone(value) : { factors, constant: (a.constant + sign * b.constant) >>> 0 };
}

/** A sum times a power of two; the exponent counts modulo the bits of the type, and 32 of them leave nothing of the low half. */
function shifted(value: Value, { factors, constant }: Terms, by: Inst | undefined, mask: bigint): Terms {
  if (by?.bits === undefined) return alone(value);
  const count = Number(by.bits & mask);
  if (count > 31) return { factors: new Map(), constant: 0 };
  const products = [...factors].map(([term, factor]): [Value, number] => [term, (factor << count) >>> 0]);
  return { factors: new Map(products.filter(([, factor]) => factor !== 0)), constant: (constant << count) >>> 0 };
}

function wideSum(value: Value, definition: Definition): WideSum {
  const values: { readonly word: string; readonly inner: number }[] = [];
  let constant = 0n;
  let isUnsigned = true;
  const pending = [value];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    const inst = definition(one);
    if (inst?.op === 'i64.add' && values.length + pending.length < maxTerms) pending.push(...inst.args);
    else if (inst?.op === 'i64.const') constant = BigInt.asIntN(64, constant + inst.bits!);
    else if (inst?.op === 'i64.extend_i32_u') values.push(unsignedTerm(inst.args[0]!, definition));
    else {
      values.push({ word: `w${one}`, inner: 0 });
      isUnsigned = false;
    }
  }
  values.sort((a, b) => (a.word < b.word ? -1 : a.word > b.word ? 1 : a.inner - b.inner));
  return { key: values.map(({ word }) => word).join(), inner: values.map(({ inner }) => inner), constant, isUnsigned };
}

/** An unsigned number of 32 bits: the sum of a value and a constant, if it is one. */
function unsignedTerm(value: Value, definition: Definition): { readonly word: string; readonly inner: number } {
  const inst = definition(value);
  if (inst?.op === 'i32.add') {
    for (const [other, constant] of [inst.args, [inst.args[1]!, inst.args[0]!]] as const) {
      const bits = definition(constant!)?.bits;
      if (bits !== undefined) return { word: `u${other}`, inner: Number(bits) };
    }
  }
  return { word: `u${value}`, inner: 0 };
}
