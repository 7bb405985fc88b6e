/** The findings of a launch. The same fault at the same instructions is one finding with a count. */
import type { Code, Holes } from '../../../../base/catalogue/index.ts';
import { Diagnostics } from '../../../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../../../base/source.ts';
import type { Dim3 } from '../../../device.ts';
import type { Site } from '../../observe/sites.ts';
import { sourceLine } from '../../source-text.ts';

/** A thread by its number in the block, and the block. */
export interface FaultyThread {
  readonly thread: number;
  readonly block: Dim3;
}

export interface Finding {
  readonly code: Code;
  readonly holes: Readonly<Record<string, string | number>>;
  readonly site: Site | undefined;
  readonly by: FaultyThread;
  /** The other instruction of a conflict, and the text of its label. */
  readonly other?: { readonly site: Site | undefined; readonly text: string } | undefined;
  readonly notes?: readonly string[];
  count: number;
}

export interface Findings {
  /** Counts a finding; `make` is called for the first one with its key. */
  add(key: string, make: () => Omit<Finding, 'count'>): void;
  report(diagnostics: Diagnostics): void;
}

export interface AboutLaunch {
  readonly kernel: string;
  readonly blockShape: Dim3;
  readonly source: SourceFile | undefined;
  /** Findings that are reported; the others are counted. */
  readonly limit: number;
}

/** No findings. */
export function newFindings(about: AboutLaunch): Findings {
  const found = new Map<string, Finding>();
  return {
    add(key, make) {
      const known = found.get(key);
      if (known) known.count++;
      else found.set(key, { ...make(), count: 1 });
    },
    report(diagnostics) {
      const all = [...found.values()];
      for (const finding of all.slice(0, about.limit)) reportOne(finding, about, diagnostics);
      const rest = all.length - about.limit;
      if (rest > 0) diagnostics.report('CM6140', { kernel: about.kernel, count: rest });
    },
  };
}

function reportOne({ code, holes, site, by, other, notes = [], count }: Finding, about: AboutLaunch, diagnostics: Diagnostics): void {
  const own = new Diagnostics(about.source);
  const span = spanOf(site, about.source);
  const otherSpan = other && spanOf(other.site, about.source);
  own.report(code, { kernel: about.kernel, ...holes } as Holes<typeof code>, {
    ...(span ? { span } : {}),
    more: other && otherSpan ? [{ span: otherSpan, text: other.text }] : [],
    notes: [
      `by ${describeLane(by, about.blockShape)}`,
      ...placesOf(site, about),
      ...(other && !otherSpan && other.site ? [`${other.text}: ${nameOf(other.site)}`] : []),
      ...notes,
      ...(count > 1 ? [`${count} times in all`] : []),
    ],
  });
  diagnostics.addAll(own.list);
}

const describeThread = (thread: number, [nx, ny]: Dim3): string =>
  [thread % nx, Math.floor(thread / nx) % ny, Math.floor(thread / (nx * ny))].join(', ');

/** A thread with its block, lane and warp. */
const describeLane = ({ thread, block }: FaultyThread, shape: Dim3): string =>
  `thread (${describeThread(thread, shape)}) of block (${block.join(', ')}): lane ${thread & 31} of warp ${thread >> 5}`;

/** Another thread of the same block. */
export const describeOther = (thread: number, shape: Dim3): string => `thread (${describeThread(thread, shape)})`;

/** The instruction in the text that was compiled. */
function spanOf(site: Site | undefined, source: SourceFile | undefined): Span | undefined {
  const line = site?.line;
  if (!line || !source || line.line > source.lineStarts.length) return undefined;
  const from = source.lineStarts[line.line - 1]! + Math.max(0, line.column - 1);
  const text = source.line(line.line).slice(Math.max(0, line.column - 1));
  return { start: from, end: from + Math.max(1, text.search(/;|$/)) };
}

/** Notes of the place of an instruction, where no label shows it. */
function placesOf(site: Site | undefined, { source }: AboutLaunch): string[] {
  if (!site) return [];
  const own = source && site.line ? [] : [`at ${nameOf(site)}`];
  const from = source && site.line ? sourceLine(source, site.line.line) : undefined;
  return from === undefined ? own : [...own, `source: ${from}`];
}

const nameOf = ({ line, what, value }: Site): string =>
  line ? `${line.file}:${line.line}:${line.column}` : `instruction ${value} of the kernel, \`${what}\`, for which the metallib has no line`;
