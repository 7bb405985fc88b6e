/**
 * Rendezvous: collectives by member masks in the scalar compiler. A thread that arrives leaves its operands, its mask and the kind of the
 * collective in its record. It continues once all live threads of its mask have brought the same mask and kind, wherever they are.
 * Source: PTX ISA 9.0, 9.7.9.6 and 9.7.13, "causes the executing thread to wait until all non-exited threads corresponding to membermask have
 * executed" the instruction.
 */
import { type Fold, folds, type Kernel, type MaskedInst, type Value } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import { atBarrier, atRendezvous, exited, type KernelContext, writeStateAddress } from '../codegen/kernel-code.ts';
import { eachParticipant, eachThread, type WarpLocals, writeHasLane } from '../codegen/lane-loop.ts';
import { exchangeFields, type Plan } from '../codegen/plan.ts';
import type { Rendezvous } from '../codegen/regions.ts';
import type { Values } from '../codegen/values.ts';
import { writeFold } from './collective-function.ts';

/** Numbers of the kinds of collectives, which must be equal for threads to meet. */
const kinds = { shuffle: 0, ballot: 1, fence: 2, convergence: 3, firstFold: 4 } as const;

function kindOf(inst: MaskedInst): number {
  if (inst.op === 'shufflesync') return kinds.shuffle;
  if (inst.op === 'ballotsync') return kinds.ballot;
  if (inst.op === 'warpsync') return inst.isFence ? kinds.fence : kinds.convergence;
  return kinds.firstFold + folds.indexOf(inst.fold);
}

const maskedOf = ({ insts }: Kernel, { value }: Rendezvous): MaskedInst => insts[value] as MaskedInst;

/** The locals that an arriving thread needs. */
interface Arrival {
  readonly context: KernelContext;
  readonly code: Code;
  /** The address of the thread record. */
  readonly record: number;
}

/** Stores what a thread brings to a rendezvous; `next` is the region that it continues with. */
export function writeExchange({ context, code, record }: Arrival, values: Values, rendezvous: Rendezvous, next: number): void {
  const { plan } = context;
  const inst = maskedOf(plan.kernel, rendezvous);
  const put = (field: keyof typeof exchangeFields, push: () => void): void => {
    code.at('local.get', record);
    push();
    code.access('i32.store', 4, plan.exchange! + exchangeFields[field]);
  };
  if ('a' in inst) put('a', () => values.push(inst.a));
  if (inst.op === 'shufflesync') put('b', () => values.push(inst.b));
  put('members', () => values.push(inst.members));
  put('kind', () => code.i32(kindOf(inst)));
  put('result', () => code.i32(resultOffset(plan, rendezvous.value)));
  put('next', () => code.i32(next));
}

/** Where the result of a rendezvous goes in the record of a thread. */
const resultOffset = (plan: Plan, value: Value): number => plan.slots.get(value) ?? plan.exchange! + exchangeFields.unread;

interface Frame extends WarpLocals {
  readonly context: KernelContext;
  readonly code: Code;
  /** The thread whose rendezvous is examined, and its mask and kind. */
  readonly waiting: number;
  readonly members: number;
  readonly kind: number;
  /** The lanes that have not exited. */
  readonly live: number;
  readonly isComplete: number;
  readonly sum: number;
  readonly count: number;
}

/**
 * Writes a function that completes every rendezvous of a warp for which all threads are there. Its parameters are the first thread of the warp and
 * the end of its threads; the result is the number of completed rendezvous.
 */
export function writeRendezvous(context: KernelContext): number {
  const { index, code } = context.module.fn({ params: ['i32', 'i32'], results: ['i32'] });
  const local = (): number => code.local('i32');
  const [thread, mask, waiting, members, kind, live] = [local(), local(), local(), local(), local(), local()];
  const [isComplete, sum, count] = [local(), local(), local()];
  const frame: Frame = { context, code, base: 0, last: 1, thread, mask, waiting, members, kind, live, isComplete, sum, count };
  writeLive(frame);
  eachThread(code, { ...frame, thread: waiting }, () => {
    writeIsWaiting(frame, waiting);
    code.open('if');
    for (const [field, to] of [
      ['members', members],
      ['kind', kind],
    ] as const) {
      pushField(frame, waiting, field);
      code.at('local.set', to);
    }
    writeNamed(frame);
    writeIsComplete(frame);
    code.at('local.get', isComplete);
    code.open('if');
    writeCompletion(frame);
    code.end();
    code.end();
  });
  code.at('local.get', count);
  return index;
}

/** Sets `live` to the lanes that have not exited. */
function writeLive(frame: Frame): void {
  const { context, code, live, thread } = frame;
  code.i32(0);
  code.at('local.set', live);
  eachThread(code, frame, () => {
    code.at('local.get', live);
    writeStateAddress(context, code, thread);
    code.access('i32.load', 4);
    code.i32(exited);
    code.op('i32.ne');
    code.at('local.get', thread);
    code.op('i32.shl');
    code.op('i32.or');
    code.at('local.set', live);
  });
}

/** Pushes whether a thread waits at a rendezvous. */
function writeIsWaiting({ context, code }: Frame, thread: number): void {
  writeStateAddress(context, code, thread);
  code.access('i32.load', 4);
  code.i32(atRendezvous | atBarrier | (1 << 31));
  code.op('i32.and');
  code.i32(atRendezvous);
  code.op('i32.eq');
}

