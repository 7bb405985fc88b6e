/** The lines of TypeScript that a text of PTX names. */
import type { SourceFile } from '../ptx/index.ts';
import type { Place } from './place.ts';

/** The line that the last `.loc` before a place in PTX names; undefined if there is none. */
export function placeOf({ text }: SourceFile, offset: number): Place | undefined {
  const found = [...text.slice(0, offset).matchAll(/^\s*\.loc (\d+) (\d+) (\d+)/gm)].at(-1);
  const path = found && new RegExp(`^\\.file ${found[1]} "([^"]*)"`, 'm').exec(text)?.[1];
  return path === undefined ? undefined : { path, line: Number(found![2]), column: Number(found![3]) };
}
