/**
 * The function of a parallel region in the scalar compiler: a loop over threads of a block. Each thread loads the region's live-in values from
 * its record, runs to a sync point, to the entry of another region or to the end, and spills the values that the next region needs.
 */

import { type Block, bytesOf, type Edge, elementOf, isVector, type Kernel, lanesOf, type Value } from '../../ir/index.ts';
import type { Code, NumberType } from '../../wasm/index.ts';
import type { Emitter } from '../codegen/emitter.ts';
import { costOf, writeFuelCheck } from '../codegen/fuel.ts';
import type { ThreadOrderHooks } from '../codegen/hooks.ts';
import { atBarrier, atRendezvous, exited, type KernelContext, writeStateAddress, yielded } from '../codegen/kernel-code.ts';
import { hasStates, type Region } from '../codegen/regions.ts';
import { newScratch } from '../codegen/scratch.ts';
import { continuation, syncKindOf, syncPointOf, syncPointsOf } from '../codegen/split-at-sync-points.ts';
import { heldAs, regionValues, type Values } from '../codegen/values.ts';
import { type LeafFrame, writeLeaf, writeWindow } from './leaf-values.ts';
import { writeExchange } from './rendezvous-function.ts';
import { writeInstruction } from './rules.ts';
import { writeStructure } from './structure.ts';

/** Locals that every region function has. */
interface Frame extends LeafFrame {
  /** The position in the launch's thread order; the same local as `thread` if there is none. */
  readonly turn: number;
  /** Parameter: the end of the threads to run; the first is parameter 0. */
  readonly end: number;
  /** The address of the thread record. */
  readonly record: number;
  /** The value of the global of that name while the function runs. */
  readonly fuel: number;
  /** The fuel that a thread's start and each loop iteration take: the most work that lies between two of them. */
  readonly cost: number;
}

/** Writes the function of a region, which runs the threads from its first parameter to its second (exclusive). */
export function writeRegion(context: KernelContext, region: Region): { readonly index: number; readonly code: Code } {
  const { index, code } = context.module.fn({ params: ['i32', 'i32'], results: [] });
  const local = (): number => code.local('i32');
  const [x, y, z, record, fuel] = [local(), local(), local(), local(), local()];
  const frame: Frame = {
    context,
    code,
    x,
    y,
    z,
    thread: 0,
    turn: context.order ? local() : 0,
    end: 1,
    record,
    fuel,
    cost: costOf(context.plan.kernel, region),
  };
  context.sanitizer?.regionStart(code, region);
  if (context.order) writeOrder(frame, context.order);
  else writeThreadId(frame);
  code.at('global.get', context.fuel);
  code.at('local.set', fuel);
  code.open('loop');
  if (context.order) {
    context.order.threadOfTurn(code, frame.turn, frame.thread);
    writeThreadId(frame);
  }
  code.open('block');
  const next = code.depth;
  writeThreadStart(frame, region);
  writeBody(frame, region, () => code.at('br', code.depth - next));
  code.end();
  writeNextThread(frame);
  code.end();
  context.probe?.regionEnd(code);
  code.at('local.get', fuel);
  code.at('global.set', context.fuel);
  return { index, code };
}

/** Computes the launch's order of the threads. */
function writeOrder({ code, thread, turn, end }: Frame, order: ThreadOrderHooks): void {
  code.at('local.get', thread);
  code.at('local.tee', turn);
  code.at('local.get', end);
  order.arrange(code);
}

/** Sets x, y and z to the thread's index in the block. */
function writeThreadId({ context, code, x, y, z, thread }: Frame): void {
  const { globals } = context.host;
  const split = (from: number, limit: number, rest: number, quotient: number): void => {
    for (const [op, to] of [
      ['i32.rem_u', rest],
      ['i32.div_u', quotient],
    ] as const) {
      code.at('local.get', from);
      code.at('global.get', limit);
      code.op(op);
      code.at('local.set', to);
    }
  };
  split(thread, globals['ntid.x'], x, z);
  split(z, globals['ntid.y'], y, z);
}

/** Skips threads whose next step is not this region; stores the thread's number, which the report of a trap needs. */
function writeThreadStart(frame: Frame, region: Region): void {
  const { context, code, thread, record } = frame;
  const { plan, host } = context;
  code.at('local.get', thread);
  code.at('global.set', host.globals.thread);
  context.sanitizer?.threadStart(code, thread);
  checkFuel(frame);
  if (hasStates(plan.regions)) {
    writeStateAddress(context, code, thread);
    code.access('i32.load', 4);
    code.i32(region.id);
    code.op('i32.ne');
    code.at('br_if', 0);
  }
  context.probe?.threadStart(code, thread);
  if (plan.recordBytes === 0) return;
  code.at('local.get', thread);
  code.i32(plan.recordBytes);
  code.op('i32.mul');
  code.at('global.get', host.globals.records);
  code.op('i32.add');
  code.at('local.set', record);
}

