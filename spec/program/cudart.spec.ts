/** The parts of the CUDA runtime beyond copies and launches: boxes, symbols, pools, graphs, cooperative launches, and the driver API. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cudaFunctions } from '../../src/program/cudart/index.ts';
import { kernelOfName } from '../../src/program/cudart/kernel-names.ts';
import { cBytes } from '../../src/program/memory.ts';
import { allocate, at, type Cuda, cuda, ptx, scale, words } from '../support/program-runtime.ts';

const test = suite('program/cudart');

const put = ({ memory }: Cuda, index: number, values: readonly (number | bigint)[]): bigint => {
  for (const [i, value] of values.entries()) memory.putU64(at(index + 8 * i), value);
  return at(index);
};
const putWords = ({ memory }: Cuda, index: number, values: readonly number[]): bigint => {
  memory.put(at(index), new Uint8Array(new Uint32Array(values).buffer));
  return at(index);
};
const handle = ({ memory }: Cuda): bigint => memory.u64(at(200))!;
const stream = (one: Cuda, flags = 1): bigint => {
  assert.is(one.call.cudaStreamCreateWithFlags!(at(200), flags), 0);
  return handle(one);
};
const read = (one: Cuda, pointer: bigint, count: number): number[] => {
  assert.is(one.call.cudaMemcpy!(at(1100), pointer, BigInt(4 * count), 2), 0);
  return words(one, at(1100), count);
};

test('a device has the capability of the newest code, and room for clusters from 9.0 on', () => {
  const one = cuda();
  const { call, memory } = one;
  const attributes = (): number[] =>
    [75, 76, 16].map((attribute) => {
      assert.is(call.cudaDeviceGetAttribute!(at(200), attribute, 0), 0);
      return memory.u32(at(200))!;
    });
  const [major, minor, cores] = attributes();
  assert.equal([major, minor], [8, 0]);
  memory.put(at(2000), cBytes('.version 8.0\n.target sm_90a\n.address_size 64\n'));
  memory.putU64(at(1208), at(2000));
  call.__cudaRegisterFatBinary!(at(1200));
  assert.equal(attributes(), [9, 0, Math.max(16, cores!)]);
});

test('boxes: a part of a box goes to a part of another', () => {
  const one = cuda();
  const { call, memory } = one;
  assert.is(call.cudaMalloc3D!(at(200), put(one, 240, [8, 3, 2])), 0);
  const [data, pitch, width, height] = [0, 8, 16, 24].map((offset) => memory.u64(at(200 + offset))!);
  assert.equal([pitch! % 256n, width, height], [0n, 8n, 3n]);
  assert.is(call.cudaMemset3D!(at(200), 0xee, put(one, 240, [8, 3, 2])), 0);
  memory.put(
    at(1000),
    Uint8Array.from({ length: 24 }, (_, i) => i),
  );
  // From planes of 3 rows of 4 bytes, at (1, 1, 0), two by two by two, to (2, 1, 0).
  put(one, 3000, [0, 1, 1, 0, at(1000), 4, 4, 3, 0, 2, 1, 0, data!, pitch!, 8, 3, 2, 2, 2, 1]);
  assert.is(call.cudaMemcpy3D!(at(3000)), 0);
  put(one, 3000, [0, 0, 0, 0, data!, pitch!, 8, 3, 0, 0, 0, 0, at(2000), 8, 8, 3, 8, 3, 2, 2]);
  assert.is(call.cudaMemcpy3DAsync!(at(3000), 0n), 0);
  const e = 0xee;
  const rows = [
    [e, e, e, e, e, e, e, e],
    [e, e, 5, 6, e, e, e, e],
    [e, e, 9, 10, e, e, e, e],
    [e, e, e, e, e, e, e, e],
    [e, e, 17, 18, e, e, e, e],
    [e, e, 21, 22, e, e, e, e],
  ];
  assert.equal([...memory.slice(at(2000), 48)!], rows.flat());
  memory.putU64(at(3000), 1n);
  assert.is(call.cudaMemcpy3D!(at(3000)), 400, 'no array');
});

test('errors of arguments that are no flags, limits, pitches or registered memory: the numbers of an H200', () => {
  const one = cuda();
  const { call } = one;
  const data = allocate(one, 'cudaMalloc', 256);
  const numbers = [
    call.cudaEventCreateWithFlags!(at(200), 0x55 & ~7),
    call.cudaHostAlloc!(at(200), 16n, 0x77),
    call.cudaDeviceSetLimit!(99, 4096n),
    call.cudaMemcpy2D!(data, 8n, data, 8n, 16n, 2n, 3),
    call.cudaHostUnregister!(at(1000)),
    call.cudaHostRegister!(at(1000), 16n, 0),
    call.cudaHostRegister!(at(1008), 16n, 0),
    call.cudaHostUnregister!(at(1000)),
    call.cudaHostRegister!(at(1008), 16n, 0),
  ];
  assert.equal(numbers, [1, 1, 1, 12, 713, 0, 712, 0, 0]);
});

test('the address of a variable is one that copies and kernels take', () => {
  const one = cuda();
  const { call, memory } = one;
  assert.is(call.cudaGetSymbolSize!(at(200), at(18)), 0);
  assert.is(handle(one), 4n);
  assert.is(call.cudaGetSymbolAddress!(at(200), at(18)), 0);
  const address = handle(one);
  assert.is(call.cudaMemcpy!(address, putWords(one, 1000, [20]), 4n, 1), 0);
  // The kernel multiplies the variable, and then counts its launch in it.
  assert.is(scale(one, address, 1, 3), 0);
  assert.is(call.cudaMemcpyFromSymbol!(at(1000), at(18), 4n, 0n, 2), 0);
  assert.equal(words(one, at(1000), 1), [61]);
  assert.is(call.cudaFree!(address), 1);
  // A variable that no kernel names has contents and an address as well.
  memory.put(at(64), cBytes('spare'));
  call.__cudaRegisterVar!([...one.state.images.keys()][0]!, at(20), at(64), at(64), 0, 8n, 0, 0);
  assert.is(call.cudaMemcpyToSymbol!(at(20), putWords(one, 1000, [5, 6]), 8n, 0n, 1), 0);
  assert.is(call.cudaGetSymbolAddress!(at(200), at(20)), 0);
  assert.is(scale(one, handle(one) + 4n, 1, 7), 0);
  assert.is(call.cudaMemcpyFromSymbol!(at(1000), at(20), 8n, 0n, 2), 0);
  assert.equal(words(one, at(1000), 2), [5, 42]);
  memory.putU64(at(200), address);
  assert.is(call.cudaGetSymbolAddress!(at(200), at(19)), 13);
  assert.is(memory.u64(at(200)), address);
});

test('a managed variable has its initial contents on the host, and those of either side after that', () => {
  const one = cuda();
  const { call, memory } = one;
  const managed = `.version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 4 .b8 count[8] = {7, 0, 0, 0, 9};
.visible .entry add(.param .u64 at) {
  .reg .b32 %r<3>; .reg .b64 %d;
  ld.global.u32 %r1, [count]; add.u32 %r1, %r1, 1; st.global.u32 [count], %r1;
  ld.param.u64 %d, [at]; ld.global.u32 %r2, [%d+4]; mul.lo.u32 %r2, %r2, 2; st.global.u32 [%d+4], %r2; ret;
}
`;
  memory.put(at(100_000), cBytes(managed));
  memory.putU64(at(8), at(100_000));
  const image = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  memory.put(at(64), cBytes('add'));
  call.__cudaRegisterFunction!(image, at(30), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  memory.put(at(64), cBytes('count'));
  call.__cudaRegisterVar!(image, at(4000), at(64), at(64), 0, 8n, 0, 0);
  call.__cudaRegisterFatBinaryEnd!(image);
  assert.equal(words(one, at(4000), 2), [7, 9]);
  memory.putU32(at(4000), 40);
  putWords(one, 340, [1, 1, 1]);
  put(one, 400, [at(4000)]);
  put(one, 424, [at(400)]);
  assert.is(call.cudaLaunchKernel!(at(30), at(340), at(340), at(424), 0n, 0n), 0);
  assert.equal(words(one, at(4000), 2), [41, 18]);
  assert.is(call.cudaMemset!(at(4000), 0, 4n), 0);
  assert.equal(words(one, at(4000), 2), [0, 18]);
});

test('variables that no kernel names start as the source says, and kernels reach managed ones through pointers', () => {
  const one = cuda();
  const { call, memory } = one;
  const unnamed = `.version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 4 .b8 shared[12] = {7, 0, 0, 0, 9};
.global .align 4 .u32 own = 11;
.visible .entry add(.param .u64 at) {
  .reg .b32 %r; .reg .b64 %d;
  ld.param.u64 %d, [at]; ld.global.u32 %r, [%d]; add.u32 %r, %r, 5; st.global.u32 [%d], %r; ret;
}
`;
  memory.put(at(100_000), cBytes(unnamed));
  memory.putU64(at(8), at(100_000));
  const image = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  const name = (text: string): bigint => {
    memory.put(at(64), cBytes(text));
    return at(64);
  };
  call.__cudaRegisterFunction!(image, at(30), name('add'), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  call.__cudaRegisterVar!(image, at(4000), name('shared'), at(64), 0, 12n, 0, 0);
  call.__cudaRegisterVar!(image, at(4020), name('own'), at(64), 0, 4n, 0, 0);
  call.__cudaRegisterFatBinaryEnd!(image);
  assert.equal(words(one, at(4000), 3), [7, 9, 0]);
  assert.is(call.cudaMemcpyFromSymbol!(at(1000), at(4020), 4n, 0n, 2), 0);
  assert.equal(words(one, at(1000), 1), [11]);
  putWords(one, 340, [1, 1, 1]);
  put(one, 424, [at(400)]);
  assert.is(call.cudaGetSymbolAddress!(at(400), at(4020)), 0);
  assert.is(call.cudaLaunchKernel!(at(30), at(340), at(340), at(424), 0n, 0n), 0);
  assert.is(call.cudaMemcpyFromSymbol!(at(1000), at(4020), 4n, 0n, 2), 0);
  assert.equal(words(one, at(1000), 1), [16]);
  // A pointer into the managed variable, as the host has it.
  put(one, 400, [at(4004)]);
  assert.is(call.cudaLaunchKernel!(at(30), at(340), at(340), at(424), 0n, 0n), 0);
  assert.equal(words(one, at(4000), 3), [7, 14, 0]);
});

test('pointers outside of an array that a kernel compares, or indexes back from, but does not follow', () => {
  const one = cuda();
  const { call, memory } = one;
  const sum = `.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 before, .param .u64 last, .param .u64 out) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [before]; ld.param.u64 %d2, [last]; ld.param.u64 %d3, [out]; mov.u32 %r1, 0;
next:
  add.u64 %d1, %d1, 4; setp.eq.u64 %p, %d1, %d2; @%p bra done;
  ld.global.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; bra next;
done:
  setp.ne.u32 %p, %r1, 77; @%p bra store;
  st.global.u32 [%d2], %r1;
store:
  st.global.u32 [%d3], %r1; ret;
}
`;
  memory.put(at(100_000), cBytes(sum));
  memory.putU64(at(8), at(100_000));
  const image = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  memory.put(at(64), cBytes('sum'));
  call.__cudaRegisterFunction!(image, at(30), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  const data = allocate(one, 'cudaMalloc', 4 * 64);
  const out = allocate(one, 'cudaMalloc', 4);
  const numbers = Array.from({ length: 64 }, (_, i) => i);
  assert.is(call.cudaMemcpy!(data, putWords(one, 2000, numbers), 256n, 1), 0);
  putWords(one, 340, [1, 1, 1]);
  const launch = (before: bigint, last: bigint): number => {
    put(one, 400, [before, last, out]);
    put(one, 424, [at(400), at(408), at(416)]);
    return call.cudaLaunchKernel!(at(30), at(340), at(340), at(424), 0n, 0n);
  };
  assert.is(launch(data - 4n, data + 256n), 0);
  assert.equal(read(one, out, 1), [2016]);
  // Far from every allocation, and below all of them.
  assert.is(launch(0xf000_0000n - 4n, 0xf000_0000n), 0);
  assert.is(launch(0x1_0000n, 0x1_0004n), 0);
  assert.equal(read(one, out, 1), [0]);
  assert.is(launch(0x1234n, data), 700, 'the first page stands for null pointers');
  assert.is(launch(at(4000), data), 700, 'memory of the host');
  assert.equal(one.reported, []);
  assert.is(launch(0xf000_0000n, data), 700, 'followed');
  assert.equal(one.reported, ['CM6011']);
});

test('threads of a warp see volatile shared memory in lockstep', () => {
  const one = cuda();
  const { call, memory } = one;
  const reversed = `.version 8.0
.target sm_80
.address_size 64
.visible .entry reversed(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %d<3>; .shared .align 4 .b8 s[128];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
  st.volatile.shared.u32 [%r4], %r1;
  xor.b32 %r5, %r2, 124; add.u32 %r5, %r3, %r5; ld.volatile.shared.u32 %r5, [%r5];
  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r5; ret;
}
`;
  memory.put(at(100_000), cBytes(reversed));
  memory.putU64(at(8), at(100_000));
  const image = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  memory.put(at(64), cBytes('reversed'));
  call.__cudaRegisterFunction!(image, at(30), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  const data = allocate(one, 'cudaMalloc', 128);
  putWords(one, 340, [1, 1, 1]);
  putWords(one, 360, [32, 1, 1]);
  put(one, 400, [data]);
  put(one, 424, [at(400)]);
  assert.is(call.cudaLaunchKernel!(at(30), at(340), at(360), at(424), 0n, 0n), 0);
  assert.equal(
    read(one, data, 32),
    Array.from({ length: 32 }, (_, i) => 31 - i),
  );
});

test('pools: allocation in stream order, and what a pool knows of it', () => {
  const one = cuda();
  const { call, memory } = one;
  const own = stream(one);
  assert.is(call.cudaDeviceGetDefaultMemPool!(at(200), 0), 0);
  const pool = handle(one);
  assert.is(call.cudaMallocAsync!(at(208), 4096n, own), 0);
  const data = memory.u64(at(208))!;
  const attribute = (which: number): bigint => {
    assert.is(call.cudaMemPoolGetAttribute!(pool, which, at(216)), 0);
    return memory.u64(at(216))!;
  };
  assert.equal([7, 8].map(attribute), [4096n, 4096n]);
  assert.is(call.cudaFreeAsync!(data, own), 0);
  assert.equal([7, 8].map(attribute), [0n, 4096n]);
  memory.putU64(at(216), 1n << 40n);
  assert.is(call.cudaMemPoolSetAttribute!(pool, 4, at(216)), 0);
  memory.putU64(at(216), 0n);
  assert.is(attribute(4), 1n << 40n);
  putWords(one, 300, [1, 0, 1, 0]);
  assert.is(call.cudaMemPoolCreate!(at(200), at(300)), 0);
  const other = handle(one);
  assert.is(call.cudaMallocFromPoolAsync!(at(208), 64n, other, own), 0);
  assert.is(attribute(7), 0n);
  assert.is(call.cudaMemPoolDestroy!(other), 0);
  assert.is(call.cudaMallocFromPoolAsync!(at(208), 64n, other, own), 1);
  assert.is(call.cudaMemPoolDestroy!(pool), 1);
});

/** Answers as recorded on an NVIDIA H200, which reserves in units of 32 MiB. */
test('pools: what is reserved, released at a threshold and by trimming, and what is refused', () => {
  const one = cuda();
  const { call, memory } = one;
  const own = stream(one);
  const create = (words: readonly number[], maxSize = 0n): number => {
    memory.put(at(300), new Uint8Array(88));
    putWords(one, 300, words);
    memory.putU64(at(324), maxSize);
    return call.cudaMemPoolCreate!(at(200), at(300)) as number;
  };
  assert.is(create([1, 0, 1, 0]), 0);
  const pool = handle(one);
  const attribute = (which: number): bigint => {
    assert.is(call.cudaMemPoolGetAttribute!(pool, which, at(216)), 0);
    return memory.u64(at(216))!;
  };
  const set = (which: number, value: bigint): number => {
    memory.putU64(at(216), value);
    return call.cudaMemPoolSetAttribute!(pool, which, at(216)) as number;
  };
  const take = (bytes: bigint): bigint => {
    assert.is(call.cudaMallocFromPoolAsync!(at(208), bytes, pool, own), 0);
    return memory.u64(at(208))!;
  };
  const [first, second] = [take(100n), take(100n)];
  assert.equal([(second - first) % 256n, attribute(7), attribute(8)], [0n, 200n, 200n]);
  const reserved = attribute(5);
  assert.ok(reserved > 200n && reserved === attribute(6));
  // Inside an allocation, twice, and of the host.
  assert.is(call.cudaFreeAsync!(first + 16n, own), 1);
  assert.is(call.cudaFreeAsync!(first, own), 0);
  assert.is(call.cudaFreeAsync!(first, own), 1);
  assert.is(call.cudaFreeAsync!(at(200), own), 1);
  assert.is(call.cudaFree!(second), 0);
  assert.equal([attribute(5), attribute(7)], [reserved, 0n], 'kept until a synchronization');
  assert.is(call.cudaStreamSynchronize!(own), 0);
  assert.equal([attribute(5), attribute(6)], [0n, reserved]);
  assert.equal(
    [5, 6, 7, 8, 0, 20].map((which) => set(which, 1n)),
    [1, 1, 1, 1, 1, 1],
  );
  assert.equal([set(6, 0n), set(8, 0n), attribute(6), attribute(8)], [0, 0, 0n, 0n]);
  assert.is(set(2, 7n), 0);
  assert.is(attribute(2) & 0xffff_ffffn, 1n);
  // Eight of 20 MiB: a threshold is a most, trimming a least.
  assert.is(set(4, 1n << 60n), 0);
  const blocks = Array.from({ length: 8 }, () => take(20n << 20n));
  for (const block of blocks) assert.is(call.cudaFreeAsync!(block, own), 0);
  assert.is(call.cudaDeviceSynchronize!(), 0);
  assert.ok(attribute(5) >= 160n << 20n);
  assert.is(call.cudaMemPoolTrimTo!(pool, 100n << 20n), 0);
  assert.ok(attribute(5) >= 100n << 20n && attribute(5) < 160n << 20n, String(attribute(5)));
  assert.is(set(4, 40n << 20n), 0);
  assert.is(call.cudaStreamSynchronize!(own), 0);
  assert.ok(attribute(5) <= 40n << 20n && attribute(5) > 0n, String(attribute(5)));
  // No memory, no pool, no place for the pointer.
  memory.putU64(at(208), 7n);
  assert.is(call.cudaMallocFromPoolAsync!(at(208), 1n << 45n, pool, own), 2);
  assert.is(memory.u64(at(208)), 0n);
  assert.is(call.cudaMallocAsync!(at(208), 0n, own), 0);
  assert.is(call.cudaMallocAsync!(0n, 16n, own), 1);
  assert.is(call.cudaMallocFromPoolAsync!(at(208), 16n, 0n, own), 1);
  assert.is(call.cudaFreeAsync!(0n, own), 0);
  // Access: the device’s own, to read and write.
  const access = (place: number, id: number, flags: number): number => {
    putWords(one, 400, [place, id, flags]);
    return call.cudaMemPoolSetAccess!(pool, at(400), 1n) as number;
  };
  assert.equal([access(1, 0, 3), access(1, 0, 1), access(1, 0, 0), access(1, 1, 3), access(0, 0, 3)], [0, 801, 101, 101, 801]);
  assert.is(call.cudaMemPoolGetAccess!(at(216), pool, at(400)), 1);
  putWords(one, 400, [1, 0]);
  assert.is(call.cudaMemPoolGetAccess!(at(216), pool, at(400)), 0);
  assert.is(memory.u32(at(216)), 3);
  // Kinds of pools; those of the host, of managed memory and of other processes are not supported here.
  const kinds = [
    [0, 0, 1, 0],
    [1, 0, 0, 0],
    [1, 0, 1, 1],
    [1, 0, 2, 0],
    [2, 0, 1, 0],
    [1, 1, 1, 0],
  ];
  assert.equal(
    kinds.map((words) => create(words)),
    [1, 1, 1, 801, 801, 801],
  );
  // A limit is rounded up to 32 MiB.
  for (const [limit, answers] of [
    [1n, [0, 0, 2, 2]],
    [40n << 20n, [0, 0, 0, 2]],
    [64n << 20n, [0, 0, 0, 2]],
  ] as const) {
    assert.is(create([1, 0, 1, 0], limit), 0);
    const limited = handle(one);
    const given = [1n, 1n << 20n, 33n << 20n, 65n << 20n].map((bytes) => {
      const answer = call.cudaMallocFromPoolAsync!(at(208), bytes, limited, own);
      if (answer === 0) assert.is(call.cudaFreeAsync!(memory.u64(at(208))!, own), 0);
      assert.is(call.cudaStreamSynchronize!(own), 0);
      return answer;
    });
    assert.equal(given, [...answers], String(limit));
    assert.is(call.cudaMemPoolDestroy!(limited), 0);
  }
  // Memory outlives its pool.
  const last = take(64n);
  assert.is(call.cudaMemPoolDestroy!(pool), 0);
  assert.is(call.cudaMallocFromPoolAsync!(at(208), 64n, pool, own), 1);
  assert.is(call.cudaMemset!(last, 1, 64n), 0);
  assert.is(call.cudaFreeAsync!(last, own), 0);
  assert.is(call.cudaMemPoolTrimTo!(0n, 0n), 1);
});