/** Pushes the address of the record of a thread. */
function pushRecord({ context, code }: Frame, pushThread: () => void): void {
  pushThread();
  code.i32(context.plan.recordBytes);
  code.op('i32.mul');
  code.at('global.get', context.host.globals.records);
  code.op('i32.add');
}

function pushField(frame: Frame, thread: number, field: keyof typeof exchangeFields): void {
  pushRecord(frame, () => frame.code.at('local.get', thread));
  frame.code.access('i32.load', 4, frame.context.plan.exchange! + exchangeFields[field]);
}

/** Sets `mask` to the live lanes that the mask names, and the thread itself. */
function writeNamed({ code, members, live, waiting, mask }: Frame): void {
  code.at('local.get', members);
  code.at('local.get', live);
  code.op('i32.and');
  code.i32(1);
  code.at('local.get', waiting);
  code.op('i32.shl');
  code.op('i32.or');
  code.at('local.set', mask);
}

/** Sets `isComplete` to whether all named lanes wait with the same mask and kind, and name themselves. */
function writeIsComplete(frame: Frame): void {
  const { code, isComplete, members, kind, waiting, thread } = frame;
  writeHasLane(code, members, waiting);
  code.at('local.set', isComplete);
  eachParticipant(code, frame, () => {
    code.at('local.get', isComplete);
    writeIsWaiting(frame, thread);
    for (const [field, wanted] of [
      ['members', members],
      ['kind', kind],
    ] as const) {
      pushField(frame, thread, field);
      code.at('local.get', wanted);
      code.op('i32.eq');
      code.op('i32.and');
    }
    code.op('i32.and');
    code.at('local.set', isComplete);
  });
}

/** Stores the results of a rendezvous, and lets its threads continue. */
function writeCompletion(frame: Frame): void {
  const { context, code, count, thread } = frame;
  context.sanitizer?.met(code, frame, frame.members);
  for (const [kind, write] of completionsOf(context.plan)) {
    code.at('local.get', frame.kind);
    code.i32(kind);
    code.op('i32.eq');
    code.open('if');
    write(frame);
    code.end();
  }
  eachParticipant(code, frame, () => {
    writeStateAddress(context, code, thread);
    pushField(frame, thread, 'next');
    code.access('i32.store', 4);
  });
  code.at('local.get', count);
  code.i32(1);
  code.op('i32.add');
  code.at('local.set', count);
}

type Completion = (frame: Frame) => void;

/** What completes each kind of rendezvous that a kernel has. */
function completionsOf({ kernel, regions }: Plan): Map<number, Completion> {
  const found = new Map<number, Completion>();
  for (const rendezvous of regions.rendezvous) {
    const inst = maskedOf(kernel, rendezvous);
    const completion = completionOf(inst);
    if (completion) found.set(kindOf(inst), completion);
  }
  return found;
}

function completionOf(inst: MaskedInst): Completion | undefined {
  if (inst.op === 'shufflesync') return writeShuffle;
  if (inst.op === 'ballotsync') return writeBallot;
  if (inst.op === 'reducesync') return (frame) => writeReduction(frame, inst.fold);
  return inst.isFence ? ({ context, code, ...locals }) => context.sanitizer?.synchronized(code, locals) : undefined;
}

/** Stores a result of the current thread where it wants it. */
function writeResult(frame: Frame, push: () => void): void {
  const { code, thread } = frame;
  pushRecord(frame, () => code.at('local.get', thread));
  pushField(frame, thread, 'result');
  code.op('i32.add');
  push();
  code.access('i32.store', 4);
}

/** The operand of the source lane; zero where that lane is not in the mask. */
function writeShuffle(frame: Frame): void {
  const { code, base, mask, sum, thread } = frame;
  eachParticipant(code, frame, () =>
    writeResult(frame, () => {
      pushField(frame, thread, 'b');
      code.at('local.tee', sum);
      code.i32(32);
      code.op('i32.lt_u');
      writeHasLane(code, mask, sum);
      code.op('i32.and');
      code.open('if', 'i32');
      pushRecord(frame, () => {
        code.at('local.get', base);
        code.at('local.get', sum);
        code.op('i32.add');
      });
      code.access('i32.load', 4, frame.context.plan.exchange! + exchangeFields.a);
      code.else();
      code.i32(0);
      code.end();
    }),
  );
}

function writeBallot(frame: Frame): void {
  const { code, thread, sum } = frame;
  code.i32(0);
  code.at('local.set', sum);
  eachParticipant(code, frame, () => {
    code.at('local.get', sum);
    pushField(frame, thread, 'a');
    code.at('local.get', thread);
    code.op('i32.shl');
    code.op('i32.or');
    code.at('local.set', sum);
  });
  eachParticipant(code, frame, () => writeResult(frame, () => code.at('local.get', sum)));
}

/** Folds from the operand of the waiting thread on, which is the lowest of its mask: it starts with its own and skips it. */
function writeReduction(frame: Frame, fold: Fold): void {
  const { code, context, thread, waiting, sum } = frame;
  pushField(frame, waiting, 'a');
  code.at('local.set', sum);
  eachParticipant(code, frame, () => {
    code.at('local.get', thread);
    code.at('local.get', waiting);
    code.op('i32.ne');
    code.open('if');
    code.at('local.get', sum);
    pushField(frame, thread, 'a');
    writeFold(context, code, fold);
    code.at('local.set', sum);
    code.end();
  });
  eachParticipant(code, frame, () => writeResult(frame, () => code.at('local.get', sum)));
}
