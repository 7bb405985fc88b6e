/**
 * Kernels that Triton compiled for sm_80, with what an NVIDIA H200 made of them (fixtures/triton, `scripts/record/triton_kernels.py`). Each runs on
 * both engines of the CPU device; its launch file has the tolerance of each output, none for integers, moves and exact arithmetic.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Engine } from '../../src/device/device.ts';
import { cli } from '../support/cli.ts';
import { root } from '../support/examples.ts';

const test = suite('h200/triton');

const folder = join(root, 'fixtures/triton');
const names = readdirSync(folder).flatMap((name) => name.match(/^(.*)\.launch\.json$/)?.[1] ?? []);

test('kernels of every kind are recorded', () => assert.ok(names.length >= 25));

interface Check {
  readonly pass: boolean;
}

const engines: readonly Engine[] = ['simd', 'lane'];
for (const name of names)
  for (const engine of engines)
    test(`${name}, engine ${engine}`, async () => {
      const words = ['run', '--launch', join(folder, `${name}.launch.json`), '--device', 'cpu', '--engine', engine, '--json'];
      const { code, out, err } = await cli(words);
      assert.is(code, 0, err + out);
      const { checks }: { readonly checks: readonly Check[] } = JSON.parse(out);
      assert.ok(checks.length > 0);
      assert.ok(checks.every(({ pass }) => pass));
    });

test.run();
