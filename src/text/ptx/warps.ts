/** Operations of warps as PTX: collectives with a mask have it, and others that of the whole warp, where its lanes are together. */
import { bitsOf, constantOf, type Fold, type Value } from '../../ir/index.ts';
import type { Printer, Rules } from './printer.ts';
import { productRule } from './products.ts';

const full = '-1';

/**
 * The lanes of a collective without a mask: all of the warp in convergent code. In other code those are meant that reach it together, which PTX
 * leaves open; where the source asks for them by `activemask` or an instruction without a mask, it leaves that open as well.
 */
function members(p: Printer, value: Value): string {
  if (p.convergent[p.block] === 1) return full;
  if (p.source === undefined) {
    p.refuse(value, 'an operation of a warp in divergent code', 'PTX does not say which threads execute it together');
    return full;
  }
  const mask = p.temp('i32');
  p.needs(6.2);
  p.line(`activemask.b32 ${mask};`);
  return mask;
}

/** A value of any type, 32 bits at a time. */
function inWords(p: Printer, value: Value, a: Value, write: (to: string, from: string) => void): void {
  const type = p.typeOf(a);
  const [d, x] = [p.reg(value), p.reg(a)];
  if (type === 'i32') return write(d, x);
  const [to, from] = [p.temp('i32'), p.temp('i32')];
  if (type === 'i1') {
    p.line(`selp.b32 ${from}, 1, 0, ${x};`);
    write(to, from);
    return p.line(`setp.ne.u32 ${d}, ${to}, 0;`);
  }
  if (bitsOf(type) <= 16) {
    p.line(`cvt.u32.u16 ${from}, ${x};`);
    write(to, from);
    return p.line(`cvt.u16.u32 ${d}, ${to};`);
  }
  if (bitsOf(type) === 32) {
    p.line(`mov.b32 ${from}, ${x};`);
    write(to, from);
    return p.line(`mov.b32 ${d}, ${to};`);
  }
  const [toHigh, fromHigh] = [p.temp('i32'), p.temp('i32')];
  p.line(`mov.b64 {${from}, ${fromHigh}}, ${x};`);
  write(to, from);
  write(toHigh, fromHigh);
  p.line(`mov.b64 ${d}, {${to}, ${toHigh}};`);
}

const shuffleWord = (p: Printer, lane: Value, mask: string) => {
  const { mode, b, clamp } = laneMode(p, lane);
  return (to: string, from: string): void => {
    p.needs(6);
    p.line(`shfl.sync.${mode}.b32 ${to}, ${from}, ${p.operand(b)}, ${clamp}, ${mask};`);
  };
};

interface LaneMode {
  readonly mode: 'up' | 'down' | 'bfly' | 'idx';
  readonly b: Value;
  readonly clamp: 0 | 31;
}

/**
 * How the lane that a value is read from is found: a lane above or below, or the bits of the own one changed, and the own lane where that is none of the
 * warp; PTX has instructions for these.
 */
function laneMode(p: Printer, lane: Value): LaneMode {
  const other: LaneMode = { mode: 'idx', b: lane, clamp: 31 };
  const { insts } = p.kernel;
  const choice = insts[lane]!;
  const isOwn = (value: Value): boolean => {
    const inst = insts[value]!;
    return inst.op === 'sreg' && inst.name === 'laneid';
  };
  if (choice.op !== 'select' || !isOwn(choice.b)) return other;
  const [test, found] = [insts[choice.cond]!, insts[choice.a]!];
  if (test.op !== 'icmp' || test.a !== choice.a) return other;
  const bound = constantOf(p.kernel, test.b);
  const isLow = test.pred === 'sle' && bound === 31n;
  const isHigh = test.pred === 'sge' && bound === 0n;
  if (isLow && isFiveBits(p, choice.a)) return { ...other, b: choice.a };
  if (!('a' in found && 'b' in found) || !isOwn(found.a) || !isFiveBits(p, found.b)) return other;
  if (isLow && found.op === 'xor') return { mode: 'bfly', b: found.b, clamp: 31 };
  if (isLow && found.op === 'add') return { mode: 'down', b: found.b, clamp: 31 };
  return isHigh && found.op === 'sub' ? { mode: 'up', b: found.b, clamp: 0 } : other;
}

