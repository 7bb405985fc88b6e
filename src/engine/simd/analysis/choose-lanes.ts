/**
 * Chooses the lanes of a group: a whole warp where the kernel has warp collectives, else as many lanes as keep the live values in the
 * vector registers: the 16 of common processors for WebAssembly, wide ones for native code.
 */

import type { Dim3 } from '../../../base/dim3.ts';
import {
  cfgOf,
  dominatorsOf,
  elementOf,
  isAddressCheck,
  type Kernel,
  lanesOf,
  livenessOf,
  loopsOf,
  operandsOf,
  specOf,
  terminatorOperands,
  type Value,
  varying,
} from '../../../ir/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import { isLeaf } from '../../codegen/plan.ts';
import type { NativeTarget, Target } from '../../codegen/target.ts';
import { tuning } from '../../tuning.ts';
import { hasWarpCollectives } from './barrier-divergence.ts';
import type { Cut, Shapes } from './lane-shapes.ts';
import { hasLongStretch } from './long-blocks.ts';

interface LaneRequest {
  readonly block: Dim3;
  readonly local: number;
  /** The requested number of lanes, if there is one. */
  readonly fixed: number | undefined;
  readonly fma: FmaMode;
  readonly target: Target;
  /** Whether the kernel has barrier divergence. */
  readonly mayDiverge: boolean;
}

/** The lanes of a group and the shapes of values in it. */
export function chooseLanes(
  kernel: Kernel,
  wide: Uint8Array,
  { block, local, fixed, fma, target, mayDiverge }: LaneRequest,
  shapesOf: (kernel: Kernel, wide: Uint8Array, cut: Cut, mayDiverge: boolean) => Shapes,
): { readonly lanes: number; readonly shapes: Shapes } {
  const shapesFor = (lanes: number): Shapes => shapesOf(kernel, wide, { block, lanes, local }, mayDiverge);
  if (hasWarpCollectives(kernel)) return { lanes: 32, shapes: shapesFor(32) };
  if (fixed !== undefined) return { lanes: fixed, shapes: shapesFor(fixed) };
  const maxLanes = lanesOfRow(block);
  const shapes = shapesFor(maxLanes);
  const isOneRow = block[1] * block[2] === 1 || block[0] % maxLanes === 0;
  const chosen = (lanes: number) => ({ lanes, shapes: lanes === maxLanes || isOneRow ? shapes : shapesFor(lanes) });
  if (target) {
    const lanes = lanesInRegisters(pressureOf(kernel, wide, shapes), target);
    return lanes > maxLanes && hasOnlyComputingLoops(kernel, shapes)
      ? { lanes, shapes: shapesFor(lanes) }
      : chosen(Math.min(maxLanes, lanes));
  }
  // Re-rolled code holds few vectors at once, whatever the number of lanes.
  if (hasLongStretch(kernel, shapes)) return { lanes: maxLanes, shapes };
  const pressure = pressureOf(kernel, wide, shapes) + (fma === 'exact' && hasFma(kernel, shapes) ? tuning.exactFmaVectors : 0);
  const widest = Math.min(
    maxLanes,
    hasManyUpdates(kernel, shapes) ? tuning.maxAtomicLanes : lanesDiverge(kernel, shapes) ? tuning.maxDivergentLanes : maxLanes,
  );
  const fitting = [32, 16, 8, 4].find((lanes) => lanes <= widest && (lanes / 4) * pressure <= tuning.maxLiveVectors) ?? 4;
  return chosen(fitting);
}

/** Registers that steps between values take. */
const temporaryRegisters = 4;

/** Two wide registers for each value where that fits, so that independent instructions hide latencies; else one, which is full of lanes. */
function lanesInRegisters(pressure: number, { vectorBytes, vectorRegisters }: NativeTarget): number {
  const lanes = vectorBytes / 4;
  return 2 * pressure <= vectorRegisters - temporaryRegisters ? 2 * lanes : lanes;
}

