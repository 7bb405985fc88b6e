/** `cumetal cache`: prints the folder of the compile cache, lists its entries, or removes them. */
import { rmSync } from 'node:fs';
import type { StoredEntry } from '../cache/index.ts';
import { type Context, has } from './command/command.ts';
import { headersFolder, storeOf } from './command/compile-cache.ts';
import { usageError } from './command/usage-error.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { jsonDocument } from './terminal/json.ts';
import { sizeText } from './terminal/size-text.ts';

/** Runs the command. */
export async function cache({ parsed, terminal }: Context): Promise<ExitCode> {
  const what = parsed.positionals[0]!;
  if (!isAction(what))
    return usageError(`unexpected argument \`${what}\`: expected one of path, list, clear`, 'cumetal cache --help', terminal);
  const found = storeOf(terminal);
  if ('why' in found) {
    terminal.err(`error: there is no cache: ${found.why}\n`);
    return exit.failed;
  }
  const { store, folder } = found;
  const asJson = has(parsed, 'json');
  if (what === 'path') terminal.out(asJson ? jsonDocument({ folder }) : `${folder}\n`);
  else {
    const entries = what === 'list' ? store.list() : store.clear();
    if (what === 'clear') rmSync(headersFolder(folder, ''), { recursive: true, force: true });
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (asJson) terminal.out(jsonDocument({ folder, bytes, [what === 'list' ? 'entries' : 'removed']: entries.map(entryJson) }));
    else terminal.out(`${what === 'list' ? entries.map(entryText).join('') : ''}${sumText(what, entries.length, bytes)}\n`);
  }
  return exit.ok;
}

const actions = ['path', 'list', 'clear'] as const;
const isAction = (word: string): word is (typeof actions)[number] => (actions as readonly string[]).includes(word);

const dateText = (used: number): string => new Date(used).toISOString().slice(0, 16).replace('T', ' ');
const entryText = ({ key, bytes, used }: StoredEntry): string =>
  `${key.slice(0, 16)}  ${sizeText(bytes).padStart(10)}  ${dateText(used)}\n`;
const entryJson = ({ key, bytes, used }: StoredEntry): object => ({ key, bytes, used: new Date(used).toISOString() });
const sumText = (what: 'list' | 'clear', count: number, bytes: number): string =>
  `${count} ${count === 1 ? 'entry' : 'entries'} of ${sizeText(bytes)}${what === 'clear' ? ' removed' : ''}`;