test('pools by the names of the driver, with its numbers', () => {
  const one = cuda();
  const { call, memory } = one;
  assert.is(call.cuDeviceGetDefaultMemPool!(at(200), 0), 3, 'before cuInit');
  const own = stream(one);
  assert.is(call.cuDeviceGetDefaultMemPool!(at(200), 0), 0);
  const pool = handle(one);
  assert.is(call.cuMemAllocAsync!(at(208), 640n, own), 0);
  assert.is(call.cuMemPoolGetAttribute!(pool, 7, at(216)), 0);
  assert.is(memory.u64(at(216)), 640n);
  assert.is(call.cuMemFreeAsync!(memory.u64(at(208))!, own), 0);
  assert.is(call.cuMemAllocAsync!(at(208), 0n, own), 0);
  assert.is(memory.u64(at(208)), 0n);
  assert.is(call.cuMemFreeAsync!(0n, own), 0);
  assert.equal([call.cuDeviceGetMemPool!(at(200), 1), call.cudaDeviceGetMemPool!(at(200), 1)], [1, 101]);
  assert.equal([call.cuDeviceSetMemPool!(0, 0n), call.cuMemPoolDestroy!(0n)], [1, 1]);
  assert.is(call.cuMemAllocAsync!(at(208), 1n << 45n, own), 2);
  assert.is(call.cuMemFreeAsync!(at(208), own), 1);
  assert.is(call.cuMemPoolDestroy!(pool), 1);
});

