/** Lines of PTX in what it becomes: every instruction gets a `.loc` with its own line, which all printers carry on. */
import type { SourceFile, Span } from '../base/source.ts';
import type { Module, Statement } from '../ptx/index.ts';

/** The number of the file of these lines, and its name; those of a compiler are left out. */
const file = 7777;
const name = '@';

/** A text that was made of another one. */
export interface Annotated {
  readonly text: string;
  /** The offset in the other text of an offset in this one. */
  readonly origin: (offset: number) => number;
}

/** The text with a `.loc` before each instruction. Its own `.file` and `.loc` lines are blank. */
export function withOwnLines(module: Module): Annotated {
  const { text } = module.file;
  const first = module.items.find((item) => item.kind === 'function');
  if (!first) return { text, origin: (offset) => offset };
  const cuts: { readonly at: number; readonly end: number; readonly text: string }[] = [
    { at: first.span.start, end: first.span.start, text: `.file ${file} "${name}"\n` },
  ];
  const blank = ({ start, end }: Span): void => {
    cuts.push({ at: start, end, text: text.slice(start, end).replace(/\S/g, ' ') });
  };
  const visit = (body: readonly Statement[]): void => {
    for (const statement of body) {
      if (statement.kind === 'block') visit(statement.body);
      else if (statement.kind === 'directive' && (statement.name === 'loc' || statement.name === 'file')) blank(statement.span);
      else if (statement.kind === 'instruction') {
        const { start } = statement.span;
        cuts.push({ at: start, end: start, text: `.loc ${file} ${module.file.position(start).line} 0\n` });
      }
    }
  };
  for (const item of module.items) {
    if (item.kind === 'directive' && item.name === 'file') blank(item.span);
    if (item.kind === 'function') visit(item.body ?? []);
  }
  cuts.sort((a, b) => a.at - b.at);
  const [parts, shifts]: [string[], { readonly from: number; readonly by: number }[]] = [[], []];
  let [length, at] = [0, 0];
  for (const cut of cuts) {
    parts.push(text.slice(at, cut.at), cut.text);
    length += cut.at - at + cut.text.length;
    at = cut.end;
    shifts.push({ from: length, by: length - at });
  }
  parts.push(text.slice(at));
  return { text: parts.join(''), origin: (offset) => offset - (shifts.filter(({ from }) => from <= offset).at(-1)?.by ?? 0) };
}

/** A text and, for each of its lines, the line of PTX that it comes from; 0 for none. */
export interface Matched {
  readonly text: string;
  readonly lines: readonly number[];
}

/** Takes the comments `// @:12` of the printers out of a text. */
export const ofComments = (text: string): Matched => matched(text, /^\s*\/\/ @:(\d+)$/, /^[}\S]/);

/** Takes `.loc 7777 12 0` out of PTX. */
export const ofLocs = (text: string): Matched => matched(text, /^\s*\.loc 7777 (\d+) 0$|^\s*\.file 7777 .*$/, /^[}\S]/);

/** Lines after a mark come from its line, up to the next one or to a line that is not indented. */
function matched(text: string, mark: RegExp, ends: RegExp): Matched {
  const [kept, lines]: [string[], number[]] = [[], []];
  let line = 0;
  for (const each of text.split('\n')) {
    const found = mark.exec(each);
    if (found) {
      line = Number(found[1] ?? 0);
      continue;
    }
    if (ends.test(each)) line = 0;
    kept.push(each);
    lines.push(/^\s*[{}]?\s*$/.test(each) ? 0 : line);
  }
  return { text: kept.join('\n'), lines };
}

/** Takes the places `@12:34` out of IR. */
export function ofPlaces(text: string, source: SourceFile): Matched {
  const lines: number[] = [];
  const kept = text.split('\n').map((each) => {
    const found = / @(\d+):\d+( ;.*)?$/.exec(each);
    lines.push(found ? source.position(Number(found[1])).line : 0);
    return found ? each.slice(0, found.index) + (found[2] ?? '') : each;
  });
  return { text: kept.join('\n'), lines };
}
