/** The sanitizer reports nothing on clean kernels: the examples, the benchmarks, and recorded warp and block instructions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type SanitizeRequest, sanitizeKinds } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { checkOutput, launch } from '../../src/runtime/index.ts';
import { diskIo, exampleNames, exampleText, messages, recordedLaunch, root } from '../support/examples.ts';
import { type Launched, launchMetallib } from '../support/launch.ts';

const test = suite('device/sanitizer-clean');

function sanitizedLibrary(name: string, text: string): { metallib: Uint8Array; sanitize: SanitizeRequest } {
  const source = new SourceFile(`${name}.ptx`, text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { sanitize: true }, diagnostics);
  assert.ok(compiled, messages(diagnostics).join('; '));
  return { metallib: compiled.metallib, sanitize: { kinds: new Set(sanitizeKinds), source } };
}

let kernels = 0;

for (const name of exampleNames)
  test(`the example ${name}, with the results recorded on a GPU`, () => {
    kernels++;
    const { metallib, sanitize } = sanitizedLibrary(name, exampleText(name));
    const diagnostics = new Diagnostics();
    const device = openCpuDevice();
    const module = device.load(metallib, diagnostics)!;
    const outcome = launch(
      device,
      module,
      recordedLaunch(name),
      { repeat: 1, timeoutMs: 0, observe: { sanitize } },
      { io: diskIo, diagnostics },
    );
    assert.equal(messages(diagnostics), []);
    for (const output of outcome!.outputs)
      if (output.expect) assert.ok(checkOutput(output, output.expect, diskIo, diagnostics)!.pass, output.name);
  });

const floats = (count: number): Float32Array => Float32Array.from({ length: count }, (_, i) => ((i * 37) % 101) / 101);
const benchmarks: readonly (readonly [file: string, launched: Launched])[] = [
  [
    'layernorm',
    { kernel: 'layernorm', blocks: 2, threads: 256, args: [floats(2048), floats(1024), floats(1024), new Float32Array(2048), 1024] },
  ],
  ['layernorm', { kernel: 'softmax', blocks: 2, threads: 256, args: [floats(2048), new Float32Array(2048), 1024] }],
  ['nbody', { kernel: 'nbody', blocks: 2, threads: 128, args: [floats(1024), new Float32Array(1024), 256] }],
  ['matmul_regs', { kernel: 'matmul_regs', blocks: 1, threads: 128, args: [floats(4096), floats(4096), new Float32Array(4096), 64] }],
];

for (const [file, launched] of benchmarks)
  test(`the benchmark ${launched.kernel}`, () => {
    kernels++;
    const { metallib, sanitize } = sanitizedLibrary(file, readFileSync(join(root, `bench/kernels/${file}.ptx`), 'utf8'));
    launchMetallib(metallib, launched, { sanitize });
  });

interface Recording {
  readonly head: string;
  readonly tail: string;
  readonly a: string;
  readonly b: string;
  readonly forms: readonly { readonly form: string; readonly block: number; readonly code: readonly string[] }[];
}

const wordsOf = (text: string): number[] => text.split(' ').map((word) => Number.parseInt(word, 16));

/** One warp form in five, one barrier form in three. */
for (const [name, step] of [
  ['warp', 5],
  ['barrier', 3],
] as const) {
  const { head, tail, a, b, forms } = JSON.parse(readFileSync(join(root, `fixtures/h200/${name}.json`), 'utf8')) as Recording;
  for (const { form, block, code } of forms.filter((_, i) => i % step === 0))
    test(`${name}: ${form}`, () => {
      kernels++;
      const { metallib, sanitize } = sanitizedLibrary(form, `${head}${code.map((line) => `  ${line}\n`).join('')}${tail}`);
      const inputs = [a, b].map((words) => Uint32Array.from(wordsOf(words).slice(0, block)));
      launchMetallib(metallib, { kernel: 'form', blocks: 1, threads: block, args: [...inputs, new Uint32Array(4 * block)] }, { sanitize });
    });
}

test('at least a hundred kernels were sanitized', () => assert.ok(kernels >= 100, `${kernels}`));

test.run();
