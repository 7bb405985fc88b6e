/** CUDA C++ as PTX that the page shows and launches, with the lines of the C++ that lines of the PTX come from. */
import type { Finding } from './messages.ts';

/** The name under which the compiler sees the text. */
export const sourceName = 'kernel.cu';

export interface Translation {
  /** The PTX behind the launch lines of the text; undefined where the compiler refused. */
  readonly ptx: string | undefined;
  /** By line of the PTX, from 0 on: the line of the text, 0 for none. */
  readonly lines: readonly number[];
  /** What the compiler reports, at lines of the text. */
  readonly findings: readonly Finding[];
}

/** What a compiler made of a text, and said. */
export function translationOf(text: string, made: string | undefined, messages: string): Translation {
  const findings = findingsOf(messages);
  if (made === undefined) return { ptx: undefined, lines: [], findings };
  // Lines that say how to launch are comments of both languages.
  const head: string[] = [];
  const from: number[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.startsWith('//! cumetal:')) continue;
    head.push(line);
    from.push(i + 1);
  }
  return { ptx: [...head, made].join('\n'), lines: [...from, ...linesOf(made)], findings };
}

/** By line of PTX: the line of the text by the `.loc` before it, up to the end of the function. Source: PTX ISA, "Debugging Directives: .loc, .file". */
function linesOf(ptx: string): number[] {
  const all = ptx.split('\n');
  const files = new Map(all.flatMap((line) => [...line.matchAll(/^\s*\.file\s+(\d+)\s+"([^"]*)"/g)].map(([, id, path]) => [id!, path!])));
  const isText = (id: string | undefined): boolean => files.get(id ?? '')?.replace(/^.*\//, '') === sourceName;
  let line = 0;
  return all.map((each) => {
    const [, file, at] = /^\s*\.loc\s+(\d+)\s+(\d+)\s/.exec(each) ?? [];
    // The code of a header in between belongs to the line that calls it.
    if (file !== undefined && isText(file)) line = Number(at);
    if (/^[}.\w]/.test(each)) line = 0;
    return /^\s*(\.(loc|file|reg)\b.*)?[{}]?\s*$/.test(each) ? 0 : line;
  });
}

/** Diagnostics in the words of clang: `kernel.cu:3:7: error: …`, with what follows up to the next one. */
function findingsOf(messages: string): Finding[] {
  const found: { line: number; column: number; severity: Finding['severity']; code: string; message: string }[] = [];
  for (const each of messages.split('\n')) {
    const [, name, line, column, severity, message] = /^([^:\s]+):(\d+):(\d+): (?:fatal )?(error|warning|note): (.*)$/.exec(each) ?? [];
    if (message !== undefined)
      found.push({
        ...(name!.endsWith(sourceName) ? { line: Number(line), column: Number(column) } : { line: 0, column: 0 }),
        severity: severity as Finding['severity'],
        code: 'clang',
        message: name!.endsWith(sourceName) ? message : `${name}:${line}: ${message}`,
      });
    else if (/^error(\[\w+\])?: /.test(each)) {
      const [, code = 'clang', rest = each] = /^error(?:\[(\w+)\])?: (.*)$/.exec(each) ?? [];
      found.push({ line: 0, column: 0, severity: 'error', code, message: rest });
    }
  }
  return found;
}
