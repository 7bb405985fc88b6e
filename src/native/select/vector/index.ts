/** Instruction selection of vectors: every instruction of `src/wasm/simd-opcodes.ts`, and those across the parts of wide vectors. */
import { instructions } from '../../../wasm/index.ts';
import type { Rule, TestRule } from '../types.ts';
import { and, bitselect, or } from './blend.ts';
import * as convert from './convert.ts';
import * as float from './float.ts';
import { multiplyAdd } from './fused.ts';
import { gatherRules } from './gather.ts';
import * as integer from './integer.ts';
import { extract, replace, splat } from './lanes.ts';
import { not } from './logic.ts';
import { compare, comparisonOf } from './masks.ts';
import { memoryRules } from './memory.ts';
import { plainRules } from './plain.ts';
import { shift } from './shift.ts';
import { shuffle } from './shuffle.ts';
import { defineConstant, patternOf, resultOf, widthOf } from './steps.ts';
import { bitmask, testAsFlags, testAsNumber } from './tests.ts';
import { join, part, words } from './wide.ts';

/** Rules of single operations. */
const named: Readonly<Record<string, Rule>> = {
  'v128.const': (s, inst) => defineConstant(s, resultOf(s, inst), widthOf(s, inst.result!), patternOf(inst.bytes!)),
  'v128.not': not,
  'v128.and': and,
  'v128.andnot': and,
  'v128.or': or,
  'v128.xor': or,
  'v128.bitselect': bitselect,
  'v128.any_true': testAsNumber,
  'i8x16.swizzle': integer.swizzle,
  'i8x16.shuffle': shuffle,
  'i8x16.popcnt': integer.popcnt,
  'i16x8.q15mulr_sat_s': integer.q15Multiply,
  'i64x2.abs': integer.abs64,
  'i64x2.mul': integer.mul64,
  'f32x4.convert_i32x4_s': convert.convertSigned,
  'f32x4.convert_i32x4_u': convert.convertUnsigned,
  'f32x4.demote_f64x2_zero': convert.demote,
  'f64x2.promote_low_f32x4': convert.widenLow,
  'f64x2.convert_low_i32x4_s': convert.widenLow,
  'f64x2.convert_low_i32x4_u': convert.convertLowUnsigned,
  'i32x4.trunc_sat_f32x4_s': convert.truncSigned,
  'i32x4.trunc_sat_f32x4_u': convert.truncUnsigned,
  'i32x4.trunc_sat_f64x2_s_zero': convert.truncSignedZero,
  'i32x4.trunc_sat_f64x2_u_zero': convert.truncUnsignedZero,
  'vector.part': part,
  'vector.join': join,
  'vector.words': words,
  'vector.widen': convert.widen,
};

/** Rules of families of operations, by their names. */
const families: readonly (readonly [name: RegExp, rule: Rule])[] = [
  [/^i\d+x\d+\.neg$/, integer.neg],
  [/^f\d+x\d+\.neg$/, float.neg],
  [/^f\d+x\d+\.abs$/, float.abs],
  [/^f\d+x\d+\.(min|max)$/, float.minMax],
  [/^f\d+x\d+\.(pmin|pmax)$/, float.pseudoMinMax],
  [/^f\d+x\d+\.(ceil|floor|trunc|nearest)$/, float.round],
  [/^f\d+x\d+\.relaxed_madd$/, multiplyAdd],
  [/^i\d+x\d+\.sh(l|r_s|r_u)$/, shift],
  [/^i\d+x\d+\.extend_(low|high)_/, integer.extend],
  [/^i\d+x\d+\.extadd_pairwise_/, integer.addPairwise],
  [/^i64x2\.extmul_/, integer.multiplyLong],
  [/^[if]\d+x\d+\.splat$/, splat],
  [/^[if]\d+x\d+\.extract_lane/, extract],
  [/^[if]\d+x\d+\.replace_lane$/, replace],
  [/^i\d+x\d+\.all_true$/, testAsNumber],
  [/^i\d+x\d+\.bitmask$/, bitmask],
];

const ofFamily = (name: string): Rule | undefined =>
  /^[if]\d+x\d+\.(eq|ne|[lg][te])(_[su])?$/.test(name) && comparisonOf(name)
    ? compare
    : families.find(([pattern]) => pattern.test(name))?.[1];

/** The rule of every vector instruction, by its name. */
export const vectorRules: Readonly<Record<string, Rule>> = Object.fromEntries([
  ...Object.entries(named),
  ...Object.entries(plainRules),
  ...Object.entries(memoryRules),
  ...Object.entries(gatherRules),
  ...[...instructions.keys()].flatMap((name) => {
    const rule = name in named || name in plainRules ? undefined : ofFamily(name);
    return rule ? [[name, rule] as const] : [];
  }),
]);

/** Instructions that answer whether lanes are set, as flags; of `bitmask`, whether it is not 0. */
export const vectorTests: Readonly<Record<string, TestRule>> = Object.fromEntries(
  ['v128.any_true', ...['i8x16', 'i16x8', 'i32x4', 'i64x2'].flatMap((shape) => [`${shape}.all_true`, `${shape}.bitmask`])].map((name) => [
    name,
    testAsFlags,
  ]),
);
