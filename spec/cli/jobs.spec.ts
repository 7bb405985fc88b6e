/** Work that a scheduler spreads over processes: the parts of the example for many GPUs are together what one launch gives. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';

const test = suite('cli/jobs');

test('two processes compute the parts of a picture', async () => {
  const at = mkdtempSync(join(tmpdir(), 'cumetal-jobs-'));
  try {
    const env = { ...process.env, CUMETAL: join(root, 'bin/cumetal'), DEVICE: 'cpu' };
    const part = (number: number, parts: number): Promise<number> =>
      Bun.spawn(['sh', join(root, 'examples/jobs/mandelbrot.sh'), `${number}`, `${parts}`], { cwd: at, env, stdout: 'ignore' }).exited;
    const read = (number: number): Buffer => readFileSync(join(at, `part${number}.bin`));
    assert.equal(await Promise.all([part(0, 2), part(1, 2)]), [0, 0]);
    const parts = Buffer.concat([read(0), read(1)]);
    assert.is(await part(0, 1), 0);
    assert.is(parts.length, 512 * 512);
    assert.ok(parts.equals(read(0)), 'the parts are the picture');
    assert.ok(new Set(parts).size > 100, 'the picture has shades');
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
});

test.run();
