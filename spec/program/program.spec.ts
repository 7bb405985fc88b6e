/** WASI and the CUDA runtime as a program sees them: their functions are called with memory, on a host that the test makes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deviceProperties, funcAttributes, sizeOfStruct } from '../../src/program/cudart/structs.ts';
import { machineHost } from '../../src/program/host/index.ts';
import type { ProgramMemory } from '../../src/program/memory.ts';
import { errno } from '../../src/program/wasi/errno.ts';
import type { ProgramHost } from '../../src/program/wasi/host.ts';
import { newWasi, type WasiState, wasiImports } from '../../src/program/wasi/index.ts';
import { allocate, at, base, cuda, newMemory, scale, words } from '../support/program-runtime.ts';

const test = suite('program/program');

// ── WASI ──

interface Session {
  readonly call: Record<string, (...args: bigint[]) => number>;
  readonly memory: ProgramMemory;
  readonly state: WasiState;
  readonly printed: string[];
}

function session(folder: string, { input = '', ...more }: { readonly input?: string; readonly args?: readonly string[] } = {}): Session {
  const printed: string[] = ['', '', ''];
  let rest = new TextEncoder().encode(input);
  const host: ProgramHost = {
    ...machineHost({ args: ['program', ...(more.args ?? [])], folders: [folder] }),
    env: { HOME: '/home', EMPTY: '' },
    readInput(into) {
      const count = Math.min(into.length, rest.length);
      into.set(rest.subarray(0, count));
      rest = rest.subarray(count);
      return count;
    },
    writeOutput(stream, bytes) {
      printed[stream] += new TextDecoder().decode(bytes);
      return undefined;
    },
  };
  const memory = newMemory();
  const state = Object.assign(newWasi(host), { memory }) as WasiState;
  return { call: wasiImports(state), memory, state, printed };
}

test('what cannot be read or written is an error number of the call', () => {
  const broken = session(tmpdir());
  Object.assign(broken.state.host, { readInput: () => ({ errno: 31 }), writeOutput: () => ({ errno: 51 }) });
  assert.is(broken.call.fd_read!(0n, ...buffer(broken, 0, 8), at(600)), 31);
  assert.is(broken.call.fd_write!(1n, ...buffer(broken, 0, 8), at(600)), 51);
});

const u64 = ({ memory }: Session, index: number): number => Number(memory.u64(at(index)));

/** Puts a text at an index, and gives the two arguments that name it. */
const named = ({ memory }: Session, index: number, text: string): [bigint, bigint] => {
  const bytes = new TextEncoder().encode(text);
  memory.put(at(index), bytes);
  return [at(index), BigInt(bytes.length)];
};

/** A list of one buffer at index 512. */
function buffer({ memory }: Session, index: number, length: number): [bigint, bigint] {
  memory.putU64(at(512), at(index));
  memory.putU64(at(520), length);
  return [at(512), 1n];
}

/** Opens a path below descriptor 3; the descriptor, or minus the error. */
function open(one: Session, path: string, { flags = 0, write = false, append = false } = {}): number {
  const rights = 2n | (write ? 0x40n : 0n);
  const code = one.call.path_open!(3n, 1n, ...named(one, 2048, path), BigInt(flags), rights, rights, append ? 1n : 0n, at(1024));
  return code === 0 ? one.memory.u32(at(1024))! : -code;
}

