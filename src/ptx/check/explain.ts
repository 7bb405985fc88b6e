/** The rows of an opcode in the instruction table, as text: `cumetal explain`, and what editors show. */
import { closest } from '../../base/closest.ts';
import type { Row } from '../model/row.ts';
import { rowsByName } from '../table/index.ts';
import { isMatch, matchForm } from './match.ts';

/** A row of the table in words. `text` has all of it: the syntax, the words of its slots, the meaning, and where the manual says so. */
export interface ExplainedForm {
  readonly syntax: string;
  readonly doc: string;
  readonly source: string;
  readonly status: string;
  readonly text: string;
}

/** The forms of an instruction (`min.f32`) or all forms of an opcode (`min`); an error message if there are none. */
export function explainForms(word: string): ExplainedForm[] | string {
  const [name = word, ...modifiers] = word.split('.');
  const rows = rowsByName().get(name);
  if (rows) return overloads(rows, modifiers).map(explainRow);
  const near = closest(name, rowsByName().keys());
  return `\`${word}\` is neither a diagnostic code nor a PTX instruction${near === undefined ? '' : `; did you mean \`${near}\`?`}`;
}

/** The rows with these modifiers, for any number of operands; all rows if none has the modifiers. */
function overloads(rows: readonly Row[], modifiers: readonly string[]): readonly Row[] {
  if (modifiers.length === 0) return rows;
  const forms = operandCounts(rows).map((count) => matchForm(rows[0]!.name, modifiers, count));
  const found = new Set(forms.flatMap((form) => (form && isMatch(form) ? modifiersOf(form.row) : [])));
  return found.size === 0 ? rows : rows.filter((row) => found.has(modifiersOf(row)));
}

/** The possible numbers of operands of these rows. */
const operandCounts = (rows: readonly Row[]): number[] =>
  Array.from({ length: Math.max(...rows.map(({ operands }) => operands.length)) + 1 }, (_, count) => count);

/** A key that is equal for rows with the same modifiers, such as those of calls, which differ only in their operands. */
const modifiersOf = ({ slots }: Row): string => JSON.stringify(slots);

/** A row of the instruction table as text. */
export function explainRow(row: Row): ExplainedForm {
  const status = statusText(row.status);
  const values = row.slots
    .filter((slot) => !slot.isLiteral)
    .map((slot) => `    .${slot.name} = ${slot.words.map((w) => `.${w}`).join(' ')}`);
  const lines = [
    row.syntax,
    ...values,
    `  ${row.doc}`,
    `  ${status}. PTX ISA 9.0, ${row.source}; PTX ${row.since.ptx}, sm_${row.since.sm}${row.withdrawn ? ` to before ${row.withdrawn.ptx ? `PTX ${row.withdrawn.ptx}` : `sm_${row.withdrawn.sm}`}` : ''}.`,
    '',
  ];
  return { syntax: row.syntax, doc: row.doc, source: row.source, status, text: lines.join('\n') };
}

/** A status as a phrase. */
function statusText(status: Row['status']): string {
  if (status === 'exact') return 'Exact';
  return 'refused' in status ? `Not supported: ${status.refused}` : `Approximate: ${status.approximate}`;
}
