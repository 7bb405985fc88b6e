/** Operands in syntax lines: lists, further operands in brackets, and vectors of a number that the line does not determine. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { checkOperands } from '../../src/ptx/check/operands.ts';
import { flatten, functionScope, moduleScope } from '../../src/ptx/check/scope.ts';
import { parse } from '../../src/ptx/index.ts';
import { type Row, row } from '../../src/ptx/model/row.ts';

const test = suite('ptx/notation');
const common = { since: { ptx: 1, sm: 10 }, doc: '', source: '', status: { refused: 'made for this spec' } } as const;

/** The diagnostics of an instruction as a form of a row without modifiers. */
function said(row: Row, line: string): string[] {
  const text = `.version 8.0\n.target sm_90\n.entry k () {\n.reg .b32 %r<9>; .reg .pred %p<4>; .reg .b64 %rd<4>;\n${line}\n}\n`;
  const diagnostics = new Diagnostics(new SourceFile('a.ptx', text));
  const module = parse(diagnostics.file!, diagnostics);
  const fn = module.items.find((item) => item.kind === 'function')!;
  const scope = functionScope(fn, moduleScope(module, diagnostics), diagnostics);
  const found = flatten(fn.body ?? [], scope, diagnostics).find((item) => item.kind === 'instruction')!;
  checkOperands(found.instruction, { row, modifiers: {} }, found.scope, diagnostics);
  return diagnostics.list.map(({ code, message }) => `${code} ${message}`);
}

const listed = row({ ...common, syntax: 'op (d), a', types: { a: 'b32' } });

test('a list is what stands in parentheses, of any length', () => {
  for (const line of ['op (), %r1;', 'op (%r1), %r1;', 'op (%r1, %rd1), %r1;']) assert.equal(said(listed, line), [], line);
  assert.equal(said(listed, 'op {%r1}, %r1;'), ['CM1106 `{%r1}` must be a list in parentheses, and is a vector']);
});

const fragments = row({ ...common, syntax: 'op d, a', types: { d: 'b32', a: 'b32' }, vectors: { d: 'some', a: 'some' } });

test('some registers are any number of one type, with or without braces', () => {
  for (const line of ['op %r1, %r2;', 'op {%r1}, {%r2, %r3, %r4};', 'op {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, %r0;'])
    assert.equal(said(fragments, line), [], line);
  assert.equal(said(fragments, 'op {%r1, %rd1}, %r2;'), ['CM1107 `%rd1` has type .b64, but operand `d` of `op` expects .b32']);
});

const bracketed = row({
  ...common,
  syntax: 'op d|p, [a, c]{, e}, f',
  types: { d: 'b32', p: 'pred', a: 'b64', c: 'b32', e: 'b32', f: 'b32' },
});

test('brackets hold more than an address, and what may be left out may stand in the middle', () => {
  assert.equal(said(bracketed, 'op %r1|%p1, [%rd1, %r2], %r3;'), []);
  assert.equal(said(bracketed, 'op %r1|%p1, [%rd1, %r2], %r3, %r4;'), []);
  assert.equal(said(bracketed, 'op %r1|%p1, [%rd1, %rd2], %r3;'), ['CM1107 `%rd2` has type .b64, but operand `c` of `op` expects .b32']);
  assert.is(said(bracketed, 'op %r1|%p1, [%rd1], %r3;')[0]!.slice(0, 6), 'CM1106');
  assert.is(said(bracketed, 'op %r1|%p1, [%rd1, %r2];')[0]!.slice(0, 6), 'CM1105');
});

test.run();
