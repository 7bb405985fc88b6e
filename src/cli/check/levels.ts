/** `-W`: the severities of warnings. */
import { type Code, catalogue, isCode } from '../../base/catalogue/index.ts';
import { closest } from '../../base/closest.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';

const levels = ['error', 'warn', 'off'] as const;
export type Level = (typeof levels)[number];

/** The levels of a command line. */
export interface Levels {
  /** That of warnings without one of their own. */
  readonly all: Level | undefined;
  readonly byCode: ReadonlyMap<Code, Level>;
}

/** Reads every `-W`, the later one wins; a usage error as a sentence. */
export function readLevels(words: readonly string[]): Levels | string {
  let all: Level | undefined;
  const byCode = new Map<Code, Level>();
  for (const word of words) {
    const [name = '', level] = word.includes('=') ? word.split('=', 2) : ['', word];
    if (!isLevel(level)) return `invalid value \`${word}\` for \`-W\`: expected error, warn, off, or CODE=LEVEL such as \`CM2201=off\``;
    if (name === '') {
      all = level;
      continue;
    }
    const code = codeOf(name);
    if (code === undefined) {
      const near = closest(name, Object.keys(catalogue));
      return `invalid value \`${word}\` for \`-W\`: there is no diagnostic \`${name}\`${near ? `; did you mean \`${near}\`?` : ''}`;
    }
    if (catalogue[code].severity === 'error') return `invalid value \`${word}\` for \`-W\`: ${code} is an error, whose severity is fixed`;
    byCode.set(code, level);
  }
  return { all, byCode };
}

const isLevel = (word: string | undefined): word is Level => (levels as readonly (string | undefined)[]).includes(word);

/** The code of a name: the code itself, or the name that another tool gives the same lint. */
export function codeOf(name: string): Code | undefined {
  if (isCode(name)) return name;
  const rows = Object.entries(catalogue) as [Code, { readonly alias?: string }][];
  return rows.find(([, { alias }]) => alias === name)?.[0];
}

/** The diagnostics with their levels. Errors stay, and so do notes without a level of their own. */
export function withLevels(list: readonly Diagnostic[], { all, byCode }: Levels): Diagnostic[] {
  return list.flatMap((each) => {
    const level = each.severity === 'error' ? undefined : (byCode.get(each.code) ?? (each.severity === 'warning' ? all : undefined));
    if (level === 'off') return [];
    return level === undefined ? [each] : [{ ...each, severity: level === 'error' ? 'error' : 'warning' }];
  });
}
