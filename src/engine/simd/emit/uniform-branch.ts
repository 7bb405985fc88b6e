/**
 * Whether all lanes go one way at a branch, told by the first and the last of them: a comparison of numbers that grow evenly from lane to lane
 * has one answer for all where it has one for both ends and nothing wraps between. Guards of bounds are of this kind.
 */
import type { InstOf, Value } from '../../../ir/index.ts';
import { type LaneGroup, shapeOf, typeOf } from '../lanes/lane-group.ts';

/** How many comparisons a condition may have to be worth it. */
const most = 6;

/** Strides below this lead to the last lane by less than half of all numbers. */
const gentle = 2 ** 24;

/** Comparisons that a condition is made of by `and`, `or` and `xor`; nothing where there is anything else. */
function leavesOf(s: LaneGroup, cond: Value): InstOf<'icmp'>[] | undefined {
  const leaves: InstOf<'icmp'>[] = [];
  const visit = (value: Value): boolean => {
    const inst = s.kernel.insts[value]!;
    // What all lanes share they agree on.
    if (shapeOf(s, value) === 0) return true;
    // What is not worked out just here may have had its operands elsewhere.
    if (!isOwn(s, cond, value)) return false;
    if ((inst.op === 'and' || inst.op === 'or' || inst.op === 'xor') && leaves.length < most) return visit(inst.a) && visit(inst.b);
    if (inst.op !== 'icmp' || typeOf(s, inst.a) !== 'i32') return false;
    leaves.push(inst);
    if (isEquality(inst)) return isCounted(s, inst);
    return [inst.a, inst.b].every((operand) => shapeOf(s, operand) < 2 && Math.abs(strideOf(s, operand)) < gentle);
  };
  return visit(cond) && leaves.length > 0 && leaves.length <= most ? leaves : undefined;
}

/** Whether a value is used for a condition alone, in the block of that. */
const isOwn = ({ plan }: LaneGroup, cond: Value, value: Value): boolean =>
  plan.uses[value] === 1 && plan.crosses[value] === 0 && plan.home[value] === plan.home[cond];

/** Whether `writeAgreement` can say something of a condition. */
export const mayTestUniformity = (s: LaneGroup, cond: Value): boolean => leavesOf(s, cond) !== undefined;

/** Whether the comparisons still wait to be written, so that their operands are there. */
export function isAvailable(s: LaneGroup, cond: Value): boolean {
  const visit = (value: Value): boolean => {
    const inst = s.kernel.insts[value]!;
    if (shapeOf(s, value) === 0) return true;
    return (
      s.isDeferred(value) &&
      (inst.op === 'icmp' || ((inst.op === 'and' || inst.op === 'or' || inst.op === 'xor') && visit(inst.a) && visit(inst.b)))
    );
  };
  return visit(cond);
}

/** Puts on the stack whether the first and the last lane tell of all; the condition of the first is in the local then. */
export function writeUniformTest(s: LaneGroup, cond: Value, answer: number): void {
  const { code } = s;
  writeFirst(s, cond);
  code.at('local.set', answer);
  for (const [i, leaf] of leavesOf(s, cond)!.entries()) {
    if (isEquality(leaf)) meetsNone(s, leaf);
    else endsMatch(s, leaf);
    if (i > 0) code.op('i32.and');
  }
}

/**
 * Tests of which none holds where a condition has an answer for all lanes and is told so by few steps, each of which puts a number on the stack;
 * nothing for conditions that take more. What fails a test may have that answer for all lanes nevertheless.
 */
export function uniformTests(s: LaneGroup, cond: Value, answer: boolean): (() => void)[] | undefined {
  const tests: (() => void)[] = [];
  const visit = (value: Value): boolean => {
    const inst = s.kernel.insts[value]!;
    if (shapeOf(s, value) === 0) {
      tests.push(() => {
        s.scalar(value);
        if (answer) s.code.op('i32.eqz');
      });
      return true;
    }
    // All of a conjunction hold, none of a disjunction does.
    if (inst.op === (answer ? 'and' : 'or')) return visit(inst.a) && visit(inst.b);
    const found = inst.op === 'icmp' ? orderTests(s, inst, answer) : undefined;
    tests.push(...(found ?? []));
    return found !== undefined;
  };
  return visit(cond) ? tests : undefined;
}

/** That of two numbers the one is below the other, or equal where that is enough: which goes first, and whether equal ones will not do. */
const orders = { lt: [0, true], le: [0, false], gt: [1, true], ge: [1, false] } as const;
const inverse = { lt: 'ge', le: 'gt', gt: 'le', ge: 'lt' } as const;

