/**
 * Simdgroup matrix products (`--mma=fast`) in the independent oracle: LLVM runs the AIR, with lanes in either order, and has the results
 * of the CPU device. The oracle's layout of a matrix is that of MLX.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { argsOf, recording, sourceOf, sumType } from '../support/matrix-recording.ts';
import { numbersOf } from '../support/matrix-sums.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/matrix');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** One form of each element type and shape; the oracle takes a second for each. */
const chosen = [
  'mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16',
  'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32',
  'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32',
  'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32',
  'mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32',
  'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32',
  'wmma.mma.sync.aligned.row.row.m8n32k16.f16.f16',
  'wmma.mma.sync.aligned.col.col.m32n8k16.f32.bf16.bf16.f32',
];

const bytesOf = (value: bigint): Uint8Array => new Uint8Array(BigUint64Array.of(value).buffer);

for (const [i, name] of chosen.entries())
  need(test, oracleTools, name, () => {
    const form = recording.forms.find((each) => each.form === name)!;
    const diagnostics = new Diagnostics();
    const { metallib } = compile(sourceOf(name, form.frame, form.code), { mma: 'fast' }, diagnostics)!;
    const given = argsOf(form);
    const args = given.map((arg) => (typeof arg === 'bigint' ? bytesOf(arg) : arg));
    const order = i % 2 === 0 ? 'fwd' : 'rev';
    const shape = { grid: [form.trials, 1, 1], block: [32, 1, 1], sharedBytes: undefined, order };
    const { status, complaints, after } = launchOracle(folder, metallib, { kernel: 'form', args, ...shape });
    assert.is(complaints, '');
    assert.is(status, 0);
    const own = launchMetallib(metallib, { kernel: 'form', blocks: form.trials, threads: 32, args: given });
    const numbers = (bytes: Uint8Array): string[] => numbersOf(sumType(form)!, bytes).map((x) => (Object.is(x, -0) ? '-0' : String(x)));
    const [found, expected] = [numbers(after.at(-1)!), numbers(own.at(-1)!)];
    assert.ok(new Set(expected).size > 100);
    assert.equal(found, expected);
  });

test.run();
