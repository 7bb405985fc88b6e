/**
 * The rendezvous loop: threads of a warp that execute collectives by member masks at different places meet at one place, a dispatch block in a
 * loop, for targets whose collectives apply to the threads that execute them together.
 *
 * The code from the first divergent collective on is cut at collectives and barriers. A thread that reaches a cut goes to the dispatch block with
 * its operands, its mask and the kind of the collective. All threads of the warp turn in this loop until the last has left, so that none is
 * late there, and one that has left is known to take part no more. A thread continues behind its cut as soon as all threads of its mask that
 * have not left wait with the same mask and kind.
 *
 * This is legal for every control flow and every mask, because each thread executes the same instructions in the same order as before, and waits
 * for the threads that the PTX manual names (9.7.9.6, 9.7.13). Not transformed are kernels in which
 *  - a collective without a mask is in the region, other than an active mask: its result depends on which threads execute it together;
 *  - a cycle has several entries.
 * The analysis of convergence has to confirm that all threads execute the dispatch together; otherwise the kernel stays as it is.
 */
import { cfgOf } from '../analysis/cfg.ts';
import {
  blocksReaching,
  type Convergence,
  type Convergences,
  convergenceOf,
  convergencesOf,
  stayingGraphOf,
} from '../analysis/convergence.ts';
import { hasSpinLoop } from '../analysis/spin-loops.ts';
import { addBlock, builder, splitBlock } from '../build.ts';
import { copyOf } from '../copy.ts';
import type { Kernel, Value } from '../kernel.ts';
import { specOf } from '../ops.ts';
import { carryValues } from './carry-values.ts';
import { cutRegion, isActiveMask } from './rendezvous-cuts.ts';
import { dispatchArgs, dispatchParams, type EndStuck, fillDispatch } from './rendezvous-dispatch.ts';
import { divergentMasks, isMasked } from './replace-masks.ts';

export interface RendezvousOptions {
  /** Whether the lanes of a warp have consecutive `tid.x`. */
  readonly areRowsAligned: boolean;
  /** Ends a thread that waits for threads that never come. */
  readonly endStuck: EndStuck;
  /** Of the kernel. */
  readonly convergences?: Convergences;
}

/** Transforms a kernel with collectives by masks in divergent code, in place. Returns whether it did. */
export function rendezvousLoop(kernel: Kernel, options: RendezvousOptions): boolean {
  const { areRowsAligned, endStuck, convergences = convergencesOf(kernel) } = options;
  const convergence = convergences(areRowsAligned);
  const divergent = divergentMasks(kernel, convergence);
  if (divergent.length === 0) return false;
  for (const isWhole of [false, true]) {
    const copy = copyOf(kernel);
    const region = regionOf(copy, { convergence, divergent, isWhole });
    if (!isLegal(copy, region) || !transform(copy, region, endStuck)) continue;
    const after = convergenceOf(copy, areRowsAligned);
    const areTogether = divergentMasks(copy, after).length === 0 && hasConvergentCollectives(copy, after, kernel.blocks.length);
    if (!areTogether) continue;
    Object.assign(kernel, copy);
    return true;
  }
  return false;
}

interface Divergence {
  readonly convergence: Convergence;
  readonly divergent: readonly Value[];
  /** Whether all code before is in the region, too. */
  readonly isWhole: boolean;
}

/**
 * The blocks to transform: those that threads can reach from the divergent code around a collective, up to the last collective. All code is in
 * the region if a thread may wait for what another one writes.
 */
function regionOf(kernel: Kernel, { convergence, divergent, isWhole }: Divergence): Set<number> {
  const first = splitEntry(kernel);
  const cfg = cfgOf(kernel);
  const body = cfg.order.filter((id) => id > 0);
  if (hasSpinLoop(kernel)) return new Set(body);
  const { stays } = stayingGraphOf(kernel, cfg);
  if (isWhole) return new Set(body.filter((id) => stays[id]));
  const found = new Set(divergent);
  const isApart = (id: number): boolean => id > 0 && stays[id] === 1 && convergence.blocks[id === first ? 0 : id] !== 1;
  const apart = cfg.successors.map((to, id) => [...to, ...cfg.predecessors[id]!].filter((each) => isApart(id) && isApart(each)));
  const sites = body.filter((id) => kernel.blocks[id]!.body.some((value) => found.has(value)));
  const around = blocksReaching({ predecessors: apart }, sites);
  const behind = blocksReaching(
    { predecessors: cfg.successors },
    body.filter((id) => around[id]),
  );
  return new Set(body.filter((id) => behind[id] && stays[id]));
}

/**
 * Moves all of the entry block but values from nowhere to a block of its own, and such values of all blocks to the entry. Returns the new block's
 * id.
 */
function splitEntry(kernel: Kernel): number {
  const [entry] = kernel.blocks;
  const isFromNowhere = (value: Value): boolean => /^(?:const|param|variable|sreg)$/.test(kernel.insts[value]!.op);
  const rest = splitBlock(kernel, entry!, 0);
  entry!.end = { op: 'br', to: { block: rest, args: [] } };
  entry!.body = kernel.blocks.flatMap(({ body }) => body.filter(isFromNowhere));
  for (const block of kernel.blocks.slice(1)) block.body = block.body.filter((value) => !isFromNowhere(value));
  return rest.id;
}

function isLegal(kernel: Kernel, region: ReadonlySet<number>): boolean {
  return [...region].every((id) =>
    kernel.blocks[id]!.body.every((value) => {
      const inst = kernel.insts[value]!;
      return specOf(inst.op).effect !== 'warp' || isMasked(inst) || isActiveMask(kernel, inst);
    }),
  );
}

function transform(kernel: Kernel, region: ReadonlySet<number>, endStuck: EndStuck): boolean {
  const dispatch = addBlock(kernel);
  const params = dispatchParams(kernel, dispatch);
  const cuts = cutRegion(kernel, region, dispatch);
  if (!cuts) return false;
  const entries = cuts.filter(({ isEntry }) => isEntry).map(({ leave }) => leave);
  const carried = carryValues(kernel, cuts, entries);
  for (const [place, cut] of cuts.entries()) {
    const args = dispatchArgs(builder(kernel, cut.leave), cut, place);
    cut.leave.end = { op: 'br', to: { block: dispatch, args: [...args, ...carried.get(cut.leave)!] } };
  }
  fillDispatch(kernel, dispatch, params, cuts, endStuck);
  return true;
}

/** Whether all collectives in blocks that the transform added are executed by all threads of a warp together. */
function hasConvergentCollectives(kernel: Kernel, { blocks }: Convergence, from: number): boolean {
  const isCollective = (value: Value): boolean => /^(?:warp|barrier)$/.test(specOf(kernel.insts[value]!.op).effect);
  return kernel.blocks.every(({ id, body }) => id < from || blocks[id] === 1 || !body.some(isCollective));
}
