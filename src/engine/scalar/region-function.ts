/**
 * One function per region: a loop over threads of a block, each of which takes its values from its record, runs to a stop, to
 * an entry or to the end, and puts back what the next region needs.
 */

import {
  type Block,
  bytesOf,
  type Edge,
  elementOf,
  type InstOf,
  isVector,
  type Kernel,
  lanesOf,
  type Value,
  type Variable,
} from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import type { Emitter } from '../codegen/emitter.ts';
import { costOf, fuelPerTick } from '../codegen/fuel.ts';
import type { ThreadOrderHooks } from '../codegen/hooks.ts';
import { gone, type Shared, waiting, writeStateAddress } from '../codegen/kernel-code.ts';
import type { Region } from '../codegen/regions.ts';
import { continuation, syncPointOf, syncPointsOf } from '../codegen/split-at-sync-points.ts';
import { heldAs, regionValues, type Values, writeConstant } from '../codegen/values.ts';
import { writeInstruction } from './rules.ts';
import { writeStructure } from './structure.ts';

/** Locals that every region function has. */
interface Frame {
  readonly shared: Shared;
  readonly code: Code;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Number of the thread in its block. */
  readonly thread: number;
  /** Counts threads; the thread itself where they are taken in order. */
  readonly turn: number;
  /** The end of the threads that are run; the first is parameter 0. */
  readonly end: number;
  /** Address of the thread's record. */
  readonly record: number;
  /** The global of that name while the function runs. */
  readonly fuel: number;
  /** What a thread's start and every turn of a loop take from the fuel: as much work as can lie between two of them. */
  readonly cost: number;
}

/** Writes the function of a region, for threads from its first parameter to its second. */
export function writeRegion(shared: Shared, region: Region): { readonly index: number; readonly code: Code } {
  const { index, code } = shared.module.fn({ params: ['i32', 'i32'], results: [] });
  const local = (): number => code.local('i32');
  const [x, y, z, record, fuel] = [local(), local(), local(), local(), local()];
  const frame: Frame = {
    shared,
    code,
    x,
    y,
    z,
    thread: 0,
    turn: shared.order ? local() : 0,
    end: 1,
    record,
    fuel,
    cost: costOf(shared.plan.kernel, region),
  };
  shared.sanitizer?.regionStart(code, region);
  if (shared.order) writeOrder(frame, shared.order);
  else writeFirstPlace(frame);
  code.at('global.get', shared.fuel);
  code.at('local.set', fuel);
  code.open('loop');
  if (shared.order) {
    shared.order.threadOfTurn(code, frame.turn, frame.thread);
    writeFirstPlace(frame);
  }
  code.open('block');
  const next = code.depth;
  writeThreadStart(frame, region);
  writeBody(frame, region, () => code.at('br', code.depth - next));
  code.end();
  writeNextThread(frame);
  code.end();
  shared.probe?.regionEnd(code);
  code.at('local.get', fuel);
  code.at('global.set', shared.fuel);
  return { index, code };
}

/** Has the threads put in the order that the launch wants. */
function writeOrder({ code, thread, turn, end }: Frame, order: ThreadOrderHooks): void {
  code.at('local.get', thread);
  code.at('local.tee', turn);
  code.at('local.get', end);
  order.arrange(code);
}

