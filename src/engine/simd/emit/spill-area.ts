/**
 * The spill area: values that are live across barriers. A varying value has the lanes of all threads next to each other, a uniform or
 * affine one has a slot for each lane group.
 */
import { lanesOf, type Value, varying } from '../../../ir/index.ts';
import type { NameWith } from '../../../wasm/index.ts';
import { laneBytes } from '../analysis/plan.ts';
import { type LaneGroup, longOf, maskPart, numberOf, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';

/** Sets the base addresses of the group's slots. */
export function setSlotBases({ code, frame, plan, host: { globals } }: LaneGroup): void {
  for (const [local, shift] of [
    [frame.slots4, 2],
    [frame.slots8, 3],
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
  code.at('local.set', frame.uniformSlots);
}

interface Place {
  readonly local: number;
  readonly offset: number;
}

/** The address of a vector of a value, or of its scalar. */
function placeOf(s: LaneGroup, value: Value, element: number, part: number): Place {
  const { plan, frame } = s;
  const slot = plan.slots.get(value)!;
  if (shapeOf(s, value) !== varying) return { local: frame.uniformSlots, offset: slot + element * 8 * plan.groups };
  const each = (laneBytes(plan, value) / lanesOf(plan.kernel.insts[value]!.type)) * plan.padded;
  return { local: longOf(s, value) ? frame.slots8 : frame.slots4, offset: slot + element * each + 16 * part };
}

const accessName = (s: LaneGroup, value: Value, what: 'load' | 'store'): NameWith<'memory'> =>
  shapeOf(s, value) !== varying ? `${numberOf(s, value)}.${what}` : `v128.${what}`;

/** Loads a value from the spill area. */
export function take(values: GroupValues, value: Value): void {
  const s = values.group;
  values.eachPart(value, (element, part) => {
    const { local, offset } = placeOf(s, value, element, part);
    s.code.at('local.get', local);
    s.code.access(accessName(s, value, 'load'), 4, offset);
    if (shapeOf(s, value) !== varying) values.setScalar(value, element);
    else values.set(value, element, part);
  });
}

/** Spills a value. With barrier divergence inside a group inactive lanes keep the old value. */
export function save(values: GroupValues, value: Value): void {
  const s = values.group;
  values.eachPart(value, (element, part) => {
    const { local, offset } = placeOf(s, value, element, part);
    s.code.at('local.get', local);
    if (shapeOf(s, value) !== varying) values.pushElement(value, element);
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
