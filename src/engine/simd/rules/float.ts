/** Float ops on vectors of singles and doubles. */
import { bug } from '../../../base/bug.ts';
import type { FcmpPredicate, InstOf } from '../../../ir/index.ts';
import type { ApproximateName } from '../../codegen/approximate.ts';
import type { Binary, Unary } from '../../codegen/emitter.ts';
import { type LaneGroup, type PartWriter, typeOf } from '../lanes/lane-group.ts';
import { evenWords } from '../lanes/vectors.ts';
import { isShortFloat, onShorts, widenShort } from './f16-conversions.ts';
import { fusedDoubles, fusedHalves } from './fma-f64-f16.ts';

/** The shape that a float type is computed in; halves have none. */
const shapeOfFloat = (type: string): 'f32x4' | 'f64x2' | undefined => (type === 'f32' ? 'f32x4' : type === 'f64' ? 'f64x2' : undefined);

/** An instruction of two operands. */
export const float2 =
  (name: string) =>
  (s: LaneGroup, inst: Binary): PartWriter | undefined => {
    const shape = shapeOfFloat(inst.type);
    const { a, b, type } = inst;
    if (isShortFloat(type))
      return onShorts(s, type, [(part) => s.part(a, part), (part) => s.part(b, part)], () => s.code.op(`f32x4.${name}`));
    if (!shape) return undefined;
    return (part) => {
      s.part(a, part);
      s.part(b, part);
      s.code.op(`${shape}.${name}`);
    };
  };

/** An instruction of one operand. */
export const float1 =
  (name: string) =>
  (s: LaneGroup, inst: Unary): PartWriter | undefined => {
    const shape = shapeOfFloat(inst.type);
    if (isShortFloat(inst.type)) return onShorts(s, inst.type, [(part) => s.part(inst.a, part)], () => s.code.op(`f32x4.${name}`));
    if (!shape) return undefined;
    return (part) => {
      s.part(inst.a, part);
      s.code.op(`${shape}.${name}`);
    };
  };

/** An approximate function; of doubles the host's, lane by lane. */
export const approximate =
  (name: ApproximateName) =>
  (s: LaneGroup, inst: Unary): PartWriter | undefined => {
    const act = (): void => s.code.at('call', s.simdHelper(name));
    if (isShortFloat(inst.type)) return onShorts(s, inst.type, [(part) => s.part(inst.a, part)], act);
    if (inst.type !== 'f32') return undefined;
    return (part) => {
      s.part(inst.a, part);
      act();
    };
  };

/** Negation and absolute value act on the sign bit, of NaN too. */
export const signBit =
  (name: 'neg' | 'abs') =>
  (s: LaneGroup, inst: Unary): PartWriter => {
    const shape = shapeOfFloat(inst.type);
    return (part) => {
      s.part(inst.a, part);
      if (shape) return s.code.op(`${shape}.${name}`);
      const bits = name === 'neg' ? 0x8000 : 0x7fff;
      s.code.v128([bits, bits, bits, bits]);
      s.code.op(name === 'neg' ? 'v128.xor' : 'v128.and');
    };
  };

/** The smaller or the larger; WebAssembly's have -0 below +0 but spread NaN, so the other operand is taken where one is a NaN. */
export const floatChoice =
  (name: 'min' | 'max') =>
  (s: LaneGroup, inst: Binary): PartWriter | undefined => {
    const shape = shapeOfFloat(inst.type);
    if (isShortFloat(inst.type))
      return onShorts(s, inst.type, [(part) => s.part(inst.a, part), (part) => s.part(inst.b, part)], () => chosen(s, 'f32x4', name));
    if (!shape) return undefined;
    return (part) => {
      s.part(inst.a, part);
      s.part(inst.b, part);
      chosen(s, shape, name);
    };
  };

/** Where a is a NaN b, else where b is one a, else the instruction. */
function chosen(s: LaneGroup, shape: string, name: 'min' | 'max'): void {
  const [a, b] = [s.temp('v128', 0), s.temp('v128', 1)];
  const get = (...locals: number[]): void => locals.forEach((local) => void s.code.at('local.get', local));
  s.code.at('local.set', b);
  s.code.at('local.set', a);
  get(b, a, a, b);
  s.code.op(`${shape}.${name}`);
  get(b, b);
  s.code.op(`${shape}.ne`);
  s.code.op('v128.bitselect');
  get(a, a);
  s.code.op(`${shape}.ne`);
  s.code.op('v128.bitselect');
}

/** a * b + c of singles in one operation of the machine, or with two roundings where that was asked for; `exactFma` is the third way. */
export function fma(s: LaneGroup, inst: InstOf<'fma'>): PartWriter | undefined {
  if (inst.type === 'f64') return fusedDoubles(s, inst);
  if (inst.type !== 'f32') return fusedHalves(s, inst);
  return (part) => {
    if (s.fma === 'exact') bug('an exact fused operation is written for all vectors together');
    s.part(inst.a, part);
    s.part(inst.b, part);
    if (s.fma === 'fast') s.code.op('f32x4.mul');
    s.part(inst.c, part);
    s.code.op(s.fma === 'fast' ? 'f32x4.add' : 'f32x4.relaxed_madd');
  };
}

interface Comparison {
  readonly ops: readonly [string] | readonly [string, string];
  readonly isNegated: boolean;
}

const comparisons: Record<FcmpPredicate, Comparison> = {
  oeq: { ops: ['eq'], isNegated: false },
  one: { ops: ['lt', 'gt'], isNegated: false },
  olt: { ops: ['lt'], isNegated: false },
  ole: { ops: ['le'], isNegated: false },
  ogt: { ops: ['gt'], isNegated: false },
  oge: { ops: ['ge'], isNegated: false },
  // Ordered where one compares in either way.
  ord: { ops: ['le', 'gt'], isNegated: false },
  ueq: { ops: ['lt', 'gt'], isNegated: true },
  une: { ops: ['ne'], isNegated: false },
  ult: { ops: ['ge'], isNegated: true },
  ule: { ops: ['gt'], isNegated: true },
  ugt: { ops: ['le'], isNegated: true },
  uge: { ops: ['lt'], isNegated: true },
  uno: { ops: ['le', 'gt'], isNegated: true },
};

/** A mask; of doubles, the halves of two. */
export function compareFloat(s: LaneGroup, inst: InstOf<'fcmp'>): PartWriter | undefined {
  const type = typeOf(s, inst.a);
  const shape = isShortFloat(type) ? 'f32x4' : shapeOfFloat(type);
  if (!shape) return undefined;
  const { ops, isNegated } = comparisons[inst.pred];
  const compare = (part: number): void => {
    for (const operand of [inst.a, inst.b]) {
      s.part(operand, part);
      if (isShortFloat(type)) widenShort(s, type);
    }
    compareOn(s, shape, ops);
  };
  return (part) => {
    if (shape === 'f32x4') compare(part);
    else {
      compare(2 * part);
      compare(2 * part + 1);
      s.code.shuffle(evenWords);
    }
    if (isNegated) s.code.op('v128.not');
  };
}

function compareOn(s: LaneGroup, shape: string, [first, second]: Comparison['ops']): void {
  if (second === undefined) return s.code.op(`${shape}.${first}`);
  const [a, b] = [s.temp('v128', 0), s.temp('v128', 1)];
  s.code.at('local.set', b);
  s.code.at('local.set', a);
  for (const op of [first, second]) {
    s.code.at('local.get', a);
    s.code.at('local.get', b);
    s.code.op(`${shape}.${op}`);
  }
  s.code.op('v128.or');
}
