/**
 * Kernels that Triton compiled for sm_80, with what an NVIDIA H200 made of them (fixtures/triton, `scripts/record/triton_kernels.py`). Each runs on
 * both engines of the CPU device; its launch file has the tolerance of each output, none for integers, moves and exact arithmetic.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type Engine, openCpuDevice } from '../../src/device/index.ts';
import { checkOutput, type LaunchFile, launch, type Output, readLaunchFile } from '../../src/runtime/index.ts';
import { assertQuiet, diskIo, root } from '../support/examples.ts';
import { compileRecorded } from '../support/producers.ts';

const test = suite('h200/triton');

const folder = join(root, 'fixtures/triton');
const names = readdirSync(folder).flatMap((name) => name.match(/^(.*)\.launch\.json$/)?.[1] ?? []);

test('kernels of every kind are recorded', () => assert.ok(names.length >= 25));

function recordedLaunch(name: string): LaunchFile {
  const path = join(folder, `${name}.launch.json`);
  const diagnostics = new Diagnostics();
  const file = readLaunchFile(path, readFileSync(path, 'utf8'), diagnostics);
  assertQuiet(diagnostics);
  return file!;
}

function outputsOn(engine: Engine, metallib: Uint8Array, plan: LaunchFile): readonly Output[] {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ engine });
  const module = device.load(metallib, diagnostics);
  const outcome = module && launch(device, module, plan, { repeat: 1, timeoutMs: 60_000 }, { io: diskIo, diagnostics });
  assertQuiet(diagnostics);
  device.close();
  return outcome!.outputs;
}

function assertExpected(output: Output): void {
  const diagnostics = new Diagnostics();
  const check = checkOutput(output, output.expect!, diskIo, diagnostics)!;
  assertQuiet(diagnostics);
  assert.ok(check.pass, `${check.mismatches} of ${check.count} elements of ${output.name}, the first at ${check.firstMismatch}`);
}

const engines: readonly Engine[] = ['simd', 'lane'];
for (const name of names)
  test(name, () => {
    const plan = recordedLaunch(name);
    const { metallib } = compileRecorded({ name, ptx: readFileSync(join(folder, `${name}.ptx`), 'utf8') });
    for (const engine of engines) {
      const expected = outputsOn(engine, metallib, plan).filter(({ expect }) => expect);
      assert.ok(expected.length > 0);
      for (const output of expected) assertExpected(output);
    }
  });

test.run();