function withFolder(run: (folder: string, outside: string) => void): void {
  const root = mkdtempSync(join(tmpdir(), 'program-'));
  try {
    const folder = join(root, 'inside');
    const outside = join(root, 'outside');
    mkdirSync(folder);
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret');
    run(folder, outside);
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('arguments and environment are texts with pointers of 8 bytes', () =>
  withFolder((folder) => {
    const one = session(folder, { args: ['ä', ''] });
    assert.is(one.call.args_sizes_get!(at(0), at(8)), 0);
    assert.equal([u64(one, 0), u64(one, 8)], [3, 8 + 3 + 1]);
    assert.is(one.call.args_get!(at(16), at(64)), 0);
    const pointers = [16, 24, 32].map((index) => one.memory.u64(at(index))!);
    assert.equal(
      pointers.map((pointer) => one.memory.cString(pointer)),
      ['program', 'ä', ''],
    );
    assert.is(one.call.environ_sizes_get!(at(0), at(8)), 0);
    assert.equal([u64(one, 0), u64(one, 8)], [2, 'HOME=/home'.length + 'EMPTY='.length + 2]);
    assert.is(one.call.environ_get!(at(16), -1n), errno.fault);
  }));

test('streams: lists of buffers, also empty ones at null', () =>
  withFolder((folder) => {
    const one = session(folder, { input: 'abcdef' });
    named(one, 100, 'hello');
    buffer(one, 100, 5);
    one.memory.putU64(at(528), 0);
    one.memory.putU64(at(536), 0);
    assert.is(one.call.fd_write!(1n, at(512), 2n, at(0)), 0);
    assert.is(u64(one, 0), 5);
    assert.is(one.call.fd_write!(2n, at(512), 1n, at(0)), 0);
    assert.equal(one.printed, ['', 'hello', 'hello']);
    assert.is(one.call.fd_read!(0n, ...buffer(one, 200, 4), at(0)), 0);
    assert.is(one.memory.text(at(200), u64(one, 0)), 'abcd');
    assert.is(one.call.fd_read!(0n, ...buffer(one, 200, 4), at(0)), 0);
    assert.is(one.memory.text(at(200), u64(one, 0)), 'ef');
    assert.is(one.call.fd_read!(0n, ...buffer(one, 200, 4), at(0)), 0);
    assert.is(u64(one, 0), 0);
    assert.is(one.call.fd_read!(1n, ...buffer(one, 200, 4), at(0)), errno.badf);
    assert.is(one.call.fd_seek!(1n, 0n, 0n, at(0)), errno.spipe);
    // A buffer that is not in memory, by its end, its pointer and its length.
    for (const [pointer, length] of [
      [at(4 * 65_536 - 4), 5n],
      [5n, 1n],
      [at(0), 1n << 33n],
    ] as const) {
      one.memory.putU64(at(512), pointer);
      one.memory.putU64(at(520), length);
      assert.is(one.call.fd_write!(1n, at(512), 1n, at(0)), errno.fault);
    }
  }));

test('files: create, write, seek, append, cut, list, rename, remove', () =>
  withFolder((folder) => {
    const one = session(folder);
    assert.is(open(one, 'a.txt'), -errno.noent);
    const fd = BigInt(open(one, 'a.txt', { flags: 1 | 8, write: true }));
    named(one, 100, '0123456789');
    assert.is(one.call.fd_write!(fd, ...buffer(one, 100, 10), at(0)), 0);
    assert.is(one.call.fd_seek!(fd, -4n, 2n, at(0)), 0);
    assert.is(u64(one, 0), 6);
    assert.is(one.call.fd_read!(fd, ...buffer(one, 200, 100), at(0)), 0);
    assert.is(one.memory.text(at(200), u64(one, 0)), '6789');
    assert.is(one.call.fd_pread!(fd, ...buffer(one, 200, 2), 3n, at(0)), 0);
    assert.is(one.memory.text(at(200), 2), '34');
    assert.is(one.call.fd_tell!(fd, at(0)), 0);
    assert.is(u64(one, 0), 10);
    assert.is(one.call.fd_seek!(fd, -1n, 0n, at(0)), errno.inval);
    assert.is(one.call.fd_filestat_set_size!(fd, 3n), 0);
    assert.is(one.call.fd_close!(fd), 0);
    assert.is(one.call.fd_close!(fd), errno.badf);
    const more = BigInt(open(one, 'a.txt', { write: true, append: true }));
    assert.is(one.call.fd_write!(more, ...buffer(one, 100, 2), at(0)), 0);
    one.call.fd_close!(more);
    assert.is(readFileSync(join(folder, 'a.txt'), 'utf8'), '01201');
    assert.is(open(one, 'a.txt', { flags: 1 | 4, write: true }), -errno.exist);
    assert.is(one.call.path_create_directory!(3n, ...named(one, 2048, 'd')), 0);
    assert.is(open(one, 'd', { write: true }), -errno.isdir);
    assert.is(one.call.path_rename!(3n, ...named(one, 2048, 'a.txt'), 3n, ...named(one, 2100, 'd/b.txt')), 0);
    assert.is(one.call.path_filestat_get!(3n, 1n, ...named(one, 2048, 'd/b.txt'), at(1100)), 0);
    assert.equal([one.memory.bytes[1116], u64(one, 1132)], [4, 5]);
    const listed = BigInt(open(one, 'd', { flags: 2 }));
    assert.is(one.call.fd_readdir!(listed, at(3000), 500n, 0n, at(0)), 0);
    assert.is(one.memory.text(at(3000), u64(one, 0))!.includes('b.txt'), true);
    assert.is(one.call.path_remove_directory!(3n, ...named(one, 2048, 'd')), errno.notempty);
    assert.is(one.call.path_unlink_file!(3n, ...named(one, 2048, 'd/b.txt')), 0);
    assert.is(one.call.path_remove_directory!(3n, ...named(one, 2048, 'd')), 0);
  }));

test('no path leads out of a granted folder', () =>
  withFolder((folder, outside) => {
    symlinkSync(join(outside, 'secret'), join(folder, 'link'));
    symlinkSync(outside, join(folder, 'up'));
    symlinkSync(join(outside, 'new'), join(folder, 'dangling'));
    const one = session(folder);
    const out = ['../outside/secret', '/etc/passwd', 'link', 'up/secret', 'x/../../outside/secret', 'up'];
    for (const path of out) assert.ok([-errno.notcapable, -errno.noent].includes(open(one, path) as -2), path);
    assert.is(open(one, 'link'), -errno.notcapable);
    assert.is(open(one, 'up/new', { flags: 1, write: true }), -errno.notcapable);
    assert.ok(open(one, 'dangling', { flags: 1, write: true }) < 0);
    assert.is(one.call.path_rename!(3n, ...named(one, 2048, 'link'), 3n, ...named(one, 2100, '../outside/moved')), errno.notcapable);
    assert.is(one.call.path_unlink_file!(3n, ...named(one, 2048, '../outside/secret')), errno.notcapable);
    assert.is(one.call.path_create_directory!(3n, ...named(one, 2048, 'up/d')), errno.notcapable);
    assert.is(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
  }));

test('a granted folder has its absolute name, and the environment the current one', () => {
  const host = machineHost({ args: ['program'], env: { PWD: '/stale', A: 'b', GONE: undefined }, folders: ['..', 'src', '/'] });
  assert.equal(
    host.folders.map(({ name }) => name),
    [join(process.cwd(), '..'), join(process.cwd(), 'src'), '/'],
  );
  assert.equal(host.env, { A: 'b', PWD: process.cwd() });
});

test('clocks, random numbers and the end', () =>
  withFolder((folder) => {
    const one = session(folder);
    const time = (clock: bigint): bigint => {
      assert.is(one.call.clock_time_get!(clock, 1n, at(0)), 0);
      return one.memory.u64(at(0))!;
    };
    const before = time(1n);
    assert.ok(before <= time(1n));
    assert.ok(Math.abs(Number(time(0n) / 1_000_000n) - Date.now()) < 60_000);
    assert.is(one.call.clock_time_get!(9n, 1n, at(0)), errno.inval);
    assert.is(one.call.random_get!(at(0), 70_000n), 0);
    assert.ok(new Set(one.memory.bytes.subarray(69_000, 70_000)).size > 50);
    assert.is(one.call.random_get!(at(0), 1n << 40n), errno.fault);
    one.call.proc_exit!(7n);
    assert.is(one.state.exitCode, 7);
    assert.is(one.call.sock_send!(), errno.notsup);
  }));

// ── CUDA ──

test('device memory: copies in every direction, a launch, a variable', () => {
  const one = cuda();
  const { call, memory } = one;
  const data = allocate(one, 'cudaMalloc', 16);
  assert.ok(data > 0n && data < base, 'no pointer of the host');
  memory.put(at(1000), new Uint8Array(new Uint32Array([1, 2, 3, 4]).buffer));
  assert.is(call.cudaMemcpy!(data, at(1000), 16n, 1), 0);
  assert.is(scale(one, data + 4n, 2, 10), 0);
  assert.is(call.cudaMemcpy!(at(1100), data, 16n, 2), 0);
  assert.equal(words(one, at(1100), 4), [1, 20, 30, 4]);
  const second = allocate(one, 'cudaMalloc', 16);
  assert.is(call.cudaMemcpyAsync!(second, data + 8n, 8n, 3, 0n), 0);
  assert.is(call.cudaMemset!(second + 8n, 0xff, 4n), 0);
  assert.is(call.cudaMemcpy!(at(1100), second, 16n, 4), 0);
  assert.equal(words(one, at(1100), 4), [30, 4, 0xffffffff, 0]);
  memory.putU32(at(1000), 40);
  assert.is(call.cudaMemcpyToSymbol!(at(18), at(1000), 4n, 0n, 1), 0);
  assert.is(scale(one, data, 1, 1), 0);
  assert.is(call.cudaMemcpyFromSymbol!(at(1100), at(18), 4n, 0n, 2), 0);
  assert.equal(words(one, at(1100), 1), [41]);
  assert.is(call.cudaFree!(data), 0);
  assert.is(call.cudaFree!(data), 1);
  assert.is(call.cudaGetLastError!(), 1);
  assert.is(call.cudaGetLastError!(), 0);
});

test('wrong copies are refused, and nothing is written', () => {
  const one = cuda();
  const { call } = one;
  const data = allocate(one, 'cudaMalloc', 16);
  const wrong: [to: bigint, from: bigint, bytes: bigint, kind: number, error: number][] = [
    [data, at(1000), 17n, 1, 1],
    [data + 8n, at(1000), 9n, 1, 1],
    [at(1000), data, 16n, 1, 1],
    [data, at(1000), 16n, 2, 1],
    [data, at(1000), 16n, 9, 21],
    [1n << 40n, at(1000), 16n, 1, 1],
    [data, at(16 * 65_536), 1n, 1, 1],
    [0n, at(1000), 4n, 1, 1],
    [data, data + 8n, 4n, 1, 1],
  ];
  for (const [to, from, bytes, kind, error] of wrong) assert.is(call.cudaMemcpy!(to, from, bytes, kind), error);
  assert.is(call.cudaMemcpyToSymbol!(at(19), at(1000), 4n, 0n, 1), 13);
  assert.is(call.cudaMemcpyToSymbol!(at(18), at(1000), 4n, 1n, 1), 1);
  assert.is(call.cudaMalloc!(0n, 16n), 1);
  assert.is(call.cudaMalloc!(at(0), 1n << 40n), 2);
});

test('rectangles are copied row by row', () => {
  const one = cuda();
  const { call, memory } = one;
  assert.is(call.cudaMallocPitch!(at(200), at(208), 10n, 3n), 0);
  const [data, pitch] = [memory.u64(at(200))!, memory.u64(at(208))!];
  assert.ok(pitch >= 10n && pitch % 256n === 0n);
  memory.put(
    at(1000),
    Uint8Array.from({ length: 36 }, (_, i) => i),
  );
  assert.is(call.cudaMemcpy2D!(data, pitch, at(1000), 12n, 10n, 3n, 1), 0);
  assert.is(call.cudaMemcpy2D!(at(1100), 10n, data, pitch, 10n, 3n, 2), 0);
  assert.equal(
    [...memory.slice(at(1100), 30)!],
    [0, 12, 24].flatMap((start) => Array.from({ length: 10 }, (_, i) => start + i)),
  );
  assert.is(call.cudaMemcpy2D!(data, 5n, at(1000), 12n, 10n, 3n, 1), 12);
});

test('managed memory has one pointer on both sides; pinned memory is seen by kernels', () => {
  const one = cuda();
  const { memory } = one;
  const managed = allocate(one, 'cudaMallocManaged', 16, 1);
  assert.ok(managed < base);
  memory.put(managed, new Uint8Array(new Uint32Array([1, 2, 3, 4]).buffer));
  assert.is(scale(one, managed, 4, 3), 0);
  assert.equal(words(one, managed, 4), [3, 6, 9, 12]);
  assert.is(memory.index(managed, 17), undefined);
  const pinned = allocate(one, 'cudaMallocHost', 8);
  assert.ok(pinned >= base);
  memory.put(pinned, new Uint8Array(new Uint32Array([5, 6]).buffer));
  assert.is(scale(one, pinned, 2, 2), 0);
  assert.equal(words(one, pinned, 2), [10, 12]);
  assert.is(one.call.cudaFreeHost!(pinned), 0);
  assert.is(scale(one, at(1000), 1, 2), 700);
});

test('a kernel that fails leaves an error that all later calls return, until a reset', () => {
  const one = cuda();
  const { call, memory } = one;
  [1, 1, 1].forEach((value, i) => void memory.putU32(at(340 + 4 * i), value));
  assert.is(call.cudaLaunchKernel!(at(17), at(340), at(340), at(424), 0n, 0n), 700);
  assert.ok(one.reported.length > 0);
  assert.is(call.cudaDeviceSynchronize!(), 700);
  assert.is(call.cudaGetLastError!(), 700);
  assert.is(call.cudaMalloc!(at(200), 4n), 700);
  assert.is(call.cudaDeviceReset!(), 0);
  assert.is(call.cudaGetLastError!(), 0);
  assert.is(call.cudaMalloc!(at(200), 4n), 0);
  memory.putU32(at(340), 5000);
  assert.is(call.cudaLaunchKernel!(at(17), at(340), at(340), at(424), 0n, 0n), 9);
  assert.is(call.cudaLaunchKernel!(at(99), at(340), at(340), at(424), 0n, 0n), 98);
});

test('streams, events and callbacks', () => {
  const one = cuda();
  const { call, memory } = one;
  assert.is(call.cudaStreamCreate!(at(200)), 0);
  const stream = memory.u64(at(200))!;
  assert.is(call.cudaEventCreate!(at(200)), 0);
  const start = memory.u64(at(200))!;
  assert.is(call.cudaEventCreateWithFlags!(at(200), 2), 0);
  const untimed = memory.u64(at(200))!;
  assert.is(call.cudaEventElapsedTime!(at(200), start, start), 400);
  assert.is(call.cudaEventRecord!(start, stream), 0);
  assert.is(call.cudaEventRecord!(untimed, 0n), 0);
  assert.is(call.cudaEventElapsedTime!(at(200), start, start), 0);
  assert.is(memory.view.getFloat32(200, true), 0);
  assert.is(call.cudaEventElapsedTime!(at(200), start, untimed), 400);
  assert.is(call.cudaLaunchHostFunc!(stream, 5n, 77n), 0);
  assert.is(memory.u32(at(0)), 77);
  assert.is(call.cudaLaunchHostFunc!(stream, 6n, 77n), 1);
  assert.is(call.cudaStreamDestroy!(stream), 0);
  assert.is(call.cudaStreamSynchronize!(stream), 400);
  assert.is(call.cudaStreamSynchronize!(0n), 0);
});

test('properties, attributes and texts', () => {
  const one = cuda();
  const { call, memory } = one;
  // As nvcc 12 lays them out on 64-bit Linux.
  assert.is(sizeOfStruct(deviceProperties), 1032);
  assert.is(sizeOfStruct(funcAttributes), 144);
  assert.is(call.cudaGetDeviceProperties!(at(2000), 0), 0);
  assert.match(memory.cString(at(2000))!, /^CPU/);
  const { view } = memory;
  assert.is(view.getInt32(2000 + 308, true), 32, 'warpSize');
  assert.equal([view.getInt32(2000 + 360, true), view.getInt32(2000 + 364, true)], [8, 0], 'major, minor');
  assert.is(call.cudaGetDeviceProperties!(at(2000), 1), 101);
  assert.is(call.cudaDeviceGetAttribute!(at(200), 10, 0), 0);
  assert.is(memory.u32(at(200)), 32);
  assert.is(call.cudaDeviceGetAttribute!(at(200), 5000, 0), 1);
  assert.is(call.cudaDeviceGetAttribute!(at(200), 89, 0), 0);
  assert.is(memory.u32(at(200)), 1, 'concurrentManagedAccess');
  assert.is(call.cudaDeviceGetAttribute!(at(200), 8, 0), 0);
  assert.is(memory.u32(at(200)), 49_152, 'sharedMemPerBlock');
  assert.is(memory.cString(call.cudaGetErrorString!(700) as unknown as bigint), 'an illegal memory access was encountered');
  assert.is(memory.cString(call.cudaGetErrorName!(12_345) as unknown as bigint), 'unrecognized error code');
});

test.run();
