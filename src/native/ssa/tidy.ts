/** Control flow without detours: blocks that are not reached, blocks that only jump on, and jumps to a block that nothing else reaches. */
import { moveEdges, predecessors, reversePostorder } from './flow.ts';
import { mapUses, newReplacements, removeTrivialParams } from './params.ts';
import { type Block, type Edge, edgeAt, edgeCount, type SsaFunction, type Value } from './types.ts';

/** Simplifies the control flow of a function. Blocks are in no particular order then: `orderBlocks` puts them into one. */
export function tidyFlow(fn: SsaFunction): void {
  removeUnreached(fn);
  removeTrivialParams(fn);
  if (skipEmptyBlocks(fn)) {
    removeUnreached(fn);
    removeTrivialParams(fn);
  }
  mergeBlocks(fn);
}

function removeUnreached(fn: SsaFunction): void {
  const { blocks } = fn;
  const order = reversePostorder(blocks);
  if (order.length === blocks.length) return;
  const isReached = new Uint8Array(blocks.length);
  for (const block of order) isReached[block] = 1;
  keepBlocks(fn, isReached);
}

/** Leaves the blocks that are marked, in their order. */
function keepBlocks(fn: SsaFunction, isKept: Uint8Array): void {
  const place = new Int32Array(fn.blocks.length);
  let count = 0;
  for (let i = 0; i < place.length; i++) {
    place[i] = count;
    count += isKept[i]!;
  }
  fn.blocks = fn.blocks.filter((_, i) => isKept[i]);
  for (const block of fn.blocks) moveEdges(block, place);
}

/** Has edges to a block without instructions lead to where it jumps, if its parameters are read by that jump alone; says whether there is one. */
function skipEmptyBlocks(fn: SsaFunction): boolean {
  if (!fn.blocks.some(({ insts, end }, i) => i > 0 && insts.length === 0 && end.op === 'jump')) return false;
  const uses = usesByBlock(fn);
  const isDetour = (block: Block, number: number): boolean =>
    number > 0 && block.insts.length === 0 && block.end.op === 'jump' && block.params.every((param) => uses[param] === number);
  const detours = fn.blocks.map(isDetour);
  if (!detours.includes(true)) return false;
  for (const { end } of fn.blocks) for (let at = 0, count = edgeCount(end); at < count; at++) follow(fn.blocks, edgeAt(end, at), detours);
  return true;
}

/** Follows an edge through empty blocks. A circle of these is an endless loop, which stays. */
function follow(blocks: readonly Block[], edge: Edge, detours: readonly boolean[]): void {
  for (let steps = 0; detours[edge.block] && steps < 100; steps++) {
    const { params, end } = blocks[edge.block]!;
    if (end.op !== 'jump' || end.to === edge || end.to.block === edge.block) return;
    const given = new Map(params.map((param, i) => [param, edge.args[i]!]));
    edge.args = end.to.args.map((arg) => given.get(arg) ?? arg);
    edge.block = end.to.block;
  }
}

/** The number of the one block that reads a value; -1 for a value that several read, or in an instruction. */
function usesByBlock({ blocks, types }: SsaFunction): Int32Array {
  const users = new Int32Array(types.length).fill(-2);
  const use = (value: Value, block: number): void => {
    users[value] = users[value] === -2 || users[value] === block ? block : -1;
  };
  blocks.forEach(({ insts, end }, block) => {
    for (const { args } of insts) for (const arg of args) users[arg] = -1;
    if (end.op === 'branch') users[end.cond] = -1;
    if (end.op === 'switch') users[end.index] = -1;
    if (end.op === 'return') for (const value of end.values) users[value] = -1;
    for (let at = 0, count = edgeCount(end); at < count; at++) for (const arg of edgeAt(end, at).args) use(arg, block);
  });
  // Nothing reads the parameter at all: its own block may be skipped, too.
  blocks.forEach(({ params }, block) => {
    for (const param of params) if (users[param] === -2) users[param] = block;
  });
  return users;
}

/** Puts the instructions of a block that one jump reaches behind that jump's. */
function mergeBlocks(fn: SsaFunction): void {
  const { blocks } = fn;
  const before = predecessors(blocks);
  const isKept = new Uint8Array(blocks.length).fill(1);
  const replaced = newReplacements();
  for (let i = 0; i < blocks.length; i++) {
    if (!isKept[i]) continue;
    const block = blocks[i]!;
    for (let { end } = block; end.op === 'jump' && end.to.block !== i; { end } = block) {
      const { block: to, args } = end.to;
      if (to === 0 || before[to]!.length !== 1) break;
      const next = blocks[to]!;
      for (const [at, param] of next.params.entries()) replaced.set(param, args[at]!);
      if (block.insts.length === 0) block.insts = next.insts;
      else for (const inst of next.insts) block.insts.push(inst);
      block.end = next.end;
      isKept[to] = 0;
    }
  }
  if (isKept.every((kept) => kept === 1)) return;
  keepBlocks(fn, isKept);
  mapUses(fn, replaced.of);
}