test('a captured stream does nothing until its graph is launched, and then each time', () => {
  const one = cuda();
  const { call, memory } = one;
  const own = stream(one);
  const data = allocate(one, 'cudaMalloc', 16);
  assert.is(call.cudaMemcpy!(data, putWords(one, 1000, [1, 2, 3, 4]), 16n, 1), 0);
  assert.is(call.cudaStreamBeginCapture!(own, 0), 0);
  assert.is(scale(one, data, 4, 3, own), 0);
  assert.is(call.cudaMemsetAsync!(data, 1, 4n, own), 0);
  assert.is(call.cudaLaunchHostFunc!(own, 5n, 99n), 0);
  assert.is(call.cudaStreamIsCapturing!(own, at(208)), 0);
  assert.is(memory.u32(at(208)), 1);
  assert.equal(words(one, at(0), 1), [0], 'the function was not called');
  assert.is(call.cudaStreamEndCapture!(own, at(200)), 0);
  const graph = handle(one);
  assert.equal(read(one, data, 4), [1, 2, 3, 4]);
  assert.is(call.cudaGraphGetNodes!(graph, 0n, at(208)), 0);
  assert.is(memory.u64(at(208)), 3n);
  assert.is(call.cudaGraphInstantiateWithFlags!(at(200), graph, 0n), 0);
  const executable = handle(one);
  // What was given has been read: the place of the arguments may be used for something else.
  putWords(one, 400, [0, 0, 0, 0]);
  assert.is(call.cudaGraphLaunch!(executable, own), 0);
  assert.is(call.cudaGraphLaunch!(executable, own), 0);
  assert.equal(read(one, data, 4), [0x01010101, 18, 27, 36]);
  assert.is(memory.u32(at(0)), 99);
  assert.is(call.cudaGraphDestroy!(graph), 0);
  assert.is(call.cudaGraphExecDestroy!(executable), 0);
  assert.is(call.cudaGraphLaunch!(executable, own), 1);
});