/** Advances to the next thread; x varies fastest. */
function writeNextThread({ context, code, x, y, z, turn, end }: Frame): void {
  const { globals } = context.host;
  const increment = (local: number): void => {
    code.at('local.get', local);
    code.i32(1);
    code.op('i32.add');
    code.at('local.tee', local);
  };
  const wrapped = (local: number, limit: number): void => {
    increment(local);
    code.at('global.get', limit);
    code.op('i32.eq');
    code.open('if');
    code.i32(0);
    code.at('local.set', local);
  };
  if (!context.order) {
    wrapped(x, globals['ntid.x']);
    wrapped(y, globals['ntid.y']);
    increment(z);
    code.op('drop');
    code.end();
    code.end();
  }
  increment(turn);
  code.at('local.get', end);
  code.op('i32.lt_u');
  code.at('br_if', 0);
}

/** A region's function while the code of its blocks is written. */
interface Body {
  readonly frame: Frame;
  readonly region: Region;
  readonly e: Emitter;
  /** Jumps to the next thread. */
  nextThread(): void;
}

function writeBody(frame: Frame, region: Region, nextThread: () => void): void {
  const { context, code } = frame;
  const { kernel } = context.plan;
  const e = emitterOf(frame);
  const body: Body = { frame, region, e, nextThread };
  loadLiveIns(body);
  context.probe?.resumed(e, region);
  let at = kernel.blocks[region.entry]!;
  writeStructure(kernel, region, code, {
    body: (block) => {
      const computed = block.body.length - syncPointsOf(kernel, block).length;
      at = block;
      e.probe?.enter(e, block);
      for (const value of block.body.slice(0, computed)) writeInstruction(e, value);
      if (block.end.op !== 'condbr' || computed < block.body.length) e.probe?.leave(e, block);
    },
    transfer: ({ block, args }) => {
      for (const [i, arg] of args.entries()) pushWhole(e, arg, block.params[i]!);
      for (const param of [...block.params].reverse()) e.values.set(param);
    },
    condition: (value) => {
      e.values.push(value);
      e.probe?.decide(e, at);
    },
    leave: (block) => leaveAtEnd(body, block),
    isLast: (block) => syncPointOf(kernel, block) !== undefined,
    leaveBy: (edge) => leaveByEdge(body, edge),
    turn: () => checkFuel(frame),
  });
}

function emitterOf(frame: Frame): Emitter {
  const { context, code } = frame;
  const { plan, host, helper, sanitizer, probe, isFlushing } = context;
  const leaf = (value: Value): void => writeLeaf(frame, value);
  return {
    kernel: plan.kernel,
    code,
    host,
    values: regionValues(plan, code, leaf),
    scratch: newScratch(code),
    helper,
    leaf,
    window: (space) => writeWindow(frame, space),
    sanitizer,
    probe,
    isFlushing,
  };
}

/** Loads the region's live-in values from the thread record. */
function loadLiveIns({ frame: { code, record, context }, region, e }: Body): void {
  const { plan } = context;
  for (const value of plan.liveIns.get(region.entry)!) {
    eachLane(plan.kernel, value, (_, name, offset) => {
      code.at('local.get', record);
      code.access(`${name}.load`, 4, plan.slots.get(value)! + offset);
    });
    e.values.set(value);
  }
}

/** Spills the live-in values of a region that follows, except some. */
function spillFor({ frame: { code, record, context }, region, e }: Body, entry: Block, except: readonly Value[]): void {
  const { plan } = context;
  // A value that was live into this region is in its slot already.
  const isOwn = (value: Value): boolean => region.cfg.position[plan.home[value]!]! >= 0;
  for (const value of plan.liveIns.get(entry.id)!.filter((each) => !except.includes(each) && isOwn(each)))
    eachLane(plan.kernel, value, (lane, name, offset) => {
      code.at('local.get', record);
      e.values.pushLane(value, lane);
      code.access(`${name}.store`, 4, plan.slots.get(value)! + offset);
    });
}

