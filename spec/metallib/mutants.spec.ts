/**
 * Invariants of readers on damaged libraries and modules: a result or a reason, valid libraries written back byte for byte, and written
 * modules read as equal. `bun scripts/fuzz.ts metallib bitcode --count 50000` runs many more.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { writeModule } from '../../src/bitcode/index.ts';
import { writeMetallib } from '../../src/metallib/index.ts';
import { vectorAdd } from '../support/kernels.ts';
import { random } from '../support/mutate.ts';
import { mutatedLibrary, mutatedModule } from '../support/mutate-bytes.ts';
import { surviveLibrary, surviveModule } from '../support/survive.ts';

const test = suite('metallib mutants');

const bitcode = (): Uint8Array => writeModule(emitKernel(vectorAdd(), targets.macos14, new Diagnostics()));
const stuff = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7) & 0xff);

/** Every section and kind of tag, and few bytes beside them. */
const library = (): Uint8Array =>
  writeMetallib({
    version: { major: 1, minor: 2, patch: 9 },
    platform: 'macos',
    os: { major: 26, minor: 0, patch: 0 },
    functions: [
      {
        name: 'k',
        type: 'kernel',
        airVersion: [2, 8],
        metalVersion: [4, 0],
        bitcode: stuff(16),
        source: 0,
        reflection: 0,
        publicTags: [{ code: 'CNST', payload: Uint8Array.of(1, 0, 0x61, 0, 3, 0, 0, 1) }],
        otherTags: [{ code: 'TESS', payload: Uint8Array.of(13) }],
      },
    ],
    sections: [
      { code: 'HSRD', kind: 'sources', link: 'l', directory: '/', archives: [{ id: '0', data: stuff(9) }] },
      { code: 'HDYN', kind: 'tags', tags: [{ code: 'NAME', payload: stuff(3) }] },
      { code: 'RLST', kind: 'reflection', buffers: [stuff(10)] },
    ],
  });

function outcomes(times: number, run: (random: () => number) => string): Map<string, number> {
  const found = new Map<string, number>();
  for (let i = 0; i < times; i++) {
    const outcome = run(random(i));
    found.set(outcome, (found.get(outcome) ?? 0) + 1);
  }
  return found;
}

test('libraries: some of each outcome', () => {
  const whole = library();
  const found = outcomes(3000, (next) => surviveLibrary(mutatedLibrary(whole, next)));
  for (const outcome of ['refused', 'read', 'valid']) assert.ok((found.get(outcome) ?? 0) > 30, `${outcome}: ${[...found]}`);
});

test('modules: some of each outcome', () => {
  const whole = bitcode();
  const found = outcomes(1500, (next) => surviveModule(mutatedModule(whole, next)));
  for (const outcome of ['refused', 'read', 'raised']) assert.ok((found.get(outcome) ?? 0) > 10, `${outcome}: ${[...found]}`);
});

test.run();
