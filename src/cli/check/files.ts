/** The files of a command line: names, folders and glob patterns. Shells expand patterns themselves; build tools and Windows do not. */
import { exists, filesIn } from '../terminal/index.ts';

/** Files that are checked in a folder. */
const isInput = (path: string): boolean => /\.(ptx|metallib)$/.test(path);

/** The files that the arguments name, in order and without repetition; a usage error as a sentence. */
export function namedFiles(words: readonly string[], isFile: (path: string) => boolean = exists): string[] | string {
  const found: string[] = [];
  for (const word of words) {
    const files = filesOf(word, isFile);
    if (typeof files === 'string') return files;
    found.push(...files);
  }
  return [...new Set(found)];
}

function filesOf(word: string, isFile: (path: string) => boolean): string[] | string {
  if (word === '-' || isFile(word)) return [word];
  const folder = filesIn(word);
  if (folder) {
    const inputs = folder.filter(isInput);
    return inputs.length > 0 ? inputs : `\`${word}\` contains no \`.ptx\` and no \`.metallib\` file`;
  }
  if (!/[*?[{]/.test(word)) return [word];
  const matched = matches(word);
  if (!matched) return `\`${word}\` is not a pattern: a range such as \`[a-z]\` ends before it starts`;
  return matched.length > 0 ? matched : `no file matches \`${word}\``;
}

/** The files that match a pattern, sorted; undefined for a pattern with a range that is empty. */
function matches(pattern: string): string[] | undefined {
  const fixed = /^[^*?[{]*\//.exec(pattern)?.[0] ?? '';
  const regex = regexOf(`^${patternSource(pattern.slice(fixed.length))}$`);
  if (!regex) return undefined;
  const folder = fixed === '' ? '.' : fixed;
  const found = filesIn(folder) ?? [];
  const from = `${folder.replace(/\/+$/, '')}/`;
  return found
    .map((path) => path.slice(from.length))
    .filter((path) => regex.test(path))
    .map((path) => `${fixed}${path}`)
    .filter(exists);
}

function regexOf(source: string): RegExp | undefined {
  try {
    return new RegExp(source);
  } catch {
    return undefined;
  }
}

/** The source of a regular expression: `**` any folders, `*` and `?` within a name, `[ab]` one of several letters, `{a,b}` one of several words. */
function patternSource(pattern: string): string {
  const token = /\*\*\/|\*\*|\*|\?|\[[!^]?[^\]/]+\]|\{[^{}]*\}|[\s\S]/g;
  return pattern.replace(token, (part) => {
    if (part === '**/') return '(?:[^/]+/)*';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.startsWith('[') && part.length > 2)
      return `[${part[1] === '!' || part[1] === '^' ? '^' : ''}${part.slice(/[!^]/.test(part[1]!) ? 2 : 1, -1).replace(/[\\[\]]/g, '\\$&')}]`;
    if (part.startsWith('{') && part.length > 2) return `(?:${part.slice(1, -1).split(',').map(patternSource).join('|')})`;
    return part.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
  });
}
