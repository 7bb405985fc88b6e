/**
 * Basic blocks as WebAssembly's nested blocks and loops.
 * Source: Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP 2022);
 * his recursion is a stack of tasks here, because kernels nest deeply. A graph with a cycle of two entries becomes a loop
 * around a table of all blocks.
 */
import type { Block, Cfg, Edge, Kernel, Value } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import type { Region } from './regions.ts';

/** What stands in the blocks. Nothing may be left on the stack. */
export interface Contents {
  body(block: Block): void;
  /** Hands over the arguments of an edge. */
  transfer(edge: Edge): void;
  condition(value: Value): void;
  /** Leaves the region: at a return or a stop. Must end with a jump. */
  leave(block: Block): void;
  /** Whether threads leave the region at the end of a block, whatever edges it has. */
  isLast(block: Block): boolean;
  /** Leaves the region by an edge into an entry. Must end with a jump. */
  leaveBy(edge: Edge): void;
  /** Stands at the start of each loop. */
  turn(): void;
}

/** Writes a region; control never runs off its end. */
export function writeStructure(kernel: Kernel, region: Region, code: Code, contents: Contents): void {
  if (region.isReducible) writeNested(kernel, region, code, contents);
  else writeTable(kernel, region, code, contents);
  code.op('unreachable');
}

/** Whether an edge leads out of the region: into an entry, be it the region's own. */
const leadsOut = ({ cfg }: Region, from: number, { block }: Edge): boolean => !cfg.successors[from]!.includes(block.id);

/** By block: edges into it from before, and whether there is one from behind. */
function edgesInto({ order, successors, position }: Cfg): { forwardEdges: Int32Array; isHeader: Uint8Array } {
  const forwardEdges = new Int32Array(successors.length);
  const isHeader = new Uint8Array(successors.length);
  for (const from of order)
    for (const to of successors[from]!) {
      if (position[to]! > position[from]!) forwardEdges[to]!++;
      else isHeader[to] = 1;
    }
  return { forwardEdges, isHeader };
}

type Task = () => void;

function writeNested(kernel: Kernel, region: Region, code: Code, contents: Contents): void {
  const { cfg, dominators } = region;
  const { forwardEdges, isHeader } = edgesInto(cfg);
  /** By block: the nesting at which a jump to it lands. */
  const labels = new Map<number, number>();
  const work: Task[] = [];
  const then = (...tasks: Task[]): void => void work.push(...tasks.reverse());

  /** The blocks below a block in the dominator tree at which paths meet follow it, the last one outermost. */
  const tree = (id: number): void => {
    const merges = dominators.children[id]!.filter((child) => forwardEdges[child]! > 1).sort((a, b) => cfg.position[b]! - cfg.position[a]!);
    if (isHeader[id]) {
      code.open('loop');
      labels.set(id, code.depth);
      contents.turn();
    }
    for (const merge of merges) {
      code.open('block');
      labels.set(merge, code.depth);
    }
    then(
      () => leaf(id),
      ...merges.reverse().flatMap((merge) => [() => code.end(), () => tree(merge)]),
      () => {
        if (isHeader[id]) code.end();
      },
    );
  };

  const leaf = (id: number): void => {
    const block = kernel.blocks[id]!;
    contents.body(block);
    const { end } = block;
    if (contents.isLast(block) || end.op === 'ret') return contents.leave(block);
    if (end.op === 'br') return jump(id, end.to);
    contents.condition(end.cond);
    code.open('if');
    then(
      () => jump(id, end.then),
      () => code.else(),
      () => jump(id, end.else),
      () => code.end(),
      // Both sides have jumped.
      () => code.op('unreachable'),
    );
  };

  const jump = (from: number, edge: Edge): void => {
    if (leadsOut(region, from, edge)) return contents.leaveBy(edge);
    contents.transfer(edge);
    const to = edge.block.id;
    const isBack = cfg.position[to]! <= cfg.position[from]!;
    if (isBack || forwardEdges[to]! > 1) code.at('br', code.depth - labels.get(to)!);
    else tree(to);
  };

  tree(region.entry);
  for (let task = work.pop(); task; task = work.pop()) task();
}

function writeTable(kernel: Kernel, region: Region, code: Code, contents: Contents): void {
  const { order, position } = region.cfg;
  const next = code.local('i32');
  // The thread before has left its own way in it.
  code.i32(position[region.entry]!);
  code.at('local.set', next);
  code.open('loop');
  const top = code.depth;
  for (const _ of order) code.open('block');
  code.at('local.get', next);
  code.table(
    order.map((_, i) => i),
    order.length - 1,
  );
  const jump = (from: number, edge: Edge): void => {
    if (leadsOut(region, from, edge)) return contents.leaveBy(edge);
    contents.transfer(edge);
    code.i32(position[edge.block.id]!);
    code.at('local.set', next);
    code.at('br', code.depth - top);
  };
  for (const id of order) {
    code.end();
    contents.turn();
    const block = kernel.blocks[id]!;
    contents.body(block);
    const { end } = block;
    if (contents.isLast(block) || end.op === 'ret') contents.leave(block);
    else if (end.op === 'br') jump(id, end.to);
    else {
      contents.condition(end.cond);
      code.open('if');
      jump(id, end.then);
      code.end();
      jump(id, end.else);
    }
  }
  code.end();
}
