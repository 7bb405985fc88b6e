/**
 * Graphs: work that is noted once, by capturing streams or node by node, and done in an order that its dependencies allow each time that it is
 * launched. Source: CUDA Runtime API, "Graph Management", "Stream Management".
 */
import { boxCopy } from './boxes.ts';
import { graphOf, handlesAt, nodesAt } from './capture.ts';
import { resetConditions } from './conditions.ts';
import { copy, fillRectangle, fillWords } from './copies.ts';
import { disownBlocks, ownBlocks, prepareBlocks } from './graph-memory.ts';
import { type Graph, type GraphNode, type NodeType, nodeTypes } from './graph-types.ts';
import { argumentsAt, dims, prepareLaunch } from './launches.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { callBack, eventOf } from './streams.ts';
import { addNode, assertStream, work } from './work.ts';

const executableOf = ({ executables }: CudaState, handle: bigint): Graph => executables.get(handle) ?? fail('cudaErrorInvalidValue');

function newGraph(state: CudaState, graph: Graph): bigint {
  const handle = state.newHandle();
  state.graphs.set(handle, graph);
  return handle;
}

// ── nodes ──

/** A row that adds a node: `prepare` gives what it does from its parameters. */
const nodeRow = (type: NodeType, prepare: (state: CudaState, parameters: bigint) => () => void): Row =>
  row(['pointer', 'pointer', 'pointer', 'size', 'pointer'], (state, to, graph, dependencies, count, parameters) =>
    putNode(state, to, graph, dependencies, count, type, prepare(state, parameters)),
  );

function putNode(state: CudaState, to: bigint, handle: bigint, dependencies: bigint, count: number, type: NodeType, run: () => void): void {
  const graph = graphOf(state, handle);
  must(state.memory.putU64(to, addNode(state, graph, type, run, nodesAt(state, graph, dependencies, count)).handle));
}

/** Source: `cudaKernelNodeParams`. */
export function kernelNode(state: CudaState, at: bigint): () => void {
  const { memory } = state;
  const [stub, list, extra] = [0n, 40n, 48n].map((offset) => memory.u64(at + offset) ?? fail('cudaErrorInvalidValue'));
  if (list === 0n && extra !== 0n) fail('cudaErrorNotSupported');
  const sharedBytes = memory.u32(at + 32n) ?? fail('cudaErrorInvalidValue');
  const shape = { grid: dims(state, at + 8n), block: dims(state, at + 20n), sharedBytes, stream: 0n };
  return prepareLaunch(state, stub!, shape, argumentsAt(state, list!));
}

/** Source: `cudaMemsetParams`: elements of 1, 2 or 4 bytes. */
export function fillNode(state: CudaState, at: bigint): () => void {
  const { memory } = state;
  const [pointer, pitch, , width, height] = handlesAt(state, at, 5);
  const [value, size] = [16n, 20n].map((offset) => memory.u32(at + offset) ?? fail('cudaErrorInvalidValue'));
  if (size === 1) return () => fillRectangle(state, pointer!, Number(pitch), value!, Number(width), Number(height));
  if (size !== 2 && size !== 4) fail('cudaErrorInvalidValue');
  return () => {
    for (let y = 0n; y < height!; y++) fillWords(state, pointer! + pitch! * y, value!, size as 2 | 4, Number(width));
  };
}

export function hostNode(state: CudaState, at: bigint): () => void {
  const [call, data] = handlesAt(state, at, 2);
  if (!state.exports.function(call!)) fail('cudaErrorInvalidValue');
  return () => callBack(state, call!, [data!]);
}

function copyNode(state: CudaState, ...[to, graph, dependencies, count, target, source, bytes, kind]: CopyNode): void {
  const run = (): void => copy(state, target, source, bytes, kind);
  putNode(state, to, graph, dependencies, count, 'copy', run);
}
type CopyNode = [
  to: bigint,
  graph: bigint,
  dependencies: bigint,
  count: number,
  target: bigint,
  source: bigint,
  bytes: number,
  kind: number,
];

/** Writes handles, at most as many as there is room for, and how many there are. */
function putHandles({ memory }: CudaState, to: bigint, countAt: bigint, handles: readonly bigint[]): void {
  const room = to === 0n ? 0 : Number(memory.u64(countAt) ?? 0n);
  for (const [i, handle] of handles.slice(0, room).entries()) must(memory.putU64(to + BigInt(8 * i), handle));
  must(memory.putU64(countAt, to === 0n ? handles.length : Math.min(room, handles.length)));
}

