/**
 * Copies by tensor maps, against loops over the elements written from the manual's chapter on tensors (PTX ISA 9.0, 5.5). Tensors, boxes and
 * coordinates are chosen at random, most of them across the edges of the tensor.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bytesOfTensorType,
  encodeIm2col,
  encodeTiled,
  encodeWide,
  type Im2colTensor,
  type TensorType,
  type TiledTensor,
} from '../../src/device/tensor-maps.ts';
import { TensorKernels } from '../support/tensors.ts';

const test = suite('device/tensor-copies');

let seed = 77;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};

const kernels = new TensorKernels();
test.after(() => kernels.close());

/** The patterns of the manual's tables: the unit of 16 bytes that is at a place of a line, by the number of the line. */
const patterns: Readonly<Record<string, readonly string[]>> = {
  '0 16': ['01234567'],
  '32 16': ['01234567', '10325476'],
  '64 16': ['01234567', '10325476', '23016745', '32107654'],
  '128 16': ['01234567', '10325476', '23016745', '32107654', '45670123', '54761032', '67452301', '76543210'],
  '128 32': ['01234567', '23016745', '45670123', '67452301'],
  '128 64': ['01234567', '45670123'],
};

/** Where a byte of a plain copy lies in shared memory, which starts at a multiple of 1024. */
function placeOf(pattern: readonly string[], at: number): number {
  const [line, unit] = [Math.floor(at / 128), Math.floor(at / 16) % 8];
  // A unit of the table is the one of the plain copy; the place is its column. In 32 and 64 bytes, lines of the table are as long as ours, too.
  return line * 128 + pattern[line % pattern.length]!.indexOf(String(unit)) * 16 + (at % 16);
}

/** Bytes of a plain copy by visiting coordinates, innermost first. */
function plainCopy(tensor: TiledTensor, memory: Uint8Array, coordinates: Iterable<readonly number[]>): Uint8Array {
  const size = bytesOfTensorType(tensor.type);
  // As an H200 has it, in elements of any size.
  const nan = Array.from({ length: size }, (_, i) => [0xf7, 0x7f][i % 2]!);
  const outside = tensor.fill === 'nan' ? nan : new Array<number>(size).fill(0);
  const made: number[] = [];
  for (const place of coordinates) {
    const isInside = place.every((at, i) => at >= 0 && at < Number(tensor.dims[i]));
    const offset = place.reduce((sum, at, i) => sum + at * (i === 0 ? size : Number(tensor.strides[i - 1])), 0);
    made.push(...(isInside ? memory.subarray(offset, offset + size) : outside));
  }
  return Uint8Array.from(made);
}

function* boxAt(tensor: TiledTensor, start: readonly number[]): Iterable<readonly number[]> {
  const counts = tensor.box.map((n, i) => (i === 0 ? n : Math.ceil(n / (tensor.steps?.[i] ?? 1))));
  const total = counts.reduce((a, b) => a * b, 1);
  for (let n = 0; n < total; n++) {
    let left = n;
    yield counts.map((count, i) => {
      const index = left % count;
      left = Math.floor(left / count);
      return start[i]! + index * (i === 0 ? 1 : (tensor.steps?.[i] ?? 1));
    });
  }
}

const types: readonly TensorType[] = ['u8', 'u16', 'f16', 'bf16', 'u32', 'f32', 's64', 'f64'];

interface Chosen {
  readonly tensor: Omit<TiledTensor, 'address'>;
  readonly start: readonly number[];
  readonly bytes: number;
}

/** A tensor of a rank that has at most some KiB, with a box across its edges. */
function chosen(rank: number, swizzle: string): Chosen {
  const [width, atom] = swizzle.split(' ').map(Number) as [0 | 32 | 64 | 128, 16 | 32 | 64];
  const type = types[random(types.length)]!;
  const size = bytesOfTensorType(type);
  const inner = (width || 16 * (1 + random(6))) / size;
  const box = [inner, ...Array.from({ length: rank - 1 }, () => 1 + random(rank > 3 ? 3 : 6))];
  const dims = box.map((n, i) => Math.max(1, (i === 0 ? n : n + 2) + random(7) - 2));
  const steps = box.map(() => 1 + random(3));
  let pitch = Math.ceil((dims[0]! * size) / 16) * 16 + 16 * random(2);
  const strides: number[] = [];
  for (const dim of dims.slice(1)) {
    strides.push(pitch);
    pitch *= dim;
  }
  const fill = /f16|f32/.test(type) && random(2) ? ('nan' as const) : ('zero' as const);
  const tensor = { type, dims, strides, box, steps, fill, swizzle: width, atom } as const;
  // The innermost coordinate is at a multiple of 16 bytes.
  const unit = 16 / size;
  const start = dims.map((dim, i) => (i === 0 ? unit * Math.floor((random(dim + 3) - 2) / unit) : random(dim + 3) - 2));
  return { tensor, start, bytes: pitch };
}

