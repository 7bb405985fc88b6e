/** Device code that a program compiles while it runs, by the compiler that this project has. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('toolchain/nvrtc');

const run = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(join(root, 'bin/cumetal'), words, { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } });

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
const program = join(folder, 'program');
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** What the program prints that has a compiler: its kernels write `3 · i + 1` plus halves of 0, 2, 4 and 5, and twice 21. */
const expected = `version: 0 1, architectures: 1
templates: NVRTC_SUCCESS, NVRTC_SUCCESS
machine code: NVRTC_SUCCESS 0
module: 0
variable: 0 of 16 bytes
fill<int>: NVRTC_SUCCESS 1 5 9 12 13 17
&fill<float>: NVRTC_SUCCESS 1 5 9 12.5 13 17
later: NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION
unknown: NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID
plain: 0
destroyed: 0 1 4
wrong option: NVRTC_SUCCESS, NVRTC_ERROR_INVALID_OPTION
wrong option: 5
nvrtc: error: unrecognized option --nonsense found
before: NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION
no code: NVRTC_ERROR_INVALID_PROGRAM
wrong source: NVRTC_SUCCESS, NVRTC_ERROR_COMPILATION
kernels.cu:2:11: error: use of undeclared identifier 'nothing'
`;

need(test, ['sysroot'], 'a program compiles kernels, and runs them', () => {
  assert.is(run(['cc', 'fixtures/libraries/nvrtc.cu', '-lnvrtc', '-lcuda', '-o', program]).status, 0);
  const { status, stdout, stderr } = run(['run', program, '--device', 'cpu']);
  assert.equal([status, stderr], [0, '']);
  assert.is(stdout.slice(0, expected.length), expected);
  const rest = ['for a device: NVRTC_SUCCESS, NVRTC_SUCCESS', 'module: 0', 'answer: 42', 'type: 0 float const&'];
  assert.ok(stdout.endsWith(`${rest.join('\n')}\nno source: NVRTC_ERROR_INVALID_INPUT\n`));
});

need(test, ['sysroot'], 'without a compiler, the log says what to install', () => {
  const { stdout } = run(['run', program, '--device', 'cpu'], { CUMETAL_SYSROOT: join(folder, 'nothing') });
  assert.match(
    stdout,
    /^templates: NVRTC_SUCCESS, NVRTC_ERROR_COMPILATION\nerror: .*kernels\.cu is a whole CUDA program.*\n {2}= help: .*npm /m,
  );
});

test.run();
