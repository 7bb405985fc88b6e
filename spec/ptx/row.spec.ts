/** The notation of syntax lines: operands, and the selection of rows by operand count. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FormMatch, isMatch, matchForm, operandCounts, slotsOf } from '../../src/ptx/check/match.ts';
import { lanesOfSlot, typeOfSlot } from '../../src/ptx/check/slots.ts';
import { row } from '../../src/ptx/model/row.ts';

const test = suite('ptx/row');

const common = { since: { ptx: 1, sm: 10 }, doc: 'For a spec.', source: '9.7.1.1', status: { refused: 'for a spec' } } as const;

const copy = row({
  syntax: 'copy.dim{.hint} [a], [map, at], size{, taken}{, policy}, last',
  values: { dim: ['1d', '3d'] },
  types: { map: 'b64', at: 's32', size: 'u32', taken: 'u32', policy: 'b64', last: 'b16' },
  vectors: { at: 'elements', last: 'elements' },
  lanes: { at: '.dim', last: '.dim-2' },
  onlyWith: { policy: 'hint' },
  ...common,
});
const logic = row({ syntax: 'logic d|p, a[|b], {!}c', types: { d: 'b32', p: 'pred', a: 'b64', c: 'pred' }, ...common });

const names = (form: FormMatch, count: number): string[] | undefined => slotsOf(form, count)?.map((slot) => slot.name);

test('an address may hold other operands, which are no operands of their own', () => {
  assert.equal(
    copy.operands.map(({ name, isAddress, inBrackets }) => [name, isAddress, inBrackets.map((each) => each.name)]),
    [
      ['a', true, []],
      ['map', true, ['at']],
      ['size', false, []],
      ['taken', false, []],
      ['policy', false, []],
      ['last', false, []],
    ],
  );
});

test('operands in the middle may be left out, or go with a modifier', () => {
  const plain = { row: copy, modifiers: { dim: '3d' } };
  assert.equal(operandCounts(plain), { least: 4, most: 5 });
  assert.equal(names(plain, 4), ['a', 'map', 'size', 'last']);
  assert.equal(names(plain, 5), ['a', 'map', 'size', 'taken', 'last']);
  assert.is(names(plain, 6), undefined);
  const hinted: FormMatch = { row: copy, modifiers: { dim: '3d', hint: true } };
  assert.equal(operandCounts(hinted), { least: 5, most: 6 });
  assert.equal(names(hinted, 5), ['a', 'map', 'size', 'policy', 'last']);
  assert.equal(names(hinted, 6), ['a', 'map', 'size', 'taken', 'policy', 'last']);
  assert.is(names(hinted, 4), undefined);
});

test('the elements of a vector are the number in a modifier, or that less 2', () => {
  const form = { row: copy, modifiers: { dim: '3d' } };
  const [, map, , , , last] = copy.operands;
  assert.is(lanesOfSlot(map!.inBrackets[0]!, form), 3);
  assert.is(lanesOfSlot(last!, form), 1);
});

test('a pair may need its second, which has a type of its own', () => {
  const [first, second, third] = logic.operands;
  const form = { row: logic, modifiers: {} };
  assert.equal([first!.needsSecond, first!.second, first!.isDestination], [true, 'p', true]);
  assert.equal([typeOfSlot(first!, form), typeOfSlot({ ...first!, type: first!.secondType }, form)], ['b32', 'pred']);
  assert.equal([second!.needsSecond, second!.second, second!.secondType], [false, 'b', 'b64']);
  assert.ok(third!.isNegatable && !third!.isOptional);
});

const syntaxOf = (opcode: string, words: string, count?: number): string | undefined => {
  const match = matchForm(opcode, words.split('.'), count);
  return match && isMatch(match) ? match.row.syntax : undefined;
};

test('the number of operands chooses among rows that share words', () => {
  assert.is(syntaxOf('min', 'f32', 3), 'min{.ftz}{.NaN}.type d, a, b');
  assert.is(syntaxOf('min', 'f32', 4), 'min{.ftz}{.NaN}{.abs}.f32 d, a, b, c');
  assert.is(syntaxOf('min', 'f32', 9), 'min{.ftz}{.NaN}.type d, a, b', 'where none has as many, the first is named');
  assert.is(syntaxOf('min', 'f32'), 'min{.ftz}{.NaN}.type d, a, b');
});

test('what is excluded may be that a word is missing', () => {
  const lone = matchForm('multimem', ['ld_reduce', 'add', 'f16'], 2);
  assert.equal(lone && !isMatch(lone) && lone.conflicting, ['f16'], 'a lone half has less than 32 bits');
  assert.ok(syntaxOf('multimem', 'ld_reduce.add.v2.f16', 2));
});

test.run();
