/** NVIDIA's `compute-sanitizer` on an H200 against the sanitizer, for the planted faults: what it reports, we report. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planted, runPlanted } from '../support/planted.ts';

const test = suite('h200/sanitize');

interface Recording {
  readonly kernels: Readonly<Record<string, { readonly tool: string; readonly said: readonly string[] }>>;
}

const { kernels } = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/h200/sanitize.json'), 'utf8')) as Recording;

/** The codes that correspond to its messages. */
const meanings: readonly (readonly [words: RegExp, codes: readonly string[]])[] = [
  [/^Invalid __(global|shared|local)__/, ['CM6101', 'CM6102', 'CM6103', 'CM6104']],
  [/^Uninitialized __global__ memory read/, ['CM6110']],
  [/Race reported/, ['CM6120']],
  [/Divergent thread\(s\) in warp/, ['CM6130']],
  [/Divergent thread\(s\) in block/, ['CM6131']],
  [/Invalid arguments/, ['CM6132']],
];

const known = planted.filter(({ kernel }) => kernels[kernel]!.said.length > 0);

for (const each of known)
  test(`${each.kernel}: ${kernels[each.kernel]!.said[0]}`, () => {
    const [first] = runPlanted(each, [each.file]);
    for (const words of kernels[each.kernel]!.said) {
      const meaning = meanings.find(([pattern]) => pattern.test(words));
      assert.ok(meaning, words);
      assert.ok(meaning[1].includes(first!.code), `${words}: ${first!.code}`);
      const [, line] = /in \w+\.cu:(\d+)$/.exec(words) ?? [];
      if (line !== undefined)
        assert.ok(
          first!.notes.some((note) => note.startsWith('source: ') && note.endsWith(`:${line}`)),
          words,
        );
      const [, access] = /__ (read|write|atomic) of size/.exec(words) ?? [];
      const ours = { read: 'reads', write: 'writes', atomic: 'changes (atomically)' }[access ?? ''];
      if (ours && each.file === 'memory') assert.ok(first!.message.includes(`\` ${ours} `), `${words}: ${first!.message}`);
    }
  });

test('it reports fewer faults: no uninitialized shared memory, no races in global memory, few masks', () => {
  const count = (tool: string): number => known.filter(({ kernel }) => kernels[kernel]!.tool === tool).length;
  assert.equal(['memcheck', 'initcheck', 'racecheck', 'synccheck'].map(count), [10, 3, 5, 4]);
});

test.run();