function nodeOf(state: CudaState, handle: bigint): GraphNode {
  for (const { nodes } of state.graphs.values()) {
    const node = nodes.find((each) => each.handle === handle);
    if (node) return node;
  }
  return fail('cudaErrorInvalidValue');
}

// ── execution ──

/** The nodes in an order that their dependencies allow, and that of their making where those leave a choice. */
function inOrder({ nodes }: Graph): GraphNode[] {
  const ordered: GraphNode[] = [];
  const done = new Set<bigint>();
  let rest = nodes;
  while (rest.length > 0) {
    const waiting: GraphNode[] = [];
    for (const node of rest)
      if ([...node.after].every((each) => done.has(each))) {
        ordered.push(node);
        done.add(node.handle);
      } else waiting.push(node);
    // A circle.
    if (waiting.length === rest.length) fail('cudaErrorInvalidValue');
    rest = waiting;
  }
  return ordered;
}

/** Does the work of a graph once. */
export function runNodes(graph: Graph): void {
  for (const node of inOrder(graph)) node.run();
}

/** A copy of a child graph as it is now. Two graphs cannot allocate the same memory. */
export function childRun(graph: Graph): () => void {
  if (graph.nodes.some(({ block }) => block)) fail('cudaErrorNotSupported');
  const nodes = inOrder(graph);
  return () => {
    for (const node of nodes) node.run();
  };
}

export function recordRun(state: CudaState, event: bigint): () => void {
  const own = eventOf(state, event);
  return () => {
    own.at = state.options.now();
  };
}

/** What a graph is made of, beside what its nodes are given. */
const shapeOf = (nodes: readonly GraphNode[]): string => {
  const places = new Map(nodes.map(({ handle }, i) => [handle, i]));
  return JSON.stringify(nodes.map(({ type, after }) => [type, [...after].map((each) => places.get(each)).sort()]));
};

/** Source: `cudaGraphInstantiateFlagAutoFreeOnLaunch`. */
const freeOnLaunch = 1n;

function instantiate(state: CudaState, to: bigint, handle: bigint, flags: bigint): void {
  const graph = graphOf(state, handle);
  const nodes = inOrder(graph).map((node) => ({ ...node }));
  const executable: Graph = { nodes, conditions: graph.conditions ?? [], freesOnLaunch: (flags & freeOnLaunch) !== 0n };
  const own = state.newHandle();
  state.executables.set(own, executable);
  ownBlocks(executable);
  must(state.memory.putU64(to, own));
}

/** Results of `cudaGraphExecUpdate`. */
const [updated, topologyChanged] = [0, 2];

function update(state: CudaState, handle: bigint, graph: bigint, to: bigint): void {
  const executable = executableOf(state, handle);
  const nodes = inOrder(graphOf(state, graph));
  const fits = shapeOf(nodes) === shapeOf(executable.nodes);
  must(state.memory.putU32(to, fits ? updated : topologyChanged) && state.memory.putU64(to + 8n, 0) && state.memory.putU64(to + 16n, 0));
  if (!fits) fail('cudaErrorGraphExecUpdateFailure');
  executable.nodes.splice(0, executable.nodes.length, ...nodes.map((node) => ({ ...node })));
}

/** Gives a node of an executable graph other parameters. */
const setRow = (type: NodeType, prepare: (state: CudaState, parameters: bigint) => () => void): Row =>
  row(['pointer', 'pointer', 'pointer'], (state, handle, node, parameters) => {
    const { nodes } = executableOf(state, handle);
    const place = nodes.findIndex((each) => each.handle === node && each.type === type);
    if (place < 0) fail('cudaErrorInvalidValue');
    nodes[place] = { ...nodes[place]!, run: prepare(state, parameters) };
  });

function launchGraph(state: CudaState, handle: bigint, stream: bigint): void {
  const executable = executableOf(state, handle);
  const nodes = [...executable.nodes];
  work(state, stream, 'child', () => {
    prepareBlocks(executable);
    resetConditions(state, executable.conditions ?? []);
    for (const node of nodes) node.run();
  });
}

const instantiateRow = row(['pointer', 'pointer', 'long'], instantiate);

