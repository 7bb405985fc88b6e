/**
 * Run-time test that a branch is uniform, decided by the first and the last lane. A comparison of affine values has one result in all lanes
 * if it has the same result in both and no value wraps in between. Bounds checks have this form. (RV calls the transform BOSCC: branch on
 * superword condition code.)
 */
import { affine, type InstOf, uniform, type Value, varying } from '../../../ir/index.ts';
import { integerComparisons } from '../../codegen/mnemonics.ts';
import { tuning } from '../../tuning.ts';
import { type LaneGroup, shapeOf, typeOf } from '../lanes/lane-group.ts';

/** Strides below this reach the last lane with less than half of the 32-bit range. */
const maxStride = 2 ** 24;

/** The comparisons that `and`, `or` and `xor` combine to a condition; undefined where it contains anything else. */
function leavesOf(s: LaneGroup, cond: Value): InstOf<'icmp'>[] | undefined {
  const leaves: InstOf<'icmp'>[] = [];
  const visit = (value: Value): boolean => {
    const inst = s.kernel.insts[value]!;
    // A uniform operand has one value in all lanes.
    if (shapeOf(s, value) === uniform) return true;
    // The operands of a value from elsewhere may be out of date.
    if (!isUsedHereOnly(s, cond, value)) return false;
    if ((inst.op === 'and' || inst.op === 'or' || inst.op === 'xor') && leaves.length < tuning.maxComparisons)
      return visit(inst.a) && visit(inst.b);
    if (inst.op !== 'icmp' || typeOf(s, inst.a) !== 'i32') return false;
    leaves.push(inst);
    if (isEquality(inst)) return isCounted(s, inst);
    return [inst.a, inst.b].every((operand) => shapeOf(s, operand) !== varying && Math.abs(strideOf(s, operand)) < maxStride);
  };
  return visit(cond) && leaves.length > 0 && leaves.length <= tuning.maxComparisons ? leaves : undefined;
}

/** Whether the only use of a value is this condition, in its own block. */
const isUsedHereOnly = ({ plan }: LaneGroup, cond: Value, value: Value): boolean =>
  plan.uses[value] === 1 && plan.crosses[value] === 0 && plan.home[value] === plan.home[cond];

/** Whether `writeUniformTest` can test a condition. */
export const mayTestUniformity = (s: LaneGroup, cond: Value): boolean => leavesOf(s, cond) !== undefined;

/** Whether the comparisons are still deferred, so that their operands are available. */
export function isAvailable(s: LaneGroup, cond: Value): boolean {
  const visit = (value: Value): boolean => {
    const inst = s.kernel.insts[value]!;
    if (shapeOf(s, value) === uniform) return true;
    return (
      s.isDeferred(value) &&
      (inst.op === 'icmp' || ((inst.op === 'and' || inst.op === 'or' || inst.op === 'xor') && visit(inst.a) && visit(inst.b)))
    );
  };
  return visit(cond);
}

/** Pushes whether the first and the last lane decide for all; the local `answer` then holds the condition of the first. */
export function writeUniformTest(s: LaneGroup, cond: Value, answer: number): void {
  const { code } = s;
  pushFirstLane(s, cond);
  code.at('local.set', answer);
  for (const [i, leaf] of leavesOf(s, cond)!.entries()) {
    if (isEquality(leaf)) pushMatchesNone(s, leaf);
    else pushEndsMatch(s, leaf);
    if (i > 0) code.op('i32.and');
  }
}

/**
 * Cheap tests: if all are zero the condition equals `answer` in every lane. They are conservative: a non-zero test means "unknown".
 * Undefined where the condition has no cheap form.
 */
export function uniformTests(s: LaneGroup, cond: Value, answer: boolean): (() => void)[] | undefined {
  const tests: (() => void)[] = [];
  const visit = (value: Value): boolean => {
    const inst = s.kernel.insts[value]!;
    if (shapeOf(s, value) === uniform) {
      tests.push(() => {
        s.scalar(value);
        if (answer) s.code.op('i32.eqz');
      });
      return true;
    }
    // All operands of a conjunction hold, or none of a disjunction does.
    if (inst.op === (answer ? 'and' : 'or')) return visit(inst.a) && visit(inst.b);
    const found = inst.op === 'icmp' ? orderTests(s, inst, answer) : undefined;
    tests.push(...(found ?? []));
    return found !== undefined;
  };
  return visit(cond) ? tests : undefined;
}

/** Order comparisons as "low is below high": which operand is low, and whether equality fails. */
const orders = { lt: [0, true], le: [0, false], gt: [1, true], ge: [1, false] } as const;
const inverse = { lt: 'ge', le: 'gt', gt: 'le', ge: 'lt' } as const;

