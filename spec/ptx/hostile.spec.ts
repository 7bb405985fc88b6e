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
import { damagedText, damagePtx } from '../support/hostile/ptx.ts';
import { random } from '../support/mutate.ts';
import { module } from './generate.ts';
import { examples } from './tree.ts';

const test = suite('ptx/hostile');

const wanted = Number(process.env.CUMETAL_FUZZ ?? 400);
const seed = Number(process.env.CUMETAL_SEED ?? 1);

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

const pick = <T>(next: () => number, list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
const next = random(seed);
run('damaged kernels', () => damagedText(pick(next, examples)[1], next));

let made: string[] = [];
let batches = 0;
run('texts of the grammar, whole and damaged', () => {
  if (made.length === 0) made = fc.sample(module, { numRuns: 500, seed: seed * 1009 + batches++ });
  const text = made.pop()!;
  return made.length % 3 === 0 || text === '' ? text : damagePtx(text, next);
});

test('many calls through a register among many moves: the moves are read once', () => {
  const text = `.version 8.0
.target sm_80
.address_size 64
.func (.reg .b32 %o) f(.reg .b32 %a)
{
  add.u32 %o, %a, 1;
  ret;
}
.visible .entry k()
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  mov.u64 %rd1, f;
${'  mov.u32 %r1, %r2;\n'.repeat(40_000)}P: .callprototype (.reg .b32 _) _ (.reg .b32 _);
${'  call (%r1), %rd1, (%r2), P;\n'.repeat(400)}  ret;
}
`;
  const file = new SourceFile('calls.ptx', text);
  const diagnostics = new Diagnostics(file);
  const module = parse(file, diagnostics);
  const { entries } = withinCpuSeconds(3, () => check(module, {}, diagnostics));
  assert.equal(diagnostics.list, []);
  const calls = entries[0]!.items.filter((item) => item.kind === 'instruction' && item.call?.choice?.number === 1n);
  assert.is(calls.length, 400);
});

test.run();
