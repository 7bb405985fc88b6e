/**
 * How long each spec file takes, in seconds of CPU time of its process and of those that it starts. The table is committed
 * (`spec/durations.json`), so that the order of files and the quick selection are the same for everybody;
 * `npm test -- --record` measures it again. A wrong or missing number costs time, never a result.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Seconds of CPU time by the path of a spec file from the root of the project. */
export type Durations = ReadonlyMap<string, number>;

const path = 'spec/durations.json';

export function readDurations(): Durations {
  if (!existsSync(path)) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>));
}

/** The table with new measurements: of files that exist, and a number that moved by less than a quarter stays. */
export function merge(known: Durations, measured: Durations, exists: (file: string) => boolean): Durations {
  const files = [...new Set([...known.keys(), ...measured.keys()])].filter(exists).sort();
  return new Map(files.map((file) => [file, settled(known.get(file), measured.get(file)) ?? 0]));
}

function settled(was: number | undefined, measured: number | undefined): number | undefined {
  if (measured === undefined) return was;
  if (was !== undefined && Math.abs(measured - was) <= was / 4) return was;
  // Less than starting a process takes says nothing.
  return Math.max(0.1, Number(measured.toPrecision(2)));
}

/** Writes what the files that ran took. */
export function record(measured: Durations): void {
  const merged = merge(readDurations(), measured, existsSync);
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(merged), undefined, 2)}\n`);
}
