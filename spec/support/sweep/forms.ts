/**
 * The sweep: kernels generated from the rows of the instruction table, with the results of a GPU (`scripts/sweep.ts`,
 * `fixtures/h200/sweep.json`). `spec/h200/scalar.spec.ts` tests rows whose results the manual bounds only, and `warp.spec.ts` warp
 * collectives.
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
  /** `ld.global.v4.f32`, with operands if rows share modifiers. */
  readonly name: string;
  readonly row: Row;
  /** The modifiers of its slots, such as `type=u32`. */
  readonly words: readonly string[];
  readonly ptx: string;
}

/** Whether a row makes a cache policy, or needs one. */
export const isOfPolicies = ({ name, operands }: Row): boolean =>
  name === 'createpolicy' || operands.some((operand) => operand.name === 'policy' && !operand.isOptional);

/** Whether a row is of clusters of blocks. */
export const isOfClusters = ({ name, slots }: Row): boolean =>
  name === 'mapa' || name === 'getctarank' || slots.some(({ words }) => words.some((word) => word.includes('cluster')));

/** The newest architecture in the sweep. */
const newest = 90;

/** The kernel of a form, or the reason why there is none. */
function codeOf(form: Worded, at: number): Code | undefined {
  const { row } = form;
  // A policy is no number, and an access with one does what the same access without does: `spec/ptx/policies.spec.ts`.
  if (isOfPolicies(row) || isOfClusters(row)) return undefined;
  const other = otherCode[row.syntax];
  if (other) return form.opcode.endsWith('.u32') && row.name === 'cvta' ? undefined : other(form, at);
  if (row.name === 'atom' || row.name === 'red') return atomicCode(form, at);
  const isPassed = form.modifiers.space === 'param::func' || (row.name === 'st' && form.modifiers.space === 'param');
  if (isPassed) return passedCode(form);
  if (row.name === 'ld' || row.name === 'ldu') return loadCode(form, at);
  if (row.name === 'st') return storeCode(form, at);
  // Warp collectives and matrix fragments have recordings of their own.
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

/** Forms of modules for the first architectures, where single precision has no subnormals without a modifier. */
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

/** Repeatedly the form with the most new modifiers, until none is new. */
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
