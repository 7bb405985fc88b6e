/**
 * Graphs that allocate, that decide, and that captures add to. Expected: CUDA Programming Guide, "Graph Memory Nodes" and "Conditional Graph
 * Nodes"; error numbers of `cudaError_t`; layouts of CUDA 13's headers.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cBytes } from '../../src/program/memory.ts';
import { at, type Cuda, cuda, words } from '../support/program-runtime.ts';

const test = suite('program/graphs');

const put = ({ memory }: Cuda, index: number, values: readonly (number | bigint)[]): bigint => {
  for (const [i, value] of values.entries()) memory.putU64(at(index + 8 * i), value);
  return at(index);
};
const handle = ({ memory }: Cuda, index = 200): bigint => memory.u64(at(index))!;
const newGraph = (one: Cuda): bigint => {
  assert.is(one.call.cudaGraphCreate!(at(200), 0), 0);
  return handle(one);
};
const newStream = (one: Cuda): bigint => {
  assert.is(one.call.cudaStreamCreateWithFlags!(at(200), 1), 0);
  return handle(one);
};
const instantiate = (one: Cuda, graph: bigint, flags = 0n): bigint => {
  assert.is(one.call.cudaGraphInstantiateWithFlags!(at(200), graph, flags), 0);
  return handle(one);
};
const read = (one: Cuda, pointer: bigint): number => {
  assert.is(one.call.cudaMemcpy!(at(1100), pointer, 4n, 2), 0);
  return words(one, at(1100), 1)[0]!;
};

/** `step`: adds one to `count`, and sets the value at `condition` to `of` less the count. */
const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry step(.param .u64 count, .param .u64 condition, .param .u32 of) {
  .reg .b64 %d<3>; .reg .b32 %r<4>;
  ld.param.u64 %d1, [count]; ld.param.u64 %d2, [condition]; ld.param.u32 %r1, [of];
  ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2;
  sub.u32 %r3, %r1, %r2; st.global.u32 [%d2], %r3; ret;
}
`;

/** A runtime with the kernel `step` at stub 30. */
function stepping(): Cuda {
  const one = cuda();
  const { call, memory } = one;
  memory.put(at(100_000), cBytes(ptx));
  memory.putU64(at(8), at(100_000));
  const image = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  memory.put(at(64), cBytes('step'));
  call.__cudaRegisterFunction!(image, at(30), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  return one;
}

/** `cudaKernelNodeParams` of `step` at an index. */
function kernelAt({ memory }: Cuda, index: number, count: bigint, condition: bigint, of: number): bigint {
  memory.putU64(at(600), count);
  memory.putU64(at(608), condition);
  memory.putU32(at(616), of);
  for (const [i, each] of [600, 608, 616].entries()) memory.putU64(at(640 + 8 * i), at(each));
  memory.put(at(index), new Uint8Array(56));
  memory.putU64(at(index), at(30));
  for (let i = 0; i < 6; i++) memory.putU32(at(index + 8 + 4 * i), 1);
  memory.putU64(at(index + 40), at(640));
  return at(index);
}

/** Adds an allocation behind nodes: the node and the address. */
function addAllocation(one: Cuda, graph: bigint, bytes: number, after: readonly bigint[] = []): { node: bigint; address: bigint } {
  const { call, memory } = one;
  memory.put(at(2000), new Uint8Array(120));
  memory.putU32(at(2000), 1);
  memory.putU32(at(2008), 1);
  memory.putU64(at(2104), bytes);
  assert.is(call.cudaGraphAddMemAllocNode!(at(200), graph, put(one, 800, after), BigInt(after.length), at(2000)), 0);
  return { node: handle(one), address: memory.u64(at(2112))! };
}

function addFree(one: Cuda, graph: bigint, pointer: bigint, after: readonly bigint[]): bigint {
  assert.is(one.call.cudaGraphAddMemFreeNode!(at(200), graph, put(one, 800, after), BigInt(after.length), pointer), 0);
  return handle(one);
}

const memoryOf = (one: Cuda): bigint[] =>
  [0, 1, 2, 3].map((which) => {
    assert.is(one.call.cudaDeviceGetGraphMemAttribute!(0, which, at(216)), 0);
    return handle(one, 216);
  });

test('memory of a graph is allocated by a launch, and again only once it is freed', () => {
  const one = cuda();
  const { call } = one;
  const graph = newGraph(one);
  const { node, address } = addAllocation(one, graph, 4096);
  one.memory.put(at(500), new Uint8Array(48));
  put(one, 500, [address, 0]);
  one.memory.putU32(at(516), 7);
  one.memory.putU32(at(520), 4);
  put(one, 524, [1, 1]);
  assert.is(call.cudaGraphAddMemsetNode!(at(200), graph, put(one, 800, [node]), 1n, at(500)), 0);
  assert.equal(memoryOf(one), [0n, 0n, 0n, 0n]);
  assert.is(call.cudaFree!(address), 1, 'no launch has allocated it');
  const executable = instantiate(one, graph);
  assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
  assert.is(read(one, address), 7);
  assert.equal(memoryOf(one), [4096n, 4096n, 4096n, 4096n]);
  assert.is(call.cudaGraphLaunch!(executable, 0n), 1, 'it is allocated');
  assert.is(call.cudaFree!(address), 0);
  assert.is(call.cudaFree!(address), 1);
  assert.equal(memoryOf(one), [0n, 4096n, 4096n, 4096n]);
  assert.is(call.cudaDeviceGraphMemTrim!(0), 0);
  assert.is(memoryOf(one)[2], 0n);
  assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
  // A graph of its own frees it.
  const other = newGraph(one);
  addFree(one, other, address, []);
  assert.is(call.cudaGraphLaunch!(instantiate(one, other), 0n), 0);
  assert.is(call.cudaGraphLaunch!(instantiate(one, graph, 1n), 0n), 0);
  assert.is(call.cudaGraphLaunch!(instantiate(one, graph, 1n), 0n), 0, 'what the launch before has allocated is freed');
  one.memory.putU64(at(216), 0n);
  assert.is(call.cudaDeviceSetGraphMemAttribute!(0, 1, at(216)), 0);
  assert.is(memoryOf(one)[1], 0n);
  assert.is(call.cudaDeviceSetGraphMemAttribute!(0, 0, at(216)), 1);
  assert.is(call.cudaGraphClone!(at(200), graph), 801);
});

test('an allocation behind a free has its memory; only memory of graphs is freed by nodes, and once', () => {
  const one = cuda();
  const { call } = one;
  const graph = newGraph(one);
  const first = addAllocation(one, graph, 64);
  const freed = addFree(one, graph, first.address, [first.node]);
  assert.is(call.cudaGraphAddMemFreeNode!(at(200), graph, 0n, 0n, first.address), 1);
  assert.is.not(addAllocation(one, graph, 64).address, first.address, 'nothing orders it behind the free');
  assert.is(addAllocation(one, graph, 64, [freed]).address, first.address);
  assert.is(call.cudaMalloc!(at(208), 64n), 0);
  assert.is(call.cudaGraphAddMemFreeNode!(at(200), graph, 0n, 0n, handle(one, 208)), 1);
});

test('a capture allocates and frees in its graph', () => {
  const one = cuda();
  const { call } = one;
  const own = newStream(one);
  assert.is(call.cudaStreamBeginCapture!(own, 0), 0);
  assert.is(call.cudaMallocAsync!(at(208), 64n, own), 0);
  const address = handle(one, 208);
  assert.is(call.cudaMemsetAsync!(address, 1, 64n, own), 0);
  assert.is(call.cudaFreeAsync!(address, own), 0);
  assert.is(call.cudaStreamEndCapture!(own, at(200)), 0);
  const graph = handle(one);
  const executable = instantiate(one, graph);
  assert.is(call.cudaGraphLaunch!(executable, own), 0);
  assert.is(call.cudaGraphLaunch!(executable, own), 0);
  assert.equal(memoryOf(one), [0n, 64n, 64n, 64n]);
  assert.is(call.cudaGraphDestroy!(graph), 0);
  assert.is(call.cudaGraphExecDestroy!(executable), 0);
  assert.is(one.state.allocations.find(address), undefined, 'nothing names it any more');
});

/** Adds a conditional node: the node, and the graphs of its bodies. */
function addConditional(one: Cuda, graph: bigint, after: readonly bigint[], condition: bigint, kind: number, count: number): bigint[] {
  const { call, memory } = one;
  memory.put(at(2000), new Uint8Array(256));
  memory.putU32(at(2000), 13);
  memory.putU64(at(2016), condition);
  memory.putU32(at(2024), kind);
  memory.putU32(at(2028), count);
  assert.is(call.cudaGraphAddNode!(at(200), graph, put(one, 800, after), 0n, BigInt(after.length), at(2000)), 0);
  const list = memory.u64(at(2032))!;
  return [handle(one), ...Array.from({ length: count }, (_, i) => memory.u64(list + BigInt(8 * i))!)];
}

test('a body runs while kernels say so, and the value begins each launch as it was made', () => {
  const one = stepping();
  const { call } = one;
  assert.is(call.cudaMalloc!(at(208), 4n), 0);
  const count = handle(one, 208);
  const graph = newGraph(one);
  assert.is(call.cudaGraphConditionalHandleCreate!(at(200), graph, 1, 1), 0);
  const condition = handle(one);
  const [, body] = addConditional(one, graph, [], condition, 1, 1);
  assert.is(call.cudaGraphAddKernelNode!(at(200), body!, 0n, 0n, kernelAt(one, 1000, count, condition, 5)), 0);
  const executable = instantiate(one, graph);
  for (let launch = 0; launch < 2; launch++) {
    assert.is(call.cudaMemset!(count, 0, 4n), 0);
    assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
    assert.is(read(one, count), 5);
  }
  assert.is(call.cudaGraphClone!(at(200), graph), 801);
});

test('one body of several runs, by the value that a kernel before has set', () => {
  const one = stepping();
  const { call, memory } = one;
  assert.is(call.cudaMalloc!(at(208), 16n), 0);
  const data = handle(one, 208);
  for (const kind of [0, 2]) {
    const graph = newGraph(one);
    assert.is(call.cudaGraphConditionalHandleCreate!(at(200), graph, 0, 0), 0);
    const condition = handle(one);
    // A kernel node by the common function: the value is 2 less the number of launches.
    memory.put(at(3000), new Uint8Array(256));
    memory.put(at(3016), memory.slice(kernelAt(one, 1000, data, condition, 2), 56)!);
    assert.is(call.cudaGraphAddNode!(at(200), graph, 0n, 0n, 0n, at(3000)), 0);
    const [, ...bodies] = addConditional(one, graph, [handle(one)], condition, kind, 2);
    for (const [i, body] of bodies.entries()) {
      put(one, 500, [data + BigInt(4 + 4 * i), 0]);
      memory.putU32(at(516), 9);
      memory.putU32(at(520), 4);
      put(one, 524, [1, 1]);
      assert.is(call.cudaGraphAddMemsetNode!(at(200), body, 0n, 0n, at(500)), 0);
    }
    const executable = instantiate(one, graph);
    const ran: number[][] = [];
    assert.is(call.cudaMemset!(data, 0, 16n), 0);
    for (let launch = 0; launch < 3; launch++) {
      assert.is(call.cudaMemset!(data + 4n, 0, 8n), 0);
      assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
      assert.is(call.cudaMemcpy!(at(1100), data + 4n, 8n, 2), 0);
      ran.push(words(one, at(1100), 2));
    }
    // Values 1, 0 and -1: "if" takes the first body for all but 0, "switch" the body of that number, if there is one.
    const [first, second, none] = [
      [9, 0],
      [0, 9],
      [0, 0],
    ];
    assert.equal(ran, kind === 0 ? [first, second, first] : [second, first, none]);
  }
  const graph = newGraph(one);
  assert.is(call.cudaGraphConditionalHandleCreate!(at(200), graph, 0, 2), 1);
  memory.putU64(at(2016), 12n);
  assert.is(call.cudaGraphAddNode!(at(200), graph, 0n, 0n, 0n, at(2000)), 1, 'no condition');
});

test('a capture adds to a graph that is there, says what it has made, and goes on behind other nodes', () => {
  const one = stepping();
  const { call, memory } = one;
  assert.is(call.cudaMalloc!(at(208), 8n), 0);
  const data = handle(one, 208);
  const own = newStream(one);
  const graph = newGraph(one);
  assert.is(call.cudaGraphAddEmptyNode!(at(200), graph, 0n, 0n), 0);
  const empty = handle(one);
  assert.is(call.cudaStreamBeginCaptureToGraph!(own, graph, put(one, 800, [empty]), 0n, 1n, 0), 0);
  assert.is(call.cudaMemsetAsync!(data, 3, 4n, own), 0);
  assert.is(call.cudaStreamGetCaptureInfo!(own, at(300), at(304), at(312), at(320), at(328), at(336)), 0);
  assert.equal([memory.u32(at(300)), handle(one, 312), handle(one, 328), handle(one, 336)], [1, graph, 0n, 1n]);
  const fill = memory.u64(handle(one, 320))!;
  assert.is(call.cudaGraphNodeGetType!(fill, at(208)), 0);
  assert.is(memory.u32(at(208)), 2);
  assert.is(call.cudaGraphAddEmptyNode!(at(200), graph, put(one, 800, [fill]), 1n), 0);
  const next = handle(one);
  const counted = (flags: number): bigint => {
    assert.is(call.cudaStreamUpdateCaptureDependencies!(own, put(one, 800, [next]), 0n, 1n, flags), 0);
    assert.is(call.cudaStreamGetCaptureInfo!(own, at(300), 0n, 0n, 0n, 0n, at(336)), 0);
    return handle(one, 336);
  };
  assert.equal([counted(0), counted(1)], [2n, 1n]);
  assert.is(call.cudaMemsetAsync!(data, 4, 4n, own), 0);
  assert.is(call.cudaStreamEndCapture!(own, 0n), 0);
  assert.is(call.cudaStreamUpdateCaptureDependencies!(own, at(800), 0n, 1n, 1), 401);
  assert.is(call.cudaGraphGetNodes!(graph, 0n, at(208)), 0);
  assert.is(handle(one, 208), 4n);
  assert.is(call.cudaGraphLaunch!(instantiate(one, graph), own), 0);
  assert.is(read(one, data), 0x04040404);
});

test.run();
