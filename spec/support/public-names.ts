/** The names that the entries of the package export, and the declaration of each, read off the sources. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageEntries } from '../../scripts/entries.ts';
import { root } from './examples.ts';

/** An exported name with the file and the line of its declaration. */
export interface Exported {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** The text of the declaration, from its first line on, as far as the next declaration. */
  readonly text: string;
  /** The doc comment before it; empty if there is none. */
  readonly doc: string;
}

/** The source of every entry, by its name in `package.json`: `.`, `./ptx`. */
export const sourcesOfEntries = (): Map<string, string> => new Map(packageEntries().map(({ name, source }) => [name, join(root, source)]));

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(file, 'utf8');
  texts.set(file, text);
  return text;
}

/** Everything that a file exports, its own names and those of other files. */
export function exportsOf(file: string): Exported[] {
  const text = textOf(file);
  const own = [...text.matchAll(declaration)].map((match): Exported => declared(file, text, match));
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)';/gm)].flatMap(([, names, from]) =>
    namesIn(names!).flatMap(({ name, as }) => found(join(dirname(file), from!), name).map((each) => ({ ...each, name: as }))),
  );
  const all = [...text.matchAll(/^export (?:type )?\* from '(\.[^']+)';/gm)].flatMap(([, from]) => exportsOf(join(dirname(file), from!)));
  return [...own, ...lists, ...all];
}

const declaration =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

const namesIn = (list: string): { name: string; as: string }[] =>
  list
    .split(',')
    .map((each) => each.trim().replace(/^type /, ''))
    .filter((each) => each !== '')
    .map((each) => {
      const [name, as = name] = each.split(' as ');
      return { name: name!, as: as! };
    });

function found(file: string, name: string): Exported[] {
  const list = exportsOf(file).filter((each) => each.name === name);
  if (list.length === 0) throw new Error(`${file} exports no ${name}`);
  return list;
}

function declared(file: string, text: string, { index, 1: name }: RegExpExecArray | RegExpMatchArray): Exported {
  const before = text.slice(0, index);
  const next = text.slice(index! + 1).search(/^(export|function|const|class|interface|type|\/\*\*)/m);
  return {
    name: name!,
    file: file.slice(root.length).replace(/^\//, ''),
    line: before.split('\n').length,
    text: next < 0 ? text.slice(index) : text.slice(index, index! + 1 + next),
    // A line comment may stand between a doc comment and what it describes.
    doc: /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:\/\/.*\n\s*)*$/.exec(before)?.[1]?.trim() ?? '',
  };
}
