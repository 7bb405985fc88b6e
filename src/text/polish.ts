/**
 * Makes lines of code shorter, without a change of what they do: a declaration takes the first assignment behind it, and a `while` that counts
 * becomes a `for`.
 */
import { cSyntax, type Syntax } from './syntax.ts';

/** An assignment, or a declaration with a value. */
const initialized = /^\s*(?:\w+ )*\w+(?:: [\w<>]+)? = .*;$/;
const assignment = /^(\s*)(\w+) = (.*);$/;

const mentions = (line: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(line);

/** `uint a;` and, behind it, `a = b;`, with nothing but other declarations and assignments in between. */
function mergeDeclarations(lines: readonly string[], { declared }: Syntax): string[] {
  const merged = [...lines];
  for (let at = 0; at < merged.length; at++) {
    const found = declared(merged[at]!);
    if (!found) continue;
    const { indent, name } = found;
    for (let next = at + 1; next < merged.length; next++) {
      const line = merged[next]!;
      const [, otherIndent, target, value] = assignment.exec(line) ?? [];
      const isPlain =
        line.startsWith(indent) && !/^\s/.test(line.slice(indent.length)) && (initialized.test(line) || declared(line) !== undefined);
      if (!isPlain) break;
      if (!mentions(line, name)) continue;
      if (target === name && otherIndent === indent && !mentions(value!, name)) {
        merged[next] = found.with(value!);
        merged.splice(at, 1);
        at--;
      }
      break;
    }
  }
  return merged;
}

/** `uint i = 0; while (i < n) { …; i = i + 1; }`. */
function countLoops(lines: readonly string[]): string[] {
  const counted = [...lines];
  for (let at = 1; at < counted.length; at++) {
    const [, indent, condition] = /^(\s*)while \((.*)\) \{$/.exec(counted[at]!) ?? [];
    if (condition === undefined) continue;
    const end = counted.indexOf(`${indent}}`, at);
    const [, , name, step] = assignment.exec(counted[end - 1] ?? '') ?? [];
    const isDirect = counted[end - 1]?.startsWith(`${indent}  `) === true && !/^\s/.test(counted[end - 1]!.slice(indent!.length + 2));
    if (name === undefined || !isDirect || end - 1 <= at || !mentions(condition, name) || !mentions(step!, name)) continue;
    if (counted.slice(at, end).some((line) => /\bcontinue;/.test(line))) continue;
    const [, startIndent, type = '', first] = new RegExp(`^(\\s*)((?:\\w+ )*)${name}(?:: \\w+)? = (.*);$`).exec(counted[at - 1]!) ?? [];
    const isStart =
      first !== undefined && startIndent === indent && !(type !== '' && counted.slice(end).some((line) => mentions(line, name)));
    counted[at] = `${indent}for (${isStart ? `${type}${name} = ${first}` : ''}; ${condition}; ${name} = ${step}) {`;
    counted.splice(end - 1, 1);
    if (isStart) counted.splice(at - 1, 1);
  }
  return counted;
}

/** The lines of a body, shorter. */
export const polished = (lines: readonly string[], syntax: Syntax = cSyntax): string[] => countLoops(mergeDeclarations(lines, syntax));
