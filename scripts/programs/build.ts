/** Builds one program with the commands of its makefile, by the compiler driver of this checkout. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { languageOf } from '../../src/cli/cuda/compile.ts';
import type { Recipe } from './make.ts';
import { command, runWords } from './run.ts';
import type { Result } from './table.ts';

/** Where a build stopped, and the messages of the compiler. */
export interface Stopped extends Pick<Result, 'stage' | 'reason'> {
  readonly messages: string;
}

const seconds = 300;

/** Writes the linked program to `to`; what stopped it, if it was not built. */
export async function buildProgram({ units, libraries, includes, images = [] }: Recipe, to: string): Promise<Stopped | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  mkdirSync(join(to, '..'), { recursive: true });
  try {
    const objects: string[] = [];
    for (const [i, { path, flags }] of units.entries()) {
      const object = join(folder, `${i}_${basename(path).replace(/\W/g, '_')}.o`);
      const stopped = await compiler(['-w', '-c', ...flags, path, '-o', object], languageOf(path) === 'cuda');
      if (stopped) return stopped;
      objects.push(object);
    }
    for (const { kind, source, output } of images) {
      const stopped = await compiler(['-w', kind, ...includes.map((each) => `-I${each}`), source, '-o', output], true);
      if (stopped) return stopped;
    }
    return await compiler([...objects, ...libraries.map((name) => `-l${name}`), '-o', to], false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compiler(words: readonly string[], isCuda: boolean): Promise<Stopped | undefined> {
  const { ending, errors } = await runWords([command, 'cc', ...words], { seconds });
  if (ending === 0) return undefined;
  return { stage: ending === 'time' ? 'compile time' : stageOf(errors, isCuda), reason: firstError(errors), messages: errors };
}

/** Which half a message is about. */
function stageOf(messages: string, isCuda: boolean): string {
  if (/\bCM\d{4}\b/.test(messages)) return 'translation';
  if (/wasm-ld:|there is no library/.test(messages)) return 'link';
  return isCuda && /when compiling for sm_/.test(messages) ? 'device compile' : 'host compile';
}

/** The first line of messages that says what is wrong, without places of this machine. */
export function firstError(messages: string): string {
  const lines = messages.split('\n');
  const line = lines.find((each) => /error:|undefined symbol|CM\d{4}/.test(each)) ?? lines.find((each) => each.trim() !== '') ?? '';
  return line.replace(/\/\S+\/(?=[^/\s]+:\d+:)/g, '').slice(0, 240);
}
