/** How much work a piece of a kernel is, for looking at the clock neither too often nor too late. */
import { type Inst, type Kernel, type Op, operandsOf, type Type } from '../../ir/index.ts';
import type { Region } from './regions.ts';

/** Work between two looks at the clock: some milliseconds. */
export const fuelPerTick = 1 << 22;

/** Nanoseconds, roughly. */
const [ordinary, callsHost, exactInHost] = [2, 50, 500];

/** The work of all blocks of a region, each run once; at most what lies between two looks. */
export function costOf(kernel: Kernel, region: Region): number {
  let cost = 1;
  for (const id of region.cfg.order) for (const value of kernel.blocks[id]!.body) cost += workOf(kernel, kernel.insts[value]!);
  return Math.min(cost, fuelPerTick);
}

const hosted = new Set<Op>(['fexp2', 'flog2', 'fsin', 'fcos', 'ftanh', 'frsqrt', 'clock']);

function workOf(kernel: Kernel, inst: Inst): number {
  if (hosted.has(inst.op)) return callsHost;
  if (inst.op === 'fma') return inst.type === 'f32' ? callsHost : exactInHost;
  const isShort = (type: Type): boolean => type === 'f16' || type === 'bf16';
  if (!isShort(inst.type) && !operandsOf(inst).some((operand) => isShort(kernel.insts[operand]!.type))) return ordinary;
  return inst.op === 'load' || inst.op === 'store' ? ordinary : inst.op.endsWith('itofp') ? exactInHost : callsHost;
}
