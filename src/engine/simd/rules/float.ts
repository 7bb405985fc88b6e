/** Vector rules of float ops. f16 and bf16 values are computed in f32 (`f16-conversions.ts`). */
import { bug } from '../../../base/bug.ts';
import type { FcmpPredicate, InstOf } from '../../../ir/index.ts';
import type { ApproximateName } from '../../codegen/approximate.ts';
import type { Binary, Unary } from '../../codegen/emitter.ts';
import type { FloatOp } from '../../codegen/mnemonics.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, type PartWriter, typeOf } from '../lanes/lane-group.ts';
import { evenWords, longs, words } from '../lanes/vectors.ts';
import { isShortFloat, onShorts, widenShort } from './f16-conversions.ts';
import { fusedDoubles, fusedHalves } from './fma-f64-f16.ts';

/** The vector shape of a float type; f16 and bf16 have none. */
const shapeOfFloat = (type: string): 'f32x4' | 'f64x2' | undefined => (type === 'f32' ? 'f32x4' : type === 'f64' ? 'f64x2' : undefined);

/** A float op with two operands. */
export const float2 =
  (name: FloatOp) =>
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

/** A float op with one operand. */
export const float1 =
  (name: FloatOp) =>
  (s: LaneGroup, inst: Unary): PartWriter | undefined => {
    const shape = shapeOfFloat(inst.type);
    if (isShortFloat(inst.type)) return onShorts(s, inst.type, [(part) => s.part(inst.a, part)], () => s.code.op(`f32x4.${name}`));
    if (!shape) return undefined;
    return (part) => {
      s.part(inst.a, part);
      s.code.op(`${shape}.${name}`);
    };
  };

/** 1 over a float, which is exact here. */
export const reciprocal =
  (s: LaneGroup, inst: Unary): PartWriter =>
  (part) => {
    const isDouble = inst.type === 'f64';
    const [low, high] = isDouble ? [0, 0x3ff0_0000] : [0x3f80_0000, 0x3f80_0000];
    s.code.v128([low, high, low, high]);
    s.part(inst.a, part);
    s.code.op(isDouble ? 'f64x2.div' : 'f32x4.div');
  };

/** An approximate function; of f64 the host's, emitted per lane. */
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

/** The sign bit of each lane of a float type. */
export const signOf = (type: string): number[] => (type === 'f64' ? longs(1n << 63n) : words(type === 'f32' ? 1 << 31 : 0x8000));

/**
 * Negation and absolute value change the sign bit only, also of a NaN. Engines compile `f32x4.neg` to three instructions, the first two of which
 * build the sign bit that a constant has.
 */
export const signBit =
  (name: 'neg' | 'abs') =>
  (s: LaneGroup, inst: Unary): PartWriter => {
    const sign = signOf(inst.type);
    return (part) => {
      s.part(inst.a, part);
      s.code.v128(name === 'neg' ? sign : sign.map((word) => ~word));
      s.code.op(name === 'neg' ? 'v128.xor' : 'v128.and');
    };
  };

/** The bits of the smallest f32 that is no subnormal. */
const smallestNormal = 0x0080_0000;

/** Subnormals as zeros of their sign. */
export const flushed =
  (s: LaneGroup, inst: InstOf<'ftz'>): PartWriter =>
  (part) =>
    withScratch(s, 'v128', 1, ([x]) => {
      s.part(inst.a, part);
      s.code.at('local.tee', x);
      s.code.v128(signOf('f32'));
      s.code.op('v128.and');
      s.code.at('local.get', x);
      s.code.at('local.get', x);
      s.code.op('f32x4.abs');
      s.code.v128(words(smallestNormal));
      s.code.op('f32x4.lt');
      s.code.op('v128.bitselect');
    });

/** min or max that gives the other operand where one is a NaN. WebAssembly's own order -0 below +0 but propagate NaN. */
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

/** b where a is a NaN, a where b is one, else the instruction's result. */
function chosen(s: LaneGroup, shape: 'f32x4' | 'f64x2', name: 'min' | 'max'): void {
  const get = (...locals: number[]): void => locals.forEach((local) => void s.code.at('local.get', local));
  withScratch(s, 'v128', 2, ([a, b]) => {
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
  });
}

/** Fused multiply-add: the relaxed instruction or, in the mode `fast`, two roundings. `exactFma` implements the mode `exact` for f32. */
export function fma(s: LaneGroup, inst: InstOf<'fma'>): PartWriter | undefined {
  if (inst.type !== 'f32' && inst.type !== 'f64') return fusedHalves(s, inst);
  if (inst.type === 'f64' && s.fma === 'exact') return fusedDoubles(s, inst);
  const shape = inst.type === 'f32' ? 'f32x4' : 'f64x2';
  return (part) => {
    if (s.fma === 'exact') bug('an exact f32 FMA is emitted for all vectors together');
    s.part(inst.a, part);
    s.part(inst.b, part);
    if (s.fma === 'fast') s.code.op(`${shape}.mul`);
    s.part(inst.c, part);
    s.code.op(s.fma === 'fast' ? `${shape}.add` : `${shape}.relaxed_madd`);
  };
}

interface Comparison {
  readonly ops: readonly [FloatOp] | readonly [FloatOp, FloatOp];
  readonly isNegated: boolean;
}

const comparisons: Record<FcmpPredicate, Comparison> = {
  oeq: { ops: ['eq'], isNegated: false },
  one: { ops: ['lt', 'gt'], isNegated: false },
  olt: { ops: ['lt'], isNegated: false },
  ole: { ops: ['le'], isNegated: false },
  ogt: { ops: ['gt'], isNegated: false },
  oge: { ops: ['ge'], isNegated: false },
  // Ordered operands satisfy one of the two comparisons.
  ord: { ops: ['le', 'gt'], isNegated: false },
  ueq: { ops: ['lt', 'gt'], isNegated: true },
  une: { ops: ['ne'], isNegated: false },
  ult: { ops: ['ge'], isNegated: true },
  ule: { ops: ['gt'], isNegated: true },
  ugt: { ops: ['le'], isNegated: true },
  uge: { ops: ['lt'], isNegated: true },
  uno: { ops: ['le', 'gt'], isNegated: true },
};

/** A float comparison, which gives a mask; the masks of two f64 vectors are joined into one. */
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

function compareOn(s: LaneGroup, shape: 'f32x4' | 'f64x2', [first, second]: Comparison['ops']): void {
  if (second === undefined) return s.code.op(`${shape}.${first}`);
  withScratch(s, 'v128', 2, ([a, b]) => {
    s.code.at('local.set', b);
    s.code.at('local.set', a);
    for (const op of [first, second]) {
      s.code.at('local.get', a);
      s.code.at('local.get', b);
      s.code.op(`${shape}.${op}`);
    }
    s.code.op('v128.or');
  });
}
