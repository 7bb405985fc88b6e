/** The CUDA runtime as a program sees it: its functions with memory that a test makes. */
import * as assert from 'uvu/assert';
import { initialValuesOf, loadSource, warpSynchronous } from '../../src/api/load.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openDevice } from '../../src/device/index.ts';
import { type CudaOptions, CudaState, cudaImports, managedPointer } from '../../src/program/cudart/index.ts';
import { cBytes, ProgramMemory } from '../../src/program/memory.ts';

export const base = 1n << 32n;
/** A pointer of the program to an index. */
export const at = (index: number): bigint => base + BigInt(index);

export const newMemory = (pages = 4): ProgramMemory => new ProgramMemory(new WebAssembly.Memory({ initial: pages, maximum: 1024 }));

export const ptx = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 total;
.visible .entry scale(.param .u64 data, .param .u32 n, .param .u32 by) {
  .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [by];
  mov.u32 %r3, %tid.x;
  setp.ge.u32 %p, %r3, %r1;
  @%p ret;
  mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r4, [%d1]; mul.lo.u32 %r4, %r4, %r2; st.global.u32 [%d1], %r4;
  ld.global.u32 %r5, [total]; add.u32 %r5, %r5, 1; st.global.u32 [total], %r5;
  ret;
}
.visible .entry late(.param .u32 n, .param .align 4 .b8 s[16], .param .u64 data) {
  .reg .b64 %d; .reg .b32 %r<3>;
  ld.param.u32 %r1, [n]; ld.param.u32 %r2, [s+12]; ld.param.u64 %d, [data];
  add.u32 %r1, %r1, %r2; st.global.u32 [%d], %r1; ret;
}
.visible .entry far() {
  .reg .b64 %d; .reg .b32 %r;
  mov.u64 %d, 281474976710656; ld.global.u32 %r, [%d]; st.global.u32 [%d], %r; ret;
}
`;

export interface Cuda {
  readonly call: Record<string, (...args: (bigint | number)[]) => number>;
  readonly memory: ProgramMemory;
  readonly state: CudaState;
  readonly reported: string[];
}

/** A runtime whose program has registered `ptx`: stubs are at 16 and 17, the variable at 18. */
export function cuda(more: Partial<CudaOptions> = {}): Cuda {
  const device = openDevice('cpu', new Diagnostics(), { threads: 1 })!;
  const reported: string[] = [];
  const options: CudaOptions = {
    device,
    load: (text, diagnostics) => loadSource(device, text, { compile: { target: 'cpu' }, ...warpSynchronous(text) }, diagnostics),
    initialValues: initialValuesOf,
    report: ({ list }) => void reported.push(...list.map(({ code }) => code)),
    print: () => undefined,
    now: () => performance.now(),
    ...more,
  };
  const state = new CudaState(options);
  const memory = newMemory(16);
  let heap = 500_000;
  state.memory = memory;
  memory.managed = (address, bytes) => {
    const pointer = managedPointer(state, address, bytes);
    return pointer === undefined ? undefined : memory.index(pointer, bytes);
  };
  state.exports = {
    malloc(bytes) {
      heap += Number(bytes);
      return at(heap - Number(bytes));
    },
    free: () => undefined,
    function: (pointer) => (pointer === 5n ? (data) => void memory.putU32(at(0), Number(data)) : undefined),
  };
  const call = cudaImports(state) as unknown as Cuda['call'];
  memory.put(at(100_000), cBytes(ptx));
  memory.putU64(at(8), at(100_000));
  const handle = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  for (const [i, name] of ['scale', 'far'].entries()) {
    memory.put(at(64), cBytes(name));
    call.__cudaRegisterFunction!(handle, at(16 + i), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  }
  memory.put(at(64), cBytes('total'));
  call.__cudaRegisterVar!(handle, at(18), at(64), at(64), 0, 4n, 0, 0);
  return { call, memory, state, reported };
}

export function allocate({ call, memory }: Cuda, how: string, bytes: number, ...more: number[]): bigint {
  assert.is(call[how]!(at(200), BigInt(bytes), ...more), 0);
  return memory.u64(at(200))!;
}

/** Launches `scale` on a pointer as host code does. */
export function scale({ call, memory }: Cuda, data: bigint, n: number, by: number, stream = 0n): number {
  const dims = (index: number, x: number): bigint => {
    [x, 1, 1].forEach((value, i) => void memory.putU32(at(index + 4 * i), value));
    return at(index);
  };
  assert.is(call.__cudaPushCallConfiguration!(dims(300, 1), dims(320, 32), 0n, 0n), 0);
  assert.is(call.__cudaPopCallConfiguration!(at(340), at(360), at(376), at(384)), 0);
  memory.putU64(at(400), data);
  memory.putU32(at(408), n);
  memory.putU32(at(412), by);
  [400, 408, 412].forEach((index, i) => void memory.putU64(at(420 + 4 + 8 * i), at(index)));
  return call.cudaLaunchKernel!(at(16), at(340), at(360), at(424), 0n, stream);
}

export const words = ({ memory }: Cuda, pointer: bigint, count: number): number[] => {
  const bytes = memory.slice(pointer, 4 * count)!.slice();
  return [...new Uint32Array(bytes.buffer)];
};
