/** The text of items: its identifiers, which a link may change, and the numbers of files. */

/** Comments, strings, and identifiers with their dots. */
const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|\.?[A-Za-z_$%][\w$]*/g;

const isName = (token: string): boolean => /^[A-Za-z_$%]/.test(token);

/** The identifiers of a text, each as often as it is there. */
export function* identifiersIn(text: string): Generator<string> {
  for (const [token] of text.matchAll(tokens)) if (isName(token)) yield token;
}

/** The places of a line, whose function names are in sections that a link leaves out. */
const location = /(\.loc\s+)(\d+)(\s+\d+\s+\d+)(\s*,\s*function_name\s+[^,;]+,\s*inlined_at\s+\d+\s+\d+\s+\d+)?/g;

/** A text with other names and with the numbers of its files raised. */
export function rewrite(text: string, renamed: ReadonlyMap<string, string>, fileOffset: number): string {
  const named = renamed.size === 0 ? text : text.replace(tokens, (token) => (isName(token) ? (renamed.get(token) ?? token) : token));
  return named
    .replace(location, (_, head, file, place) => `${head}${Number(file) + fileOffset}${place}`)
    .replace(/^(\s*\.file\s+)(\d+)/, (_, head, file) => `${head}${Number(file) + fileOffset}`);
}

/** Where the head of a function ends, of which the name ends at a place: behind its parameters, if it has any. */
export function endOfHead(text: string, from: number): number {
  const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = from;
  space.exec(text);
  if (text[space.lastIndex] !== '(') return from;
  // Parameters have no parentheses of their own, other than in comments.
  const inside = /(?:[^)/]|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\/)*\)/y;
  inside.lastIndex = space.lastIndex;
  inside.exec(text);
  return inside.lastIndex;
}
