/** Operations on integers with more than one instruction, or with other ones for each target. */
import type { Inst, Value } from '../../ssa/types.ts';
import { immediate, mask, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { logic } from './logic.ts';
import {
  bytesPattern,
  commuted,
  constantRegister,
  custom,
  lanesOf,
  patternOperand,
  resultOf,
  sourcesOf,
  step,
  stepTo,
  type Width,
  widthOf,
  zeros,
} from './steps.ts';

const suffixes: Readonly<Record<string, string>> = { '8': 'b', '16': 'w', '32': 'd', '64': 'q' };

const operand = (s: Selection, inst: Inst, index = 0) => s.register(inst.args[index]!);
const widthOfResult = (s: Selection, inst: Inst): Width => widthOf(s, inst.result!);

export const neg: Rule = (s, inst) => {
  const suffix = suffixes[/^i(\d+)/.exec(inst.op)![1]!]!;
  stepTo(s, resultOf(s, inst), `vpsub${suffix}`, widthOfResult(s, inst), [zeros, operand(s, inst)]);
};

export const abs64: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const value = operand(s, inst);
  if (s.features.avx512) return stepTo(s, resultOf(s, inst), 'vpabsq', bytes, [value]);
  const sign = step(s, 'vpcmpgtq', bytes, [zeros, value]);
  stepTo(s, resultOf(s, inst), 'vpsubq', bytes, [step(s, 'vpxor', bytes, [value, sign]), sign]);
};

/** The product of 64 bits is that of the low halves, and 2^32 times the sum of the mixed products. */
export const mul64: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  if (s.features.avx512) return stepTo(s, resultOf(s, inst), 'vpmullq', bytes, sourcesOf(s, commuted(s, inst.args, 'vpmullq'), 'vpmullq'));
  const [a, b] = [operand(s, inst), operand(s, inst, 1)];
  const high = (value: number): number => step(s, 'vpsrlq', bytes, [value], { immediate: 32 });
  const mixed = step(s, 'vpaddq', bytes, [step(s, 'vpmuludq', bytes, [high(a), b]), step(s, 'vpmuludq', bytes, [high(b), a])]);
  const upper = step(s, 'vpsllq', bytes, [mixed], { immediate: 32 });
  stepTo(s, resultOf(s, inst), 'vpaddq', bytes, [step(s, 'vpmuludq', bytes, [a, b]), upper]);
};

/** Products of the low or high two of the four lanes of each part: the processor multiplies the lanes of even numbers. */
export const multiplyLong: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const order = inst.op.includes('_low_') ? 0b01_01_00_00 : 0b11_11_10_10;
  const [a, b] = [operand(s, inst), operand(s, inst, 1)];
  const first = step(s, 'vpshufd', bytes, [a], { immediate: order });
  const second = a === b ? first : step(s, 'vpshufd', bytes, [b], { immediate: order });
  stepTo(s, resultOf(s, inst), inst.op.endsWith('_u') ? 'vpmuludq' : 'vpmuldq', bytes, [first, second]);
};

/** Bits of each byte: a table has those of its halves. */
export const popcnt: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const value = operand(s, inst);
  const half = bytesPattern(0x0f);
  const table = constantRegister(s, bytes, bytesPattern(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const low = step(s, logic(s, 'and'), bytes, [value, half]);
  const high = step(s, logic(s, 'and'), bytes, [step(s, 'vpsrlw', bytes, [value], { immediate: 4 }), half]);
  const counts = [low, high].map((index) => step(s, 'vpshufb', bytes, [table, index]));
  stepTo(s, resultOf(s, inst), 'vpaddb', bytes, counts);
};

/** The processor's instruction differs for -1 * -1 alone, whose product it wraps to the least number. */
export const q15Multiply: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const least = lanesOf(0x8000, 2);
  const product = step(s, 'vpmulhrsw', bytes, sourcesOf(s, commuted(s, inst.args, 'vpmulhrsw'), 'vpmulhrsw'));
  if (!s.features.avx512) return stepTo(s, resultOf(s, inst), 'vpxor', bytes, [product, step(s, 'vpcmpeqw', bytes, [product, least])]);
  custom(s, { def: resultOf(s, inst), uses: [product], tied: 0 }, (out, { def }) => {
    const to = vector(def, bytes);
    out.emit('vpcmpw', mask(1), to, patternOperand(out, 'vpcmpw', least, bytes), immediate(0));
    out.emitMasked('vpsubw', mask(1), false, to, to, patternOperand(out, 'vpsubw', lanesOf(1, 2), bytes));
  });
};

