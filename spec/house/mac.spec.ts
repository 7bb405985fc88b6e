/** The protocol for Macs: the checklist, the workflow and the program that runs there say the same, and all that needs no Mac works. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { targets } from '../../src/air/index.ts';
import { exampleNames, root } from '../support/examples.ts';

const test = suite('house mac');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Step {
  readonly run?: string;
  readonly uses?: string;
}
interface Workflow {
  readonly jobs: {
    readonly metal: { readonly strategy: { readonly matrix: { readonly include: readonly Machine[] } }; readonly steps: readonly Step[] };
  };
}
interface Machine {
  readonly os: string;
  readonly targets: string;
}

const workflow = Bun.YAML.parse(read('.github/workflows/mac.yml')) as Workflow;
const { strategy, steps } = workflow.jobs.metal;
/** Commands of the protocol; what differs between machines is left out. */
const protocol = (lines: readonly string[]): string[] =>
  lines
    .map((line) =>
      line
        .trim()
        .replace(/(write mac) .*$/, '$1')
        .replace(/ \| tee .*$/, ''),
    )
    .filter((line) => /^npx bun scripts|\.\/run |^swiftc |^cp /.test(line));

test('the workflow runs the commands of the checklist, in their order', () => {
  const blocks = [...read('docs/mac-checklist.md').matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  const listed = protocol(blocks.flatMap((block) => block.split('\n')));
  assert.is(listed.length, 8);
  assert.equal(protocol(steps.flatMap(({ run }) => run?.split('\n') ?? [])), listed);
});

test('each command of the workflow is a line of shell that parses', () => {
  for (const { run } of steps) {
    if (run === undefined) continue;
    const { status, stderr } = spawnSync('bash', ['-n'], { input: run.replaceAll(/\$\{\{.*?\}\}/g, 'x'), encoding: 'utf8' });
    assert.is(status, 0, stderr);
  }
});

test('each machine builds for targets that it can load: those of its own system and before', () => {
  const { include } = strategy.matrix;
  assert.equal(
    include.map(({ os }) => os),
    ['macos-14', 'macos-15', 'macos-26'],
  );
  for (const { os, targets: names } of include)
    for (const name of names.split(' ')) {
      const target = Object.values(targets).find((each) => each.name === name);
      assert.is(target?.platform, 'macos', name);
      assert.ok(target!.os.major <= Number(os.slice('macos-'.length)), `${name} on ${os}`);
    }
});

test('files that the protocol names are there', () => {
  for (const path of ['scripts/mac/check.ts', 'scripts/mac/jobs.ts', 'scripts/mac/run.swift'])
    assert.ok(existsSync(join(root, path)), path);
});

/** Names of the fields of a struct in Swift, or of an interface in TypeScript. */
function fields(text: string, head: string): string[] {
  const body = text.slice(text.indexOf(head)).split('\n}')[0]!;
  return [...body.matchAll(/^ {2}(?:let|var|readonly) (\w+)/gm)].map(([, name]) => name!);
}

test('what is written and what runs it have the same fields', () => {
  const [swift, ours] = [read('scripts/mac/run.swift'), read('scripts/mac/jobs.ts')];
  assert.equal(fields(swift, 'struct Job'), fields(ours, 'interface Job'));
  assert.equal(fields(swift, 'struct Slot'), fields(ours, 'interface Slot'));
  assert.equal(fields(swift, 'struct Outcome'), fields(ours, 'interface Result'));
  assert.is(fields(ours, 'interface Job').length, 7);
});

// ── the protocol with the CPU device in place of Metal ──

const check = (...words: string[]): { readonly code: number | null; readonly out: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/mac/check.ts'), ...words], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
};

test('write, play, judge: every example is right; what was not run or is wrong is said, and the exit code says it too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-mac-'));
  try {
    assert.equal(check('write', folder, 'macos14', 'ios18'), { code: 0, out: `${2 * exampleNames.length} jobs in ${folder}\n` });
    const before = check('judge', folder);
    assert.is(before.code, 1);
    assert.match(before.out, new RegExp(`\\n0 of ${2 * exampleNames.length} right\\n`));
    assert.is(check('play', folder).code, 0);
    const after = check('judge', folder);
    assert.match(after.out, new RegExp(`\\n${2 * exampleNames.length} of ${2 * exampleNames.length} right\\n`));
    assert.is(after.code, 0);
    assert.is(readFileSync(join(folder, 'report.md'), 'utf8').trim(), after.out.trim());
    spoil(join(folder, 'ios18'));
    const spoilt = check('judge', folder);
    assert.is(spoilt.code, 1);
    assert.match(spoilt.out, /\| ios18 \| vector_add \| good \| WRONG: 1 of 1024 elements of \w+, the first at 3 \|/);
    assert.match(spoilt.out, /\| ios18 \| saxpy \| BAD: no \(pipeline\) today \|/);
    assert.match(spoilt.out, new RegExp(`\\n${2 * exampleNames.length - 2} of ${2 * exampleNames.length} right\\n`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** One element of a sum is another, and one pipeline was not made. */
function spoil(folder: string): void {
  const sums = readdirSync(join(folder, 'vector_add')).filter((name) => name.endsWith('.out'));
  const path = join(folder, 'vector_add', sums.sort().at(-1)!);
  const bytes = readFileSync(path);
  bytes[3 * 4]! ^= 1;
  writeFileSync(path, bytes);
  const said = { good: false, message: 'no\n(pipeline) | today'.replace(' |', ''), width: 0, maxThreads: 0, milliseconds: 0 };
  writeFileSync(join(folder, 'saxpy', 'result.json'), JSON.stringify(said));
}

test.run();
