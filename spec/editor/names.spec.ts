/** Names of a text: where they are declared, who mentions them, and what another name does to the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { emit } from '../../src/compile/index.ts';
import {
  completionsAt,
  costsAt,
  definitionOf,
  type Edit,
  hoverAt,
  mentionsOf,
  nameAt,
  outlineOf,
  PtxDocument,
  renamed,
  tokensIn,
} from '../../src/editor/index.ts';

const test = suite('editor/names');

const text = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter;
.func (.reg .b32 %result) _Z5twicei(.reg .b32 %a)
{
  add.u32 %result, %a, %a;
  ret;
}
.visible .entry scopes(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p, %r1, 0;
  @!%p bra DONE;
  {
    .reg .b32 %r1;
    mov.u32 %r1, 5;
    st.global.u32 [counter], %r1;
  }
  call (%r2), _Z5twicei, (%r1);
  fma.rm.f32 %r3, %r2, %r2, %r2;
  st.global.u32 [%rd1+4], %r3;
DONE:
  ret;
}
`;

/** The offset of the \`nth\` occurrence of a part, in its middle. */
function at(part: string, nth = 0): number {
  let found = text.indexOf(part);
  for (let i = 0; i < nth; i++) found = text.indexOf(part, found + 1);
  assert.ok(found >= 0, `${part} ${nth}`);
  return found + (part.length >> 1);
}

const document = () => new PtxDocument('a.ptx', text);
const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;

/** The line of the declaration of what stands at an offset. */
function declaredAt(offset: number): number | undefined {
  const own = document();
  const found = nameAt(own, offset);
  const span = found && definitionOf(own, found);
  return span && lineOf(span.start);
}

const linesOf = (offset: number): number[] => {
  const own = document();
  return mentionsOf(own, nameAt(own, offset)!).map(({ span }) => lineOf(span.start));
};

const lineWith = (part: string): number => lineOf(text.indexOf(part));

test('a name leads to its declaration in the innermost scope', () => {
  assert.is(declaredAt(text.indexOf('%r1, %tid') + 1), lineWith('.reg .b32 %r<4>'));
  assert.is(declaredAt(text.indexOf('[counter], %r1') + 12), lineWith('.reg .b32 %r1;'));
  assert.is(declaredAt(text.indexOf('(%r1);') + 2), lineWith('.reg .b32 %r<4>'));
  assert.is(declaredAt(text.indexOf('bra DONE') + 5), lineWith('DONE:'));
  assert.is(declaredAt(text.indexOf('[counter]') + 3), lineWith('.global .align'));
  assert.is(declaredAt(text.indexOf('[out]') + 2), lineWith('.visible .entry'));
  assert.is(declaredAt(text.indexOf('_Z5twicei, (') + 2), lineWith('.func'));
  assert.is(declaredAt(text.indexOf('@!%p') + 3), lineWith('.reg .pred'));
  assert.is(declaredAt(text.indexOf('%tid.x') + 2), undefined);
});

test('the mentions of a register of a range are its own, those of the range all', () => {
  assert.equal(linesOf(text.indexOf('(%r1);') + 2), [12, 16, 17, 24]);
  assert.equal(linesOf(text.indexOf('[counter], %r1') + 12), [20, 21, 22]);
  assert.equal(linesOf(text.indexOf('%r<4>') + 1), [12, 16, 17, 24, 24, 25, 25, 25, 25, 26]);
  assert.equal(linesOf(text.indexOf('[counter]') + 3), [4, 22]);
  assert.equal(linesOf(text.indexOf('_Z5twicei, (') + 2), [5, 24]);
});