/** Sums of neighbors, as sums of products with 1. */
export const addPairwise: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const to = resultOf(s, inst);
  const value = operand(s, inst);
  // The first factors of this multiplication are unsigned, the second ones signed.
  if (inst.op.startsWith('i16x8'))
    return stepTo(s, to, 'vpmaddubsw', bytes, inst.op.endsWith('_s') ? [bytesPattern(1), value] : [value, bytesPattern(1)]);
  if (inst.op.endsWith('_s')) return stepTo(s, to, 'vpmaddwd', bytes, [value, lanesOf(1, 2)]);
  const upper = step(s, 'vpsrld', bytes, [value], { immediate: 16 });
  stepTo(s, to, 'vpaddd', bytes, [upper, step(s, logic(s, 'and'), bytes, [value, lanesOf(0xffff, 4)])]);
};

const narrower: Readonly<Record<string, readonly [low: string, high: string, shift: string]>> = {
  i16x8: ['vpunpcklbw', 'vpunpckhbw', 'vpsraw'],
  i32x4: ['vpunpcklwd', 'vpunpckhwd', 'vpsrad'],
  i64x2: ['vpunpckldq', 'vpunpckhdq', ''],
};
const extensions: Readonly<Record<string, string>> = { i16x8: 'bw', i32x4: 'wd', i64x2: 'dq' };

/** Lanes of the low or high half of each part with twice the bits. */
export const extend: Rule = (s, inst) => {
  const bytes = widthOfResult(s, inst);
  const to = resultOf(s, inst);
  const shape = inst.op.split('.')[0]!;
  const isLow = inst.op.includes('_low_');
  const isSigned = inst.op.endsWith('_s');
  const [low, high, shift] = narrower[shape]!;
  const value = operand(s, inst);
  if (bytes === 16 && isLow) return stepTo(s, to, `vpmov${isSigned ? 's' : 'z'}x${extensions[shape]}`, 16, [value]);
  const unpack = isLow ? low : high;
  if (!isSigned) return stepTo(s, to, unpack, bytes, [value, zeros]);
  if (shape === 'i64x2') return stepTo(s, to, unpack, bytes, [value, step(s, 'vpsrad', bytes, [value], { immediate: 31 })]);
  const doubled = step(s, unpack, bytes, [value, value]);
  stepTo(s, to, shift, bytes, [doubled], { immediate: shape === 'i16x8' ? 8 : 16 });
};

/** Bytes by their numbers in each part; a number above 15 gives 0, where the processor looks at bit 7 and the four lowest ones. */
export const swizzle: Rule = (s, inst) => {
  const [value, index] = inst.args as [Value, Value];
  const bytes = widthOfResult(s, inst);
  const definition = s.definition(index);
  if (definition?.op === 'v128.const') {
    const known = bytesPattern(...definition.bytes!.map((each) => (each > 15 ? 0x80 : each)));
    return stepTo(s, resultOf(s, inst), 'vpshufb', bytes, [s.register(value), known]);
  }
  const marked = step(s, 'vpaddusb', bytes, [s.register(index), bytesPattern(0x70)]);
  stepTo(s, resultOf(s, inst), 'vpshufb', bytes, [s.register(value), marked]);
};
