/** Identities of conversions, vectors and addresses. */
import type { Value } from '../kernel.ts';
import { bitsOf, isInt, type Type } from '../types.ts';
import { bitsIn, defOf, placeConstant, type RewriteContext, type RewriteRule, typeIn } from './rewrite.ts';

const trunc: RewriteRule<'trunc'> = (inst, c) => {
  const inner = defOf(c, inst.a);
  if (inner.op === 'trunc') return { ...inst, a: inner.a };
  if (inner.op !== 'zext' && inner.op !== 'sext') return undefined;
  const from = typeIn(c, inner.a);
  if (from === inst.type) return inner.a;
  return bitsOf(inst.type) < bitsOf(from) ? { ...inst, a: inner.a } : { ...inner, type: inst.type };
};

const zext: RewriteRule<'zext'> = (inst, c) => {
  const inner = defOf(c, inst.a);
  if (inner.op === 'zext') return { ...inst, a: inner.a };
  if (inner.op !== 'trunc' || typeIn(c, inner.a) !== inst.type) return undefined;
  return isUnsignedOf(c, inner.a, bitsOf(inner.type)) ? inner.a : undefined;
};

/** A zero extension is never negative, so its sign extension is one too. */
const sext: RewriteRule<'sext'> = (inst, c) => {
  const inner = defOf(c, inst.a);
  if (inner.op === 'sext' || inner.op === 'zext') return { ...inner, type: inst.type };
  if (inner.op !== 'trunc' || typeIn(c, inner.a) !== inst.type) return undefined;
  return isSignedOf(c, inner.a, bitsOf(inner.type)) ? inner.a : undefined;
};

/** Whether a value is known to equal its low `bits` bits, zero-extended. */
function isUnsignedOf(c: RewriteContext, value: Value, bits: number): boolean {
  const inst = defOf(c, value);
  if (inst.op === 'zext') return bitsOf(typeIn(c, inst.a)) <= bits;
  if (inst.op !== 'and' && inst.op !== 'lshr') return false;
  const other = bitsIn(c, inst.b);
  if (other === undefined) return false;
  return inst.op === 'and' ? other >> BigInt(bits) === 0n : other >= BigInt(bitsOf(inst.type) - bits);
}

/** Whether a value is known to equal its low `bits` bits, sign-extended. */
function isSignedOf(c: RewriteContext, value: Value, bits: number): boolean {
  const inst = defOf(c, value);
  if (inst.op === 'sext') return bitsOf(typeIn(c, inst.a)) <= bits;
  const count = inst.op === 'ashr' ? bitsIn(c, inst.b) : undefined;
  return count !== undefined && count >= BigInt(bitsOf(inst.type) - bits);
}

const bitcast: RewriteRule<'bitcast'> = (inst, c) => {
  if (typeIn(c, inst.a) === inst.type) return inst.a;
  const inner = defOf(c, inst.a);
  return inner.op === 'bitcast' ? { ...inst, a: inner.a } : undefined;
};

const extract: RewriteRule<'extract'> = ({ a, lane }, c) => {
  const inner = defOf(c, a);
  if (inner.op === 'vec2') return [inner.a, inner.b][lane];
  return inner.op === 'vec4' ? [inner.a, inner.b, inner.c, inner.d][lane] : undefined;
};

const ptradd: RewriteRule<'ptradd'> = (inst, c) => {
  const bits = bitsIn(c, inst.b);
  if (bits === 0n) return inst.a;
  const inner = defOf(c, inst.a);
  const innerBits = inner.op === 'ptradd' ? bitsIn(c, inner.b) : undefined;
  if (inner.op !== 'ptradd' || bits === undefined || innerBits === undefined) return undefined;
  return { ...inst, a: inner.a, b: placeConstant(c, 'i64', innerBits + bits) };
};

const ptrtoint: RewriteRule<'ptrtoint'> = ({ a, type }, c) => {
  const inner = defOf(c, a);
  return inner.op === 'inttoptr' && isInt(type) && typeIn(c, inner.a) === type ? inner.a : undefined;
};

const inttoptr: RewriteRule<'inttoptr'> = ({ a, type }, c) => {
  const inner = defOf(c, a);
  return inner.op === 'ptrtoint' && typeIn(c, inner.a) === type ? inner.a : undefined;
};

/** All elements of a vector as a vector. */
const vec2: RewriteRule<'vec2'> = ({ type, a, b }, c) => wholeVector(type, [a, b], c);
const vec4: RewriteRule<'vec4'> = ({ type, a, b, c: third, d }, c) => wholeVector(type, [a, b, third, d], c);

function wholeVector(type: Type, elements: readonly Value[], c: RewriteContext): Value | undefined {
  const first = defOf(c, elements[0]!);
  if (first.op !== 'extract' || typeIn(c, first.a) !== type) return undefined;
  const isElement = (value: Value, lane: number): boolean => {
    const inst = defOf(c, value);
    return inst.op === 'extract' && inst.a === first.a && inst.lane === lane;
  };
  return elements.every(isElement) ? first.a : undefined;
}

/** A constant that another lane has is the same there. */
const shuffle: RewriteRule<'shuffle'> = ({ a }, c) => (defOf(c, a).op === 'const' ? a : undefined);

/** Rules of conversions, vectors, addresses and shuffles. */
export const conversionRules = { shuffle, trunc, zext, sext, bitcast, vec2, vec4, extract, ptradd, ptrtoint, inttoptr };
