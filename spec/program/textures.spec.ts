/**
 * Textures: fetches of kernels against the formulas of the CUDA C++ Programming Guide, "Texture Fetching", in double precision. An array of
 * the numbers of its texels, times 256, gives the place that a filter has read, in 256ths of a texel.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f32Bits } from '../../src/base/float.ts';
import { convertFloat, floatFormats } from '../../src/base/float-exact.ts';
import { bytesOf, floats, kinds, modes, ramp, type Sampler, Textures } from '../support/textures.ts';

const test = suite('program/textures');

/** Every fourth number: the first channel. */
const first = (list: Float32Array): number[] => Array.from({ length: list.length / 4 }, (_, i) => list[4 * i]!);
const line = (x: number): number[] => [x];

/** The texel at a number, by the address mode. Undefined at the border. */
function texelAt(mode: number, isNormalized: boolean, size: number, i: number): number | undefined {
  if (isNormalized && mode === modes.wrap) return ((i % size) + size) % size;
  if (isNormalized && mode === modes.mirror) {
    const place = ((i % (2 * size)) + 2 * size) % (2 * size);
    return place < size ? place : 2 * size - 1 - place;
  }
  if (mode === modes.border && (i < 0 || i >= size)) return undefined;
  return Math.min(size - 1, Math.max(0, i));
}

const places = [-7.25, -2.5, -1, -0.75, 0, 0.25, 0.5, 0.999, 1, 2.5, 3.25, 4.5, 4.999, 5, 5.5, 6.125, 9.75, 12.5];

/** The value of texels `256 i` at a place in texels, with `border` outside. */
function expected(mode: number, sampler: Sampler, size: number, place: number, border: number): number {
  const isNormalized = sampler.isNormalized ?? false;
  const at = (i: number): number => {
    const texel = texelAt(mode, isNormalized, size, i);
    return texel === undefined ? border : 256 * texel;
  };
  if (!sampler.isLinear) return at(Math.floor(place));
  const i = Math.floor(place - 0.5);
  const weight = place - 0.5 - i;
  return (1 - weight) * at(i) + weight * at(i + 1);
}

test('one axis: every address mode, normalized or not, with a filter or not', () => {
  const textures = new Textures();
  const array = textures.array({ format: floats, extent: [5, 0, 0] }, ramp(5, 256));
  for (const isNormalized of [false, true])
    for (const isLinear of [false, true])
      for (const mode of Object.values(modes)) {
        const sampler = { address: [mode, 1, 1], isNormalized, isLinear, border: [1000, 0, 0, 0] };
        const texture = textures.texture(textures.resource(array), sampler);
        // Fifths are not exact: places at the edge of a texel may be on either side of it.
        const tried = isNormalized && !isLinear ? places.filter((x) => !Number.isInteger(x)) : places;
        const found = first(
          textures.sample(
            '1d',
            texture,
            tried.map((x) => line(isNormalized ? x / 5 : x)),
          ),
        );
        for (const [i, x] of tried.entries()) {
          // Weights are 256ths: of two texels, that is at most 1280 / 512 beside.
          const error = Math.abs(found[i]! - expected(mode, sampler, 5, x, 1000));
          assert.ok(
            error <= (isLinear ? ((x * 256) % 1 === 0 ? 0.01 + (isNormalized ? 5 : 0) : 5) : 0),
            `${JSON.stringify(sampler)} at ${x}: ${found[i]}`,
          );
        }
        assert.is(textures.one.call.cudaDestroyTextureObject!(texture), 0);
      }
});

