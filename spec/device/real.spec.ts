/**
 * Kernels from other compilers on the CPU device, against their formulas. Registered where CUMETAL_REAL_METALLIBS names a folder
 * with such files; missing files are not required.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raiseModule, readFunctionConstants } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { randomFractions } from '../support/lcg.ts';
import { needRealFiles, type RealFile, realFiles } from '../support/real.ts';

const test = suite('real kernels');
const files = realFiles();

/** Registers a test for each file that has a kernel of this name. */
function overKernel(name: string, run: (file: RealFile) => void): void {
  for (const file of files)
    if (readMetallib(file.bytes, new Diagnostics())?.functions.some((fn) => fn.name === name && fn.type === 'kernel'))
      test(`${file.name}: ${name}`, () => run(file));
}

const floats = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.slice().buffer);

needRealFiles(test, 'kernels from other compilers');

overKernel('add_arrays', ({ bytes }) => {
  const n = 200;
  const a = Float32Array.from({ length: n }, (_, i) => i / 7);
  const b = Float32Array.from({ length: n }, (_, i) => 1e6 - i * i);
  const after = launchMetallib(bytes, { kernel: 'add_arrays', blocks: 4, threads: 50, args: [a, b, new Float32Array(n)] });
  assert.equal(
    floats(after[2]!),
    a.map((x, i) => Math.fround(x + b[i]!)),
  );
});

/** One step of an n-body simulation in double precision. */
function step(positions: Float32Array, velocities: Float32Array, seconds: number): { positions: number[]; velocities: number[] } {
  const [softening, damping] = [1e-4, 0.999];
  const count = velocities.length / 3;
  const moved: number[] = [];
  const pushed: number[] = [];
  for (let i = 0; i < count; i++) {
    const pull = [0, 0, 0];
    for (let j = 0; j < count; j++) {
      const away = [0, 1, 2].map((axis) => positions[4 * j + axis]! - positions[4 * i + axis]!);
      const squared = away.reduce((sum, d) => sum + d * d, softening);
      const strength = positions[4 * j + 3]! / (squared * Math.sqrt(squared));
      for (const axis of [0, 1, 2]) pull[axis]! += strength * away[axis]!;
    }
    for (const axis of [0, 1, 2]) {
      const velocity = (velocities[3 * i + axis]! + pull[axis]! * seconds) * damping;
      pushed.push(velocity);
      moved.push(positions[4 * i + axis]! + velocity * seconds);
    }
    moved.push(0);
  }
  return { positions: moved, velocities: pushed };
}

overKernel('simplified_nbody', ({ bytes }) => {
  const count = 512;
  const random = randomFractions(1);
  const positions = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 3 ? 0.5 + random() : 20 * random() - 10));
  const velocities = Float32Array.from({ length: 3 * count }, () => random() - 0.5);
  const expected = step(positions, velocities, 0.05);
  // The result of a step is added to the second buffer.
  const seconds = new Uint32Array(Float32Array.of(0.05).buffer)[0]!;
  const args = [positions, positions.slice(), velocities, seconds];
  const after = launchMetallib(bytes, { kernel: 'simplified_nbody', blocks: count / 256, threads: 256, args });
  const near = (found: Float32Array, expected: readonly number[], skip: number): void =>
    expected.forEach((value, i) => {
      if (skip && i % skip === skip - 1) return;
      assert.ok(Math.abs(found[i]! - value) <= 1e-4 * Math.max(1, Math.abs(value)), `element ${i} is ${found[i]}, not ${value}`);
    });
  near(floats(after[1]!), expected.positions, 4);
  near(floats(after[2]!), expected.velocities, 0);
  // The masses are unchanged.
  for (let i = 3; i < 4 * count; i += 4) assert.is(floats(after[1]!)[i], positions[i]);
});

overKernel('vadd', ({ bytes }) => {
  const module = readModule(readMetallib(bytes, new Diagnostics())!.functions[0]!.bitcode, new Diagnostics())!;
  if (readFunctionConstants(module).length === 0) return;
  const n = 64;
  const a = Float32Array.from({ length: n }, (_, i) => i / 8);
  const b = Float32Array.from({ length: n }, (_, i) => 3 - i);
  const constants = [
    { constant: 'foo', value: 2.5 },
    { constant: 2, value: -0.75 },
  ];
  const after = launchMetallib(bytes, { kernel: 'vadd', blocks: 2, threads: n / 2, args: [a, b, new Float32Array(n)], constants });
  assert.equal(
    floats(after[2]!),
    a.map((x, i) => 2.5 * x + b[i]! - 0.75),
  );
});

for (const { name, bytes } of files)
  for (const fn of readMetallib(bytes, new Diagnostics())?.functions ?? [])
    if (fn.type === 'kernel')
      test(`${name}: ${fn.name} is raised, or refused with the unsupported feature`, () => {
        const diagnostics = new Diagnostics();
        const raised = raiseModule(readModule(fn.bitcode, diagnostics)!, diagnostics);
        const needs = diagnostics.list.map((d) => d.message).join();
        assert.ok(
          raised.length === 1
            ? needs === ''
            : /needs a value for its function constant|a parameter of the kind `air\.texture`|the function `air\.simdgroup_/.test(needs),
          needs,
        );
      });

test.run();