/** Whether a kernel has loops, and accesses no memory in them: then it matters little that the lanes of a group are in several rows. */
function hasOnlyComputingLoops(kernel: Kernel, { cfg }: Shapes): boolean {
  const { loops } = loopsOf(cfg, dominatorsOf(cfg));
  const isComputing = (id: number): boolean => kernel.blocks[id]!.body.every((value) => specOf(kernel.insts[value]!.op).effect === 'pure');
  return loops.length > 0 && loops.every(({ blocks }) => blocks.every(isComputing));
}

const hasFma = (kernel: Kernel, { shape }: Shapes): boolean =>
  kernel.insts.some(({ op, type }, value) => op === 'fma' && type === 'f32' && shape[value] === varying);

/** Whether many instructions are atomic updates at addresses that differ from lane to lane. */
function hasManyUpdates({ insts, blocks }: Kernel, { shape, cfg }: Shapes): boolean {
  const candidates = cfg.order
    .flatMap((id) => blocks[id]!.body)
    .filter((value) => shape[value] === varying && !isAddressCheck(insts[value]!));
  const updates = candidates.filter((value) => insts[value]!.op === 'atomic');
  return updates.length * tuning.instructionsPerUpdate >= candidates.length && updates.length > 0;
}

/** Whether lanes diverge (exits of the kernel aside) or access memory at addresses without a stride. */
function lanesDiverge(kernel: Kernel, { cfg, post, shape, barrierDivergence }: Shapes): boolean {
  if (barrierDivergence === 'lanes') return true;
  const isExit = (id: number): boolean =>
    id >= kernel.blocks.length || (kernel.blocks[id]!.body.length === 0 && kernel.blocks[id]!.end.op === 'ret');
  return cfg.order.some((id) => {
    const { body, end } = kernel.blocks[id]!;
    if (end.op === 'condbr' && shape[end.cond] === varying && !isExit(post.parent[id]!) && !isAffineComparison(kernel, shape, end.cond))
      return true;
    return body.some((value) => {
      const inst = kernel.insts[value]!;
      if (inst.op === 'load' || inst.op === 'store') return shape[inst.addr] === varying;
      return inst.op === 'atomic' || inst.op === 'cas';
    });
  });
}

/** Whether a condition compares affine values. Most lane groups are then on one side of it. */
function isAffineComparison(kernel: Kernel, shape: Shapes['shape'], cond: Value): boolean {
  const inst = kernel.insts[cond]!;
  if (inst.op === 'icmp') return shape[inst.a] !== varying && shape[inst.b] !== varying;
  return (inst.op === 'and' || inst.op === 'or') && isAffineComparison(kernel, shape, inst.a) && isAffineComparison(kernel, shape, inst.b);
}

/** The most lanes that lie in one row of the block, so that addresses stay affine; 32 where rows are too short for that. */
function lanesOfRow([nx, ny, nz]: Dim3): number {
  if (ny * nz === 1) return 32;
  return [32, 16, 8].find((lanes) => nx % lanes === 0) ?? 32;
}

/** Register pressure: the most vectors per pack that are live at one place. */
function pressureOf(kernel: Kernel, wide: Uint8Array, { cfg, shape, barrierDivergence }: Shapes): number {
  const { liveOut } = livenessOf(kernel, barrierDivergence ? cfgOf(kernel) : cfg);
  const weight = (value: Value): number => {
    const inst = kernel.insts[value]!;
    if (shape[value] !== varying || isLeaf(inst)) return 0;
    return (wide[value] === 1 || elementOf(inst.type) === 'f64' ? 2 : 1) * lanesOf(inst.type);
  };
  let max = 0;
  for (const id of cfg.order) {
    const block = kernel.blocks[id]!;
    const live = new Set(liveOut[id]!);
    for (const value of terminatorOperands(block.end)) live.add(value);
    let now = 0;
    for (const value of live) now += weight(value);
    max = Math.max(max, now);
    for (const value of [...block.body].reverse()) {
      if (live.delete(value)) now -= weight(value);
      for (const operand of operandsOf(kernel.insts[value]!)) {
        if (live.has(operand)) continue;
        live.add(operand);
        now += weight(operand);
      }
      max = Math.max(max, now);
    }
  }
  return max;
}
