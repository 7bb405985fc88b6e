/** The identities that `simplify` uses, each applied to instructions of its form: both sides are computed by the meaning of the ops. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { identities } from '../../src/ir/passes/identities.ts';
import { edges, proofs } from '../support/identities.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('ir/identities');

const draw = randomFractions(27);
const found = proofs(
  ['i8', 'i1', 'i32', 'i16', 'i64'],
  edges((count) => Math.floor(draw() * count)),
  600,
  16,
);

for (const [identity, { applied, fault }] of found)
  test(identity, () => {
    assert.is(fault, undefined);
    assert.ok(applied > 0, 'it is never applied');
  });

test('no line twice', () => {
  assert.is(found.size, identities.length);
});

test.run();
