/**
 * Conversions between integers and floats. Those of processors have one result for all that is out of range: the least integer if it is signed, the largest
 * one if it is unsigned (AVX-512). WebAssembly saturates, and has 0 for NaNs.
 *
 * The conversions between lanes of 32 and 64 bits use or fill the low half of each part. Wide ones of the processor go over all lanes in their order, so that
 * halves have to be gathered before them, or spread after them.
 */
import type { Register } from '../../machine/types.ts';
import type { Inst } from '../../ssa/types.ts';
import { immediate, mask, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { logic } from './logic.ts';
import {
  constantRegister,
  custom,
  floatLanes,
  lanesOf,
  lastSourceOf,
  patternOf,
  patternOperand,
  resultOf,
  type Source,
  sourcesOf,
  step,
  stepTo,
  type Width,
  widthOf,
  zeros,
} from './steps.ts';

const operand = (s: Selection, inst: Inst): Register => s.register(inst.args[0]!);
const widthOfResult = (s: Selection, inst: Inst): Width => widthOf(s, inst.result!);
const half = (bytes: Width): Width => (bytes === 64 ? 32 : 16);

const two31 = 2 ** 31;

export const truncSigned: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const value = operand(s, inst);
  const limit = floatLanes(two31, 4);
  if (s.features.avx512)
    return custom(s, { def: resultOf(s, inst), uses: [value], isEarly: true }, (out, { def, uses }) => {
      const [to, from] = [vector(def, bytes), vector(uses[0]!, bytes)];
      // Ordered, so no NaN; then not less than 2^31.
      out.emit('vcmpps', mask(1), from, from, immediate(7));
      out.emitMasked('vcvttps2dq', mask(1), true, to, from);
      out.emit('vcmpps', mask(1), from, patternOperand(out, 'vcmpps', limit, bytes), immediate(0x1d));
      out.emitMasked('vpbroadcastd', mask(1), false, to, out.constant([0xff, 0xff, 0xff, 0x7f]));
    });
  const number = step(s, 'vandps', bytes, [value, step(s, 'vcmpps', bytes, [value, value], { immediate: 0 })]);
  const least = step(s, 'vcvttps2dq', bytes, [number]);
  // The complement of the least integer is the largest.
  const isLarge = step(s, 'vcmpps', bytes, [value, limit], { immediate: 0x1d });
  stepTo(s, resultOf(s, inst), 'vpxor', bytes, [least, isLarge]);
};

/** `max` returns its second operand for NaNs. */
const atLeastZero = (s: Selection, inst: Inst, suffix: 'ps' | 'pd'): Register =>
  step(s, `vmax${suffix}`, widthOf(s, inst.args[0]!), [operand(s, inst), zeros]);

export const truncUnsigned: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const number = atLeastZero(s, inst, 'ps');
  if (s.features.avx512) return stepTo(s, resultOf(s, inst), 'vcvttps2udq', bytes, [number]);
  const limit = floatLanes(two31, 4);
  // What lies above 2^31 is converted by itself and added; below it, it is negative, which counts as 0.
  const above = step(s, 'vsubps', bytes, [number, limit]);
  const isLarge = step(s, 'vcmpps', bytes, [above, limit], { immediate: 0x1d });
  const saturated = step(s, 'vpxor', bytes, [step(s, 'vcvttps2dq', bytes, [above]), isLarge]);
  const upper = step(s, 'vpmaxsd', bytes, [saturated, zeros]);
  stepTo(s, resultOf(s, inst), 'vpaddd', bytes, [step(s, 'vcvttps2dq', bytes, [number]), upper]);
};

export const convertSigned: Rule = (s, inst) =>
  stepTo(s, resultOf(s, inst), 'vcvtdq2ps', widthOfResult(s, inst), sourcesOf(s, inst.args, 'vcvtdq2ps'));

export const convertUnsigned: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const value = operand(s, inst);
  if (s.features.avx512) return stepTo(s, resultOf(s, inst), 'vcvtudq2ps', bytes, [value]);
  // Both halves are exact, and so is the product; the sum rounds.
  const upper = step(s, 'vcvtdq2ps', bytes, [step(s, 'vpsrld', bytes, [value], { immediate: 16 })]);
  const lower = step(s, 'vcvtdq2ps', bytes, [step(s, 'vpand', bytes, [value, lanesOf(0xffff, 4)])]);
  stepTo(s, resultOf(s, inst), 'vfmadd231ps', bytes, [lower, upper, floatLanes(65536, 4)], { tied: 0 });
};

const quads = (...order: number[]): { pattern: readonly number[] } => patternOf(order.flatMap((each) => [each, 0, 0, 0, 0, 0, 0, 0]));

/** The low halves of all parts, one behind the other. */
function gatherLow(s: Selection, value: Register, bytes: Width): Register {
  if (bytes === 16) return value;
  if (bytes === 32) return step(s, 'vpermq', 32, [value], { immediate: 0b11_01_10_00 });
  return step(s, 'vpermq', 64, [constantRegister(s, 64, quads(0, 2, 4, 6, 1, 3, 5, 7)), value]);
}

