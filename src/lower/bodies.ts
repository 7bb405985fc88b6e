/**
 * Bodies to blocks: that of an entry, and those of the functions that it calls, each in place of the call. Bodies that are open
 * are kept on a list, so that long chains of calls take no stack.
 */
import { type OpenedCall, openCall } from './calls.ts';
import { type Context, enter, type Frame } from './context.ts';
import { newFlow } from './flow.ts';
import { exit, flowGraph, leave, type SourceBlock } from './flow-graph.ts';
import { guardValue, lowerInstruction } from './instructions.ts';
import { type Flow, link } from './ssa.ts';

/** A body of which some is lowered. */
interface Body {
  readonly frame: Frame;
  readonly blocks: readonly SourceBlock[];
  readonly flows: ReadonlyMap<number, Flow>;
  /** The call that it is the body of. */
  readonly call: OpenedCall | undefined;
  /** The block and the instruction that come next. */
  block: number;
  item: number;
}

/** Lowers the body of an entry, which is open, and all that it calls. */
export function lowerBodies(c: Context): void {
  const open = [openBody(c, c.frame, flowGraph(c.frame.fn.items), undefined)];
  for (let body = open.at(-1); body; body = open.at(-1)) {
    c.frame = body.frame;
    const call = lowerToCall(c, body);
    if (call) open.push(openBody(c, call.frame, call.blocks, call));
    else {
      open.pop();
      const caller = open.at(-1);
      if (caller) c.frame = caller.frame;
      body.call?.finish();
    }
  }
}

/** The blocks of a body, the first of which its start leads to. */
function openBody(c: Context, frame: Frame, blocks: readonly SourceBlock[], call: OpenedCall | undefined): Body {
  const flows = new Map<number, Flow>();
  const first = blocks[0]!.index;
  for (const { index, edgeCount, label } of blocks) flows.set(index, newFlow(c.kernel, edgeCount + (index === first ? 1 : 0), label));
  frame.start.block.end = { op: 'br', to: link(frame.start, flows.get(first)!) };
  return { frame, blocks, flows, call, block: 0, item: 0 };
}

/** Goes on with a body until its end, or until it calls a function. */
function lowerToCall(c: Context, body: Body): OpenedCall | undefined {
  for (; body.block < body.blocks.length; body.block++) {
    const block = body.blocks[body.block]!;
    if (body.item === 0) enter(c, body.flows.get(block.index)!);
    while (body.item < block.code.length) {
      const item = block.code[body.item++]!;
      if (item.call) return openCall(c, item, item.call);
      lowerInstruction(c, item);
    }
    lowerEnd(c, block, body);
    body.item = 0;
  }
  return undefined;
}

function lowerEnd(c: Context, { end }: SourceBlock, { flows, call }: Body): void {
  const from = c.flow;
  const { block } = from;
  c.ir.loc = end.span;
  block.endLoc = end.span;
  const target = (index: number) => link(from, flows.get(index) ?? (index === leave ? call?.returned : undefined) ?? newFlow(c.kernel, 1));
  if (end.guard) block.end = { op: 'condbr', cond: guardValue(c, end.guard), then: target(end.to), else: target(end.next) };
  else if (end.to === exit || (end.to === leave && !call)) block.end = { op: 'ret' };
  else block.end = { op: 'br', to: target(end.to) };
}
