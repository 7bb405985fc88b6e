/** Graphs, and captures that make them. */

/** What a node of a graph does. Source: `cudaGraphNodeType`. */
export const nodeTypes = {
  kernel: 0,
  copy: 1,
  fill: 2,
  host: 3,
  child: 4,
  empty: 5,
  waitEvent: 6,
  recordEvent: 7,
  allocation: 10,
  free: 11,
} as const;
export type NodeType = keyof typeof nodeTypes;

export interface GraphNode {
  readonly handle: bigint;
  readonly type: NodeType;
  /** What it does, each time that the graph is launched. */
  run(): void;
  /** Handles of the nodes that come before it. */
  readonly after: Set<bigint>;
}

export interface Graph {
  readonly nodes: GraphNode[];
}

/** A capture that is going on: in the stream where it began, and in those that wait for events of it. */
export interface Capture {
  readonly graph: Graph;
  readonly origin: bigint;
  /** The last node of each stream. */
  readonly last: Map<bigint, bigint>;
  isBroken: boolean;
}