/** Halves one behind the other as the low halves of all parts; what follows them in their register is 0. */
function spreadLow(s: Selection, to: Register, bytes: Width, value: Register): void {
  if (bytes === 32) return stepTo(s, to, 'vpermq', 32, [value], { immediate: 0b11_01_10_00 });
  stepTo(s, to, 'vpermq', 64, [constantRegister(s, 64, quads(0, 4, 1, 5, 2, 6, 3, 7)), value]);
}

/** A conversion from 64 to 32 bits into the low halves of the parts, whose high ones become 0. */
function narrowTo(s: Selection, to: Register, mnemonic: string, bytes: Width, value: Register): void {
  // The register has the whole width, of which the instruction writes half.
  const packed = bytes === 16 ? to : s.fresh('vector', bytes);
  custom(s, { def: packed, uses: [value] }, (out, { def, uses }) => out.emit(mnemonic, vector(def, half(bytes)), vector(uses[0]!, bytes)));
  if (bytes > 16) spreadLow(s, to, bytes, packed);
}

/** A conversion from 32 to 64 bits, of so many bytes of lanes in their order. */
const widenTo = (s: Selection, to: Register, mnemonic: string, bytes: Width, value: Source): void =>
  stepTo(s, to, mnemonic, bytes, [value], { from: half(bytes) });

export const demote: Rule = (s, inst) => narrowTo(s, resultOf(s, inst), 'vcvtpd2ps', widthOfResult(s, inst), operand(s, inst));

/** Instructions that widen by their kind. */
const widening: Readonly<Record<string, string>> = {
  'f64x2.promote_low_f32x4': 'vcvtps2pd',
  'f64x2.convert_low_i32x4_s': 'vcvtdq2pd',
};

/** `promote_low` and `convert_low_s`: of the low half of each part. */
export const widenLow: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  widenTo(s, resultOf(s, inst), widening[inst.op]!, bytes, gatherLow(s, operand(s, inst), bytes));
};

/** An unsigned integer as the low bits of 2^52, which is then subtracted. */
export const convertLowUnsigned: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  if (s.features.avx512 && bytes === 16) return stepTo(s, resultOf(s, inst), 'vcvtudq2pd', 16, [operand(s, inst)]);
  const biased = step(s, 'vpunpckldq', bytes, [operand(s, inst), lanesOf(0x43300000, 4)]);
  stepTo(s, resultOf(s, inst), 'vsubpd', bytes, [biased, floatLanes(2 ** 52, 8)]);
};

export const truncSignedZero: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const value = operand(s, inst);
  const largest = floatLanes(two31 - 1, 8);
  let number: Register;
  if (s.features.avx512) {
    number = s.fresh('vector', bytes);
    // `min` returns its second operand for NaNs.
    custom(s, { def: number, uses: [value] }, (out, { def, uses }) => {
      const from = vector(uses[0]!, bytes);
      out.emit('vcmppd', mask(1), from, from, immediate(7));
      out.emitMasked('vminpd', mask(1), true, vector(def, bytes), from, patternOperand(out, 'vminpd', largest, bytes));
    });
  } else {
    const isNumber = step(s, 'vcmppd', bytes, [value, value], { immediate: 0 });
    number = step(s, 'vminpd', bytes, [value, step(s, 'vandpd', bytes, [isNumber, largest])]);
  }
  narrowTo(s, resultOf(s, inst), 'vcvttpd2dq', bytes, number);
};

export const truncUnsignedZero: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const number = atLeastZero(s, inst, 'pd');
  if (s.features.avx512) return narrowTo(s, resultOf(s, inst), 'vcvttpd2udq', bytes, number);
  const whole = step(s, 'vroundpd', bytes, [step(s, 'vminpd', bytes, [number, floatLanes(2 ** 32 - 1, 8)])], { immediate: 11 });
  const biased = step(s, 'vaddpd', bytes, [whole, floatLanes(2 ** 52, 8)]);
  stepTo(s, resultOf(s, inst), 'vshufps', bytes, [biased, zeros as Source], { immediate: 0b10_00_10_00 });
};

/** Extensions of integers in the order of their lanes. */
const extensions: Readonly<Record<string, string>> = { i16x8: 'bw', i32x4: 'wd', i64x2: 'dq' };

/** `vector.widen`: all lanes of the operand, in their order. */
export const widen: Rule = (s, inst) => {
  const kind = inst.kind!;
  const bytes = widthOfResult(s, inst);
  const to = resultOf(s, inst);
  const read = (mnemonic: string): Source => lastSourceOf(s, inst.args[0]!, mnemonic);
  const mnemonic = widening[kind];
  if (mnemonic) return widenTo(s, to, mnemonic, bytes, read(mnemonic));
  if (kind !== 'f64x2.convert_low_i32x4_u') {
    const extension = `vpmov${kind.endsWith('_s') ? 's' : 'z'}x${extensions[kind.split('.')[0]!]}`;
    return widenTo(s, to, extension, bytes, read(extension));
  }
  if (s.features.avx512) return widenTo(s, to, 'vcvtudq2pd', bytes, read('vcvtudq2pd'));
  const wide = s.fresh('vector', bytes);
  widenTo(s, wide, 'vpmovzxdq', bytes, read('vpmovzxdq'));
  const biased = step(s, logic(s, 'or'), bytes, [wide, lanesOf(0x4330000000000000n, 8)]);
  stepTo(s, to, 'vsubpd', bytes, [biased, floatLanes(2 ** 52, 8)]);
};
