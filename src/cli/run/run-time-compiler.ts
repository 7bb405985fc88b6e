/** What compiles device code of a running program: `cumetal cc` in a process of its own, on files of a folder that is removed afterwards. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { RuntimeSource } from '../../program/index.ts';
import { compileText } from '../cuda/children.ts';
import type { Terminal } from '../terminal/index.ts';

/** What NVRTC has without an `#include`. */
const prelude = '#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n';

/** Code and messages, in which files have the names that the program gave them. */
export function compileAtRunTime(
  source: RuntimeSource,
  terminal: Pick<Terminal, 'env'>,
): { readonly ptx: string | undefined; readonly log: string } {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    const write = (path: string, text: string): string => {
      const to = join(folder, path);
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, text);
      return to;
    };
    for (const [name, text] of source.headers) write(`headers/${name}`, text);
    const before = write('before.h', prelude);
    const [start, end] = source.isDeviceByDefault
      ? ['#pragma clang force_cuda_host_device begin\n', '\n#pragma clang force_cuda_host_device end\n']
      : ['', ''];
    const name = basename(source.name) || 'default_program';
    const path = write(`source/${name}`, `${start}#line 1 ${JSON.stringify(source.name)}\n${source.text}${source.suffix}${end}`);
    const folders = [join(folder, 'headers'), ...(source.hasSourceFolder ? [dirname(source.name)] : [])];
    const options = [...source.words, '-include', before, ...folders.map((each) => `-I${each}`)];
    const words = ['-ptx', '-x', 'cu', '-D__CUDACC_RTC__=1', ...options, path];
    const { code, out, messages } = compileText(words, terminal);
    const log = messages.replaceAll(`${folder}/source/`, '').replaceAll(`${folder}/headers/`, '');
    return { ptx: code === 0 ? out : undefined, log };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
