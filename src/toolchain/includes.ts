/**
 * The files that a source may include: the compiler runs without access to the disk, so that they are collected before. Each `#include`
 * counts, also one that a condition leaves out.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** The content of files by absolute path. */
export type SourceFiles = ReadonlyMap<string, Uint8Array>;

/** A program includes fewer files than these. */
const maxFiles = 10_000;
const directive = /^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|[A-Za-z_])/gm;
/** A library whose names of files are macros has fewer files than these. */
const maxNamedByMacro = 4000;

/** A source, headers in front of it, and what they include from their own folders and from others, directly or not. */
export function includedFiles(source: string, folders: readonly string[], preIncludes: readonly string[] = []): SourceFiles {
  const files = new Map<string, Uint8Array>();
  const taken = new Set<string>();
  const open = [resolve(source), ...preIncludes.filter(isFile)];
  for (let path = open.pop(); path !== undefined && files.size < maxFiles; path = open.pop()) {
    if (files.has(path)) continue;
    const bytes = new Uint8Array(readFileSync(path));
    files.set(path, bytes);
    for (const [, quoted, angled] of new TextDecoder().decode(bytes).matchAll(directive)) {
      const name = quoted ?? angled;
      if (name === undefined) {
        const around = libraryOf(path, folders);
        if (!taken.has(around)) open.push(...headersBelow(around));
        taken.add(around);
        continue;
      }
      const from = quoted === undefined ? folders : [dirname(path), ...folders];
      // All that match, since a condition on the compiler may choose another folder.
      for (const folder of from) {
        const found = resolve(join(folder, name));
        if (isFile(found)) open.push(found);
      }
    }
  }
  return files;
}

/** The folder whose files a header may mean by the name of a macro: that of its library below a folder of headers, else its own. */
function libraryOf(path: string, folders: readonly string[]): string {
  for (const folder of folders) {
    const [first, ...rest] = relative(resolve(folder), path).split(sep);
    if (first !== '..' && rest.length > 0) return join(resolve(folder), first!);
  }
  return dirname(path);
}

/** Headers in a folder and below it; none if there are too many. */
function headersBelow(folder: string): readonly string[] {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?:^|[/\\])[^.]+$|\.(?:h|hh|hpp|cuh|inl|ipp)$/.test(name),
  );
  return found.length > maxNamedByMacro
    ? []
    : found
        .sort()
        .map((name) => join(folder, name))
        .filter(isFile);
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