test('a hover shows the form, the declaration, the C++ name', () => {
  const own = document();
  assert.match(hoverAt(own, at('fma.rm'))!.markdown, /^```ptx\nfma.*d, a, b, c\n[\s\S]*PTX ISA 9\.0/);
  assert.is(hoverAt(own, text.indexOf('[counter]') + 3)!.markdown, '```ptx\n.global .align 4 .u32 counter\n```');
  assert.is(hoverAt(own, text.indexOf('(%r1);') + 2)!.markdown, '```ptx\n.reg .b32 %r<4>\n```');
  assert.match(hoverAt(own, text.indexOf('_Z5twicei, (') + 2)!.markdown, /`twice\(int\)`/);
  assert.match(hoverAt(own, text.indexOf('%tid.x') + 2)!.markdown, /\.sreg \.u32 %tid\.x/);
  assert.is(hoverAt(own, text.indexOf('\n{') + 1), undefined);
});

function applied(source: string, edits: readonly Edit[]): string {
  let out = source;
  for (const { start, end, text: by } of [...edits].sort((a, b) => b.start - a.start)) out = out.slice(0, start) + by + out.slice(end);
  return out;
}

test('what cannot be a name or is one already is refused with a sentence', () => {
  const own = document();
  const register = nameAt(own, text.indexOf('(%r1);') + 2)!;
  for (const wrong of ['1x', 'a b', '', '%', 'a.b']) assert.match(renamed(own, register, wrong) as string, /is not an identifier of PTX/);
  assert.match(renamed(own, register, '%p') as string, /already a name in this function/);
  assert.match(renamed(own, register, 'out') as string, /already a name in this function/);
  const variable = nameAt(own, text.indexOf('[counter]') + 3)!;
  assert.match(renamed(own, variable, 'scopes') as string, /already a name/);
  assert.match(renamed(own, nameAt(own, text.indexOf('%tid.x') + 2)!, 'x') as string, /not declared/);
});

const examples = join(import.meta.dirname, '../../examples');

/** The AIR of a text, without the names that a renaming changes. */
function airOf(source: string): string {
  const file = new SourceFile('a.ptx', source);
  const diagnostics = new Diagnostics(file);
  const bytes = emit(file, 'air', { target: 'cpu' }, diagnostics);
  assert.equal(
    diagnostics.list.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
  return Buffer.from(bytes as Uint8Array).toString('hex');
}

for (const name of readdirSync(examples)
  .filter((file) => file.endsWith('.ptx'))
  .slice(0, 12))
  test(`other names of registers and labels leave the code of ${name} as it is`, () => {
    const source = readFileSync(join(examples, name), 'utf8');
    const own = new PtxDocument(name, source);
    own.checkAll();
    const names = own.places().flatMap(({ start }) => {
      const focus = own.focusAt(start)!;
      return (focus.fn.body ?? []).flatMap((item) => {
        if (item.kind === 'label') return [item.span.start + 1];
        return item.kind === 'variable' && item.space === 'reg' ? [item.nameSpan.start + 1] : [];
      });
    });
    assert.ok(names.length > 2, 'there are names');
    let changed = source;
    for (let i = 0; i < names.length; i++) {
      const now = new PtxDocument(name, changed);
      now.checkAll();
      const all = now
        .places()
        .flatMap(({ start }) =>
          (now.focusAt(start)!.fn.body ?? []).flatMap((item) =>
            item.kind === 'label'
              ? [item.span.start + 1]
              : item.kind === 'variable' && item.space === 'reg'
                ? [item.nameSpan.start + 1]
                : [],
          ),
        );
      const edits = renamed(now, nameAt(now, all[i]!)!, `%other_${i}_`);
      assert.ok(Array.isArray(edits), String(edits));
      changed = applied(changed, edits as Edit[]);
    }
    assert.not.equal(changed, source);
    assert.is(airOf(changed), airOf(source));
  });

test('words have the kind of what they mean', () => {
  const own = document();
  const kindOf = (offset: number): string | undefined =>
    tokensIn(own, { start: 0, end: text.length }).find(({ start, end }) => start <= offset && offset < end)?.kind;
  assert.is(kindOf(text.indexOf('fma')), 'keyword');
  assert.is(kindOf(text.indexOf('fma.rm') + 5), 'decorator');
  assert.is(kindOf(text.indexOf('fma.rm.f32') + 8), 'type');
  assert.is(kindOf(text.indexOf('%tid.x')), 'macro');
  assert.is(kindOf(text.indexOf('(%r1);') + 2), 'variable');
  assert.is(kindOf(text.indexOf('bra DONE') + 5), 'label');
  assert.is(kindOf(text.indexOf('[counter]') + 2), 'property');
  assert.is(kindOf(text.indexOf('[out]') + 2), 'parameter');
  assert.is(kindOf(text.indexOf('_Z5twicei, (')), 'function');
});

test('completions are what can stand there', () => {
  const own = document();
  const wordsAt = (offset: number, typed: string): string[] => {
    const changed = new PtxDocument('a.ptx', text.slice(0, offset) + typed + text.slice(offset));
    return completionsAt(changed, offset + typed.length).list.map(({ word }) => word);
  };
  const start = text.indexOf('mov.u32 %r1, %tid.x;');
  assert.ok(wordsAt(start, 'a').includes('add'));
  const afterFma = wordsAt(start, 'fma.');
  for (const rounding of ['rn', 'rz', 'rm', 'rp']) assert.ok(afterFma.includes(rounding), rounding);
  const afterRounding = wordsAt(start, 'fma.rn.');
  assert.ok(afterRounding.includes('f32') && !afterRounding.includes('rz'));
  const names = wordsAt(start, 'mov.u32 ');
  for (const name of ['%r1', '%rd2', '%p', 'out', 'counter', '%tid.x']) assert.ok(names.includes(name), name);
  assert.equal(completionsAt(own, text.indexOf('.version') + 3).list, []);
});

test('the outline has functions with their labels, and variables', () => {
  const outline = outlineOf(document());
  assert.equal(
    outline.map(({ kind, name, detail }) => [kind, name, detail]),
    [
      ['variable', 'counter', '.global .u32'],
      ['function', '_Z5twicei', 'twice(int)'],
      ['entry', 'scopes', ''],
    ],
  );
  assert.equal(
    outline[2]!.children.map(({ name }) => name),
    ['DONE'],
  );
});

test('the functions of the device runtime, which are behind the text, are not in its outline', () => {
  const heap = text
    .replace('.func (.reg .b32 %result)', '.extern .func (.param .b64 r) malloc(.param .b64 size);\n.func (.reg .b32 %result)')
    .replace('DONE:', '{ .param .b64 s; .param .b64 r; st.param.b64 [s], 8; call (r), malloc, (s); ld.param.b64 %rd2, [r]; }\nDONE:');
  const own = new PtxDocument('a.ptx', heap);
  assert.equal(
    own.checkAll().filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.equal(
    outlineOf(own).map(({ name }) => name),
    ['counter', 'malloc', '_Z5twicei', 'scopes'],
  );
  assert.ok(outlineOf(own).every(({ span }) => span.end <= heap.length));
});

test('the cost of an instruction is what it becomes', () => {
  // Rounding down has no instruction on an Apple GPU, and an addition is one.
  const plain = text.replace(
    'fma.rm.f32 %r3, %r2, %r2, %r2;',
    'add.u32 %r3, %r2, %r2;\n  .reg .f32 %f<3>; mov.b32 %f1, %r3; fma.rm.f32 %f2, %f1, %f1, %f1; mov.b32 %r3, %f2;',
  );
  const own = new PtxDocument('a.ptx', plain);
  const costs = costsAt(own, plain.indexOf('%tid.x'), { target: 'macos15' });
  const costOf = (part: string): number => costs.find(({ span }) => plain.slice(span.start, span.end).startsWith(part))?.count ?? 0;
  assert.is(costOf('add.u32 %r3'), 1);
  assert.ok(costOf('fma.rm') > 20, `${costOf('fma.rm')}`);
});

test.run();