/** Whether a value is from 0 to 31. */
function isFiveBits(p: Printer, value: Value): boolean {
  const known = constantOf(p.kernel, value);
  if (known !== undefined) return known < 32n;
  const inst = p.kernel.insts[value]!;
  return inst.op === 'and' && constantOf(p.kernel, inst.b) === 31n;
}

function ballot(p: Printer, a: Value, mask: string, value: Value): void {
  p.needs(6);
  p.line(`vote.sync.ballot.b32 ${p.reg(value)}, ${p.reg(a)}, ${mask};`);
}

const steps: Readonly<Record<Fold, string>> = {
  add: 'add.s32',
  and: 'and.b32',
  or: 'or.b32',
  xor: 'xor.b32',
  smin: 'min.s32',
  smax: 'max.s32',
  umin: 'min.u32',
  umax: 'max.u32',
};

/** A reduction: an instruction from sm_80 on, and before that a loop over the lanes that take part. */
function reduce(p: Printer, a: Value, fold: Fold, mask: string, value: Value): void {
  const d = p.reg(value);
  if (p.module.sm >= 80) {
    p.needs(7);
    const type = steps[fold].endsWith('b32') ? 'b32' : fold.startsWith('s') ? 's32' : 'u32';
    return p.line(`redux.sync.${steps[fold].split('.')[0]}.${type} ${d}, ${p.reg(a)}, ${mask};`);
  }
  const [left, lane, other, all, isDone] = [p.temp('i32'), p.temp('i32'), p.temp('i32'), p.temp('i1'), p.temp('i1')];
  const next = p.temp('i32');
  const [head, end] = [p.label(), p.label()];
  p.needs(6);
  p.line(`setp.eq.u32 ${all}, 0, 0;`);
  p.line(`vote.sync.ballot.b32 ${left}, ${all}, ${mask};`);
  p.line(`mov.b32 ${next}, ${left};`);
  const take = (to: string): void => {
    p.line(`brev.b32 ${lane}, ${left};`);
    p.line(`clz.b32 ${lane}, ${lane};`);
    p.line(`shfl.sync.idx.b32 ${to}, ${p.reg(a)}, ${lane}, 31, ${mask};`);
    p.line(`add.s32 ${next}, ${left}, -1;`);
    p.line(`and.b32 ${left}, ${left}, ${next};`);
  };
  take(d);
  p.line(`${head}:`);
  p.line(`setp.eq.u32 ${isDone}, ${left}, 0;`);
  p.line(`@${isDone} bra ${end};`);
  take(other);
  p.line(`${steps[fold]} ${d}, ${d}, ${other};`);
  p.line(`bra ${head};`);
  p.line(`${end}:`);
}

const isAll = (p: Printer, a: Value): boolean => constantOf(p.kernel, a) === 1n;

export const warpRules = {
  shuffle: (p, { a, b }, value) => inWords(p, value, a, shuffleWord(p, b, members(p, value))),
  ballot(p, { a }, value) {
    // The lanes that are together are what `activemask` gives.
    if (isAll(p, a) && p.convergent[p.block] !== 1 && p.source !== undefined) {
      p.needs(6.2);
      return p.line(`activemask.b32 ${p.reg(value)};`);
    }
    ballot(p, a, members(p, value), value);
  },
  reduce: (p, { a, fold }, value) => reduce(p, a, fold, members(p, value), value),
  matmul: (p, _, value) => p.refuse(value, 'a product of tiles', 'it was not expanded'),
  mma: productRule,
  syncwarp(p, _, value) {
    p.needs(6);
    p.line(`bar.warp.sync ${members(p, value)};`);
  },
  shufflesync: (p, { a, b, members: mask }, value) => inWords(p, value, a, shuffleWord(p, b, p.operand(mask))),
  ballotsync: (p, { a, members: mask }, value) => ballot(p, a, p.operand(mask), value),
  reducesync: (p, { a, fold, members: mask }, value) => reduce(p, a, fold, p.operand(mask), value),
  warpsync(p, { members: mask, isFence }) {
    // Without a fence it is the convergence of an `.aligned` instruction, which that instruction asks for itself.
    if (!isFence) return;
    p.needs(6);
    p.line(`bar.warp.sync ${p.operand(mask)};`);
  },
  barrier(p) {
    p.line('bar.sync 0;');
  },
} satisfies Partial<Rules>;
