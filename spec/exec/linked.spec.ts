/**
 * Programs of `nvcc -rdc=true`: the PTX of two files each, which nvcc has made of the sources beside it, with the wrapper that nvcc's `link.stub`
 * registers. Results are those of the sources, by hand.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { linkSources } from '../../src/cli/input/linked.ts';
import { Images } from '../../src/exec/fatbinary.ts';
import { cBytes } from '../../src/program/memory.ts';
import { root } from '../support/examples.ts';
import { fatbinaryOf } from '../support/hostile/container.ts';
import { allocate, at, type Cuda, cuda } from '../support/program-runtime.ts';

const test = suite('exec/linked');

const textOf = (name: string): string => readFileSync(join(root, 'fixtures/exec/linked', `${name}.ptx`), 'utf8');

/** What NVIDIA's device runtime looks like, which nvcc links to every program. */
const deviceRuntime = `.version 7.0
.target sm_52
.address_size 64
.extern .func (.param .b32 func_retval0) cnpGetLastError
(
)
;
.weak .func (.param .b32 func_retval0) cudaGetLastError()
{ .reg .b32 %r; { call.uni (%r), cnpGetLastError, (); } st.param.b32 [func_retval0], %r; ret; }
`;

interface Linked extends Cuda {
  readonly errors: readonly string[];
  readonly handle: bigint;
  readonly images: Images;
  launch(stub: number, threads: number, ...words: readonly (readonly [value: bigint, bytes: 4 | 8])[]): number;
}