/** Cheap tests of a comparison with an affine value on one side. */
function orderTests(s: LaneGroup, leaf: InstOf<'icmp'>, answer: boolean): (() => void)[] | undefined {
  if (isEquality(leaf)) return undefined;
  const { code, plan } = s;
  const sign = leaf.pred[0] as 's' | 'u';
  const given = leaf.pred.slice(1) as keyof typeof orders;
  const [swapped, isStrict] = orders[answer ? given : inverse[given]];
  const [low, high] = swapped ? [leaf.b, leaf.a] : [leaf.a, leaf.b];
  const [lowGrowth, highGrowth] = [strideOf(s, low), strideOf(s, high)].map((stride) => stride * (plan.lanes - 1)) as [number, number];
  const long = (value: Value): void => {
    s.scalar(value);
    code.op(`i64.extend_i32_${sign}`);
  };
  // The low side stays below at its largest value. It cannot wrap, because the high side does not.
  if (lowGrowth > 0 && shapeOf(s, high) === uniform)
    return [
      () => {
        long(high);
        long(low);
        code.op('i64.sub');
        code.i64(BigInt(lowGrowth + (isStrict ? 1 : 0)));
        code.op('i64.lt_s');
      },
    ];
  if (highGrowth <= 0 || shapeOf(s, low) !== uniform) return undefined;
  const largest = sign === 's' ? 0x7fff_ffff : 0xffff_ffff;
  return [
    () => {
      s.scalar(low);
      s.scalar(high);
      code.op(`i32.${isStrict ? 'ge' : 'gt'}_${sign}`);
    },
    // The high side reaches the last lane without wrapping.
    () => {
      s.scalar(high);
      code.i32((largest - highGrowth) | 0);
      code.op(`i32.gt_${sign}`);
    },
  ];
}

const isEquality = ({ pred }: InstOf<'icmp'>): boolean => pred === 'eq' || pred === 'ne';

/** Whether one side has stride 1 and the other is uniform. */
const isCounted = (s: LaneGroup, { a, b }: InstOf<'icmp'>): boolean =>
  strideOf(s, a) === 1 && shapeOf(s, a) === affine && shapeOf(s, b) === uniform;

/** Pushes whether no lane's value equals the other side. */
function pushMatchesNone(s: LaneGroup, { a, b }: InstOf<'icmp'>): void {
  s.scalar(b);
  s.scalar(a);
  s.code.op('i32.sub');
  s.code.i32(s.plan.lanes);
  s.code.op('i32.ge_u');
}

function pushEndsMatch(s: LaneGroup, leaf: InstOf<'icmp'>): void {
  compare(s, leaf, 0);
  compare(s, leaf, s.plan.lanes - 1);
  s.code.op('i32.eq');
  for (const operand of [leaf.a, leaf.b]) pushDoesNotWrap(s, operand, leaf.pred.startsWith('s'));
}

/** Pushes the condition of the first lane. */
function pushFirstLane(s: LaneGroup, value: Value): void {
  const inst = s.kernel.insts[value]!;
  if (shapeOf(s, value) === uniform) return s.scalar(value);
  if (inst.op === 'icmp') return compare(s, inst, 0);
  if (inst.op !== 'and' && inst.op !== 'or' && inst.op !== 'xor') return;
  pushFirstLane(s, inst.a);
  pushFirstLane(s, inst.b);
  s.code.op(`i32.${inst.op}`);
}

function compare(s: LaneGroup, { a, b, pred }: InstOf<'icmp'>, lane: number): void {
  push(s, a, lane);
  push(s, b, lane);
  s.code.op(`i32.${integerComparisons[pred]}`);
}

const strideOf = (s: LaneGroup, value: Value): number => (shapeOf(s, value) === affine ? s.plan.shapes.stride[value]! : 0);

function push(s: LaneGroup, value: Value, lane: number): void {
  s.scalar(value);
  const lowGrowth = lane * strideOf(s, value);
  if (lowGrowth === 0) return;
  s.code.i32(lowGrowth);
  s.code.op('i32.add');
}

/** Combines the test on the stack with one that a value does not wrap up to the last lane. */
function pushDoesNotWrap(s: LaneGroup, value: Value, isSigned: boolean): void {
  const stride = strideOf(s, value);
  if (stride === 0) return;
  s.scalar(value);
  push(s, value, s.plan.lanes - 1);
  s.code.op(`i32.${stride > 0 ? 'le' : 'ge'}_${isSigned ? 's' : 'u'}`);
  s.code.op('i32.and');
}
