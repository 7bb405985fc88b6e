/**
 * How many blocks of a kernel a core runs at once: an estimate from threads and threadgroup memory alone. What registers leave room
 * for only the driver knows, so a kernel may run fewer. One row for each kind of device says what the estimate takes a core to have.
 */
import type { DeviceInfo } from '../device/device.ts';
import type { Kernel as Reflection } from '../runtime/index.ts';

/** What a core (a streaming multiprocessor) has. */
export interface CoreModel {
  readonly threads: number;
  readonly blocks: number;
  readonly sharedBytes: number;
  /** Shared memory is given out in multiples of this, and each block takes some for itself. */
  readonly sharedStep: number;
  readonly sharedOfBlock: number;
  readonly source: string;
}

export const coreModels: Readonly<Record<DeviceInfo['kind'], CoreModel>> = {
  cpu: {
    threads: 1024,
    blocks: 1,
    sharedBytes: 232448,
    sharedStep: 16,
    sharedOfBlock: 0,
    source: 'a core runs the threads of one block, then those of the next',
  },
  metal: {
    threads: 3072,
    blocks: 96,
    sharedBytes: 61440,
    sharedStep: 16,
    sharedOfBlock: 0,
    source:
      'measured on Apple7 and Apple8 by others (philipturner/metal-benchmarks): 96 simdgroups and some 60 KB a core; Apple says nothing',
  },
  cuda: {
    threads: 2048,
    blocks: 32,
    sharedBytes: 233472,
    sharedStep: 128,
    sharedOfBlock: 1024,
    source: 'CUDA C++ Programming Guide 13.0, technical specifications by compute capability, 9.0',
  },
};

export interface Occupancy {
  /** Blocks that a core runs at once; 0 where it runs none. */
  readonly blocksPerCore: number;
  /** Warps of these, of those that a core has room for: 0 to 1. */
  readonly fraction: number;
  /** What keeps it from being more. */
  readonly limitedBy: 'threads' | 'blocks' | 'shared memory' | 'the kernel';
  readonly model: CoreModel;
}

const warp = 32;

/** The estimate for blocks of so many threads with so much dynamic shared memory. */
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
