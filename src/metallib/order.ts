/** Tags in an order that is usual, or in the one that a file has. */
import { addTo } from '../base/group.ts';
import type { RawTag } from './library.ts';

/** Tags by the codes of `order`, each as often as it is named there; those that it does not name are left out. */
export function inOrder(tags: readonly RawTag[], order: readonly string[]): RawTag[] {
  const byCode = new Map<string, RawTag[]>();
  for (const tag of [...tags].reverse()) addTo(byCode, tag.code, tag);
  return order.flatMap((code) => byCode.get(code)?.pop() ?? []);
}

/** The usual codes that are there, each once, then all others as they come. */
export function usualOrder(codes: readonly string[], usual: readonly string[]): string[] {
  const waiting = new Set(usual.filter((code) => codes.includes(code)));
  const rest = codes.filter((code) => !waiting.delete(code));
  return [...usual.filter((code) => codes.includes(code)), ...rest];
}

/** Codes where they differ from the usual; nothing where they are the same. */
export const unusual = (found: readonly string[], usual: readonly string[]): readonly string[] | undefined =>
  found.length === usual.length && found.every((code, i) => code === usual[i]) ? undefined : found;