/** A runtime whose program has registered files of code, and kernels by name: the first stub is 32. */
function linked(texts: readonly string[], kernels: readonly string[]): Linked {
  const errors: string[] = [];
  const images = new Images((all) => {
    const diagnostics = new Diagnostics();
    const found = linkSources(
      all.map((text, i) => new SourceFile(`${i}.ptx`, text)),
      'linked.ptx',
      diagnostics,
    );
    errors.push(...diagnostics.list.map(({ code }) => code));
    return found?.text;
  });
  const one = cuda({ readImage: (memory, pointer, parts) => images.read(memory, pointer, parts) });
  const { memory, call } = one;
  // Nothing that is linked: nvcc has machine code there.
  memory.put(at(190_000), fatbinaryOf(new Uint8Array(0), { flags: 0x11, size: 0 }));
  for (const [i, text] of texts.entries()) {
    const bytes = new TextEncoder().encode(text);
    memory.put(at(200_000 + 40_000 * i), fatbinaryOf(new Uint8Array(Bun.zstdCompressSync(bytes)), { flags: 0x8011, size: bytes.length }));
    memory.putU64(at(61_000 + 8 * i), at(200_000 + 40_000 * i));
  }
  memory.putU64(at(61_000 + 8 * texts.length), 0n);
  memory.putU32(at(60_000), 0x4662_43b1);
  memory.putU32(at(60_004), 2);
  memory.putU64(at(60_008), at(190_000));
  memory.putU64(at(60_016), at(61_000));
  const handle = call.__cudaRegisterFatBinary!(at(60_000)) as unknown as bigint;
  for (const [i, name] of kernels.entries()) {
    memory.put(at(64), cBytes(name));
    call.__cudaRegisterFunction!(handle, at(32 + i), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  }
  return {
    ...one,
    errors,
    handle,
    images,
    launch(stub, threads, ...words) {
      [1, 1, 1].forEach((value, i) => void memory.putU32(at(340 + 4 * i), value));
      [threads, 1, 1].forEach((value, i) => void memory.putU32(at(360 + 4 * i), value));
      for (const [i, [value, bytes]] of words.entries()) {
        if (bytes === 8) memory.putU64(at(400 + 8 * i), value);
        else memory.putU32(at(400 + 8 * i), Number(value));
        memory.putU64(at(480 + 8 * i), at(400 + 8 * i));
      }
      return call.cudaLaunchKernel!(at(32 + stub), at(340), at(360), at(480), 0n, 0n);
    },
  };
}

function ints({ call, memory }: Cuda, pointer: bigint, count: number): Int32Array {
  assert.is(call.cudaMemcpy!(at(30_000), pointer, BigInt(4 * count), 2), 0);
  return new Int32Array(memory.slice(at(30_000), 4 * count)!.slice().buffer);
}
const floats = (one: Cuda, pointer: bigint, count: number): number[] => [...new Float32Array(ints(one, pointer, count).buffer)];

function filled(one: Cuda, values: Int32Array | Float32Array): bigint {
  one.memory.put(at(30_000), new Uint8Array(values.buffer));
  const pointer = allocate(one, 'cudaMalloc', values.byteLength);
  assert.is(one.call.cudaMemcpy!(pointer, at(30_000), BigInt(values.byteLength), 1), 0);
  return pointer;
}

function variable({ call, memory }: Cuda, handle: bigint, host: number, name: string, bytes: number): void {
  memory.put(at(64), cBytes(name));
  call.__cudaRegisterVar!(handle, at(host), at(64), at(64), 0, BigInt(bytes), 0, 0);
}

test('a function and a variable of another file', () => {
  const one = linked([textOf('calls-main'), textOf('calls-other'), deviceRuntime], ['_Z5firstPi', '_Z3addPi']);
  variable(one, one.handle, 50, 'counter', 4);
  const p = filled(one, Int32Array.of(1, 2, 3, 4));
  assert.is(one.launch(0, 4, [p, 8]), 0);
  assert.is(one.launch(1, 4, [p, 8]), 0);
  // Four threads have counted from 40; each element is 2 x + 2 * 44.
  assert.equal([...ints(one, p, 4)], [90, 92, 94, 96]);
  assert.is(one.call.cudaMemcpyFromSymbol!(at(30_000), at(50), 4n, 0n, 2), 0);
  assert.is(one.memory.u32(at(30_000)), 44);
  assert.equal([one.errors, one.reported], [[], []]);
});

test('static functions and variables of one name, a weak kernel in both files, constants, and a table of functions', () => {
  const mine = /\.entry (__nv_static_\w+mine\w+)\(/.exec(textOf('statics-other'))![1]!;
  const one = linked([textOf('statics-main'), textOf('statics-other'), deviceRuntime], ['_Z4bothIfEvPT_i', mine, '_Z7throughPf']);
  variable(one, one.handle, 50, 'scale', 8);
  one.memory.put(at(30_000), new Uint8Array(Float32Array.of(2, 3).buffer));
  assert.is(one.call.cudaMemcpyToSymbol!(at(50), at(30_000), 8n, 0n, 1), 0);
  const p = filled(one, Float32Array.of(0, 1, 99));
  assert.is(one.launch(0, 32, [p, 8], [3n, 4]), 0);
  assert.equal(floats(one, p, 3), [1, 3, 199]);
  assert.is(one.launch(1, 32, [p, 8], [3n, 4]), 0);
  assert.equal(floats(one, p, 3), [13, 19, 607]);
  assert.is(one.launch(2, 1, [p, 8]), 0);
  assert.equal(floats(one, p, 3), [49, 19, 607]);
  assert.equal([one.errors, one.reported], [[], []]);
});

test('a kernel that launches a kernel, which calls a function of another file', () => {
  const one = linked([textOf('children-main'), textOf('children-other'), deviceRuntime], ['_Z6parentPi']);
  const p = filled(one, new Int32Array(8).fill(-1));
  assert.is(one.launch(0, 32, [p, 8]), 0);
  assert.equal([...ints(one, p, 8)], [0, 1, 2, 3, 10, 11, 12, 13]);
  assert.equal([one.errors, one.reported], [[], []]);
});

test('a file without PTX, or a function that no file has, is said when the code is used', () => {
  const missing = linked([textOf('calls-main'), textOf('children-other')], ['_Z5firstPi']);
  assert.ok(missing.errors.length > 0 && missing.errors.every((code) => code === 'CM4075'), missing.errors.join());
  const diagnostics = new Diagnostics();
  assert.is(missing.images.check(missing.state.images.get(missing.handle)!.text, diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM4061'],
  );
});

test.run();