const bytesOf = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => random(256));
const encodedBytes = (map: ReturnType<typeof encodeTiled>): Uint8Array =>
  ('bytes' in map ? map.bytes : assert.unreachable(map.why)) as Uint8Array;

test('boxes of every rank and swizzle into shared memory', () => {
  for (const [i, swizzle] of Object.keys(patterns).entries())
    for (const rank of i === 0 ? [1, 2, 3, 4, 5] : [2, 3 + (i % 3)])
      for (let round = 0; round < (i === 0 ? 2 : 1); round++) {
        const { tensor, start, bytes } = chosen(rank, swizzle);
        const memory = bytesOf(bytes);
        const plain = plainCopy({ ...tensor, address: 0n }, memory, boxAt({ ...tensor, address: 0n }, start));
        const found = kernels.load({
          memory,
          map: (address) => encodedBytes(encodeTiled({ ...tensor, address })),
          start,
          bytes: plain.length,
        });
        const wanted = new Uint8Array(Math.ceil(plain.length / 1024) * 1024);
        for (const [at, value] of plain.entries()) wanted[placeOf(patterns[swizzle]!, at)] = value;
        const last = Math.max(...[...plain.keys()].map((at) => placeOf(patterns[swizzle]!, at)));
        assert.equal([...found.subarray(0, last + 1)], [...wanted.subarray(0, last + 1)], JSON.stringify({ tensor, start }));
      }
});

test('boxes of shared memory into a tensor, and nothing outside of it', () => {
  for (const rank of [1, 2, 3, 4, 5]) {
    const { tensor, start: anywhere, bytes } = chosen(rank, rank === 2 ? '128 16' : '0 16');
    const start = anywhere.map((at) => Math.max(0, at));
    const [memory, shared] = [bytesOf(bytes), bytesOf(8192)];
    const wanted = memory.slice();
    const size = bytesOfTensorType(tensor.type);
    let at = 0;
    for (const place of boxAt({ ...tensor, address: 0n }, start)) {
      const offset = place.reduce((sum, n, i) => sum + n * (i === 0 ? size : Number(tensor.strides[i - 1])), 0);
      const isInside = place.every((n, i) => n >= 0 && n < Number(tensor.dims[i]));
      for (let i = 0; i < size; i++, at++)
        if (isInside) wanted[offset + i] = shared[placeOf(patterns[rank === 2 ? '128 16' : '0 16']!, at)]!;
    }
    const map = (address: bigint): Uint8Array => encodedBytes(encodeTiled({ ...tensor, address }));
    const found = kernels.store({ memory, shared, map, start });
    assert.equal([...found], [...wanted], JSON.stringify({ tensor, start }));
    // An H200 stops there (error 715).
    const inFront = start.map((at, i) => (i === rank - 1 ? -16 : at));
    for (const op of ['', 'or'])
      assert.throws(
        () => kernels.store({ memory, shared, map, start: inFront, ...(op ? { op } : {}) }),
        /a tensor store at a negative coordinate/,
      );
  }
});

test('reductions into a tensor', () => {
  const dims = [11, 5];
  const tensor = { dims, strides: [64], box: [8, 4], type: 'u32' } as const;
  const start = [4, 2];
  const memory = bytesOf(5 * 64);
  const shared = bytesOf(8192);
  const [before, given] = [new Uint32Array(memory.slice().buffer), new Uint32Array(shared.buffer)];
  const joins: Readonly<Record<string, (a: number, b: number) => number>> = {
    add: (a, b) => a + b,
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
    inc: (a, b) => (a >= b ? 0 : a + 1),
    dec: (a, b) => (a === 0 || a > b ? b : a - 1),
    and: (a, b) => a & b,
    or: (a, b) => a | b,
    xor: (a, b) => a ^ b,
  };
  for (const [op, join] of Object.entries(joins)) {
    const wanted = before.slice();
    for (let y = 0; y < 4; y++)
      for (let x = 0; x < 8; x++)
        if (start[0]! + x < 11 && start[1]! + y < 5) {
          const at = (start[1]! + y) * 16 + start[0]! + x;
          wanted[at] = join(wanted[at]!, given[y * 8 + x]!) >>> 0;
        }
    const found = kernels.store({ memory, shared, map: (address) => encodedBytes(encodeTiled({ ...tensor, address })), start, op });
    assert.equal([...new Uint32Array(found.slice().buffer)], [...wanted], op);
  }
});

