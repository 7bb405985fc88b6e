/**
 * Coverage of the H200 recordings: each compiled row of the instruction table, and each of its modifiers, occurs in a recorded kernel,
 * or has a reason that names another test. The specs in this folder run the recorded kernels.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/model/row.ts';
import { allRows } from '../../src/ptx/table/index.ts';
import { countedRows, recordedRows } from '../support/sweep/coverage.ts';
import { isOfClusters, isOfPolicies } from '../support/sweep/forms.ts';
import { formsOf } from '../support/sweep/words.ts';

const test = suite('h200/coverage');

/** Where rows without a recording are tested. `word`: the reason applies to one modifier. */
const reasons: readonly { readonly applies: (row: Row) => boolean; readonly word?: string; readonly why: string }[] = [
  { applies: ({ since }) => since.sm > 90, why: 'an H200 does not have it: worked examples of the table, exact arithmetic in spec/ptx' },
  {
    applies: ({ name }) => name === 'trap',
    why: 'it ends the launch, and with it what the driver does for the process: spec/device/stop.spec.ts',
  },
  {
    applies: ({ name }) => /^(alloca|stacksave|stackrestore)$/.test(name),
    why: 'of the stack of a thread, whose addresses are not specified: spec/lower/recursion.spec.ts',
  },
  {
    applies: ({ name }) => /^(tex|tld4|txq|suld|sust|suq)$/.test(name),
    why: 'of textures and surfaces, of which there is no recording yet: the manual’s formulas in spec/program/textures.spec.ts and arrays.spec.ts',
  },
  {
    applies: ({ syntax }) => syntax.includes('.arrive') && !syntax.includes('mbarrier'),
    why: 'it has no result, and needs threads that wait: a program of an H200 in spec/device/named-barriers.spec.ts',
  },
  {
    applies: ({ name, syntax }) =>
      name === 'mbarrier' || name === 'tensormap' || /\.tensormap \[|\.mbarrier|async\.bulk|fence\.proxy|membar\.proxy/.test(syntax),
    why: 'of the asynchronous machine, of which there is no recording yet: the manual’s rules in spec/device/mbarrier.spec.ts, bulk-copies.spec.ts and tensor-copies.spec.ts',
  },
  {
    applies: ({ name }) => name === 'wgmma',
    why: 'of warp groups, of which there is no recording yet: the layouts of the manual in doubles and integers in spec/device/wgmma.spec.ts',
  },
  {
    applies: ({ syntax }) => syntax.startsWith('mma.variant'),
    why: 'of sparse matrices, of which there is no recording yet: the layouts of the manual in doubles and integers in spec/device/mma-sparse.spec.ts',
  },
  {
    applies: ({ name, syntax }) =>
      name === 'multimem' ||
      /b128|\.v8\.|\.mmio|volatile\{\.space\}\.prefetch|\.evict2|noftz\.L2|\.vec\.(f32|type) (d, )?\[a\], b\{, policy/.test(syntax),
    why: 'of wide accesses, of which there is no recording yet: plain copies in spec/device/small-forms.spec.ts',
  },
  {
    applies: ({ name, syntax }) => /^(discard|pmevent|setmaxnreg|brkpt)$/.test(name) || syntax.includes('satfinite.tf32'),
    why: 'it has no result, or there is no recording yet: spec/device/small-forms.spec.ts',
  },
  { applies: isOfClusters, why: 'of clusters of blocks, of which there is no recording yet: the manual in spec/device/clusters.spec.ts' },
  { applies: isOfPolicies, why: 'a cache policy is a hint and no number, so that results are those without it: spec/ptx/policies.spec.ts' },
  {
    applies: ({ name }) => name === 'cvta',
    word: 'u32',
    why: 'of addresses of 32 bits, for which there is no driver: spec/lower/memory.spec.ts',
  },
];
const reasonFor = (row: Row, word?: string): string | undefined =>
  reasons.find((each) => each.applies(row) && (each.word === undefined || each.word === word))?.why;

const compiled = allRows().filter((row) => !refusalOf(row));
const recorded = recordedRows();

/** Modifiers that occur in a form of the row: exclusions may rule one out completely. */
const wordsOf = (row: Row): string[] => [
  ...new Set(formsOf(row).flatMap(({ modifiers }) => Object.entries(modifiers).map(([slot, word]) => `${slot}=${word}`))),
];

test('each compiled row is recorded, or has a reason', () => {
  const missing = compiled.filter((row) => !recorded.has(row) && !reasonFor(row));
  assert.equal(
    missing.map(({ syntax }) => syntax),
    [],
  );
});

test('so is each modifier of each row', () => {
  const missing = compiled.flatMap((row) =>
    wordsOf(row)
      .filter((key) => !recorded.get(row)?.has(key) && !reasonFor(row, key.slice(key.indexOf('=') + 1)))
      .map((key) => `${row.syntax}: ${key}`),
  );
  assert.equal(missing, []);
});

test('reasons are given only for what is not recorded', () => {
  const idle = reasons.filter(({ applies, word }) =>
    compiled
      .filter(applies)
      .every((row) => (word ? [...(recorded.get(row) ?? [])].some((key) => key.endsWith(`=${word}`)) : recorded.has(row))),
  );
  assert.equal(
    idle.map(({ why }) => why),
    [],
  );
});

test.after(() => console.log(countedRows(recorded)));
test.run();
