/**
 * Imports from the index of a room, as imports from the files that define the names: otherwise whoever imports one name of a room loads all
 * of it, because built files are split by what imports what. An index has no effects of its own.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BunPlugin } from 'bun';

/** Where a name comes from: a file, and its name there. */
interface Origin {
  readonly file: string;
  readonly name: string;
}

const exported = /^export (type )?(?:\*|\{([^}]*)\}) from '(\.[^']+)';$/gm;
const imported = /^import \{([^}]*)\} from '(\.[^']*\/index\.ts)';$/gm;

const namesIn = (list: string): { readonly name: string; readonly as: string; readonly isType: boolean }[] =>
  list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [, type, name, as] = /^(type )?(\w+)(?: as (\w+))?$/.exec(each)!;
      return { name: name!, as: as ?? name!, isType: type !== undefined };
    });

const texts = new Map<string, string>();

function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(file, 'utf8');
  texts.set(file, text);
  return text;
}

const defines = (text: string, name: string): boolean =>
  new RegExp(`^export (?:declare )?(?:async )?(?:const|let|function\\*?|class|enum) \\*?${name}\\b`, 'm').test(text);

/** The file that defines a name which an index exports; the index itself where that is not clear. */
function originOf(file: string, name: string): Origin | undefined {
  const text = textOf(file);
  if (defines(text, name)) return { file, name };
  for (const [, type, list, path] of text.matchAll(exported)) {
    if (type) continue;
    const from = join(dirname(file), path!);
    const found = list === undefined ? { name } : namesIn(list).find((each) => each.as === name && !each.isType);
    const origin = found && originOf(from, found.name);
    if (origin) return origin;
  }
  return undefined;
}

/** The text of a module with direct imports. */
export const withDirectImports = (text: string, file: string): string =>
  text.replaceAll(imported, (whole, list: string, path: string) => {
    const index = join(dirname(file), path);
    const statements: string[] = [];
    for (const { name, as, isType } of namesIn(list)) {
      if (isType) continue;
      const origin = originOf(index, name);
      // A name that is a type needs nothing; another stays as it is written.
      if (!origin && !isTypeOf(index, name)) return whole;
      if (origin) statements.push(`import { ${origin.name} as ${as} } from ${JSON.stringify(origin.file)};`);
    }
    // Line numbers of errors stay.
    return statements.join(' ') + '\n'.repeat(whole.split('\n').length - 1);
  });

/** Whether an index exports a name as a type. */
function isTypeOf(file: string, name: string): boolean {
  const text = textOf(file);
  if (new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(text)) return true;
  return [...text.matchAll(exported)].some(([, type, list, path]) => {
    const from = join(dirname(file), path!);
    if (list === undefined) return isTypeOf(from, name);
    const found = namesIn(list).find((each) => each.as === name);
    return found !== undefined && (type !== undefined || found.isType || isTypeOf(from, found.name));
  });
}

export const directImports = (root: string): BunPlugin => ({
  name: 'direct-imports',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: path.startsWith(root) ? withDirectImports(textOf(path), path) : textOf(path),
      loader: 'ts',
    }));
  },
});
