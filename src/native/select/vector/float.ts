/**
 * Operations on floats with more than one instruction. `min` and `max` of processors return their second operand where one is a NaN or both are zeros, which
 * is what `pmin` and `pmax` of WebAssembly say; its `min` and `max` have a NaN where one operand is a NaN, and order -0 before +0.
 */
import type { Register } from '../../machine/types.ts';
import type { Inst, Value } from '../../ssa/types.ts';
import { immediate, mask, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { logic } from './logic.ts';
import { custom, lanesOf, type Pattern, patternOfValue, resultOf, sourcesOf, step, stepTo, type Width, widthOf, zeros } from './steps.ts';

type Lane = 4 | 8;
const laneOf = (op: string): Lane => (op.startsWith('f32') ? 4 : 8);
export const suffixOf = (op: string): 'ps' | 'pd' => (op.startsWith('f32') ? 'ps' : 'pd');
const signOf = (lane: Lane): Pattern => lanesOf(1n << BigInt(8 * lane - 1), lane);

/** Operations whose result is no signaling NaN. */
const quiet = /^f(32x4|64x2)\.(add|sub|mul|div|sqrt|min|max|ceil|floor|trunc|nearest|relaxed_madd|convert|demote|promote)/;

/** Whether a constant has neither zeros nor NaNs. */
function isOrdinary({ pattern }: Pattern, lane: Lane): boolean {
  const length = Math.max(lane, pattern.length);
  const view = new DataView(Uint8Array.from({ length }, (_, i) => pattern[i % pattern.length]!).buffer);
  const values = Array.from({ length: length / lane }, (_, i) =>
    lane === 4 ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true),
  );
  return values.every((value) => value !== 0 && !Number.isNaN(value));
}

/** `min` or `max` with a constant that is neither zero nor NaN: the operand of the processor's instruction that it returns for NaNs is the other one. */
function withConstant(s: Selection, inst: Inst, mnemonic: string, bytes: Width): boolean {
  const lane = laneOf(inst.op);
  const index = inst.args.findIndex((arg) => {
    const pattern = patternOfValue(s, arg);
    return pattern !== undefined && isOrdinary(pattern, lane);
  });
  const other = inst.args[1 - index];
  if (index < 0 || other === undefined || !quiet.test(s.definition(other)?.op ?? '')) return false;
  stepTo(s, resultOf(s, inst), mnemonic, bytes, [patternOfValue(s, inst.args[index]!)!, s.register(other)]);
  return true;
}

/** `min` and `max` with AVX-512: `vrange` orders zeros, but returns the number where one operand is a NaN. */
function minMax512(s: Selection, inst: Inst, isMax: boolean, bytes: Width): void {
  const suffix = suffixOf(inst.op);
  const uses = inst.args.map((arg) => s.register(arg));
  custom(s, { def: resultOf(s, inst), uses, isEarly: true }, (out, { def, uses: at }) => {
    const [to, a, b] = [vector(def, bytes), vector(at[0]!, bytes), vector(at[1]!, bytes)];
    // Bits 0 and 1: 0 is the minimum, 1 the maximum. Bits 2 and 3: the sign is that of the result.
    out.emit(`vrange${suffix}`, to, a, b, immediate(isMax ? 0b0101 : 0b0100));
    out.emit(`vcmp${suffix}`, mask(1), a, b, immediate(3));
    out.emitMasked(`vadd${suffix}`, mask(1), false, to, a, b);
  });
}

/** `min` and `max` with AVX2: in both orders, whose results differ where an operand is a NaN or both are zeros. */
function minMaxAvx2(s: Selection, inst: Inst, isMax: boolean, bytes: Width): void {
  const suffix = suffixOf(inst.op);
  const to = resultOf(s, inst);
  const [a, b] = inst.args.map((arg) => s.register(arg)) as [Register, Register];
  const mnemonic = `v${isMax ? 'max' : 'min'}${suffix}`;
  const [first, second] = [step(s, mnemonic, bytes, [a, b]), step(s, mnemonic, bytes, [b, a])];
  // A NaN in one of them makes the union a NaN, which the subtraction makes quiet; of two zeros it has the sign.
  const union = step(s, `vor${suffix}`, bytes, [first, second]);
  if (!isMax) return stepTo(s, to, `vsub${suffix}`, bytes, [union, zeros]);
  // Where zeros differ, -0 - -0 is +0.
  const difference = step(s, `vxor${suffix}`, bytes, [first, second]);
  stepTo(s, to, `vsub${suffix}`, bytes, [union, difference]);
}

export const minMax: Rule = (s, inst) => {
  const isMax = inst.op.endsWith('max');
  const bytes = widthOf(s, inst.result!);
  if (withConstant(s, inst, `v${isMax ? 'max' : 'min'}${suffixOf(inst.op)}`, bytes)) return;
  (s.features.avx512 ? minMax512 : minMaxAvx2)(s, inst, isMax, bytes);
};

/** `pmin(a, b)` is `b < a ? b : a`, `pmax(a, b)` is `a < b ? b : a`. */
export const pseudoMinMax: Rule = (s, inst) => {
  const [a, b] = inst.args as [Value, Value];
  const mnemonic = `v${inst.op.endsWith('pmax') ? 'max' : 'min'}${suffixOf(inst.op)}`;
  stepTo(s, resultOf(s, inst), mnemonic, widthOf(s, inst.result!), sourcesOf(s, [b, a], mnemonic));
};

/** Rounding modes of `vround` and `vrndscale`; 8 suppresses the exception for inexact results. */
const modes: Readonly<Record<string, number>> = { nearest: 8, floor: 9, ceil: 10, trunc: 11 };

export const round: Rule = (s, inst) => {
  const mnemonic = `${s.features.avx512 ? 'vrndscale' : 'vround'}${suffixOf(inst.op)}`;
  const mode = modes[inst.op.split('.')[1]!]!;
  stepTo(s, resultOf(s, inst), mnemonic, widthOf(s, inst.result!), [s.register(inst.args[0]!)], { immediate: mode });
};

export const neg: Rule = (s, inst) =>
  stepTo(s, resultOf(s, inst), logic(s, 'xor'), widthOf(s, inst.result!), [s.register(inst.args[0]!), signOf(laneOf(inst.op))]);

export const abs: Rule = (s, inst) => {
  const lane = laneOf(inst.op);
  const magnitude = lanesOf((1n << BigInt(8 * lane - 1)) - 1n, lane);
  stepTo(s, resultOf(s, inst), logic(s, 'and'), widthOf(s, inst.result!), [s.register(inst.args[0]!), magnitude]);
};
