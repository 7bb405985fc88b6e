/** Tensor maps by the driver API. Source: CUDA Driver API, "Tensor Map Object Management". */
import {
  type Encoded,
  encodeIm2col,
  encodeTiled,
  encodeWide,
  type Tensor,
  type TensorType,
  tensorMap,
  tensorMapAlign,
  tensorMapMagic,
  tensorTypes,
} from '../../device/tensor-maps.ts';
import { initialized } from './driver-row.ts';
import { must, type Row } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** Types by the numbers of `CUtensorMapDataType`. */
const types: readonly TensorType[] = tensorTypes.map(({ name }) => name);
/** Swizzles by the numbers of `CUtensorMapSwizzle`, with the bytes that stay together; the one that exchanges 8 bytes is not there. */
const swizzles: readonly (readonly [0 | 32 | 64 | 128, 16 | 32 | 64] | undefined)[] = [
  [0, 16],
  [32, 16],
  [64, 16],
  [128, 16],
  [128, 32],
  undefined,
  [128, 64],
];

const list = (state: CudaState, at: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => state.memory.u32(at + BigInt(4 * i)) ?? fail('cudaErrorInvalidValue'));
const longs = (state: CudaState, at: bigint, count: number): bigint[] =>
  Array.from({ length: count }, (_, i) => state.memory.u64(at + BigInt(8 * i)) ?? fail('cudaErrorInvalidValue'));

/** Arguments that both functions have. */
interface Given {
  readonly type: number;
  readonly rank: number;
  readonly address: bigint;
  readonly dims: bigint;
  readonly strides: bigint;
  readonly steps: bigint;
  readonly interleave: number;
  readonly swizzle: number;
  readonly fill: number;
}

function tensorOf(state: CudaState, { type, rank, address, dims, strides, steps, interleave, swizzle, fill }: Given): Tensor {
  if (type > 15 || rank < 1 || rank > 5 || interleave > 2 || swizzle > 6 || fill > 1) fail('cudaErrorInvalidValue');
  const [element, layout] = [types[type], swizzles[swizzle]];
  if (!element || !layout || interleave !== 0) fail('cudaErrorNotSupported');
  return {
    type: element!,
    address,
    dims: longs(state, dims, rank),
    strides: rank > 1 ? longs(state, strides, rank - 1) : [],
    steps: list(state, steps, rank),
    swizzle: layout![0],
    atom: layout![1],
    fill: fill === 1 ? 'nan' : 'zero',
  };
}

function put(state: CudaState, to: bigint, map: Encoded): void {
  if ('why' in map || to % BigInt(tensorMapAlign) !== 0n) fail('cudaErrorInvalidValue');
  must(state.memory.put(to, map.bytes));
}

function replaceAddress(state: CudaState, map: bigint, address: bigint): void {
  if (state.memory.u32(map) !== tensorMapMagic || address % 16n !== 0n) fail('cudaErrorInvalidValue');
  must(state.memory.putU64(map + BigInt(tensorMap.address), address));
}

export const tensorMaps: Readonly<Record<string, Row>> = {
  cuTensorMapEncodeTiled: initialized(
    ['pointer', 'uint', 'uint', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'uint', 'uint', 'uint', 'uint'],
    (state, to, type, rank, address, dims, strides, box, steps, interleave, swizzle, _promotion, fill) => {
      const tensor = tensorOf(state, { type, rank, address, dims, strides, steps, interleave, swizzle, fill });
      put(state, to, encodeTiled({ ...tensor, box: list(state, box, rank) }));
    },
  ),
  cuTensorMapEncodeIm2col: initialized(
    [
      'pointer',
      'uint',
      'uint',
      'pointer',
      'pointer',
      'pointer',
      'pointer',
      'pointer',
      'uint',
      'uint',
      'pointer',
      'uint',
      'uint',
      'uint',
      'uint',
    ],
    (state, to, type, rank, address, dims, strides, lower, upper, channels, pixels, steps, interleave, swizzle, _promotion, fill) => {
      const tensor = tensorOf(state, { type, rank, address, dims, strides, steps, interleave, swizzle, fill });
      const corners = (at: bigint): number[] => list(state, at, Math.max(0, rank - 2)).map((n) => n | 0);
      put(state, to, encodeIm2col({ ...tensor, lower: corners(lower), upper: corners(upper), channels, pixels }));
    },
  ),
  cuTensorMapEncodeIm2colWide: initialized(
    [
      'pointer',
      'uint',
      'uint',
      'pointer',
      'pointer',
      'pointer',
      'int',
      'int',
      'uint',
      'uint',
      'pointer',
      'uint',
      'uint',
      'uint',
      'uint',
      'uint',
    ],
    (state, to, type, rank, address, dims, strides, lower, upper, channels, pixels, steps, interleave, mode, swizzle, _promotion, fill) => {
      const tensor = tensorOf(state, { type, rank, address, dims, strides, steps, interleave, swizzle, fill });
      put(
        state,
        to,
        mode > 1 ? { why: 'a mode' } : encodeWide({ ...tensor, mode: mode === 0 ? 'w' : 'w128', lower, upper, channels, pixels }),
      );
    },
  ),
  cuTensorMapReplaceAddress: initialized(['pointer', 'pointer'], replaceAddress),
};
