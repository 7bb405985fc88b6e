/**
 * Control flow of a region in the scalar compiler: a reducible graph becomes nested blocks and loops, an irreducible one a state machine, which is
 * a loop around a `br_table`.
 */
import type { Block, Edge, Kernel, Value } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import { writeNest } from '../codegen/nesting.ts';
import type { Region } from '../codegen/regions.ts';

/** The code of the blocks and edges. Nothing may be left on the stack. */
export interface Contents {
  body(block: Block): void;
  /** Assigns the arguments of an edge to block parameters. */
  transfer(edge: Edge): void;
  condition(value: Value): void;
  /** Leaves the region at a return or a sync point. Must end with a jump. */
  leave(block: Block): void;
  /** Whether threads leave the region at the end of a block, whatever edges it has. */
  isLast(block: Block): boolean;
  /** Leaves the region by an edge into an entry. Must end with a jump. */
  leaveBy(edge: Edge): void;
  /** Writes the start of each loop. */
  turn(): void;
}

/** Writes a region; control never reaches its end. */
export function writeStructure(kernel: Kernel, region: Region, code: Code, contents: Contents): void {
  if (region.isReducible) writeNested(kernel, region, code, contents);
  else writeStateMachine(kernel, region, code, contents);
  code.op('unreachable');
}

/** Whether an edge leads out of the region: into the entry of a region, be it its own. */
const leadsOut = ({ cfg }: Region, from: number, { block }: Edge): boolean => !cfg.successors[from]!.includes(block.id);

function writeNested(kernel: Kernel, region: Region, code: Code, contents: Contents): void {
  const { cfg, dominators } = region;
  const graph = { ...cfg, children: dominators.children, ways: (id: number) => cfg.successors[id]! };
  writeNest(code, graph, region.entry, ({ go, either }) => {
    const jump = (from: number, edge: Edge): void => {
      if (leadsOut(region, from, edge)) return contents.leaveBy(edge);
      contents.transfer(edge);
      go(from, edge.block.id);
    };
    const leaf = (id: number): void => {
      const block = kernel.blocks[id]!;
      contents.body(block);
      const { end } = block;
      if (contents.isLast(block) || end.op === 'ret') return contents.leave(block);
      if (end.op === 'br') return jump(id, end.to);
      contents.condition(end.cond);
      either(
        () => jump(id, end.then),
        () => jump(id, end.else),
      );
    };
    return { leaf, turn: () => contents.turn() };
  });
}

function writeStateMachine(kernel: Kernel, region: Region, code: Code, contents: Contents): void {
  const { order, position } = region.cfg;
  const next = code.local('i32');
  // The local still holds the previous thread's last state.
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
