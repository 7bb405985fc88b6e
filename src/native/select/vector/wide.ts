/** Instructions across the 128-bit parts of wide vectors: parts of them, their union, and words in any order. */
import type { Register } from '../../machine/types.ts';
import { bytesOfType, type Inst } from '../../ssa/types.ts';
import { immediate, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { permuteTwo, shuffleOne, shuffleTwo } from './shuffle.ts';
import { constantRegister, copyTo, custom, extractPart, patternOf, resultOf, stepTo, type Width, widthOf } from './steps.ts';

/** Bytes `first` and those after it of a wider register. */
function takeTo(s: Selection, to: Register, bytes: 16 | 32, value: Register, from: Width, first: number): void {
  custom(s, { def: to, uses: [value], inMemory: 0, isMove: first === 0 }, (out, { def, uses, slot }) => {
    if (slot) return out.emit('vmovups', vector(def, bytes), { ...slot, displacement: slot.displacement + first });
    // Whatever is above the bytes of a register means nothing.
    if (first === 0) return def === uses[0] ? undefined : out.emit('vmovups', vector(def, bytes), vector(uses[0]!, bytes));
    const mnemonic = bytes === 32 ? 'vextractf64x4' : extractPart(s);
    out.emit(mnemonic, vector(def, bytes), vector(uses[0]!, from), immediate(first / bytes));
  });
}

/** `vector.part`. */
export const part: Rule = (s, inst) => {
  const bytes = widthOf(s, inst.result!) as 16 | 32;
  takeTo(s, resultOf(s, inst), bytes, s.register(inst.args[0]!), widthOf(s, inst.args[0]!), inst.lane! * bytes);
};

/** Two vectors as one of twice the width. */
function joinTo(s: Selection, to: Register, low: Register, high: Register, bytes: 32 | 64): void {
  const mnemonic = bytes === 64 ? 'vinsertf64x4' : s.features.avx512 ? 'vinsertf32x4' : 'vinsertf128';
  const half = bytes === 64 ? 32 : 16;
  custom(s, { def: to, uses: [low, high], ...(low === high ? {} : { inMemory: 1 }) }, (out, { def, uses }, operand) =>
    out.emit(mnemonic, vector(def, bytes), vector(uses[0]!, bytes), operand(1, half), immediate(1)),
  );
}

/** `vector.join`. */
export const join: Rule = (s, inst) => {
  const to = resultOf(s, inst);
  const parts = inst.args.map((arg) => s.register(arg)) as [Register, Register, ...Register[]];
  if (parts.length === 2) return joinTo(s, to, parts[0], parts[1], widthOf(s, inst.result!) as 32 | 64);
  if (parts.every((each) => each === parts[0]))
    return custom(s, { def: to, uses: [parts[0]], inMemory: 0 }, (out, { def, uses, slot }) => {
      if (slot) return out.emit('vbroadcastf32x4', vector(def, 64), slot);
      const from = vector(uses[0]!, 64);
      out.emit('vshuff32x4', vector(def, 64), from, from, immediate(0));
    });
  const halves = [0, 2].map((first) => {
    const half = s.fresh('vector', 32);
    joinTo(s, half, parts[first]!, parts[first + 1]!, 32);
    return half;
  }) as [Register, Register];
  joinTo(s, to, halves[0], halves[1], 64);
};

/** The bytes of words of a part, if every part takes the same ones of itself; the words of a second operand are those from 4 on. */
function patternOfParts(words: readonly number[], operandWords: number): number[] | undefined {
  const local = words.slice(0, 4).map((word) => (word % operandWords) + (word >= operandWords ? 4 : 0));
  const isSame = words.every((word, i) => {
    const [base, expected] = [i & ~3, local[i & 3]!];
    return word === base + (expected & 3) + (expected >= 4 ? operandWords : 0);
  });
  return isSame && local.every((word, i) => words[i]! % operandWords < 4 && word < 8)
    ? local.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte))
    : undefined;
}

const indexOf = (words: readonly number[], count: number): number[] =>
  Array.from({ length: count }, (_, i) => words[i] ?? 0).flatMap((word) => [word, 0, 0, 0]);

/** Words of one vector of `from` bytes. */
function permuteOne(s: Selection, to: Register, bytes: Width, value: Register, from: Width, words: readonly number[]): void {
  const isRow = words.every((word, i) => word === words[0]! + i);
  if (isRow && bytes < from && (words[0]! * 4) % bytes === 0) return takeTo(s, to, bytes as 16 | 32, value, from, words[0]! * 4);
  const local = bytes === from ? patternOfParts(words, from / 4) : undefined;
  if (local) return shuffleOne(s, to, bytes, value, local);
  const width = Math.max(bytes, from, 32) as Width;
  const index = constantRegister(s, width, patternOf(indexOf(words, width / 4)));
  // The operand may be narrower than what the instruction reads, so that it cannot be its stack slot.
  custom(s, { def: to, uses: [index, value], ...(from === width ? { inMemory: 1 } : {}) }, (out, { def }, operand) =>
    out.emit('vpermd', vector(def, width), operand(0, width), operand(1, width)),
  );
}

