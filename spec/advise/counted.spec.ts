/** The numbers that advice states against those that the profiler counts: an exact one is the counted one, and no request needs more than `most`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AdvisedLaunch, advise, type KernelAdvice } from '../../src/advise/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import type { Profile } from '../../src/device/profile.ts';
import { type ArgumentSpec, encodeValue, type LaunchPlan, launch, parseArgument } from '../../src/runtime/index.ts';
import { diskIo, exampleNames, messages, recordedLaunch, root } from '../support/examples.ts';
import { profiledLaunches, profileOf } from '../support/profiled.ts';

const test = suite('advise/counted');

interface Coverage {
  all: number;
  exact: number;
  most: number;
}

/** Holds the numbers of a kernel against its profile, line by line. */
function compare({ kernel, accesses, branches }: KernelAdvice, profile: Profile, coverage: Coverage): void {
  for (const { line, space, kind, steps } of accesses) {
    coverage.all++;
    if (!steps || steps.certainty === 'assumed') continue;
    const counted = profile.lines.find((each) => each.line === line);
    const where = `${kernel}, line ${line}`;
    const requests = counted?.[space][kind].requests ?? 0;
    const found = space === 'global' ? counted?.global[kind].sectors : counted?.shared[kind].wavefronts;
    // A loop may have no turn.
    if (found === undefined || requests === 0) continue;
    assert.is(accesses.filter((other) => other.line === line && other.space === space && other.kind === kind).length, 1, where);
    coverage[steps.certainty]++;
    if (steps.certainty === 'exact') assert.is(steps.steps * requests, found, where);
    else assert.ok(found <= steps.steps * requests, where);
  }
  for (const { line, diverges, warps } of branches) {
    const counted = profile.lines.find((each) => each.line === line)?.branches;
    if (!counted || counted.executed === 0) continue;
    if (diverges === false) assert.is(counted.diverged, 0, `${kernel}, branch in line ${line}`);
    if (diverges === true && warps.diverging === warps.of) assert.ok(counted.diverged > 0, `${kernel}, branch in line ${line}`);
  }
}

test('kernels whose counts an H200 confirms', () => {
  const source = new SourceFile('profile.ptx', readFileSync(join(root, 'fixtures/profile/profile.ptx'), 'utf8'));
  const launchOf = (name: string): AdvisedLaunch | undefined => {
    const found = profiledLaunches.find(({ kernel }) => kernel === name);
    return found && { grid: [found.grid, 1, 1], block: [found.block, 1, 1] };
  };
  const found = advise(source, launchOf, {}, new Diagnostics(source))!;
  assert.is(found.length, profiledLaunches.length);
  const coverage: Coverage = { all: 0, exact: 0, most: 0 };
  for (const advice of found) compare(advice, profileOf(advice.kernel), coverage);
  // The others have addresses that were loaded, or loops that lanes leave at different turns.
  assert.equal(coverage, { all: 227, exact: 216, most: 9 });
});

/** The profile and the advice of a launch. */
function both(source: SourceFile, plan: LaunchPlan & { readonly args: readonly ArgumentSpec[] }, coverage: Coverage): void {
  const diagnostics = new Diagnostics(source);
  const device = openCpuDevice();
  const made = compile(source, { target: 'cpu', marks: true }, diagnostics);
  const module = made && device.load(made.metallib, diagnostics);
  let profile: Profile | undefined;
  const take = (taken: Profile): void => {
    profile = taken;
  };
  const options = { repeat: 1, timeoutMs: 0, observe: { profile: { source, take } } };
  if (module) launch(device, module, plan, options, { io: diskIo, diagnostics });
  device.close();
  assert.ok(profile, messages(diagnostics).join('; '));
  const { kernel, grid, block } = profile;
  const bytesOf = (index: number): Uint8Array | undefined => {
    const argument = plan.args[index];
    return argument?.kind === 'scalar' ? encodeValue(argument.element, argument.value) : undefined;
  };
  const known = { grid, block, sharedBytes: plan.sharedBytes, bytesOf };
  const found = advise(source, (name) => (name === kernel ? known : undefined), {}, diagnostics)!;
  compare(found.find((each) => each.kernel === kernel)!, profile, coverage);
}

const fileOf = (path: string): SourceFile => new SourceFile(path, readFileSync(join(root, path), 'utf8'));

/** Examples whose profiles take long, and which have four accesses together. */
const slow: ReadonlySet<string> = new Set(['mandelbrot', 'collatz']);

test('the examples', () => {
  const coverage: Coverage = { all: 0, exact: 0, most: 0 };
  for (const name of exampleNames.filter((each) => !slow.has(each))) {
    const plan = recordedLaunch(name);
    both(fileOf(`examples/${name}.ptx`), { ...plan, args: plan.args! }, coverage);
  }
  assert.ok(coverage.exact >= 0.8 * coverage.all, JSON.stringify(coverage));
});

/** The benchmarks, with smaller launches than theirs. */
const benchmarks: readonly (readonly [file: string, kernel: string, grid: number, block: number, args: readonly string[]])[] = [
  ['layernorm', 'layernorm', 2, 256, ['f32:2048=rand', 'f32:1024=rand', 'f32:1024=rand', 'f32:2048', 'u32=1024']],
  ['layernorm', 'softmax', 2, 256, ['f32:2048=rand', 'f32:2048', 'u32=1024']],
  ['nbody', 'nbody', 2, 128, ['f32:1024=rand', 'f32:1024', 'u32=256']],
  ['matmul_regs', 'matmul_regs', 1, 128, ['f32:4096=rand', 'f32:4096=rand', 'f32:4096', 'u32=64']],
];

test('the benchmarks', () => {
  const coverage: Coverage = { all: 0, exact: 0, most: 0 };
  for (const [file, kernel, grid, block, words] of benchmarks) {
    const args = words.map((word) => parseArgument(word, new Diagnostics())!);
    both(fileOf(`bench/kernels/${file}.ptx`), { kernel, grid: [grid, 1, 1], block: [block, 1, 1], args, constants: [] }, coverage);
  }
  assert.ok(coverage.exact >= 0.9 * coverage.all, JSON.stringify(coverage));
});

test.run();
