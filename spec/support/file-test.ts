/**
 * File tests: IR text with directives for what passes make of it, in the form of Cranelift's.
 *
 *   ; pass: simplify, dce      the passes, in order; then a sentence that says what the test is about
 *   kernel "k" { … }           the input
 *   ; check: TEXT              a line behind the last match has this text in it
 *   ; nextln: TEXT             the line behind the last match has it
 *   ; not: TEXT                no line between the matches around it has it
 *
 * TEXT between two slashes is a regular expression. Source: Cranelift, `cranelift/filetests` and the crate `filecheck`.
 */

const directive = /^; (check|nextln|not): (.*)$/;

export interface Directive {
  readonly kind: 'check' | 'nextln' | 'not';
  readonly text: string;
}

export interface FileTest {
  /** The names of the passes, in order. */
  readonly passes: readonly string[];
  /** The text without its directives. */
  readonly input: string;
  readonly directives: readonly Directive[];
}

/** The parts of a test, or what is wrong with its form. */
export function readFileTest(text: string): FileTest | string {
  const lines = text.split('\n');
  const [first = '', second = ''] = lines;
  const names = /^; pass: (.+)$/.exec(first)?.[1];
  if (names === undefined) return 'the first line is `; pass: NAME`';
  if (!second.startsWith('; ') || directive.test(second)) return 'the second line is a sentence that says what the test is about';
  const directives = lines.flatMap((line) => {
    const [, kind, wanted] = directive.exec(line) ?? [];
    return kind === undefined ? [] : [{ kind, text: wanted } as Directive];
  });
  return { passes: names.split(', '), input: lines.filter((line) => !directive.test(line)).join('\n'), directives };
}

/** The first directive that an output does not meet, as a sentence; nothing where it meets all. */
export function mismatch(directives: readonly Directive[], output: string): string | undefined {
  const lines = output.split('\n');
  let at = -1;
  let denied: string[] = [];
  const isFree = (from: number, to: number): string | undefined =>
    denied.find((text) => lines.slice(from, to).some((line) => matches(line, text)));
  for (const { kind, text } of directives) {
    if (kind === 'not') {
      denied.push(text);
      continue;
    }
    const found = kind === 'nextln' ? at + 1 : lines.findIndex((line, i) => i > at && matches(line, text));
    if (found < 0 || found >= lines.length || !matches(lines[found]!, text))
      return `\`${kind}: ${text}\` does not match behind \`${lines[at] ?? 'the start'}\``;
    const wrong = isFree(at + 1, found);
    if (wrong !== undefined) return `\`not: ${wrong}\` matches before \`${lines[found]}\``;
    at = found;
    denied = [];
  }
  const wrong = isFree(at + 1, lines.length);
  return wrong === undefined ? undefined : `\`not: ${wrong}\` matches behind \`${lines[at] ?? 'the start'}\``;
}

const matches = (line: string, text: string): boolean => {
  const pattern = /^\/(.*)\/$/.exec(text)?.[1];
  return pattern === undefined ? line.includes(text) : new RegExp(pattern).test(line);
};

/** The test with directives for the whole output from its first block on, for review. */
export function blessed({ input }: FileTest, output: string): string {
  const lines = output.trimEnd().split('\n');
  const body = lines.slice(lines.findIndex((line) => /^b\d/.test(line))).filter((line) => line !== '');
  const directives = body.map((line, i) => `; ${i === 0 ? 'check' : 'nextln'}: ${line.trim()}`);
  return `${input.trimEnd()}\n${directives.join('\n')}\n`;
}
