/**
 * A branch on a varying condition. Where a test for uniformity pays it comes first: by the first and the last lane (`uniform-branch.ts`), by
 * the uniform operand of the condition, or by the masks of all lanes. A divergent group goes on in linearized code (`predication.ts`).
 */
import { type Block, type Edge, type Kernel, uniform, type Value } from '../../../ir/index.ts';
import type { Nested } from '../../codegen/nesting.ts';
import { type LaneGroup, shapeOf } from '../lanes/lane-group.ts';
import type { Flow } from './frame.ts';
import { pushAllActive } from './memory-access.ts';
import { type DivergentRegion, writeLinearized } from './predication.ts';
import { isAvailable, mayTestUniformity, uniformTests, writeUniformTest } from './uniform-branch.ts';

export type Branch = Extract<Block['end'], { op: 'condbr' }>;

/** A branch that is being emitted, and where it may go. */
export interface VaryingBranch {
  readonly flow: Flow;
  readonly nest: Nested;
  /** The block that ends in the branch. */
  readonly id: number;
  readonly end: Branch;
  readonly divergent: DivergentRegion;
  /** Whether the branch is tested for uniformity first. */
  readonly isTested: boolean;
  jump(from: number, edge: Edge): void;
  reconverge(from: number, to: number): void;
}

/** The uniform operand of a varying condition: where it equals `decides` it decides for all lanes, else `rest` does. */
interface UniformPart {
  readonly shared: Value;
  readonly rest: Value;
  readonly decides: boolean;
}

/** The uniform operand of a condition; undefined where it has none, or no other. */
export function uniformPart(group: LaneGroup, cond: Value): UniformPart | undefined {
  const inst = group.kernel.insts[cond]!;
  if (inst.op !== 'and' && inst.op !== 'or') return undefined;
  const [a, b] = [shapeOf(group, inst.a), shapeOf(group, inst.b)];
  if ((a === uniform) === (b === uniform)) return undefined;
  return { shared: a === uniform ? inst.a : inst.b, rest: a === uniform ? inst.b : inst.a, decides: inst.op === 'or' };
}

/** The successor with more work. */
function likelySuccessor({ blocks }: Kernel, { then, else: otherwise }: Branch): Edge {
  const size = ({ block }: Edge): number => (block.end.op === 'ret' ? 0 : 1e6) + blocks[block.id]!.body.length;
  return size(then) >= size(otherwise) ? then : otherwise;
}

/** Emits a branch on a varying condition. */
export function writeVaryingBranch(branch: VaryingBranch): void {
  const { flow, id, end } = branch;
  const { values, group, code, kernel } = flow;
  if (!branch.isTested || !isDecidedByEnds(branch)) return writeMaskBranch(branch);
  const isThen = likelySuccessor(kernel, end) === end.then;
  const hasLikelyTest = emitCheapTest(branch, isThen);
  if (emitCheapTest(branch, !isThen) && hasLikelyTest) return writeMaskBranch(branch);
  const answer = group.scratch.take('i32');
  writeUniformTest(group, end.cond, answer);
  const restore = values.snapshot(kernel.blocks[id]!);
  branch.nest.either(
    () => {
      code.at('local.get', answer);
      group.scratch.give(answer);
      branch.nest.either(
        () => branch.jump(id, end.then),
        () => branch.jump(id, end.else),
      );
    },
    () => {
      restore();
      writeMaskBranch(branch);
    },
  );
}

/** Whether the first and the last lane can decide for all. */
const isDecidedByEnds = ({ flow: { group }, end }: VaryingBranch): boolean =>
  mayTestUniformity(group, end.cond) && isAvailable(group, end.cond);

/** Emits the cheap test for one outcome and the jump that it allows; false where the condition has no cheap test. */
function emitCheapTest({ flow: { group, code }, id, end, jump }: VaryingBranch, isThen: boolean): boolean {
  const tests = uniformTests(group, end.cond, isThen);
  if (!tests) return false;
  code.open('block');
  for (const test of tests) {
    test();
    code.at('br_if', 0);
  }
  jump(id, isThen ? end.then : end.else);
  code.end();
  return true;
}

/** Emits the branch by masks, behind a test of the uniform operand of its condition where that pays. */
function writeMaskBranch(branch: VaryingBranch): void {
  const { flow, nest, id, end, jump } = branch;
  const { group, values, kernel } = flow;
  const split = branch.isTested && !isDecidedByEnds(branch) && group.isDeferred(end.cond) ? uniformPart(group, end.cond) : undefined;
  if (!split) return writeByMasks(branch, end.cond);
  const restore = values.snapshot(kernel.blocks[id]!);
  const rest = (): void => {
    restore();
    writeByMasks(branch, split.rest);
  };
  group.scalar(split.shared);
  if (split.decides) nest.either(() => jump(id, end.then), rest);
  else nest.either(rest, () => jump(id, end.else));
}

/** Emits the branch on the masks of a condition: the whole one, or what its uniform operand leaves. */
function writeByMasks(branch: VaryingBranch, cond: Value): void {
  const { flow, nest, id, end, divergent, jump } = branch;
  const { group, code } = flow;
  const then = flow.masksWhere(cond, group.mask);
  const linearized = (): void => {
    const otherwise = flow.masksExcept(then, group.mask);
    writeLinearized(flow, divergent, then, otherwise);
    flow.giveMasks(then);
    flow.giveMasks(otherwise);
    branch.reconverge(id, divergent.reconvergence);
  };
  // Where the test on the first and the last lane was emitted before, its failure means divergence.
  if (!branch.isTested || isDecidedByEnds(branch)) return linearized();
  pushAllActive(group, then);
  nest.either(
    () => jump(id, end.then),
    () => {
      flow.pushAnyActive(then);
      code.op('i32.eqz');
      nest.either(() => jump(id, end.else), linearized);
    },
  );
}
