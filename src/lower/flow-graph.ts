/**
 * Basic blocks of a function body, as the source has them: cut at labels, branches and returns. Blocks that control never
 * reaches are left out. Guarded instructions inside a block are not part of it.
 */

import { bug } from '../base/bug.ts';
import type { Span } from '../base/source.ts';
import {
  type CheckedInstruction,
  type CheckedItem,
  type LabelPlace,
  labelsListed,
  lookUp,
  type MatchedOperand,
  type Scope,
} from '../ptx/index.ts';

export interface SourceBlock {
  /** Position in the source. */
  readonly index: number;
  label: string | undefined;
  readonly code: CheckedInstruction[];
  end: SourceEnd;
  /** Edges that lead here from blocks that are reached. */
  edgeCount: number;
}

/** `to` is taken when the guard holds, `next` otherwise; a block, `leave` or `exit`. Without guard only `to` counts. */
export interface SourceEnd {
  readonly to: number;
  readonly next: number;
  readonly guard: CheckedInstruction['guard'];
  readonly span: Span | undefined;
  /** Where an index selects one of several blocks, instead of `to`. */
  readonly table?: { readonly index: MatchedOperand; readonly scope: Scope; readonly to: readonly number[] };
}

/** Leaving the body, as a target of `SourceEnd`. */
export const leave = -1;
/** Ending the thread, as a target of `SourceEnd`. */
export const exit = -2;

/** Whether an instruction ends a basic block. */
const endsBlock = ({ match: { row } }: CheckedInstruction): boolean =>
  row.control === 'branch' || row.control === 'return' || row.control === 'exit';

interface Cut {
  readonly blocks: SourceBlock[];
  readonly labels: Map<LabelPlace, number>;
  /** The instruction that ends a block, where one does. */
  readonly ends: (CheckedInstruction | undefined)[];
}

/** The blocks that control reaches, every block after one of its predecessors, the first being where the function starts. */
export function flowGraph(body: readonly CheckedItem[]): SourceBlock[] {
  const cut = cutBlocks(body);
  cut.blocks.forEach((block, index) => {
    block.end = endOf(cut, index);
  });
  const order = reversePostorder(cut.blocks);
  for (const block of order) for (const to of successors(block)) if (to >= 0) cut.blocks[to]!.edgeCount++;
  return order;
}

function cutBlocks(body: readonly CheckedItem[]): Cut {
  const cut: Cut = { blocks: [], labels: new Map(), ends: [] };
  let current = addSourceBlock(cut, undefined);
  let isOpen = true;
  for (const item of body) {
    if (item.kind === 'label') {
      if (!isOpen || current.code.length > 0) current = addSourceBlock(cut, item.label.name);
      current.label ??= item.label.name;
      cut.labels.set(item.label, current.index);
      isOpen = true;
      continue;
    }
    if (!isOpen) current = addSourceBlock(cut, undefined);
    isOpen = !endsBlock(item);
    if (isOpen) current.code.push(item);
    else cut.ends[current.index] = item;
  }
  return cut;
}

function addSourceBlock(cut: Cut, label: string | undefined): SourceBlock {
  const end: SourceEnd = { to: leave, next: leave, guard: undefined, span: undefined };
  const block: SourceBlock = { index: cut.blocks.length, label, code: [], end, edgeCount: 0 };
  cut.blocks.push(block);
  return block;
}

function endOf(cut: Cut, index: number): SourceEnd {
  const item = cut.ends[index];
  const next = index + 1 < cut.blocks.length ? index + 1 : leave;
  if (!item) return { to: next, next, guard: undefined, span: undefined };
  const { control } = item.match.row;
  if (item.match.operands.length > 1) return tableEnd(cut, item, next);
  const to = control === 'branch' ? targetOf(cut, item) : control === 'exit' ? exit : leave;
  return { to, next, guard: to === next ? undefined : item.guard, span: item.match.instruction.span };
}

function tableEnd(cut: Cut, { match, scope, guard }: CheckedInstruction, next: number): SourceEnd {
  const [index, list] = match.operands;
  const name = list!.node.kind === 'name' ? list!.node.name : '';
  const to = labelsListed(scope, name).map((label) => cut.labels.get(label) ?? bug('a branch to no label'));
  return { to: to[0] ?? bug('a list of no labels'), next, guard, span: match.instruction.span, table: { index: index!, scope, to } };
}

function targetOf(cut: Cut, { match, scope }: CheckedInstruction): number {
  const node = match.operands[0]?.node;
  const symbol = node?.kind === 'name' ? lookUp(scope, node.name) : undefined;
  return (symbol?.kind === 'label' ? cut.labels.get(symbol.label) : undefined) ?? bug('a branch to no label');
}

/** How many edges lead out of the body. */
export const leavingEdges = (blocks: readonly SourceBlock[]): number =>
  blocks.reduce((count, block) => count + successors(block).filter((to) => to === leave).length, 0);

const successors = ({ end }: SourceBlock): number[] => [...(end.table?.to ?? [end.to]), ...(end.guard ? [end.next] : [])];

/** Reached blocks with each before its successors, back edges aside. */
function reversePostorder(blocks: readonly SourceBlock[]): SourceBlock[] {
  const seen = new Set<number>([0]);
  const done: SourceBlock[] = [];
  const stack = [{ block: blocks[0]!, at: 0 }];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const to = successors(top.block)[top.at++];
    if (to === undefined) {
      done.push(top.block);
      stack.pop();
    } else if (to >= 0 && !seen.has(to)) {
      seen.add(to);
      stack.push({ block: blocks[to]!, at: 0 });
    }
  }
  return done.reverse();
}
