/**
 * Queries of samplers, samples of texels, and gradients of cubes. Which level an H200 takes for 96 random gradients was recorded with `scripts/record/textures/more.sh`
 * (a cube of three levels, the nearest of which is read). Source: PTX ISA 9.0, 9.7.10.3 and 9.7.10.5.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOf, floats, kinds, modes, ramp, Textures } from '../support/textures.ts';

const test = suite('program/texture-queries');

test('samplers: filters and address modes by the numbers of the manual, and no samples', () => {
  const textures = new Textures();
  const array = textures.array({ format: floats, extent: [4, 4, 0] }, ramp(16));
  const ask = (names: readonly string[], handle: bigint): number[] => [
    ...textures.run(names.map((name, i) => `${name}.b32 %r${i}, [%t];`).join(' '), handle, new Uint32Array(4)).words,
  ];
  const resource = (): bigint => textures.resource(array);
  const wrapped = textures.texture(resource(), { isLinear: true, isNormalized: true, address: [modes.wrap, modes.mirror, modes.clamp] });
  assert.equal(ask(['txq.filter_mode', 'txq.addr_mode_0', 'txq.addr_mode_1', 'txq.addr_mode_2'], wrapped), [1, 0, 1, 3]);
  const bordered = textures.texture(resource(), { address: [modes.border, modes.clamp, modes.clamp] });
  assert.equal(ask(['txq.filter_mode', 'txq.addr_mode_0', 'txq.force_unnormalized_coords', 'txq.num_samples'], bordered), [0, 4, 0, 0]);
  const surface = textures.surface(array);
  assert.equal(ask(['suq.memory_layout', 'suq.width'], surface).slice(0, 2), [0, 4]);
});

test('sample 0 of a texture is its texel, and others are zeros', () => {
  const textures = new Textures();
  const array = textures.array(
    { format: [32, 4, kinds.unsigned], extent: [4, 2, 0] },
    new Uint8Array(Uint32Array.from({ length: 32 }, (_, i) => i + 1).buffer),
  );
  const texture = textures.texture(textures.resource(array));
  const body = 'tex.2dms.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1, %c2, %c3}];';
  const { words } = textures.run(body, texture, Uint32Array.of(0, 2, 1, 0, 1, 2, 1, 0, 0, 3, 0, 9));
  assert.equal([...words], [25, 26, 27, 28, 0, 0, 0, 0, 13, 14, 15, 16]);
});

test('no surface has texels of one number of 64 bits', () => {
  const textures = new Textures();
  const surface = textures.surface(textures.array({ format: [32, 2, kinds.unsigned], extent: [4, 2, 0], flags: 2 }, new Uint8Array(64)));
  const { error } = textures.run('sured.p.min.2d.b64.trap [%t, {%c0, %c1}], %d3;', surface, new Uint32Array(4));
  assert.is.not(error, 0);
});

/** The levels that an H200 read, for gradients of the recorder's generator. */
const recorded = '111212012221221222222022221112212112211121112221022021111112110212012212011121211211121122211212';

test('gradients of a cube: the longer one on the face, and levels within two thirds of those of an H200', () => {
  const textures = new Textures();
  const { call } = textures.one;
  const [sizes, slot] = [textures.longs(1088, [8, 8, 6]), textures.longs(200, [0])];
  assert.is(call.cudaMallocMipmappedArray!(slot, textures.format(floats), sizes, 3, 4), 0);
  const mipmap = textures.one.memory.u64(slot)!;
  for (let level = 0; level < 3; level++) {
    assert.is(call.cudaGetMipmappedArrayLevel!(slot, mipmap, level), 0);
    const size = 8 >> level;
    const texels = bytesOf(new Float32Array(6 * size * size).fill(level));
    textures.fill(textures.one.memory.u64(slot)!, { format: floats, extent: [size, size, 6] }, texels);
  }
  const texture = textures.texture(textures.resource(mipmap, 1), { isNormalized: true, levels: [0, 2] });
  let seed = 1000;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed >>> 8;
  };
  for (let texel = 0; texel < 4 * 6 * (64 + 16 + 4); texel++) random();
  const trials = Array.from(recorded, () =>
    Array.from({ length: 9 }, (_, i) => Math.fround((((random() % 2001) - 1000) / 1000) * (i < 3 ? 1 : 0.5))),
  );
  const data = new Float32Array(12 * trials.length + 8);
  for (const [i, list] of trials.entries()) for (const [k, value] of list.entries()) data[12 * i + 4 * Math.floor(k / 3) + (k % 3)] = value;
  const body = `{ .reg .f32 %x<4>, %y<4>; ld.global.v4.f32 {%x0, %x1, %x2, %x3}, [%d1+16]; ld.global.v4.f32 {%y0, %y1, %y2, %y3}, [%d1+32];
    tex.grad.cube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f0, %f1, %f2, %f3}], {%x0, %x1, %x2, %x3}, {%y0, %y1, %y2, %y3}; mov.b32 %r0, %f0; }`;
  // Each trial has three lists; threads of the others read behind theirs.
  const words = new Uint32Array(data.buffer);
  const found = new Float32Array(textures.run(body, texture, new Uint32Array([...words, ...new Array<number>(8).fill(0)])).words.buffer);
  let same = 0;
  for (const [i, list] of trials.entries()) {
    const level = found[12 * i]!;
    const [direction, ...gradients] = [0, 3, 6].map((at) => list.slice(at, at + 3)) as [number[], number[], number[]];
    const sizesOf = direction.map(Math.abs);
    const most = sizesOf[2]! >= Math.max(sizesOf[0]!, sizesOf[1]!) ? 2 : sizesOf[1]! >= sizesOf[0]! ? 1 : 0;
    const lengths = gradients.map((gradient) =>
      Math.hypot(
        ...[0, 1, 2]
          .filter((k) => k !== most)
          .map((k) => (4 * (gradient[k]! * direction[most]! - direction[k]! * gradient[most]!)) / direction[most]! ** 2),
      ),
    );
    const detail = Math.min(2, Math.max(0, Math.log2(Math.max(...lengths))));
    assert.ok(Math.abs(level - detail) <= 0.505, `${i}: level ${level}, detail ${detail}`);
    const own = Number(recorded[i]);
    assert.ok(Math.abs(own - detail) <= 0.5 + 2 / 3, `${i}: recorded ${own}, detail ${detail}`);
    if (own === level) same++;
  }
  assert.ok(same >= 66, `${same} of 96`);
});

test.run();
