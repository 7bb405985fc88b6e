/**
 * Work of streams: done at once, or noted in a graph while the stream is captured. What a function is given is read when it is called, so that
 * the program may change it afterwards.
 */
import type { Graph, GraphBlock, GraphNode, NodeType } from './graph-types.ts';
import { type Argument, type Row, row, type Values } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** The streams that need not be created: the default one of the process, by null and by name, and that of the thread. */
export const isStream = ({ streams }: CudaState, stream: bigint): boolean => stream <= 2n || streams.has(stream);

export function assertStream(state: CudaState, stream: bigint): void {
  if (!isStream(state, stream)) fail('cudaErrorInvalidResourceHandle');
}

/** Adds a node behind others. */
export function addNode(
  state: CudaState,
  { nodes }: Graph,
  type: NodeType,
  run: () => void,
  after: Iterable<bigint>,
  block?: GraphBlock,
): GraphNode {
  const node: GraphNode = { handle: state.newHandle(), type, run, after: new Set(after), ...(block && { block }) };
  nodes.push(node);
  return node;
}

/** Nodes and all that come before them. */
export function before({ nodes }: Graph, last: readonly bigint[]): Set<bigint> {
  const found = new Set(last);
  for (const { handle, after } of [...nodes].reverse()) if (found.has(handle)) for (const each of after) found.add(each);
  return found;
}

/** Whether a stream waits for the default one, and that for it. */
const isBlocking = ({ streams }: CudaState, stream: bigint): boolean => stream !== 2n && (streams.get(stream)?.flags ?? 0) === 0;

/** Does work of a stream, or notes it. */
export function work(state: CudaState, stream: bigint, type: NodeType, run: () => void, block?: GraphBlock): void {
  assertStream(state, stream);
  const capture = state.captures.get(stream);
  if (capture?.isBroken) fail('cudaErrorStreamCaptureInvalidated');
  if (capture) {
    capture.last.set(stream, [addNode(state, capture.graph, type, run, capture.last.get(stream) ?? [], block).handle]);
    return;
  }
  // The default stream would have to wait for what has not been run.
  if (stream <= 1n) breakCaptures(state, (each) => isBlocking(state, each), 'cudaErrorStreamCaptureImplicit');
  run();
}

/** Ends captures in streams, and fails if there are any. */
export function breakCaptures(
  state: CudaState,
  isConcerned: (stream: bigint) => boolean,
  error: 'cudaErrorStreamCaptureImplicit' | 'cudaErrorStreamCaptureUnsupported',
): void {
  let isAny = false;
  for (const [stream, capture] of state.captures)
    if (isConcerned(stream)) {
      capture.isBroken = true;
      isAny = true;
    }
  if (isAny) fail(error);
}

/** A row whose last argument is the stream: `prepare` reads the arguments and gives the work. */
export const workRow = <const List extends readonly Argument[]>(
  args: List,
  type: NodeType,
  prepare: (state: CudaState, ...args: Values<List>) => () => void,
): Row =>
  row([...args, 'pointer'] as const, (state, ...given) => {
    const stream = given.pop() as unknown as bigint;
    work(state, stream, type, prepare(state, ...(given as unknown as Values<List>)));
  });

/** A row without a stream, which is work of the default one. */
export const plainWorkRow = <const List extends readonly Argument[]>(
  args: List,
  type: NodeType,
  prepare: (state: CudaState, ...args: Values<List>) => () => void,
): Row => row(args, (state, ...given) => work(state, 0n, type, prepare(state, ...given)));
