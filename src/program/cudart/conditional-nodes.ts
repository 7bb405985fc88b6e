/**
 * Conditional nodes: graphs that a launch runs or not, or repeats, by a value that kernels set. The value is a word of the device, and its address
 * is the handle. Source: CUDA Programming Guide, "Conditional Graph Nodes".
 */
import { boxCopy } from './boxes.ts';
import { graphOf, nodesAt } from './capture.ts';
import { createCondition, readCondition } from './conditions.ts';
import { addAllocation, addFree } from './graph-memory.ts';
import { type Graph, nodeTypes } from './graph-types.ts';
import { childRun, fillNode, hostNode, kernelNode, recordRun, runNodes } from './graphs.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { addNode } from './work.ts';

/** Source: `cudaGraphConditionalNodeType`. */
const kinds = { if: 0, while: 1, switch: 2 } as const;

/** Where the fields of `cudaConditionalNodeParams` are. */
const fields = { kind: 8n, count: 12n, graphs: 16n } as const;

function addConditional(state: CudaState, graph: Graph, after: readonly bigint[], at: bigint): bigint {
  const { memory } = state;
  const handle = memory.u64(at);
  const condition = [...state.graphs.values()].flatMap(({ conditions = [] }) => conditions).find(({ address }) => address === handle);
  const [kind, count] = [memory.u32(at + fields.kind), memory.u32(at + fields.count) ?? 0];
  const most = kind === kinds.if ? 2 : kind === kinds.while ? 1 : kind === kinds.switch ? 1024 : 0;
  if (!condition || count < 1 || count > most) fail('cudaErrorInvalidValue');
  const bodies = Array.from({ length: count }, (): Graph => ({ nodes: [], conditions: [] }));
  const list = BigInt.asUintN(64, state.exports.malloc(BigInt(8 * count)));
  for (const [i, body] of bodies.entries()) {
    const own = state.newHandle();
    state.graphs.set(own, body);
    must(memory.putU64(list + BigInt(8 * i), own));
  }
  must(memory.putU64(at + fields.graphs, list));
  const value = (): number => readCondition(state, condition!);
  const run = (): void => {
    if (kind === kinds.while) while (value() !== 0) runNodes(bodies[0]!);
    else {
      const body = bodies[kind === kinds.switch ? value() : value() === 0 ? 1 : 0];
      if (body) runNodes(body);
    }
  };
  return addNode(state, graph, 'conditional', run, after).handle;
}

/** Where the parameters of a kind of node begin in `cudaGraphNodeParams`; those of a copy have flags before them. */
const [parametersAt, copyAt] = [16n, 32n];

function addAny(state: CudaState, graph: Graph, after: readonly bigint[], at: bigint): bigint {
  const own = at + parametersAt;
  const named = (): bigint => state.memory.u64(own) ?? fail('cudaErrorInvalidValue');
  switch (state.memory.u32(at)) {
    case nodeTypes.kernel:
      return addNode(state, graph, 'kernel', kernelNode(state, own), after).handle;
    case nodeTypes.copy:
      return addNode(state, graph, 'copy', boxCopy(state, at + copyAt), after).handle;
    case nodeTypes.fill:
      return addNode(state, graph, 'fill', fillNode(state, own), after).handle;
    case nodeTypes.host:
      return addNode(state, graph, 'host', hostNode(state, own), after).handle;
    case nodeTypes.child:
      // The child may not be moved.
      if (state.memory.u32(own + 8n) !== 0) fail('cudaErrorNotSupported');
      return addNode(state, graph, 'child', childRun(graphOf(state, named())), after).handle;
    case nodeTypes.empty:
      return addNode(state, graph, 'empty', () => undefined, after).handle;
    case nodeTypes.recordEvent:
      return addNode(state, graph, 'recordEvent', recordRun(state, named()), after).handle;
    case nodeTypes.allocation:
      return addAllocation(state, graph, after, own);
    case nodeTypes.free:
      return addFree(state, graph, after, named());
    case nodeTypes.conditional:
      return addConditional(state, graph, after, own);
    default:
      return fail('cudaErrorNotSupported');
  }
}

export const conditionalNodes: Readonly<Record<string, Row>> = {
  cudaGraphConditionalHandleCreate: row(['pointer', 'pointer', 'uint', 'uint'], createCondition),
  cudaGraphAddNode: row(
    ['pointer', 'pointer', 'pointer', 'pointer', 'size', 'pointer'],
    (state, to, handle, dependencies, edges, count, parameters) => {
      const graph = graphOf(state, handle);
      // Edges without data before release 13.
      const isOlder = state.version !== undefined && state.version < 13;
      if (!isOlder && edges !== 0n) fail('cudaErrorNotSupported');
      const after = nodesAt(state, graph, dependencies, isOlder ? Number(edges) : count);
      must(state.memory.putU64(to, addAny(state, graph, after, isOlder ? BigInt(count) : parameters)));
    },
  ),
};
