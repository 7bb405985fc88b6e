/** Operations that one instruction of both targets does, at every width. */
import type { Inst } from '../../ssa/types.ts';
import type { Rule, Selection } from '../types.ts';
import { commuted, resultOf, sourcesOf, stepTo, widthOf } from './steps.ts';

/** Instructions of two operands by the operations; with `commutes` the operands may change places. */
const binary: Readonly<Record<'commutes' | 'ordered', string>> = {
  commutes: `
    i8x16.add vpaddb, i16x8.add vpaddw, i32x4.add vpaddd, i64x2.add vpaddq,
    i8x16.add_sat_s vpaddsb, i8x16.add_sat_u vpaddusb, i8x16.avgr_u vpavgb,
    i16x8.mul vpmullw, i32x4.mul vpmulld, i32x4.dot_i16x8_s vpmaddwd,
    i8x16.min_s vpminsb, i8x16.min_u vpminub, i8x16.max_s vpmaxsb, i8x16.max_u vpmaxub,
    i16x8.min_s vpminsw, i16x8.min_u vpminuw, i16x8.max_s vpmaxsw, i16x8.max_u vpmaxuw,
    i32x4.min_s vpminsd, i32x4.min_u vpminud, i32x4.max_s vpmaxsd, i32x4.max_u vpmaxud,
    f32x4.add vaddps, f64x2.add vaddpd, f32x4.mul vmulps, f64x2.mul vmulpd`,
  ordered: `
    i8x16.sub vpsubb, i16x8.sub vpsubw, i32x4.sub vpsubd, i64x2.sub vpsubq,
    i8x16.sub_sat_s vpsubsb, i8x16.sub_sat_u vpsubusb,
    f32x4.sub vsubps, f64x2.sub vsubpd, f32x4.div vdivps, f64x2.div vdivpd,
    i8x16.narrow_i16x8_s vpacksswb, i8x16.narrow_i16x8_u vpackuswb, i16x8.narrow_i32x4_s vpackssdw, i16x8.narrow_i32x4_u vpackusdw`,
};

const unary = 'i8x16.abs vpabsb, i16x8.abs vpabsw, i32x4.abs vpabsd, f32x4.sqrt vsqrtps, f64x2.sqrt vsqrtpd';

const rulesOf = (table: string, rule: (mnemonic: string) => Rule): [string, Rule][] =>
  table.split(',').map((row) => {
    const [name, mnemonic] = row.trim().split(' ') as [string, string];
    return [name, rule(mnemonic)];
  });

const inOrder =
  (mnemonic: string): Rule =>
  (s: Selection, inst: Inst) =>
    stepTo(s, resultOf(s, inst), mnemonic, widthOf(s, inst.result!), sourcesOf(s, inst.args, mnemonic));

const commuting =
  (mnemonic: string): Rule =>
  (s, inst) =>
    inOrder(mnemonic)(s, { ...inst, args: commuted(s, inst.args, mnemonic) });

export const plainRules: Readonly<Record<string, Rule>> = Object.fromEntries([
  ...rulesOf(binary.commutes, commuting),
  ...rulesOf(binary.ordered, inOrder),
  ...rulesOf(unary, inOrder),
]);
