/** CUDA's names: a program as it is ported, in both interfaces, on the CPU device and on the fake Metal. Errors are in errors.spec.ts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device, type Event, type Kernel, type MemoryPool, type Module, type ModuleSymbol, type Stream } from '../../src/api/index.ts';
import * as cuda from '../../src/cudart/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { kernels } from '../support/api-contract.ts';
import type { Candidate } from '../support/device-contract.ts';
import { fakeCandidates } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';
import type { Register } from '../support/need.ts';

const test = suite('api/cudart');
const { ref, cudaMemcpyKind: kind } = cuda;

/** Fails where an answer is an error; `answered` is what was wanted. */
const is = (said: number, wanted = 0): void => assert.is(cuda.cudaGetErrorName(said), cuda.cudaGetErrorName(wanted));

function program(register: Register, candidate: Candidate): void {
  const on = (what: string, body: () => Promise<void>): void =>
    register(`${candidate.name}: ${what}`, async () => {
      const device = Device.over(candidate.open());
      cuda.cumetalUseDevice(device);
      await body();
      is(await cuda.cudaDeviceSynchronize());
      device.close();
      candidate.check?.();
    });

  on('memory of pools in stream order, by its attributes', async () => {
    const { cudaErrorInvalidValue } = cuda.cudaError_t;
    const [pointer, other, stream, pool, value] = [ref<bigint>(), ref<bigint>(), ref<Stream>(), ref<MemoryPool>(), ref<number>()];
    is(cuda.cudaStreamCreateWithFlags(stream, cuda.cudaStreamNonBlocking));
    is(cuda.cudaDeviceGetDefaultMemPool(pool, 0));
    const mostUsed = (): number => {
      is(cuda.cudaMemPoolGetAttribute(pool.value, 8, value));
      return value.value;
    };
    is(cuda.cudaMallocAsync(pointer, 4000, stream.value));
    is(cuda.cudaMemsetAsync(pointer.value, 7, 4000, stream.value));
    const bytes = new Uint8Array(4);
    is(cuda.cudaMemcpyAsync(bytes, pointer.value + 3996n, 4, kind.cudaMemcpyDeviceToHost, stream.value));
    is(cuda.cudaFreeAsync(pointer.value, stream.value));
    is(cuda.cudaFreeAsync(pointer.value, stream.value), cudaErrorInvalidValue);
    is(cuda.cudaFree(pointer.value), cudaErrorInvalidValue);
    // Kept, because the stream is not there yet.
    is(cuda.cudaMallocAsync(other, 4000, stream.value));
    assert.is(other.value, pointer.value);
    is(await cuda.cudaStreamSynchronize(stream.value));
    assert.equal([...bytes], [7, 7, 7, 7]);
    assert.is(mostUsed(), 4000);
    is(cuda.cudaFree(other.value));
    is(cuda.cudaMemPoolTrimTo(pool.value, 0));
    is(cuda.cudaMemPoolGetAttribute(pool.value, 5, value));
    assert.is(value.value, 0);
    is(cuda.cudaMemPoolSetAttribute(pool.value, 8, 0));
    assert.is(mostUsed(), 0);
    is(cuda.cudaMemPoolSetAttribute(pool.value, 4, 4096));
    is(cuda.cudaMemPoolGetAttribute(pool.value, 4, value));
    assert.is(value.value, 4096);
    is(cuda.cudaMemPoolSetAttribute(pool.value, 7, 0), cudaErrorInvalidValue);
    is(cuda.cudaMemPoolDestroy(pool.value), cudaErrorInvalidValue);
    const { cudaErrorInvalidDevice, cudaErrorNotSupported } = cuda.cudaError_t;
    const access = (type: number, id: number, flags: number) => cuda.cudaMemPoolSetAccess(pool.value, [{ location: { type, id }, flags }]);
    is(access(1, 0, 3));
    is(access(1, 0, 0), cudaErrorInvalidDevice);
    is(access(1, 0, 1), cudaErrorNotSupported);
    is(access(1, 99, 3), cudaErrorInvalidDevice);
    is(access(2, 0, 3), cudaErrorNotSupported);
    is(cuda.cudaMemPoolSetAccess(pool.value, [], 1), cudaErrorInvalidValue);
    is(cuda.cudaMemPoolGetAccess(value, pool.value, { type: 1, id: 0 }));
    assert.is(value.value, cuda.cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite);
    is(cuda.cudaMemPoolGetAccess(value, pool.value, { type: 1, id: 99 }), cudaErrorInvalidValue);
    is(cuda.cudaMemPoolGetAccess(value, pool.value, { type: 2, id: 0 }), cudaErrorInvalidValue);
    const own = ref<MemoryPool>();
    is(cuda.cudaMemPoolCreate(own, { maxSize: 2 ** 20 }));
    is(cuda.cudaDeviceSetMemPool(0, own.value));
    is(cuda.cudaMallocAsync(pointer, 2 ** 25));
    is(cuda.cudaMallocAsync(other, 1), cuda.cudaError_t.cudaErrorMemoryAllocation);
    is(cuda.cudaMallocFromPoolAsync(other, 1, pool.value));
    is(cuda.cudaMemPoolDestroy(own.value));
    is(cuda.cudaDeviceGetMemPool(own, 0));
    assert.is(own.value, pool.value);
    is(cuda.cudaFreeAsync(pointer.value));
    is(cuda.cudaFreeAsync(other.value));
    is(cuda.cudaFreeAsync(0n));
  });

  on('a program with streams, events, page-locked memory and pointers that are moved', async () => {
    const [library, saxpy] = [ref<Module>(), ref<Kernel>()];
    is(cuda.cudaLibraryLoadData(library, kernels.saxpy));
    is(cuda.cudaLibraryGetKernel(saxpy, library.value, 'saxpy'));
    const [x, y, stream, start, end] = [ref<bigint>(), ref<bigint>(), ref<Stream>(), ref<Event>(), ref<Event>()];
    is(cuda.cudaMalloc(x, 16));
    is(cuda.cudaMalloc(y, 16));
    is(cuda.cudaStreamCreateWithFlags(stream, cuda.cudaStreamNonBlocking));
    is(cuda.cudaEventCreate(start));
    is(cuda.cudaEventCreate(end));
    const [locked, result] = [ref<Uint8Array>(), new Float32Array(4)];
    is(cuda.cudaMallocHost(locked, 16));
    const numbers = new Float32Array(locked.value.buffer, locked.value.byteOffset, 4);
    is(cuda.cudaEventRecord(start.value, stream.value));
    is(cuda.cudaMemcpyAsync(x.value, locked.value, 16, kind.cudaMemcpyHostToDevice, stream.value));
    // Page-locked memory is read when its turn comes, so that this is what is copied.
    numbers.set([1, 2, 3, 4]);
    const pageable = Float32Array.of(10, 20, 30, 40);
    is(cuda.cudaMemcpyAsync(y.value, pageable, 16, kind.cudaMemcpyDefault, stream.value));
    pageable.fill(0);
    is(cuda.cudaLaunchKernel(saxpy.value, { x: 1 }, 32, [2, x.value + 4n, y.value + 8n, 2], 0, stream.value));
    is(cuda.cudaMemcpyAsync(result, y.value, 16, kind.cudaMemcpyDeviceToHost, stream.value));
    is(cuda.cudaEventRecord(end.value, stream.value));
    is(cuda.cudaStreamQuery(stream.value), cuda.cudaError_t.cudaErrorNotReady);
    is(cuda.cudaEventQuery(end.value), cuda.cudaError_t.cudaErrorNotReady);
    is(await cuda.cudaEventSynchronize(end.value));
    assert.equal([...result], [10, 20, 34, 46]);
    const milliseconds = ref<number>();
    is(cuda.cudaEventElapsedTime(milliseconds, start.value, end.value));
    assert.ok(milliseconds.value >= 0 && milliseconds.value < 60_000);
    is(cuda.cudaStreamQuery(stream.value));
    for (const pointer of [x, y]) is(cuda.cudaFree(pointer.value));
    is(cuda.cudaFree(x.value), cuda.cudaError_t.cudaErrorInvalidValue);
    is(cuda.cudaFree(0n));
    is(cuda.cudaFreeHost(locked.value));
    is(cuda.cudaEventDestroy(end.value));
    is(cuda.cudaEventQuery(end.value), cuda.cudaError_t.cudaErrorInvalidResourceHandle);
    is(cuda.cudaStreamDestroy(stream.value));
    is(cuda.cudaStreamDestroy(stream.value), cuda.cudaError_t.cudaErrorInvalidResourceHandle);
    is(cuda.cudaLibraryUnload(library.value));
    is(cuda.cudaLaunchKernel(saxpy.value, 1, 1, [1, 0n, 0n, 0]), cuda.cudaError_t.cudaErrorInvalidResourceHandle);
    is(cuda.cudaGetLastError(), cuda.cudaError_t.cudaErrorInvalidResourceHandle);
    is(cuda.cudaPeekAtLastError());
  });

  on('memory: copies of every kind, sets, what is managed, variables of a module', async () => {
    const [a, b, managed] = [ref<bigint>(), ref<bigint>(), ref<bigint>()];
    is(cuda.cudaMalloc(a, 8));
    is(cuda.cudaMalloc(b, 8));
    is(cuda.cudaMallocManaged(managed, 8));
    is(cuda.cudaMemset(a.value, 0x1ff, 8));
    is(cuda.cudaMemsetAsync(a.value + 6n, 3, 2, cuda.cudaStreamPerThread));
    is(await cuda.cudaMemcpy(b.value + 1n, a.value + 1n, 7, kind.cudaMemcpyDeviceToDevice));
    const [found, copy] = [new Uint8Array(8), new Uint8Array(8)];
    is(await cuda.cudaMemcpy(found, b.value, 8, kind.cudaMemcpyDeviceToHost));
    is(await cuda.cudaMemcpy(copy.subarray(4), found, 4, kind.cudaMemcpyHostToHost));
    assert.equal(
      [[...found], [...copy]],
      [
        [0, 255, 255, 255, 255, 255, 3, 3],
        [0, 0, 0, 0, 0, 255, 255, 255],
      ],
    );
    is(await cuda.cudaMemcpy(managed.value, found, 8, kind.cudaMemcpyDefault));
    const view = ref<Uint8Array>();
    is(cuda.cumetalHostView(view, managed.value + 6n, 2));
    assert.equal([...view.value], [3, 3]);
    is(cuda.cumetalHostView(view, managed.value + 6n, 3), 1);
    const [nothing, none] = [ref<bigint>(), cuda.cudaError_t.cudaErrorInvalidValue];
    is(cuda.cudaMalloc(nothing, 0));
    assert.is(nothing.value, 0n);
    is(await cuda.cudaMemcpy(a.value, found, 9, kind.cudaMemcpyHostToDevice), none);
    is(await cuda.cudaMemcpy(a.value, new Uint8Array(9), 9, kind.cudaMemcpyHostToDevice), none);
    is(await cuda.cudaMemcpy(0n, found, 8, kind.cudaMemcpyHostToDevice), none);
    is(await cuda.cudaMemcpy(a.value, b.value, 8, kind.cudaMemcpyDeviceToHost), none);
    const [library, table] = [ref<Module>(), ref<ModuleSymbol>()];
    is(cuda.cudaLibraryLoadData(library, kernels.module));
    is(cuda.cumetalGetSymbol(table, library.value, 'table'));
    is(await cuda.cudaMemcpyToSymbol(table.value, Uint32Array.of(5), 4, 8));
    const words = new Uint32Array(3);
    is(await cuda.cudaMemcpyFromSymbol(words, table.value, 12));
    assert.equal([...words], [7, 8, 5]);
    is(cuda.cudaMemcpyToSymbolAsync(table.value, Uint32Array.of(6), 4, 0, kind.cudaMemcpyHostToDevice, 0));
    is(cuda.cudaMemcpyFromSymbolAsync(words, table.value, 4));
    is(await cuda.cudaStreamSynchronize(0));
    assert.equal([...words], [6, 8, 5]);
    is(await cuda.cudaMemcpyToSymbol('table' as never, words, 4), cuda.cudaError_t.cudaErrorInvalidSymbol);
    for (const pointer of [a, b, managed]) is(cuda.cudaFree(pointer.value));
  });

  on('functions of the host, waits of streams for events, what kernels and devices are', async () => {
    const [stream, event, order] = [ref<Stream>(), ref<Event>(), [] as unknown[]];
    is(cuda.cudaStreamCreate(stream));
    is(cuda.cudaStreamCreateWithFlags(stream, 7), cuda.cudaError_t.cudaErrorInvalidValue);
    is(cuda.cudaEventCreateWithFlags(event, cuda.cudaEventDisableTiming));
    is(cuda.cudaLaunchHostFunc(stream.value, (what: string) => void order.push(what), 'first'));
    is(cuda.cudaEventRecord(event.value, stream.value));
    is(cuda.cudaStreamWaitEvent(cuda.cudaStreamPerThread, event.value));
    is(cuda.cudaStreamAddCallback(cuda.cudaStreamPerThread, (of, status, data) => void order.push(of, status, data), 'second'));
    is(await cuda.cudaStreamSynchronize(cuda.cudaStreamPerThread));
    assert.equal(order, ['first', 2, 0, 'second']);
    is(cuda.cudaEventElapsedTime(ref(), event.value, event.value), cuda.cudaError_t.cudaErrorInvalidResourceHandle);
    is(cuda.cudaStreamWaitEvent(0, undefined as never), cuda.cudaError_t.cudaErrorInvalidResourceHandle);
    const [library, demands, attributes, blocks] = [ref<Module>(), ref<Kernel>(), ref<cuda.cudaFuncAttributes>(), ref<number>()];
    is(cuda.cudaLibraryLoadData(library, kernels.demands));
    is(cuda.cudaLibraryGetKernel(demands, library.value, 'demands'));
    is(cuda.cudaFuncGetAttributes(attributes, demands.value));
    assert.equal(attributes.value, { sharedSizeBytes: 0, maxThreadsPerBlock: 8 });
    is(cuda.cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, demands.value, 8, 0));
    assert.ok(blocks.value >= 1);
    is(cuda.cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, demands.value, 9, 0));
    assert.is(blocks.value, 0);
    is(cuda.cudaLaunchKernel(demands.value, 0, 8, [0n]), cuda.cudaError_t.cudaErrorInvalidConfiguration);
    is(cuda.cudaLaunchKernel({} as never, 1, 8, [0n]), cuda.cudaError_t.cudaErrorInvalidDeviceFunction);
    const [count, properties] = [ref<number>(), ref<cuda.cudaDeviceProp>()];
    is(cuda.cudaGetDeviceCount(count));
    assert.ok(count.value >= 1);
    is(cuda.cudaGetDeviceProperties(properties, count.value - 1));
    assert.is(properties.value.warpSize, 32);
    is(cuda.cudaGetDeviceProperties(properties, count.value), cuda.cudaError_t.cudaErrorInvalidDevice);
    is(cuda.cudaStreamDestroy(stream.value));
    cuda.cudaGetLastError();
  });

  on('the driver’s functions, which give the driver’s numbers', async () => {
    const [module, bump, word, stream, event] = [ref<Module>(), ref<Kernel>(), ref<bigint>(), ref<Stream>(), ref<Event>()];
    is(cuda.cuInit(0));
    is(cuda.cuModuleLoadData(module, kernels.bump));
    is(cuda.cuModuleGetFunction(bump, module.value, 'bump'));
    is(cuda.cuMemAlloc(word, 8));
    is(cuda.cuStreamCreate(stream, 0));
    is(cuda.cuEventCreate(event, 0));
    is(await cuda.cuMemcpyHtoD(word.value, Uint32Array.of(40, 1), 8));
    for (let i = 0; i < 2; i++) is(cuda.cuLaunchKernel(bump.value, 1, 1, 1, 1, 1, 1, 0, stream.value, [word.value]));
    is(cuda.cuEventRecord(event.value, stream.value));
    assert.is(cuda.cuEventQuery(event.value), 600);
    assert.is(cuda.cuStreamQuery(stream.value), 600);
    is(cuda.cuStreamWaitEvent(0, event.value));
    const found = new Uint32Array(2);
    is(await cuda.cuMemcpyDtoH(found, word.value, 8));
    assert.equal([...found], [42, 1]);
    is(await cuda.cuMemcpyDtoD(word.value, word.value + 4n, 4));
    is(cuda.cuMemsetD8Async(word.value + 4n, 9, 1, stream.value));
    is(cuda.cuMemcpyDtoHAsync(found, word.value, 8, stream.value));
    is(await cuda.cuStreamSynchronize(stream.value));
    assert.equal([...found], [1, 9]);
    is(cuda.cuMemcpyHtoDAsync(word.value, found, 8));
    is(await cuda.cuCtxSynchronize());
    // A block that is too large is an argument that is wrong to the driver: 1, and 9 to the runtime.
    assert.is(cuda.cuLaunchKernel(bump.value, 1, 1, 1, 4096, 1, 1, 0, 0, [word.value]), 1);
    assert.is(cuda.cuModuleGetFunction(bump, module.value, 'bmup'), 500);
    assert.is(cuda.cuMemAlloc(word, 0), 1);
    const [name, text] = [ref<string | undefined>(), ref<string | undefined>()];
    assert.equal([cuda.cuGetErrorName(500, name), cuda.cuGetErrorString(500, text)], [0, 0]);
    assert.equal([name.value, text.value], ['CUDA_ERROR_NOT_FOUND', 'named symbol not found']);
    assert.equal([cuda.cuGetErrorName(12345, name), name.value], [1, undefined]);
    is(cuda.cuEventDestroy(event.value));
    is(cuda.cuStreamDestroy(stream.value));
    is(cuda.cuModuleUnload(module.value));
    cuda.cudaGetLastError();
  });
}

program(test, { name: 'cpu', open: openCpuDevice });
const { test: onFake, folder } = openFake(test);
for (const candidate of folder ? fakeCandidates(folder).slice(0, 1) : []) program(onFake, candidate);

test('where no device is named, it is the preferred one of this machine', async () => {
  cuda.cumetalUseDevice(undefined as never);
  const [ordinal, pointer] = [ref<number>(), ref<bigint>()];
  is(cuda.cudaSetDevice(0));
  is(cuda.cudaGetDevice(ordinal));
  assert.is(ordinal.value, 0);
  is(cuda.cudaMalloc(pointer, 16));
  is(cuda.cudaSetDevice(0));
  is(cuda.cudaFree(pointer.value));
});

test.run();
