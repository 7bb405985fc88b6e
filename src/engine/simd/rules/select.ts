/** Vector rules of select, and of the ops that build the kernel's own vectors. */
import { elementOf, type InstOf, isVector, operandsOf, uniform, type Value } from '../../../ir/index.ts';
import { flag, type LaneGroup, longOf, type PartWriter, shapeOf } from '../lanes/lane-group.ts';
import { constantWords } from '../lanes/leaf-values.ts';
import { signOf } from './float.ts';

/** A select, element by element. */
export function select(s: LaneGroup, inst: InstOf<'select'>): PartWriter {
  const isWide = longOf(s, inst.a);
  const isUniform = shapeOf(s, inst.cond) === uniform;
  const byBits = isUniform || isVector(inst.type) ? undefined : selectByBits(s, inst, isWide);
  if (byBits) return byBits;
  return (part, element) => {
    s.element(inst.a, element, part);
    s.element(inst.b, element, part);
    if (isUniform) {
      s.scalar(inst.cond);
      return s.code.choose('v128');
    }
    flag(s, inst.cond, part, isWide);
    s.code.op('v128.bitselect');
  };
}

/**
 * Selects that need fewer bitwise instructions than the three of `bitselect` on processors without one: with 0, between constants, and between
 * a float and its negation.
 */
function selectByBits(s: LaneGroup, { cond, a, b, type }: InstOf<'select'>, isWide: boolean): PartWriter | undefined {
  const { code } = s;
  const [first, second] = [a, b].map((operand) => constantOf(s, operand));
  if (first && second && !isZero(first) && !isZero(second))
    return (part) => {
      flag(s, cond, part, isWide);
      code.v128(first.map((word, i) => word ^ second[i]!));
      code.op('v128.and');
      code.v128(second);
      code.op('v128.xor');
    };
  if (second && isZero(second))
    return maskedBy(
      s,
      (part) => s.part(a, part),
      (part) => flag(s, cond, part, isWide),
      'and',
    );
  if (first && isZero(first))
    return maskedBy(
      s,
      (part) => s.part(b, part),
      (part) => flag(s, cond, part, isWide),
      'andnot',
    );
  const [isFirstNegated, isSecondNegated] = [negates(s, a, b), negates(s, b, a)];
  if (!isFirstNegated && !isSecondNegated) return undefined;
  const sign = maskedBy(
    s,
    () => code.v128(signOf(elementOf(type))),
    (part) => flag(s, cond, part, isWide),
    isFirstNegated ? 'and' : 'andnot',
  );
  return (part, element) => {
    s.part(isFirstNegated ? b : a, part);
    sign(part, element);
    code.op('v128.xor');
  };
}

type PushPart = (part: number) => void;

const maskedBy =
  ({ code }: LaneGroup, push: PushPart, mask: PushPart, op: 'and' | 'andnot'): PartWriter =>
  (part) => {
    push(part);
    mask(part);
    code.op(`v128.${op}`);
  };

const isZero = (words: readonly number[]): boolean => words.every((word) => word === 0);

function constantOf(s: LaneGroup, value: Value): number[] | undefined {
  const inst = s.kernel.insts[value]!;
  return inst.op === 'const' ? constantWords(s, value, inst) : undefined;
}

/** Whether a value is the negation of a float. */
function negates({ kernel }: LaneGroup, value: Value, of: Value): boolean {
  const inst = kernel.insts[value]!;
  return inst.op === 'fneg' && inst.a === of;
}

/** Each element is one of the operands. */
export function vectorOf(s: LaneGroup, inst: InstOf<'vec2'> | InstOf<'vec4'>): PartWriter {
  const operands = operandsOf(inst);
  return (part, element) => s.part(operands[element]!, part);
}
