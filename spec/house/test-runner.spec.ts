/** The test runner: which files it picks, in which order, what it makes of a report, and what it ends. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePs, parseStat, processTimes, treeOf } from '../../scripts/test/cpu-time.ts';
import { merge } from '../../scripts/test/durations.ts';
import { engineSettings, withoutEngineSettings } from '../../scripts/test/engine-settings.ts';
import { parseOptions } from '../../scripts/test/options.ts';
import { longestFirst, quickSeconds, quickSelection, roomOf, within, withWords } from '../../scripts/test/plan.ts';
import { judge, totals } from '../../scripts/test/report.ts';
import { type Limits, runFile } from '../../scripts/test/run-file.ts';
import { slowest } from '../../scripts/test/run-files.ts';

const test = suite('house/test-runner');

// ── the command line ──

test('words, the quick selection and the number of jobs', () => {
  const defaults = { words: [], isQuick: false, jobs: 8, records: false, lists: false };
  assert.equal(parseOptions([], 8), defaults);
  assert.equal(parseOptions(['ptx/rows', 'h200'], 8), { ...defaults, words: ['ptx/rows', 'h200'] });
  assert.equal(parseOptions(['quick', '--jobs', '3', '--record'], 8), { ...defaults, isQuick: true, jobs: 3, records: true });
  assert.equal(parseOptions(['--jobs=12', '--list'], 8), { ...defaults, jobs: 12, lists: true });
  assert.is(parseOptions(['ptx', '--help'], 8), 'help');
});

test('an option that does not exist, or a number of jobs that is none, is said', () => {
  assert.equal(parseOptions(['--fast']), { fault: 'unknown option `--fast`' });
  for (const words of [['--jobs', '0'], ['--jobs', 'two'], ['--jobs'], ['--jobs=']])
    assert.match((parseOptions(words) as { fault: string }).fault, /^--jobs takes a positive number/);
});

// ── the plan ──

const durations = new Map([
  ['spec/a/one.spec.ts', 2],
  ['spec/a/two.spec.ts', 4],
  ['spec/b/long.spec.ts', 5],
  ['spec/b/longer.spec.ts', 90],
  ['spec/c/short.spec.ts', 1],
]);
const files = [...durations.keys()];

test('the longest file comes first, one that was never measured before it, and equals by name', () => {
  assert.equal(longestFirst(['spec/z.spec.ts', 'spec/y.spec.ts', ...files], durations), [
    'spec/y.spec.ts',
    'spec/z.spec.ts',
    'spec/b/longer.spec.ts',
    'spec/b/long.spec.ts',
    'spec/a/two.spec.ts',
    'spec/a/one.spec.ts',
    'spec/c/short.spec.ts',
  ]);
});

test('words are parts of paths, any of which will do', () => {
  assert.equal(withWords(files, ['a/', 'short']), ['spec/a/one.spec.ts', 'spec/a/two.spec.ts', 'spec/c/short.spec.ts']);
  assert.equal(withWords(files, []), files);
});

test('files fit into a time from the start of their list, and one that does not fit leaves its time to those behind', () => {
  assert.equal(within(7, files, durations), ['spec/a/one.spec.ts', 'spec/a/two.spec.ts', 'spec/c/short.spec.ts']);
  assert.equal(within(6, files, durations), ['spec/a/one.spec.ts', 'spec/a/two.spec.ts']);
  assert.equal(within(6, ['spec/new.spec.ts', 'spec/c/short.spec.ts'], durations), ['spec/c/short.spec.ts']);
});

test('the quick selection has the shortest file of each room, then the shortest that fit', () => {
  const many = Array.from({ length: 30 }, (_, i) => [`spec/a/${i}.spec.ts`, 2] as const);
  const rooms = new Map([...many, ['spec/b/long.spec.ts', 5], ['spec/c/short.spec.ts', 3], ['spec/d/longer.spec.ts', 5.1]]);
  const picked = quickSelection([...rooms.keys(), 'spec/e/new.spec.ts'], rooms, 50);
  assert.is(picked.filter((file) => file.startsWith('spec/a/')).length, 21, 'in 50 - 5 - 3 s');
  assert.equal(picked.filter((file) => !file.startsWith('spec/a/')).sort(), ['spec/b/long.spec.ts', 'spec/c/short.spec.ts']);
});

test('the committed table gives a quick selection of every room but the one of the package, which is built first', () => {
  const table = new Map(Object.entries(JSON.parse(readFileSync('spec/durations.json', 'utf8')) as Record<string, number>));
  const quick = quickSelection([...table.keys()], table);
  const rooms = (list: Iterable<string>): string[] => [...new Set([...list].map(roomOf))].sort();
  assert.equal(
    rooms(quick),
    rooms(table.keys()).filter((room) => room !== 'dist'),
  );
  const sum = quick.reduce((seconds, file) => seconds + table.get(file)!, 0);
  assert.ok(sum <= quickSeconds && sum > quickSeconds / 2, `${sum} s`);
});

test('a new measurement replaces one that it differs from by more than a quarter, and a file that is gone loses its row', () => {
  const measured = new Map([
    ['spec/a/one.spec.ts', 2.5],
    ['spec/a/two.spec.ts', 38.46],
    ['spec/new.spec.ts', 0.004],
  ]);
  assert.equal(
    [...merge(durations, measured, (file) => !file.startsWith('spec/c/'))],
    [
      ['spec/a/one.spec.ts', 2],
      ['spec/a/two.spec.ts', 38],
      ['spec/b/long.spec.ts', 5],
      ['spec/b/longer.spec.ts', 90],
      ['spec/new.spec.ts', 0.1],
    ],
  );
});

// ── reports ──

/** What uvu prints at the end of a suite. */
const report = (total: number, passed: number, skipped = 0): string =>
  `  Total:     ${total}\n  Passed:    ${passed}\n  Skipped:   ${skipped}\n  Duration:  1.00ms\n`;

