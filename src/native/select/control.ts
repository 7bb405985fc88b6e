/** Blocks: critical edges get blocks of their own, and ends jump. */
import { type MachineEnd, reserved } from '../machine/types.ts';
import { type Block, type Edge, type End, edgesOf, type SsaFunction } from '../ssa/types.ts';
import { type Assembler, general, immediate } from '../x64/types.ts';
import type { Scope } from './scope.ts';
import { emitJumps, testOf } from './test.ts';

/** The function with a block on each edge with arguments from a block with several edges to one with several predecessors. It is not changed. */
export function splitEdges(fn: SsaFunction): SsaFunction {
  const { blocks } = fn;
  const predecessors = new Int32Array(blocks.length);
  for (const block of blocks) for (const edge of edgesOf(block.end)) predecessors[edge.block]!++;
  const isCritical = (block: Block, edge: Edge): boolean =>
    edge.args.length > 0 && predecessors[edge.block]! > 1 && edgesOf(block.end).length > 1;
  /** New blocks, by the block that they are put before; loops stay contiguous, and so do the dominators of a block before it. */
  const before = new Map<number, Block[]>();
  const split: Block[] = blocks.map((block, number) => {
    if (!edgesOf(block.end).some((edge) => isCritical(block, edge))) return block;
    const end = mapEdges(block.end, (edge, isRare) => {
      if (!isCritical(block, edge)) return edge;
      const target = blocks[edge.block]!;
      const added: Block = {
        params: [],
        insts: [],
        end: { op: 'jump', to: edge },
        loopDepth: Math.min(block.loopDepth, target.loopDepth),
        isRare: isRare || block.isRare === true || target.isRare === true,
      };
      const place = edge.block > number ? edge.block : number + 1;
      before.set(place, [...(before.get(place) ?? []), added]);
      return { block: added as unknown as number, args: [] };
    });
    return { ...block, end };
  });
  return before.size === 0 ? fn : { ...fn, blocks: renumber(split, before) };
}

/** The blocks with the added ones among them, and edges by the new numbers. An edge to an added block has the block itself for its number. */
function renumber(blocks: readonly Block[], before: ReadonlyMap<number, readonly Block[]>): Block[] {
  const all: Block[] = [];
  const numbers: number[] = [];
  const added = new Map<unknown, number>();
  for (let i = 0; i <= blocks.length; i++) {
    for (const block of before.get(i) ?? []) added.set(block, all.push(block) - 1);
    if (i < blocks.length) numbers.push(all.push(blocks[i]!) - 1);
  }
  return all.map((block) => ({
    ...block,
    end: mapEdges(block.end, ({ block: to, args }) => ({ block: added.get(to) ?? numbers[to]!, args })),
  }));
}

function mapEdges(end: End, map: (edge: Edge, isRare: boolean) => Edge): End {
  switch (end.op) {
    case 'jump':
      return { ...end, to: map(end.to, false) };
    case 'branch':
      return { ...end, then: map(end.then, end.isRare === true), else: map(end.else, false) };
    case 'switch':
      return { ...end, edges: end.edges.map((edge) => map(edge, false)) };
    default:
      return end;
  }
}

/** The end of a block in machine instructions; those that it needs before are added. */
export function selectEnd(s: Scope, end: End): MachineEnd {
  switch (end.op) {
    case 'jump':
      return {
        uses: [],
        emit(out, _, labels, next) {
          if (next !== 0) out.jump(labels[0]!);
        },
      };
    case 'branch':
      return branch(s, end.cond);
    case 'switch':
      return jumpTable(s, end);
    case 'return':
      return returnEnd(s, end.values[0]);
    case 'trap': {
      const label = s.trap('unreachable');
      return { uses: [], emit: (out) => out.jump(label) };
    }
  }
}

function branch(s: Scope, cond: number): MachineEnd {
  const test = testOf(s, cond);
  return {
    uses: test.uses,
    temps: test.temps ?? [],
    emit(out, places, labels, next) {
      test.compare(out, places, 0);
      emitJumps(out, test, labels[0]!, labels[1]!, next === undefined ? undefined : labels[next]);
    },
  };
}

function jumpTable(s: Scope, end: Extract<End, { op: 'switch' }>): MachineEnd {
  const last = end.edges.length - 1;
  return {
    uses: [s.register(end.index)],
    temps: ['general'],
    emit(out, places, labels) {
      out.emit('cmp', general(places.uses[0]!, 4), immediate(last));
      out.jumpIf('ae', labels[last]!);
      if (last > 0) out.jumpTable(places.uses[0]!, places.temps[0]!, labels.slice(0, last));
    },
  };
}

/** Leaves the function with its result in rax or xmm0. */
function returnEnd(s: Scope, value: number | undefined): MachineEnd {
  const uses = value === undefined ? [] : [s.register(value)];
  return { uses, fixedUses: uses.map(() => 0), emit: (out, places) => emitReturn(out, places.frameBytes) };
}

function emitReturn(out: Assembler, frameBytes: number): void {
  if (frameBytes > 0) out.emit('add', general(reserved.stack), immediate(frameBytes));
  out.emit('ret');
}
