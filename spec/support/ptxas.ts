/** NVIDIA's assembler as a checker: its diagnostics by line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The first diagnostic of each line; the assembler continues after most faults, but not after a syntax error. */
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

/** The texts that the assembler accepts, each for the architecture of its own `.target`; several processes run at a time. */
export async function ptxasTakes(texts: readonly string[], architecture = 'sm_90'): Promise<boolean[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  const taken: boolean[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < texts.length; i = next++) {
      const path = join(folder, `${i}.ptx`);
      writeFileSync(path, texts[i]!);
      const options = { stdout: 'ignore', stderr: 'ignore' } as const;
      taken[i] = (await Bun.spawn(['ptxas', `-arch=${architecture}`, '-O0', path, '-o', '/dev/null'], options).exited) === 0;
    }
  };
  try {
    await Promise.all([work(), work()]);
    return taken;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
