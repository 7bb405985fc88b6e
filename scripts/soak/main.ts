/**
 * `bun scripts/soak/main.ts [KIND …]`: 20,000 launches, 5,000 loads of modules and 1,000 devices in Bun and in Node, and a table of the memory
 * after each tenth. The last line is the growth over the second half, which has to be flat; of devices, up to 64 MiB wait
 * for the next collection.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programForNode } from '../node-program.ts';
import { withoutEngineSettings } from '../test/engine-settings.ts';
import type { Level } from './program.ts';

/** Rounds of each kind. */
export const rounds = { launches: 20_000, modules: 5000, devices: 1000 } as const;
export type Kind = keyof typeof rounds;

/**
 * Runs the program, built into one file, and returns its levels. Throws if it fails. In Node it may collect garbage itself, except for devices:
 * their memory has to be collected without that.
 */
export function soak(runtime: 'bun' | 'node', program: string, kind: Kind, count: number): Level[] {
  const options = runtime === 'node' && kind !== 'devices' ? ['--expose-gc'] : [];
  const { status, stdout, stderr } = spawnSync(runtime === 'bun' ? process.execPath : 'node', [...options, program, kind, String(count)], {
    encoding: 'utf8',
    env: withoutEngineSettings(process.env),
  });
  if (status !== 0) throw new Error(`${runtime} ${kind}: ${stderr}`);
  return JSON.parse(stdout) as Level[];
}

/** Builds the program in a folder; returns its path. */
export async function buildSoak(folder: string): Promise<string> {
  const path = join(folder, 'soak.mjs');
  writeFileSync(path, await programForNode(join(import.meta.dirname, 'program.ts')));
  return path;
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1).padStart(8);

/** The growth of a measure between the middle and the end. */
export const growth = (levels: readonly Level[], of: 'rss' | 'heap' | 'wasm'): number =>
  levels.at(-1)![of] - levels[Math.ceil(levels.length / 2) - 1]![of];

async function main(wanted: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-soak-'));
  try {
    const program = await buildSoak(folder);
    for (const kind of Object.keys(rounds) as Kind[]) {
      if (wanted.length > 0 && !wanted.includes(kind)) continue;
      for (const runtime of ['bun', 'node'] as const) {
        const levels = soak(runtime, program, kind, rounds[kind]);
        console.log(
          `\n${rounds[kind]} ${kind} in ${runtime}, MiB\n${'done'.padStart(8)}${'rss'.padStart(9)}${'heap'.padStart(9)}${'wasm'.padStart(9)}`,
        );
        for (const { done, rss, heap, wasm } of levels) console.log(`${String(done).padStart(8)} ${mib(rss)} ${mib(heap)} ${mib(wasm)}`);
        const [rss, heap, wasm] = (['rss', 'heap', 'wasm'] as const).map((of) => mib(growth(levels, of)));
        console.log(`${'2nd half'.padStart(8)} ${rss} ${heap} ${wasm}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main(process.argv.slice(2));
