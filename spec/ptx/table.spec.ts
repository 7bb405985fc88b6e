import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isMatch, matchForm } from '../../src/ptx/check/match.ts';
import type { AnyCase, OperandSlot, Row } from '../../src/ptx/model/row.ts';
import { ptxTypes, refusalOf } from '../../src/ptx/model/row.ts';
import { allRows, chapters, rowsByName as rowsByOpcode } from '../../src/ptx/table/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { declarations, formOfCase, functions, instructionText, wordsOf } from './forms.ts';

const test = suite('ptx/table');
const rows = allRows();
const rowsByName = rowsByOpcode();

/** Rows of old versions alone are for `refused.spec.ts`, as are coordinates. */
const isRefused = (row: Row): boolean => refusalOf(row) !== undefined;
const hasAddress = ({ operands }: Row): boolean => operands.some((slot) => slot.isAddress);
const named = (list: readonly Row[]): string[] => list.map((row) => row.syntax);
/** The syntax line again, from the slots that were read from it. */
function syntaxOf({ name, slots, operands }: Row): string {
  const head = slots.map((slot) => (slot.isOptional ? `{.${slot.name}}` : `.${slot.name}`)).join('');
  return name + head + (operands.length > 0 ? ` ${listText(operands)}` : '');
}

/** Operands with the commas between them; `{, b}` may be left out. */
const listText = (operands: readonly OperandSlot[]): string =>
  operands.reduce((text, slot, i) => text + (slot.isOptional ? `{, ${operandText(slot)}}` : (i > 0 ? ', ' : '') + operandText(slot)), '');

function operandText({ name, second, needsSecond, isAddress, isList, isNegatable, inBrackets }: OperandSlot): string {
  if (isAddress) return `[${name}${listText(inBrackets).replace(/^(?=\w)/, ', ')}]`;
  if (isList) return `(${name})`;
  if (isNegatable) return `{!}${name}`;
  return second === undefined ? name : `${name}${needsSecond ? '|' : '[|'}${second}${needsSecond ? '' : ']'}`;
}

test('every syntax line says what its slots say', () => {
  for (const row of rows) assert.is(syntaxOf(row), row.syntax);
  assert.is(new Set(rows.map((row) => row.name)).size, rowsByName.size);
});

test('every row says what it does, where the manual says so, and since when', () => {
  for (const row of rows) {
    assert.match(row.doc, /^\S.*\.$/s, row.syntax);
    assert.match(row.source, /^9\.7\.\d+(\.\d+)*$/, row.syntax);
    assert.ok(row.since.ptx >= 1 && row.since.ptx < 10, row.syntax);
    assert.ok(row.since.sm >= 10 && row.since.sm <= 121, row.syntax);
  }
});

test('slots hold different words once each, and exclusions speak of slots and their words', () => {
  for (const { syntax, slots, excludes } of rows) {
    for (const slot of slots) {
      assert.ok(slot.words.length > 0, syntax);
      assert.is(new Set(slot.words).size, slot.words.length, syntax);
    }
    const free = slots.filter((slot) => !slot.isLiteral).map((slot) => slot.name);
    assert.is(new Set(free).size, free.length, `${syntax}: a slot named twice would hold two words`);
    for (const entry of excludes) {
      assert.ok(Object.keys(entry).length > 1, syntax);
      for (const name of Object.keys(entry))
        assert.ok(
          slots.some((slot) => slot.name === name),
          `${syntax}: ${name}`,
        );
    }
  }
});

test('operand types are types, or name a slot of types', () => {
  for (const { syntax, slots, operands } of rows.filter((row) => !isRefused(row)))
    for (const { type, isList } of operands) {
      // The elements of a list depend on the callee.
      if (isList) continue;
      const slot = /^(?:wide )?\.(\w+)$/.exec(type)?.[1];
      const words = slot === undefined ? [type] : slots.find(({ name }) => name === slot)?.words;
      assert.ok(
        words?.every((word) => (ptxTypes as readonly string[]).includes(word)),
        `${syntax}: ${type}`,
      );
    }
});

/** Whether no number of operands is one of both. */
function areApart(a: Row, b: Row): boolean {
  const least = ({ operands }: Row): number => operands.filter(({ isOptional }) => !isOptional).length;
  return a.operands.length < least(b) || b.operands.length < least(a);
}

/** Whether one has a brace vector or an address where the other has none (`withVectors` in `src/ptx/check/match.ts`). */
const differInVectors = (a: Row, b: Row): boolean =>
  a.operands.some((slot, i) => {
    const other = b.operands[i];
    return (slot.vector === undefined) !== (other?.vector === undefined) || slot.isAddress !== (other?.isAddress ?? slot.isAddress);
  });