test('an event brings another stream into a capture, which has to come back', () => {
  const one = cuda();
  const { call } = one;
  const [first, second] = [stream(one), stream(one)];
  const data = allocate(one, 'cudaMalloc', 4);
  assert.is(call.cudaMemcpy!(data, putWords(one, 1000, [1]), 4n, 1), 0);
  assert.is(call.cudaEventCreate!(at(200)), 0);
  const fork = handle(one);
  assert.is(call.cudaEventCreate!(at(200)), 0);
  const join = handle(one);
  const capture = (isJoined: boolean): number => {
    assert.is(call.cudaStreamBeginCapture!(first, 0), 0);
    assert.is(scale(one, data, 1, 2, first), 0);
    assert.is(call.cudaEventRecord!(fork, first), 0);
    assert.is(call.cudaEventSynchronize!(fork), 907);
    assert.is(call.cudaStreamWaitEvent!(second, fork, 0), 0);
    assert.is(scale(one, data, 1, 5, second), 0);
    assert.is(call.cudaEventRecord!(join, second), 0);
    assert.is(call.cudaStreamEndCapture!(second, at(200)), 903);
    if (isJoined) assert.is(call.cudaStreamWaitEvent!(first, join, 0), 0);
    return call.cudaStreamEndCapture!(first, at(200));
  };
  assert.is(capture(false), 904);
  assert.is(capture(true), 0);
  assert.is(call.cudaGraphInstantiateWithFlags!(at(208), handle(one), 0n), 0);
  assert.is(call.cudaGraphLaunch!(one.memory.u64(at(208))!, first), 0);
  assert.equal(read(one, data, 1), [10]);
});

