/** Which of the affected specs fit into the time that a check may take. */
import type { Durations } from '../test/durations.ts';
import { longestFirst, within } from '../test/plan.ts';
import type { Affected } from './affected.ts';

/** Seconds for specs on an idle machine; types, lint and generated files take five more. */
export const specSeconds = 20;

/** What a spec that was never measured is taken for: most take less. */
const unmeasured = 2;

export interface Choice {
  readonly run: readonly string[];
  readonly leftOut: readonly string[];
}

/** The specs that changed first, then those near the change, then the rooms, the shortest first in each; none that takes all the time. */
export function choose({ changed, near, rooms }: Affected, durations: Durations, jobs: number): Choice {
  const all = [...changed, ...near, ...rooms];
  const known = new Map(all.map((spec) => [spec, durations.get(spec) ?? unmeasured]));
  const inOrder = [changed, near, rooms].flatMap((group) => longestFirst(group, known).reverse());
  const short = inOrder.filter((spec) => known.get(spec)! <= specSeconds);
  const run = within(specSeconds * jobs, short, known);
  return {
    run: longestFirst(run, known),
    leftOut: longestFirst(
      all.filter((spec) => !run.includes(spec)),
      known,
    ),
  };
}