/** Calls are distinguished by their lists (`src/ptx/syntax/call-parts.ts`). */
test('of rows that match a form with as many operands, the first says what it means, and the others are refused', () => {
  const owners = new Map<string, Row[]>();
  for (const row of rows)
    for (const words of wordsOf(row)) {
      const form = [row.name, ...words].join('.');
      owners.set(form, [...(owners.get(form) ?? []), row]);
    }
  for (const [form, [first, ...others]] of owners)
    assert.ok(
      others.every((other) => isRefused(other) || areApart(first!, other) || differInVectors(first!, other) || other.control === 'call'),
      `${form}: ${named(others)}`,
    );
  assert.ok(owners.size > 3000);
});

/** The numbers of operands that a row takes. */
function countsOf({ operands }: Row): number[] {
  const least = operands.filter(({ isOptional }) => !isOptional).length;
  return Array.from({ length: operands.length - least + 1 }, (_, i) => least + i);
}

test('a refused row refuses something: one whose forms are all exact by now is gone', () => {
  const refuses = (row: Row): boolean =>
    wordsOf(row).some((words) =>
      countsOf(row).some((count) => {
        const found = matchForm(row.name, words, count);
        return found !== undefined && isMatch(found) && isRefused(found.row);
      }),
    );
  assert.equal(named(rows.filter((row) => isRefused(row) && !refuses(row))), []);
});

/** The opcodes of PTX ISA 9.0, chapter 9, and those that it withdrew. */
const opcodes = `abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call clusterlaunchcontrol
  clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep
  ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem nanosleep neg not or
  pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore
  stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd
  vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor`;

test('every opcode of the manual has rows', () => {
  assert.equal([...rowsByName.keys()].sort(), opcodes.split(/\s+/));
});

test('a lazy chapter declares exactly its opcodes, and no other chapter has them', () => {
  const named = chapters.map(({ rows, opcodes }) => ({ names: [...new Set(rows().map(({ name }) => name))].sort(), opcodes }));
  for (const { names, opcodes } of named) {
    if (opcodes === undefined) continue;
    assert.equal(names, [...opcodes].sort());
    for (const name of names) assert.is(named.filter((other) => other.names.includes(name)).length, 1, name);
  }
});

test('what computes is lowered by its row and has three worked examples', () => {
  const plain = rows.filter((row) => !isRefused(row) && row.control === undefined);
  assert.equal(named(plain.filter((row) => !row.lower)), []);
  const gives = ({ operands }: Row): boolean => operands.some((slot) => slot.isDestination);
  const few = plain.filter((row) => row.cases().length < 3 && !hasAddress(row) && gives(row) && !isWarpCollective(row));
  // Addresses are no bits that a case could hold: spec/lower shows these.
  assert.equal(named(few), [
    'cvta.space.size d, a',
    'cvta.to.space.size d, a',
    'isspacep.space d, a',
    // A policy is no number: it is 0 here.
    'createpolicy.fractional.primary{.secondary}.b64 d{, fraction}',
    'createpolicy.cvt.L2.b64 d, a',
    'cvta.shared::cluster.size d, a',
    'cvta.to.shared::cluster.size d, a',
    'isspacep.shared::cluster d, a',
    // 128 bits are no number: spec/device/small-forms.spec.ts.
    'mov.b128 d, a',
    'clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 d, a',
    'clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, a',
    'clusterlaunchcontrol.query_cancel.axis.b32.b128 d, a',
    'mapa{.shared::cluster}.type d, a, b',
    'getctarank{.shared::cluster}.type d, a',
    ...roundsToSelf,
    // Registers of 8 bits: spec/device/small-forms.spec.ts.
    'cvt.rn.satfinite{.relu}.e2m1x2.f32 d, a, b',
    'cvt.rn.satfinite{.relu}.e2m1x2.f16x2 d, a',
    'cvt.rn{.relu}.f16x2.e2m1x2 d, a',
    'stacksave.type d',
    'alloca.type d, a{, b}',
    // The state of a barrier has a layout of its own: spec/device/mbarrier.spec.ts.
    'mbarrier.pending_count.b64 d, a',
  ]);
  for (const row of rows.filter(isRefused)) assert.is(row.cases().length, 0, row.syntax);
});

/** Warp matrix instructions have no single-thread cases: spec/h200/matrix.spec.ts, spec/lower/matrix.spec.ts and spec/device/wgmma.spec.ts test them. */
const isWarpCollective = ({ source }: Row): boolean => source.startsWith('9.7.14.') || source.startsWith('9.7.15.');

/** Without cases so far. */
const roundsToSelf = ['f16', 'f32', 'f64'].map((type) => `cvt.irnd{.ftz}{.sat}.${type}.${type} d, a`);

test('a case is of its own row, gives every operand, and says why', () => {
  for (const row of rows)
    for (const each of row.cases()) {
      assert.is(formOfCase(row, each)?.row.syntax, row.syntax, each.form);
      assert.ok(each.why.length > 0, each.form);
      for (const slot of row.operands) assert.ok(slot.isOptional || isGiven(each, slot), `${each.form}: ${slot.name}`);
    }
});

