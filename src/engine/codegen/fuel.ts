/**
 * Fuel: an estimate of the work of a region. A kernel takes fuel at the start of each thread and at each loop header, and calls the host's
 * `tick` when the fuel is used up, so that a launch can check its time limit neither too often nor too late.
 */
import { type Inst, type Kernel, type Op, operandsOf, type Type } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';
import { tuning } from '../tuning.ts';
import type { Region } from './regions.ts';

/** Fuel between two calls of `tick`, and the fuel that instructions take. */
export const { fuelPerTick } = tuning;
const { plainCost, hostCallCost, hostExactCost } = tuning;

/** The fuel that all blocks of a region take, each run once; at most that between two ticks. */
export function costOf(kernel: Kernel, region: Region): number {
  let cost = 1;
  for (const id of region.cfg.order) for (const value of kernel.blocks[id]!.body) cost += workOf(kernel, kernel.insts[value]!);
  return Math.min(cost, fuelPerTick);
}

const hostOps = new Set<Op>(['fexp2', 'flog2', 'fsin', 'fcos', 'ftanh', 'frsqrt', 'clock']);

function workOf(kernel: Kernel, inst: Inst): number {
  if (hostOps.has(inst.op)) return hostCallCost;
  if (inst.op === 'fma') return inst.type === 'f32' ? hostCallCost : hostExactCost;
  const isShort = (type: Type): boolean => type === 'f16' || type === 'bf16';
  if (!isShort(inst.type) && !operandsOf(inst).some((operand) => isShort(kernel.insts[operand]!.type))) return plainCost;
  return inst.op === 'load' || inst.op === 'store' ? plainCost : inst.op.endsWith('itofp') ? hostExactCost : hostCallCost;
}

/** What is written around the call of `tick`. */
export interface AroundTick {
  before(): void;
  after(): void;
}

/** Takes a cost from the fuel in a local; calls the function `tick` when the fuel is used up, and fills it again. `isHinted`: with a branch hint. */
export function writeFuelCheck(code: Code, fuel: number, tick: number, cost: number, isHinted: boolean, around?: AroundTick): void {
  code.at('local.get', fuel);
  code.i32(cost);
  code.op('i32.sub');
  code.at('local.tee', fuel);
  code.i32(0);
  code.op('i32.le_s');
  if (isHinted) code.openRare();
  else code.open('if');
  around?.before();
  code.at('call', tick);
  around?.after();
  code.i32(fuelPerTick);
  code.at('local.set', fuel);
  code.end();
}
