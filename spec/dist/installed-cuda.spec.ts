/** A `.cu` file through the installed programs: our headers are inside them, and clang is the package that a user would install. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';
import { programOf } from '../support/installed.ts';

const test = suite('dist/installed-cuda');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const source = join(folder, 'scale.cu');
writeFileSync(
  source,
  `#include <cooperative_groups.h>
__global__ void scale(float *p, float f) {
  p[cooperative_groups::this_grid().thread_rank()] *= f;
}
`,
);

for (const way of ['bun', 'node', 'single-file'] as const)
  test(`${way}: a kernel compiles with the package, and runs`, async () => {
    const [file, ...words] = await programOf(way);
    const launch = ['--grid', '1', '--block', '4', '--arg', 'f32:4=iota', '--arg', 'f32=2', '--print', '0'];
    const env = { ...process.env, CUMETAL_CLANG: join(root, 'node_modules/@yowasp/clang'), CUMETAL_CACHE_PATH: join(folder, way) };
    const command = [...words, 'run', source, '--compiler', 'wasm', '--device', 'cpu', ...launch];
    const { status, stdout, stderr } = spawnSync(file!, command, { cwd: folder, encoding: 'utf8', env });
    assert.equal([status, stderr], [0, '']);
    assert.match(stdout, /0 \| 0 2 4 6\n/);
  });

test.run();
