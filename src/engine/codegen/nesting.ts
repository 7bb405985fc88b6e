/**
 * Structured control flow: writes a reducible control-flow graph as nested blocks and loops of WebAssembly, along its dominator tree.
 * Source: Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured Control Flow" (ICFP 2022);
 * his recursion is a stack of tasks here, because kernels nest deeply.
 */
import type { Code } from '../../wasm/index.ts';

export type Task = () => void;

/** The control-flow graph that is nested; blocks are identified by number. */
export interface Nesting {
  readonly order: readonly number[];
  /** By block: its position in the order. */
  readonly position: ArrayLike<number>;
  /** By block: the blocks that it immediately dominates. */
  readonly children: readonly (readonly number[])[];
  /** The targets of a block's jumps, one for each jump. */
  ways(id: number): readonly number[];
}

/** The operations that the code of a block ends with. */
export interface Nested {
  /** Writes a jump from one block to another. */
  go(from: number, to: number): void;
  /** Writes a branch on the condition on the stack; both sides end with a jump. */
  either(then: Task, otherwise: Task): void;
}

/** The code of the blocks and loops. */
export interface NestContents {
  /** Writes the code of a block, which ends with a jump. */
  leaf(id: number): void;
  /** Writes the start of the loop with a header. */
  turn(header: number): void;
}

/** Writes the blocks from the entry on; control never reaches the end. `contents` is called once. */
export function writeNest(code: Code, graph: Nesting, entry: number, contents: (nest: Nested) => NestContents): void {
  const { position, children } = graph;
  const { forward, isHeader } = edgesInto(graph);
  /** By block: the nesting at which a jump to it lands. */
  const labels = new Map<number, number>();
  const work: Task[] = [];
  const next = (...tasks: Task[]): void => void work.push(...tasks.reverse());
  /** Merge nodes among a block's children in the dominator tree follow it, the last one outermost. */
  const tree = (id: number): void => {
    const merges = children[id]!.filter((child) => forward[child]! > 1).sort((a, b) => position[b]! - position[a]!);
    if (isHeader[id]) {
      code.open('loop');
      labels.set(id, code.depth);
      turn(id);
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

/** By block: the number of forward jumps into it, and whether a back edge makes it a loop header. */
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
