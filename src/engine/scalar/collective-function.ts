/**
 * The function of a warp collective (shuffle, vote, reduction) in the scalar compiler: for each warp it reads the participants' operands from
 * their thread records and stores each participant's result there. A thread participates if its state is that of the collective; under the
 * schedule `block` all threads of a warp do.
 */
import { type Fold, type InstOf, type Kernel, neutralOf, type Value } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import { type KernelContext, writeStateAddress, writeWarpEnd } from '../codegen/kernel-code.ts';
import { eachParticipant, eachThread, writeHasLane } from '../codegen/lane-loop.ts';
import type { Collective } from '../codegen/regions.ts';
import { heldAs } from '../codegen/values.ts';

interface Frame {
  readonly context: KernelContext;
  readonly code: Code;
  readonly kernel: Kernel;
  readonly collective: Collective;
  /** Parameter: the end of the threads. */
  readonly end: number;
  /** The first thread of the warp (a parameter), the current thread, and the end of the warp's threads. */
  readonly base: number;
  readonly thread: number;
  readonly last: number;
  /** The participating lanes. */
  readonly mask: number;
  /** The result of a ballot, the partial result of a reduction, or the source lane of a shuffle. */
  readonly sum: number;
}

/** Writes the function of a collective, for the threads from its first parameter to its second (exclusive). */
export function writeCollective(context: KernelContext, collective: Collective): number {
  const { index, code } = context.module.fn({ params: ['i32', 'i32'], results: [] });
  const [thread, last, mask, sum] = [code.local('i32'), code.local('i32'), code.local('i32'), code.local('i32')];
  const frame: Frame = { context, code, kernel: context.plan.kernel, collective, end: 1, base: 0, thread, last, mask, sum };
  code.open('loop');
  writeWarpEnd(code, frame.base, last, () => code.at('local.get', frame.end));
  code.i32(0);
  code.at('local.set', mask);
  eachThread(frame.code, frame, () => writeParticipant(frame));
  if (frame.kernel.insts[collective.values[0]!]!.op === 'syncwarp') context.sanitizer?.synchronized(code, frame);
  writeResults(frame);
  code.at('local.get', last);
  code.at('local.tee', frame.base);
  code.at('local.get', frame.end);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
  if (context.plan.regions.schedule === 'block') {
    code.i32(context.plan.regions.byEntry.get(collective.to)!.id);
    code.at('global.set', context.phase);
  }
  return index;
}

/** Adds the thread's lane to the mask if it participates. */
function writeParticipant({ context, code, collective, thread, mask }: Frame): void {
  code.at('local.get', mask);
  if (context.plan.regions.schedule === 'block') code.i32(1);
  else {
    writeStateAddress(context, code, thread);
    code.access('i32.load', 4);
    code.i32(collective.id);
    code.op('i32.eq');
  }
  code.at('local.get', thread);
  code.op('i32.shl');
  code.op('i32.or');
  code.at('local.set', mask);
}

/** Replaces a thread's number on the stack by the address of its record. */
function writeRecordAddress({ context, code }: Frame): void {
  code.i32(context.plan.recordBytes);
  code.op('i32.mul');
  code.at('global.get', context.host.globals.records);
  code.op('i32.add');
}

function writeResults(frame: Frame): void {
  const { kernel, collective } = frame;
  const [value] = collective.values as readonly [Value];
  const inst = kernel.insts[value]!;
  if (inst.op === 'mma') return writeProducts(frame);
  if (inst.op === 'ballot') writeBallot(frame, value);
  else if (inst.op === 'reduce') writeReduction(frame, value, inst);
  eachParticipant(frame.code, frame, () => {
    if (inst.op === 'shuffle') for (const each of collective.values) writeResult(frame, each, () => writeShuffled(frame, each));
    else writeResult(frame, value, () => frame.code.at('local.get', frame.sum));
    writeNextState(frame);
  });
}

/** Stores the thread's result in its slot, if a later region uses it. */
function writeResult(frame: Frame, value: Value, push: () => void): void {
  const { context, code, kernel, thread } = frame;
  const slot = context.plan.slots.get(value);
  if (slot === undefined) return;
  code.at('local.get', thread);
  writeRecordAddress(frame);
  push();
  code.access(`${heldAs(kernel.insts[value]!.type)}.store`, 4, slot);
}

/** The thread continues with the region behind the collective. */
function writeNextState({ context, code, collective, thread }: Frame): void {
  if (context.plan.regions.schedule === 'block') return;
  writeStateAddress(context, code, thread);
  code.i32(context.plan.regions.byEntry.get(collective.to)!.id);
  code.access('i32.store', 4);
}

/** Replaces a thread's number on the stack by that thread's operand number `which`. */
function writeOperand(frame: Frame, value: Value, which: number): void {
  const { operand, offset } = frame.context.plan.operandSlots.get(value)![which]!;
  writeRecordAddress(frame);
  frame.code.access(`${heldAs(frame.kernel.insts[operand]!.type)}.load`, 4, offset);
}

/** Pushes the source lane's operand; zero where the source lane does not participate. */
function writeShuffled(frame: Frame, value: Value): void {
  const { code, kernel, base, thread, mask, sum } = frame;
  const type = heldAs(kernel.insts[value]!.type);
  code.at('local.get', thread);
  writeOperand(frame, value, 1);
  code.at('local.tee', sum);
  code.i32(32);
  code.op('i32.lt_u');
  writeHasLane(code, mask, sum);
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
  eachParticipant(frame.code, frame, () => {
    code.at('local.get', sum);
    code.at('local.get', thread);
    writeOperand(frame, value, 0);
    code.at('local.get', thread);
    code.op('i32.shl');
    code.op('i32.or');
    code.at('local.set', sum);
  });
}

function writeReduction(frame: Frame, value: Value, { fold }: InstOf<'reduce'>): void {
  const { code, thread, sum, context } = frame;
  code.i32(neutralOf[fold]);
  code.at('local.set', sum);
  eachParticipant(frame.code, frame, () => {
    code.at('local.get', sum);
    code.at('local.get', thread);
    writeOperand(frame, value, 0);
    writeFold(context, code, fold);
    code.at('local.set', sum);
  });
}

/** Products of matrices, by functions that find registers in the thread records. */
function writeProducts(frame: Frame): void {
  const { context, code, kernel, collective, base, mask, sum } = frame;
  const { operandSlots } = context.plan;
  code.at('local.get', base);
  writeRecordAddress(frame);
  code.at('local.set', sum);
  // Where another product of the sync point reads a result.
  const read = new Map(
    collective.values.flatMap((value) => operandSlots.get(value)!.map(({ operand, offset }) => [operand, offset] as const)),
  );
  for (const value of collective.values) {
    const result = context.plan.slots.get(value) ?? read.get(value);
    if (result === undefined) continue;
    code.at('local.get', sum);
    code.at('local.get', mask);
    for (const { offset } of operandSlots.get(value)!) code.i32(offset);
    code.i32(result);
    code.at('call', context.mma((kernel.insts[value] as InstOf<'mma'>).form));
  }
  eachParticipant(code, frame, () => writeNextState(frame));
}

/** Replaces two numbers on the stack by one. */
export function writeFold({ helper }: Pick<KernelContext, 'helper'>, code: Code, fold: Fold): void {
  if (fold === 'smin' || fold === 'smax' || fold === 'umin' || fold === 'umax') code.at('call', helper(`${fold}32`));
  else code.op(`i32.${fold}`);
}
