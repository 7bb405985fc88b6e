/** Refused forms of arithmetic and data movement are legal PTX: NVIDIA's assembler takes each, for one version and architecture at least. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/row.ts';
import { refusedDataRows } from '../../src/ptx/table/later/data.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { wordsOf } from './forms.ts';
import { declarations, refusedTexts } from './refused-data-forms.ts';

const test = suite('ptx/refused-data');

/** Forms of a row that are tried. */
const most = 60;

/** `most` of the forms of a row, evenly. */
function sampled(row: Row, which: 'legal' | 'excluded'): string[] {
  const all = wordsOf(row, which);
  const step = Math.max(1, all.length / most);
  const picked = Array.from({ length: Math.min(most, all.length) }, (_, i) => all[Math.floor(i * step)]!);
  return picked.flatMap((words) => refusedTexts(row, words));
}

/** Version, target, and the architecture that is assembled for; from where most is known to where some old forms still are. */
const targets = [
  ['9.0', 'sm_100a', 'sm_100a'],
  ['9.0', 'sm_90a', 'sm_90a'],
  ['6.3', 'sm_60', 'sm_75'],
  ['2.3', 'sm_13', 'sm_90'],
] as const;

/** What the assembler says of forms, by form. The last line is a fault, so that no code is made. */
function faultsOf(forms: readonly string[], [version, target, architecture]: (typeof targets)[number]): Map<string, string> {
  const body = Number(version) < 8.3 ? declarations.replace(/\.reg \.b128[^;]*;/, '') : declarations;
  const head = `.version ${version}\n.target ${target}\n.address_size 64\n.visible .entry k (.param .u64 entry)\n{ ${body}\n`;
  const first = head.split('\n').length;
  const faults = ptxasFaults(`${head}${forms.join('\n')}\nnothing;\nret;\n}\n`, architecture);
  assert.match(faults.get(first + forms.length) ?? '', /nothing/, `the assembler came to the end: ${[...faults].slice(-1)}`);
  for (const line of faults.keys()) assert.ok(line >= first, `line ${line}: ${faults.get(line)}`);
  return new Map(forms.flatMap((form, i) => (faults.has(first + i) ? [[form, faults.get(first + i)!] as const] : [])));
}

/** Forms that no version takes, with what was said first. */
function refusedByAll(forms: readonly string[]): Map<string, string> {
  const said = faultsOf(forms, targets[0]);
  let left: readonly string[] = [...said.keys()];
  for (const target of targets.slice(1)) {
    const faults = faultsOf(left, target);
    left = left.filter((form) => faults.has(form));
  }
  return new Map(left.map((form) => [form, said.get(form)!]));
}

need(test, ['ptxas'], 'every form of a refused row is one that ptxas takes', () => {
  const forms = [...new Set(refusedDataRows().flatMap((row) => sampled(row, 'legal')))];
  assert.ok(forms.length > 3000, `${forms.length} forms`);
  assert.equal([...refusedByAll(forms)], []);
});

need(test, ['ptxas'], 'what a refused row excludes is what ptxas refuses', () => {
  const forms = [...new Set(refusedDataRows().flatMap((row) => (row.excludes.length > 0 ? sampled(row, 'excluded') : [])))];
  const refused = refusedByAll(forms);
  assert.equal(
    forms.filter((form) => !refused.has(form)),
    [],
  );
});

test('a refused row says why, what to do instead, and nothing of how it would be done', () => {
  for (const row of refusedDataRows()) {
    const { refused, instead } = refusalOf(row) ?? {};
    assert.ok(refused && refused.length > 15, row.syntax);
    assert.ok(instead && instead.length > 10, row.syntax);
    assert.is(row.lower, undefined);
    assert.equal(row.cases, []);
  }
});

test.run();
