/** Arrays and surfaces: what their functions accept, as recorded on an NVIDIA H200, copies of every kind, and accesses of surfaces. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cudaErrorNumbered } from '../../src/api/cuda-errors.ts';
import { at, words } from '../support/program-runtime.ts';
import { bytesOf, floats, kinds, ramp, Textures } from '../support/textures.ts';

const test = suite('program/arrays');

const nameOf = (number: number): string => cudaErrorNumbered(number)?.name.replace('cuda', '') ?? `${number}`;

/** Source: recorded with scripts/record/textures/api.cu. */
test('extents and formats that there are, and what others give', () => {
  const textures = new Textures();
  const tried = (format: readonly [number, number, number], extent: readonly [number, number, number], flags = 0): string =>
    nameOf(textures.tryArray({ format, extent, flags }));
  const { float, unsigned } = kinds;
  assert.is(tried(floats, [0, 8, 0]), 'ErrorInvalidValue');
  for (const format of [
    [32, 3, float],
    [5, 1, unsigned],
    [8, 1, float],
    [8, 1, 3],
    [64, 1, float],
    [0, 0, 0],
  ] as const)
    assert.is(tried(format, [16, 8, 0]), 'ErrorInvalidChannelDescriptor', `${format}`);
  const extents: readonly (readonly [extent: readonly [number, number, number], flags: number, isFine: boolean])[] = [
    [[16, 0, 0], 0, true],
    [[16, 8, 4], 0, true],
    [[16, 0, 4], 0, false],
    [[16, 0, 4], 1, true],
    [[16, 8, 4], 1, true],
    [[16, 8, 0], 1, false],
    [[16, 16, 6], 4, true],
    [[16, 8, 6], 4, false],
    [[16, 16, 5], 4, false],
    [[16, 16, 12], 5, true],
    [[16, 16, 13], 5, false],
    [[16, 8, 4], 8, false],
    [[16, 8, 0], 8, true],
    [[131_073, 0, 0], 0, false],
  ];
  for (const [extent, flags, isFine] of extents)
    assert.is(tried(floats, extent, flags), isFine ? 'Success' : 'ErrorInvalidValue', `${extent} ${flags}`);
});

test('an array says what it is of, and is freed once', () => {
  const textures = new Textures();
  const { call } = textures.one;
  assert.is(textures.tryArray({ format: [16, 2, kinds.signed], extent: [7, 5, 3], flags: 1 }), 0);
  const array = textures.result();
  assert.is(call.cudaArrayGetInfo!(at(3000), at(3040), at(3080), array), 0);
  assert.equal(words(textures.one, at(3000), 5), [16, 16, 0, 0, 0]);
  assert.equal([...words(textures.one, at(3040), 6)], [7, 0, 5, 0, 3, 0]);
  assert.equal(words(textures.one, at(3080), 1), [1]);
  assert.is(call.cudaGetChannelDesc!(at(3000), 0n), 400);
  assert.equal([call.cudaFreeArray!(array), call.cudaFreeArray!(array), call.cudaFreeArray!(0n)], [0, 400, 0]);
});

