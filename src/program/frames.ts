/** The functions of a running program that a stack trace names. */

/** Frames of engines, as V8 and Bun give them. Source: https://v8.dev/docs/stack-trace-api */
interface CallSite {
  getFunctionName(): string | null;
  getFileName(): string | null;
}

interface Traced {
  prepareStackTrace?: unknown;
  stackTraceLimit?: number;
}

/** Functions of C's start, which no user has written, and functions without a name, for which an engine gives a number. */
const own = /^(_start|__main_void|__original_main|__wasm_call_ctors|undefined_weak:.*|\d+)$/;
const maxFrames = 100;
const maxShown = 8;

/** The name of a function of WebAssembly, demangled by the linker; undefined for others. */
function nameOf(site: CallSite): string | undefined {
  const name = site.getFunctionName() ?? '';
  const [, ofBun] = /wasm-function\[(.*)\]$/.exec(name) ?? [];
  if (ofBun !== undefined) return ofBun;
  return /^wasm:\/\//.test(site.getFileName() ?? '') ? name : undefined;
}

/** Makes an error whose stack has more frames than engines keep by themselves. */
export function deepError(): Error {
  const settings = Error as Traced;
  const limit = settings.stackTraceLimit;
  settings.stackTraceLimit = maxFrames;
  const error = new Error('here');
  settings.stackTraceLimit = limit;
  return error;
}

/** Names of the program's functions on the stack of an error, the innermost first; empty where the engine does not say. */
export function framesOf(error: Error): readonly string[] {
  const settings = Error as Traced;
  const before = settings.prepareStackTrace;
  settings.prepareStackTrace = (_: Error, sites: readonly CallSite[]) => sites;
  try {
    const sites = error.stack as unknown;
    const names = Array.isArray(sites) ? (sites as CallSite[]).map(nameOf) : [];
    return names.filter((name) => name !== undefined && name !== '' && !own.test(name)) as string[];
  } finally {
    settings.prepareStackTrace = before;
  }
}

/** A note that names them; no note where there are none. */
export function notesOf(frames: readonly string[]): string[] {
  if (frames.length === 0) return [];
  const more = frames.length > maxShown ? ` and ${frames.length - maxShown} more` : '';
  const callers = frames.slice(1, maxShown).map((name) => `\`${name}\``);
  return [`in \`${frames[0]}\`${callers.length > 0 ? `, called from ${callers.join(', from ')}${more}` : ''}`];
}
