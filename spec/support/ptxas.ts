/** NVIDIA's assembler as a checker: what it says of a text, line by line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The first thing ptxas says of each line; the assembler goes on after most faults, but not after a syntax error. */
export function ptxasFaults(text: string, architecture = 'sm_90'): Map<number, string> {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    const path = join(folder, 'a.ptx');
    writeFileSync(path, text);
    const { stderr, stdout } = Bun.spawnSync(['ptxas', `-arch=${architecture}`, '-O0', path, '-o', '/dev/null']);
    const faults = new Map<number, string>();
    for (const [, line = '', said = ''] of `${stdout}${stderr}`.matchAll(/line (\d+); (?:error|fatal) *: (.*)/g))
      if (!faults.has(Number(line))) faults.set(Number(line), said.trim());
    return faults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
