/** Arrays, textures and surfaces through the functions of the CUDA runtime, and kernels of one instruction that read and write them. */
import * as assert from 'uvu/assert';
import { cBytes } from '../../src/program/memory.ts';
import { at, type Cuda, cuda } from './program-runtime.ts';

export const kinds = { signed: 0, unsigned: 1, float: 2 } as const;
export const modes = { wrap: 0, clamp: 1, mirror: 2, border: 3 } as const;

/** Bits of a channel, channels and kind. */
export type Format = readonly [bits: number, channels: number, kind: number];
export const floats: Format = [32, 1, kinds.float];

export interface Shape {
  readonly format: Format;
  readonly extent: readonly [number, number, number];
  readonly flags?: number;
}

export interface Sampler {
  readonly address?: readonly number[];
  readonly isLinear?: boolean;
  readonly isNormalizedFloat?: boolean;
  readonly isNormalized?: boolean;
  readonly isSrgb?: boolean;
  readonly border?: readonly number[];
  readonly isMipLinear?: boolean;
  readonly bias?: number;
  readonly levels?: readonly [number, number];
}

/** Where things are in the memory of the program: a list of results, structures, texels, coordinates and results of kernels. */
const [result, struct, texels, given, taken, arguments_] = [200, 1024, 300_000, 200_000, 250_000, 2048];

export class Textures {
  readonly one: Cuda;
  #next = 40;
  readonly #stubs = new Map<string, bigint>();
  /** Where results of functions are. */
  readonly at200: bigint = at(result);

  /** On the CPU device by default. */
  constructor(options: Parameters<typeof cuda>[0] = {}) {
    this.one = cuda(options);
  }

  /** The handle that a function that must not fail returns. */
  call(run: () => unknown): bigint {
    assert.is(run(), 0);
    return this.result();
  }

