/** The passes that simplify a function, in their order. */
import { spreadConstants } from './constants.ts';
import { removeDead } from './dead.ts';
import { orderBlocks } from './flow.ts';
import { hoistInvariants } from './invariant.ts';
import { numberValues } from './number.ts';
import { removeTrivialParams } from './params.ts';
import { tidyFlow } from './tidy.ts';
import type { SsaFunction } from './types.ts';

/** Rounds of value numbering at most: each follows one that has removed edges. */
const maxRounds = 4;

/** Simplifies a function in place. The time is near linear in its instructions. */
export function simplify(fn: SsaFunction): void {
  simplifyValues(fn);
  hoistInvariants(fn);
  tidyFlow(fn);
  spreadConstants(fn);
  orderBlocks(fn);
}

/** Numbers values until no edge is removed, and removes what is not needed then. Constants are in the entry then. */
function simplifyValues(fn: SsaFunction): void {
  tidyFlow(fn);
  for (let round = 0; round < maxRounds && numberValues(fn); round++) tidyFlow(fn);
  removeTrivialParams(fn);
  removeDead(fn);
}
