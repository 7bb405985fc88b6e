/**
 * Moves instructions in front of the loops in which their operands do not change: those that neither trap nor touch memory, and reads of globals that
 * the loop leaves alone.
 */
import { dominatorsOf, type Loop, type Loops, loopsOf, orderBlocks, predecessors, reversePostorder } from './flow.ts';
import { computationOf, newKnownResults } from './known.ts';
import { mapUses, newReplacements } from './params.ts';
import { effectOf } from './signature.ts';
import { type Block, edgesOf, type Inst, type SsaFunction, type Value } from './types.ts';

/** Hoists what is invariant, and orders the blocks anew. */
export function hoistInvariants(fn: SsaFunction): void {
  addPreheaders(fn);
  orderBlocks(fn);
  const { blocks } = fn;
  const order = reversePostorder(blocks);
  const before = predecessors(blocks);
  const dominators = dominatorsOf(blocks, order, before);
  const loops = loopsOf(blocks, order, before, dominators);
  if (loops.loops.length === 0) return;
  const preheaders = loops.loops.map(({ header, blocks: inside }) => before[header]!.find((each) => !inside.has(each))!);
  const changed = loops.loops.map((loop) => changedGlobals(loop, blocks));
  const isDispatch = loops.loops.map((loop) => dispatches(loop, blocks));
  const always = (loop: Loop, block: number): boolean =>
    before[loop.header]!.some((latch) => loop.blocks.has(latch) && dominators.dominates(block, latch));
  const homes = new Int32Array(fn.types.length);
  const homeOf = (inst: Inst, block: number): number => {
    for (let at = block; ; ) {
      const number = loops.innermost[at]!;
      if (number < 0) return at;
      const loop = loops.loops[number]!;
      const isFree = inst.args.every((arg) => !loop.blocks.has(homes[arg]!)) && isInvariant(inst, changed[number]!);
      if (!isFree || (isDispatch[number] && !always(loop, at))) return at;
      at = preheaders[number]!;
    }
  };
  moveAll(fn, homes, homeOf, dominators.dominates);
}

/** Moves each instruction to the end of its home, in the order in which they stood. Of equal ones that are moved, one is left. */
function moveAll(
  fn: SsaFunction,
  homes: Int32Array,
  homeOf: (inst: Inst, block: number) => number,
  dominates: (above: number, block: number) => boolean,
): void {
  const known = newKnownResults();
  const replaced = newReplacements();
  /** An equal instruction that was moved to where it serves as well; undefined if there is none. A global may be set between two reads. */
  const sameAs = (inst: Inst, home: number): Value | undefined => {
    if (effectOf(inst.op) === 'global.get') return undefined;
    const computation = computationOf(inst, fn.types[inst.result!]!, 0);
    const same = known.get(computation);
    if (same !== undefined && dominates(homes[same]!, home)) return same;
    known.set(computation, inst.result!);
    return undefined;
  };
  fn.blocks.forEach((block, i) => {
    for (const param of block.params) homes[param] = i;
    // A preheader stands before its loop, so that it has all its own instructions when more are moved to it.
    const insts = block.insts;
    block.insts = [];
    for (const inst of insts) {
      if (replaced.size > 0) inst.args = inst.args.map(replaced.of);
      const home = block.isRare ? i : homeOf(inst, i);
      const same = home === i ? undefined : sameAs(inst, home);
      if (same !== undefined) {
        replaced.set(inst.result!, same);
        continue;
      }
      if (inst.result !== undefined) homes[inst.result] = home;
      fn.blocks[home]!.insts.push(inst);
    }
  });
  if (replaced.size > 0) mapUses(fn, replaced.of);
}

function isInvariant({ op, index }: Inst, changed: ReadonlySet<number> | 'all'): boolean {
  const effect = effectOf(op);
  return effect === 'pure' || effect === 'constant' || (effect === 'global.get' && changed !== 'all' && !changed.has(index!));
}

/** The globals that a loop changes. A call may change all of them. */
function changedGlobals(loop: Loop, blocks: readonly Block[]): ReadonlySet<number> | 'all' {
  const changed = new Set<number>();
  for (const block of loop.blocks)
    for (const { op, index } of blocks[block]!.insts) {
      if (op === 'call') return 'all';
      if (op === 'global.set') changed.add(index!);
    }
  return changed;
}

/** Whether a loop goes to one of many states in each round, so that what a state computes is seldom needed in the others. */
function dispatches({ header, blocks: inside }: Loop, blocks: readonly Block[]): boolean {
  const { end } = blocks[header]!;
  return end.op === 'switch' || [...edgesOf(end)].some(({ block }) => inside.has(block) && blocks[block]!.end.op === 'switch');
}

/** Gives each loop a block that is before its header and jumps there only. */
function addPreheaders(fn: SsaFunction): void {
  const { blocks } = fn;
  const before = predecessors(blocks);
  const { loops }: Loops = loopsOf(blocks, reversePostorder(blocks), before);
  for (const { header, blocks: inside } of loops) {
    const outside = before[header]!.filter((each) => !inside.has(each));
    if (outside.length === 1 && blocks[outside[0]!]!.end.op === 'jump') continue;
    const params = blocks[header]!.params.map((param) => fn.types.push(fn.types[param]!) - 1);
    const preheader = blocks.length;
    for (const from of new Set(outside)) for (const edge of edgesOf(blocks[from]!.end)) if (edge.block === header) edge.block = preheader;
    blocks.push({ params, insts: [], end: { op: 'jump', to: { block: header, args: [...params] } }, loopDepth: 0 });
  }
}
