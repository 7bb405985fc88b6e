/** Values of strips between regions: in the record area, those of one thread beside each other's, and those that a strip shares once for each strip. */
import { lanesOf, type Value } from '../../../ir/index.ts';
import { laneBytes } from '../analysis/plan.ts';
import { type LaneGroup, longOf, maskPart, numberOf, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';

/** Where the records of the strip are. */
export function startRecords({ code, frame, plan, host: { globals } }: LaneGroup): void {
  for (const [local, shift] of [
    [frame.record4, 2],
    [frame.record8, 3],
  ] as const) {
    code.at('local.get', frame.first);
    code.i32(shift);
    code.op('i32.shl');
    code.at('global.get', globals.records);
    code.op('i32.add');
    code.at('local.set', local);
  }
  code.at('local.get', frame.first);
  code.i32(plan.lanes / 4);
  code.op('i32.div_u');
  code.i32(1);
  code.op('i32.shl');
  code.at('global.get', globals.records);
  code.op('i32.add');
  code.at('local.set', frame.recordShared);
}

interface Place {
  readonly local: number;
  readonly offset: number;
}

/** Where a vector of a value stands in the records, or what a strip shares of it. */
function placeOf(s: LaneGroup, value: Value, element: number, part: number): Place {
  const { plan, frame } = s;
  const slot = plan.slots.get(value)!;
  if (shapeOf(s, value) < 2) return { local: frame.recordShared, offset: slot + element * 8 * plan.strips };
  const each = (laneBytes(plan, value) / lanesOf(plan.kernel.insts[value]!.type)) * plan.padded;
  return { local: longOf(s, value) ? frame.record8 : frame.record4, offset: slot + element * each + 16 * part };
}

const accessName = (s: LaneGroup, value: Value, what: 'load' | 'store'): string =>
  shapeOf(s, value) < 2 ? `${numberOf(s, value)}.${what}` : `v128.${what}`;

/** Takes a value from the records. */
export function take(values: GroupValues, value: Value): void {
  const s = values.strip;
  values.eachPart(value, (element, part) => {
    const { local, offset } = placeOf(s, value, element, part);
    s.code.at('local.get', local);
    s.code.access(accessName(s, value, 'load'), 4, offset);
    if (shapeOf(s, value) < 2) values.setScalar(value, element);
    else values.set(value, element, part);
  });
}

/** Puts a value into the records. Of a strip whose lanes go apart, other lanes keep what they have there. */
export function save(values: GroupValues, value: Value): void {
  const s = values.strip;
  values.eachPart(value, (element, part) => {
    const { local, offset } = placeOf(s, value, element, part);
    s.code.at('local.get', local);
    if (shapeOf(s, value) < 2) values.pushElement(value, element);
    else s.element(value, element, part);
    if (s.mask && s.plan.shapes.barrierDivergence === 'lanes') {
      s.code.at('local.get', local);
      s.code.access('v128.load', 4, offset);
      maskPart(s, part, longOf(s, value));
      s.code.op('v128.bitselect');
    }
    s.code.access(accessName(s, value, 'store'), 4, offset);
  });
}
