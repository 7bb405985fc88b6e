/** Vector rules of select, and of the ops that build the kernel's own vectors. */
import { type InstOf, operandsOf, uniform } from '../../../ir/index.ts';
import { flag, type LaneGroup, longOf, type PartWriter, shapeOf } from '../lanes/lane-group.ts';

/** A select, element by element. */
export function select(s: LaneGroup, inst: InstOf<'select'>): PartWriter {
  const isWide = longOf(s, inst.a);
  const isUniform = shapeOf(s, inst.cond) === uniform;
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

/** Each element is one of the operands. */
export function vectorOf(s: LaneGroup, inst: InstOf<'vec2'> | InstOf<'vec4'>): PartWriter {
  const operands = operandsOf(inst);
  return (part, element) => s.part(operands[element]!, part);
}
