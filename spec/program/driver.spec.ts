/** The driver API beyond copies and launches: ranges of addresses with memory that is mapped to them, and linking while a program runs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { linkSources } from '../../src/cli/input/linked.ts';
import type { CudaOptions } from '../../src/program/cudart/index.ts';
import { cBytes } from '../../src/program/memory.ts';
import { at, type Cuda, cuda, ptx, words } from '../support/program-runtime.ts';

const test = suite('program/driver');

const [ok, invalidValue, outOfMemory, notFound, badHandle, badDevice, unsupported] = [0, 1, 2, 301, 400, 101, 801];
const megabytes = (count: number): bigint => BigInt(count * 2 ** 20);

const putWords = ({ memory }: Cuda, index: number, values: readonly number[]): bigint => {
  memory.put(at(index), new Uint8Array(new Uint32Array(values).buffer));
  return at(index);
};
const result = ({ memory }: Cuda): bigint => memory.u64(at(200))!;

function context(more: Partial<CudaOptions> = {}): Cuda {
  const one = cuda(more);
  assert.equal([one.call.cuInit!(0), one.call.cuCtxCreate_v2!(at(200), 0, 0)], [ok, ok]);
  return one;
}

/** The result of a call that writes a number at 200. */
function made(one: Cuda, name: string, ...args: (bigint | number)[]): bigint {
  assert.is(one.call[name]!(at(200), ...args), ok, name);
  return result(one);
}

/** Pinned memory of device 0: `CUmemAllocationProp`. */
const properties = (one: Cuda, place = 1, device = 0, handles = 0): bigint => putWords(one, 600, [1, handles, place, device, 0, 0, 0, 0]);

// Expected: CUDA Driver API, "Context Management": a context lives until it is destroyed, current or not; 201 is CUDA_ERROR_INVALID_CONTEXT.
test('a context that is no current one can be current again, or be destroyed', () => {
  const one = context();
  const { call } = one;
  const own = result(one);
  assert.is(call.cuCtxPopCurrent_v2!(at(208)), ok);
  assert.is(one.memory.u64(at(208)), own);
  assert.is(call.cuCtxPushCurrent_v2!(own), ok);
  assert.is(made(one, 'cuCtxGetCurrent'), own);
  assert.is(call.cuCtxPopCurrent_v2!(0n), ok);
  assert.is(call.cuCtxDestroy_v2!(own), ok);
  assert.equal([call.cuCtxDestroy_v2!(own), call.cuCtxPushCurrent_v2!(own), call.cuCtxSetCurrent!(own)], [201, 201, 201]);
  assert.is(made(one, 'cuCtxGetCurrent'), 0n);
});

test('a variable that no kernel names has an address and its initial contents until its module is unloaded', () => {
  const one = context();
  const { call, memory } = one;
  memory.put(
    at(100_000),
    cBytes('.version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b8 own[8] = {11, 0, 0, 0, 12};\n.entry k() { ret; }\n'),
  );
  const module = made(one, 'cuModuleLoadData', at(100_000));
  memory.put(at(64), cBytes('own'));
  const address = made(one, 'cuModuleGetGlobal_v2', at(208), module, at(64));
  assert.is(memory.u64(at(208)), 8n);
  assert.is(call.cuMemcpyDtoH_v2!(at(1000), address, 8n), ok);
  assert.equal(words(one, at(1000), 2), [11, 12]);
  assert.is(call.cuMemcpyHtoD_v2!(address, putWords(one, 1000, [5]), 4n), ok);
  assert.is(made(one, 'cuModuleGetGlobal_v2', 0n, module, at(64)), address);
  assert.is(call.cuMemcpyDtoH_v2!(at(1000), address, 8n), ok);
  assert.equal(words(one, at(1000), 2), [5, 12]);
  memory.put(at(64), cBytes('other'));
  assert.is(call.cuModuleGetGlobal_v2!(at(200), 0n, module, at(64)), 500);
  assert.is(call.cuModuleUnload!(module), ok);
  assert.is.not(call.cuMemcpyDtoH_v2!(at(1000), address, 8n), ok);
});