  #words(index: number, values: readonly number[]): bigint {
    this.one.memory.put(at(index), new Uint8Array(Int32Array.from(values).buffer));
    return at(index);
  }

  longs(index: number, values: readonly (number | bigint)[]): bigint {
    for (const [i, value] of values.entries()) this.one.memory.putU64(at(index + 8 * i), value);
    return at(index);
  }

  result(): bigint {
    return this.one.memory.u64(at(result))!;
  }

  format([bits, channels, kind]: Format): bigint {
    return this.#words(struct, [...[0, 1, 2, 3].map((i) => (i < channels ? bits : 0)), kind]);
  }

  /** The number of an error, and the handle of the array. */
  tryArray({ format, extent, flags = 0 }: Shape): number {
    return this.one.call.cudaMalloc3DArray!(at(result), this.format(format), this.longs(struct + 64, extent), flags);
  }

  array(shape: Shape, bytes: Uint8Array): bigint {
    assert.is(this.tryArray(shape), 0);
    const handle = this.result();
    this.fill(handle, shape, bytes);
    return handle;
  }

  /** Copies texels to all of an array. */
  fill(handle: bigint, { format, extent }: Shape, bytes: Uint8Array): void {
    const [w, h, d] = extent.map((n) => Math.max(1, n)) as [number, number, number];
    this.one.memory.put(at(texels), bytes);
    const pitch = (w * format[0] * format[1]) / 8;
    const copy = [0, 0, 0, 0, at(texels), pitch, w, h, handle, 0, 0, 0, 0, 0, 0, 0, w, h, d, 1];
    assert.is(this.one.call.cudaMemcpy3D!(this.longs(struct, copy)), 0);
  }

  /** The texels of an array. */
  read(handle: bigint, { format, extent }: Shape): Uint8Array {
    const [w, h, d] = extent.map((n) => Math.max(1, n)) as [number, number, number];
    const pitch = (w * format[0] * format[1]) / 8;
    const copy = [handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, at(texels), pitch, w, h, w, h, d, 2];
    assert.is(this.one.call.cudaMemcpy3D!(this.longs(struct, copy)), 0);
    return this.one.memory.slice(at(texels), pitch * h * d)!.slice();
  }

  /** A `cudaResourceDesc` of an array (0) or a mipmapped one (1). */
  resource(handle: bigint, type = 0): bigint {
    this.one.memory.put(at(struct), new Uint8Array(144));
    return this.longs(struct, [type, handle]);
  }

  sampler(sampler: Sampler): bigint {
    const view = new DataView(new ArrayBuffer(72));
    const { address = [1, 1, 1], border = [0, 0, 0, 0], levels = [0, 0] } = sampler;
    for (const [i, mode] of address.entries()) view.setInt32(4 * i, mode, true);
    const words: readonly (readonly [number, boolean | undefined])[] = [
      [12, sampler.isLinear],
      [16, sampler.isNormalizedFloat],
      [20, sampler.isSrgb],
      [40, sampler.isNormalized],
      [48, sampler.isMipLinear],
    ];
    for (const [offset, is] of words) view.setInt32(offset, is ? 1 : 0, true);
    for (const [i, value] of [...border].entries()) view.setFloat32(24 + 4 * i, value, true);
    for (const [i, value] of [sampler.bias ?? 0, ...levels].entries()) view.setFloat32(52 + 4 * i, value, true);
    this.one.memory.put(at(struct + 256), new Uint8Array(view.buffer));
    return at(struct + 256);
  }

  tryTexture(resource: bigint, sampler: Sampler): number {
    return this.one.call.cudaCreateTextureObject!(at(result), resource, this.sampler(sampler), 0n);
  }

  texture(resource: bigint, sampler: Sampler = {}): bigint {
    assert.is(this.tryTexture(resource, sampler), 0);
    return this.result();
  }

  surface(handle: bigint): bigint {
    assert.is(this.one.call.cudaCreateSurfaceObject!(at(result), this.resource(handle)), 0);
    return this.result();
  }

  /** Memory of the device with bytes. */
  bytes(bytes: Uint8Array): bigint {
    assert.is(this.one.call.cudaMalloc!(at(result), BigInt(bytes.length)), 0);
    const pointer = this.result();
    this.one.memory.put(at(texels), bytes);
    assert.is(this.one.call.cudaMemcpy!(pointer, at(texels), BigInt(bytes.length), 1), 0);
    return pointer;
  }

  /** What `body` leaves in the registers `%r0` to `%r3`, for each list of four words in `%c0` to `%c3` and as floats in `%f0` to `%f3`, and a float in `%l`. */
  run(
    body: string,
    handle: bigint,
    coordinates: Uint32Array,
    details = new Uint32Array(coordinates.length / 4),
  ): { readonly error: number; readonly words: Uint32Array } {
    const { call, memory } = this.one;
    const count = coordinates.length / 4;
    const stub = this.#stubs.get(body) ?? this.#kernel(body);
    this.#stubs.set(body, stub);
    const data = this.bytes(new Uint8Array(coordinates.buffer));
    const out = this.bytes(new Uint8Array(16 * count));
    this.longs(given, [handle, data, out, this.bytes(new Uint8Array(details.buffer))]);
    this.longs(
      arguments_,
      [0, 1, 2, 3].map((i) => at(given + 8 * i)),
    );
    this.#words(struct + 512, [count, 1, 1, 1, 1, 1]);
    const launched = call.cudaLaunchKernel!(stub, at(struct + 512), at(struct + 524), at(arguments_), 0n, 0n);
    if (launched !== 0) return { error: launched, words: new Uint32Array() };
    assert.is(call.cudaMemcpy!(at(taken), out, BigInt(16 * count), 2), 0);
    return { error: 0, words: new Uint32Array(memory.slice(at(taken), 16 * count)!.slice().buffer) };
  }

  #kernel(body: string): bigint {
    const { call, memory } = this.one;
    const text = `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 c, .param .u64 o, .param .u64 e) {
      .reg .b64 %t, %d<4>; .reg .b32 %c<4>, %r<4>, %i; .reg .f32 %f<4>, %l; .reg .b16 %h; .reg .pred %p;
      ld.param.u64 %t, [t]; ld.param.u64 %d1, [c]; ld.param.u64 %d2, [o]; mov.u32 %i, %ctaid.x;
      mul.wide.u32 %d3, %i, 16; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
      ld.param.u64 %d0, [e]; mul.wide.u32 %d3, %i, 4; add.u64 %d0, %d0, %d3; ld.global.f32 %l, [%d0];
      ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%d1]; ${[0, 1, 2, 3].map((i) => `mov.b32 %f${i}, %c${i}; mov.u32 %r${i}, 0;`).join(' ')}
      ${body}
      st.global.v4.u32 [%d2], {%r0, %r1, %r2, %r3}; ret;\n}\n`;
    memory.put(at(100_000), cBytes(text));
    memory.putU64(at(8), at(100_000));
    const image = call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
    memory.put(at(64), cBytes('k'));
    const stub = at(this.#next++);
    call.__cudaRegisterFunction!(image, stub, at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
    return stub;
  }

  /** Samples at float coordinates: the floats of the results, four each. */
  sample(geometry: string, handle: bigint, coordinates: readonly (readonly number[])[], how = 'f32.f32', after = ''): Float32Array {
    const shape = geometry.split('.').at(-1)!;
    const isLayered = shape.startsWith('a');
    const words = new Uint32Array(4 * coordinates.length);
    const asFloats = new Float32Array(words.buffer);
    for (const [i, list] of coordinates.entries())
      for (const [k, value] of list.entries())
        if ((k === 0 && isLayered) || how.endsWith('s32')) words[4 * i + k] = value;
        else asFloats[4 * i + k] = value;
    const letter = how.endsWith('s32') ? 'c' : 'f';
    const vector = vectors[shape]!.map((k, i) => (i === 0 && isLayered ? `%c${k}` : `%${letter}${k}`)).join(', ');
    const results = how.startsWith('f32') ? 'f' : 'r';
    const name = geometry.startsWith('tld4') ? geometry : `tex.${geometry}`;
    const body = `${name}.v4.${how} {%${results}0, %${results}1, %${results}2, %${results}3}, [%t, {${vector}}]${after};
      ${results === 'f' ? [0, 1, 2, 3].map((i) => `mov.b32 %r${i}, %f${i};`).join(' ') : ''}`;
    const { error, words: found } = this.run(body, handle, words);
    assert.is(error, 0);
    return new Float32Array(found.buffer);
  }
}

/** Which coordinates are in the vector of an instruction. Source: PTX ISA 9.0, 9.7.10.3. */
const vectors: Readonly<Record<string, readonly number[]>> = {
  '1d': [0],
  '2d': [0, 1],
  '3d': [0, 1, 2, 2],
  a1d: [0, 1],
  a2d: [0, 1, 2, 2],
  cube: [0, 1, 2, 2],
  acube: [0, 1, 2, 3],
};

export const bytesOf = (list: ArrayBufferView): Uint8Array => new Uint8Array(list.buffer, list.byteOffset, list.byteLength);
/** The numbers from 0 up, times a factor. */
export const ramp = (count: number, by = 1): Uint8Array => bytesOf(Float32Array.from({ length: count }, (_, i) => i * by));
