/** Selection by masks: `bitselect`, and `and` with a comparison. */
import type { Register } from '../../machine/types.ts';
import type { Inst, Value } from '../../ssa/types.ts';
import { immediate, mask, type Operand, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { binaryLogic, bitselect as bitselectOfBits } from './logic.ts';
import { combinedMasks, comparisonOf, complementOf, type Lane, type MaskPlan, planMask, suffixOf } from './masks.ts';
import {
  commuted,
  constantRegister,
  custom,
  isPattern,
  isZeros,
  ownedBy,
  type Pattern,
  patternOperand,
  repeated,
  resultOf,
  sourceOf,
  stepTo,
  type Width,
  widthOf,
} from './steps.ts';

/** A source that is no load. */
type Fixed = Register | Pattern;

const moves: Readonly<Record<Lane, string>> = { 1: 'vmovdqu8', 2: 'vmovdqu16', 4: 'vmovups', 8: 'vmovupd' };

/** Emits a plan whose registers are the first ones of an instruction. */
const placesOf =
  (operand: (index: number, bytes: Width) => Operand, bytes: Width) =>
  (index: number): Operand =>
    operand(index, bytes);

/** The lanes of a source where a mask is set, and zeros. */
function masked(s: Selection, to: Register, plan: MaskPlan, source: Fixed, bytes: Width): void {
  const uses = [...plan.uses, ...(isPattern(source) ? [] : [source])];
  custom(s, { def: to, uses }, (out, places, operand) => {
    plan.emit(out, 1, placesOf(operand, bytes));
    const from = isPattern(source) ? out.constant(repeated(source, bytes)) : operand(uses.length - 1, bytes);
    out.emitMasked(moves[plan.lane], mask(1), true, vector(places.def, bytes), from);
  });
}

/** The lanes of `a` where a mask is set, else those of `b`. */
function blended(s: Selection, to: Register, plan: MaskPlan, a: Fixed, b: Fixed, bytes: Width): void {
  const other = isPattern(b) ? constantRegister(s, bytes, b) : b;
  const uses = [...plan.uses, other, ...(isPattern(a) ? [] : [a])];
  const first = plan.uses.length;
  const mnemonic = `vpblendm${suffixOf(plan.lane)}`;
  custom(
    s,
    { def: to, uses, ...(isPattern(a) || uses.indexOf(a) < uses.length - 1 ? {} : { inMemory: first + 1 }) },
    (out, places, operand) => {
      plan.emit(out, 1, placesOf(operand, bytes));
      const last = isPattern(a) ? patternOperand(out, mnemonic, a, bytes) : operand(first + 1, bytes);
      out.emitMasked(mnemonic, mask(1), false, vector(places.def, bytes), operand(first, bytes), last);
    },
  );
}

/** Whether all lanes of a value are ones or zeros, as far as its definition shows. */
function isMask(s: Selection, value: Value, depth = 4): boolean {
  const inst = s.definition(value);
  if (!inst || depth === 0) return false;
  if (comparisonOf(inst.op)) return true;
  return /^v128\.(and|or|xor|not|andnot)$/.test(inst.op) && inst.args.every((arg) => isMask(s, arg, depth - 1));
}

/** The plan for a mask where mask registers are the better way: at 512 bits, and for comparisons that VEX does not have. */
function planFor(s: Selection, inst: Inst, value: Value, isInverted: boolean, minLane: Lane = 1): MaskPlan | undefined {
  const comparison = comparisonOf(ownedBy(s, value)?.op ?? '');
  if (minLane > 1 && (comparison?.lane ?? 0) < minLane) return undefined;
  const isUnsigned = comparison?.kind === 'unsigned' && /[lg][te]/.test(comparison.relation);
  return widthOf(s, inst.result!) === 64 || isUnsigned ? planMask(s, value, isInverted) : undefined;
}

/** `bitselect` by a mask of lanes with AVX2: bytes of the second operand where the mask is set. */
function blendAvx2(s: Selection, inst: Inst): void {
  const [a, b, selector] = inst.args as [Value, Value, Value];
  const bytes = widthOf(s, inst.result!);
  const complement = complementOf(s, selector);
  const [taken, other] = complement === undefined ? [a, b] : [b, a];
  const uses = [s.register(other), s.register(taken), complement ?? s.register(selector)];
  const mayBeMemory = uses[1] !== uses[0] && uses[1] !== uses[2];
  custom(s, { def: resultOf(s, inst), uses, ...(mayBeMemory ? { inMemory: 1 } : {}) }, (out, { def }, operand) =>
    out.emit('vpblendvb', vector(def, bytes), operand(0, bytes), operand(1, bytes), operand(2, bytes)),
  );
}

/** `and` and `andnot` with the complement of an operand (AVX2). */
function andComplement(s: Selection, inst: Inst): boolean {
  const [a, b] = inst.args as [Value, Value];
  const isComplement = inst.op === 'v128.andnot';
  const [to, bytes] = [resultOf(s, inst), widthOf(s, inst.result!)];
  const second = complementOf(s, b);
  if (second !== undefined) {
    stepTo(s, to, isComplement ? 'vpand' : 'vpandn', bytes, [second, sourceOf(s, a)]);
    return true;
  }
  const first = isComplement ? undefined : complementOf(s, a);
  if (first === undefined) return false;
  stepTo(s, to, 'vpandn', bytes, [first, sourceOf(s, b)]);
  return true;
}

/** The bits of the first operand where the third one has a 1, else those of the second. */
export const bitselect: Rule = (s, inst) => {
  const [a, b, selector] = inst.args as [Value, Value, Value];
  const bytes = widthOf(s, inst.result!);
  if (!s.features.avx512) return isMask(s, selector) ? blendAvx2(s, inst) : bitselectOfBits(s, inst);
  const [first, second] = [sourceLazily(s, a), sourceLazily(s, b)];
  const isSwapped = first === 'zeros' || (second === 'pattern' && first === 'register');
  const plan = planFor(s, inst, selector, isSwapped);
  if (!plan) return bitselectOfBits(s, inst);
  const [taken, other] = isSwapped ? [b, a] : [a, b];
  const rest = sourceOf(s, other);
  if (isPattern(rest) && isZeros(rest)) return masked(s, resultOf(s, inst), plan, sourceOf(s, taken), bytes);
  blended(s, resultOf(s, inst), plan, sourceOf(s, taken), rest, bytes);
};

/** What kind of source a value is, without asking for its register. */
function sourceLazily(s: Selection, value: Value): 'zeros' | 'pattern' | 'register' {
  const inst = s.definition(value);
  if (inst?.op !== 'v128.const') return 'register';
  return inst.bytes!.every((byte) => byte === 0) ? 'zeros' : 'pattern';
}

/** `and` of three vectors, one of which is a comparison. */
function maskedAnd(s: Selection, inst: Inst): boolean {
  if (inst.op !== 'v128.and') return false;
  for (const [i, arg] of inst.args.entries()) {
    const inner = ownedBy(s, arg);
    if (inner?.op !== 'v128.and') continue;
    for (const [k, value] of inner.args.entries()) {
      const plan = planFor(s, inst, value, false, 4);
      if (!plan) continue;
      const bytes = widthOf(s, inst.result!);
      const [a, b] = commuted(s, [inner.args[1 - k]!, inst.args[1 - i]!], '').map((each) => sourceOf(s, each)) as [Fixed, Fixed];
      const first = isPattern(a) ? constantRegister(s, bytes, a) : a;
      const uses = [...plan.uses, first, ...(isPattern(b) ? [] : [b])];
      custom(s, { def: resultOf(s, inst), uses }, (out, places, operand) => {
        plan.emit(out, 1, placesOf(operand, bytes));
        // A lane of the mask has the bits of 32 or 64 in the instruction, whichever lanes the operands have.
        const mnemonic = plan.lane === 8 ? 'vpandq' : 'vpandd';
        const last = isPattern(b) ? patternOperand(out, mnemonic, b, bytes) : operand(uses.length - 1, bytes);
        out.emitMasked(mnemonic, mask(1), true, vector(places.def, bytes), operand(plan.uses.length, bytes), last);
      });
      return true;
    }
  }
  return false;
}

/** `and`, and `andnot`, whose second operand is complemented. */
export const and: Rule = (s, inst) => {
  if (combinedMasks(s, inst) || andComplement(s, inst)) return;
  const [a, b] = inst.args as [Value, Value];
  const isComplement = inst.op === 'v128.andnot';
  const plan = planFor(s, inst, b, isComplement);
  const other = (plan ?? isComplement) ? undefined : planFor(s, inst, a, false);
  if (plan) return masked(s, resultOf(s, inst), plan, sourceOf(s, a), widthOf(s, inst.result!));
  if (other) return masked(s, resultOf(s, inst), other, sourceOf(s, b), widthOf(s, inst.result!));
  if (!maskedAnd(s, inst)) binaryLogic(s, inst);
};

/** Under a mask, lanes of ones of `or`, or the complements of `xor`: the operand of both is a comparison, the other one a vector. */
function maskedOr(s: Selection, inst: Inst): boolean {
  for (const [i, value] of inst.args.entries()) {
    const other = inst.args[1 - i]!;
    // With a further operation, one instruction on three vectors is as short.
    if (/^v128\./.test(ownedBy(s, other)?.op ?? '')) continue;
    const plan = planFor(s, inst, value, false, 4);
    if (!plan) continue;
    const bytes = widthOf(s, inst.result!);
    const uses = [...plan.uses, s.register(other)];
    custom(s, { def: resultOf(s, inst), uses, tied: plan.uses.length }, (out, places, operand) => {
      plan.emit(out, 1, placesOf(operand, bytes));
      const to = vector(places.def, bytes);
      out.emitMasked(
        plan.lane === 8 ? 'vpternlogq' : 'vpternlogd',
        mask(1),
        false,
        to,
        to,
        to,
        immediate(inst.op === 'v128.or' ? 0xff : 0x55),
      );
    });
    return true;
  }
  return false;
}

/** `or` and `xor`. */
export const or: Rule = (s, inst) => {
  if (!combinedMasks(s, inst) && !maskedOr(s, inst)) binaryLogic(s, inst);
};