test('coordinates that are no numbers, or far away, read a texel or the border', () => {
  const textures = new Textures();
  const array = textures.array({ format: floats, extent: [5, 0, 0] }, ramp(5, 256));
  const far = [1e30, -1e30, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(line);
  const clamped = textures.texture(textures.resource(array), { isLinear: true });
  assert.equal(first(textures.sample('1d', clamped, far)), [1024, 0, 1024, 0]);
  const bordered = textures.texture(textures.resource(array), { address: [3, 3, 3], border: [7, 0, 0, 0] });
  assert.equal(first(textures.sample('1d', bordered, far)), [7, 7, 7, 7]);
  const [value] = first(textures.sample('1d', clamped, [[Number.NaN]]));
  assert.ok([0, 256, 512, 768, 1024].includes(value!), `${value}`);
});

test('planes and boxes: the product of the weights of the axes', () => {
  const textures = new Textures();
  const plane = textures.array({ format: floats, extent: [4, 3, 0] }, ramp(12));
  const smooth = textures.texture(textures.resource(plane), { isLinear: true });
  // 4 y + x between texels.
  assert.equal(
    first(
      textures.sample('2d', smooth, [
        [1, 1],
        [1.5, 2],
        [2.25, 1.75],
        [0, 0],
        [9, 9],
      ]),
    ),
    [2.5, 7, 6.75, 0, 11],
  );
  const box = textures.array({ format: floats, extent: [4, 3, 2] }, ramp(24));
  const inside = textures.texture(textures.resource(box), { isLinear: true });
  assert.equal(
    first(
      textures.sample('3d', inside, [
        [1, 1, 1],
        [2.5, 1.5, 0.75],
        [3, 2, 9],
      ]),
    ),
    [8.5, 9, 20.5],
  );
  const points = textures.texture(textures.resource(box));
  assert.equal(
    first(
      textures.sample('3d', points, [
        [1, 1, 1],
        [3.9, 2.9, 0.9],
      ]),
    ),
    [17, 11],
  );
});

test('layers: each has its texels, and numbers outside are the last', () => {
  const textures = new Textures();
  const array = textures.array({ format: floats, extent: [3, 2, 4], flags: 1 }, ramp(24));
  const texture = textures.texture(textures.resource(array));
  const layers = [
    [0, 1, 1],
    [2, 2, 0],
    [3, 0, 0],
    [9, 0, 0],
    [-1, 0, 0],
  ];
  // Numbers have no sign.
  assert.equal(first(textures.sample('a2d', texture, layers)), [4, 14, 18, 18, 18]);
  const lines = textures.array({ format: floats, extent: [3, 0, 4], flags: 1 }, ramp(12));
  assert.equal(
    first(
      textures.sample('a1d', textures.texture(textures.resource(lines)), [
        [2, 1.5],
        [3, 9],
      ]),
    ),
    [7, 11],
  );
});

test('cubes: the face of the greatest coordinate, and the place on it', () => {
  const textures = new Textures();
  // Texels are 100 times the face, plus 10 times the row, plus the column.
  const texel = (i: number): number => 100 * Math.floor(i / 16) + 10 * (Math.floor(i / 4) % 4) + (i % 4);
  const data = Float32Array.from({ length: 12 * 16 }, (_, i) => texel(i));
  const cubemap = textures.array({ format: floats, extent: [4, 4, 6], flags: 4 }, bytesOf(data.slice(0, 96)));
  const texture = textures.texture(textures.resource(cubemap), { isNormalized: true });
  // Source: CUDA C++ Programming Guide, "Cubemap Textures": s is -z, z, x, x, x, -x and t is -y, -y, z, -z, -y, -y over the faces.
  const [s, t] = [0.3, -0.6];
  const directions = [
    [1, -t, -s],
    [-1, -t, s],
    [s, 1, t],
    [s, -1, -t],
    [s, -t, 1],
    [-s, -t, -1],
  ];
  const place = 10 * Math.floor(((t + 1) / 2) * 4) + Math.floor(((s + 1) / 2) * 4);
  const wanted = [0, 1, 2, 3, 4, 5].map((face) => 100 * face + place);
  assert.equal(first(textures.sample('cube', texture, directions)), wanted);
  assert.equal(
    first(
      textures.sample(
        'cube',
        texture,
        directions.map((list) => list.map((x) => 7 * x)),
      ),
    ),
    wanted,
  );
  const several = textures.array({ format: floats, extent: [4, 4, 12], flags: 5 }, bytesOf(data));
  const layered = textures.texture(textures.resource(several), { isNormalized: true });
  assert.equal(
    first(
      textures.sample(
        'acube',
        layered,
        directions.slice(0, 3).map((list) => [1, ...list]),
      ),
    ),
    wanted.slice(0, 3).map((n) => n + 600),
  );
});

test('formats: channels as integers with their sign, halves, and parts of a range', () => {
  const textures = new Textures();
  const each: readonly [bits: number, kind: number, data: ArrayBufferView, integers: number[], parts: number[] | undefined][] = [
    [8, kinds.unsigned, Uint8Array.of(0, 1, 200, 255), [0, 1, 200, 255], [0, 1 / 255, 200 / 255, 1]],
    [8, kinds.signed, Int8Array.of(0, 1, -128, 127), [0, 1, -128, 127], [0, 1 / 127, -1, 1]],
    [16, kinds.unsigned, Uint16Array.of(0, 1, 40_000, 65_535), [0, 1, 40_000, 65_535], [0, 1 / 65_535, 40_000 / 65_535, 1]],
    [16, kinds.signed, Int16Array.of(0, 1, -32_768, 32_767), [0, 1, -32_768, 32_767], [0, 1 / 32_767, -1, 1]],
    [32, kinds.unsigned, Uint32Array.of(0, 1, 2 ** 31, 2 ** 32 - 1), [0, 1, -(2 ** 31), -1], undefined],
  ];
  for (const [bits, kind, data, integers, parts] of each)
    for (const channels of [1, 2, 4]) {
      // An array by one integer coordinate reads nothing on a GPU.
      const shape = { format: [bits, channels, kind], extent: [4 / channels, 1, 0] } as const;
      const array = textures.array(shape, bytesOf(data));
      const texture = textures.texture(textures.resource(array));
      const places_ = Array.from({ length: 4 / channels }, (_, i) => [i, 0]);
      const found = new Int32Array(textures.sample('2d', texture, places_, `${kind === kinds.signed ? 's32' : 'u32'}.s32`).buffer);
      const missing = [0, 0, 0, 0];
      const wanted = (list: readonly number[]): number[] =>
        places_.flatMap(([i]) => missing.map((other, c) => (c < channels ? list[i! * channels + c]! : other)));
      assert.equal([...found], wanted(integers));
      if (!parts) continue;
      const normalized = textures.texture(textures.resource(array), { isNormalizedFloat: true });
      assert.equal([...textures.sample('2d', normalized, places_, 'f32.s32')], wanted(parts.map(Math.fround)));
    }
  const halves = textures.array(
    { format: [16, 2, kinds.float], extent: [2, 0, 0] },
    bytesOf(Uint16Array.of(0x3c00, 0xc100, 0x0001, 0x7c00)),
  );
  const texture = textures.texture(textures.resource(halves));
  assert.equal([...textures.sample('1d', texture, [[0.5], [1.5]])], [1, -2.5, 0, 0, 2 ** -24, Number.POSITIVE_INFINITY, 0, 0]);
});

test('bytes of sRGB are light, but for the fourth channel', () => {
  const textures = new Textures();
  const array = textures.array({ format: [8, 4, kinds.unsigned], extent: [1, 0, 0] }, Uint8Array.of(10, 128, 255, 128));
  const texture = textures.texture(textures.resource(array), { isNormalizedFloat: true, isSrgb: true });
  const found = [...textures.sample('1d', texture, [[0.5]])];
  const light = [10 / 255 / 12.92, ((128 / 255 + 0.055) / 1.055) ** 2.4, 1, 128 / 255];
  for (const [i, value] of light.entries()) assert.ok(Math.abs(found[i]! - value) <= value / 100, `${i}: ${found[i]}`);
});

test('texels of memory: integers outside read 0, pitched rows are a plane', () => {
  const textures = new Textures();
  const { call } = textures.one;
  const data = textures.bytes(ramp(32, 3));
  const words = (bytes: number[]): bigint => textures.longs(1024, [...bytes]);
  textures.format(floats);
  const format = textures.one.memory.slice(textures.format(floats), 20)!.slice();
  const describe = (type: number, more: readonly number[]): bigint => {
    const resource = words([type, 0, 0, 0, 0, ...more]);
    textures.one.memory.putU64(resource + 8n, data);
    textures.one.memory.put(resource + 16n, format);
    return resource;
  };
  const linear = textures.texture(describe(2, [128]));
  const integers = textures.sample('1d', linear, [[0], [31], [32], [-1], [2 ** 30]], 'f32.s32');
  assert.equal(first(integers), [0, 93, 0, 0, 0]);
  const pitched = textures.texture(describe(3, [6, 4, 32]));
  assert.equal(
    first(
      textures.sample('2d', pitched, [
        [5, 1],
        [0, 3],
        [9, 9],
      ]),
    ),
    [39, 72, 87],
  );
  assert.is(textures.tryTexture(describe(3, [6, 4, 24]), {}), 1, 'a pitch that is no multiple of 32');
  assert.is(call.cudaDestroyTextureObject!(linear), 0);
});

test('levels: the nearest one, or two that are mixed, within limits', () => {
  const textures = new Textures();
  const { call } = textures.one;
  const extent = textures.longs(1088, [8, 8, 0]);
  assert.is(call.cudaMallocMipmappedArray!(at200, textures.format(floats), extent, 4, 0), 0);
  const mipmap = textures.result();
  for (let level = 0; level < 4; level++) {
    assert.is(call.cudaGetMipmappedArrayLevel!(at200, mipmap, level), 0);
    const size = 8 >> level;
    textures.fill(textures.result(), { format: floats, extent: [size, size, 0] }, bytesOf(new Float32Array(size * size).fill(100 * level)));
  }
  assert.is(call.cudaGetMipmappedArrayLevel!(at200, mipmap, 4), 1);
  const details = [-3, 0, 0.25, 0.75, 1.5, 2.25, 3, 9];
  const found = (sampler: Sampler): number[] => {
    const texture = textures.texture(textures.resource(mipmap, 1), { isNormalized: true, ...sampler });
    return first(
      textures.sample(
        'level.2d',
        texture,
        details.map((x) => [0.4, 0.6, x]),
        'f32.f32',
        ', %f2',
      ),
    );
  };
  assert.equal(found({ isMipLinear: true, levels: [0, 3] }), [0, 0, 25, 75, 150, 225, 300, 300]);
  assert.equal(found({ isMipLinear: true, isLinear: true, levels: [0.5, 2] }), [50, 50, 50, 75, 150, 200, 200, 200]);
  assert.equal(found({ isMipLinear: true, bias: 1, levels: [0, 3] }), [0, 100, 125, 175, 250, 300, 300, 300]);
  const nearest = found({ levels: [0, 3] });
  assert.equal([...nearest.slice(0, 4), ...nearest.slice(5)], [0, 0, 0, 100, 200, 300, 300]);
  // A gradient of a texel and a half of the second level.
  const texture = textures.texture(textures.resource(mipmap, 1), { isNormalized: true, isMipLinear: true, levels: [0, 3] });
  const slopes = [1 / 8, 1 / 4, 3 / 8, 1];
  const sloped = first(
    textures.sample(
      'grad.2d',
      texture,
      slopes.map((x) => [0.5, 0.5, x, 0]),
      'f32.f32',
      ', {%f2, %f3}, {%f3, %f3}',
    ),
  );
  for (const [i, x] of slopes.entries()) assert.ok(Math.abs(sloped[i]! - 100 * Math.log2(8 * x)) < 0.5, `${x}: ${sloped[i]}`);
});
const at200 = (1n << 32n) + 200n;

test('gathers: one channel of four texels, anticlockwise from below the first', () => {
  const textures = new Textures();
  const data = Float32Array.from({ length: 4 * 12 }, (_, i) => (i % 4) * 100 + Math.floor(i / 4));
  const array = textures.array({ format: [32, 4, kinds.float], extent: [4, 3, 0], flags: 8 }, bytesOf(data));
  const texture = textures.texture(textures.resource(array));
  // Texels 4 y + x around (1.9, 1.6): columns 1 and 2, rows 1 and 2. Source: PTX ISA 9.0, 9.7.10.4.
  for (const [channel, letter] of ['r', 'g', 'b', 'a'].entries())
    assert.equal(
      [...textures.sample(`tld4.${letter}.2d`, texture, [[1.9, 1.6]])],
      [9, 10, 6, 5].map((n) => n + 100 * channel),
    );
});

test('a predicate behind the result is true, and offsets are texels', () => {
  const textures = new Textures();
  const array = textures.array({ format: floats, extent: [8, 4, 0] }, ramp(32));
  const texture = textures.texture(textures.resource(array));
  const body = 'tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%p, [%t, {%f0, %f1}], {2, -1}; mov.b32 %r0, %f0; selp.u32 %r1, 5, 6, %p;';
  const { words } = textures.run(body, texture, new Uint32Array(Float32Array.of(3, 2, 0, 0).buffer));
  assert.equal([new Float32Array(words.buffer)[0], words[1]], [13, 5]);
});

test('queries: extents, levels, and the numbers that OpenCL has for formats', () => {
  const textures = new Textures();
  const array = textures.array({ format: [8, 4, kinds.unsigned], extent: [5, 3, 2] }, new Uint8Array(120));
  const texture = textures.texture(textures.resource(array), { isNormalizedFloat: true, isNormalized: true });
  const ask = (names: readonly string[], handle: bigint): number[] => [
    ...textures.run(names.map((name, i) => `${name}.b32 %r${i}, [%t];`).join(' '), handle, new Uint32Array(4)).words,
  ];
  assert.equal(ask(['txq.width', 'txq.height', 'txq.depth', 'txq.num_mipmap_levels'], texture), [5, 3, 2, 1]);
  assert.equal(
    ask(['txq.channel_data_type', 'txq.channel_order', 'txq.normalized_coords', 'txq.array_size'], texture),
    [0x10d2, 0x10b5, 1, 1],
  );
  const surface = textures.surface(array);
  assert.equal(ask(['suq.width', 'suq.height', 'suq.channel_data_type', 'suq.channel_order'], surface), [5, 3, 0x10da, 0x10b5]);
});

test('a handle that is of no texture stops the kernel', () => {
  const body = 'tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%c0}];';
  for (const make of [(textures: Textures) => textures.bytes(new Uint8Array(256)), () => 12_345n, () => 0n]) {
    const textures = new Textures();
    assert.is.not(textures.run(body, make(textures), new Uint32Array(4)).error, 0);
    assert.is.not(textures.one.reported.length + Number(textures.one.state.last !== 'cudaSuccess'), 0);
  }
  const textures = new Textures();
  const surface = textures.surface(textures.array({ format: floats, extent: [4, 0, 0], flags: 2 }, ramp(4)));
  assert.is.not(textures.run(body, surface, new Uint32Array(4)).error, 0, 'a surface');
});

test('halves are floats rounded to the nearest', () => {
  const textures = new Textures();
  // Numbers between halves, subnormal ones and one that is too large.
  const numbers = Float32Array.of(0.1, 1 / 3, 1e-7, -2.5e-5, 65519, 65520, -1e9, 1 + 2 ** -11);
  const array = textures.array({ format: [32, 4, kinds.float], extent: [2, 0, 0] }, bytesOf(numbers));
  const texture = textures.texture(textures.resource(array));
  const places = new Uint32Array(Float32Array.of(0.5, 0, 0, 0, 1.5, 0, 0, 0).buffer);
  const wanted = [...numbers].map((number) => Number(convertFloat(floatFormats.f32, floatFormats.f16, BigInt(f32Bits(number)))));
  const four =
    '{ .reg .b16 %q<4>; tex.1d.v4.f16.f32 {%q0, %q1, %q2, %q3}, [%t, {%f0}]; mov.b32 %r0, {%q0, %q1}; mov.b32 %r1, {%q2, %q3}; }';
  for (const body of [four, 'tex.1d.v2.f16x2.f32 {%r0, %r1}, [%t, {%f0}];', 'tex.level.1d.v2.f16x2.f32 {%r0, %r1}, [%t, {%f0}], %f1;']) {
    const { error, words } = textures.run(body, texture, places);
    assert.is(error, 0);
    const found = [0, 1, 4, 5].flatMap((i) => [words[i]! & 0xffff, words[i]! >>> 16]);
    assert.equal(found, wanted, body);
  }
});

test('the extent of a level, and a level that there is not', () => {
  const textures = new Textures();
  const array = textures.array({ format: floats, extent: [8, 3, 0] }, ramp(24));
  const texture = textures.texture(textures.resource(array));
  const query = (level: number): ReturnType<Textures['run']> =>
    textures.run(`txq.level.width.b32 %r0, [%t], ${level}; txq.level.height.b32 %r1, [%t], ${level};`, texture, new Uint32Array(4));
  assert.equal([...query(0).words].slice(0, 2), [8, 3]);
  assert.is.not(query(1).error, 0);
});

test.run();
