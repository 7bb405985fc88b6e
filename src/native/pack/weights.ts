/** How often blocks run, as an estimate from their shape alone. */
import type { Numbering } from './numbering.ts';

/** How much more often a loop runs than what is around it, and how much more seldom a rare block does. */
const loopWeight = 8;
const rareWeight = 1 / 64;
/** Deeper loops weigh no more. */
const maxDepth = 6;

/**
 * The weight of each block: that of its immediate dominator, which it shares with the other ways from there unless ways join in it, and more in a loop.
 * Source: the static estimates of Wu and Larus, "Static branch frequency and program profile analysis", MICRO 1994, reduced to those that need no operands.
 */
export function weightsOf({ fn, into, flows, outOf, immediate, dominates }: Numbering): number[] {
  const weights: number[] = [];
  for (const [block, { loopDepth, isRare }] of fn.blocks.entries()) {
    if (block === 0) {
      weights.push(1);
      continue;
    }
    const above = immediate[block]!;
    const outer = fn.blocks[above]!;
    const depth = Math.min(loopDepth, maxDepth) - Math.min(outer.loopDepth, maxDepth);
    const ways = new Set(into[block]!.map((flow) => flows[flow]!.from).filter((from) => !dominates(block, from)));
    const isShared = ways.size === 1 && outOf[above]!.length > 1 && loopDepth >= outer.loopDepth;
    const share = isRare === true && outer.isRare !== true ? rareWeight : isShared ? 1 / outOf[above]!.length : 1;
    weights.push(weights[above]! * share * loopWeight ** depth);
  }
  return weights;
}
