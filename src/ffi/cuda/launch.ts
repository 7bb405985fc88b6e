/** Launches, with the attributes that a plain one has not. Source: NVIDIA, CUDA Driver API, `CUlaunchConfig` and `CUlaunchAttribute`. */
import { cudaResults } from './api.ts';
import type { CudaLaunch, Driver } from './driver.ts';

/** Bytes of the structures, and where their fields are. */
const config = { bytes: 56, shared: 24, stream: 32, attributes: 40, count: 48 } as const;
const attribute = { bytes: 72, value: 8 } as const;
/** `CUlaunchAttributeID`. */
const ids = { cooperative: 2, cluster: 4 } as const;

/** The launch of a kernel. */
export function launchFunction({ api, ffi, succeeds }: Driver): (launch: CudaLaunch) => boolean {
  return (launch) => {
    const { kernel, grid, block, shared, stream, args, cooperative = false, cluster } = launch;
    if (!cluster && !cooperative)
      return succeeds('cuLaunchKernel', api.cuLaunchKernel(kernel, ...grid, ...block, shared, stream, args.pointers, null));
    if (!cluster) {
      const result = api.cuLaunchCooperativeKernel(kernel, ...grid, ...block, shared, stream, args.pointers);
      return succeeds('cuLaunchCooperativeKernel', result);
    }
    if (!api.cuLaunchKernelEx) return succeeds('cuLaunchKernelEx', cudaResults.notSupported);
    const attributes = attributeBytes(cooperative, cluster);
    const bytes = configBytes(launch, BigInt(ffi.ptr(attributes)), attributes.length / attribute.bytes);
    return succeeds('cuLaunchKernelEx', api.cuLaunchKernelEx(bytes, kernel, args.pointers, null));
  };
}

function attributeBytes(cooperative: boolean, cluster: NonNullable<CudaLaunch['cluster']>): Uint8Array {
  const view = new DataView(new ArrayBuffer(attribute.bytes * (cooperative ? 2 : 1)));
  view.setUint32(0, ids.cluster, true);
  for (const [i, n] of cluster.entries()) view.setUint32(attribute.value + 4 * i, n, true);
  if (cooperative) {
    view.setUint32(attribute.bytes, ids.cooperative, true);
    view.setInt32(attribute.bytes + attribute.value, 1, true);
  }
  return new Uint8Array(view.buffer);
}

function configBytes({ grid, block, shared, stream }: CudaLaunch, attributes: bigint, count: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(config.bytes));
  for (const [i, n] of [...grid, ...block].entries()) view.setUint32(4 * i, n, true);
  view.setUint32(config.shared, shared, true);
  view.setBigUint64(config.stream, BigInt(stream), true);
  view.setBigUint64(config.attributes, attributes, true);
  view.setUint32(config.count, count, true);
  return new Uint8Array(view.buffer);
}
