/**
 * Modifiers in an order other than the manual's. NVIDIA's assembler accepts any order, so that `setp.ftz.gt.f32` is `setp.gt.ftz.f32`, with
 * two exceptions: the order of modifiers of one kind, such as two types, is significant, and some opcodes have a second word, as in
 * `mad.lo`. Source: ptxas 13.0 (the manual has one order only).
 */
import type { Row } from '../model/row.ts';
import { registerTypes } from '../model/types.ts';

const spaces = new Set(['const', 'global', 'local', 'param', 'shared', 'shared::cta', 'shared::cluster', 'tex']);
const layouts = new Set(['row', 'col']);

/** Modifiers of one kind keep their order. A modifier that has no kind is a kind of its own. */
const kindOf = (word: string): string => (isType(word) ? 'type' : spaces.has(word) ? 'space' : layouts.has(word) ? 'layout' : word);

/** Register types, and the types that exist only packed or narrow: `e4m3x2`, `tf32`, `s4`. */
const isType = (word: string): boolean => Object.hasOwn(registerTypes, word) || /^([bsu]|b?f|tf|ue?|e)\d+(m\d+)?(x\d+)*$/.test(word);

/** Second words of opcodes, which stay in place. */
const secondWords = new Set(['lo', 'hi', 'wide', 'l', 'r', 'to', 'async', 'reduce', 'prefetch', 'full', 'pack', 'proxy', 'tensormap']);

/** The modifiers in the order of a row. Undefined if they are not those of the row, or if their order is significant. */
export function inOrderOf({ slots }: Row, modifiers: readonly string[]): readonly string[] | undefined {
  const left = modifiers.map((word, at) => ({ word, at }));
  const order: typeof left = [];
  for (const { words, isOptional } of slots) {
    const found = left.findIndex(({ word }) => words.includes(word));
    if (found >= 0) order.push(...left.splice(found, 1));
    else if (!isOptional) return undefined;
  }
  if (left.length > 0 || !order.every((one, i) => keepsPlace(one, i) && keepsOrder(one, order.slice(i + 1)))) return undefined;
  return order.map(({ word }) => word);
}

interface Place {
  readonly word: string;
  /** Index in the source order. */
  readonly at: number;
}

const keepsPlace = ({ word, at }: Place, i: number): boolean => at === i || !secondWords.has(word);

const keepsOrder = ({ word, at }: Place, after: readonly Place[]): boolean =>
  after.every((other) => other.at > at || kindOf(other.word) !== kindOf(word));
