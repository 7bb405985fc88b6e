/**
 * One number of a strip: what its lanes share, or what one lane has. The rules are those of the one-lane path; here is what differs where
 * addresses are words.
 */
import { bytesOf, elementOf, type InstOf, isPointer, isVector, lanesOf, spaceOf, type Value } from '../../../ir/index.ts';
import type { Emitter } from '../../codegen/emitter.ts';
import { loadOf } from '../../scalar/memory-rules.ts';
import { ruleOf } from '../../scalar/rules.ts';
import { type LaneGroup, longOf, numberOf, typeOf } from '../lanes/lane-group.ts';
import { pushWindow } from '../lanes/leaf-values.ts';

/** Memory that is nobody's, at its start. An index below it, less this, is so large that with the same offset every access traps. */
export const bias = 65536;

/** Scratch locals of the rules of the one-lane path are apart from those of the strips. */
const ofRules = 200;

/** Puts a value on the stack, worked out from its operands: for all lanes, or for one, where `index` pushes the index that an atomic is at. */
export function writeScalar(s: LaneGroup, value: Value, lane?: number, index?: () => void): void {
  const inst = s.kernel.insts[value]!;
  const push = (operand: Value): void => (lane === undefined ? s.scalar(operand) : s.lane(operand, 0, lane));
  switch (inst.op) {
    case 'ptradd':
      push(inst.a);
      push(inst.b);
      return s.code.op(`${numberOf(s, value)}.add`);
    case 'ptrtoint':
      push(inst.a);
      return addWindow(s, inst.a, 'sub', lane);
    case 'inttoptr':
      push(inst.a);
      return addWindow(s, value, 'add', lane);
    case 'load':
      return loadScalar(s, inst, () => push(inst.addr));
    case 'fma':
      if (inst.type !== 'f32' || s.fma === 'exact') break;
      push(inst.a);
      push(inst.b);
      s.code.op('f32.mul');
      push(inst.c);
      return s.code.op('f32.add');
    case 'select':
      if (isVector(inst.type)) break;
      push(inst.a);
      push(inst.b);
      push(inst.cond);
      return s.code.op('select');
  }
  ruleOf(inst.op)({ ...emitterFor(s, lane), index }, inst as never, value);
}

/** What the rules of the one-lane path see of a strip. */
export function emitterFor(s: LaneGroup, lane?: number): Emitter {
  const push = (value: Value, element: number): void => {
    if (lane === undefined && isVector(typeOf(s, value))) return s.lane(value, element, 0);
    if (lane === undefined) s.scalar(value);
    else s.lane(value, element, lane);
    // The rules take addresses of 64 bits.
    if (isPointer(typeOf(s, value)) && !longOf(s, value)) s.code.op('i64.extend_i32_u');
  };
  return {
    kernel: s.kernel,
    code: s.code,
    host: s.host,
    helper: s.helper,
    free: (value) => push(value, 0),
    window: (space) => {
      pushWindow(s, space);
      s.code.op('i64.extend_i32_u');
    },
    values: {
      push: (value) => push(value, 0),
      pushLane: push,
      define: (_, write) => write(),
      set: () => {},
      scratch: (type, which = 0) => s.temp(type, ofRules + which),
    },
  };
}

/** An address of shared, constant or local memory is, as an integer, its offset in the window. */
function addWindow(s: LaneGroup, pointer: Value, op: 'add' | 'sub', lane: number | undefined): void {
  const type = typeOf(s, pointer);
  const space = isPointer(type) ? spaceOf(type) : 'global';
  if (space !== 'shared' && space !== 'constant' && space !== 'local') return;
  pushWindow(s, space);
  if (space === 'local' && lane) {
    s.code.i32(lane * s.plan.windows.local);
    s.code.op('i32.add');
  }
  if (longOf(s, pointer)) s.code.op('i64.extend_i32_u');
  s.code.op(`${longOf(s, pointer) ? 'i64' : 'i32'}.${op}`);
}

/** What is on the stack, an address in words or longs, less the bias: to be accessed with that as the offset. */
export function biased(s: LaneGroup, addr: Value): void {
  if (longOf(s, addr)) {
    const address = s.temp('i64', 1);
    s.code.at('local.tee', address);
    s.code.op('i32.wrap_i64');
    s.code.i32(0);
    s.code.at('local.get', address);
    s.code.i64(0xffff_0000n);
    s.code.op('i64.lt_u');
    s.code.op('select');
  }
  s.code.i32(bias);
  s.code.op('i32.sub');
}

/** One load for all lanes, element by element. */
function loadScalar(s: LaneGroup, inst: InstOf<'load'>, push: () => void): void {
  const element = elementOf(inst.type);
  const name = loadOf(element);
  push();
  biased(s, inst.addr);
  const lanes = lanesOf(inst.type);
  if (lanes === 1) return s.code.access(name, 1, bias);
  const base = s.temp('i32', 2);
  s.code.at('local.set', base);
  for (let lane = 0; lane < lanes; lane++) {
    s.code.at('local.get', base);
    s.code.access(name, 1, bias + lane * bytesOf(element));
  }
}
