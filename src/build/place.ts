/** Where in a program of TypeScript something was called: the innermost frame of the stack that is not of this room. */

/** A line and a column of a file, one-based. */
export interface Place {
  /** A path, or an address of a page. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

const withoutScheme = (path: string): string => path.replace(/^file:\/\//, '').replace(/\?.*$/, '');

/** The folder of these sources, or of all built files of the package, where a file has the parts of several rooms. */
const own = withoutScheme(import.meta.url)
  .replace(/[^/]*$/, '')
  .replace(/\/dist\/(browser\/)?(parts|build)\/$/, '/dist/$1');

/** `at f (file:///a.ts:1:2)` of V8 and Bun, `f@file:///a.ts:1:2` of other engines. */
const frame = /(?:^\s*at (?:.*\()?|@)([^()@]+?):(\d+):(\d+)\)?$/;

/** The depth of the stack that is looked at. */
const depth = 24;

/** The place of the call into this room; undefined where the engine does not say it. */
export function callerPlace(): Place | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = depth;
  const { stack = '' } = new Error('place');
  Error.stackTraceLimit = stackTraceLimit;
  for (const text of stack.split('\n')) {
    const [, given, line, column] = frame.exec(text) ?? [];
    if (given === undefined || /^(?:node|bun|native|internal)\b/.test(given)) continue;
    const path = withoutScheme(given);
    if (!path.startsWith(own)) return { path, line: Number(line), column: Number(column) };
  }
  return undefined;
}
