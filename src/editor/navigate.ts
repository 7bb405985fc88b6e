/** From a name to its declaration, to its other mentions, and to another name. */
import type { Span } from '../base/source.ts';
import { lookUp } from '../ptx/index.ts';
import type { Edit, PtxDocument } from './document.ts';
import { isSame, type Mention, mentionAt, moduleMention, type Names, namesOf } from './names.ts';

/** A name at an offset, with the names of the function around it; without them for a name outside of functions. */
export interface Found {
  readonly mention: Mention;
  readonly names: Names | undefined;
}

/** The name at an offset. */
export function nameAt(document: PtxDocument, offset: number): Found | undefined {
  const focus = document.focusAt(offset);
  const names = focus && namesOf(focus.fn, focus.module);
  const inside = names && mentionAt(names, offset);
  if (inside) return { mention: inside, names };
  const outside = mentionAt({ mentions: moduleMentions(document) }, offset);
  return outside && { mention: outside, names: undefined };
}

/** Names that are declared outside of bodies: variables, and functions without one. */
function moduleMentions(document: PtxDocument): Mention[] {
  return document.module().items.flatMap((item): Mention[] => {
    if (item.kind === 'variable') return [moduleMention(item)];
    if (item.kind !== 'function') return [];
    const meaning = { kind: 'function', name: item.name, declared: undefined, isOfModule: true } as const;
    return [{ span: item.nameSpan, name: item.name, meaning, isDeclaration: true }];
  });
}

/** Where a name is declared. For a function with a body, that is its definition. */
export function definitionOf(document: PtxDocument, { mention }: Found): Span | undefined {
  if (mention.meaning?.kind !== 'function') return mention.meaning?.declared;
  const named = document.module().items.filter((item) => item.kind === 'function' && item.name === mention.name);
  const fn = named.find((item) => item.kind === 'function' && item.body !== undefined) ?? named[0];
  return fn?.kind === 'function' ? fn.nameSpan : undefined;
}

/** All mentions of a name, in order, its declaration among them. */
export function mentionsOf(document: PtxDocument, { mention, names }: Found): Mention[] {
  if (names && !mention.meaning?.isOfModule) return names.mentions.filter((each) => isSame(each, mention));
  const module = document.module();
  const found = moduleMentions(document).filter((each) => isSame(each, mention));
  for (const item of module.items) {
    if (item.kind !== 'function' || !item.body) continue;
    if (!document.text.slice(item.span.start, item.span.end).includes(mention.name)) continue;
    found.push(...namesOf(item, module).mentions.filter((each) => isSame(each, mention)));
  }
  const byPlace = new Map(found.map((each) => [each.span.start, each]));
  return [...byPlace.values()].sort((a, b) => a.span.start - b.span.start);
}

/** What can be renamed: the text that is replaced, which is the part before the number for one of a range of registers. */
export function renameable({ mention }: Found): Span | undefined {
  if (!mention.meaning) return undefined;
  const { start } = mention.span;
  return { start, end: start + mention.meaning.name.length };
}

const identifier = /^(?:[a-zA-Z][\w$]*|[_$%][\w$]+)$/;

/** The edits that give a name another one everywhere; a sentence where that is not possible. */
export function renamed(document: PtxDocument, found: Found, to: string): Edit[] | string {
  const { meaning } = found.mention;
  if (!meaning) return 'this name is not declared in the text';
  if (!identifier.test(to)) return `\`${to}\` is not an identifier of PTX`;
  const taken = found.names && lookUp(found.names.scope, to);
  if (
    taken ||
    found.names?.mentions.some(
      ({ name }) => name === to || (isRange(meaning.name, found) && name.startsWith(to) && /^\d+$/.test(name.slice(to.length))),
    )
  )
    return `\`${to}\` is already a name in this function`;
  if (meaning.isOfModule && document.module().items.some((item) => 'name' in item && item.name === to))
    return `\`${to}\` is already a name in this module`;
  // All registers of a range are renamed with it.
  const all = meaning.isOfModule
    ? mentionsOf(document, found)
    : found.names!.mentions.filter(
        (each) =>
          each.meaning?.kind === meaning.kind &&
          each.meaning.declared?.start === meaning.declared?.start &&
          each.meaning.name === meaning.name,
      );
  if (isInSections(document, meaning.name)) return 'debug sections mention this name, and their text would not agree any more';
  return all.map(({ span }) => ({ start: span.start, end: span.start + meaning.name.length, text: to }));
}

/** Whether the name is that of a range of registers. */
const isRange = (name: string, { names }: Found): boolean =>
  names?.mentions.some((each) => each.meaning?.name === name && each.name !== name) ?? false;

/** Whether sections, which debuggers read, have a name. */
function isInSections(document: PtxDocument, name: string): boolean {
  return document.module().items.some(
    (item) =>
      item.kind === 'section' &&
      document.text
        .slice(item.span.start, item.span.end)
        .split(/[^\w$%]+/)
        .includes(name),
  );
}