const countsOf = (printed: string, code: number | null = 0, stopped?: string): [number, number, number] => {
  const { passed, failed, skipped } = judge(printed, stopped === undefined ? { code } : { code, stopped });
  return [passed, failed, skipped];
};

test('the reports of all suites of a file count', () => {
  assert.equal(countsOf(report(3, 3)), [3, 0, 0]);
  assert.equal(countsOf(report(3, 3) + report(5, 4, 2), 1), [7, 1, 2]);
  assert.equal(countsOf(report(0, 0, 2)), [0, 0, 2]);
});

test('a file that reports no test, crashes or is stopped has a failure, whatever it printed', () => {
  assert.equal(countsOf('all is well\n'), [0, 1, 0]);
  assert.equal(countsOf(report(3, 3), 1), [3, 1, 0]);
  assert.equal(countsOf(report(3, 3), null), [3, 1, 0]);
  assert.equal(countsOf(report(3, 3), 0, 'stopped'), [3, 1, 0]);
  assert.equal(countsOf(report(3, 1), 1), [1, 2, 0]);
  assert.match(judge('', { code: 0 }).output, /no test was reported$/);
  assert.match(judge(report(1, 1), { code: 7 }).output, /exit code 7$/);
});

test('the last line is the sum', () => {
  const outcome = { passed: 1, failed: 2, skipped: 3, output: '' };
  assert.is(totals([outcome, outcome]), '2 passed, 4 failed, 6 skipped');
  assert.is(totals([]), '0 passed, 0 failed, 0 skipped');
});

test('the ten files that computed longest are listed, the longest first', () => {
  const outcomes = Array.from({ length: 12 }, (_, i) => ({ file: `${i}`, cpu: i, wall: 1, passed: 1, failed: 0, skipped: 0, output: '' }));
  const [head, ...lines] = slowest(outcomes);
  assert.is(head, 'slowest:');
  assert.equal(
    lines.map((line) => line.split(' ').at(-1)),
    ['11', '10', '9', '8', '7', '6', '5', '4', '3', '2'],
  );
});

// ── time and limits ──

test('a line of /proc/PID/stat, whose name may have spaces and parentheses', () => {
  const stat = '42 (a b) c) S 7 42 42 0 -1 4194304 100 200 0 0 150 25 300 50 20 0 1 0 12345 1000 10\n';
  assert.equal(parseStat(stat), { pid: 42, parent: 7, seconds: 5.25 });
  assert.is(parseStat('42 (ended'), undefined);
});

test('a line of ps, with minutes, hours and days', () => {
  assert.equal(parsePs('  42     7   0:05.25'), { pid: 42, parent: 7, seconds: 5.25 });
  assert.equal(parsePs('42 1 02:03:04'), { pid: 42, parent: 1, seconds: 7384 });
  assert.equal(parsePs('42 1 1-00:00:01'), { pid: 42, parent: 1, seconds: 86_401 });
  assert.is(parsePs('  PID  PPID TIME'), undefined);
});

