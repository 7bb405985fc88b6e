/**
 * Services of devices, which a kernel reaches by the memory that a hidden parameter points to. GPUs have the heap, stacks and launches by kernels.
 *
 * `grid`: the workspace of a launch for barriers of its grid. The driver of NVIDIA gives its address in `%envreg1` and `%envreg2`, in launches
 * that are not cooperative as well; the word at byte 4 counts the blocks that have arrived at a barrier of the grid. All of it is 0 when a kernel starts.
 *
 * `cluster`: what a kernel in clusters of blocks knows of them (`clusterHead`), and a word for the barrier of each cluster whose blocks have begun.
 *
 * `group`: what a kernel whose clusters are single blocks of the device knows of its launch (`groupHead`), in memory that no thread writes.
 *
 * `alone`: nothing; a launch of a kernel with it runs on one thread of the host, so that accesses of 128 bits are atomic.
 *
 * `heap`: the heap of `malloc`, which all launches on a device share, with its size at byte 8 (`cuda/device/heap.cu`). Its address is in
 * `%envreg30` and `%envreg31`, which are of the driver's own.
 *
 * `launches`: what kernels launch, at the address in `%envreg28` and `%envreg29`, which are of the driver's own as well. It has a header, a table of
 * the kernels of the library, and a record for each launch (`src/device/children.ts`, `src/compile/device-runtime.ts`).
 *
 * `stack`: how many bytes the stack of a thread has, in the word at byte 0. The stack itself is the end of the kernel's local memory, which has
 * `stackBytes` for it in a metallib; the device gives it the size that a launch asks for.
 */

/** The names of their parameters. */
export const serviceNames = {
  grid: 'cumetal.grid',
  cluster: 'cumetal.cluster',
  group: 'cumetal.group',
  heap: 'cumetal.heap',
  stack: 'cumetal.stack',
  launches: 'cumetal.launches',
  alone: 'cumetal.alone',
} as const;
export type Service = keyof typeof serviceNames;

/** Bytes of the workspace of a grid. */
export const gridWorkspaceBytes = 64;

/**
 * Offsets of the words of what a launch has for clusters. The memory of the blocks of a cluster lies in areas of the same size, one behind the
 * other in the order of their ranks, so that an address in one of them becomes that in another one by a multiple of the size.
 */
export const clusterHead = {
  /** Blocks of a cluster along x, y and z. */
  blocks: [0, 4, 8],
  /** 1 if the launch or the kernel says so. */
  isExplicit: 12,
  /** Bytes of the area of a block. */
  areaBytes: 16,
  /** Where the 32-bit words are that count the threads of each area which have ended, in bytes from the start. */
  ended: 20,
  /** Clusters whose blocks have areas at the same time. */
  places: 24,
  /** 64-bit words of barriers, by the place of a cluster. */
  barriers: 32,
} as const;

/** Offsets of the words of `group`; the first five are those of `clusterHead`. */
export const groupHead = {
  blocks: clusterHead.blocks,
  isExplicit: clusterHead.isExplicit,
  areaBytes: clusterHead.areaBytes,
  /** Threads of a block of the source along x, y and z. */
  threads: [20, 24, 28],
  bytes: 32,
} as const;

/** Bytes of the memory of clusters in a launch with so many places and areas. */
export const clusterBytes = (places: number, areas: number): number => endedAt(places) + 4 * areas;

/** Where ended threads are counted with so many places. */
export const endedAt = (places: number): number => clusterHead.barriers + 8 * places;

/** Bytes of the heap, unless the program asks for others. Source: CUDA C++ Programming Guide, "Heap Memory Allocation". */
export const defaultHeapBytes = 8 * 1024 * 1024;
/** The byte of a heap that holds its size. */
export const heapSizeAt = 8;

/** Bytes of a stack in a metallib. A device changes them. */
export const stackBytes = 1024;
/** Frames start at multiples of this. */
export const stackAlign = 16;
/** Bytes of the stack of a thread, unless a launch asks for others. */
export const defaultStackBytes = 8192;

export const serviceNamed = (name: string): Service | undefined =>
  (Object.keys(serviceNames) as Service[]).find((service) => serviceNames[service] === name);
