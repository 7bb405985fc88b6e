/** The order of tags: the usual one, or that of a file. */
import { addTo } from '../base/group.ts';
import type { RawTag } from './library.ts';

/** Tags sorted by the codes in `order`, as often as each code occurs there. Tags that `order` does not name are dropped. */
export function inOrder(tags: readonly RawTag[], order: readonly string[]): RawTag[] {
  const byCode = new Map<string, RawTag[]>();
  for (const tag of [...tags].reverse()) addTo(byCode, tag.code, tag);
  return order.flatMap((code) => byCode.get(code)?.pop() ?? []);
}

/** The usual codes that occur, once each, then all others in file order. */
export function usualOrder(codes: readonly string[], usual: readonly string[]): string[] {
  const waiting = new Set(usual.filter((code) => codes.includes(code)));
  const rest = codes.filter((code) => !waiting.delete(code));
  return [...usual.filter((code) => codes.includes(code)), ...rest];
}

/** The codes if they differ from the usual ones, else undefined. */
export const unlessUsual = (found: readonly string[], usual: readonly string[]): readonly string[] | undefined =>
  found.length === usual.length && found.every((code, i) => code === usual[i]) ? undefined : found;
