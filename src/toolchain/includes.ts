/**
 * The files that a source may include: the compiler runs without access to the disk, so that they are collected before. Each `#include`
 * counts, also one that a condition leaves out.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The content of files by absolute path. */
export type SourceFiles = ReadonlyMap<string, Uint8Array>;

/** A program includes fewer files than these. */
const maxFiles = 10_000;
const directive = /^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)/gm;

/** A source, headers in front of it, and what they include from their own folders and from others, directly or not. */
export function includedFiles(source: string, folders: readonly string[], preIncludes: readonly string[] = []): SourceFiles {
  const files = new Map<string, Uint8Array>();
  const open = [resolve(source), ...preIncludes.filter(isFile)];
  for (let path = open.pop(); path !== undefined && files.size < maxFiles; path = open.pop()) {
    if (files.has(path)) continue;
    const bytes = new Uint8Array(readFileSync(path));
    files.set(path, bytes);
    for (const [, quoted, angled] of new TextDecoder().decode(bytes).matchAll(directive)) {
      const from = quoted === undefined ? folders : [dirname(path), ...folders];
      // All that match, since a condition on the compiler may choose another folder.
      for (const folder of from) {
        const found = resolve(join(folder, quoted ?? angled!));
        if (isFile(found)) open.push(found);
      }
    }
  }
  return files;
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
