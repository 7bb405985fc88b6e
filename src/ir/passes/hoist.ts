/**
 * Loop-invariant motion: what every turn of a loop computes anew from the same operands is computed once, in front of the outermost loop in
 * which that holds. An instruction that costs little goes even where not every turn runs it; a costly one only where every turn does.
 * What costs nothing by itself (constants, addresses that an access adds up) follows where another needs it, and stays otherwise.
 */
import { addTo } from '../../base/group.ts';
import { type Cfg, cfgOf } from '../analysis/cfg.ts';
import { type DominatorTree, dominatorsOf } from '../analysis/dominators.ts';
import { type Loop, type Loops, loopsOf } from '../analysis/loops.ts';
import { addBlock, addBlockParam } from '../build.ts';
import { type Block, edgesOf, type Inst, type Kernel, typeOf, type Value } from '../kernel.ts';
import { eachOperand } from '../operands.ts';
import { isSpeculatable, weightOf } from './weight.ts';

/** Up to this weight an instruction may run once in vain. */
const cheap = 4;
/** No loop. */
const none = -1;

interface State {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly loops: Loops;
  /** By value: the innermost loop around the place where it is made. */
  readonly made: Int32Array;
  /** By value: that around the place it may go to. */
  readonly home: Int32Array;
  /** By value: the outermost loop that it may leave; none where it has to stay. */
  readonly may: Int32Array;
  /** By value: the loop in front of which it goes. */
  readonly goes: Int32Array;
}

/** Moves what is invariant out of loops, in place; true where there was any. */
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

// ── what may go ──

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
  const isCheap = weightOf(kernel, inst) <= cheap;
  for (let loop = home[value]!; loop !== none; loop = loops[loop]!.parent) {
    if (!isInvariant(inst, loop, loops, home)) return;
    if (!isCheap && !isEachTurn(id, loops[loop]!, kernel, dominators)) return;
    may[value] = loop;
    home[value] = loops[loop]!.parent;
  }
}

function isInvariant(inst: Inst, loop: number, loops: readonly Loop[], home: Int32Array): boolean {
  let result = true;
  eachOperand(inst, (operand) => {
    if (isWithin(home[operand]!, loop, loops)) result = false;
  });
  return result;
}

function isWithin(inner: number, outer: number, loops: readonly Loop[]): boolean {
  // Inner loops come later in the list.
  for (let loop = inner; loop >= outer; loop = loops[loop]!.parent) if (loop === outer) return true;
  return false;
}

/** Whether a block is run in every turn, the last one too. */
function isEachTurn(id: number, { blocks, latches }: Loop, kernel: Kernel, { dominates }: DominatorTree): boolean {
  const inside = new Set(blocks);
  const leaves = (from: number): boolean => edgesOf(kernel.blocks[from]!.end).some(({ block }) => !inside.has(block.id));
  return latches.every((latch) => dominates(id, latch)) && blocks.every((block) => !leaves(block) || dominates(id, block));
}

// ── what does go ──

/** Instructions that cost something go as far as they may, and the operands they need with them. True where there is one. */
function chooseMoves(state: State): boolean {
  const { kernel, cfg, may, goes } = state;
  let any = false;
  // Users before what they use.
  for (const id of [...cfg.order].reverse())
    for (const value of [...kernel.blocks[id]!.body].reverse()) {
      const inst = kernel.insts[value]!;
      if (may[value] !== none && weightOf(kernel, inst) > 0) goes[value] = may[value]!;
      if (goes[value] === none) continue;
      any = true;
      eachOperand(inst, (operand) => takeAlong(state, operand, goes[value]!));
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

/** The block through which a loop is entered and nothing else, made where there is none. */
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
