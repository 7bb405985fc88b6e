/**
 * Packed functions compute what they computed before: random functions with groups and near-groups, in an interpreter, with bases of memory that are
 * apart, equal or overlapping.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pack } from '../../../src/native/pack/index.ts';
import { printSsa } from '../../../src/native/ssa/print.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { randomFractions } from '../../support/lcg.ts';
import { interpret } from '../support/interpret.ts';
import { groupedFunction } from './grouped.ts';

const test = suite('native/pack/random');

const size = 4096;
const places = [
  [32, 1024, 2048],
  [64, 64, 64],
  [512, 528, 580],
  [100, 84, 36],
] as const;

/** Memory after a run. A call changes all of it, and what has changed depends on what was there. */
function run(fn: SsaFunction, bases: readonly number[]): Uint8Array {
  const memory = Uint8Array.from({ length: size }, (_, i) => (i * 37 + (i >> 5)) & 0xff);
  let calls = 0;
  const call = (): undefined => {
    calls++;
    for (let i = 0; i < size; i += 3) memory[i] = (memory[i]! * 5 + calls) & 0xff;
  };
  interpret(fn, [...bases.map(BigInt), 7n, 0x8000_0003n], { memory, globals: [], call });
  return memory;
}

const isWide = ({ types, blocks }: SsaFunction): boolean =>
  blocks.some(({ insts }) =>
    insts.some(({ result }) => result !== undefined && types[result] !== 'v128' && types[result]!.startsWith('v')),
  );

for (const widest of [64, 32] as const)
  for (const [parts, spoiled] of [
    [4, 0],
    [8, 0],
    [4, 0.03],
    [8, 0.02],
    [2, 0.03],
  ] as const)
    test(`groups of ${parts} vectors, ${spoiled === 0 ? 'regular' : 'some spoiled'}, up to ${widest} bytes`, () => {
      let wide = 0;
      const count = Number(process.env.COUNT ?? 14);
      for (let seed = 0; seed < count; seed++) {
        const make = (): SsaFunction =>
          groupedFunction(randomFractions(1000 * parts + widest + 77 * seed + (spoiled > 0 ? 5 : 0)), { parts, spoiled });
        const [before, packed] = [make(), make()];
        assert.equal(verifySsa(before), []);
        pack(packed, widest);
        assert.equal(verifySsa(packed), [], `seed ${seed}\n${printSsa(packed)}`);
        if (isWide(packed)) wide++;
        for (const bases of places)
          if (!Buffer.from(run(before, bases)).equals(Buffer.from(run(packed, bases))))
            assert.unreachable(`seed ${seed}, bases ${bases}\n${printSsa(before)}\n${printSsa(packed)}`);
      }
      assert.ok(wide > 0.8 * count, `${wide} of ${count} functions have wide instructions`);
    });

test.run();