test('a case of words that several rows share is of the row that takes its operands', () => {
  const [two, three] = ['min{.ftz}{.NaN}.type d, a, b', 'min{.ftz}{.NaN}{.abs}.f32 d, a, b, c'].map(
    (line) => rows.find(({ syntax }) => syntax === line)!,
  );
  const one = { form: 'min.f32', why: '', a: 0, b: 0, c: 0, d: 0 };
  assert.is(formOfCase(two!, one)?.row.syntax, two!.syntax);
  assert.is(formOfCase(three!, one)?.row.syntax, three!.syntax);
});

const isGiven = (each: AnyCase, { name, second }: OperandSlot): boolean =>
  each[name] !== undefined && (second === undefined || each[second] !== undefined);

/** The assembler's diagnostics of forms, for the given versions of PTX and architectures. */
function refusedByPtxas(forms: readonly string[], version: string, architecture: string, target = architecture): Set<string> {
  const many = declaredIn(version, target).replaceAll('<9>', '<130>');
  const head = `.version ${version}\n.target ${target}\n.address_size 64\n${functions}.visible .entry k (.param .u64 entry)\n{ ${many} L:\n`;
  const first = head.split('\n').length;
  const faults = ptxasFaults(`${head}${forms.join('\n')}\nret;\n}\n`, architecture);
  assert.is(faults.has(first + forms.length), false, 'the assembler came to the end');
  return new Set([...faults.keys()].map((line) => forms[line - first] ?? `line ${line}`));
}

/** Registers of 128 bits came with a later version and architecture. */
const declaredIn = (version: string, target: string): string =>
  Number(version) < 8.3 || target === 'sm_60' ? declarations.replace(/\.reg \.b128[^;]*;/, '') : declarations;

/** Forms that no assembler accepts: neither one of 2022 nor one of 2025. */
function refused(forms: readonly string[]): string[] {
  const early = refusedByPtxas(forms, '8.0', 'sm_90');
  return [...refusedByPtxas([...forms], '9.0', 'sm_100a')].filter((form) => early.has(form));
}

need(test, ['ptxas'], 'every form of the table is one that ptxas takes', () => {
  // `refused.spec.ts` has the coordinates of textures and surfaces.
  const isImage = (row: Row): boolean => row.operands.some(({ inBrackets }) => inBrackets.length > 0);
  const isOfGroup = ({ name }: Row): boolean => name === 'wgmma';
  // Some are of one architecture only.
  const isOfKind = ({ syntax }: Row): boolean => syntax.startsWith('mma.') && syntax.includes('kind');
  const isReduced = ({ syntax }: Row): boolean => syntax.startsWith('tcgen05.ld.red');
  const isUsual = (row: Row): boolean =>
    !isRefused(row) && !row.withdrawn && !isImage(row) && !isOfGroup(row) && !isOfKind(row) && !isReduced(row);
  const forms = textsOf(rows.filter(isUsual));
  assert.equal([...refusedByPtxas(textsOf(rows.filter(isOfKind)), '9.0', 'sm_120a')], []);
  // An arrival is at a barrier for a number of threads above 0.
  assert.equal(refused(forms.map((form) => form.replace(/(arrive\S*) 0, 0;/, '$1 1, 32;'))), []);
  // Only an sm_90a has warp groups; three widths of thirty-two, and no zeros for signs.
  const ofGroups = textsOf(rows.filter(isOfGroup)).filter((form) => !/m64n/.test(form) || /m64n(8|48|256)k/.test(form));
  assert.ok(ofGroups.length > 100);
  assert.equal([...refusedByPtxas(ofGroups, '9.0', 'sm_90a')], []);
});

const textsOf = (list: readonly Row[]): string[] => list.flatMap((row) => wordsOf(row).map((words) => instructionText(row, words)));

need(test, ['ptxas'], 'a form that architectures have no more is one that ptxas takes for those before, and refuses for them', () => {
  const forms = textsOf(rows.filter((row) => row.withdrawn?.sm === 70));
  assert.equal(forms.length, 8);
  assert.equal([...refusedByPtxas(forms, '9.0', 'sm_75', 'sm_60')], []);
  assert.equal([...refusedByPtxas(forms, '9.0', 'sm_75')], forms);
  const oldest = textsOf(rows.filter((row) => row.withdrawn?.sm === 20));
  assert.equal(
    oldest,
    ['mad.f32', 'mad.sat.f32', 'mad.ftz.f32', 'mad.ftz.sat.f32'].map((form) => `${form} %f32_0, %f32_1, %f32_2, %f32_3;`),
  );
  assert.equal([...refusedByPtxas(oldest, '9.0', 'sm_75')], oldest);
});

need(test, ['ptxas'], 'what a row excludes is what ptxas refuses', () => {
  const forms = rows.flatMap((row) =>
    row.excludes.length > 0 && !isRefused(row) && row.name !== 'suld' && row.name !== 'sust'
      ? wordsOf(row, 'excluded').map((words) => instructionText(row, words))
      : [],
  );
  const wrong = new Set(refused(forms));
  assert.equal(
    forms.filter((form) => !wrong.has(form)),
    [],
  );
});

test.run();