test('what would wait for a capture breaks it', () => {
  const one = cuda();
  const { call } = one;
  const data = allocate(one, 'cudaMalloc', 4);
  const [free, blocking] = [stream(one, 1), stream(one, 0)];
  assert.is(call.cudaStreamBeginCapture!(0n, 0), 900);
  assert.is(call.cudaStreamBeginCapture!(free, 0), 0);
  assert.is(call.cudaMemset!(data, 0, 4n), 0, 'a stream that does not wait for the default one');
  assert.is(call.cudaStreamSynchronize!(free), 900);
  assert.is(call.cudaMemsetAsync!(data, 0, 4n, free), 901);
  assert.is(call.cudaStreamEndCapture!(free, at(200)), 901);
  assert.is(call.cudaStreamEndCapture!(free, at(200)), 401);
  assert.is(call.cudaStreamBeginCapture!(free, 0), 0);
  assert.is(call.cudaDeviceSynchronize!(), 900);
  assert.is(call.cudaStreamEndCapture!(free, at(200)), 901);
  assert.is(call.cudaStreamBeginCapture!(blocking, 0), 0);
  assert.is(call.cudaMemset!(data, 0, 4n), 906);
  assert.is(call.cudaStreamEndCapture!(blocking, at(200)), 901);
  assert.is(call.cudaMemset!(data, 0, 4n), 0);
});

