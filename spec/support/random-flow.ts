/** Kernels whose graph of blocks is random: jumps anywhere, parameters of several types that change places, few ops. */
import {
  addBlock,
  addBlockParam,
  type Block,
  type Builder,
  builder,
  type Edge,
  emptyKernel,
  type Kernel,
  type Value,
} from '../../src/ir/index.ts';
import { pointerParam } from './kernels.ts';

const plain = { align: 4, volatile: false };

/** What every block but the first takes: turns that are left, numbers, and a vector. */
const types = ['i32', 'i32', 'i32', 'i64', 'f64', 'i1', 'v2.i32'] as const;

interface Making {
  readonly kernel: Kernel;
  readonly b: Builder;
  readonly pick: (count: number) => number;
  /** Made in the entry block and used anywhere. */
  readonly common: Value;
  readonly barriers: Barriers;
}

/**
 * None; in code that threads reach by turns; in code that all threads of a block reach together; or of parts of warps, which
 * besides hand values to each other, each thread to itself.
 */
export type Barriers = 'none' | 'anywhere' | 'together' | 'warps';

/**
 * A sound kernel that always ends: each block counts down, and leaves at 0. A thread stores 32 bytes at 32 times its number.
 * Threads do not see each other, so that barriers, if any, change nothing.
 */
export function randomFlow(choices: readonly number[], blocks: number, barriers: Barriers): Kernel {
  const kernel = emptyKernel('flow');
  kernel.params.push(pointerParam('out', 0, undefined, 'write'));
  let at = 0;
  const pick = (count: number): number => (choices[at++ % choices.length]! + Math.floor(at / choices.length)) % count;
  const b = builder(kernel, addBlock(kernel));
  const tid = b.sreg('i32', { name: 'tid.x' });
  const common = b.mul(tid, b.const('i32', 77));
  const m: Making = { kernel, b, pick, common, barriers };
  const exit = blockOf(m);
  const list = Array.from({ length: blocks }, () => blockOf(m));
  // What the ways of a thread depend on.
  const seed = barriers === 'together' ? b.const('i32', pick(1000)) : tid;
  const first = [b.const('i32', 5 + pick(30)), seed, b.const('i32', pick(1000)), b.sext('i64', common), b.sitofp('f64', tid)];
  const start = [...first, b.icmp(seed, b.const('i32', 2), { pred: 'ult' }), b.vec2('v2.i32', tid, common)];
  b.block.end = branch(m, list, start, b.icmp(b.and(seed, b.const('i32', 1)), b.const('i32', 0), { pred: 'eq' }));
  for (const block of list) fill(m, block, list, exit);
  finish(m, exit, tid);
  return kernel;
}

function blockOf({ kernel }: Making): Block {
  const block = addBlock(kernel);
  for (const type of types) addBlockParam(kernel, block, type);
  return block;
}

function branch(m: Making, list: readonly Block[], values: readonly Value[], cond: Value): Block['end'] {
  const edge = (): Edge => ({ block: list[m.pick(list.length)]!, args: shuffled(m, values) });
  return m.pick(3) === 0 ? { op: 'br', to: edge() } : { op: 'condbr', cond, then: edge(), else: edge() };
}

/** The words may change places; the count stays first. */
function shuffled({ pick }: Making, values: readonly Value[]): Value[] {
  const [turns, x, y, ...rest] = values as [Value, Value, Value, ...Value[]];
  return pick(2) === 0 ? [turns, x, y, ...rest] : [turns, y, x, ...rest];
}

function fill(m: Making, block: Block, list: readonly Block[], exit: Block): void {
  const { b, kernel } = m;
  b.block = block;
  barrier(m);
  const [turns, x, y, wide, real, flag, pair] = block.params as [Value, Value, Value, Value, Value, Value, Value];
  const left = b.sub(turns, b.const('i32', 1));
  const mixed = b.add(b.mul(x, b.const('i32', 31)), b.const('i32', block.id));
  const isOver = b.icmp(left, b.const('i32', 0), { pred: 'slt' });
  const rest = addBlock(kernel);
  block.end = { op: 'condbr', cond: isOver, then: { block: exit, args: [...block.params] }, else: { block: rest, args: [] } };
  b.block = rest;
  if (m.pick(2) === 0) barrier(m);
  // Values of `block` and of the entry, seen from another block.
  const own = m.pick(2) === 0 ? m.common : b.extract('i32', pair, { lane: m.pick(2) });
  const other = b.xor(y, m.barriers === 'together' ? left : own);
  const nextWide = b.add(shuffledToSelf(m, wide), b.sext('i64', b.xor(own, mixed)));
  const nextReal = b.fadd(b.fmul(shuffledToSelf(m, real), b.const('f64', 0x3fe0000000000000n)), b.sitofp('f64', mixed));
  const nextFlag = voted(m, b.icmp(b.and(b.lshr(mixed, b.const('i32', m.pick(8))), b.const('i32', 1)), b.const('i32', 1), { pred: 'eq' }));
  const nextPair = m.pick(2) === 0 ? pair : b.vec2('v2.i32', b.extract('i32', pair, { lane: 1 }), mixed);
  barrier(m);
  const keeps = m.pick(3) === 0;
  rest.end = branch(
    m,
    list,
    [left, keeps ? x : mixed, other, nextWide, keeps ? real : nextReal, nextFlag, nextPair],
    m.pick(2) === 0 ? flag : nextFlag,
  );
}

function barrier({ b, barriers, pick }: Making): void {
  if (barriers === 'none' || pick(3) > 0) return;
  if (barriers === 'warps') b.syncwarp();
  else b.barrier();
}

/** A value that the warp is shown and each thread takes back. */
function shuffledToSelf({ b, barriers, pick }: Making, value: Value): Value {
  return barriers === 'warps' && pick(3) === 0 ? b.shuffle(value, b.sreg('i32', { name: 'laneid' })) : value;
}

/** The thread's own bit of a ballot. */
function voted({ b, barriers, pick }: Making, flag: Value): Value {
  if (barriers !== 'warps' || pick(3) > 0) return flag;
  return b.trunc('i1', b.lshr(b.ballot('i32', flag), b.sreg('i32', { name: 'laneid' })));
}

function finish({ b }: Making, exit: Block, tid: Value): void {
  b.block = exit;
  const [, x, y, wide, real, flag, pair] = exit.params as [Value, Value, Value, Value, Value, Value, Value];
  const out = b.ptradd(b.param('ptr.global', { index: 0 }), b.mul(b.zext('i64', tid), b.const('i64', 32)));
  const at = (offset: number): Value => b.ptradd(out, b.const('i64', offset));
  b.store(at(0), b.vec2('v2.i32', x, b.add(y, b.zext('i32', flag))), plain);
  b.store(at(8), wide, plain);
  b.store(at(16), real, plain);
  b.store(at(24), pair, plain);
}