test('four rows of a matrix', () => {
  const tensor = { dims: [20, 9], strides: [48], box: [8, 1], type: 'u16' } as const;
  const memory = bytesOf(9 * 48);
  const start = [16, 3, 8, 0, 9];
  const places = start.slice(1).flatMap((y) => Array.from({ length: 8 }, (_, x) => [16 + x, y] as const));
  const map = (address: bigint): Uint8Array => encodedBytes(encodeTiled({ ...tensor, address }));
  const plain = plainCopy({ ...tensor, address: 0n }, memory, places);
  assert.equal([...kernels.load({ memory, map, start, bytes: 64, mode: 'gather' }).subarray(0, 64)], [...plain]);
  const shared = bytesOf(8192);
  const wanted = memory.slice();
  for (const [i, [x, y]] of places.entries())
    if (x! < 20 && y! < 9) for (let b = 0; b < 2; b++) wanted[y! * 48 + x! * 2 + b] = shared[2 * i + b]!;
  assert.equal([...kernels.store({ memory, shared, map, start, mode: 'scatter' })], [...wanted]);
});

test('columns of a convolution', () => {
  const cases: readonly (readonly number[][])[] = [
    [
      [16, 9, 14, 3],
      [-1, -1],
      [-1, -1],
      [1, 1, 1, 1],
      [8, 7, 4, 0],
      [0, 0],
    ],
    [
      [16, 9, 7, 4],
      [0, 0],
      [-2, -2],
      [1, 1, 1, 1],
      [0, 6, 4, 1],
      [2, 2],
    ],
    [
      [16, 9, 8, 3],
      [-1, -1],
      [-1, -1],
      [1, 2, 2, 1],
      [0, 5, 3, 0],
      [1, 1],
    ],
    [[16, 11, 4], [-1], [0], [1, 1, 1], [0, 3, 1], [2]],
    [
      [16, 5, 4, 3, 3],
      [-1, 0, -1],
      [0, -1, 0],
      [1, 1, 1, 1, 1],
      [8, 2, 1, 0, 0],
      [1, 0, 1],
    ],
  ];
  for (const given of cases) {
    const [dims, lower, upper, steps, start, offsets] = given as [number[], number[], number[], number[], number[], number[]];
    const strides = dims.slice(1).map((_, i) => dims.slice(0, i + 1).reduce((a, b) => a * b, 2));
    const tensor: Omit<Im2colTensor, 'address'> = { type: 'u16', dims, strides, steps, lower, upper, channels: 8, pixels: 40 };
    const memory = bytesOf(dims.reduce((a, b) => a * b, 2));
    const places: number[][] = [];
    const now: number[] = start.slice(1);
    for (let pixel = 0; pixel < 40; pixel++) {
      const read = now.map((at, i) => at + (offsets[i] ?? 0));
      for (let c = 0; c < 8; c++) places.push([start[0]! + c, ...read]);
      for (let axis = 0; axis < now.length; axis++) {
        now[axis]! += axis < lower.length ? steps[axis + 1]! : 1;
        if (axis === lower.length || now[axis]! <= dims[axis + 1]! - 1 + upper[axis]!) break;
        now[axis] = lower[axis]!;
      }
    }
    const plain = plainCopy({ ...tensor, address: 0n, box: [] }, memory, places);
    const map = (address: bigint): Uint8Array => encodedBytes(encodeIm2col({ ...tensor, address }));
    const found = kernels.load({ memory, map, start, bytes: plain.length, mode: 'columns', offsets });
    assert.equal([...found.subarray(0, plain.length)], [...plain], JSON.stringify(tensor.dims));
  }
});

