/** The shapes of values in a lane group, for blocks of a known size: uniform, affine or varying. */

import type { Dim3 } from '../../../base/dim3.ts';
import {
  type Affinity,
  affine,
  affinityOf,
  bitsOf,
  type Cfg,
  cfgOf,
  type DominatorTree,
  definingBlocks,
  type Inst,
  type Kernel,
  operandsOf,
  postDominatorsOf,
  type Shape,
  type Sreg,
  spaceOf,
  terminatorOperands,
  type Uniformity,
  uniform,
  uniformityOf,
  type Value,
  type Variance,
  varying,
} from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { type BarrierDivergence, classifyBarrierDivergence, cutAtBarriers, liveAcrossBarriers } from './barrier-divergence.ts';

/** A lane group and the block that it belongs to. */
export interface Cut {
  readonly block: Dim3;
  /** Lanes of a group: 4 to 32. */
  readonly lanes: number;
  /** Bytes of local memory of a thread. */
  readonly local: number;
}

export interface Shapes extends Affinity {
  /**
   * The graph on which lanes diverge and reconverge: that of the whole kernel, or the one without edges across barriers where barriers
   * diverge.
   */
  readonly cfg: Cfg;
  readonly post: DominatorTree;
  /** The barrier divergence of the kernel, if it has any. */
  readonly barrierDivergence: BarrierDivergence | undefined;
}

/** The shape of a special register in a lane group; an affine one has stride 1. */
export function sregShape(name: Sreg, { block: [nx, ny, nz], lanes }: Cut): Shape {
  const rows = ny * nz === 1 || nx % lanes === 0;
  switch (name) {
    case 'tid.linear':
    case 'laneid':
      return affine;
    case 'tid.x':
    case 'gid.x':
      return nx === 1 ? uniform : rows ? affine : varying;
    case 'tid.y':
    case 'gid.y':
      return ny === 1 || rows ? uniform : varying;
    case 'tid.z':
    case 'gid.z':
      return nz === 1 || (nx * ny) % lanes === 0 ? uniform : varying;
    default:
      return uniform;
  }
}

/** The shapes of all values. `wide` marks values that are held in 64 bits; `mayDiverge` says whether the kernel has barrier divergence. */
export function shapesOf(kernel: Kernel, wide: Uint8Array, cut: Cut, mayDiverge: boolean): Shapes {
  const cfg = cfgOf(kernel);
  const { uniformity, ...whole } = shapesOn(kernel, wide, cut, cfg, new Set());
  if (!mayDiverge) return { ...whole, barrierDivergence: undefined };
  const parts = cutAtBarriers(kernel, cfg);
  const barrierDivergence = classifyBarrierDivergence(kernel, cfg, uniformity);
  if (barrierDivergence === 'groups') return { ...whole, cfg: parts, post: postDominatorsOf(parts), barrierDivergence };
  // Each lane reaches a barrier in an iteration of its own, so a value that is live across it varies, as at the start of a kernel.
  const { uniformity: _, ...own } = shapesOn(kernel, wide, cut, parts, liveAcrossBarriers(kernel, cfg));
  return { ...own, barrierDivergence };
}

/** The shapes on one graph, with a set of values that are forced to vary. */
function shapesOn(
  kernel: Kernel,
  wide: Uint8Array,
  cut: Cut,
  cfg: Cfg,
  forced: Set<Value>,
): Omit<Shapes, 'barrierDivergence'> & { readonly uniformity: Uniformity } {
  const post = postDominatorsOf(cfg);
  for (;;) {
    const source = (inst: Inst, value: Value): Variance => (forced.has(value) ? 2 : sourceOf(kernel, inst, cut));
    const levels = (inst: Inst, value: Value): boolean => !forced.has(value) && dropsLaneBits(kernel, inst, cut);
    const uniformity = uniformityOf(kernel, cfg, post, source, levels);
    if (forceEscaping(kernel, cfg, uniformity, forced)) continue;
    const affinity = affinityOf(kernel, cfg, uniformity, {
      stride: (inst) => strideOf(inst, cut),
      window: (space) => (space === 'local' ? cut.local : 0),
      isWord: (value) => !forced.has(value) && wrapsAt32Bits(kernel, wide, value),
    });
    return { cfg, post, uniformity, ...affinity };
  }
}

/** Forces values to vary that lanes carry out of a loop which they leave in different iterations. Returns whether the set has grown. */
function forceEscaping(kernel: Kernel, cfg: Cfg, uniformity: Uniformity, forced: Set<Value>): boolean {
  const before = forced.size;
  const home = definingBlocks(kernel);
  for (const id of cfg.order) {
    const block = kernel.blocks[id]!;
    const see = (value: Value): void => {
      if (home[value] !== id && !forced.has(value) && !isLeaf(kernel.insts[value]!) && uniformity.leavesUnequally(value, id))
        forced.add(value);
    };
    for (const value of block.body) operandsOf(kernel.insts[value]!).forEach(see);
    terminatorOperands(block.end).forEach(see);
  }
  return forced.size > before;
}

function sourceOf(kernel: Kernel, inst: Inst, cut: Cut): Variance {
  switch (inst.op) {
    case 'atomic':
    case 'cas':
    case 'clock':
    case 'mma':
      return 2;
    case 'load':
      // A load at a uniform address gives one value for all lanes.
      return inst.volatile ? 2 : 0;
    case 'sreg':
      return sregShape(inst.name, cut) === uniform ? 0 : 2;
    case 'variable':
      return inst.type === 'ptr.local' && cut.local > 0 ? 2 : 0;
    case 'ptrtoint':
    case 'inttoptr': {
      const type = inst.op === 'inttoptr' ? inst.type : kernel.insts[inst.a]!.type;
      return type === 'ptr.local' && cut.local > 0 ? 2 : 0;
    }
    default:
      return 0;
  }
}

/**
 * Whether an instruction drops the bits in which the lanes of a group differ: `tid >> 5` is uniform in a warp. A group starts at a multiple
 * of its size.
 */
function dropsLaneBits({ insts }: Kernel, inst: Inst, cut: Cut): boolean {
  if (inst.op !== 'lshr' && inst.op !== 'and') return false;
  const [number, by] = [insts[inst.a]!, insts[inst.b]!];
  const isNumber = number.op === 'sreg' && !number.name.startsWith('gid') && sregShape(number.name, cut) === affine;
  if (!isNumber || by.op !== 'const') return false;
  const lost = BigInt(cut.lanes - 1);
  return inst.op === 'lshr' ? lost >> by.bits === 0n : (by.bits & lost) === 0n;
}

function strideOf(inst: Inst, cut: Cut): number | undefined {
  if (inst.op === 'variable') return inst.type.startsWith('ptr.') && spaceOf(inst.type as 'ptr.local') === 'local' ? cut.local : undefined;
  return inst.op === 'sreg' && sregShape(inst.name, cut) === affine ? 1 : undefined;
}

/** Whether a value wraps around at 32 bits. */
const wrapsAt32Bits = (kernel: Kernel, wide: Uint8Array, value: Value): boolean => {
  const { type } = kernel.insts[value]!;
  return type === 'i32' || (type.startsWith('ptr.') && bitsOf(type) === 64 && wide[value] === 0);
};
