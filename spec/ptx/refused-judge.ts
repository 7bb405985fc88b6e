/** NVIDIA's assembler decides whether forms are legal. */
import * as assert from 'uvu/assert';
import type { Row } from '../../src/ptx/model/row.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { wordsOf } from './forms.ts';

/** Version, target, and the architecture that is assembled for. */
export type Target = readonly [version: string, target: string, architecture: string];

/** The differences between groups of rows. */
export interface Trial {
  /** Forms of a row that are tried. */
  readonly max: number;
  /** The texts of a form. */
  readonly textsOf: (row: Row, words: readonly string[]) => string[];
  /** Declarations of functions, each a line, before the entry. */
  readonly functions: string;
  /** The declarations of the body, before the forms. */
  readonly declarations: string;
  /** From the target with most forms to those that still have some old ones. */
  readonly targets: readonly [Target, ...Target[]];
}

/** `most` of the forms of a row, evenly, as texts. */
export function sampled({ max: most, textsOf }: Trial, row: Row, which: 'legal' | 'excluded'): string[] {
  const all = wordsOf(row, which);
  const step = Math.max(1, all.length / most);
  const picked = Array.from({ length: Math.min(most, all.length) }, (_, i) => all[Math.floor(i * step)]!);
  return picked.flatMap((words) => textsOf(row, words));
}

/** The assembler's diagnostics by form. The last line is a deliberate fault, so that no code is generated. */
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

/** Forms that the assembler rejects for every target, with the first diagnostic. */
export function refusedByAll(trial: Trial, forms: readonly string[]): Map<string, string> {
  const [newest, ...others] = trial.targets;
  const firstFaults = faultsOf(trial, forms, newest);
  let left: readonly string[] = [...firstFaults.keys()];
  for (const target of others) {
    if (left.length === 0) break;
    left = [...faultsOf(trial, left, target).keys()];
  }
  return new Map(left.map((form) => [form, firstFaults.get(form)!]));
}
