/** The rows of an opcode in the instruction table, as text. */
import { closest } from '../../base/closest.ts';
import { isMatch, matchForm, type Row, rowsByName } from '../../ptx/index.ts';

export interface ExplainedForm {
  readonly syntax: string;
  readonly doc: string;
  readonly source: string;
  readonly status: string;
  readonly text: string;
}

/** The form of an instruction (`add.s32`) or all forms of an opcode (`add`); an error message if there are none. */
export function explainForms(word: string): ExplainedForm[] | string {
  const [name = word, ...modifiers] = word.split('.');
  const form = modifiers.length > 0 ? matchForm(name, modifiers) : undefined;
  if (form && isMatch(form)) return [explainRow(form.row)];
  const rows = rowsByName().get(name);
  if (rows) return rows.map(explainRow);
  const near = closest(name, rowsByName().keys());
  return `\`${word}\` is neither a diagnostic code nor a PTX instruction${near === undefined ? '' : `; did you mean \`${near}\`?`}`;
}

function explainRow(row: Row): ExplainedForm {
  const status = statusText(row.status);
  const values = row.slots
    .filter((slot) => !slot.isLiteral)
    .map((slot) => `    .${slot.name} = ${slot.words.map((w) => `.${w}`).join(' ')}`);
  const lines = [
    row.syntax,
    ...values,
    `  ${row.doc}`,
    `  ${status}. PTX ISA 9.0, ${row.source}; PTX ${row.since.ptx}, sm_${row.since.sm}${row.withdrawn ? ` to before sm_${row.withdrawn.sm}` : ''}.`,
    '',
  ];
  return { syntax: row.syntax, doc: row.doc, source: row.source, status, text: lines.join('\n') };
}

/** A status as a phrase. */
function statusText(status: Row['status']): string {
  if (status === 'exact') return 'Exact';
  return 'refused' in status ? `Not supported: ${status.refused}` : `Approximate: ${status.approximate}`;
}
