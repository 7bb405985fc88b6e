/**
 * The sweep: kernels made of the rows of the instruction table, for which a GPU is asked what they give
 * (`scripts/sweep.ts`, `fixtures/h200/sweep.json`). Rows whose results the manual leaves open within a bound are judged by
 * `spec/h200/scalar.spec.ts`, and what the threads of a warp do together by `warp.spec.ts`.
 */

import type { Row } from '../../../src/ptx/model/row.ts';
import { refusalOf } from '../../../src/ptx/model/row.ts';
import { allRows } from '../../../src/ptx/table/index.ts';
import { type Code, kernelAround } from './kernel.ts';
import { atomicCode, loadCode, passedCode, storeCode } from './memory.ts';
import { otherCode } from './other.ts';
import { packingCode, scalarCode } from './scalar.ts';
import { formsOf, type Worded } from './words.ts';

export interface SweepForm {
  /** `ld.global.v4.f32`, with operands behind it where rows share words. */
  readonly name: string;
  readonly row: Row;
  /** Of its slots, `type=u32` say. */
  readonly words: readonly string[];
  readonly ptx: string;
}

/** The newest architecture that is asked. */
const newest = 90;

/** What one kernel of a form is, or why there is none. */
function codeOf(form: Worded, at: number): Code | undefined {
  const { row } = form;
  const other = otherCode[row.syntax];
  if (other) return form.opcode.endsWith('.u32') && row.name === 'cvta' ? undefined : other(form, at);
  if (row.name === 'atom' || row.name === 'red') return atomicCode(form, at);
  const isPassed = form.modifiers.space === 'param::func' || (row.name === 'st' && form.modifiers.space === 'param');
  if (isPassed) return passedCode(form);
  if (row.name === 'ld' || row.name === 'ldu') return loadCode(form, at);
  if (row.name === 'st') return storeCode(form, at);
  // What warps do together, and fragments of matrices, have recordings of their own.
  const isWarpCollective = (row.isCollective && !row.withdrawn) || row.operands.some(({ vector }) => vector === 'some');
  if (row.control || isWarpCollective || row.operands.some(({ isAddress }) => isAddress)) return undefined;
  return scalarCode(form, at);
}

const packings = [
  ['b32', 2],
  ['b64', 2],
  ['b64', 4],
] as const;

/** All forms that have a kernel, in the order of the table. */
export function sweepForms(): SweepForm[] {
  const rows = allRows().filter((row) => !refusalOf(row) && row.status === 'exact' && row.since.sm <= newest);
  const made = rows.flatMap((row) => formsOf(row).flatMap((form, at) => sweepForm(form, at)));
  const mov = rows.find(({ name }) => name === 'mov')!;
  const old = rows.filter(wasOld).flatMap((row) => formsOf(row).flatMap((form, at) => oldForm(form, at)));
  const packed = packings.map(([type, parts]) => ({
    name: `mov.${type} of ${parts}`,
    row: mov,
    words: [`packing=${type}${parts}`],
    ptx: kernelAround(packingCode(type, parts)),
  }));
  return [...made, ...old, ...packed];
}

/** Four elements of 64 bits at once are for architectures from sm_100 on. */
const isWide = ({ modifiers }: Worded): boolean => modifiers.vec === 'v4' && String(modifiers.type).endsWith('64');

const wordsOf = ({ modifiers }: Worded): string[] => Object.entries(modifiers).map(([slot, word]) => `${slot}=${word}`);
const nameOf = ({ opcode, row }: Worded): string =>
  row.name === 'call' ? `${opcode} ${row.syntax.slice(row.syntax.indexOf(' ') + 1)}` : opcode;

function sweepForm(form: Worded, at: number): SweepForm[] {
  const code = isWide(form) ? undefined : codeOf(form, at);
  return code ? [{ name: nameOf(form), row: form.row, words: wordsOf(form), ptx: kernelAround(code) }] : [];
}

/** What modules for the first architectures have, where singles have no subnormals without a word for it. */
const wasOld = ({ since, slots, withdrawn }: Row): boolean =>
  since.ptx <= 1.4 && since.sm <= 13 && !withdrawn && slots.some(({ name }) => name === 'ftz');

function oldForm(form: Worded, at: number): SweepForm[] {
  const words = form.opcode.split('.');
  const code =
    words.includes('f32') && !words.includes('ftz') && !words.some((word) => /^(f16|NaN)$/.test(word)) ? codeOf(form, at) : undefined;
  const name = `${nameOf(form)} for sm_10`;
  return code ? [{ name, row: form.row, words: ['for=sm_10'], ptx: kernelAround({ ...code, architecture: 'sm_10' }) }] : [];
}

/** Of the forms of each row so few that every word of it occurs, and one in `step` of all. */
export function someForms(step: number): Map<Row, SweepForm[]> {
  const byRow = new Map<Row, SweepForm[]>();
  for (const form of sweepForms()) byRow.set(form.row, [...(byRow.get(form.row) ?? []), form]);
  let count = 0;
  const chosen = new Map<Row, SweepForm[]>();
  for (const [row, forms] of byRow) {
    const cover = coverOf(forms);
    chosen.set(
      row,
      forms.filter((form) => count++ % step === 0 || cover.has(form)),
    );
  }
  return chosen;
}

/** The form with most words that none before has, until there is none. */
function coverOf(forms: readonly SweepForm[]): Set<SweepForm> {
  const left = new Set(forms.flatMap(({ words }) => words));
  // A row without words has one form.
  const cover = new Set<SweepForm>(left.size === 0 ? forms.slice(0, 1) : []);
  const gain = (form: SweepForm): number => form.words.filter((word) => left.has(word)).length;
  while (left.size > 0) {
    const best = forms.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    cover.add(best);
    for (const word of best.words) left.delete(word);
  }
  return cover;
}
