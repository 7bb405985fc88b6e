/**
 * Proves the identities of `src/ir/passes/identities.ts`: `bun scripts/prove-identities.ts [FORMS]`. Operands of 8 bits take every value, also in
 * pairs, for random constants; operands of 16, 32 and 64 bits those at edges. The spec does the same for fewer. Two minutes.
 */
import { edges, proofs } from '../spec/support/identities.ts';
import { randomFractions } from '../spec/support/lcg.ts';

const forms = Number(process.argv[2] ?? '8');
const draw = randomFractions(1);
const choice = edges((count) => Math.floor(draw() * count));
let faults = 0;
for (const [widths, count, inputs] of [
  [['i8', 'i1'], forms, Number.POSITIVE_INFINITY],
  [['i16', 'i32', 'i64'], forms * 400, 64],
] as const) {
  const found = proofs(widths, choice, count, inputs);
  for (const [identity, { applied, fault }] of found) {
    if (fault !== undefined) faults++;
    if (fault !== undefined || applied === 0) console.log(fault ?? `${identity}: not applied to ${widths.join(', ')}`);
  }
  console.log(`${found.size} identities, ${widths.join(', ')}`);
}
console.log(`${faults} have a fault`);
process.exit(faults > 0 ? 1 : 0);
