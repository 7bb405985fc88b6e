/** Choices between values, and vectors of the kernel put together. */
import { type InstOf, operandsOf, uniform } from '../../../ir/index.ts';
import { flag, type LaneGroup, longOf, type PartWriter, shapeOf } from '../lanes/lane-group.ts';

/** A choice, element by element. */
export function select(s: LaneGroup, inst: InstOf<'select'>): PartWriter {
  const isWide = longOf(s, inst.a);
  const isShared = shapeOf(s, inst.cond) === uniform;
  return (part, element) => {
    s.element(inst.a, element, part);
    s.element(inst.b, element, part);
    if (isShared) {
      s.scalar(inst.cond);
      return s.code.choose('v128');
    }
    flag(s, inst.cond, part, isWide);
    s.code.op('v128.bitselect');
  };
}

/** Each element is one of the operands. */
export function vectorOf(s: LaneGroup, inst: InstOf<'vec2'> | InstOf<'vec4'>): PartWriter {
  const operands = operandsOf(inst);
  return (part, element) => s.part(operands[element]!, part);
}
