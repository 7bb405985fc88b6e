/** Runs kernels that are printed in the Metal Shading Language: compiled by a C++ compiler over a stand-in of Metal's library, as a program. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dim3 } from '../../../src/base/dim3.ts';
import type { MslText } from '../../../src/text/index.ts';

/** The C++ compiler of this machine. */
export const compiler = ['clang++-14', 'clang++', 'g++'].find((name) => spawnSync(name, ['--version']).status === 0);

export interface StandInLaunch {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly dynamicSharedBytes?: number;
  /** The bytes of each argument of the text, in order; inputs and threadgroup memory have none. */
  readonly bytes: readonly Uint8Array[];
}

/** Threadgroup memory is one for all threads of a block, and blocks run one after the other. Attributes of parameters are for Metal alone. */
const withStatics = (text: string): string =>
  text.replaceAll(/^(\s*)threadgroup (\w+ shared_memory\[)/gm, '$1static $2').replaceAll(/ \[\[\w+(?:\(\d+\))?\]\]/g, '');

/** A kernel as a program; a text if the compiler refuses it. */
export function buildStandIn(text: string, kernel: MslText): { run(launch: StandInLaunch): Uint8Array[]; remove(): void } | string {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-msl-'));
  const [source, program, data] = ['k.cpp', 'k', 'data'].map((name) => join(folder, name)) as [string, string, string];
  let place = 0;
  const args = kernel.arguments.map((argument) => {
    if (argument.kind === 'input') return `${argument.name}()`;
    if (argument.kind === 'threadgroup') return 'Pointer{dynamicMemory}';
    return `${argument.kind === 'scalar' ? 'Scalar' : 'Pointer'}{arguments[${place++}]}`;
  });
  writeFileSync(source, `${withStatics(text)}\n#define CALL ${kernel.name}(${args.join(', ')})\n#include "main.inc"\n`);
  const flags = ['-std=c++17', '-O1', '-w', '-ffp-contract=off', '-fno-strict-aliasing', '-I', import.meta.dirname];
  const made = spawnSync(compiler!, [...flags, source, '-o', program, '-lm'], { encoding: 'utf8' });
  const remove = (): void => rmSync(folder, { recursive: true });
  if (made.status !== 0) {
    remove();
    return made.stderr.split('\n').slice(0, 12).join('\n');
  }
  return {
    remove,
    run({ grid, block, dynamicSharedBytes = 0, bytes }) {
      const head = Uint32Array.of(...grid, ...block, dynamicSharedBytes, bytes.length, ...bytes.map(({ length }) => length));
      writeFileSync(data, Buffer.concat([new Uint8Array(head.buffer), ...bytes]));
      const { status, signal } = spawnSync(program, [data], { timeout: 60_000 });
      if (status !== 0) throw new Error(`the program ended with ${status ?? signal}`);
      const after = new Uint8Array(readFileSync(data));
      let at = head.byteLength;
      return bytes.map(({ length }) => {
        at += length;
        return after.subarray(at - length, at);
      });
    },
  };
}
