/**
 * Loop-invariant code motion: an instruction whose operands a loop does not change is computed once, before the outermost loop for which that
 * holds. A cheap instruction is hoisted even if not every iteration runs it, a costly one only if every iteration does. Instructions without a
 * cost (constants, addresses that an access folds) are hoisted only as operands of others.
 */
import { addTo } from '../../base/group.ts';
import { type Cfg, cfgOf } from '../analysis/cfg.ts';
import { type DominatorTree, dominatorsOf } from '../analysis/dominators.ts';
import { type Loop, type Loops, loopsOf } from '../analysis/loops.ts';
import { addBlock, addBlockParam } from '../build.ts';
import { type Block, edgesOf, type Inst, type Kernel, typeOf, type Value } from '../kernel.ts';
import { argsOf, eachOperand } from '../operands.ts';
import { isSpeculatable, weightOf } from './weight.ts';

/** Weight up to which an instruction may run speculatively. */
const maxSpeculatedWeight = 4;
/** No loop. */
const none = -1;

interface State {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly loops: Loops;
  /** By value: the innermost loop around its definition. */
  readonly made: Int32Array;
  /** By value: the innermost loop around the place to which it may be hoisted. */
  readonly home: Int32Array;
  /** By value: the outermost loop that it may leave; none where it is not invariant. */
  readonly may: Int32Array;
  /** By value: the loop before which it is hoisted. */
  readonly goes: Int32Array;
}

/** Hoists invariants out of loops, in place; returns whether there were any. */
export function hoistInvariants(kernel: Kernel): boolean {
  const cfg = cfgOf(kernel);
  const dominators = dominatorsOf(cfg);
  const loops = loopsOf(cfg, dominators);
  if (loops.loops.length === 0) return false;
  const perValue = (): Int32Array => new Int32Array(kernel.insts.length).fill(none);
  const state: State = { kernel, cfg, dominators, loops, made: perValue(), home: perValue(), may: perValue(), goes: perValue() };
  findInvariants(state);
  return chooseMoves(state) && move(state);
}

// ── candidates ──

function findInvariants(state: State): void {
  const { kernel, cfg, loops, made, home } = state;
  for (const id of cfg.order) {
    const { params, body } = kernel.blocks[id]!;
    const inside = loops.innermost[id]!;
    for (const value of [...params, ...body]) {
      made[value] = inside;
      home[value] = inside;
    }
    if (inside !== none) for (const value of body) findWayOut(state, id, value);
  }
}

/** Loops are left from the inside out, as long as no operand is made inside. */
function findWayOut({ kernel, loops: { loops }, dominators, home, may }: State, id: number, value: Value): void {
  const inst = kernel.insts[value]!;
  if (!isSpeculatable(inst)) return;
  const isCheap = weightOf(kernel, inst) <= maxSpeculatedWeight;
  for (let loop = home[value]!; loop !== none; loop = loops[loop]!.parent) {
    if (!isInvariant(inst, loop, loops, home)) return;
    if (!isCheap && !isEachTurn(id, loops[loop]!, kernel, dominators)) return;
    may[value] = loop;
    home[value] = loops[loop]!.parent;
  }
}

function isInvariant(inst: Inst, loop: number, loops: readonly Loop[], home: Int32Array): boolean {
  const fields = inst as unknown as Record<string, Value>;
  for (const name of argsOf(inst.op)) if (isWithin(home[fields[name]!]!, loop, loops)) return false;
  return true;
}

function isWithin(inner: number, outer: number, loops: readonly Loop[]): boolean {
  // Inner loops are later in the list.
  for (let loop = inner; loop >= outer; loop = loops[loop]!.parent) if (loop === outer) return true;
  return false;
}

/** Whether a block is run in every turn, the last one too. */
function isEachTurn(id: number, { blocks, latches }: Loop, kernel: Kernel, { dominates }: DominatorTree): boolean {
  const inside = new Set(blocks);
  const leaves = (from: number): boolean => edgesOf(kernel.blocks[from]!.end).some(({ block }) => !inside.has(block.id));
  return latches.every((latch) => dominates(id, latch)) && blocks.every((block) => !leaves(block) || dominates(id, block));
}

// ── choice ──

/** Instructions with a cost are hoisted as far as they may, with the operands that they need. Returns whether there is one. */
function chooseMoves(state: State): boolean {
  const { kernel, cfg, may, goes } = state;
  let any = false;
  // Users before their operands.
  for (let at = cfg.order.length - 1; at >= 0; at--) {
    const { body } = kernel.blocks[cfg.order[at]!]!;
    for (let i = body.length - 1; i >= 0; i--) {
      const value = body[i]!;
      if (goes[value] === none && may[value] === none) continue;
      const inst = kernel.insts[value]!;
      if (may[value] !== none && weightOf(kernel, inst) > 0) goes[value] = may[value]!;
      if (goes[value] === none) continue;
      any = true;
      eachOperand(inst, (operand) => takeAlong(state, operand, goes[value]!));
    }
  }
  return any;
}

/** An operand that is made inside the loop leaves it too. */
function takeAlong({ loops: { loops }, made, goes }: State, operand: Value, loop: number): void {
  if (!isWithin(made[operand]!, loop, loops)) return;
  if (goes[operand] === none || loops[loop]!.depth < loops[goes[operand]!]!.depth) goes[operand] = loop;
}

// ── moving ──

function move({ kernel, cfg, loops: { loops }, goes }: State): boolean {
  const moved = new Map<number, Value[]>();
  // Definitions before their uses, which is the order in which they are put down.
  for (const id of cfg.order) {
    const block = kernel.blocks[id]!;
    block.body = block.body.filter((value) => {
      const loop = goes[value]!;
      if (loop === none) return true;
      addTo(moved, loop, value);
      return false;
    });
  }
  const blocks = [...kernel.blocks];
  for (const [loop, values] of moved) blockBefore(kernel, blocks, loops[loop]!, cfg).body.push(...values);
  return moved.size > 0;
}

/** The block through which a loop is entered and nothing else, made if there is none. */
function blockBefore(kernel: Kernel, blocks: readonly Block[], { header, blocks: inside }: Loop, { predecessors }: Cfg): Block {
  const target = blocks[header]!;
  const entering = [...new Set(predecessors[header])].filter((from) => !inside.includes(from)).map((from) => blocks[from]!);
  const only = entering.length === 1 ? entering[0]! : undefined;
  if (only?.end.op === 'br') return only;
  const before = addBlock(kernel);
  const args = target.params.map((param) => addBlockParam(kernel, before, typeOf(kernel, param)));
  before.end = { op: 'br', to: { block: target, args } };
  for (const { end } of entering) for (const edge of edgesOf(end)) if (edge.block === target) edge.block = before;
  return before;
}