test('rows of an array: copies of planes and of lines, in both directions, and what is outside', () => {
  const textures = new Textures();
  const { call, memory } = textures.one;
  const shape = { format: floats, extent: [16, 8, 0] } as const;
  const array = textures.array(shape, ramp(128));
  const host = at(5000);
  const rows = (x: number, y: number, pitch: number, width: number, height: number, kind = 1): string =>
    nameOf(call.cudaMemcpy2DToArray!(array, BigInt(x), BigInt(y), host, BigInt(pitch), BigInt(width), BigInt(height), kind));
  // As recorded on an H200.
  assert.equal(
    [rows(0, 0, 64, 64, 9), rows(4, 0, 64, 64, 8), rows(0, 0, 32, 64, 8)],
    ['ErrorInvalidValue', 'ErrorInvalidValue', 'ErrorInvalidPitchValue'],
  );
  assert.equal([rows(0, 0, 64, 0, 8), rows(0, 0, 64, 64, 8, 2)], ['Success', 'ErrorInvalidMemcpyDirection']);
  memory.put(host, bytesOf(Float32Array.of(100, 101, 102, 103)));
  assert.is(rows(8, 3, 8, 8, 2), 'Success');
  assert.is(call.cudaMemcpy2DFromArray!(at(6000), 16n, array, 4n, 2n, 12n, 3n, 2), 0);
  const block = new Float32Array(memory.slice(at(6000), 48)!.slice().buffer);
  assert.equal(
    [0, 1, 2].map((y) => [...block.slice(4 * y, 4 * y + 3)]),
    [
      [33, 34, 35],
      [49, 100, 101],
      [65, 102, 103],
    ],
  );
  // A line goes on in the next row.
  const line = (count: number, x = 60, y = 1): number => call.cudaMemcpyFromArray!(at(6000), array, BigInt(x), BigInt(y), BigInt(count), 2);
  assert.is(line(12), 0);
  assert.equal([...new Float32Array(memory.slice(at(6000), 12)!.slice().buffer)], [31, 32, 33]);
  assert.equal([line(388), line(392)].map(nameOf), ['Success', 'ErrorInvalidValue']);
  memory.put(host, bytesOf(Float32Array.of(1, 2, 3)));
  assert.is(call.cudaMemcpyToArray!(array, 60n, 6n, host, 12n, 1), 0);
  const other = textures.array(shape, ramp(128, 0));
  assert.is(call.cudaMemcpy2DArrayToArray!(other, 0n, 0n, array, 56n, 6n, 8n, 2n, 3), 0);
  assert.is(call.cudaMemcpyArrayToArray!(other, 0n, 7n, array, 60n, 6n, 12n, 3), 0);
  const copied = new Float32Array(textures.read(other, shape).buffer);
  assert.equal(
    [0, 1, 16, 17, 112, 113, 114].map((i) => copied[i]),
    [110, 1, 126, 127, 1, 2, 3],
  );
  // An H200 takes a pitch of 0 for a single row.
  assert.equal([rows(0, 7, 0, 64, 1), rows(0, 6, 0, 64, 2)], ['Success', 'ErrorInvalidPitchValue']);
});

test('a box of texels: positions are texels of the array on both sides', () => {
  const textures = new Textures();
  const { call, memory } = textures.one;
  const shape = { format: floats, extent: [16, 8, 0] } as const;
  const array = textures.array(shape, ramp(128, 0));
  memory.put(at(20_000), ramp(128));
  const copy = (...values: (number | bigint)[]): number => call.cudaMemcpy3D!(textures.longs(8000, values));
  // From (3, 1) to (2, 1), 4 by 4: the words that were recorded.
  assert.is(copy(0, 3, 1, 0, at(20_000), 64, 16, 8, array, 2, 1, 0, 0, 0, 0, 0, 4, 4, 1, 1), 0);
  const found = new Float32Array(textures.read(array, shape).buffer);
  assert.equal(
    [18, 19, 34].map((i) => found[i]),
    [19, 20, 35],
  );
  assert.equal(
    [17, 1, 4].map((width) =>
      copy(0, 0, 0, 0, at(20_000), 64, 16, 8, array, width === 4 ? 13 : 0, 0, 0, 0, 0, 0, 0, width, width === 1 ? 9 : 8, 1, 1),
    ),
    [1, 1, 1],
  );
  assert.is(copy(0, 0, 0, 0, at(20_000), 64, 16, 8, array, 0, 0, 0, at(20_000), 64, 16, 8, 4, 4, 1, 1), 1, 'two destinations');
});

