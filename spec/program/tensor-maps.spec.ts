/** Tensor maps that host programs make by the driver API, and those of the TypeScript API. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CumetalError, Device, tensorMap } from '../../src/api/index.ts';
import { encodeIm2col, encodeTiled } from '../../src/device/tensor-maps.ts';
import { ptx } from '../support/async.ts';
import { at, cuda } from '../support/program-runtime.ts';

const test = suite('program/tensor-maps');

const one = cuda();
assert.is(one.call.cuInit!(0), 0);
const map = at(4096);
/** Puts lists of numbers of 64 or 32 bits into memory of the program. */
const longs = (index: number, list: readonly bigint[]): bigint => {
  for (const [i, n] of list.entries()) one.memory.putU64(at(index + 8 * i), n);
  return at(index);
};
const words = (index: number, list: readonly number[]): bigint => {
  for (const [i, n] of list.entries()) one.memory.putU32(at(index + 4 * i), n >>> 0);
  return at(index);
};
const found = (): number[] => [...one.memory.slice(map, 128)!];
const bytesOf = (made: ReturnType<typeof encodeTiled>): number[] =>
  ('bytes' in made ? [...made.bytes] : assert.unreachable(made.why)) as number[];

interface Arguments {
  readonly to?: bigint;
  readonly type?: number;
  readonly rank?: number;
  readonly address?: bigint;
  readonly interleave?: number;
  readonly swizzle?: number;
  readonly fill?: number;
}
const tiled = ({ to = map, type = 6, rank = 2, address = 0x1_0000n, interleave = 0, swizzle = 3, fill = 1 }: Arguments = {}): number =>
  one.call.cuTensorMapEncodeTiled!(
    to,
    type,
    rank,
    address,
    longs(5000, [100n, 30n, 4n]),
    longs(5100, [256n, 8192n]),
    words(5200, [64, 16, 2]),
    words(5300, [1, 2, 1]),
    interleave,
    swizzle,
    2,
    fill,
  );

test('cuTensorMapEncodeTiled', () => {
  assert.is(tiled(), 0);
  const tensor = {
    type: 'f16',
    address: 0x1_0000n,
    dims: [100, 30],
    strides: [256],
    box: [64, 16],
    steps: [1, 2],
    swizzle: 128,
    fill: 'nan',
  } as const;
  assert.equal(found(), bytesOf(encodeTiled(tensor)));
  assert.is(tiled({ type: 0, rank: 3, swizzle: 6, fill: 0 }), 0);
  const flat = {
    ...tensor,
    type: 'u8',
    dims: [100, 30, 4],
    strides: [256, 8192],
    box: [64, 16, 2],
    steps: [1, 2, 1],
    atom: 64,
    fill: 'zero',
  } as const;
  assert.equal(found(), bytesOf(encodeTiled(flat)));
  const before = found();
  // Source: CUDA Driver API, `CUresult`: 1 is CUDA_ERROR_INVALID_VALUE, 801 CUDA_ERROR_NOT_SUPPORTED.
  assert.is(tiled({ to: map + 8n }), 1);
  assert.is(tiled({ address: 8n }), 1);
  assert.is(tiled({ rank: 6 }), 1);
  assert.is(tiled({ swizzle: 1 }), 1);
  assert.is(tiled({ type: 13 }), 801);
  assert.is(tiled({ interleave: 1, rank: 3 }), 801);
  assert.equal(found(), before);
});

test('cuTensorMapEncodeIm2col, and another address', () => {
  const [dims, strides] = [longs(5000, [64n, 9n, 14n, 8n]), longs(5100, [128n, 1152n, 16128n])];
  const [lower, upper, steps] = [words(5200, [-1, -2]), words(5220, [0, -1]), words(5300, [1, 1, 2, 1])];
  assert.is(one.call.cuTensorMapEncodeIm2col!(map, 9, 4, 0x2000n, dims, strides, lower, upper, 32, 64, steps, 0, 2, 0, 0), 0);
  const images = { type: 'bf16', dims: [64, 9, 14, 8], strides: [128, 1152, 16128], steps: [1, 1, 2, 1], swizzle: 64 } as const;
  const column = { ...images, lower: [-1, -2], upper: [0, -1], channels: 32, pixels: 64 } as const;
  assert.equal(found(), bytesOf(encodeIm2col({ ...column, address: 0x2000n })));
  assert.is(one.call.cuTensorMapReplaceAddress!(map, 0x4560n), 0);
  assert.equal(found(), bytesOf(encodeIm2col({ ...column, address: 0x4560n })));
  assert.is(one.call.cuTensorMapReplaceAddress!(at(9000), 0x4560n), 1);
});

test('a map as an argument of a kernel', async () => {
  const body = `mov.b64 map, p1;
cvta.param.u64 map, map;
mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 state, [bar], 64;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [data], [map, {4, 1}], [bar];
WAIT: mbarrier.try_wait.shared.b64 p, [bar], state;
@!p bra WAIT;
cp.async.bulk.global.shared::cta.bulk_group [out], [data], 64;`;
  using device = Device.open('cpu');
  const kernel = device.load(ptx(body, { params: ', .param .align 64 .b8 p1[128]' }), { compile: { target: 'cpu' } }).kernel('k');
  const matrix = device.bufferOf(
    'i32',
    Int32Array.from({ length: 40 }, (_, i) => i),
  );
  const out = device.bufferOf('i32', new Int32Array(16));
  const made = tensorMap({ type: 's32', address: matrix, dims: [8, 5], strides: [32], box: [8, 2] });
  kernel.launch({ grid: 1, block: 1, args: [out, made] });
  assert.equal([...(await out.read())], [12, 13, 14, 15, 0, 0, 0, 0, 20, 21, 22, 23, 0, 0, 0, 0]);
  const wrong = (): Uint8Array => tensorMap({ type: 's32', address: matrix, dims: [8, 5], strides: [30], box: [8, 2] });
  assert.throws(wrong, (error: unknown) => error instanceof CumetalError && error.code === 'CM5079' && error.message.includes('stride'));
});

test.run();
