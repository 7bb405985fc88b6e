/** Special registers of the IR: where a thread is. */

export const sregs = [
  'tid.x',
  'tid.y',
  'tid.z',
  'ntid.x',
  'ntid.y',
  'ntid.z',
  'ctaid.x',
  'ctaid.y',
  'ctaid.z',
  'nctaid.x',
  'nctaid.y',
  'nctaid.z',
  'laneid',
  'warpid',
  'nwarpid',
  'tid.linear',
  'gid.x',
  'gid.y',
  'gid.z',
] as const;

/** Threads of a block at most, on every target. Source: CUDA C++ Programming Guide, technical specifications per compute capability. */
export const maxBlockThreads = 1024;

export type Sreg = (typeof sregs)[number];
