/**
 * Shuffles with a constant pattern, which is the same for every 128-bit part. The first matcher of a pattern that finds an instruction has it; any other
 * pattern takes the bytes of each operand by `vpshufb`, and joins them.
 */
import type { Register } from '../../machine/types.ts';
import type { Value } from '../../ssa/types.ts';
import { vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { logic } from './logic.ts';
import {
  bytesPattern,
  constantRegister,
  copyTo,
  custom,
  isZeros,
  patternOf,
  patternOfValue,
  resultOf,
  type Source,
  step,
  stepTo,
  type Width,
  widthOf,
} from './steps.ts';
import { addTernary } from './ternary.ts';

/** Two operands in registers, the numbers of their bytes that the result has (0 to 31), and where it goes. */
interface Shuffle {
  readonly s: Selection;
  readonly to: Register;
  readonly bytes: Width;
  readonly a: Register;
  readonly b: Register;
  readonly order: readonly number[];
}

/** Adds the instructions of a shuffle if there is a short way for its pattern. */
type Matcher = (shuffle: Shuffle) => boolean;

/** The numbers of units of so many bytes that a pattern moves as a whole. */
export function unitsOf(order: readonly number[], bytes: number): number[] | undefined {
  const units: number[] = [];
  for (let i = 0; i < order.length; i += bytes) {
    if (order[i]! % bytes) return undefined;
    for (let k = 1; k < bytes; k++) if (order[i + k] !== order[i]! + k) return undefined;
    units.push(order[i]! / bytes);
  }
  return units;
}

const pack = (fields: readonly number[], bits: number): number => fields.reduce((sum, field, i) => sum | (field << (bits * i)), 0);

/** Instructions that interleave, by the bytes of what they move: `low` the lower halves of the operands, `high` the upper ones. */
const unpacks = [
  [1, 'vpunpcklbw', 'vpunpckhbw'],
  [2, 'vpunpcklwd', 'vpunpckhwd'],
  [4, 'vpunpckldq', 'vpunpckhdq'],
  [8, 'vpunpcklqdq', 'vpunpckhqdq'],
] as const;

const interleave: Matcher = ({ s, to, bytes, a, b, order }) => {
  for (const [size, low, high] of unpacks) {
    const units = unitsOf(order, size);
    if (!units) continue;
    const count = 16 / size;
    for (const [first, mnemonic] of [
      [0, low],
      [count / 2, high],
    ] as const)
      for (const [even, odd, x, y] of [
        [0, count, a, b],
        [count, 0, b, a],
      ] as const)
        if (units.every((unit, i) => unit === first + (i >> 1) + (i & 1 ? odd : even))) {
          stepTo(s, to, mnemonic, bytes, [x, y]);
          return true;
        }
  }
  return false;
};

/** The two lower words of one operand's, the two upper ones of another's. */
const shufps: Matcher = ({ s, to, bytes, a, b, order }) => {
  const words = unitsOf(order, 4);
  if (!words) return false;
  const from = words.map((word) => word >> 2);
  if (from[0] !== from[1] || from[2] !== from[3]) return false;
  const operands = [from[0]! ? b : a, from[2]! ? b : a];
  stepTo(s, to, 'vshufps', bytes, operands, {
    immediate: pack(
      words.map((word) => word & 3),
      2,
    ),
  });
  return true;
};

const shufpd: Matcher = ({ s, to, bytes, a, b, order }) => {
  const quads = unitsOf(order, 8);
  if (!quads) return false;
  const field = (quads[0]! & 1) | ((quads[1]! & 1) << 1);
  // The instruction has two bits for each part.
  const bits = pack(Array(bytes / 16).fill(field), 2);
  stepTo(
    s,
    to,
    'vshufpd',
    bytes,
    quads.map((quad) => (quad >> 1 ? b : a)),
    { immediate: bits },
  );
  return true;
};

/** Bytes in a row of both operands. */
const align: Matcher = ({ s, to, bytes, a, b, order }) => {
  const first = order[0]!;
  if (!order.every((byte, i) => byte === ((first + i) & 31))) return false;
  const [low, high] = first < 16 ? [a, b] : [b, a];
  stepTo(s, to, 'vpalignr', bytes, [high, low], { immediate: first & 15 });
  return true;
};

/** Each byte from its place in one of the operands. */
const blend: Matcher = ({ s, to, bytes, a, b, order }) => {
  if (!order.every((byte, i) => (byte & 15) === i)) return false;
  const mask = patternOf(order.map((byte) => (byte < 16 ? 0 : 0xff)));
  // Of `vpternlogd`, b where the mask has ones.
  if (s.features.avx512) addTernary(s, to, bytes, [a, b, mask], 0xd8);
  else {
    const words = unitsOf(order, 4);
    const field =
      words &&
      pack(
        words.map((word) => word >> 2),
        1,
      );
    if (field !== undefined) stepTo(s, to, 'vpblendd', bytes, [a, b], { immediate: bytes === 32 ? field * 0x11 : field });
    else {
      const uses = [a, b, constantRegister(s, bytes, mask)];
      custom(s, { def: to, uses }, (out, { def, uses: at }) =>
        out.emit('vpblendvb', vector(def, bytes), ...at.map((each) => vector(each, bytes))),
      );
    }
  }
  return true;
};

/** Words of both operands in any order. */
const words: Matcher = ({ s, to, bytes, a, b, order }) => {
  const numbers = unitsOf(order, 4);
  if (!numbers) return false;
  if (s.features.avx512) {
    permuteTwo(s, to, bytes, a, b, everyPart(numbers, bytes));
    return true;
  }
  const order4 = pack(
    numbers.map((word) => word & 3),
    2,
  );
  const [first, second] = [a, b].map((each) => step(s, 'vpshufd', bytes, [each], { immediate: order4 })) as [Register, Register];
  const field = pack(
    numbers.map((word) => word >> 2),
    1,
  );
  stepTo(s, to, 'vpblendd', bytes, [first, second], { immediate: bytes === 32 ? field * 0x11 : field });
  return true;
};

/** Numbers of words of a part (0 to 7, the second operand's from 4 on) as those of whole vectors. */
function everyPart(numbers: readonly number[], bytes: Width): number[] {
  const count = bytes / 4;
  return Array.from({ length: count }, (_, i) => {
    const word = numbers[i % 4]!;
    return (i & ~3) + (word & 3) + (word >> 2) * count;
  });
}

/** Words of two operands by their numbers, the second operand's behind the first one's (AVX-512). */
export function permuteTwo(s: Selection, to: Register, bytes: Width, a: Register, b: Register, numbers: readonly number[]): void {
  const index = constantRegister(s, bytes, patternOf(numbers.flatMap((number) => [number, 0, 0, 0])));
  // The result takes the place of the numbers, which nothing else needs.
  stepTo(s, to, 'vpermi2d', bytes, [index, a, b], { tied: 0 });
}

/** A number of `vpshufb` that gives 0. */
const none = 0x80;

const anyBytes: Matcher = ({ s, to, bytes, a, b, order }) => {
  const of = (isSecond: boolean): Source => bytesPattern(...order.map((byte) => (byte >= 16 === isSecond ? byte & 15 : none)));
  const [first, second] = [step(s, 'vpshufb', bytes, [a, of(false)]), step(s, 'vpshufb', bytes, [b, of(true)])];
  stepTo(s, to, logic(s, 'or'), bytes, [first, second]);
  return true;
};

const matchers: readonly Matcher[] = [interleave, shufpd, shufps, align, blend, words, anyBytes];

/** A shuffle of two registers, by the numbers of 16 bytes. */
export function shuffleTwo(shuffle: Shuffle): void {
  for (const matcher of matchers) if (matcher(shuffle)) return;
}

/** A shuffle of one register: bytes 0 to 15, or `none`. */
export function shuffleOne(s: Selection, to: Register, bytes: Width, value: Register, order: readonly number[]): void {
  const numbers = order.includes(none) ? undefined : unitsOf(order, 4);
  if (numbers) return stepTo(s, to, 'vpshufd', bytes, [value], { immediate: pack(numbers, 2) });
  stepTo(s, to, 'vpshufb', bytes, [value, bytesPattern(...order)]);
}

const isZero = (s: Selection, value: Value): boolean => {
  const pattern = patternOfValue(s, value);
  return pattern !== undefined && isZeros(pattern);
};

export const shuffle: Rule = (s, inst) => {
  const [a, b] = inst.args as [Value, Value];
  const bytes = widthOf(s, inst.result!);
  const to = resultOf(s, inst);
  const order = a === b ? inst.bytes!.map((byte) => byte & 15) : inst.bytes!;
  const one = (value: Value, numbers: readonly number[]): void =>
    numbers.every((byte, i) => byte === i) ? copyTo(s, to, bytes, s.register(value)) : shuffleOne(s, to, bytes, s.register(value), numbers);
  if (order.every((byte) => byte < 16)) return one(a, order);
  if (order.every((byte) => byte >= 16))
    return one(
      b,
      order.map((byte) => byte - 16),
    );
  if (isZero(s, b))
    return one(
      a,
      order.map((byte) => (byte < 16 ? byte : none)),
    );
  if (isZero(s, a))
    return one(
      b,
      order.map((byte) => (byte < 16 ? none : byte - 16)),
    );
  shuffleTwo({ s, to, bytes, a: s.register(a), b: s.register(b), order });
};