test('a process counts with all that it started, and with nothing else', () => {
  const all = [
    { pid: 1, parent: 0, seconds: 100 },
    { pid: 9, parent: 5, seconds: 4 },
    { pid: 5, parent: 1, seconds: 2 },
    { pid: 6, parent: 5, seconds: 1 },
    { pid: 7, parent: 1, seconds: 50 },
    { pid: 12, parent: 9, seconds: 8 },
  ];
  assert.equal(treeOf(5, all), { pids: [5, 9, 6, 12], seconds: 15 });
  assert.equal(treeOf(77, all), { pids: [], seconds: 0 });
});

test('this process is among those of the machine', () => {
  assert.ok(processTimes().some(({ pid, parent, seconds }) => pid === process.pid && parent === process.ppid && seconds > 0));
});

const folder = mkdtempSync(join(tmpdir(), 'test-runner-'));
test.after(() => rmSync(folder, { recursive: true }));

let written = 0;
async function outcomeOf(code: string, limits?: Limits): Promise<[number, number, string]> {
  const file = join(folder, `${written++}.spec.ts`);
  writeFileSync(file, code);
  const { passed, failed, output } = await runFile(file, limits);
  return [passed, failed, output.trim().split('\n').at(-1)!];
}

const says = `console.log(${JSON.stringify(report(2, 2))});`;

test('a file that passes, one that ends the process, and one that throws', async () => {
  assert.equal((await outcomeOf(says)).slice(0, 2), [2, 0]);
  assert.equal(await outcomeOf(`${says} process.exit(3);`), [2, 1, 'exit code 3']);
  assert.equal((await outcomeOf(`throw new Error('no');`)).slice(0, 2), [0, 1]);
  assert.equal(await outcomeOf(`${says} process.kill(process.pid, 'SIGKILL');`), [2, 1, 'ended by a signal']);
});

test('the engine has the settings of specs, of which the environment may set others', async () => {
  const env = { ...withoutEngineSettings(process.env), ...engineSettings, BUN_JSC_dumpOptions: '1' };
  // The engine's own list of what is not as usual.
  const { stderr } = Bun.spawnSync([process.execPath, '-e', '0'], { env });
  const changed = Object.fromEntries([...String(stderr).matchAll(/^ *(\w+)=(\S+) \(default: /gm)].map(([, name, value]) => [name, value]));
  const numberOf = (value: string | undefined): number => Number(value === 'false' ? 0 : value);
  for (const [name, value] of Object.entries(engineSettings))
    if (name.startsWith('BUN_JSC_')) assert.is(numberOf(changed[name.slice('BUN_JSC_'.length)]), Number(value), name);

  const name = 'BUN_JSC_largeHeapSize';
  const before = process.env[name];
  try {
    delete process.env[name];
    assert.equal(await outcomeOf(`${says} console.log(process.env.${name});`), [2, 0, engineSettings[name]]);
    process.env[name] = '1048576';
    assert.equal(await outcomeOf(`${says} console.log(process.env.${name});`), [2, 0, '1048576']);
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
});

test('a file that computes too much is stopped, and so is what it started', async () => {
  assert.equal(await outcomeOf(`${says} for (;;);`, { cpu: 0.3, wall: 900 }), [2, 1, 'stopped after 0.3 s of CPU time']);
  const child = `Bun.spawn([process.execPath, '-e', 'for (;;);'], { stdout: 'inherit' }); ${says} await new Promise(() => setInterval(() => 0, 1000));`;
  assert.equal(await outcomeOf(child, { cpu: 0.3, wall: 900 }), [2, 1, 'stopped after 0.3 s of CPU time']);
});

test('a file that waits is not stopped for what others compute, but at the limit for those that wait for ever', async () => {
  assert.equal(await outcomeOf('await new Promise(() => setInterval(() => 0, 1000));', { cpu: 300, wall: 0.6 }), [
    0,
    1,
    'stopped after 0.6 s',
  ]);
  assert.equal((await outcomeOf(`await Bun.sleep(1200); ${says}`, { cpu: 1, wall: 900 })).slice(0, 2), [2, 0]);
});

test.run();