export const graphs: Readonly<Record<string, Row>> = {
  cudaGraphCreate: row(['pointer', 'uint'], (state, to) => must(state.memory.putU64(to, newGraph(state, { nodes: [], conditions: [] })))),
  cudaGraphAddKernelNode: nodeRow('kernel', kernelNode),
  cudaGraphAddMemcpyNode: nodeRow('copy', boxCopy),
  cudaGraphAddMemcpyNode1D: row(['pointer', 'pointer', 'pointer', 'size', 'pointer', 'pointer', 'size', 'int'], copyNode),
  cudaGraphAddMemsetNode: nodeRow('fill', fillNode),
  cudaGraphAddHostNode: nodeRow('host', hostNode),
  cudaGraphAddEmptyNode: row(['pointer', 'pointer', 'pointer', 'size'], (state, to, graph, dependencies, count) =>
    putNode(state, to, graph, dependencies, count, 'empty', () => undefined),
  ),
  cudaGraphAddChildGraphNode: row(['pointer', 'pointer', 'pointer', 'size', 'pointer'], (state, to, graph, dependencies, count, child) =>
    putNode(state, to, graph, dependencies, count, 'child', childRun(graphOf(state, child))),
  ),
  cudaGraphAddEventRecordNode: row(['pointer', 'pointer', 'pointer', 'size', 'pointer'], (state, to, graph, dependencies, count, event) =>
    putNode(state, to, graph, dependencies, count, 'recordEvent', recordRun(state, event)),
  ),
  cudaGraphAddDependencies: row(['pointer', 'pointer', 'pointer', 'size'], (state, graph, from, to, count) => {
    const { nodes } = graphOf(state, graph);
    const [first, second] = [handlesAt(state, from, count), handlesAt(state, to, count)];
    const ends = second.map((handle) => nodes.find((node) => node.handle === handle) ?? fail('cudaErrorInvalidValue'));
    if (first.some((handle) => !nodes.some((node) => node.handle === handle))) fail('cudaErrorInvalidValue');
    for (const [i, handle] of first.entries()) ends[i]!.after.add(handle);
  }),
  cudaGraphNodeGetType: row(['pointer', 'pointer'], (state, node, to) => {
    must(state.memory.putU32(to, nodeTypes[nodeOf(state, node).type]));
  }),
  cudaGraphGetNodes: row(['pointer', 'pointer', 'pointer'], (state, graph, to, count) => {
    const { nodes } = graphOf(state, graph);
    putHandles(
      state,
      to,
      count,
      nodes.map(({ handle }) => handle),
    );
  }),
  cudaGraphGetRootNodes: row(['pointer', 'pointer', 'pointer'], (state, graph, to, count) => {
    const roots = graphOf(state, graph).nodes.filter(({ after }) => after.size === 0);
    putHandles(
      state,
      to,
      count,
      roots.map(({ handle }) => handle),
    );
  }),
  cudaGraphClone: row(['pointer', 'pointer'], (state, to, graph) => {
    const own = graphOf(state, graph);
    // Two graphs cannot have the same memory, nor the bodies of one node.
    if (own.nodes.some(({ type, block }) => block || type === 'conditional')) fail('cudaErrorNotSupported');
    const nodes = own.nodes.map((node) => ({ ...node, after: new Set(node.after) }));
    must(state.memory.putU64(to, newGraph(state, { nodes, conditions: [] })));
  }),
  cudaGraphDestroy: row(['pointer'], (state, graph) => {
    disownBlocks(state, graphOf(state, graph));
    state.graphs.delete(graph);
  }),
  cudaGraphInstantiate: instantiateRow,
  cudaGraphInstantiateWithFlags: instantiateRow,
  cudaGraphExecKernelNodeSetParams: setRow('kernel', kernelNode),
  cudaGraphExecMemsetNodeSetParams: setRow('fill', fillNode),
  cudaGraphExecHostNodeSetParams: setRow('host', hostNode),
  cudaGraphExecUpdate: row(['pointer', 'pointer', 'pointer'], update),
  cudaGraphUpload: row(['pointer', 'pointer'], (state, graph, stream) => {
    executableOf(state, graph);
    assertStream(state, stream);
  }),
  cudaGraphLaunch: row(['pointer', 'pointer'], launchGraph),
  cudaGraphExecDestroy: row(['pointer'], (state, graph) => {
    disownBlocks(state, executableOf(state, graph));
    state.executables.delete(graph);
  }),
};
