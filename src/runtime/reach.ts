/**
 * The files that a launch file or a launch line may name: those of its own folder. Such a file may come from anyone, and a launch prints
 * what it reads, so names do not lead out of the folder: not by an absolute path, not by `..`, and not by a symbolic link.
 */
import { type Problem, problem } from './argument.ts';
import { type Io, pathFrom } from './io.ts';

/** Where names are resolved, and how far they reach. */
export interface Reach {
  /** The folder of the file that names others. */
  readonly folder: string;
  /** Resolves symbolic links; absent in tests, whose files have none. */
  readonly io?: Pick<Io, 'realPath'>;
  /** `--allow-outside`: names may lead anywhere. */
  readonly allowsOutside?: boolean;
}

/** The path of a named file, or the reason why it must not be read. */
export function reached(name: string, reach: Reach): string | Problem {
  const path = pathFrom(reach.folder, name);
  if (name === '') return problem('is empty');
  if (reach.allowsOutside) return path;
  if (isAbsolute(name)) return problem('is an absolute path, and only files in the folder of the file that names it can be named');
  if (leadsUp(name)) return problem('leads out of the folder of the file that names it');
  return isLinkOut(path, reach) ? problem('is a symbolic link out of the folder of the file that names it') : path;
}

/** Extensions of files that hold nothing but code for a launch. */
const moduleName = /\.(ptx|metallib|fatbin|cubin)$/i;

/**
 * The path of a named module. It may be in another folder, as the modules of a project are, if its name and that of the file behind a
 * symbolic link are those of a module; so a launch file cannot have the lines of any other file printed in diagnostics.
 */
export function reachedModule(name: string, reach: Reach): string | Problem {
  const path = reached(name, reach);
  if (typeof path === 'string') return path;
  const outside = pathFrom(reach.folder, name);
  const isModule = moduleName.test(outside) && moduleName.test(reach.io?.realPath?.(outside) ?? outside);
  return isModule ? outside : path;
}

/**
 * The path of a file to write: in the folder, whatever `--allow-outside` says, and not below a hidden folder such as `.git`, whose files
 * are commands of other programs.
 */
export function reachedForWriting(name: string, reach: Reach): string | Problem {
  const path = reached(name, { ...reach, allowsOutside: false });
  if (typeof path === 'string' && partsOf(name).some((part) => /^\.[^.]/.test(part))) return problem('is hidden, and is never written');
  return path;
}

const isAbsolute = (name: string): boolean => /^[/\\]/.test(name) || /^[A-Za-z]:/.test(name);

const partsOf = (name: string): string[] => name.split(/[/\\]/);

/** Whether the name is above its folder at any point. */
function leadsUp(name: string): boolean {
  let depth = 0;
  for (const part of partsOf(name)) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

function isLinkOut(path: string, { folder, io }: Reach): boolean {
  if (!io?.realPath) return false;
  const [base, real] = [io.realPath(folder === '' ? '.' : folder), io.realPath(path)];
  if (base === undefined || real === undefined) return true;
  const inside = /[/\\]$/.test(base) ? base : `${base}${base.includes('\\') ? '\\' : '/'}`;
  return !real.startsWith(inside);
}
