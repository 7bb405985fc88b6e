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
  conditional: 13,
} as const;
export type NodeType = keyof typeof nodeTypes;

export interface GraphNode {
  readonly handle: bigint;
  readonly type: NodeType;
  /** What it does, each time that the graph is launched. */
  run(): void;
  /** Handles of the nodes that come before it. */
  readonly after: Set<bigint>;
  /** What an allocation or a free is of. */
  readonly block?: GraphBlock;
}

/** Memory that a node of a graph allocates. It has its address from the making of the node on, which kernels and copies of the graph name. */
export interface GraphBlock {
  readonly address: bigint;
  /** Bytes that were asked for. */
  readonly bytes: number;
  /** Whether a launch has allocated it, and nothing has freed it since. */
  isLive: boolean;
  /** Whether a launch has used it since graph memory was trimmed. */
  isReserved: boolean;
  /** Graphs that name it, executable ones too. */
  readonly owners: Set<Graph>;
}

/** A value that kernels set and conditional nodes read: a word of the device, whose address is the handle. */
export interface Condition {
  readonly address: bigint;
  /** What each launch sets it to; undefined if launches leave it. */
  readonly initial: number | undefined;
}

export interface Graph {
  readonly nodes: GraphNode[];
  readonly conditions?: Condition[];
  /** Whether a launch frees what the launch before has allocated and nothing has freed. */
  readonly freesOnLaunch?: boolean;
}

/** A capture that is going on: in the stream where it began, and in those that wait for events of it. */
export interface Capture {
  readonly graph: Graph;
  readonly handle: bigint;
  /** How many nodes the graph had before. */
  readonly from: number;
  /** Whether the graph was there before, and is not made by the capture. */
  readonly isInto: boolean;
  readonly origin: bigint;
  /** The nodes of each stream that the next one comes after. */
  readonly last: Map<bigint, readonly bigint[]>;
  /** Memory of the program that lists them, once it has asked. */
  listAt?: bigint;
  isBroken: boolean;
}
