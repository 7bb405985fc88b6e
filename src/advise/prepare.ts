/** The analyses of a kernel that advice rests on. */
import { product } from '../base/dim3.ts';
import {
  cfgOf,
  definingBlocks,
  dominatorsOf,
  type Kernel,
  launchRanges,
  loopsOf,
  postDominatorsOf,
  trailingZeros,
  uniformityOf,
  type Value,
} from '../ir/index.ts';
import { type AdvisedLaunch, blocksOf, factsOf, warpsOf } from './launch.ts';
import type { Prepared, WarpForms } from './state.ts';
import { formsOfWarp } from './warp.ts';

/** Moves constants to the entry: the bounds of a loop's turns have to be from outside of it. */
function hoistConstants({ blocks, insts }: Kernel): void {
  const isConstant = (value: Value): boolean => insts[value]!.op === 'const';
  const constants = blocks.flatMap(({ body }) => body.filter(isConstant));
  for (const block of blocks) block.body = block.body.filter((value) => !isConstant(value));
  blocks[0]!.body.unshift(...constants);
}

/** The analyses of a kernel for a launch; the kernel's constants are moved. */
export function prepare(kernel: Kernel, given: AdvisedLaunch): Prepared {
  hoistConstants(kernel);
  // A launch with other threads than a kernel requires fails.
  const block = kernel.requiredThreads ?? given.block;
  const launch = { ...given, block };
  const cfg = cfgOf(kernel);
  const dominators = dominatorsOf(cfg);
  const post = postDominatorsOf(cfg);
  const facts = factsOf(launch);
  return {
    kernel,
    cfg,
    dominators,
    post,
    loops: loopsOf(cfg, dominators),
    uniformity: uniformityOf(kernel, cfg, post),
    ranges: launchRanges(kernel, facts),
    facts,
    launch,
    home: definingBlocks(kernel),
    zeros: trailingZeros(kernel),
    fixed: new Map(),
  };
}

/** The warps of a block that stands for all of them; of a launch without a block one warp. */
export const warpsFor = (all: Prepared): WarpForms[] => warpsOf(all.launch.block).map((warp) => formsOfWarp(all, warp));

/** The most warps that are looked at one by one. */
const maxWarps = 128;

/** The warps of every block of a small grid; undefined for a large one, and where it is not known. */
export function everyWarpFor(all: Prepared): WarpForms[] | undefined {
  const { grid, block } = all.launch;
  if (!grid || !block || product(grid) === 1 || product(grid) * Math.ceil(product(block) / 32) > maxWarps) return undefined;
  return blocksOf(grid).flatMap((of) => warpsOf(block, of).map((warp) => formsOfWarp(all, warp)));
}
