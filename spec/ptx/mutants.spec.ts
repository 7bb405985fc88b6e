/** The examples, each with one wrong word: a mutant that `ptxas` rejects is rejected, and one that it accepts has no errors. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { changes, type Mutant, mutate } from '../support/mutate.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';
import { examples } from './tree.ts';

const test = suite('ptx/mutants');

/** The number of mutants that the assembler must reject; `CUMETAL_MUTANTS` raises it. */
const wanted = Number(process.env.CUMETAL_MUTANTS ?? 150);
const seed = Number(process.env.CUMETAL_SEED ?? 1);

function* mutants(): Iterable<Mutant> {
  const kinds = Object.keys(changes);
  for (let i = 0; ; i++) {
    const [, text] = examples[(i * 7 + seed) % examples.length]!;
    const mutant = mutate(text, kinds[i % kinds.length]!, seed * 100_003 + i);
    if (mutant) yield mutant;
  }
}

function take<T>(from: Iterable<T>, count: number): T[] {
  const out: T[] = [];
  for (const one of from) if (out.push(one) === count) break;
  return out;
}

/** The errors of a text, as `check` reports them without being strict. */
function errors(text: string): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  check(parse(file, diagnostics), { functions: true }, diagnostics);
  return diagnostics.list.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code} ${message}`);
}

const shown = ({ kind, line }: Mutant, more = ''): string => `${kind}: ${line}${more && ` (${more})`}`;

need(test, ['ptxas'], 'of what ptxas rejects at least nine in ten are rejected, and of what it takes none is called wrong', async () => {
  const all = take(mutants(), Math.ceil(wanted * 1.3));
  const taken = await ptxasTakes(all.map(({ text }) => text));
  const rejected = all.filter((_, i) => !taken[i]);
  const missed = rejected.filter(({ text }) => errors(text).length === 0);
  console.log(`${rejected.length} mutants rejected by ptxas, ${rejected.length - missed.length} of them by check; missed:`);
  for (const mutant of missed) console.log(`  ${shown(mutant)}`);
  const wrong = all
    .filter((_, i) => taken[i])
    .flatMap((m) =>
      errors(m.text)
        .filter((e) => /^CM1/.test(e))
        .map((e) => shown(m, e)),
    );
  assert.equal(wrong, []);
  assert.ok(rejected.length >= wanted, `${rejected.length} mutants are not enough`);
  assert.ok(missed.length * 10 <= rejected.length, `${missed.length} of ${rejected.length} missed`);
});

test('the same seed gives the same mutants, and each differs from its example', () => {
  const texts = take(mutants(), 20).map(({ text }) => text);
  assert.equal(
    texts,
    take(mutants(), 20).map(({ text }) => text),
  );
  for (const text of texts) assert.not.ok(examples.some(([, example]) => example === text));
});

test.run();