test('graphs node by node run in the order of their dependencies', () => {
  const one = cuda();
  const { call, memory } = one;
  const data = allocate(one, 'cudaMalloc', 8);
  assert.is(call.cudaGraphCreate!(at(200), 0), 0);
  const graph = handle(one);
  // A kernel that comes first in making and last in order.
  put(one, 500, [data]);
  putWords(one, 508, [2, 7]);
  put(one, 520, [at(500), at(508), at(512)]);
  put(one, 600, [at(16)]);
  putWords(one, 608, [1, 1, 1, 32, 1, 1, 0, 0]);
  put(one, 640, [at(520), 0]);
  assert.is(call.cudaGraphAddKernelNode!(at(200), graph, 0n, 0n, at(600)), 0);
  const kernel = handle(one);
  put(one, 700, [data, 0]);
  putWords(one, 716, [3, 4]);
  put(one, 724 + 4, [2, 1]);
  putWords(one, 716, [3, 4]);
  assert.is(call.cudaGraphAddMemsetNode!(at(200), graph, 0n, 0n, fillParameters(one, data, 3, 4, 2)), 0);
  const fill = handle(one);
  assert.is(call.cudaGraphAddDependencies!(graph, put(one, 800, [fill]), put(one, 808, [kernel]), 1n), 0);
  assert.is(call.cudaGraphInstantiateWithFlags!(at(200), graph, 0n), 0);
  const executable = handle(one);
  assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
  assert.equal(read(one, data, 2), [21, 21]);
  assert.is(call.cudaGraphNodeGetType!(fill, at(208)), 0);
  assert.is(memory.u32(at(208)), 2);
  // Other parameters for the executable graph alone.
  putWords(one, 508, [1, 9]);
  assert.is(call.cudaGraphExecKernelNodeSetParams!(executable, kernel, at(600)), 0);
  assert.is(call.cudaGraphExecKernelNodeSetParams!(executable, fill, at(600)), 1);
  assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
  assert.equal(read(one, data, 2), [27, 3]);
  assert.is(call.cudaGraphExecUpdate!(executable, graph, at(900)), 0);
  assert.is(call.cudaGraphLaunch!(executable, 0n), 0);
  assert.equal(read(one, data, 2), [21, 21]);
  // A circle cannot be run, and another shape is no update.
  assert.is(call.cudaGraphAddDependencies!(graph, at(808), at(800), 1n), 0);
  assert.is(call.cudaGraphInstantiateWithFlags!(at(200), graph, 0n), 1);
  assert.is(call.cudaGraphCreate!(at(200), 0), 0);
  assert.is(call.cudaGraphExecUpdate!(executable, handle(one), at(900)), 910);
  assert.is(memory.u32(at(900)), 2);
});

