/** Every example, compiled and run on the CPU device, has the bits recorded on an NVIDIA H200. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { checkOutput, initialContents, type Output, readNpy } from '../../src/runtime/index.ts';
import {
  assertQuiet,
  compileExample,
  diskIo,
  exampleNames,
  examplesFolder,
  launchOnCpu,
  launchPath,
  poisoned,
  recordedLaunch,
  root,
} from '../support/examples.ts';

const test = suite('examples/h200');

test('each example has a CUDA source and a recording', () => {
  assert.ok(exampleNames.length >= 18);
  const sources = readdirSync(examplesFolder).filter((file) => file.endsWith('.cu'));
  assert.equal(
    sources.sort(),
    exampleNames.map((name) => `${name}.cu`),
  );
  assert.equal(readdirSync(join(root, 'fixtures/examples')).sort(), exampleNames);
});

// ── in this process ──

/** How an output differs from its recording, as text; empty if all bits are equal. */
function difference(output: Output): string {
  const expect = output.expect!;
  assert.equal([expect.rtol, expect.atol, expect.ulp], [0, 0, 0], 'a recording is compared bit for bit');
  const diagnostics = new Diagnostics();
  const check = checkOutput(output, expect, diskIo, diagnostics)!;
  assertQuiet(diagnostics);
  const recorded = readNpy(diskIo.readFile(expect.path) as Uint8Array);
  assert.type(recorded, 'object');
  const isSame = typeof recorded !== 'string' && Buffer.compare(recorded.data, output.bytes) === 0;
  assert.is(check.pass, isSame, 'the comparison rule and the bytes agree');
  return isSame ? '' : `${check.mismatches} of ${check.count} elements of ${output.name}, the first at ${check.firstMismatch}`;
}

/** A buffer without an expectation is only read by the kernel. */
function assertUntouched(output: Output, name: string): void {
  const argument = recordedLaunch(name).args![output.index]!;
  assert.is(argument.kind, 'buffer', 'inputs are generated, not read from files');
  if (argument.kind !== 'buffer') return;
  const before = initialContents(argument.element, argument.shape, argument.init);
  assert.ok(Buffer.compare(before, output.bytes) === 0, `${output.name} was written`);
}

// An element that is never written keeps the poison, and no recorded value equals both.
for (const name of exampleNames)
  for (const poison of [93, -37])
    test(`${name}: the bits of the H200, with outputs initialized to ${poison}`, () => {
      const plan = recordedLaunch(name);
      assert.is(basename(plan.module), `${name}.ptx`);
      assert.match(readFileSync(launchPath(name), 'utf8'), /"recordedOn": "NVIDIA H200/);
      const { outputs } = launchOnCpu(compileExample(name).metallib, poisoned(plan, poison));
      const expected = outputs.filter((output) => output.expect);
      assert.is(expected.length, plan.args!.filter((argument) => argument.expect).length);
      assert.ok(expected.length > 0);
      for (const output of outputs) output.expect ? assert.is(difference(output), '') : assertUntouched(output, name);
    });

test('a wrong result is detected: another factor in saxpy', () => {
  const plan = recordedLaunch('saxpy');
  const args = plan.args!.map((argument) =>
    argument.kind === 'scalar' && argument.element === 'f32' ? { ...argument, value: 2.25 } : argument,
  );
  const { outputs } = launchOnCpu(compileExample('saxpy').metallib, { ...plan, args });
  assert.is(difference(outputs.find((output) => output.expect)!), '4000 of 4000 elements of y, the first at 0');
});

test.run();
