/**
 * Texts generated from the grammar, and kernels with damaged words, characters and lines: parsing and checking them neither throws nor
 * takes long, and every reported position is inside the text. `CUMETAL_FUZZ` raises the number.
 */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { renderDiagnostic } from '../../src/cli/terminal/render.ts';
import { verifies } from '../../src/compile/index.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { changes, mutate, random } from '../support/mutate.ts';
import { module } from './generate.ts';
import { examples } from './tree.ts';

const test = suite('ptx/hostile');

const wanted = Number(process.env.CUMETAL_FUZZ ?? 400);
const seed = Number(process.env.CUMETAL_SEED ?? 1);

type Random = () => number;
const below = (next: Random, bound: number): number => Math.floor(next() * bound);
const pick = <T>(next: Random, list: readonly T[]): T => list[below(next, list.length)]!;

/** Characters and words with a meaning, at positions where they have none. */
const pieces = [
  ...'{}()[]<>;:,.@!%$_"#/*+-?|&=\\\n\t\0\u00a7\ud83d',
  '/*',
  '*/',
  '//',
  '"',
  '.reg',
  '.entry',
  '.func',
  '{',
  '}',
  '@%p1',
  '0x',
  '1e9',
];

const damages: readonly ((text: string, next: Random) => string)[] = [
  (text, next) => {
    const at = below(next, text.length);
    return text.slice(0, at) + pick(next, pieces) + text.slice(at);
  },
  (text, next) => {
    const at = below(next, text.length);
    return text.slice(0, at) + text.slice(at + 1 + below(next, 30));
  },
  (text, next) => {
    const [from, to] = [below(next, text.length), below(next, text.length)];
    return text.slice(0, to) + text.slice(from, from + below(next, 300)) + text.slice(to);
  },
  (text, next) => text.slice(0, below(next, text.length)),
  (text, next) => {
    const rows = text.split('\n');
    const [a, b] = [below(next, rows.length), below(next, rows.length)];
    [rows[a], rows[b]] = [rows[b]!, rows[a]!];
    return rows.join('\n');
  },
  (text, next) => mutate(text, pick(next, Object.keys(changes)), below(next, 2 ** 31))?.text ?? text,
];

function damaged(next: Random): string {
  let [, text] = pick(next, examples);
  for (let times = 1 + below(next, 4); times > 0 && text !== ''; times--) text = pick(next, damages)(text, next);
  return text;
}

/** Parses and checks a text as `cumetal check` does, and occasionally compiles a valid one. */
function examine(text: string, compiles: boolean): void {
  const file = new SourceFile('hostile.ptx', text);
  const diagnostics = new Diagnostics(file);
  withinCpuSeconds(3, () => {
    if (compiles) verifies(file, { lints: true }, diagnostics);
    else check(parse(file, diagnostics), { functions: 'faults', lints: true }, diagnostics);
  });
  for (const d of diagnostics.list) {
    for (const { span } of d.labels)
      assert.ok(0 <= span.start && span.start <= span.end && span.end <= text.length, `${d.code} at ${JSON.stringify(span)}`);
    assert.ok(renderDiagnostic(d).includes(d.code));
  }
}

/** One text at a time; the first failure is printed whole. */
function run(what: string, texts: () => string): void {
  test(what, () => {
    for (let i = 0; i < wanted / 2; i++) {
      const text = texts();
      try {
        examine(text, i % 8 === 0);
      } catch (error) {
        console.error(`number ${i}: ${error}`);
        throw new Error(`number ${i}: ${error instanceof Error ? error.stack : error}\nin\n${text}`);
      }
    }
  });
}

const next = random(seed);
run('damaged kernels', () => damaged(next));

let made: string[] = [];
let batches = 0;
run('texts of the grammar, whole and damaged', () => {
  if (made.length === 0) made = fc.sample(module, { numRuns: 500, seed: seed * 1009 + batches++ });
  const text = made.pop()!;
  return made.length % 3 === 0 || text === '' ? text : pick(next, damages)(text, next);
});

test.run();