test('textures that there are, and what others give', () => {
  const textures = new Textures();
  const { call } = textures.one;
  const of = (format: readonly [number, number, number]): bigint =>
    textures.array({ format, extent: [4, 4, 0] }, new Uint8Array((16 * format[0] * format[1]) / 8));
  const [integers, bytes, single] = [of([32, 1, kinds.signed]), of([8, 1, kinds.unsigned]), of(floats)];
  const tried = (array: bigint, sampler: Parameters<Textures['sampler']>[0]): string =>
    nameOf(textures.tryTexture(textures.resource(array), sampler));
  assert.is(tried(integers, { isNormalizedFloat: true }), 'ErrorInvalidNormSetting');
  assert.is(tried(single, { isNormalizedFloat: true }), 'ErrorInvalidNormSetting');
  assert.equal(
    [tried(integers, { isLinear: true }), tried(bytes, { isLinear: true })],
    ['ErrorInvalidFilterSetting', 'ErrorInvalidFilterSetting'],
  );
  assert.is(tried(bytes, { isLinear: true, isNormalizedFloat: true }), 'Success');
  assert.is(tried(single, { address: [7, 0, 0] }), 'ErrorInvalidValue');
  assert.is(tried(0n, {}), 'ErrorInvalidResourceHandle');
  const texture = textures.texture(textures.resource(single), { address: [1, 2, 3] });
  assert.is(call.cudaGetTextureObjectTextureDesc!(at(3000), texture), 0);
  assert.equal(words(textures.one, at(3000), 3), [1, 2, 3]);
  assert.is(call.cudaGetTextureObjectResourceDesc!(at(3000), texture), 0);
  assert.is(textures.one.memory.u64(at(3008)), single);
  assert.equal(
    [texture, texture, 0n, 99n].map((handle) => call.cudaDestroyTextureObject!(handle)),
    [0, 0, 0, 0],
  );
  assert.is(call.cudaGetTextureObjectResourceDesc!(at(3000), texture), 1);
});

/** Loads and stores a word at a byte and a row, in a mode. */
const load = (mode: string): string => `suld.b.2d.b32.${mode} %r0, [%t, {%c0, %c1}];`;
const store = (mode: string): string => `sust.b.2d.b32.${mode} [%t, {%c0, %c1}], %c2;`;
const shape = { format: [32, 1, kinds.unsigned], extent: [4, 3, 0], flags: 2 } as const;
const cells = bytesOf(Uint32Array.from({ length: 12 }, (_, i) => 10 + i));
const outside = Int32Array.from([4, 1, 0, 0, -4, 1, 0, 0, 16, 1, 0, 0, 8, 3, 0, 0, 8, -1, 0, 0]);

test('surfaces: loads inside, and outside by the mode', () => {
  const textures = new Textures();
  const surface = textures.surface(textures.array(shape, cells));
  const of = (mode: string): number[] =>
    [...textures.run(load(mode), surface, new Uint32Array(outside.buffer)).words].filter((_, i) => i % 4 === 0);
  assert.equal(of('clamp'), [15, 14, 17, 20, 12]);
  assert.equal(of('zero'), [15, 0, 0, 0, 0]);
  assert.equal([...textures.run(load('trap'), surface, new Uint32Array(outside.slice(0, 4).buffer)).words], [15, 0, 0, 0]);
  assert.is.not(textures.run(load('trap'), surface, new Uint32Array(outside.slice(4, 8).buffer)).error, 0);
});

test('surfaces: stores inside, and outside by the mode', () => {
  for (const [mode, wanted] of [
    ['clamp', [10, 11, 105, 13, 103, 102, 16, 104, 18, 19, 104, 21]],
    ['zero', [10, 11, 12, 13, 14, 101, 16, 17, 18, 19, 20, 21]],
  ] as const) {
    const textures = new Textures();
    const array = textures.array(shape, cells);
    const surface = textures.surface(array);
    // In this order, so that each has a place of its own but for what is clamped to it.
    const places: readonly (readonly [number, number])[] =
      mode === 'clamp'
        ? [
            [4, 1],
            [4, 1],
            [-9, 1],
            [99, 1],
            [8, -7],
            [8, 9],
          ]
        : [
            [4, 1],
            [-4, 1],
            [16, 1],
            [8, 3],
            [8, -1],
            [8, 9],
          ];
    for (const [i, [x, y]] of places.entries()) {
      const value = mode === 'clamp' ? [101, 102, 103, 104, 105, 104][i]! : 101 + i;
      assert.is(textures.run(store(mode), surface, new Uint32Array(Int32Array.of(x, y, value, 0).buffer)).error, 0);
    }
    assert.equal([...new Uint32Array(textures.read(array, shape).buffer)], wanted);
  }
  const textures = new Textures();
  const array = textures.array(shape, cells);
  assert.is.not(textures.run(store('trap'), textures.surface(array), new Uint32Array(outside.slice(8, 12).buffer)).error, 0);
});

