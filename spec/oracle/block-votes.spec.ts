/** Barrier reductions (`bar.red`), compiled for Apple GPUs and run by the independent oracle, with lanes in either order. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { blockVotes, poison, wantedWords } from '../support/block-votes.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/block-votes');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** The oracle takes a second per launch: some plain blocks, with whole and partial warps, and all special cases. */
const chosen = blockVotes.filter(({ name }) => !/ of (1|2|31|33|96|257|1024)$/.test(name));

for (const [i, vote] of chosen.entries())
  need(test, oracleTools, `results by LLVM follow the manual: ${vote.name}`, () => {
    const { text, blocks, threads, input, words } = vote;
    const diagnostics = new Diagnostics();
    const metallib = compile(new SourceFile('form.ptx', text), {}, diagnostics)!.metallib;
    const out = new Uint32Array(words * blocks * threads).fill(poison);
    const args = [input, out].map(({ buffer }) => new Uint8Array(buffer.slice(0) as ArrayBuffer));
    const order = i % 2 === 0 ? 'fwd' : 'rev';
    const launch = { kernel: 'form', grid: [blocks, 1, 1], block: [threads, 1, 1], args, sharedBytes: undefined, order };
    const { status, complaints, after } = launchOracle(folder, metallib, launch);
    // Exited threads reach no barrier, which the oracle reports before it continues.
    const isSaid = /exit/.test(vote.name) && /^warning: \d+ barriers were not reached by all threads at one place\s*$/.test(complaints);
    assert.is(isSaid ? '' : complaints, '');
    assert.is(status, 0);
    assert.equal([...new Uint32Array(after[1]!.slice().buffer)], wantedWords(vote));
  });

test.run();
