/**
 * Ohm's match of a line, as plain data that can be stored: the rules that matched, and their tokens. Templates are built by a walk with one
 * action per rule. Ohm's own semantics would do the same, but their setup takes longer than parsing a small file.
 */
import type { Node as OhmNode } from 'ohm-js';
import { bug } from '../../base/bug.ts';
import type { Make } from './cursor.ts';

/** A match of a rule, of a literal (`_terminal`), or of a repeated or optional part (`_iter`). */
export interface Node {
  readonly rule: string;
  /** The indices in the line of the first and the last token; -1 if the match is empty or consists of modifiers. */
  readonly first: number;
  readonly last: number;
  readonly children: readonly Node[];
}

/** For each rule (or alternative of a rule), the constructor of its template. `this` is the match, the arguments are its parts. */
export type Actions = Record<string, (this: Node, ...parts: never[]) => Make<unknown>>;

/** Maps offsets in the matched text to tokens of the line. */
export interface Places {
  readonly byStart: ReadonlyMap<number, number>;
  readonly byEnd: ReadonlyMap<number, number>;
}

/** Copies a match without the characters of tokens, and without rules that have no action and a single part. */
export function copyNode(node: OhmNode, places: Places, actions: Actions): Node {
  const rule = node.ctorName;
  const children = isToken(rule) ? [] : node.children.map((child) => copyNode(child, places, actions));
  if (children.length === 1 && rule !== '_iter' && !actions[rule]) return children[0]!;
  const { startIdx, endIdx } = node.source;
  if (startIdx === endIdx) return { rule, first: -1, last: -1, children };
  return { rule, first: tokenAt(places.byStart, startIdx), last: tokenAt(places.byEnd, endIdx), children };
}

/** Lexical rules start with a lowercase letter; `number` is kept because it discriminates kinds. */
const isToken = (rule: string): boolean => rule[0]! >= 'a' && rule !== 'number';

/** Modifiers are the only tokens without an index in the line. */
const tokenAt = (places: ReadonlyMap<number, number>, offset: number): number => places.get(offset) ?? -1;

let actions: Actions = {};
let textOfToken: (token: number) => string = () => '';

/** The template of a line; `text` returns the tokens that are not holes. */
export function walk<T>(root: Node, by: Actions, text: (token: number) => string): Make<T> {
  actions = by;
  textOfToken = text;
  return make(root);
}

/** The template of a match during a walk, from its action or from its only part. */
export function make<T>(node: Node): Make<T> {
  const action = actions[node.rule];
  if (action) return action.apply(node, node.children as never[]) as Make<T>;
  if (node.children.length !== 1) return bug(`no action for ${node.rule}`);
  return make(node.children[0]!);
}

/** The text of a match that is a single token and not a hole. */
export const literal = (node: Node): string => textOfToken(node.first);

/**
 * The elements of a comma-separated list: Ohm's built-in list, a rule `First More*` with `More` a comma and an element, or an empty list.
 */
export function itemsOf(list: Node | undefined): readonly Node[] {
  if (!list || list.rule === 'EmptyListOf') return [];
  if (list.rule === 'ListOf' || list.rule === '_iter') return itemsOf(list.children[0]);
  const [first, second, rest] = list.children;
  if (list.rule === 'NonemptyListOf') return [first!, ...rest!.children];
  return [first!, ...second!.children.map((more) => more.children[1]!)];
}

/**
 * A stored match: the index of its rule, its first token relative to its parent (-1 if it is empty or consists of modifiers), the number of
 * further tokens, and the indices of its parts. Equal matches of many lines are stored once.
 */
export type StoredNode = readonly [rule: number, first: number, more: number, ...parts: number[]];

/** All stored matches, which refer to rules and to each other by index. */
export interface NodeStore {
  readonly rules: readonly string[];
  readonly nodes: readonly StoredNode[];
}

/** A store under construction, with the index of each match by its text. */
export interface GrowingStore {
  readonly rules: string[];
  readonly numbers: Map<string, number>;
}

/** Stores a match; `base` is the first token of its parent. Returns its index. */
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

/** The match at an index, in a parent that starts at the token `base`. */
export function storedNode(number: number, base: number, store: NodeStore): Node {
  const stored = store.nodes[number]!;
  const first = stored[1] < 0 ? -1 : stored[1] + base;
  const children: Node[] = [];
  for (let i = 3; i < stored.length; i++) children.push(storedNode(stored[i]!, first < 0 ? base : first, store));
  return { rule: store.rules[stored[0]]!, first, last: first + stored[2], children };
}
