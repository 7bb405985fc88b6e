/** How refused rows are judged: their forms by what NVIDIA's assembler says of them, the rows themselves by what they say. */
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/model/row.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { wordsOf } from './forms.ts';

/** Version, target, and the architecture that is assembled for. */
export type Target = readonly [version: string, target: string, architecture: string];

/** What differs from one group of rows to another. */
export interface Trial {
  /** Forms of a row that are tried. */
  readonly most: number;
  /** The texts of a form. */
  readonly textsOf: (row: Row, words: readonly string[]) => string[];
  /** Declarations of functions, each a line, before the entry. */
  readonly functions: string;
  /** What the body declares, before the forms. */
  readonly declarations: string;
  /** From where most is known to where some old forms still are. */
  readonly targets: readonly [Target, ...Target[]];
}

/** `most` of the forms of a row, evenly, as texts. */
export function sampled({ most, textsOf }: Trial, row: Row, which: 'legal' | 'excluded'): string[] {
  const all = wordsOf(row, which);
  const step = Math.max(1, all.length / most);
  const picked = Array.from({ length: Math.min(most, all.length) }, (_, i) => all[Math.floor(i * step)]!);
  return picked.flatMap((words) => textsOf(row, words));
}

/** What the assembler says of forms, by form. The last line is a fault, so that no code is made. */
export function faultsOf(trial: Trial, forms: readonly string[], [version, target, architecture]: Target): Map<string, string> {
  const { functions, declarations } = trial;
  const body = Number(version) < 8.3 ? declarations.replace(/\.reg \.b128[^;]*;/, '') : declarations;
  const head = `.version ${version}\n.target ${target}\n.address_size 64\n${functions}.visible .entry k (.param .u64 entry)\n{ ${body}\n`;
  const first = head.split('\n').length;
  const faults = ptxasFaults(`${head}${forms.join('\n')}\nnothing;\nret;\n}\n`, architecture);
  assert.match(faults.get(first + forms.length) ?? '', /nothing/, `the assembler came to the end: ${[...faults].slice(-1)}`);
  for (const line of faults.keys()) assert.ok(line >= first, `line ${line}: ${faults.get(line)}`);
  return new Map(forms.flatMap((form, i) => (faults.has(first + i) ? [[form, faults.get(first + i)!] as const] : [])));
}

/** Forms that the assembler takes for none of the targets, with what was said first. */
export function refusedByAll(trial: Trial, forms: readonly string[]): Map<string, string> {
  const [newest, ...others] = trial.targets;
  const said = faultsOf(trial, forms, newest);
  let left: readonly string[] = [...said.keys()];
  for (const target of others) {
    if (left.length === 0) break;
    left = [...faultsOf(trial, left, target).keys()];
  }
  return new Map(left.map((form) => [form, said.get(form)!]));
}

/** A refused row says why, and no more than that. */
export function testReasons(test: Test, rows: () => readonly Row[]): void {
  test('a refused row says why, what to do instead, and nothing of how it would be done', () => {
    for (const row of rows()) {
      const { refused, instead } = refusalOf(row) ?? {};
      assert.ok(refused && refused.length > 15, row.syntax);
      assert.ok(instead && instead.length > 10, row.syntax);
      assert.is(row.lower, undefined);
      assert.equal(row.cases(), []);
    }
  });
}