test('memory of two handles makes up one range, which copies and kernels take as any other', () => {
  const one = context();
  const { call } = one;
  const granularity = made(one, 'cuMemGetAllocationGranularity', properties(one), 0);
  assert.is(granularity, megabytes(2));
  const range = made(one, 'cuMemAddressReserve', megabytes(4), 0n, 0n, 0n);
  assert.is(range % granularity, 0n);
  const [first, second] = [0, 1].map(() => made(one, 'cuMemCreate', megabytes(2), properties(one), 0n)) as [bigint, bigint];
  assert.is(call.cuMemMap!(range, megabytes(2), 0n, first, 0n), ok);
  assert.is(call.cuMemSetAccess!(range, megabytes(4), putWords(one, 640, [1, 0, 3]), 1n), invalidValue, 'a part is not mapped');
  assert.is(call.cuMemMap!(range + megabytes(2), megabytes(2), 0n, second, 0n), ok);
  assert.is(call.cuMemSetAccess!(range, megabytes(4), putWords(one, 640, [1, 0, 3]), 1n), ok);
  assert.is(made(one, 'cuMemGetAccess', putWords(one, 640, [1, 0]), range + megabytes(3)), 3n);
  // Across the border of both.
  const border = range + megabytes(2) - 8n;
  assert.is(call.cuMemcpyHtoD_v2!(border, putWords(one, 1000, [1, 2, 3, 4]), 16n), ok);
  assert.is(call.cuMemcpyDtoH_v2!(at(1100), border, 16n), ok);
  assert.equal(words(one, at(1100), 4), [1, 2, 3, 4]);
  assert.is(call.cuMemFree_v2!(range), invalidValue);
  assert.is(call.cuMemAddressFree!(range, megabytes(4)), invalidValue, 'it is mapped');
  assert.is(call.cuMemUnmap!(range, megabytes(4)), ok);
  assert.is(call.cuMemAddressFree!(range, megabytes(4)), ok);
  assert.is(call.cuMemcpyDtoH_v2!(at(1100), border, 16n), invalidValue);
});

test('what memory has goes with it to another range', () => {
  const one = context();
  const { call } = one;
  const [from, to] = [0, 1].map(() => made(one, 'cuMemAddressReserve', megabytes(2), 0n, 0n, 0n)) as [bigint, bigint];
  const memory = made(one, 'cuMemCreate', megabytes(2), properties(one), 0n);
  assert.is(call.cuMemMap!(from, megabytes(2), 0n, memory, 0n), ok);
  assert.is(call.cuMemcpyHtoD_v2!(from + 4n, putWords(one, 1000, [7, 8]), 8n), ok);
  assert.is(call.cuMemMap!(to, megabytes(2), 0n, memory, 0n), unsupported, 'two places at a time');
  assert.is(call.cuMemUnmap!(from, megabytes(2)), ok);
  assert.is(call.cuMemMap!(to, megabytes(2), 0n, memory, 0n), ok);
  // The mapping keeps memory whose handle is released.
  assert.is(call.cuMemRelease!(memory), ok);
  assert.is(call.cuMemRelease!(memory), invalidValue);
  assert.is(call.cuMemcpyDtoH_v2!(at(1100), to + 4n, 8n), ok);
  assert.equal(words(one, at(1100), 2), [7, 8]);
  assert.is(made(one, 'cuMemRetainAllocationHandle', to + 100n), memory);
  assert.is(call.cuMemUnmap!(to, megabytes(2)), ok);
  assert.is(call.cuMemRelease!(memory), ok);
  assert.is(call.cuMemMap!(to, megabytes(2), 0n, memory, 0n), invalidValue);
});

test('sizes, places and devices that no range and no memory can have are refused', () => {
  const one = context();
  const { call } = one;
  assert.is(call.cuMemAddressReserve!(at(200), 4096n, 0n, 0n, 0n), invalidValue);
  assert.is(call.cuMemAddressReserve!(at(200), megabytes(2), 3n, 0n, 0n), invalidValue);
  assert.is(call.cuMemAddressReserve!(at(200), 1n << 40n, 0n, 0n, 0n), outOfMemory);
  assert.is(call.cuMemCreate!(at(200), 4096n, properties(one), 0n), invalidValue);
  assert.is(call.cuMemCreate!(at(200), megabytes(2), properties(one, 1, 1), 0n), badDevice);
  assert.is(call.cuMemCreate!(at(200), megabytes(2), properties(one, 1, 0, 1), 0n), unsupported, 'handles for other processes');
  const range = made(one, 'cuMemAddressReserve', megabytes(4), 0n, 0n, 0n);
  const memory = made(one, 'cuMemCreate', megabytes(2), properties(one), 0n);
  assert.is(call.cuMemMap!(range + 4096n, megabytes(2), 0n, memory, 0n), invalidValue);
  assert.is(call.cuMemMap!(range, megabytes(4), 0n, memory, 0n), invalidValue);
  assert.is(call.cuMemMap!(range + megabytes(4), megabytes(2), 0n, memory, 0n), invalidValue);
  assert.is(call.cuMemUnmap!(range, megabytes(2)), invalidValue);
});

