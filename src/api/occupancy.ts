/**
 * The occupancy of a core: an estimate from threads and threadgroup memory alone. Only the driver knows the register usage, so the
 * actual occupancy may be lower. One row per kind of device describes the core of the estimate.
 */
import { type Residency, residencies } from '../compile/index.ts';
import type { DeviceInfo } from '../device/device.ts';
import type { Kernel as Reflection } from '../runtime/index.ts';

/** The resources of a core (a streaming multiprocessor). */
export interface CoreModel extends Residency {
  /** The allocation granularity of shared memory. */
  readonly sharedStep: number;
  readonly source: string;
}

/** The assumed core of each kind of device, with the source of its numbers. */
export const coreModels: Readonly<Record<DeviceInfo['kind'], CoreModel>> = {
  cpu: {
    threads: 65536,
    blocks: 64,
    sharedBytes: 64 * 232448,
    sharedStep: 16,
    sharedOfBlock: 0,
    source: 'blocks that wait for each other take turns; 64 of them are as many as barriers of the grid stay fast for',
  },
  metal: {
    ...residencies.apple,
    sharedStep: 16,
    source:
      'measured on Apple7 and Apple8 by others (philipturner/metal-benchmarks): 96 simdgroups and some 60 KB a core; Apple says nothing',
  },
  cuda: {
    ...residencies.sm_90,
    sharedStep: 128,
    source: 'CUDA C++ Programming Guide 13.0, technical specifications by compute capability, 9.0',
  },
  webgpu: {
    threads: 2048,
    blocks: 32,
    sharedBytes: 65536,
    sharedStep: 16,
    sharedOfBlock: 0,
    source: 'WebGPU has no such query; a guess after the GPUs that browsers run on',
  },
  opencl: {
    threads: 4096,
    blocks: 1,
    sharedBytes: 1048576,
    sharedStep: 16,
    sharedOfBlock: 0,
    source: 'OpenCL has no such query; PoCL runs one work-group at a time on each core, of at most 4096 work-items',
  },
};

/** An estimate of the concurrent blocks of a core. */
export interface Occupancy {
  /** The number of concurrent blocks per core; 0 if the block cannot run. */
  readonly blocksPerCore: number;
  /** The fraction of the warp slots of a core that are in use, 0 to 1. */
  readonly fraction: number;
  /** The limiting resource. */
  readonly limitedBy: 'threads' | 'blocks' | 'shared memory' | 'the kernel';
  readonly model: CoreModel;
}

const warp = 32;

/** The estimate for a block size in threads and a size of dynamic shared memory in bytes. */
export function estimate({ kind, limits }: DeviceInfo, kernel: Reflection, threads: number, dynamicBytes: number): Occupancy {
  const model = coreModels[kind];
  const { sharedStep, sharedOfBlock } = model;
  const shared = kernel.staticSharedBytes + dynamicBytes;
  const most = Math.min(limits.maxThreadsPerThreadgroup, kernel.maxThreads ?? limits.maxThreadsPerThreadgroup);
  if (!(threads >= 1 && threads <= most && shared <= (kernel.maxSharedBytes ?? limits.maxThreadgroupBytes)))
    return { blocksPerCore: 0, fraction: 0, limitedBy: 'the kernel', model };
  const warps = Math.ceil(threads / warp);
  const ofBlock = Math.ceil(shared / sharedStep) * sharedStep + sharedOfBlock;
  const bounds = [
    ['threads', Math.floor(model.threads / (warps * warp))],
    ['shared memory', ofBlock === 0 ? Number.POSITIVE_INFINITY : Math.floor(model.sharedBytes / ofBlock)],
    ['blocks', model.blocks],
  ] as const;
  const [limitedBy, blocksPerCore] = bounds.reduce((least, bound) => (bound[1] < least[1] ? bound : least));
  return { blocksPerCore, fraction: (blocksPerCore * warps * warp) / model.threads, limitedBy, model };
}
