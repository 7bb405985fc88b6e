/**
 * Fewer and longer blocks: unreachable blocks are removed, branches with two equal edges become jumps, edges skip blocks that only jump on, and
 * a block is joined to the only one that leads to it. The entry block stays first, without parameters and predecessors.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { type Block, type Edge, edgesOf, type Kernel, renumber, type Value } from '../kernel.ts';
import { eachOperand, terminatorOperands } from '../operands.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';

/** Cleans the graph in place and renumbers the blocks; true where anything changed. */
export function cleanupCfg(kernel: Kernel): boolean {
  let changed = dropUnreachable(kernel);
  changed = forwardEdges(kernel) || changed;
  changed = joinEqualEdges(kernel) || changed;
  changed = dropUnreachable(kernel) || changed;
  return joinChains(kernel) || changed;
}

function dropUnreachable(kernel: Kernel): boolean {
  const { position } = cfgOf(kernel);
  return keepBlocks(kernel, ({ id }) => position[id]! >= 0);
}

function keepBlocks(kernel: Kernel, isKept: (block: Block) => boolean): boolean {
  const kept = kernel.blocks.filter(isKept);
  if (kept.length === kernel.blocks.length) return false;
  kernel.blocks = kept;
  renumber(kernel);
  return true;
}

// ── branches that are jumps ──

function joinEqualEdges(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks) {
    if (block.end.op !== 'condbr' || !areEqual(block.end.then, block.end.else)) continue;
    block.end = { op: 'br', to: block.end.then };
    changed = true;
  }
  return changed;
}

const areEqual = (a: Edge, b: Edge): boolean => a.block === b.block && a.args.every((arg, i) => arg === b.args[i]);

// ── blocks that only jump on ──

function forwardEdges(kernel: Kernel): boolean {
  const empty = kernel.blocks.filter(({ body, end }) => body.length === 0 && end.op === 'br');
  if (empty.length === 0) return false;
  const escapes = escapingParams(kernel, empty);
  const skipped = new Set(empty.filter((block) => block.params.every((param) => !escapes.has(param))));
  const next = (block: Block): Edge | undefined => (block.end.op === 'br' && skipped.has(block) ? block.end.to : undefined);
  let changed = false;
  // Blocks near the exit first: each edge is then one step from where it ends up.
  for (const id of [...cfgOf(kernel).order].reverse())
    for (const edge of edgesOf(kernel.blocks[id]!.end)) changed = forward(edge, next) || changed;
  return changed;
}

/** Parameters of these blocks that another block uses: a block that defines one cannot be skipped. */
function escapingParams(kernel: Kernel, blocks: readonly Block[]): Set<Value> {
  const home = new Map<Value, Block>();
  for (const block of blocks) for (const param of block.params) home.set(param, block);
  const escapes = new Set<Value>();
  if (home.size === 0) return escapes;
  for (const block of kernel.blocks) {
    const visit = (value: Value): void => {
      const definer = home.get(value);
      if (definer !== undefined && definer !== block) escapes.add(value);
    };
    for (const value of block.body) eachOperand(kernel.insts[value]!, visit);
    terminatorOperands(block.end).forEach(visit);
  }
  return escapes;
}

/** Moves an edge past empty blocks; it stops where it has been, which is in an endless loop of them. */
function forward(edge: Edge, next: (block: Block) => Edge | undefined): boolean {
  const seen = new Set<Block>();
  for (let to = next(edge.block); to && !seen.has(edge.block) && to.block !== edge.block; to = next(edge.block)) {
    seen.add(edge.block);
    const passed = new Map(edge.block.params.map((param, i) => [param, edge.args[i]!]));
    edge.args = to.args.map((arg) => passed.get(arg) ?? arg);
    edge.block = to.block;
  }
  return seen.size > 0;
}

// ── straight lines ──

function joinChains(kernel: Kernel): boolean {
  const { order, predecessors } = cfgOf(kernel);
  const s = substitution();
  const joined = new Set<Block>();
  for (const id of order) {
    const block = kernel.blocks[id]!;
    if (!joined.has(block)) joinInto(block, { predecessors, s, joined });
  }
  substitute(kernel, s);
  return keepBlocks(kernel, (block) => !joined.has(block));
}

interface Joining {
  readonly predecessors: readonly (readonly number[])[];
  readonly s: Substitution;
  readonly joined: Set<Block>;
}

function joinInto(block: Block, { predecessors, s, joined }: Joining): void {
  while (block.end.op === 'br') {
    const { block: next, args } = block.end.to;
    if (next === block || predecessors[next.id]!.length !== 1) return;
    next.params.forEach((param, i) => {
      s.replace(param, s.of(args[i]!));
    });
    for (const value of next.body) block.body.push(value);
    block.end = next.end;
    block.endLoc = next.endLoc;
    joined.add(next);
  }
}