/** Of a comparison with numbers that grow on one side only. */
function orderTests(s: LaneGroup, leaf: InstOf<'icmp'>, answer: boolean): (() => void)[] | undefined {
  if (isEquality(leaf)) return undefined;
  const { code, plan } = s;
  const sign = leaf.pred[0] as 's' | 'u';
  const given = leaf.pred.slice(1) as keyof typeof orders;
  const [swapped, isStrict] = orders[answer ? given : inverse[given]];
  const [low, high] = swapped ? [leaf.b, leaf.a] : [leaf.a, leaf.b];
  const [ahead, behind] = [strideOf(s, low), strideOf(s, high)].map((stride) => stride * (plan.lanes - 1)) as [number, number];
  const long = (value: Value): void => {
    s.scalar(value);
    code.op(`i64.extend_i32_${sign}`);
  };
  // Below even where it is highest: it wraps nowhere then, for the other one does not.
  if (ahead > 0 && shapeOf(s, high) === 0)
    return [
      () => {
        long(high);
        long(low);
        code.op('i64.sub');
        code.i64(BigInt(ahead + (isStrict ? 1 : 0)));
        code.op('i64.lt_s');
      },
    ];
  if (behind <= 0 || shapeOf(s, low) !== 0) return undefined;
  const largest = sign === 's' ? 0x7fff_ffff : 0xffff_ffff;
  return [
    () => {
      s.scalar(low);
      s.scalar(high);
      code.op(`i32.${isStrict ? 'ge' : 'gt'}_${sign}`);
    },
    // Grows to the last lane without wrapping.
    () => {
      s.scalar(high);
      code.i32((largest - behind) | 0);
      code.op(`i32.gt_${sign}`);
    },
  ];
}

const isEquality = ({ pred }: InstOf<'icmp'>): boolean => pred === 'eq' || pred === 'ne';

/** Whether one side counts lanes by ones and the other is the same for all. */
const isCounted = (s: LaneGroup, { a, b }: InstOf<'icmp'>): boolean => strideOf(s, a) === 1 && shapeOf(s, a) === 1 && shapeOf(s, b) === 0;

/** Whether none of the lanes' numbers, not even the first, is the other one. */
function meetsNone(s: LaneGroup, { a, b }: InstOf<'icmp'>): void {
  s.scalar(b);
  s.scalar(a);
  s.code.op('i32.sub');
  s.code.i32(s.plan.lanes);
  s.code.op('i32.ge_u');
}

function endsMatch(s: LaneGroup, leaf: InstOf<'icmp'>): void {
  compare(s, leaf, 0);
  compare(s, leaf, s.plan.lanes - 1);
  s.code.op('i32.eq');
  for (const operand of [leaf.a, leaf.b]) runsOn(s, operand, leaf.pred.startsWith('s'));
}

/** The condition as the first lane has it. */
function writeFirst(s: LaneGroup, value: Value): void {
  const inst = s.kernel.insts[value]!;
  if (shapeOf(s, value) === 0) return s.scalar(value);
  if (inst.op === 'icmp') return compare(s, inst, 0);
  if (inst.op !== 'and' && inst.op !== 'or' && inst.op !== 'xor') return;
  writeFirst(s, inst.a);
  writeFirst(s, inst.b);
  s.code.op(`i32.${inst.op}`);
}

function compare(s: LaneGroup, { a, b, pred }: InstOf<'icmp'>, lane: number): void {
  push(s, a, lane);
  push(s, b, lane);
  s.code.op(pred === 'eq' || pred === 'ne' ? `i32.${pred}` : `i32.${pred.slice(1)}_${pred[0]}`);
}

const strideOf = (s: LaneGroup, value: Value): number => (shapeOf(s, value) === 1 ? s.plan.shapes.stride[value]! : 0);

function push(s: LaneGroup, value: Value, lane: number): void {
  s.scalar(value);
  const ahead = lane * strideOf(s, value);
  if (ahead === 0) return;
  s.code.i32(ahead);
  s.code.op('i32.add');
}

/** Joins to what is on the stack that a number does not wrap on its way to the last lane. */
function runsOn(s: LaneGroup, value: Value, isSigned: boolean): void {
  const stride = strideOf(s, value);
  if (stride === 0) return;
  s.scalar(value);
  push(s, value, s.plan.lanes - 1);
  s.code.op(`i32.${stride > 0 ? 'le' : 'ge'}_${isSigned ? 's' : 'u'}`);
  s.code.op('i32.and');
}
