/**
 * Static variables of device code that is compiled while a program runs. The program writes them by their names, which a compiler cannot know
 * that has the device code alone: it would take their first value for the only one.
 */

/** A declaration at the start of a line; the name is what comes before an array's size, a value or the end. */
const declaration =
  /^[ \t]*(?:static\s+(?:const\s+)?__(?:constant|device)__|__(?:constant|device)__\s+static)\s[^;={}()]*?\b(\w+)\s*(?:\[[^;{}=]*\]\s*)*[=;{]/gm;

/** Names of static variables outside of functions, classes and namespaces, as the text of a program declares them. */
export function staticVariables(text: string): readonly string[] {
  // Comments, and the braces of linkage, which are no scope.
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|\bextern\s*"C"\s*\{/g, (part) => part.replace(/[^\n]/g, ' '));
  let [at, depth] = [0, 0];
  return [...code.matchAll(declaration)].flatMap((match) => {
    for (; at < match.index; at++) depth += code[at] === '{' ? 1 : code[at] === '}' ? -1 : 0;
    return depth <= 0 ? [match[1]!] : [];
  });
}

/** Lines behind the text by which host code names them. */
export const keepingLines = (names: readonly string[]): string =>
  names.map((name, i) => `static const void *const __cumetal_kept_${i} = (const void *)&${name};\n`).join('');

/** PTX with the names that nvcc has for them. */
export function withPlainNames(ptx: string, names: readonly string[]): string {
  return names.reduce((code, name) => code.replaceAll(new RegExp(String.raw`\b_ZL${name.length}${name}\b`, 'g'), name), ptx);
}