test('columns along the width: rows of one image behind another', () => {
  const dims = [16, 7, 4, 9];
  const strides = [32, 224, 896];
  // Steps of three from before the box, as the manual has them, and 128 pixels whatever the map says.
  const cases = [
    { mode: 'w', lower: -1, upper: -1, step: 3, start: [8, -1, 2, 1], offset: 0, pixels: 20 },
    { mode: 'w', lower: -1, upper: -1, step: 3, start: [8, -4, 3, 1], offset: 2, pixels: 17 },
    { mode: 'w128', lower: 0, upper: 0, step: 1, start: [0, 3, 0, 0], offset: 0, pixels: 5 },
  ] as const;
  for (const { mode, lower, upper, step, start, offset, pixels } of cases) {
    const tensor = { type: 'u16', dims, strides, steps: [1, step, 1, 1], lower, upper, channels: 8, pixels, mode } as const;
    const memory = bytesOf(dims.reduce((a, b) => a * b, 2));
    const places: number[][] = [];
    let [width, image] = [start[1] as number, start[3] as number];
    for (let pixel = 0; pixel < (mode === 'w' ? pixels : 128); pixel++) {
      for (let c = 0; c < 8; c++) places.push([start[0] + c, width + offset, start[2], image]);
      width += step;
      if (width <= dims[1]! - 1 + upper) continue;
      width = lower;
      image++;
    }
    const plain = plainCopy({ type: 'u16', dims, strides, address: 0n, box: [] }, memory, places);
    const map = (address: bigint): Uint8Array => encodedBytes(encodeWide({ ...tensor, address }));
    const copy = { memory, map, start: [...start], bytes: plain.length, mode };
    const found = kernels.load({ ...copy, offsets: [0, offset] });
    assert.equal([...found.subarray(0, plain.length)], [...plain], `${mode} ${start}`);
    assert.match(kernels.faultOf({ ...copy, offsets: [2, 0] }), /documented in figures alone/);
    const boxes = (address: bigint): Uint8Array => encodedBytes(encodeIm2col({ ...tensor, lower: [-1, -1], upper: [-1, -1], address }));
    assert.match(kernels.faultOf({ ...copy, map: boxes, offsets: [0, 0] }), /not for columns/);
  }
});

test('a kernel makes a map', () => {
  const made = { type: 'f16', address: 0x1230n, dims: [77, 9, 4], strides: [160, 1440], box: [32, 4, 2], steps: [1, 2, 1] } as const;
  const wanted = encodedBytes(encodeTiled({ ...made, swizzle: 64, fill: 'nan' }));
  const replace = (field: string, value: number | bigint | string, index?: number): string =>
    `tensormap.replace.tile.${field}.shared::cta.b1024.${/address|stride$/.test(field) && !field.startsWith('e') ? 'b64' : 'b32'} [data], ${index === undefined ? '' : `${index}, `}${value};`;
  const fields = (name: string, list: readonly number[]): string[] => list.map((value, i) => replace(name, value, i));
  const body = [
    'mov.u64 state, 128;\nst.bulk.weak.shared::cta [data], state, 0;',
    replace('rank', 2),
    replace('global_address', made.address),
    ...fields('global_dim', made.dims),
    ...fields('global_stride', made.strides),
    ...fields('box_dim', made.box),
    ...fields('element_stride', [1, 2, 1, 1, 1]),
    replace('elemtype', 6),
    replace('interleave_layout', 0),
    replace('swizzle_mode', 2),
    replace('swizzle_atomicity', 0),
    replace('fill_mode', 1),
    'tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [out], [data], 128;',
    'fence.proxy.tensormap::generic.acquire.gpu [out], 128;',
  ];
  const { out, said } = kernels.launch(body.join('\n'), new Uint8Array(128), { memory: bytesOf(16), map: () => wanted });
  assert.is(said, '');
  assert.equal([...out], [...wanted]);
});

test('a map of another device, and one for another rank, stop the kernel', () => {
  const memory = bytesOf(256);
  const flat = { dims: [64], strides: [], box: [16], type: 'u8' } as const;
  const load = (map: (address: bigint) => Uint8Array): string => kernels.faultOf({ memory, map, start: [0, 0], bytes: 16 });
  assert.match(
    load(() => bytesOf(128)),
    /was not made by `cuTensorMapEncode….*k\.ptx:\d+/,
  );
  assert.match(
    load((address) => encodedBytes(encodeTiled({ ...flat, address }))),
    /not for boxes of 2 axes/,
  );
});

test('what no map describes', () => {
  const good = { type: 'f16', address: 256n, dims: [64, 8], strides: [128], box: [16, 8] } as const;
  assert.ok('bytes' in encodeTiled(good));
  const why = (more: Partial<TiledTensor>): string => {
    const made = encodeTiled({ ...good, ...more });
    return 'why' in made ? made.why : '';
  };
  assert.match(why({ address: 8n }), /address/);
  assert.match(why({ strides: [120] }), /stride/);
  assert.match(why({ box: [12, 8] }), /rows of 24 bytes/);
  assert.match(why({ box: [300, 8] }), /box/);
  assert.match(why({ swizzle: 32, box: [32, 8] }), /more than the swizzle/);
  assert.match(why({ type: 'u16', fill: 'nan' }), /NaN/);
  assert.match(why({ steps: [1, 9] }), /step/);
  assert.match(why({ dims: [64, 0] }), /extent/);
});

test.run();
