/** Barriers that compute over the block, through the whole road (PTX, metallib, CPU device), for every target. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { toIr } from '../../src/compile/pipeline.ts';
import { type BlockVote, blockVotes, poison, wantedWords } from '../support/block-votes.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/block-votes');

function found({ text, blocks, threads, input, words }: BlockVote, target: 'macos14' | 'cpu'): number[] {
  const diagnostics = new Diagnostics();
  const metallib = compile(new SourceFile('form.ptx', text), { target }, diagnostics)?.metallib;
  assert.ok(metallib, diagnostics.list.map((d) => d.message).join('; '));
  const after = launchMetallib(metallib, {
    kernel: 'form',
    blocks,
    threads,
    args: [input, new Uint32Array(words * blocks * threads).fill(poison)],
  });
  return [...new Uint32Array(after[1]!.slice().buffer)];
}

for (const vote of blockVotes)
  for (const target of ['macos14', 'cpu'] as const)
    test(`${vote.name}, for ${target}`, () => assert.equal(found(vote, target), wantedWords(vote)));

test('a kernel has one word of shared memory for all of them', () => {
  const source = new SourceFile('form.ptx', blockVotes[0]!.text);
  const module = toIr(source, {}, new Diagnostics(source));
  assert.equal(
    module?.kernels[0]?.variables.map(({ space, size }) => `${space} ${size}`),
    ['shared 4'],
  );
});

test.run();
