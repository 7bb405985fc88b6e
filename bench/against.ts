/**
 * `npm run bench -- all --against COMMIT`: the sources as they are and those of a commit, each built, in turns on the same files. Sizes of what
 * they make are exact: one that is 5 % worse ends with exit code 1. Times are processor times of whole processes as ratios with intervals of
 * 95 %; one that is surely more than 5 % slower is a warning. `--rounds=N` takes more turns, and a `.ptx` among the words is compiled too.
 */
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { allowed, instructionsIn, type Size, sizedKernels, worsening } from './code-size.ts';
import { root } from './cold.ts';
import { geomean } from './report.ts';
import { type Estimate, estimateOf } from './statistics.ts';

/** Files of usual size, and a small one. */
const timedFiles = [
  ...['nbody', 'matmul_regs', 'blur17', 'layernorm', 'quantised_dot'].map((name) => `bench/kernels/${name}.ptx`),
  'examples/vector_add.ptx',
];

interface Tree {
  /** `bin/cumetal` of built sources. */
  readonly program: string;
  /** A folder for what it writes, among it its cache. */
  readonly folder: string;
}

interface Measured {
  readonly name: string;
  readonly estimate: Estimate;
}

/** Prints both comparisons; returns whether no size is worse. */
export function compareWith(commit: string, words: readonly string[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-against-'));
  const checkout = join(folder, 'sources');
  try {
    git('worktree', 'add', '--detach', checkout, commit);
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
    const [ours, theirs] = [treeOf(root, join(folder, 'ours')), treeOf(checkout, join(folder, 'theirs'))];
    const isWorse = compareSizes(ours, theirs);
    const rounds = Number(/^--rounds=(\d+)$/.exec(words.find((word) => word.startsWith('--rounds=')) ?? '')?.[1] ?? 11);
    const files = words.filter((word) => word.endsWith('.ptx')).map((file) => resolve(file));
    compareTimes(ours, theirs, [...timedFiles.map((file) => join(root, file)), ...files], rounds);
    return !isWorse;
  } finally {
    Bun.spawnSync(['git', 'worktree', 'remove', '--force', checkout], { cwd: root, stdout: 'ignore', stderr: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  }
}

function git(...words: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['git', ...words], { cwd: root, stdout: 'ignore', stderr: 'pipe' });
  if (exitCode !== 0) throw new Error(`git ${words[0]}: ${stderr.toString()}`);
}

/** Builds sources. */
function treeOf(sources: string, folder: string): Tree {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, join(sources, 'scripts/bundle.ts')], { cwd: sources, stderr: 'pipe' });
  if (exitCode !== 0) throw new Error(`building ${sources}: ${stderr.toString()}`);
  Bun.spawnSync(['mkdir', '-p', folder]);
  return { program: join(sources, 'bin/cumetal'), folder };
}

// ── sizes ──

/** Prints the kernels whose sizes differ; returns whether one is worse. */
function compareSizes(ours: Tree, theirs: Tree): boolean {
  const worse: string[] = [];
  const ratios: number[] = [];
  for (const file of sizedKernels) {
    const [now, before] = [sizeBy(ours, file), sizeIfAny(theirs, file)];
    if (!before) {
      console.log(`${file}: ${now.instructions} instructions, ${now.bytes} bytes; the commit does not compile it`);
      continue;
    }
    ratios.push(now.instructions / before.instructions);
    const more = worsening(file, now, before);
    if (more !== undefined) worse.push(more);
    else if (now.instructions !== before.instructions || now.bytes !== before.bytes)
      console.log(`${file}: ${now.instructions} instructions for ${before.instructions}, ${now.bytes} bytes for ${before.bytes}`);
  }
  console.log(`instructions of ${ratios.length} files: ${geomean(ratios).toFixed(4)} of the commit's`);
  for (const line of worse) console.error(`worse: ${line}`);
  return worse.length > 0;
}

/** The size, or nothing of a kernel that sources of earlier do not compile. */
function sizeIfAny(tree: Tree, file: string): Size | undefined {
  try {
    return sizeBy(tree, file);
  } catch {
    return undefined;
  }
}

function sizeBy({ program, folder }: Tree, file: string): Size {
  const path = join(root, file);
  const metallib = join(folder, 'sized.metallib');
  const text = run([program, 'build', '--quiet', '--target', 'macos15', '--emit', 'air-ll', path, '-o', '-'], folder).text;
  run([program, 'build', '--quiet', '--target', 'macos15', path, '-o', metallib], folder);
  return { instructions: instructionsIn(text), bytes: statSync(metallib).size };
}

// ── times ──

function compareTimes(ours: Tree, theirs: Tree, files: readonly string[], rounds: number): void {
  const commands = (file: string): [string, (tree: Tree) => string[]][] => [
    ['check', ({ program }) => [program, 'check', '--quiet', file]],
    ['build', ({ program, folder }) => [program, 'build', '--quiet', '--target', 'macos15', file, '-o', join(folder, 'timed.metallib')]],
  ];
  const rows = files.flatMap((file) =>
    commands(file).map(([name, command]) => timed(`${name} ${basename(file)}`, command, ours, theirs, rounds)),
  );
  const seen = join(root, 'examples/vector_add.ptx');
  rows.push(timed('run vector_add.ptx', ({ program }) => [program, 'run', '--quiet', seen, '--device', 'cpu'], ours, theirs, rounds));
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const {
    name,
    estimate: { ratio, low, high },
  } of rows) {
    const note = low > allowed ? '  slower' : high < 1 ? '  faster' : '';
    console.log(`${name.padEnd(width)}  ${ratio.toFixed(3)} of the commit's time, ${low.toFixed(3)} to ${high.toFixed(3)}${note}`);
  }
  console.log(`geometric mean of the times: ${geomean(rows.map(({ estimate }) => estimate.ratio)).toFixed(3)}`);
  for (const { name, estimate } of rows) if (estimate.low > allowed) console.error(`warning: ${name} is slower than at the commit`);
}

function timed(name: string, command: (tree: Tree) => string[], ours: Tree, theirs: Tree, rounds: number): Measured {
  // What is not in memory yet, and what is cached, is so for both.
  for (const tree of [ours, theirs]) run(command(tree), tree.folder);
  const pairs = Array.from({ length: rounds }, (_, round): [number, number] => {
    // Whoever is first may find a processor that is warmer or busier.
    const isFirst = round % 2 === 0;
    const first = run(command(isFirst ? ours : theirs), (isFirst ? ours : theirs).folder).time;
    const second = run(command(isFirst ? theirs : ours), (isFirst ? theirs : ours).folder).time;
    return isFirst ? [first, second] : [second, first];
  });
  return { name, estimate: estimateOf(pairs) };
}

/** The processor time of a process and its children in seconds, and what it wrote. */
function run(command: readonly string[], folder: string): { readonly time: number; readonly text: string } {
  const { exitCode, stdout, stderr, resourceUsage } = Bun.spawnSync([...command], {
    cwd: folder,
    env: { ...process.env, CUMETAL_CACHE_PATH: folder, CUMETAL_HELPER: '0' },
    stderr: 'pipe',
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
  return { time: Number(resourceUsage.cpuTime.total) / 1e6, text: stdout.toString() };
}