/** Where the thread is in the block. */
function writeFirstPlace({ shared, code, x, y, z, thread }: Frame): void {
  const { globals } = shared.host;
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

/** Skips threads that are elsewhere; names the thread for the case of a fault. */
function writeThreadStart(frame: Frame, region: Region): void {
  const { shared, code, thread, record } = frame;
  const { plan, host } = shared;
  code.at('local.get', thread);
  code.at('global.set', host.globals.thread);
  shared.sanitizer?.threadStart(code, thread);
  writeTurn(frame);
  if (plan.regions.schedule === 'warp') {
    writeStateAddress(shared, code, thread);
    code.access('i32.load', 4);
    code.i32(region.id);
    code.op('i32.ne');
    code.at('br_if', 0);
  }
  shared.probe?.threadStart(code, thread);
  if (plan.recordBytes === 0) return;
  code.at('local.get', thread);
  code.i32(plan.recordBytes);
  code.op('i32.mul');
  code.at('global.get', host.globals.records);
  code.op('i32.add');
  code.at('local.set', record);
}

/** x runs fastest. */
function writeNextThread({ shared, code, x, y, z, turn, end }: Frame): void {
  const { globals } = shared.host;
  const count = (local: number): void => {
    code.at('local.get', local);
    code.i32(1);
    code.op('i32.add');
    code.at('local.tee', local);
  };
  const wrapped = (local: number, limit: number): void => {
    count(local);
    code.at('global.get', limit);
    code.op('i32.eq');
    code.open('if');
    code.i32(0);
    code.at('local.set', local);
  };
  if (!shared.order) {
    wrapped(x, globals['ntid.x']);
    wrapped(y, globals['ntid.y']);
    count(z);
    code.op('drop');
    code.end();
    code.end();
  }
  count(turn);
  code.at('local.get', end);
  code.op('i32.lt_u');
  code.at('br_if', 0);
}

function writeBody(frame: Frame, region: Region, nextThread: () => void): void {
  const { shared, code, record } = frame;
  const { plan } = shared;
  const { kernel } = plan;
  const free = (value: Value): void => writeFree(frame, value);
  const values = regionValues(plan, code, free);
  const { host, helper, sanitizer, probe, isFlushing } = shared;
  const e: Emitter = {
    kernel,
    code,
    host,
    values,
    helper,
    free,
    window: (space) => writeWindow(frame, space),
    sanitizer,
    probe,
    isFlushing,
  };
  const inRegion = (value: Value): boolean => region.cfg.position[plan.home[value]!]! >= 0;

  for (const value of plan.liveIns.get(region.entry)!) {
    eachLane(kernel, value, (_, name, offset) => {
      code.at('local.get', record);
      code.access(`${name}.load`, 4, plan.slots.get(value)! + offset);
    });
    values.set(value);
  }
  probe?.resumed(e, region);
  let at = kernel.blocks[region.entry]!;
  const save = (value: Value): void => {
    // A value from before this region is in its slot already.
    if (!inRegion(value)) return;
    eachLane(kernel, value, (lane, name, offset) => {
      code.at('local.get', record);
      values.pushLane(value, lane);
      code.access(`${name}.store`, 4, plan.slots.get(value)! + offset);
    });
  };
  const saveFor = (entry: Block, except: readonly Value[]): void => {
    for (const value of plan.liveIns.get(entry.id)!) if (!except.includes(value)) save(value);
  };
  const leave = (block: Block): void => {
    const stops = syncPointsOf(kernel, block);
    if (stops.length === 0) writeState(frame, gone);
    else {
      const to = continuation(block);
      const operands = new Map(stops.flatMap((stop) => plan.operandSlots.get(stop) ?? []).map(({ operand, offset }) => [operand, offset]));
      for (const [operand, offset] of operands) writeOperand(frame, values, operand, offset);
      saveFor(to, stops);
      const next = plan.regions.byEntry.get(to.id)!.id;
      writeState(frame, plan.regions.byBlock.get(block.id)?.id ?? next | waiting);
    }
    nextThread();
  };
  const leaveBy = ({ block, args }: Edge): void => {
    for (const [i, arg] of args.entries())
      eachLane(kernel, block.params[i]!, (lane, name, offset) => {
        code.at('local.get', record);
        if (isVector(kernel.insts[arg]!.type)) values.pushLane(arg, lane);
        else values.push(arg);
        code.access(`${name}.store`, 4, plan.slots.get(block.params[i]!)! + offset);
      });
    saveFor(block, block.params);
    writeState(frame, plan.regions.byEntry.get(block.id)!.id);
    nextThread();
  };
  const transfer = ({ block, args }: Edge): void => {
    for (const [i, arg] of args.entries()) pushWhole(e, arg, block.params[i]!);
    for (const param of [...block.params].reverse()) values.set(param);
  };
  writeStructure(kernel, region, code, {
    body: (block) => {
      const computed = block.body.length - syncPointsOf(kernel, block).length;
      at = block;
      probe?.enter(e, block);
      for (const value of block.body.slice(0, computed)) writeInstruction(e, value);
      if (block.end.op !== 'condbr' || computed < block.body.length) probe?.leave(e, block);
    },
    transfer,
    condition: (value) => {
      values.push(value);
      probe?.decide(e, at);
    },
    leave,
    isLast: (block) => syncPointOf(kernel, block) !== undefined,
    leaveBy,
    turn: () => writeTurn(frame),
  });
}

function pushWhole(e: Emitter, value: Value, as: Value): void {
  const lanes = lanesOf(e.kernel.insts[as]!.type);
  if (lanes === 1) return e.values.push(value);
  for (let lane = 0; lane < lanes; lane++) e.values.pushLane(value, lane);
}

/** Lanes of a value with the type they are held in and their offset in its slot. */
function eachLane(kernel: Kernel, value: Value, act: (lane: number, name: string, offset: number) => void): void {
  const { type } = kernel.insts[value]!;
  const element = elementOf(type);
  // An element held wider than it is in memory has a slot of its own size only as a scalar.
  const step = lanesOf(type) === 1 ? 0 : Math.max(4, bytesOf(element));
  for (let lane = 0; lane < lanesOf(type); lane++) act(lane, heldAs(element), lane * step);
}

/** Puts an operand where the others of the warp find it. */
function writeOperand({ code, record, shared }: Frame, values: Values, operand: Value, offset: number): void {
  code.at('local.get', record);
  values.push(operand);
  code.access(`${heldAs(shared.plan.kernel.insts[operand]!.type)}.store`, 4, offset);
}

/** Says what the thread does next. */
function writeState({ shared, code, thread }: Frame, state: number): void {
  const { schedule } = shared.plan.regions;
  if (schedule === 'once') return;
  if (schedule === 'block') {
    code.i32(state === gone ? gone : state & ~waiting);
    code.at('global.set', shared.phase);
    return;
  }
  writeStateAddress(shared, code, thread);
  code.i32(state);
  code.access('i32.store', 4);
}

function writeTurn({ shared, code, fuel, cost }: Frame): void {
  code.at('local.get', fuel);
  code.i32(cost);
  code.op('i32.sub');
  code.at('local.tee', fuel);
  code.i32(0);
  code.op('i32.le_s');
  code.open('if');
  code.at('call', shared.host.tick);
  code.i32(fuelPerTick);
  code.at('local.set', fuel);
  code.end();
}

// ── values that are made anew at every use ──

function writeFree(frame: Frame, value: Value): void {
  const { shared, code } = frame;
  const { plan, host } = shared;
  const inst = plan.kernel.insts[value]!;
  if (inst.op === 'const') writeConstant(code, heldAs(inst.type), inst.bits);
  else if (inst.op === 'param') code.at('global.get', host.params[inst.index]!);
  else if (inst.op === 'variable') writeVariable(frame, inst.name);
  else if (inst.op === 'sreg') writeSreg(frame, inst.name);
}

function writeVariable(frame: Frame, name: string): void {
  const { space } = frame.shared.plan.kernel.variables.find((variable) => variable.name === name)!;
  writeWindow(frame, space);
  frame.code.i64(BigInt(frame.shared.plan.offsets.get(name)!));
  frame.code.op('i64.add');
}

function writeWindow({ shared, code, thread }: Frame, space: Variable['space']): void {
  const { plan, host } = shared;
  code.at('global.get', host.globals[space]);
  if (space === 'local') {
    code.at('local.get', thread);
    code.i32(plan.windows.local);
    code.op('i32.mul');
    code.op('i32.add');
  }
  code.op('i64.extend_i32_u');
}

function writeSreg({ shared, code, x, y, z, thread }: Frame, name: InstOf<'sreg'>['name']): void {
  const { globals } = shared.host;
  const lanes = { x, y, z };
  const [what, axis] = name.split('.') as [string, 'x' | 'y' | 'z'];
  switch (what) {
    case 'tid':
      return code.at('local.get', name === 'tid.linear' ? thread : lanes[axis]);
    case 'gid':
      code.at('global.get', globals[`ctaid.${axis}`]);
      code.at('global.get', globals[`ntid.${axis}`]);
      code.op('i32.mul');
      code.at('local.get', lanes[axis]);
      return code.op('i32.add');
    case 'laneid':
      code.at('local.get', thread);
      code.i32(31);
      return code.op('i32.and');
    case 'warpid':
      code.at('local.get', thread);
      code.i32(5);
      return code.op('i32.shr_u');
    case 'nwarpid':
      code.at('global.get', globals.threads);
      code.i32(31);
      code.op('i32.add');
      code.i32(5);
      return code.op('i32.shr_u');
    default:
      return code.at('global.get', globals[name as 'ntid.x']);
  }
}
