/** Whether `cumetal run` was given a whole program or a module of kernels. Decided without loading what runs either. */
import type { Context } from '../command/command.ts';
import { hasMain } from '../cuda/main-function.ts';
import { moduleIn } from '../cuda/program-file.ts';
import { exists, type Terminal } from '../terminal/index.ts';
import { conflictingOption } from './options.ts';

/** Sources, which are programs if they have a function `main`, and what is linked with them. */
const isSource = (path: string): boolean => /\.(cu|cpp|cc|cxx|c\+\+|C|c)$/.test(path);
const isPart = (path: string): boolean => isSource(path) || /\.(o|a)$/.test(path);
/** Files that are modules, whatever they contain. */
const isModuleFile = (path: string): boolean => path === '-' || /\.(ptx|metallib|air|bc|ll|fatbin|cubin|json)$/.test(path);

/** What a command line has to run. */
export type Whole = { readonly files: readonly string[]; readonly module?: Uint8Array };

/** The program of a command line; undefined if it names a module of kernels. */
export function wholeProgram({ parsed, terminal }: Context): Whole | undefined {
  const files = parsed.positionals;
  const [first] = files;
  if (first === undefined || parsed.options.has('launch')) return undefined;
  if (files.length > 1) return files.some(isPart) ? { files } : undefined;
  if (isModuleFile(first) || conflictingOption(parsed) !== undefined) return undefined;
  return isSource(first) ? ofSource(first, terminal) : ofLinked(first, terminal);
}

function ofSource(path: string, terminal: Terminal): Whole | undefined {
  const bytes = exists(path) ? terminal.readFile(path) : undefined;
  return bytes instanceof Uint8Array && hasMain(new TextDecoder().decode(bytes)) ? { files: [path] } : undefined;
}

function ofLinked(path: string, terminal: Terminal): Whole | undefined {
  const bytes = exists(path) ? terminal.readFile(path) : undefined;
  const module = bytes instanceof Uint8Array ? moduleIn(bytes) : undefined;
  return module && { files: [path], module };
}
