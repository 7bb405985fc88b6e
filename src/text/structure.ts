/**
 * Structured control flow: a reducible control-flow graph as a tree of loops, choices and labelled scopes, along its dominator tree; an
 * irreducible one as a loop around a switch over its blocks, as the engine writes it.
 * Source: Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP 2022).
 */
import { bug } from '../base/bug.ts';
import { addTo } from '../base/group.ts';
import { type Block, type Cfg, type DominatorTree, type Edge, edgesOf, type Kernel, loopsOf, type Value } from '../ir/index.ts';

/** The target of a jump: the end of a scope, or the next turn of a loop. */
export type Label = number;

export type Statement =
  /** The instructions of a block, without its end. */
  | { readonly kind: 'body'; readonly block: Block }
  /** The variables of a block's parameters, which the code behind it assigns. */
  | { readonly kind: 'declare'; readonly block: Block }
  | { readonly kind: 'transfer'; readonly edge: Edge }
  | { readonly kind: 'if'; readonly cond: Value; readonly then: Statement[]; readonly else: Statement[] }
  | { readonly kind: 'scope'; readonly label: Label; readonly body: Statement[] }
  | { readonly kind: 'loop'; readonly label: Label; readonly body: Statement[] }
  | { readonly kind: 'jump'; readonly label: Label }
  | { readonly kind: 'return' }
  /** Ends the region: at the end of a block, or by an edge into the entry of a region. */
  | { readonly kind: 'leave'; readonly block: Block; readonly edge?: Edge }
  /** A loop around a switch; `next` selects a case, and falling off a case is the next turn. */
  | { readonly kind: 'dispatch'; readonly first: number; readonly cases: readonly { readonly id: number; readonly body: Statement[] }[] }
  /** Selects the next case of the dispatch around it. */
  | { readonly kind: 'next'; readonly id: number };

/** The graph that is structured: a kernel's, or that of one of its regions. */
export interface Graph {
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly entry: number;
  readonly isReducible: boolean;
  /** Whether threads leave the region at the end of a block, whatever edges it has; never of a whole kernel. */
  isLast(block: Block): boolean;
}

/** The tree of a graph. */
export const structure = (kernel: Kernel, graph: Graph): Statement[] =>
  graph.isReducible ? nested(kernel, graph) : dispatched(kernel, graph);

/** Whether an edge leads out of the graph: into the entry of a region. */
const leadsOut = ({ cfg }: Graph, from: number, { block }: Edge): boolean => !cfg.successors[from]!.includes(block.id);

/** Whether a block does nothing but return, so that a return may stand for a jump to it. */
const isReturn = ({ body, end }: Block): boolean => body.length === 0 && end.op === 'ret';

function nested(kernel: Kernel, graph: Graph): Statement[] {
  const { cfg, dominators, entry } = graph;
  const { position } = cfg;
  const { forward, isHeader } = edgesInto(kernel, graph);
  const behind = behindLoops(graph);
  const isBehind = new Set([...behind.values()].flat());
  /** Nodes of the dominator tree are visited by a stack of tasks, because kernels nest deeply. */
  const work: (() => void)[] = [];
  const jump = (from: Block, edge: Edge, into: Statement[]): void => {
    const { block } = edge;
    if (leadsOut(graph, from.id, edge)) return void into.push({ kind: 'leave', block: from, edge });
    if (isReturn(block) && !graph.isLast(block)) return void into.push({ kind: 'return' });
    into.push({ kind: 'transfer', edge });
    if (position[block.id]! <= position[from.id]!) into.push({ kind: 'jump', label: loopLabel(block.id) });
    else if (forward[block.id]! > 1 || isBehind.has(block.id)) into.push({ kind: 'jump', label: scopeLabel(block.id) });
    else work.push(() => tree(block, into));
  };
  const leaf = (block: Block, into: Statement[]): void => {
    into.push({ kind: 'body', block });
    const { end } = block;
    if (graph.isLast(block)) into.push({ kind: 'leave', block });
    else if (end.op === 'ret') into.push({ kind: 'return' });
    else if (end.op === 'br') jump(block, end.to, into);
    else {
      const choice = { kind: 'if', cond: end.cond, then: [] as Statement[], else: [] as Statement[] } as const;
      into.push(choice);
      jump(block, end.then, choice.then);
      jump(block, end.else, choice.else);
    }
  };
  const tree = (block: Block, outer: Statement[]): void => {
    let into = outer;
    const tails: (() => void)[] = [];
    const scope = (id: number): void => {
      const at = kernel.blocks[id]!;
      if (at.params.length > 0) into.push({ kind: 'declare', block: at });
      const body: Statement[] = [];
      into.push({ kind: 'scope', label: scopeLabel(id), body });
      const list = into;
      tails.push(() => tree(at, list));
      into = body;
    };
    const latestFirst = (list: readonly number[]): number[] => [...list].sort((a, b) => position[b]! - position[a]!);
    for (const id of latestFirst(behind.get(block.id) ?? [])) scope(id);
    if (isHeader[block.id]) {
      if (block.params.length > 0) declareBefore(block, into);
      const body: Statement[] = [];
      into.push({ kind: 'loop', label: loopLabel(block.id), body });
      into = body;
    }
    for (const id of latestFirst(dominators.children[block.id]!.filter((child) => forward[child]! > 1 && !isBehind.has(child)))) scope(id);
    const inner = into;
    work.push(...tails, () => leaf(block, inner));
  };
  const root: Statement[] = [];
  tree(kernel.blocks[entry]!, root);
  for (let task = work.pop(); task; task = work.pop()) task();
  return root;
}

