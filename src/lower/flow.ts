/** Blocks of the IR while registers are being turned into values. */
import { addBlock, type Kernel } from '../ir/index.ts';
import type { Flow } from './ssa/ssa.ts';

/** An empty block to which as many edges will lead. */
export const newFlow = (kernel: Kernel, edgeCount: number, label?: string): Flow => ({
  block: addBlock(kernel, label),
  edgeCount,
  edges: [],
  defs: new Map(),
});
