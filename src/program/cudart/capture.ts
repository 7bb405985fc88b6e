/** Captures: graphs that streams make of the work that they are given. Source: CUDA Runtime API, "Stream Management". */
import type { Capture, Graph } from './graph-types.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { assertStream, before } from './work.ts';

/** Modes of a capture: they differ in what other threads may do, and a program has one. */
const modes = 3;

type Begin = Pick<Capture, 'graph' | 'handle' | 'isInto'> & { readonly first: readonly bigint[] };

function begin(state: CudaState, stream: bigint, mode: number, start: () => Begin): void {
  assertStream(state, stream);
  if (stream <= 1n) fail('cudaErrorStreamCaptureUnsupported');
  if (mode < 0 || mode >= modes) fail('cudaErrorInvalidValue');
  if (state.captures.has(stream)) fail('cudaErrorIllegalState');
  const { first, ...target } = start();
  const last = new Map([[stream, first]]);
  state.captures.set(stream, { ...target, from: target.graph.nodes.length, origin: stream, last, isBroken: false });
}

function beginNew(state: CudaState, stream: bigint, mode: number): void {
  begin(state, stream, mode, () => {
    const graph: Graph = { nodes: [], conditions: [] };
    const handle = state.newHandle();
    state.graphs.set(handle, graph);
    return { graph, handle, isInto: false, first: [] };
  });
}

/** A graph by its handle. */
export const graphOf = ({ graphs }: CudaState, handle: bigint): Graph => graphs.get(handle) ?? fail('cudaErrorInvalidValue');

/** Handles at a pointer. */
export function handlesAt({ memory }: CudaState, at: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => memory.u64(at + BigInt(8 * i)) ?? fail('cudaErrorInvalidValue'));
}

/** Nodes of a graph by the handles at a pointer. */
export function nodesAt(state: CudaState, { nodes }: Graph, at: bigint, count: number): bigint[] {
  const handles = handlesAt(state, at, count);
  if (handles.some((handle) => !nodes.some((node) => node.handle === handle))) fail('cudaErrorInvalidValue');
  return handles;
}

function end(state: CudaState, stream: bigint, to: bigint): void {
  assertStream(state, stream);
  const capture = state.captures.get(stream) ?? fail('cudaErrorIllegalState');
  if (capture.origin !== stream) fail('cudaErrorStreamCaptureUnmatched');
  for (const [each, own] of [...state.captures]) if (own === capture) state.captures.delete(each);
  for (const event of state.events.values()) if (event.captured?.capture === capture) event.captured = undefined;
  if (capture.listAt !== undefined) state.exports.free(capture.listAt);
  const { graph, handle, isInto, from } = capture;
  if (to !== 0n || !isInto) must(state.memory.putU64(to, 0));
  // The work of other streams has to come before something in the stream that the capture began in.
  const reached = before(graph, capture.last.get(stream) ?? []);
  const isJoined = graph.nodes.slice(from).every((node) => reached.has(node.handle));
  if ((capture.isBroken || !isJoined) && !isInto) state.graphs.delete(handle);
  if (capture.isBroken) fail('cudaErrorStreamCaptureInvalidated');
  if (!isJoined) fail('cudaErrorStreamCaptureUnjoined');
  if (to !== 0n) must(state.memory.putU64(to, handle));
}

function statusOf(state: CudaState, stream: bigint): number {
  assertStream(state, stream);
  const capture = state.captures.get(stream);
  if (!capture) return 0;
  return capture.isBroken ? 2 : 1;
}

/** Whether the program is one of a release before 13, in which functions of these names have other arguments. */
const isOlder = ({ version }: CudaState): boolean => version !== undefined && version < 13;

function putInfo(state: CudaState, stream: bigint, ...[statusTo, idTo, graphTo, listTo, edgesTo, countTo]: bigint[]): void {
  const { memory } = state;
  const status = statusOf(state, stream);
  must(memory.putU32(statusTo!, status));
  if (status !== 1) return;
  const capture = state.captures.get(stream)!;
  if (idTo !== 0n) must(memory.putU64(idTo!, capture.handle));
  if (isOlder(state)) return;
  if (graphTo !== 0n) must(memory.putU64(graphTo!, capture.handle));
  const nodes = capture.last.get(stream) ?? [];
  if (listTo !== 0n) {
    if (capture.listAt !== undefined) state.exports.free(capture.listAt);
    capture.listAt = BigInt.asUintN(64, state.exports.malloc(BigInt(8 * Math.max(1, nodes.length))));
    for (const [i, node] of nodes.entries()) must(memory.putU64(capture.listAt + BigInt(8 * i), node));
    must(memory.putU64(listTo!, capture.listAt));
  }
  // Every edge waits for the whole of a node.
  if (edgesTo !== 0n) must(memory.putU64(edgesTo!, 0));
  if (countTo !== 0n) must(memory.putU64(countTo!, nodes.length));
}

function updateDependencies(state: CudaState, stream: bigint, at: bigint, edges: bigint, count: number, flags: number): void {
  if (isOlder(state)) [count, flags] = [Number(edges), count];
  assertStream(state, stream);
  const capture = state.captures.get(stream) ?? fail('cudaErrorIllegalState');
  const nodes = nodesAt(state, capture.graph, at, count);
  if (flags > 1) fail('cudaErrorInvalidValue');
  const isAdded = flags === 0;
  capture.last.set(stream, [...new Set([...(isAdded ? (capture.last.get(stream) ?? []) : []), ...nodes])]);
}

export const captures: Readonly<Record<string, Row>> = {
  cudaStreamBeginCapture: row(['pointer', 'int'], beginNew),
  cudaStreamBeginCaptureToGraph: row(
    ['pointer', 'pointer', 'pointer', 'pointer', 'size', 'int'],
    (state, stream, handle, dependencies, _edges, count, mode) => {
      begin(state, stream, mode, () => {
        const graph = graphOf(state, handle);
        return { graph, handle, isInto: true, first: nodesAt(state, graph, dependencies, count) };
      });
    },
  ),
  cudaStreamEndCapture: row(['pointer', 'pointer'], end),
  cudaStreamIsCapturing: row(['pointer', 'pointer'], (state, stream, to) => must(state.memory.putU32(to, statusOf(state, stream)))),
  cudaStreamGetCaptureInfo: row(['pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer'], putInfo),
  cudaStreamUpdateCaptureDependencies: row(['pointer', 'pointer', 'pointer', 'size', 'uint'], updateDependencies),
  cudaThreadExchangeStreamCaptureMode: row(['pointer'], (state, at) => {
    const mode = state.memory.u32(at) ?? fail('cudaErrorInvalidValue');
    if (mode >= modes) fail('cudaErrorInvalidValue');
    must(state.memory.putU32(at, state.captureMode));
    state.captureMode = mode;
  }),
};
