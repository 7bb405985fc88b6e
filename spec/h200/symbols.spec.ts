/**
 * Variables that the host writes, addresses in initial values, and calls through function addresses, end to end (PTX, metallib, CPU
 * device) against the words that one thread of an NVIDIA H200 stored.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('h200/symbols');

interface Form {
  readonly form: string;
  readonly ptx: string;
  /** In order: each with a number, after bytes (hexadecimal) are written to variables. */
  readonly runs: readonly { readonly number: number; readonly writes: Readonly<Record<string, string>>; readonly words: string }[];
}
const path = join(import.meta.dirname, '../../fixtures/h200/symbols.json');
const { forms } = JSON.parse(readFileSync(path, 'utf8')) as { forms: readonly Form[] };

for (const { form, ptx, runs } of forms)
  for (const target of ['macos14', 'cpu'] as const)
    test(`${form} for ${target}`, () => {
      const diagnostics = new Diagnostics(new SourceFile(`${form}.ptx`, ptx));
      const compiled = compile(diagnostics.file!, { target }, diagnostics);
      assert.equal(diagnostics.list, []);
      const device = openCpuDevice();
      const module = device.load(compiled!.metallib, diagnostics)!;
      const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
      for (const { number, writes, words } of runs) {
        for (const [name, bytes] of Object.entries(writes))
          module.symbols.find((symbol) => symbol.name === name)!.write(Uint8Array.from(Buffer.from(bytes, 'hex')));
        const buffer = device.allocate(4 * words.split(' ').length, diagnostics)!;
        buffer.write(new Uint8Array(buffer.size).fill(0xa5));
        const bytes = new Uint8Array(Uint32Array.of(number).buffer);
        const args = [{ kind: 'buffer', buffer } as const, { kind: 'bytes', bytes } as const];
        assert.ok(module.launch({ kernel: 'form', ...shape, args }, diagnostics), diagnostics.list.map((d) => d.message).join('; '));
        const got = [...new Uint32Array(buffer.read().slice().buffer)].map((word) => word.toString(16));
        assert.equal(got.join(' '), words, `number ${number}`);
      }
    });

test.run();
