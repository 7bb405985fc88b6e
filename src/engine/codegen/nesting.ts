/**
 * A reducible graph as nested blocks and loops of WebAssembly, by its dominator tree.
 * Source: Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP 2022);
 * his recursion is a stack of tasks here, because kernels nest deeply.
 */
import type { Code } from '../../wasm/index.ts';

export type Task = () => void;

/** The graph that is nested; blocks go by their numbers. */
export interface Nesting {
  readonly order: readonly number[];
  /** By block: its place in the order. */
  readonly position: ArrayLike<number>;
  /** By block: those that it dominates directly. */
  readonly children: readonly (readonly number[])[];
  /** Blocks that are jumped to from a block, one for each place that jumps. */
  ways(id: number): readonly number[];
}

/** What a walk lets the code of blocks do. */
export interface Nested {
  /** Jumps from one block to another. */
  go(from: number, to: number): void;
  /** A condition is on the stack; both sides jump. */
  either(then: Task, otherwise: Task): void;
}

/** What stands in the nest. */
export interface NestContents {
  /** The code of a block, which ends with a jump. */
  leaf(id: number): void;
  /** Stands at the start of each loop. */
  turn(): void;
}

/** Writes the blocks from the entry on; control never runs off the end. `contents` is asked once. */
export function writeNest(code: Code, graph: Nesting, entry: number, contents: (nest: Nested) => NestContents): void {
  const { position, children } = graph;
  const { forward, isHeader } = edgesInto(graph);
  /** By block: the nesting at which a jump to it lands. */
  const labels = new Map<number, number>();
  const work: Task[] = [];
  const next = (...tasks: Task[]): void => void work.push(...tasks.reverse());
  /** The blocks below a block in the dominator tree at which paths meet follow it, the last one outermost. */
  const tree = (id: number): void => {
    const merges = children[id]!.filter((child) => forward[child]! > 1).sort((a, b) => position[b]! - position[a]!);
    if (isHeader[id]) {
      code.open('loop');
      labels.set(id, code.depth);
      turn();
    }
    for (const merge of merges) {
      code.open('block');
      labels.set(merge, code.depth);
    }
    next(
      () => leaf(id),
      ...merges.reverse().flatMap((merge) => [() => code.end(), () => tree(merge)]),
      () => {
        if (isHeader[id]) code.end();
      },
    );
  };
  const nest: Nested = {
    go(from, to) {
      if (position[to]! <= position[from]! || forward[to]! > 1) code.at('br', code.depth - labels.get(to)!);
      else tree(to);
    },
    either(then, otherwise) {
      code.open('if');
      next(
        then,
        () => code.else(),
        otherwise,
        () => code.end(),
        () => code.op('unreachable'),
      );
    },
  };
  const { leaf, turn } = contents(nest);
  tree(entry);
  for (let task = work.pop(); task; task = work.pop()) task();
}

/** By block: jumps into it from before, and whether there is one from behind. */
function edgesInto({ order, position, ways }: Nesting): { forward: Int32Array; isHeader: Uint8Array } {
  const forward = new Int32Array(position.length);
  const isHeader = new Uint8Array(position.length);
  for (const from of order)
    for (const to of ways(from)) {
      if (position[to]! > position[from]!) forward[to]!++;
      else isHeader[to] = 1;
    }
  return { forward, isHeader };
}
