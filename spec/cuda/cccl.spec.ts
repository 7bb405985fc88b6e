/**
 * Programs with CUB and Thrust, whose headers are NVIDIA's: CUMETAL_CCCL names their folder, which has `cub`, `thrust` and `cuda`. Each program
 * compares with the C++ library.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('cuda/cccl');

for (const name of ['cub', 'thrust'])
  need(test, ['cccl', 'wasm-clang', 'sysroot'], `${name}: every result is that of the C++ library`, () => {
    const program = join(root, `fixtures/cuda/cccl/${name}.cu`);
    const args = ['run', program, '-I', process.env.CUMETAL_CCCL!, '--compiler', 'wasm'];
    const { stdout, stderr } = Bun.spawnSync([process.execPath, join(root, 'src/cli/start.ts'), ...args]);
    assert.match(`${stdout}${stderr}`, /^(?:[\w:, ]+ ok\n)+PASS\n/);
  });

test.run();