/** Words of two vectors with AVX2: of each operand by itself, of which a blend takes those that belong to it. */
function permuteTwoAvx2(
  s: Selection,
  to: Register,
  bytes: Width,
  values: readonly Register[],
  from: Width,
  words: readonly number[],
): void {
  const count = from / 4;
  const moved = values.map((value, operand) => {
    const result = s.fresh('vector', 32);
    const own = words.map((word) => (Math.trunc(word / count) === operand ? word % count : 0));
    const index = constantRegister(s, 32, patternOf(indexOf(own, 8)));
    custom(s, { def: result, uses: [index, value] }, (out, { def, uses }) =>
      out.emit('vpermd', vector(def, 32), vector(uses[0]!, 32), vector(uses[1]!, 32)),
    );
    return result;
  });
  const blend = words.reduce((mask, word, i) => mask | (word >= count ? 1 << i : 0), 0);
  stepTo(s, to, 'vpblendd', bytes, moved, { immediate: blend });
}

/** `vector.words`. */
export const words: Rule = (s, inst) => {
  const order = inst.words!;
  const to = resultOf(s, inst);
  const bytes = widthOf(s, inst.result!);
  const from = bytesOfType(s.typeOf(inst.args[0]!)) as Width;
  if (bytes === from && order.every((word, i) => word === i)) return copyTo(s, to, bytes, s.register(inst.args[0]!));
  const [a, b] = operandsOf(s, inst, from);
  if (b === undefined) return permuteOne(s, to, bytes, a.value, from, a.words);
  const count = from / 4;
  if (bytes === 2 * from && order.every((word, i) => word === i)) return joinTo(s, to, a.value, b.value, bytes as 32 | 64);
  const local = bytes === from ? patternOfParts(order, count) : undefined;
  if (local) return shuffleTwo({ s, to, bytes, a: a.value, b: b.value, order: local });
  const isRow = bytes === from && order.every((word, i) => word === order[0]! + i);
  if (isRow && s.features.avx512) return stepTo(s, to, 'valignd', bytes, [b.value, a.value], { immediate: order[0]! });
  if (!s.features.avx512) return permuteTwoAvx2(s, to, bytes, [a.value, b.value], from, order);
  const width = Math.max(bytes, from) as Width;
  const numbers = order.map((word) => (word < count ? word : word - count + width / 4));
  if (width === from) return permuteInto(s, to, bytes, width, a.value, b.value, numbers);
  permuteInto(s, to, bytes, width, widened(s, a.value, width), widened(s, b.value, width), numbers);
};

/** The same register as one of more bytes, whose upper ones mean nothing. */
function widened(s: Selection, value: Register, width: Width): Register {
  const to = s.fresh('vector', width);
  custom(s, { def: to, uses: [value], isMove: true }, (out, { def, uses }) => {
    if (def !== uses[0]) out.emit('vmovups', vector(def, width), vector(uses[0]!, width));
  });
  return to;
}

function permuteInto(s: Selection, to: Register, bytes: Width, width: Width, a: Register, b: Register, numbers: readonly number[]): void {
  const all = Array.from({ length: width / 4 }, (_, i) => numbers[i] ?? 0);
  if (bytes === width) return permuteTwo(s, to, width, a, b, all);
  const wide = s.fresh('vector', width);
  permuteTwo(s, wide, width, a, b, all);
  takeTo(s, to, bytes as 16 | 32, wide, width, 0);
}

interface Operand {
  readonly value: Register;
  readonly words: readonly number[];
}

/** The operands that the words are of: one, if all are of it. */
function operandsOf(s: Selection, inst: Inst, from: Width): readonly [Operand, Operand?] {
  const count = from / 4;
  const order = inst.words!;
  const [first, second] = inst.args as [number, number?];
  if (second === undefined || second === first) return [{ value: s.register(first), words: order.map((word) => word % count) }];
  if (order.every((word) => word < count)) return [{ value: s.register(first), words: order }];
  if (order.every((word) => word >= count)) return [{ value: s.register(second), words: order.map((word) => word - count) }];
  return [
    { value: s.register(first), words: order },
    { value: s.register(second), words: order },
  ];
}
