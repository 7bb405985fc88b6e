/**
 * How many lanes a strip has: all of a warp where it does things together, else as many as the 16 vector registers of common
 * processors hold the live values of.
 */

import type { Dim3 } from '../../../base/dim3.ts';
import { cfgOf, elementOf, type Kernel, lanesOf, livenessOf, operandsOf, terminatorOperands, type Value } from '../../../ir/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { hasWarpCollectives } from './barrier-divergence.ts';
import type { Cut, Shapes } from './lane-shapes.ts';
import { hasLongStretch } from './long-blocks.ts';

/**
 * Vectors that may be live at once, of all packs together: more than there are registers, for a spill is less than what starting a strip takes, and
 * packs that do not depend on each other keep a processor busy.
 */
const registers = 64;
/** Vectors of a pack that an exact fused operation works with beside its operands and result. */
const exactFmaVectors = 6;
/** The most lanes where lanes part on their ways, or are taken one by one: longer strips have more that do not run, and as much code. */
const mostApart = 16;
/** The same where lanes change words in memory one by one: a processor learns which store each load meets, and of fewer it learns more. */
const maxAtomicLanes = 4;
/** One in so many instructions is often. */
const oftenChanging = 8;

interface Wish {
  readonly block: Dim3;
  readonly local: number;
  /** Lanes of a strip that are asked for. */
  readonly fixed: number | undefined;
  readonly fma: FmaMode;
  /** Whether there are barriers that not all threads come to. */
  readonly mayPart: boolean;
}

/** The lanes of a strip and the shapes of values in one. */
export function chooseLanes(
  kernel: Kernel,
  wide: Uint8Array,
  { block, local, fixed, fma, mayPart }: Wish,
  shapesOf: (kernel: Kernel, wide: Uint8Array, cut: Cut, mayPart: boolean) => Shapes,
): { readonly lanes: number; readonly shapes: Shapes } {
  const shapesFor = (lanes: number): Shapes => shapesOf(kernel, wide, { block, lanes, local }, mayPart);
  if (hasWarpCollectives(kernel)) return { lanes: 32, shapes: shapesFor(32) };
  if (fixed !== undefined) return { lanes: fixed, shapes: shapesFor(fixed) };
  const most = rowLanes(block);
  const shapes = shapesFor(most);
  // Rolled code holds few vectors at once, however many there are.
  if (hasLongStretch(kernel, shapes)) return { lanes: most, shapes };
  const pressure = pressureOf(kernel, wide, shapes) + (fma === 'exact' && hasFma(kernel, shapes) ? exactFmaVectors : 0);
  const widest = Math.min(most, changesWords(kernel, shapes) ? maxAtomicLanes : goApart(kernel, shapes) ? mostApart : most);
  const fitting = [32, 16, 8, 4].find((lanes) => lanes <= widest && (lanes / 4) * pressure <= registers) ?? 4;
  const isLine = block[1] * block[2] === 1 || block[0] % most === 0;
  return { lanes: fitting, shapes: fitting === most || isLine ? shapes : shapesFor(fitting) };
}

const hasFma = (kernel: Kernel, { shape }: Shapes): boolean =>
  kernel.insts.some(({ op, type }, value) => op === 'fma' && type === 'f32' && shape[value] === 2);

/** Whether much of what lanes do is to change words of places of their own. */
function changesWords({ insts, blocks }: Kernel, { shape, cfg }: Shapes): boolean {
  const varying = cfg.order.flatMap((id) => blocks[id]!.body).filter((value) => shape[value] === 2);
  const changing = varying.filter((value) => insts[value]!.op === 'atomic');
  return changing.length * oftenChanging >= varying.length && changing.length > 0;
}

/** Whether lanes take ways of their own, but for those that leave the kernel, or places of their own in memory. */
function goApart(kernel: Kernel, { cfg, post, shape, apart }: Shapes): boolean {
  if (apart === 'lanes') return true;
  const isExit = (id: number): boolean =>
    id >= kernel.blocks.length || (kernel.blocks[id]!.body.length === 0 && kernel.blocks[id]!.end.op === 'ret');
  return cfg.order.some((id) => {
    const { body, end } = kernel.blocks[id]!;
    if (end.op === 'condbr' && shape[end.cond] === 2 && !isExit(post.parent[id]!) && !isEven(kernel, shape, end.cond)) return true;
    return body.some((value) => {
      const inst = kernel.insts[value]!;
      if (inst.op === 'load' || inst.op === 'store') return shape[inst.addr] === 2;
      return inst.op === 'atomic' || inst.op === 'cas';
    });
  });
}

/** Whether a condition compares numbers that grow evenly from lane to lane: most strips are all on one side of it. */
function isEven(kernel: Kernel, shape: Shapes['shape'], cond: Value): boolean {
  const inst = kernel.insts[cond]!;
  if (inst.op === 'icmp') return shape[inst.a]! < 2 && shape[inst.b]! < 2;
  return (inst.op === 'and' || inst.op === 'or') && isEven(kernel, shape, inst.a) && isEven(kernel, shape, inst.b);
}

/** The most lanes that are all of one row of the block, so that addresses in them run on; 32 where rows are too short for that. */
function rowLanes([nx, ny, nz]: Dim3): number {
  if (ny * nz === 1) return 32;
  return [32, 16, 8].find((lanes) => nx % lanes === 0) ?? 32;
}

/** The most vectors per pack that are live at one place. */
function pressureOf(kernel: Kernel, wide: Uint8Array, { cfg, shape, apart }: Shapes): number {
  const { liveOut } = livenessOf(kernel, apart ? cfgOf(kernel) : cfg);
  const weight = (value: Value): number => {
    const inst = kernel.insts[value]!;
    if (shape[value] !== 2 || isLeaf(inst)) return 0;
    return (wide[value] === 1 || elementOf(inst.type) === 'f64' ? 2 : 1) * lanesOf(inst.type);
  };
  let most = 0;
  for (const id of cfg.order) {
    const block = kernel.blocks[id]!;
    const live = new Set(liveOut[id]!);
    for (const value of terminatorOperands(block.end)) live.add(value);
    let now = 0;
    for (const value of live) now += weight(value);
    most = Math.max(most, now);
    for (const value of [...block.body].reverse()) {
      if (live.delete(value)) now -= weight(value);
      for (const operand of operandsOf(kernel.insts[value]!)) {
        if (live.has(operand)) continue;
        live.add(operand);
        now += weight(operand);
      }
      most = Math.max(most, now);
    }
  }
  return most;
}
