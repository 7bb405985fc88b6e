/** Rows of what is refused are of legal PTX: NVIDIA's assembler takes their forms, for one version and architecture at least. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/row.ts';
import { refusedRows } from '../../src/ptx/table/later/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { wordsOf } from './forms.ts';
import { declarations, refusedText } from './refused-forms.ts';

const test = suite('ptx/refused');

/** Forms of a row that are tried. */
const most = 400;

/** `most` of the forms of a row, evenly. */
function sampled(row: Row, which: 'legal' | 'excluded' = 'legal'): string[] {
  const all = wordsOf(row, which);
  const step = Math.max(1, all.length / most);
  const picked = Array.from({ length: Math.min(most, all.length) }, (_, i) => all[Math.floor(i * step)]!);
  return picked.flatMap((words) => refusedText(row, words));
}

/** Version, target, and the architecture that is assembled for; from where most is known to where some old forms still are. */
const targets = [
  ['9.0', 'sm_90a', 'sm_90a'],
  ['9.0', 'sm_100a', 'sm_100a'],
  ['9.0', 'sm_103a', 'sm_103a'],
  ['9.0', 'sm_120a', 'sm_120a'],
  ['9.0', 'sm_90a, texmode_independent', 'sm_90a'],
  ['6.3', 'sm_60', 'sm_75'],
  ['6.3', 'sm_75', 'sm_75'],
  ['8.0', 'sm_80', 'sm_80'],
] as const;

/** What the assembler says of forms, by form. The last line is a fault, so that no code is made. */
function faultsOf(forms: readonly string[], [version, target, architecture]: (typeof targets)[number]): Map<string, string> {
  const body = Number(version) < 8.3 ? declarations.replace(/\.reg \.b128[^;]*;/, '') : declarations;
  const head = `.version ${version}\n.target ${target}\n.address_size 64\n.func (.param .b32 r) f (.param .b32 p);\n.func g (.param .b32 p);\n.func h ();
.visible .entry k (.param .u64 entry)\n{ ${body}\nL:\n`;
  const first = head.split('\n').length;
  const faults = ptxasFaults(`${head}${forms.join('\n')}\nnothing;\nret;\n}\n`, architecture);
  assert.match(faults.get(first + forms.length) ?? '', /nothing/, `the assembler came to the end: ${[...faults].slice(-1)}`);
  for (const line of faults.keys()) assert.ok(line >= first, `line ${line}: ${faults.get(line)}`);
  return new Map(forms.flatMap((form, i) => (faults.has(first + i) ? [[form, faults.get(first + i)!] as const] : [])));
}

/** Forms that no version takes, with what was said last. */
function refusedByAll(forms: readonly string[]): string[] {
  let left: readonly string[] = forms;
  let said = new Map<string, string>();
  for (const target of targets) {
    if (left.length === 0) break;
    said = faultsOf(left, target);
    left = left.filter((form) => said.has(form));
  }
  return left.map((form) => `${form} ${said.get(form)}`);
}

need(test, ['ptxas'], 'every form of a refused row is one that ptxas takes', () => {
  const forms = refusedRows().flatMap((row) => sampled(row));
  assert.ok(forms.length > 3000, `${forms.length} forms`);
  assert.equal(refusedByAll([...new Set(forms)]), []);
});

need(test, ['ptxas'], 'what a refused row excludes is what ptxas refuses', () => {
  const forms = [...new Set(refusedRows().flatMap((row) => (row.excludes.length > 0 ? sampled(row, 'excluded') : [])))];
  const taken = targets.slice(0, 4).flatMap((target) => {
    const faults = faultsOf(forms, target);
    return forms.filter((form) => !faults.has(form)).map((form) => `${target[1]} ${form}`);
  });
  assert.equal(taken, []);
});

test('a refused row says why, what to do instead, and nothing of how it would be done', () => {
  for (const row of refusedRows()) {
    const { refused, instead } = refusalOf(row) ?? {};
    assert.ok(refused && refused.length > 15, row.syntax);
    assert.ok(instead && instead.length > 10, row.syntax);
    assert.is(row.lower, undefined);
    assert.equal(row.cases, []);
  }
});

test.run();
