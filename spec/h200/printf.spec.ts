/** `printf` against an NVIDIA H200: printed text and results of the calls, per format, end to end for both kinds of target. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('h200/printf');

interface Recording {
  readonly results: readonly number[];
  readonly lines: readonly string[];
  readonly ptx: readonly string[];
}
const path = join(import.meta.dirname, '../../fixtures/h200/printf.json');
const { results, lines, ptx } = JSON.parse(readFileSync(path, 'utf8')) as Recording;

for (const target of ['macos14', 'cpu'] as const)
  test(`${results.length} formats for ${target}`, () => {
    const diagnostics = new Diagnostics(new SourceFile('printf.ptx', ptx.join('\n')));
    const compiled = compile(diagnostics.file!, { target }, diagnostics);
    assert.equal(diagnostics.list, []);
    const device = openCpuDevice();
    const buffer = device.allocate(4 * results.length, diagnostics)!;
    buffer.write(new Uint8Array(4 * results.length).fill(0xa5));
    let text = '';
    const print = (piece: Uint8Array): void => {
      text += new TextDecoder('latin1').decode(piece);
    };
    const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
    const args = [{ kind: 'buffer', buffer } as const];
    assert.ok(device.load(compiled!.metallib, diagnostics)!.launch({ kernel: 'k', ...shape, args, print }, diagnostics));
    assert.equal(text.split('\n'), lines);
    assert.equal([...new Int32Array(buffer.read().slice().buffer)], results);
  });

test.run();