/**
 * By header of a loop: the blocks behind it that its blocks dominate. Their code follows the loop rather than being a part of it, so that threads
 * that leave the loop in different turns are together again there.
 */
function behindLoops({ cfg, dominators }: Graph): Map<number, number[]> {
  const { loops, innermost } = loopsOf(cfg, dominators);
  const inside = loops.map(({ blocks }) => new Set(blocks));
  const found = new Map<number, number[]>();
  for (const id of cfg.order) {
    const parent = dominators.parent[id]!;
    if (parent < 0) continue;
    let left = -1;
    for (let loop = innermost[parent]!; loop >= 0 && !inside[loop]!.has(id); loop = loops[loop]!.parent) left = loop;
    if (left >= 0) addTo(found, loops[left]!.header, id);
  }
  return found;
}

/** The variables of a loop's parameters are declared before the assignment that precedes the loop. */
function declareBefore(block: Block, into: Statement[]): void {
  const last = into.at(-1);
  const at = last?.kind === 'transfer' && last.edge.block === block ? into.length - 1 : into.length;
  into.splice(at, 0, { kind: 'declare', block });
}

const scopeLabel = (block: number): Label => 2 * block;
const loopLabel = (block: number): Label => 2 * block + 1;
/** Whether a label is that of a loop. */
export const isLoopLabel = (label: Label): boolean => label % 2 === 1;

/** By block: the number of forward jumps into it, and whether a back edge makes it a loop header. Jumps to a mere return do not count. */
function edgesInto(kernel: Kernel, graph: Graph): { forward: Int32Array; isHeader: Uint8Array } {
  const { cfg } = graph;
  const forward = new Int32Array(cfg.position.length);
  const isHeader = new Uint8Array(cfg.position.length);
  for (const from of cfg.order) {
    const block = kernel.blocks[from]!;
    if (graph.isLast(block)) continue;
    for (const edge of edgesOf(block.end)) {
      const to = edge.block.id;
      if (leadsOut(graph, from, edge) || (isReturn(edge.block) && !graph.isLast(edge.block))) continue;
      if (cfg.position[to]! > cfg.position[from]!) forward[to]!++;
      else isHeader[to] = 1;
    }
  }
  return { forward, isHeader };
}

function dispatched(kernel: Kernel, graph: Graph): Statement[] {
  const jump = (from: Block, edge: Edge): Statement[] =>
    leadsOut(graph, from.id, edge)
      ? [{ kind: 'leave', block: from, edge }]
      : [
          { kind: 'transfer', edge },
          { kind: 'next', id: edge.block.id },
        ];
  const bodyOf = (block: Block): Statement[] => {
    const { end } = block;
    if (graph.isLast(block)) return [{ kind: 'leave', block }];
    if (end.op === 'ret') return [{ kind: 'return' }];
    if (end.op === 'br') return jump(block, end.to);
    return [{ kind: 'if', cond: end.cond, then: jump(block, end.then), else: jump(block, end.else) }];
  };
  const cases = graph.cfg.order.map((id) => {
    const block = kernel.blocks[id] ?? bug(`${kernel.name} has no block ${id}`);
    return { id, body: [{ kind: 'body', block } as const, ...bodyOf(block)] };
  });
  return [{ kind: 'dispatch', first: graph.entry, cases }];
}