/** A `cudaMemsetParams` of one row. */
function fillParameters({ memory }: Cuda, pointer: bigint, value: number, size: number, width: number): bigint {
  const start = 700;
  memory.putU64(at(start), pointer);
  memory.putU64(at(start + 8), 0);
  memory.putU32(at(start + 16), value);
  memory.putU32(at(start + 20), size);
  memory.putU64(at(start + 24), width);
  memory.putU64(at(start + 32), 1);
  return at(start);
}

test('launches: cooperative ones fit the device, and shared memory has to be allowed', () => {
  const one = cuda();
  const { call, memory } = one;
  const data = allocate(one, 'cudaMalloc', 4);
  putWords(one, 340, [1, 1, 1]);
  putWords(one, 360, [32, 1, 1]);
  put(one, 400, [data]);
  putWords(one, 408, [1, 2]);
  put(one, 424, [at(400), at(408), at(412)]);
  assert.is(call.cudaLaunchCooperativeKernel!(at(16), at(340), at(360), at(424), 0n, 0n), 0);
  putWords(one, 340, [100_000, 1, 1]);
  assert.is(call.cudaLaunchCooperativeKernel!(at(16), at(340), at(360), at(424), 0n, 0n), 720);
  putWords(one, 340, [1, 1, 1]);
  assert.is(call.cudaLaunchKernel!(at(16), at(340), at(360), at(424), 60_000n, 0n), 1);
  assert.is(call.cudaFuncSetAttribute!(at(16), 8, 60_000), 0);
  assert.is(call.cudaLaunchKernel!(at(16), at(340), at(360), at(424), 60_000n, 0n), 0);
  assert.is(call.cudaFuncGetAttributes!(at(2000), at(16)), 0);
  assert.is(memory.view.getInt32(2000 + 44, true), 60_000, 'maxDynamicSharedSizeBytes');
  assert.is(call.cudaFuncSetAttribute!(at(16), 8, 1 << 30), 1);
  assert.is(call.cudaFuncSetAttribute!(at(16), 99, 1), 1);
  assert.is(call.cudaOccupancyAvailableDynamicSMemPerBlock!(at(200), at(16), 1, 32), 0);
  assert.ok(handle(one) >= 60_000n);
  assert.is(call.cudaDeviceEnablePeerAccess!(0, 0), 101);
});

