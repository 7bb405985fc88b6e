/**
 * Allocation in graphs: nodes that allocate and free. Memory has its address when its node is made; a launch allocates it, and nodes of this
 * and of other graphs, `cudaFree` or `cudaFreeAsync` free it. Source: CUDA Programming Guide, "Graph Memory Nodes".
 */
import { graphOf, nodesAt } from './capture.ts';
import { allocate, releaseBlock } from './device-memory.ts';
import type { Graph, GraphBlock, GraphNode } from './graph-types.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { addNode, before, work } from './work.ts';

/** The last node of a graph that allocates or frees a block. */
const lastOf = ({ nodes }: Graph, block: GraphBlock): GraphNode | undefined => nodes.filter((node) => node.block === block).at(-1);

/** Memory for a node behind others: that of an allocation which one of them has freed, or new memory. */
function blockFor(state: CudaState, graph: Graph, bytes: number, after: readonly bigint[]): GraphBlock {
  const reached = before(graph, after);
  for (const block of state.graphMemory.of(graph)) {
    const last = lastOf(graph, block);
    if (block.bytes === bytes && last?.type === 'free' && reached.has(last.handle)) return block;
  }
  return state.graphMemory.add(allocate(state, bytes).address, bytes, graph);
}

/** Notes that a stream allocates while it is captured. Returns the address. */
export function captureAllocation(state: CudaState, stream: bigint, bytes: number): bigint {
  const { graph, last } = state.captures.get(stream)!;
  const block = blockFor(state, graph, bytes, last.get(stream) ?? []);
  work(state, stream, 'allocation', () => state.graphMemory.take(block), block);
  return block.address;
}

/** Frees a block in a launch. */
function releaseIn(state: CudaState, block: GraphBlock): void {
  if (!block.isLive) fail('cudaErrorInvalidValue');
  releaseBlock(state, block);
}

/** The block that a new node of a graph can free. */
function freed(state: CudaState, graph: Graph, pointer: bigint): GraphBlock {
  const block = state.graphMemory.at(pointer) ?? fail('cudaErrorInvalidValue');
  if (lastOf(graph, block)?.type === 'free') fail('cudaErrorInvalidValue');
  block.owners.add(graph);
  return block;
}

/** Notes that a stream frees while it is captured. */
export function captureFree(state: CudaState, stream: bigint, pointer: bigint): void {
  const block = freed(state, state.captures.get(stream)!.graph, pointer);
  work(state, stream, 'free', () => releaseIn(state, block), block);
}

/** Bytes of a `cudaMemPoolProps`, and where the size and the address are in `cudaMemAllocNodeParams`. */
const offsets = { handleTypes: 4n, bytes: 104n, address: 112n } as const;

/** Adds a node that allocates, and writes the address to its parameters. */
export function addAllocation(state: CudaState, graph: Graph, after: readonly bigint[], parameters: bigint): bigint {
  const { memory } = state;
  // Memory of graphs is for no other process.
  if (memory.u32(parameters) !== 1 || memory.u32(parameters + offsets.handleTypes) !== 0) fail('cudaErrorInvalidValue');
  const bytes = Number(memory.u64(parameters + offsets.bytes) ?? 0n);
  if (bytes === 0) fail('cudaErrorInvalidValue');
  const block = blockFor(state, graph, bytes, after);
  must(memory.putU64(parameters + offsets.address, block.address));
  return addNode(state, graph, 'allocation', () => state.graphMemory.take(block), after, block).handle;
}

/** Adds a node that frees. */
export function addFree(state: CudaState, graph: Graph, after: readonly bigint[], pointer: bigint): bigint {
  const block = freed(state, graph, pointer);
  return addNode(state, graph, 'free', () => releaseIn(state, block), after, block).handle;
}

/** An executable graph names the memory of its nodes too. */
export function ownBlocks(executable: Graph): void {
  for (const { block } of executable.nodes) block?.owners.add(executable);
}

/** A graph that is gone names no memory: what nothing names, and no launch has allocated, is released. */
export function disownBlocks(state: CudaState, graph: Graph): void {
  for (const block of state.graphMemory.of(graph)) {
    block.owners.delete(graph);
    if (!block.isLive) releaseBlock(state, block);
  }
}

/** Before a launch: what it allocates must not be allocated now, or it is freed if the graph was made so. */
export function prepareBlocks({ nodes, freesOnLaunch }: Graph): void {
  const seen = new Set<GraphBlock>();
  for (const { type, block } of nodes) {
    if (!block || seen.has(block)) continue;
    seen.add(block);
    if (type !== 'allocation' || !block.isLive) continue;
    if (!freesOnLaunch) fail('cudaErrorInvalidValue');
    block.isLive = false;
  }
}

function nodeOf(state: CudaState, handle: bigint, type: GraphNode['type']): GraphBlock {
  for (const { nodes } of state.graphs.values()) {
    const node = nodes.find((each) => each.handle === handle);
    if (node?.type === type) return node.block!;
  }
  return fail('cudaErrorInvalidValue');
}

function assertDevice(device: number): void {
  if (device !== 0) fail('cudaErrorInvalidDevice');
}

export const graphMemory: Readonly<Record<string, Row>> = {
  cudaGraphAddMemAllocNode: row(
    ['pointer', 'pointer', 'pointer', 'size', 'pointer'],
    (state, to, handle, dependencies, count, parameters) => {
      const graph = graphOf(state, handle);
      must(state.memory.putU64(to, addAllocation(state, graph, nodesAt(state, graph, dependencies, count), parameters)));
    },
  ),
  cudaGraphAddMemFreeNode: row(['pointer', 'pointer', 'pointer', 'size', 'pointer'], (state, to, handle, dependencies, count, pointer) => {
    const graph = graphOf(state, handle);
    must(state.memory.putU64(to, addFree(state, graph, nodesAt(state, graph, dependencies, count), pointer)));
  }),
  cudaGraphMemFreeNodeGetParams: row(['pointer', 'pointer'], (state, node, to) => {
    must(state.memory.putU64(to, nodeOf(state, node, 'free').address));
  }),
  cudaDeviceGraphMemTrim: row(['int'], (state, device) => {
    assertDevice(device);
    state.graphMemory.trim();
  }),
  cudaDeviceGetGraphMemAttribute: row(['int', 'int', 'pointer'], (state, device, attribute, to) => {
    assertDevice(device);
    must(state.memory.putU64(to, state.graphMemory.attribute(attribute) ?? fail('cudaErrorInvalidValue')));
  }),
  cudaDeviceSetGraphMemAttribute: row(['int', 'int', 'pointer'], (state, device, attribute, from) => {
    assertDevice(device);
    if (state.memory.u64(from) !== 0n || !state.graphMemory.reset(attribute)) fail('cudaErrorInvalidValue');
  }),
};
