/**
 * One function per meeting: for each warp, what its threads brought is read from their records, and what each gets is put
 * there. Threads are told by their state; where a block does everything together all of a warp take part.
 */
import type { InstOf, Kernel, Value } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import { type Shared, writeStateAddress, writeWarpEnd } from '../codegen/kernel-code.ts';
import { eachTaking, eachThread, writeHolds } from '../codegen/lane-loop.ts';
import type { Collective } from '../codegen/regions.ts';
import { heldAs } from '../codegen/values.ts';

interface Frame {
  readonly shared: Shared;
  readonly code: Code;
  readonly kernel: Kernel;
  readonly meeting: Collective;
  /** Parameter: the end of the threads that are looked at. */
  readonly end: number;
  /** First thread of the warp, the thread at hand, and the first of the next warp. */
  readonly base: number;
  readonly thread: number;
  readonly last: number;
  /** Lanes that take part. */
  readonly mask: number;
  /** A ballot, or a reduction so far. */
  readonly sum: number;
}

/** Writes the function of a meeting, for threads from its first parameter to its second. */
export function writeCollective(shared: Shared, meeting: Collective): number {
  const { index, code } = shared.module.fn({ params: ['i32', 'i32'], results: [] });
  const [thread, last, mask, sum] = [code.local('i32'), code.local('i32'), code.local('i32'), code.local('i32')];
  const frame: Frame = { shared, code, kernel: shared.plan.kernel, meeting, end: 1, base: 0, thread, last, mask, sum };
  code.open('loop');
  writeWarpEnd(code, frame.base, last, () => code.at('local.get', frame.end));
  code.i32(0);
  code.at('local.set', mask);
  eachThread(frame.code, frame, () => writeTaking(frame));
  shared.sanitizer?.met(code, meeting, frame);
  writeAnswers(frame);
  code.at('local.get', last);
  code.at('local.tee', frame.base);
  code.at('local.get', frame.end);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
  if (shared.plan.regions.schedule === 'block') {
    code.i32(shared.plan.regions.byEntry.get(meeting.to)!.id);
    code.at('global.set', shared.phase);
  }
  return index;
}

/** Adds the thread's lane to the mask where it waits here. */
function writeTaking({ shared, code, meeting, thread, mask }: Frame): void {
  code.at('local.get', mask);
  if (shared.plan.regions.schedule === 'block') code.i32(1);
  else {
    writeStateAddress(shared, code, thread);
    code.access('i32.load', 4);
    code.i32(meeting.id);
    code.op('i32.eq');
  }
  code.at('local.get', thread);
  code.op('i32.shl');
  code.op('i32.or');
  code.at('local.set', mask);
}

/** Address of the record of the thread whose number is on the stack. */
function writeRecord({ shared, code }: Frame): void {
  code.i32(shared.plan.recordBytes);
  code.op('i32.mul');
  code.at('global.get', shared.host.globals.records);
  code.op('i32.add');
}

function writeAnswers(frame: Frame): void {
  const { kernel, meeting } = frame;
  const [value] = meeting.values as readonly [Value];
  const inst = kernel.insts[value]!;
  if (inst.op === 'ballot') writeBallot(frame, value);
  else if (inst.op === 'reduce') writeReduction(frame, value, inst);
  eachTaking(frame.code, frame, () => {
    if (inst.op === 'shuffle') for (const each of meeting.values) writeAnswer(frame, each, () => writeShuffled(frame, each));
    else writeAnswer(frame, value, () => frame.code.at('local.get', frame.sum));
    writeOnward(frame);
  });
}

/** Puts what the thread gets where the next region finds it; nobody may want it. */
function writeAnswer(frame: Frame, value: Value, push: () => void): void {
  const { shared, code, kernel, thread } = frame;
  const slot = shared.plan.slots.get(value);
  if (slot === undefined) return;
  code.at('local.get', thread);
  writeRecord(frame);
  push();
  code.access(`${heldAs(kernel.insts[value]!.type)}.store`, 4, slot);
}

function writeOnward({ shared, code, meeting, thread }: Frame): void {
  if (shared.plan.regions.schedule === 'block') return;
  writeStateAddress(shared, code, thread);
  code.i32(shared.plan.regions.byEntry.get(meeting.to)!.id);
  code.access('i32.store', 4);
}

/** The operand `which` of what is done, of the thread whose number is on the stack. */
function writeOperand(frame: Frame, value: Value, which: number): void {
  const { operand, offset } = frame.shared.plan.operandSlots.get(value)![which]!;
  writeRecord(frame);
  frame.code.access(`${heldAs(frame.kernel.insts[operand]!.type)}.load`, 4, offset);
}

/** Zero of a lane that takes no part. */
function writeShuffled(frame: Frame, value: Value): void {
  const { code, kernel, base, thread, mask, sum } = frame;
  const type = heldAs(kernel.insts[value]!.type);
  code.at('local.get', thread);
  writeOperand(frame, value, 1);
  code.at('local.tee', sum);
  code.i32(32);
  code.op('i32.lt_u');
  writeHolds(code, mask, sum);
  code.op('i32.and');
  code.open('if', type);
  code.at('local.get', base);
  code.at('local.get', sum);
  code.op('i32.add');
  writeOperand(frame, value, 0);
  code.else();
  if (type === 'i64') code.i64(0n);
  else if (type === 'f64') code.f64(0n);
  else if (type === 'f32') code.f32(0);
  else code.i32(0);
  code.end();
}

function writeBallot(frame: Frame, value: Value): void {
  const { code, thread, sum } = frame;
  code.i32(0);
  code.at('local.set', sum);
  eachTaking(frame.code, frame, () => {
    code.at('local.get', sum);
    code.at('local.get', thread);
    writeOperand(frame, value, 0);
    code.at('local.get', thread);
    code.op('i32.shl');
    code.op('i32.or');
    code.at('local.set', sum);
  });
}

/** What a reduction starts from: of the values of no thread. */
const neutral = { add: 0, and: -1, or: 0, xor: 0, smin: 0x7fffffff, smax: -0x80000000, umin: -1, umax: 0 } as const;

function writeReduction(frame: Frame, value: Value, { fold }: InstOf<'reduce'>): void {
  const { code, thread, sum, shared } = frame;
  code.i32(neutral[fold]);
  code.at('local.set', sum);
  eachTaking(frame.code, frame, () => {
    code.at('local.get', sum);
    code.at('local.get', thread);
    writeOperand(frame, value, 0);
    if (fold === 'smin' || fold === 'smax' || fold === 'umin' || fold === 'umax') code.at('call', shared.helper(`${fold}32`));
    else code.op(`i32.${fold}`);
    code.at('local.set', sum);
  });
}