test('driver API: a module of PTX, its function and its variable', () => {
  const one = cuda();
  const { call, memory } = one;
  assert.is(call.cuDeviceGetCount!(at(200)), 3, 'before cuInit');
  assert.is(call.cuInit!(0), 0);
  assert.is(call.cuMemAlloc_v2!(at(200), 16n), 201, 'without a context');
  assert.is(call.cuDeviceGet!(at(200), 0), 0);
  assert.is(call.cuDeviceGet!(at(200), 1), 101);
  assert.is(call.cuCtxCreate_v2!(at(200), 0, 0), 0);
  memory.put(at(100_000), cBytes(ptx));
  assert.is(call.cuModuleLoadData!(at(200), at(100_000)), 0);
  const module = handle(one);
  memory.put(at(64), cBytes('scale'));
  assert.is(call.cuModuleGetFunction!(at(200), module, at(64)), 0);
  const fn = handle(one);
  memory.put(at(80), cBytes('none'));
  assert.is(call.cuModuleGetFunction!(at(200), module, at(80)), 500);
  assert.is(call.cuMemAlloc_v2!(at(200), 16n), 0);
  const data = handle(one);
  assert.is(call.cuMemsetD32_v2!(data, 7, 4n), 0);
  assert.is(call.cuMemsetD32Async!(data, 5, 4n, 0n), 0);
  put(one, 400, [data]);
  putWords(one, 408, [4, 3]);
  put(one, 424, [at(400), at(408), at(412)]);
  assert.is(call.cuLaunchKernel!(fn, 1, 1, 1, 32, 1, 1, 0, 0n, at(424), 0n), 0);
  // The same by one buffer of all arguments.
  put(one, 456, [16]);
  put(one, 464, [1, at(400), 2, at(456), 0]);
  assert.is(call.cuLaunchKernel!(fn, 1, 1, 1, 32, 1, 1, 0, 0n, 0n, at(464)), 0);
  put(one, 456, [8]);
  assert.is(call.cuLaunchKernel!(fn, 1, 1, 1, 32, 1, 1, 0, 0n, 0n, at(464)), 1, 'too few bytes');
  assert.is(call.cuMemcpyDtoH_v2!(at(1000), data, 16n), 0);
  assert.equal(words(one, at(1000), 4), [45, 45, 45, 45]);
  // A struct of four integers behind an integer, and a pointer behind that: at 0, 4 and 24.
  memory.put(at(80), cBytes('late'));
  assert.is(call.cuModuleGetFunction!(at(200), module, at(80)), 0);
  putWords(one, 600, [100, 1, 2, 3, 4, 0]);
  put(one, 624, [data]);
  put(one, 456, [32]);
  put(one, 464, [1, at(600), 2, at(456), 0]);
  assert.is(call.cuLaunchKernel!(handle(one), 1, 1, 1, 1, 1, 1, 0, 0n, 0n, at(464)), 0);
  assert.is(call.cuMemcpyDtoH_v2!(at(1000), data, 4n), 0);
  assert.equal(words(one, at(1000), 1), [104]);
  memory.put(at(64), cBytes('total'));
  assert.is(call.cuModuleGetGlobal_v2!(at(200), at(208), module, at(64)), 0);
  assert.is(memory.u64(at(208)), 4n);
  assert.is(call.cuMemcpyDtoH_v2!(at(1000), handle(one), 4n), 0);
  // Threads of a warp add one at a time to what they have all read.
  assert.equal(words(one, at(1000), 1), [2]);
  assert.is(call.cuGetErrorName!(700, at(200)), 0);
  assert.is(memory.cString(handle(one)), 'CUDA_ERROR_ILLEGAL_ADDRESS');
  memory.put(at(100_000), cBytes('no PTX'));
  // 200 of an H200 for what is no PTX at all.
  assert.is(call.cuModuleLoadData!(at(200), at(100_000)), 200);
  assert.is(call.cuModuleUnload!(module), 0);
  assert.is(call.cuLaunchKernel!(fn, 1, 1, 1, 32, 1, 1, 0, 0n, at(424), 0n), 400);
});

test('a kernel of the driver API that fails leaves its error to the next call', () => {
  const one = cuda();
  const { call, memory, reported } = one;
  assert.equal([call.cuInit!(0), call.cuCtxCreate_v2!(at(200), 0, 0)], [0, 0]);
  memory.put(at(100_000), cBytes(ptx));
  assert.is(call.cuModuleLoadData!(at(200), at(100_000)), 0);
  memory.put(at(64), cBytes('far'));
  assert.is(call.cuModuleGetFunction!(at(208), handle(one), at(64)), 0);
  assert.is(call.cuLaunchKernel!(memory.u64(at(208))!, 1, 1, 1, 1, 1, 1, 0, 0n, 0n, 0n), 0);
  assert.ok(reported.length > 0);
  assert.is(call.cuCtxSynchronize!(), 700);
  assert.is(call.cuCtxSynchronize!(), 700, 'and to those behind it');
});

test('every function that the headers declare is there, but those of arrays and textures', () => {
  const folder = join(import.meta.dirname, '../../cuda/include');
  const text = ['cuda_runtime_api.h', 'cuda.h'].map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  const declared = [...new Set([...text.matchAll(/\b((?:__)?cu(?:da)?[A-Z]\w+)\(/g)].map(([, name]) => name!))];
  assert.ok(declared.length > 150);
  const absent = declared.filter((name) => !(name in cudaFunctions));
  assert.equal(
    absent.filter((name) => !/Array|Texture|Surface|ChannelDesc/.test(name)),
    ['cudaMemRangeGetAttribute', 'cudaGraphDebugDotPrint'],
  );
});

// Names as clang 22 mangles them for `wasm64-unknown-wasip1` and for `nvptx64-nvidia-cuda`.
test('a kernel of a type inside of `main` is found by the name of either half', () => {
  const device = [
    '_Z4mainv',
    '_Z1kIZ4mainEUlvE_EvT_',
    '_Z1kIZ4mainEUlvE0_EvT_',
    '_Z4withIZ4mainEUlfE_5ArrayIPcLi6EE4CalcILi4EES4_ILi2EEEviT_T0_T1_T2_',
  ].map((name) => ({ name }));
  const found = (name: string): number => device.indexOf(kernelOfName(device, name) as never);
  assert.equal(['_Z1kIZ4mainvEUlvE_EvT_', '_Z1kIZ4mainiPPcEUlvE0_EvT_', '_Z1kIZ4mainiPPKcEUlvE0_EvT_'].map(found), [1, 2, 2]);
  assert.is(found('_Z4withIZ4mainiPPcEUlfE_5ArrayIS0_Li6EE4CalcILi4EES5_ILi2EEEviT_T0_T1_T2_'), 3);
  assert.is(found('_Z1kIZ4mainEUlvE_EvT_'), 1);
  assert.equal(['_Z1kIZ5otherEUlvE_EvT_', '_Z1kIZ4mainvEUliE_EvT_', '_Z4maini'].map(found), [-1, -1, -1]);
});

test.run();
