/**
 * Static variables of device code that is compiled while a program runs. The program writes them by their names, which a compiler cannot know
 * that has the device code alone: it would take their first value for the only one.
 */

/** A declaration at the start of a line; the name is what comes before an array's size, a value or the end. */
const declaration =
  /^[ \t]*(?:static\s+(?:const\s+)?__(?:constant|device)__|__(?:constant|device)__\s+static)\s[^;={}()]*?\b(\w+)\s*(?:\[[^;{}=]*\]\s*)*[=;{]/gm;

/** Stands for the brace of a linkage (`extern "C" {`), which is no scope. */
const linkage = '\u0001';

/** Names of static variables outside of functions, classes and namespaces, as the text of a program declares them. */
export function staticVariables(text: string): readonly string[] {
  const blank = (part: string): string => part.replace(/[^\n]/g, ' ');
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, blank).replace(/\bextern\s*"C"\s*\{/g, (part) => blank(part.slice(1)) + linkage);
  const open: string[] = [];
  let at = 0;
  return [...code.matchAll(declaration)].flatMap((match) => {
    for (; at < match.index; at++) {
      const mark = code[at]!;
      if (mark === '{' || mark === linkage) open.push(mark);
      else if (mark === '}') open.pop();
    }
    return open.includes('{') ? [] : [match[1]!];
  });
}

/** How names that stand for kept variables begin. */
export const keptPrefix = '__cumetal_kept_';

/** Lines behind the text by which host code names them. */
export const keepingLines = (names: readonly string[]): string =>
  names.map((name, i) => `static const void *const ${keptPrefix}${i} = (const void *)&${name};\n`).join('');

/** PTX with the names that nvcc has for them. */
export function withPlainNames(ptx: string, names: readonly string[]): string {
  return names.reduce((code, name) => code.replaceAll(new RegExp(String.raw`\b_ZL${name.length}${name}\b`, 'g'), name), ptx);
}
