/** Tensor maps as arguments of kernels. */
import { encodeIm2col, encodeTiled, type Im2colTensor, type TiledTensor } from '../device/tensor-maps.ts';
import { errorWith } from './context.ts';

/** A tensor by its buffer, or by an address of the device. */
type Placed<T> = Omit<T, 'address'> & { readonly address: bigint | { readonly address: bigint } };
/** The tensor of a map for copies of boxes (`box`), or of columns of a convolution (`lower`, `upper`, `channels` and `pixels`). */
export type TensorMapOptions = Placed<TiledTensor> | Placed<Im2colTensor>;

/**
 * A tensor map of the CPU device: 128 bytes for a parameter that kernels have as a `CUtensorMap`. Extents and strides have the innermost axis
 * first; strides are in bytes, from axis 1 on. The map does not keep the buffer. Throws CM5079 for a tensor that no map describes.
 */
export function tensorMap(tensor: TensorMapOptions): Uint8Array {
  const address = typeof tensor.address === 'bigint' ? tensor.address : tensor.address.address;
  const made = 'box' in tensor ? encodeTiled({ ...tensor, address }) : encodeIm2col({ ...tensor, address });
  if ('why' in made) throw errorWith('CM5079', { why: made.why });
  return made.bytes;
}
