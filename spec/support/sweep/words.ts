/** The forms of a row in the sweep: all if they are few, else enough that every legal pair of modifiers occurs. */
import type { FormMatch } from '../../../src/ptx/check/match.ts';
import { isMatch, matchForm } from '../../../src/ptx/check/match.ts';
import type { Row } from '../../../src/ptx/model/row.ts';
import { wordsOf } from '../../ptx/forms.ts';

const few = 32;

/** A row with some of its words. */
export interface Worded extends FormMatch {
  /** `add.sat.s32` */
  readonly opcode: string;
}

/** The forms of a row that the sweep tries, in the order of its words. */
export function formsOf(row: Row): Worded[] {
  const all = wordsOf(row).flatMap((words) => {
    const found = matchForm(row.name, words, row.operands.filter(({ isOptional }) => !isOptional).length);
    // Calls are distinguished by their lists only.
    const isOf = found && isMatch(found) && (found.row === row || row.name === 'call');
    return isOf ? [{ ...found, row, opcode: [row.name, ...words].join('.') }] : [];
  });
  return all.length <= few ? all : covering(all);
}

/** Among many forms the first ones with a new pair of modifiers. */
function covering(forms: readonly Worded[]): Worded[] {
  const seen = new Set<string>();
  return forms.filter((form) => {
    const fresh = pairsOf(form).filter((pair) => !seen.has(pair));
    for (const pair of fresh) seen.add(pair);
    return fresh.length > 0;
  });
}

function pairsOf({ row, modifiers }: Worded): string[] {
  const words = row.slots.map(({ name }) => `${name}=${modifiers[name] ?? ''}`);
  return words.flatMap((word, i) => [word, ...words.slice(i + 1).map((other) => `${word} ${other}`)]);
}