test('surfaces: reductions inside, and outside by the mode', () => {
  const reduce = (form: string): string => `sured.b.${form} [%t, {%c0, %c1}], %c2;`;
  const after = (form: string, [x, y, value]: readonly [number, number, number]): number[] => {
    const textures = new Textures();
    const array = textures.array(shape, cells);
    const body = form.includes('64') ? `cvt.s64.s32 %w, %c2; ${reduce(form).replace('%c2;', '%w;')}` : reduce(form);
    const given = new Uint32Array(Int32Array.of(x, y, value, 0).buffer);
    assert.is(textures.run(form.includes('64') ? `{ .reg .b64 %w; ${body} }` : body, textures.surface(array), given).error, 0);
    return [...new Int32Array(textures.read(array, shape).buffer)];
  };
  const wanted = (changes: Readonly<Record<number, number>>): number[] => Array.from({ length: 12 }, (_, i) => changes[i] ?? 10 + i);
  assert.equal(after('add.2d.u32.clamp', [4, 1, 7]), wanted({ 5: 22 }));
  assert.equal(after('add.2d.s32.zero', [8, 2, -30]), wanted({ 10: -10 }));
  assert.equal(after('min.2d.s32.clamp', [0, 0, -3]), wanted({ 0: -3 }));
  assert.equal(after('min.2d.u32.clamp', [0, 0, -3]), wanted({}));
  assert.equal(after('max.2d.u32.trap', [12, 0, -3]), wanted({ 3: -3 }));
  assert.equal(after('and.2d.b32.clamp', [99, 99, 12]), wanted({ 11: 21 & 12 }));
  assert.equal(after('or.2d.b32.zero', [4, 0, 32]), wanted({ 1: 11 | 32 }));
  assert.equal(after('or.2d.b32.zero', [16, 0, 32]), wanted({}));
  // Two words are a number of 64 bits.
  assert.equal(after('add.2d.u64.clamp', [8, 1, -17]), wanted({ 6: -1, 7: 16 }));
  assert.equal(after('min.2d.s64.clamp', [8, 1, -5]), wanted({ 6: -5, 7: -1 }));
  const trapping = new Textures();
  const outsideOf = new Uint32Array(Int32Array.of(16, 0, 1, 0).buffer);
  assert.is.not(trapping.run(reduce('add.2d.u32.trap'), trapping.surface(trapping.array(shape, cells)), outsideOf).error, 0);
});

test('surfaces: vectors of bytes, boxes and layers', () => {
  const textures = new Textures();
  const quads = { format: [8, 4, kinds.unsigned], extent: [3, 2, 2], flags: 3 } as const;
  const layered = textures.array(
    quads,
    Uint8Array.from({ length: 48 }, (_, i) => i),
  );
  const surface = textures.surface(layered);
  const vector = `{ .reg .b16 %x<4>; suld.b.a2d.v4.b8.zero {%x0, %x1, %x2, %x3}, [%t, {%c0, %c1, %c2, %c2}];
    ${[0, 1, 2, 3].map((i) => `cvt.u32.u16 %r${i}, %x${i};`).join(' ')}
    sust.b.a2d.v2.b8.zero [%t, {%c0, %c1, %c2, %c2}], {%x3, %x2}; }`;
  const { words: found } = textures.run(vector, surface, Uint32Array.of(1, 4, 1, 0, 2, 4, 1, 0));
  assert.equal([...found], [40, 41, 42, 43, 0, 0, 0, 0]);
  assert.equal([...textures.read(layered, quads).slice(38, 46)], [38, 39, 43, 42, 42, 43, 44, 45]);
  const box = { format: [16, 1, kinds.unsigned], extent: [3, 2, 2], flags: 2 } as const;
  const cube = textures.array(box, bytesOf(Uint16Array.from({ length: 12 }, (_, i) => 500 + i)));
  const body = 'suld.b.3d.b16.clamp %h, [%t, {%c0, %c1, %c2, %c2}]; cvt.u32.u16 %r0, %h;';
  const read = textures.run(body, textures.surface(cube), Uint32Array.of(2, 1, 1, 0, 99, 99, 99, 0));
  assert.equal([read.words[0], read.words[4]], [510, 511]);
});

test.run();