/** Leaves the region at the end of a block: at a return or a sync point. */
function leaveAtEnd(body: Body, block: Block): void {
  const { frame, e } = body;
  const { plan } = frame.context;
  const syncPoints = syncPointsOf(plan.kernel, block);
  if (syncPoints.length === 0) {
    frame.context.sanitizer?.threadExits(frame.code, frame.thread, block);
    writeProgress(frame);
    writeState(frame, exited);
  } else {
    const to = continuation(block);
    const slots = syncPoints.flatMap((value) => plan.operandSlots.get(value) ?? []);
    const operands = new Map(slots.map(({ operand, offset }) => [operand, offset]));
    // A result of the sync point itself comes later.
    for (const [operand, offset] of operands) if (!syncPoints.includes(operand)) writeOperand(frame, e.values, operand, offset);
    spillFor(body, to, syncPoints);
    const next = plan.regions.byEntry.get(to.id)!;
    const isYield = syncKindOf(plan.kernel.insts[syncPoints[0]!]!) === 'yield';
    if (!isYield || !plan.regions.mayWait(body.region, next)) writeProgress(frame);
    writeState(frame, stateAt(body, block, next.id));
  }
  body.nextThread();
}

/** The state of a thread at the sync point that ends a block; `next` is the region behind it. */
function stateAt({ frame, e }: Body, block: Block, next: number): number {
  const { plan } = frame.context;
  const kind = syncKindOf(plan.kernel.insts[syncPointOf(plan.kernel, block)!]!);
  if (kind === 'barrier') return next | atBarrier;
  if (kind === 'yield') return next | yielded;
  if (kind === 'collective') return plan.regions.byBlock.get(block.id)!.id;
  const rendezvous = plan.regions.rendezvous.find((each) => each.block === block.id)!;
  writeExchange(frame, e.values, rendezvous, next);
  return rendezvous.id | atRendezvous;
}

/** Leaves the region by an edge into the entry of a region, whose arguments are spilled as well. */
function leaveByEdge(body: Body, { block, args }: Edge): void {
  const { frame, e } = body;
  const { code, record } = frame;
  const { plan } = frame.context;
  for (const [i, arg] of args.entries())
    eachLane(plan.kernel, block.params[i]!, (lane, name, offset) => {
      code.at('local.get', record);
      if (isVector(plan.kernel.insts[arg]!.type)) e.values.pushLane(arg, lane);
      else e.values.push(arg);
      code.access(`${name}.store`, 4, plan.slots.get(block.params[i]!)! + offset);
    });
  spillFor(body, block, block.params);
  const next = plan.regions.byEntry.get(block.id)!;
  if (!plan.regions.mayWait(body.region, next)) writeProgress(frame);
  writeState(frame, next.id);
  body.nextThread();
}

function pushWhole(e: Emitter, value: Value, as: Value): void {
  const lanes = lanesOf(e.kernel.insts[as]!.type);
  if (lanes === 1) return e.values.push(value);
  for (let lane = 0; lane < lanes; lane++) e.values.pushLane(value, lane);
}

/** Visits the elements of a value with the type that holds them and their offset in its slot. */
function eachLane(kernel: Kernel, value: Value, act: (lane: number, name: NumberType, offset: number) => void): void {
  const { type } = kernel.insts[value]!;
  const element = elementOf(type);
  // The elements of a vector take at least 4 bytes each in a slot, as the i32 that holds a narrow one.
  const step = lanesOf(type) === 1 ? 0 : Math.max(4, bytesOf(element));
  for (let lane = 0; lane < lanesOf(type); lane++) act(lane, heldAs(element), lane * step);
}

/** Stores an operand of a collective in the thread record, where the function of the collective reads it. */
function writeOperand({ code, record, context }: Frame, values: Values, operand: Value, offset: number): void {
  const { kernel } = context.plan;
  eachLane(kernel, operand, (lane, name, at) => {
    code.at('local.get', record);
    if (isVector(kernel.insts[operand]!.type)) values.pushLane(operand, lane);
    else values.push(operand);
    code.access(`${name}.store`, 4, offset + at);
  });
}

/** Notes that a thread has done something else than wait. */
function writeProgress({ context, code }: Frame): void {
  if (context.progress === undefined) return;
  code.i32(1);
  code.at('global.set', context.progress);
}

/** Sets the thread's next step. */
function writeState({ context, code, thread }: Frame, state: number): void {
  const { schedule } = context.plan.regions;
  if (schedule === 'once') return;
  if (schedule === 'block') {
    code.i32(state === exited ? exited : state & ~atBarrier);
    code.at('global.set', context.phase);
    return;
  }
  writeStateAddress(context, code, thread);
  code.i32(state);
  code.access('i32.store', 4);
}

const checkFuel = ({ context, code, fuel, cost }: Frame): void => writeFuelCheck(code, fuel, context.host.tick, cost, false);
