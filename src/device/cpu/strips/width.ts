/**
 * How many lanes a strip has: all of a warp where it does things together, else as many as the 16 vector registers of common
 * processors hold the live values of.
 */
import { elementOf, type Kernel, lanesOf, livenessOf, operandsOf, specOf, terminatorOperands, type Value } from '../../../ir/index.ts';
import type { Dim3 } from '../../device.ts';
import { isFree } from '../compile/plan.ts';
import type { Cut, Shapes } from './shapes.ts';

/** Vectors that may be live at once, of all packs together. */
const registers = 20;

interface Wish {
  readonly block: Dim3;
  readonly local: number;
  /** Lanes of a strip that are asked for. */
  readonly fixed: number | undefined;
}

/** The lanes of a strip and the shapes of values in one. */
export function chooseLanes(
  kernel: Kernel,
  wide: Uint8Array,
  { block, local, fixed }: Wish,
  shapesOf: (kernel: Kernel, wide: Uint8Array, cut: Cut) => Shapes,
): { readonly lanes: number; readonly shapes: Shapes } {
  const shapesFor = (lanes: number): Shapes => shapesOf(kernel, wide, { block, lanes, local });
  if (kernel.blocks.some(({ body }) => body.some((value) => specOf(kernel.insts[value]!.op).effect === 'warp')))
    return { lanes: 32, shapes: shapesFor(32) };
  if (fixed !== undefined) return { lanes: fixed, shapes: shapesFor(fixed) };
  const most = rowLanes(block);
  const shapes = shapesFor(most);
  const pressure = pressureOf(kernel, wide, shapes);
  const fitting = [32, 16, 8, 4].find((lanes) => lanes <= most && (lanes / 4) * pressure <= registers) ?? 4;
  const isLine = block[1] * block[2] === 1 || block[0] % most === 0;
  return { lanes: fitting, shapes: fitting === most || isLine ? shapes : shapesFor(fitting) };
}

/** The most lanes that are all of one row of the block, so that addresses in them run on; 32 where rows are too short for that. */
function rowLanes([nx, ny, nz]: Dim3): number {
  if (ny * nz === 1) return 32;
  return [32, 16, 8].find((lanes) => nx % lanes === 0) ?? 32;
}

/** The most vectors per pack that are live at one place. */
function pressureOf(kernel: Kernel, wide: Uint8Array, { cfg, shape }: Shapes): number {
  const { liveOut } = livenessOf(kernel, cfg);
  const weight = (value: Value): number => {
    const inst = kernel.insts[value]!;
    if (shape[value] !== 2 || isFree(inst)) return 0;
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