test('the best size of blocks is one with which most threads run', () => {
  const one = context();
  const { call, memory } = one;
  memory.put(at(100_000), cBytes(ptx));
  const module = made(one, 'cuModuleLoadData', at(100_000));
  memory.put(at(64), cBytes('scale'));
  const fn = made(one, 'cuModuleGetFunction', module, at(64));
  for (const limit of [0, 200]) {
    assert.is(call.cuOccupancyMaxPotentialBlockSize!(at(208), at(212), fn, 0n, 0n, limit), ok);
    const [grid, size] = words(one, at(208), 2) as [number, number];
    const threads = (each: number): number => {
      assert.is(call.cuOccupancyMaxActiveBlocksPerMultiprocessor!(at(220), fn, each, 0n), ok);
      return words(one, at(220), 1)[0]! * each;
    };
    assert.is(call.cuDeviceGetAttribute!(at(220), 16, 0), ok);
    const processors = words(one, at(220), 1)[0]!;
    assert.is(grid * size, threads(size) * processors);
    assert.ok(size <= (limit || 1024));
    for (let other = 32; other <= (limit || 1024); other += 32) assert.ok(threads(size) >= threads(other), String(other));
  }
  assert.is(call.cuOccupancyMaxPotentialBlockSize!(at(208), at(212), 77n, 0n, 0n, 0), badHandle);
});

const caller = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 n);
.visible .entry store(.param .u64 to) {
  .reg .b64 %d; .reg .b32 %r<2>;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], 21; call (q), twice, (p); ld.param.b32 %r1, [q]; }
  ld.param.u64 %d, [to]; st.global.u32 [%d], %r1; ret;
}
`;
const callee = `.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 n) {
  .reg .b32 %r; ld.param.b32 %r, [n]; shl.b32 %r, %r, 1; st.param.b32 [result], %r; ret;
}
`;

/** As the command line links. */
function link(texts: readonly string[]): string | undefined {
  return linkSources(
    texts.map((text) => new SourceFile('a.ptx', text)),
    'linked.ptx',
    new Diagnostics(),
  )?.text;
}

/** Links texts, and loads what that gave. */
function linked(one: Cuda, texts: readonly string[]): bigint {
  const { call, memory } = one;
  // A buffer for messages, which are none.
  memory.put(at(900), cBytes('old'));
  memory.putU64(at(708), at(900));
  const state = (() => {
    assert.is(call.cuLinkCreate_v2!(1, putWords(one, 700, [3]), at(708), at(200)), ok);
    return result(one);
  })();
  assert.is(memory.cString(at(900)), '');
  for (const text of texts) {
    memory.put(at(100_000), cBytes(text));
    assert.is(call.cuLinkAddData_v2!(state, 1, at(100_000), BigInt(cBytes(text).length), 0n, 0, 0n, 0n), ok);
  }
  assert.is(call.cuLinkComplete!(state, at(208), at(216)), ok);
  const [image, size] = [memory.u64(at(208))!, memory.u64(at(216))!];
  assert.is(memory.cString(image)!.length + 1, Number(size));
  assert.is(call.cuModuleLoadData!(at(200), image), ok);
  assert.is(call.cuLinkDestroy!(state), ok);
  assert.is(call.cuLinkDestroy!(state), badHandle);
  return result(one);
}

test('a kernel calls a function of another module that it was linked with', () => {
  const one = context({ link });
  const { call, memory } = one;
  const module = linked(one, [caller, callee]);
  memory.put(at(64), cBytes('store'));
  const fn = made(one, 'cuModuleGetFunction', module, at(64));
  const data = made(one, 'cuMemAlloc_v2', 4n);
  memory.putU64(at(400), data);
  memory.putU64(at(424), at(400));
  assert.is(call.cuLaunchKernel!(fn, 1, 1, 1, 1, 1, 1, 0, 0n, at(424), 0n), ok);
  assert.is(call.cuMemcpyDtoH_v2!(at(1000), data, 4n), ok);
  assert.equal(words(one, at(1000), 1), [42]);
});

test('one module is linked where nothing links several, and machine code never', () => {
  const one = context();
  const { call, memory } = one;
  assert.ok(linked(one, [ptx]) > 0n);
  assert.is(call.cuLinkCreate_v2!(0, 0n, 0n, at(200)), ok);
  const state = result(one);
  assert.is(call.cuLinkComplete!(state, at(208), at(216)), invalidValue, 'nothing was added');
  memory.put(at(100_000), cBytes(ptx));
  assert.is(call.cuLinkAddData_v2!(state, 0, at(100_000), 8n, 0n, 0, 0n, 0n), unsupported);
  memory.put(at(64), cBytes('none.ptx'));
  assert.is(call.cuLinkAddFile_v2!(state, 1, at(64), 0, 0n, 0n), notFound);
  for (let i = 0; i < 2; i++) assert.is(call.cuLinkAddData_v2!(state, 1, at(100_000), BigInt(ptx.length), 0n, 0, 0n, 0n), ok);
  assert.is(call.cuLinkComplete!(state, at(208), at(216)), unsupported);
});

test.run();
