/**
 * Scalars of a lane group: uniform values, and ops without a vector rule, which are emitted per lane. The rules are those of the scalar compiler;
 * this file has the differences for 32-bit addresses.
 */
import { bytesOf, elementOf, type InstOf, isPointer, isVector, lanesOf, spaceOf, type Value } from '../../../ir/index.ts';
import type { Emitter } from '../../codegen/emitter.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { loadOf } from '../../scalar/memory-rules.ts';
import { ruleOf } from '../../scalar/rules.ts';
import { type LaneGroup, longOf, numberOf, typeOf } from '../lanes/lane-group.ts';
import { pushWindow } from '../lanes/leaf-values.ts';

/**
 * Bytes at the start of memory that are unmapped by convention. Accesses subtract this bias from the address and add it as the static offset, so
 * an address below it wraps to an index at which every access traps.
 */
export const bias = 65536;

/** Emits the instruction of a value as a scalar: for all lanes, or for one lane. `index` pushes the memory index of an atomic. */
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
      return addWindow(s, inst.a, 'sub');
    case 'inttoptr':
      push(inst.a);
      return addWindow(s, value, 'add');
    case 'load':
      return loadScalar(s, inst, () => push(inst.addr));
    case 'fma':
      // No scalar instruction fuses, so that only two roundings are cheaper than the rule.
      if ((inst.type !== 'f32' && inst.type !== 'f64') || s.fma !== 'fast') break;
      push(inst.a);
      push(inst.b);
      s.code.op(`${inst.type}.mul`);
      push(inst.c);
      return s.code.op(`${inst.type}.add`);
    case 'select':
      if (isVector(inst.type)) break;
      push(inst.a);
      push(inst.b);
      push(inst.cond);
      return s.code.op('select');
  }
  ruleOf(inst.op)({ ...emitterFor(s, lane), index }, inst as never, value);
}

/** The emitter through which a rule of the scalar compiler sees a lane group, or one lane of it. */
export function emitterFor(s: LaneGroup, lane?: number): Emitter {
  const push = (value: Value, element: number): void => {
    if (lane === undefined && isVector(typeOf(s, value))) return s.lane(value, element, 0);
    if (lane === undefined) s.scalar(value);
    else s.lane(value, element, lane);
    // The scalar compiler's rules take 64-bit addresses.
    if (isPointer(typeOf(s, value)) && !longOf(s, value)) s.code.op('i64.extend_i32_u');
  };
  return {
    kernel: s.kernel,
    code: s.code,
    host: s.host,
    helper: s.helper,
    scratch: s.scratch,
    leaf: (value) => push(value, 0),
    window: (space) => {
      pushWindow(s, space);
      s.code.op('i64.extend_i32_u');
    },
    values: {
      push: (value) => push(value, 0),
      pushLane: push,
      define: (_, write) => write(),
      set: () => {},
    },
  };
}

/**
 * Converts between pointers and integers: as an integer, an address of shared, constant or local memory is its offset in the window. For all
 * lanes: where these have local memory, they differ, and a vector rule converts them.
 */
function addWindow(s: LaneGroup, pointer: Value, op: 'add' | 'sub'): void {
  const type = typeOf(s, pointer);
  const space = isPointer(type) ? spaceOf(type) : 'global';
  if (space !== 'shared' && space !== 'constant' && space !== 'local') return;
  pushWindow(s, space);
  if (longOf(s, pointer)) s.code.op('i64.extend_i32_u');
  s.code.op(`${longOf(s, pointer) ? 'i64' : 'i32'}.${op}`);
}

/** Subtracts the bias from the 32-bit or 64-bit address on the stack; the access has to add it as the static offset. */
export function biased(s: LaneGroup, addr: Value): void {
  if (longOf(s, addr))
    withScratch(s, 'i64', 1, ([address]) => {
      s.code.at('local.tee', address);
      s.code.op('i32.wrap_i64');
      s.code.i32(0);
      s.code.at('local.get', address);
      s.code.i64(0xffff_0000n);
      s.code.op('i64.lt_u');
      s.code.op('select');
    });
  s.code.i32(bias);
  s.code.op('i32.sub');
}

/** A uniform load, element by element. */
function loadScalar(s: LaneGroup, inst: InstOf<'load'>, push: () => void): void {
  const element = elementOf(inst.type);
  const name = loadOf(element);
  push();
  biased(s, inst.addr);
  const lanes = lanesOf(inst.type);
  if (lanes === 1) return s.code.access(name, 1, bias);
  withScratch(s, 'i32', 1, ([base]) => {
    s.code.at('local.set', base);
    for (let lane = 0; lane < lanes; lane++) {
      s.code.at('local.get', base);
      s.code.access(name, 1, bias + lane * bytesOf(element));
    }
  });
}
