/**
 * What Ohm found in a line, as plain data that outlives the match and can be stored: which rules matched which tokens.
 * Templates are made by a walk that asks an action for each rule; it does what operations of Ohm's semantics do, but for
 * their set-up, which takes longer than a small file.
 */
import type { Node as OhmNode } from 'ohm-js';
import { bug } from '../../base/bug.ts';
import type { Make } from './cursor.ts';

/** A match of a rule, of a literal (`_terminal`), or the matches of a repeated or optional part (`_iter`). */
export interface Node {
  readonly rule: string;
  /** The numbers in the line of the first and the last token; -1 when the match is empty or is of modifiers. */
  readonly first: number;
  readonly last: number;
  readonly children: readonly Node[];
}

/** By rule (or alternative of a rule): how the template of its match is made; `this` is the match, the arguments its parts. */
export type Actions = Record<string, (this: Node, ...parts: never[]) => Make<unknown>>;

/** Finds the tokens of a line by offsets in the matched text. */
export interface Places {
  readonly byStart: ReadonlyMap<number, number>;
  readonly byEnd: ReadonlyMap<number, number>;
}

/**
 * Copies a match, leaving out what templates have no use for: the characters of tokens, and rules without action that
 * stand for their only part.
 */
export function copyNode(node: OhmNode, places: Places, actions: Actions): Node {
  const rule = node.ctorName;
  const children = isToken(rule) ? [] : node.children.map((child) => copyNode(child, places, actions));
  if (children.length === 1 && rule !== '_iter' && !actions[rule]) return children[0]!;
  const { startIdx, endIdx } = node.source;
  if (startIdx === endIdx) return { rule, first: -1, last: -1, children };
  return { rule, first: tokenAt(places.byStart, startIdx), last: tokenAt(places.byEnd, endIdx), children };
}

/** Lexical rules are those of a small letter; a number says which kind it is. */
const isToken = (rule: string): boolean => rule[0]! >= 'a' && rule !== 'number';

/** Modifiers are the only tokens that have no number in their line. */
const tokenAt = (places: ReadonlyMap<number, number>, offset: number): number => places.get(offset) ?? -1;

let actions: Actions = {};
let textOfToken: (token: number) => string = () => '';

/** The template of a whole line; `text` gives its tokens that are no holes. */
export function walk<T>(root: Node, by: Actions, text: (token: number) => string): Make<T> {
  actions = by;
  textOfToken = text;
  return make(root);
}

/** The template of a match within a walk: by its action, or of its only part. */
export function make<T>(node: Node): Make<T> {
  const action = actions[node.rule];
  if (action) return action.apply(node, node.children as never[]) as Make<T>;
  if (node.children.length !== 1) return bug(`no action for ${node.rule}`);
  return make(node.children[0]!);
}

/** The text of a match that is one token and no hole. */
export const literal = (node: Node): string => textOfToken(node.first);

/** The elements of a comma-separated list: Ohm's own kind, a rule `First More*` where `More` is a comma and an element, or none. */
export function itemsOf(list: Node | undefined): readonly Node[] {
  if (!list || list.rule === 'EmptyListOf') return [];
  if (list.rule === 'ListOf' || list.rule === '_iter') return itemsOf(list.children[0]);
  const [first, second, rest] = list.children;
  if (list.rule === 'NonemptyListOf') return [first!, ...rest!.children];
  return [first!, ...second!.children.map((more) => more.children[1]!)];
}

/**
 * A match as it is stored: the number of its rule, its first token counted from that of what it is part of (-1 where it is empty or
 * of modifiers), how many more tokens it has, and the numbers of its parts. What occurs in many lines is so stored once.
 */
export type StoredNode = readonly [rule: number, first: number, more: number, ...parts: number[]];

/** All matches that are stored, which refer to rules and to each other by number. */
export interface NodeStore {
  readonly rules: readonly string[];
  readonly nodes: readonly StoredNode[];
}

/** A store that grows, with the number of each match by its text. */
export interface GrowingStore {
  readonly rules: string[];
  readonly numbers: Map<string, number>;
}

/** Stores a match, where `base` is the first token of what it is part of; gives its number. */
export function storeNode({ rule, first, last, children }: Node, base: number, store: GrowingStore): number {
  const { rules, numbers } = store;
  if (!rules.includes(rule)) rules.push(rule);
  const parts = children.map((child) => storeNode(child, first < 0 ? base : first, store));
  const stored: StoredNode = [rules.indexOf(rule), first < 0 ? -1 : first - base, last - first, ...parts];
  const key = JSON.stringify(stored);
  const number = numbers.get(key) ?? numbers.size;
  numbers.set(key, number);
  return number;
}

/** The match of a number, part of what starts at the token `base`. */
export function storedNode(number: number, base: number, store: NodeStore): Node {
  const stored = store.nodes[number]!;
  const first = stored[1] < 0 ? -1 : stored[1] + base;
  const children: Node[] = [];
  for (let i = 3; i < stored.length; i++) children.push(storedNode(stored[i]!, first < 0 ? base : first, store));
  return { rule: store.rules[stored[0]]!, first, last: first + stored[2], children };
}
