/** The vectorizer's transforms of a kernel, in the order in which they run. */
import { dce, type Kernel, type Pass } from '../../../ir/index.ts';
import { checkAlignment, neededAlignmentChecks } from '../../codegen/check-alignment.ts';
import { staticShufflesOf } from '../analysis/static-shuffles.ts';
import { checkAddresses, type MemoryFacts, neededAddressChecks } from './check-addresses.ts';
import { foldByteOffsets } from './fold-byte-offsets.ts';
import { matchFunnelShifts } from './match-funnel-shifts.ts';
import { narrowIntegers } from './narrow-integers.ts';
import { promoteSlots } from './promote-slots.ts';
import { rematerialize } from './rematerialize.ts';
import { scheduleBlocks } from './schedule.ts';
import { splitAtBarriers } from './split-at-barriers.ts';

/** Those before the checks of addresses. */
export const firstTransforms: readonly Pass[] = [
  { name: 'promote-slots', run: promoteSlots },
  { name: 'fold-byte-offsets', run: foldByteOffsets },
  { name: 'match-funnel-shifts', run: matchFunnelShifts },
  { name: 'dce', run: dce },
];

/** Those up to the narrowed dialect of the IR, for launches of which something is known. `checked` gets the checks that they insert, as text. */
export const narrowingTransforms = (facts?: MemoryFacts, checked: (checks: string) => void = () => {}): readonly Pass[] => {
  const check = (name: string, insert: (kernel: Kernel, facts?: MemoryFacts) => string): Pass => ({
    name,
    run(kernel) {
      const checks = insert(kernel, facts);
      checked(checks);
      return checks !== '';
    },
  });
  return [
    ...firstTransforms,
    check('check-addresses', checkAddresses),
    check('check-alignment', checkAlignment),
    { name: 'narrow-integers', run: narrowIntegers },
  ];
};

/** The checks that code for a launch has, as text, of a kernel that `firstTransforms` have changed. */
export const neededChecks = (kernel: Kernel, facts?: MemoryFacts): string =>
  [neededAddressChecks(kernel, facts), neededAlignmentChecks(kernel, facts)].join(checkSeparator);

/** What is between the texts of both kinds of checks. */
export const checkSeparator = '\n\n';

/** Those of the narrowed dialect. */
export const narrowTransforms: readonly Pass[] = [
  { name: 'split-at-barriers', run: splitAtBarriers },
  { name: 'rematerialize', run: rematerialize },
  { name: 'schedule', run: scheduleBlocks },
];

/** Shuffles whose lanes are known; between the two lists, since the plan keeps the lanes that it finds. */
const staticShuffles: Pass = { name: 'static-shuffles', run: (kernel) => staticShufflesOf(kernel).size > 0 };

/** All of them. */
export const simdTransforms: readonly Pass[] = [...narrowingTransforms(), staticShuffles, ...narrowTransforms];
