import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Span } from '../../src/base/source.ts';
import {
  type Instruction,
  type Item,
  instructionName,
  type Module,
  modifierSpan,
  type Operand,
  type PtxFunction,
  type Statement,
  type Variable,
} from '../../src/ptx/index.ts';
import { bare, clean, examples, parsed } from './tree.ts';

const test = suite('ptx/parse');

/** The items of a text that is a whole module. */
const items = (text: string): readonly Item[] => clean(text).items;

const only = <T>(list: readonly T[]): T => {
  assert.is(list.length, 1);
  return list[0]!;
};

/** Statements in the body of a function, and how to get the text of a place. */
function body(text: string): { statements: readonly Statement[]; at: (span: Span) => string } {
  const module = clean(`.func f ()\n{\n${text}\n}\n`);
  const f = only(module.items);
  if (f.kind !== 'function' || !f.body) throw new Error('no body');
  return { statements: f.body, at: ({ start, end }) => module.file.text.slice(start, end) };
}

function instruction(text: string): { node: Instruction; at: (span: Span) => string } {
  const { statements, at } = body(text);
  const node = only(statements);
  if (node.kind !== 'instruction') throw new Error(`a ${node.kind}`);
  return { node, at };
}

const operand = (text: string): Operand => only(instruction(`op ${text};`).node.operands);

function variables(text: string): Variable[] {
  return items(text).map((item) => {
    if (item.kind !== 'variable') throw new Error(`a ${item.kind}`);
    return item;
  });
}

const initializer = (text: string): unknown => bare(only(variables(`.global .u32 g = ${text};`)).init);

function func(text: string): PtxFunction {
  const item = only(items(text));
  if (item.kind !== 'function') throw new Error(`a ${item.kind}`);
  return item;
}

const integer = (value: number | string, isUnsigned = false) => ({ kind: 'integer', value: `${value}n`, isUnsigned });
const name = (name: string) => ({ kind: 'name', name });
const float = (format: string, bits: bigint) => ({ kind: 'float', format, bits: `${bits}n` });
const declared = { kind: 'variable', dims: [], attributes: [] };

// ---- the header

test('the header becomes fields of the module', () => {
  const module = clean('.version 7.8\n.target sm_80, texmode_independent, debug\n.address_size 64\n');
  assert.is(module.version?.major, 7);
  assert.is(module.version?.minor, 8);
  assert.equal(
    module.targets.map((t) => t.name),
    ['sm_80', 'texmode_independent', 'debug'],
  );
  assert.is(module.addressSize, 64);
  assert.equal(module.items, []);
});

test('a version is two whole numbers, not a decimal fraction', () => {
  const { version } = clean('.version 8.10\n');
  assert.equal([version?.major, version?.minor], [8, 10]);
});

test('an empty text is an empty module', () => {
  for (const text of ['', '\n', ' \t\r\n', '// a comment', '/* a\ncomment */', '# 1 "a.c"\n'])
    assert.equal(bare(clean(text)), { targets: [], items: [] });
});

test('the places of the header', () => {
  const module = clean('// c\n  .version 8.0 // d\n.target sm_80,debug\n');
  const at = ({ start, end }: Span) => module.file.text.slice(start, end);
  assert.is(at(module.version!.span), '.version 8.0');
  assert.equal(
    module.targets.map((t) => at(t.span)),
    ['sm_80', 'debug'],
  );
});

// ---- variables

test('one declaration may declare several variables', () => {
  const text = '.visible .global .align 8 .v2 .f32 a, b[4], c[2][3] = {{1.0}, {}};';
  const list = variables(text);
  const common = { kind: 'variable', linkage: 'visible', space: 'global', align: 8, vector: 'v2', type: 'f32', attributes: [] };
  const one = { kind: 'vector', elements: [float('decimal', 0x3ff0000000000000n)] };
  assert.equal(bare(list), [
    { ...common, name: 'a', dims: [] },
    { ...common, name: 'b', dims: [4] },
    { ...common, name: 'c', dims: [2, 3], init: { kind: 'vector', elements: [one, { kind: 'vector', elements: [] }] } },
  ]);
  for (const { span, nameSpan, name } of list) {
    assert.is(text.slice(span.start, span.end), text);
    assert.is(text.slice(nameSpan.start, nameSpan.end), name);
  }
});

test('a range of registers', () => {
  const { statements } = body('.reg .b32 %r<12>, %s;\n.reg .pred p;');
  assert.equal(bare(statements), [
    { ...declared, space: 'reg', type: 'b32', name: '%r', regCount: 12 },
    { ...declared, space: 'reg', type: 'b32', name: '%s' },
    { ...declared, space: 'reg', type: 'pred', name: 'p' },
  ]);
});

test('every state space', () => {
  for (const space of ['reg', 'sreg', 'const', 'global', 'local', 'param', 'shared', 'tex'])
    assert.is(only(variables(`.${space} .u32 a;`)).space, space);
});

test('every linkage', () => {
  for (const linkage of ['extern', 'visible', 'weak', 'common']) assert.is(only(variables(`.${linkage} .global .u32 a;`)).linkage, linkage);
});

const types =
  'b8 b16 b32 b64 b128 pred u8 u16 u16x2 u32 u64 s8 s16 s16x2 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f32x2 f64 texref samplerref surfref';
test('every type', () => {
  for (const type of types.split(' ')) assert.is(only(variables(`.global .${type} a;`)).type, type);
});

test('extents', () => {
  assert.equal(only(variables('.extern .shared .align 16 .b8 a[];')).dims, [undefined]);
  assert.equal(only(variables('.global .b8 a[][0x10][010];')).dims, [undefined, 16, 8]);
  assert.equal(only(variables('.global .b8 a[WARP_SZ];')).dims, [32]);
});

test('attributes', () => {
  const [a, b] = variables('.global .attribute(.managed) .u32 a;\n.global .attribute(.unified(0x1, 2), .managed) .u32 b;');
  assert.equal(a!.attributes, [{ name: 'managed', values: [] }]);
  assert.equal(b!.attributes, [
    { name: 'unified', values: [1n, 2n] },
    { name: 'managed', values: [] },
  ]);
});

test('qualifiers in any order', () => {
  const [a, b] = variables('.global .align 16 .v4 .f32 a;\n.global .v4 .align 16 .f32 a;');
  assert.equal(bare(a), bare(b));
});

// ---- initializers

test('initializers', () => {
  assert.equal(initializer('5'), integer(5));
  assert.equal(initializer('(5)'), integer(5));
  assert.equal(initializer('{1, -2, 3U}'), { kind: 'vector', elements: [integer(1), integer(-2), integer(3, true)] });
  assert.equal(initializer('{}'), { kind: 'vector', elements: [] });
  assert.equal(initializer('{{1, 2}, {3}, 4}'), {
    kind: 'vector',
    elements: [{ kind: 'vector', elements: [integer(1), integer(2)] }, { kind: 'vector', elements: [integer(3)] }, integer(4)],
  });
  assert.equal(initializer('g+4'), { kind: 'binary', operator: '+', left: name('g'), right: integer(4) });
  assert.equal(initializer('generic(g)'), { kind: 'apply', operator: name('generic'), operand: name('g') });
  assert.equal(initializer('{0xFF(g), 0xFF00(g)}'), {
    kind: 'vector',
    elements: [
      { kind: 'apply', operator: integer(255), operand: name('g') },
      { kind: 'apply', operator: integer(0xff00), operand: name('g') },
    ],
  });
  assert.equal(initializer('a[2]'), { kind: 'index', name: 'a', index: integer(2) });
});

test('the fields of a sampler', () => {
  const { init } = only(variables('.global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };'));
  assert.equal(bare(init), {
    kind: 'vector',
    elements: [
      { kind: 'field', name: 'addr_mode_0', value: name('clamp_to_border') },
      { kind: 'field', name: 'filter_mode', value: name('nearest') },
    ],
  });
});

test('a long list', () => {
  const { init } = only(variables(`.global .u32 a[60000] = {${Array.from({ length: 60_000 }, (_, i) => i).join(', ')}};`));
  if (init?.kind !== 'vector') throw new Error('no list');
  assert.is(init.elements.length, 60_000);
  assert.equal(bare(init.elements[59_999]), integer(59_999));
});

// ---- constants, by PTX ISA 4.5.1 and 4.5.2

const constants: Record<string, unknown> = {
  '0': integer(0),
  '00': integer(0),
  '42': integer(42),
  '42U': integer(42, true),
  '0x2A': integer(42),
  '0X2aU': integer(42, true),
  '052': integer(42),
  '052U': integer(42, true),
  '0b101010': integer(42),
  '0B101010U': integer(42, true),
  '-42': integer(-42),
  '+42': integer(42),
  '- -42': integer(42),
  '0xffffffffffffffff': integer('18446744073709551615'),
  '-9223372036854775808': integer('-9223372036854775808'),
  '0f3F800000': float('f32', 0x3f800000n),
  '0F3f800000': float('f32', 0x3f800000n),
  '0f7FC00001': float('f32', 0x7fc00001n),
  '-0f3F800000': float('f32', 0xbf800000n),
  '0d3FF0000000000000': float('f64', 0x3ff0000000000000n),
  '0D7ff8000000000001': float('f64', 0x7ff8000000000001n),
  '-0d0000000000000000': float('f64', 0x8000000000000000n),
  '1.0': float('decimal', 0x3ff0000000000000n),
  '1.': float('decimal', 0x3ff0000000000000n),
  '.5': float('decimal', 0x3fe0000000000000n),
  '-.5e0': float('decimal', 0xbfe0000000000000n),
  '1e2': float('decimal', 0x4059000000000000n),
  '1.5E-1': float('decimal', 0x3fc3333333333333n),
  '1E+2': float('decimal', 0x4059000000000000n),
  '0.1': float('decimal', 0x3fb999999999999an),
};
for (const [text, node] of Object.entries(constants)) {
  test(`the constant ${text}`, () => {
    assert.equal(bare(operand(text)), node);
    assert.equal(initializer(text), node);
  });
}

// ---- operands

const binary = (operator: string, left: unknown, right: unknown) => ({ kind: 'binary', operator, left, right });
const address = (base: unknown, offset = 0, rest: unknown[] = []) => ({ kind: 'address', base, offset: `${offset}n`, rest });
const vector = (...elements: unknown[]) => ({ kind: 'vector', elements });

const operands: Record<string, unknown> = {
  '[%rd1+4].unified': { ...address(name('%rd1'), 4), isUnified: true },
  '%r1': name('%r1'),
  $L__BB0_2: name('$L__BB0_2'),
  _: name('_'),
  _a: name('_a'),
  WARP_SZ: name('WARP_SZ'),
  '%tid.x': { kind: 'element', name: '%tid', element: 'x' },
  '%r1.b0': { kind: 'element', name: '%r1', element: 'b0' },
  '!p': { kind: 'not', operand: name('p') },
  'p|q': { kind: 'pair', first: name('p'), second: name('q') },
  '_|q': { kind: 'pair', first: name('_'), second: name('q') },
  '{a, b}|p': { kind: 'pair', first: vector(name('a'), name('b')), second: name('p') },
  '{}': vector(),
  '{a, _, 5, 0f00000000}': vector(name('a'), name('_'), integer(5), float('f32', 0n)),
  '{%v.x, %v.y}': vector({ kind: 'element', name: '%v', element: 'x' }, { kind: 'element', name: '%v', element: 'y' }),
  '{{a, b}, {c, d}}': vector(vector(name('a'), name('b')), vector(name('c'), name('d'))),
  '(a, b)': { kind: 'list', elements: [name('a'), name('b')] },
  '()': { kind: 'list', elements: [] },
  '(a)': { kind: 'list', elements: [name('a')] },
  '[a]': address(name('a')),
  '[%rd1]': address(name('%rd1')),
  '[a+4]': address(name('a'), 4),
  '[ a + 0x10 ]': address(name('a'), 16),
  '[a+-4]': address(name('a'), -4),
  '[a-4]': address(name('a'), -4),
  '[a+4-12+1]': address(name('a'), -7),
  '[a+(2*8)]': address(name('a'), 16),
  '[a+2*8]': address(name('a'), 16),
  '[a+18446744073709551612]': address(name('a'), -4),
  '[4096]': address(integer(4096)),
  '[4096+16]': address(integer(4112)),
  '[-8]': address(integer(-8)),
  '[a[3]]': address({ kind: 'index', name: 'a', index: integer(3) }),
  '[t, {x, y}]': address(name('t'), 0, [vector(name('x'), name('y'))]),
  '[t, s, {x}]': address(name('t'), 0, [name('s'), vector(name('x'))]),
  'a+4': binary('+', name('a'), integer(4)),
  'a - 4': binary('-', name('a'), integer(4)),
  '1+2*3': binary('+', integer(1), binary('*', integer(2), integer(3))),
  '(1+2)*3': binary('*', binary('+', integer(1), integer(2)), integer(3)),
  '1-2-3': binary('-', binary('-', integer(1), integer(2)), integer(3)),
  '1<<2|3': binary('|', binary('<<', integer(1), integer(2)), integer(3)),
  '1|2&&3||4': binary('||', binary('&&', binary('|', integer(1), integer(2)), integer(3)), integer(4)),
  '7 % 3': binary('%', integer(7), integer(3)),
  '1?2:3': { kind: 'conditional', condition: integer(1), whenTrue: integer(2), whenFalse: integer(3) },
  '(.u64)5': { kind: 'cast', type: 'u64', operand: integer(5) },
  '-(.s64)~5': {
    kind: 'unary',
    operator: '-',
    operand: { kind: 'cast', type: 's64', operand: { kind: 'unary', operator: '~', operand: integer(5) } },
  },
  '-a': { kind: 'unary', operator: '-', operand: name('a') },
};
for (const [text, node] of Object.entries(operands)) test(`the operand ${text}`, () => assert.equal(bare(operand(text)), node));

test('the operators of Table 4 bind as in C', () => {
  const levels = ['* / %', '+ -', '<< >>', '< <= > >=', '== !=', '&', '^', '|', '&&', '||'].map((level) => level.split(' '));
  levels.forEach((level, i) => {
    for (const tight of level) {
      for (const other of level)
        assert.equal(bare(operand(`1 ${tight} 2 ${other} 3`)), binary(other, binary(tight, integer(1), integer(2)), integer(3)));
      for (const loose of levels.slice(i + 1).flat()) {
        assert.equal(bare(operand(`1 ${tight} 2 ${loose} 3`)), binary(loose, binary(tight, integer(1), integer(2)), integer(3)));
        assert.equal(bare(operand(`1 ${loose} 2 ${tight} 3`)), binary(loose, integer(1), binary(tight, integer(2), integer(3))));
      }
    }
  });
});

// ---- instructions

test('an instruction', () => {
  const text = '@!%p1 ld.global.nc.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16];';
  const { node, at } = instruction(`  ${text} // rest`);
  assert.equal(bare(node), {
    kind: 'instruction',
    guard: { register: '%p1', negated: true },
    opcode: 'ld',
    modifiers: ['global', 'nc', 'v4', 'f32'],
    operands: [vector(name('%f1'), name('%f2'), name('_'), name('%f4')), address(name('%rd1'), 16)],
  });
  assert.is(at(node.span), text);
  assert.is(at(node.opcodeSpan), 'ld.global.nc.v4.f32');
  assert.is(at(node.guard!.span), '@!%p1');
  assert.is(at(node.operands[0]!.span), '{%f1, %f2, _, %f4}');
  assert.is(at(node.operands[1]!.span), '[%rd1+16]');
  assert.is(instructionName(node), 'ld.global.nc.v4.f32');
});

test('without operands, guard or modifiers', () => {
  const { node } = instruction('ret;');
  assert.equal(bare(node), { kind: 'instruction', opcode: 'ret', modifiers: [], operands: [] });
});

test('a positive guard', () => {
  assert.equal(bare(instruction('@p bra L;').node.guard), { register: 'p', negated: false });
});

test('modifiers with a scope', () => {
  const { node } = instruction('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], 16, [c];');
  assert.equal(node.modifiers, ['async', 'bulk', 'shared::cluster', 'global', 'mbarrier::complete_tx::bytes']);
});

test('modifiers that start with a digit', () => {
  assert.equal(instruction('tex.2d.v4.f32.s32 {a, b, c, d}, [t, {x, y}];').node.modifiers, ['2d', 'v4', 'f32', 's32']);
});

test('space and comments between all tokens of an instruction', () => {
  const spread = instruction('@ /* a */ ! p\nadd // b\n .s32\n\tr , [ a + 4 ] /* ; */ , 1 , // ;\n - 2 ;').node;
  assert.equal(bare(spread), bare(instruction('@!p add.s32 r,[a+4],1,-2;').node));
});

test('the lists of a call', () => {
  const { node, at } = instruction('call.uni (retval0), fn, (param0, param1), proto;');
  assert.equal(bare(node.operands), [
    { kind: 'list', elements: [name('retval0')] },
    name('fn'),
    { kind: 'list', elements: [name('param0'), name('param1')] },
    name('proto'),
  ]);
  assert.equal(
    node.operands.map((o) => at(o.span)),
    ['(retval0)', 'fn', '(param0, param1)', 'proto'],
  );
});

test('the places of modifiers', () => {
  const text = 'add/* .x */.sat // .y\n.s32 a, b, c;';
  const module = clean(`.func f () { ${text} }`);
  const f = module.items[0];
  const node = f?.kind === 'function' ? f.body?.[0] : undefined;
  if (node?.kind !== 'instruction') throw new Error('no instruction');
  const piece = (index: number) => {
    const { start, end } = modifierSpan(module.file, node, index);
    return module.file.text.slice(start, end);
  };
  assert.equal([-1, 0, 1].map(piece), ['add', 'sat', 's32']);
});

test('the places inside of operands', () => {
  const { node, at } = instruction('op {a, %v.y}, [b + 4, {c}], -5, !p, x|y, 1 + 2 * 3, (.u64) 7, f(g), h[2], (1 + 2) * 3, 1 ? 2 : 3;');
  const pieces: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('kind' in value && 'span' in value) pieces.push(`${value.kind} ${at(value.span as Span)}`);
    for (const part of Object.values(value)) visit(part);
  };
  visit(node.operands);
  assert.equal(pieces, [
    'vector {a, %v.y}',
    'name a',
    'element %v.y',
    'address [b + 4, {c}]',
    'name b',
    'vector {c}',
    'name c',
    'integer -5',
    'not !p',
    'name p',
    'pair x|y',
    'name x',
    'name y',
    'binary 1 + 2 * 3',
    'integer 1',
    'binary 2 * 3',
    'integer 2',
    'integer 3',
    'cast (.u64) 7',
    'integer 7',
    'apply f(g)',
    'name f',
    'name g',
    'index h[2]',
    'integer 2',
    'binary (1 + 2) * 3',
    'binary 1 + 2',
    'integer 1',
    'integer 2',
    'integer 3',
    'conditional 1 ? 2 : 3',
    'integer 1',
    'integer 2',
    'integer 3',
  ]);
});

test('the places in an initializer, where lists are read apart', () => {
  const text = '.global .u32 a[4] = { 1, {b+2 , 3}, -4 };';
  const { init } = only(variables(text));
  const at = ({ start, end }: Span) => text.slice(start, end);
  if (init?.kind !== 'vector') throw new Error('no list');
  assert.is(at(init.span), '{ 1, {b+2 , 3}, -4 }');
  assert.equal(
    init.elements.map((e) => at(e.span)),
    ['1', '{b+2 , 3}', '-4'],
  );
  const inner = init.elements[1]!;
  if (inner.kind !== 'vector') throw new Error('no list');
  assert.equal(
    inner.elements.map((e) => at(e.span)),
    ['b+2', '3'],
  );
});

// ---- labels, scopes, directives of a body

test('labels, scopes and instructions in order', () => {
  const { statements, at } = body('A: B:\n{ .reg .u32 a; L: { } bra L; }\nret;');
  assert.equal(bare(statements), [
    { kind: 'label', name: 'A' },
    { kind: 'label', name: 'B' },
    {
      kind: 'block',
      body: [
        { ...declared, space: 'reg', type: 'u32', name: 'a' },
        { kind: 'label', name: 'L' },
        { kind: 'block', body: [] },
        { kind: 'instruction', opcode: 'bra', modifiers: [], operands: [name('L')] },
      ],
    },
    { kind: 'instruction', opcode: 'ret', modifiers: [], operands: [] },
  ]);
  assert.equal(
    statements.map((s) => at(s.span)),
    ['A:', 'B:', '{ .reg .u32 a; L: { } bra L; }', 'ret;'],
  );
});

const directives: Record<string, unknown> = {
  '.file 1 "a b.cu"': { name: 'file', index: 1, path: 'a b.cu' },
  '.file 2 "/x/y.cu", 1700000000, 1234': { name: 'file', index: 2, path: '/x/y.cu', stamp: ['1700000000n', '1234n'] },
  '.loc 1 20 5': { name: 'loc', index: 1, line: 20, column: 5 },
  '.loc 1 20 5, function_name $L__info_string0, inlined_at 2 30 3': {
    name: 'loc',
    index: 1,
    line: 20,
    column: 5,
    inlined: { functionName: '$L__info_string0', offset: 0, index: 2, line: 30, column: 3 },
  },
  '.loc 1 20 5, function_name info+10, inlined_at 2 30 3': {
    name: 'loc',
    index: 1,
    line: 20,
    column: 5,
    inlined: { functionName: 'info', offset: 10, index: 2, line: 30, column: 3 },
  },
  '.pragma "nounroll";': { name: 'pragma', values: ['nounroll'] },
  '.pragma "a", "b c";': { name: 'pragma', values: ['a', 'b c'] },
  '.branchtargets L1, L2;': { name: 'branchtargets', targets: [{ name: 'L1' }, { name: 'L2' }] },
  '.calltargets f;': { name: 'calltargets', targets: [{ name: 'f' }] },
  '.callprototype _;': { name: 'callprototype', results: [], params: [], directives: [] },
  '.callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16], .reg .b64 _) .noreturn;': {
    name: 'callprototype',
    results: [{ ...declared, space: 'param', type: 'b32', name: '_' }],
    params: [
      { ...declared, space: 'param', align: 8, type: 'b8', name: '_', dims: [16] },
      { ...declared, space: 'reg', type: 'b64', name: '_' },
    ],
    directives: [{ name: 'noreturn', values: [] }],
  },
};
for (const [text, node] of Object.entries(directives)) {
  test(`the directive ${text}`, () => {
    const { statements, at } = body(`L:\n${text}\nret;`);
    assert.equal(bare(statements[1]), { kind: 'directive', ...(node as object) });
    assert.is(at(statements[1]!.span), text);
    assert.is(statements[2]?.kind, 'instruction');
  });
}

test('directives outside of functions', () => {
  const text = '.file 1 "a"\n.pragma "p";\n.alias f, g;\n';
  const list = items(text);
  assert.equal(bare(list), [
    { kind: 'directive', name: 'file', index: 1, path: 'a' },
    { kind: 'directive', name: 'pragma', values: ['p'] },
    { kind: 'directive', name: 'alias', alias: { name: 'f' }, aliasee: { name: 'g' } },
  ]);
  assert.equal(
    list.map(({ span: { start, end } }) => text.slice(start, end)),
    ['.file 1 "a"', '.pragma "p";', '.alias f, g;'],
  );
});

// ---- functions

test('an entry', () => {
  const text = `.visible .entry kernel(
	.param .u64 .ptr .global .align 16 a,
	.param .u64 .ptr b,
	.param .u64 .ptr .align 4 c,
	.param .align 8 .b8 d[24],
	.param .f32 e
)
.maxntid 256, 1, 1
.minnctapersm 2
.pragma "used_bytes_mask 0x1";
{
	ret;
}`;
  const f = func(text);
  const param = { ...declared, space: 'param' };
  assert.equal(bare(f), {
    kind: 'function',
    isEntry: true,
    linkage: 'visible',
    name: 'kernel',
    results: [],
    params: [
      { ...param, type: 'u64', name: 'a', ptr: { space: 'global', align: 16 } },
      { ...param, type: 'u64', name: 'b', ptr: {} },
      { ...param, type: 'u64', name: 'c', ptr: { align: 4 } },
      { ...param, type: 'b8', name: 'd', align: 8, dims: [24] },
      { ...param, type: 'f32', name: 'e' },
    ],
    directives: [
      { name: 'maxntid', values: [256, 1, 1] },
      { name: 'minnctapersm', values: [2] },
      { name: 'pragma', values: ['used_bytes_mask 0x1'] },
    ],
    attributes: [],
    body: [{ kind: 'instruction', opcode: 'ret', modifiers: [], operands: [] }],
  });
  const at = ({ start, end }: Span) => text.slice(start, end);
  assert.is(at(f.span), text);
  assert.is(at(f.nameSpan), 'kernel');
  assert.equal(
    f.params.map((p) => at(p.nameSpan)),
    ['a', 'b', 'c', 'd', 'e'],
  );
  assert.is(at(f.params[0]!.span), '.param .u64 .ptr .global .align 16 a');
  assert.is(at(f.params[3]!.span), '.param .align 8 .b8 d[24]');
  assert.equal(
    f.directives.map((d) => at(d.span)),
    ['.maxntid 256, 1, 1', '.minnctapersm 2', '.pragma "used_bytes_mask 0x1";'],
  );
});

test('functions with results, without parameters, declared only', () => {
  const [f, g, h] = items(
    '.func (.reg .u32 r) f (.reg .u32 a) { }\n.extern .func g;\n.weak .func (.param .b32 r) h () .noreturn;',
  ) as PtxFunction[];
  assert.equal(bare(f!.results), [{ ...declared, space: 'reg', type: 'u32', name: 'r' }]);
  assert.equal(bare(f!.params), [{ ...declared, space: 'reg', type: 'u32', name: 'a' }]);
  assert.equal(f!.body, []);
  assert.equal([g!.name, g!.linkage, g!.isEntry, g!.body], ['g', 'extern', false, undefined]);
  assert.equal([h!.linkage, h!.body, h!.directives[0]?.name], ['weak', undefined, 'noreturn']);
});

test('a declaration of a function may go without its semicolon', () => {
  const heads =
    '.extern .func f (.param .u32 a)\n.func (.param .u32 r) g .noreturn\n.file 1 "a"\n.visible .func h ()\n.global .u32 v;\n.func i';
  assert.equal(
    items(heads).map((item) => (item.kind === 'function' ? [item.name, item.params.length, item.body] : item.kind)),
    [['f', 1, undefined], ['g', 0, undefined], 'directive', ['h', 0, undefined], 'variable', ['i', 0, undefined]],
  );
  assert.equal(parsed('.entry e ()\n.func f () { ret; }').said, ['CM1001 1:12 expected `;`, found `.func`']);
});

test('the directives of a head', () => {
  const f = func(
    '.entry f ()\n.reqntid 32\n.maxnctapersm 4 .maxnreg 64 .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8\n{ }',
  );
  assert.equal(bare(f.directives), [
    { name: 'reqntid', values: [32] },
    { name: 'maxnctapersm', values: [4] },
    { name: 'maxnreg', values: [64] },
    { name: 'explicitcluster', values: [] },
    { name: 'reqnctapercluster', values: [2, 1, 1] },
    { name: 'maxclusterrank', values: [8] },
  ]);
  // A directive without numbers ends with its word, whatever follows.
  const text = '.func f ()\n.noreturn // c\n.pragma "p" ;\n.abi_preserve 1\n;';
  assert.equal(
    func(text).directives.map(({ span: { start, end } }) => text.slice(start, end)),
    ['.noreturn', '.pragma "p" ;', '.abi_preserve 1'],
  );
});

test('an attribute of a function', () => {
  assert.equal(func('.visible .func .attribute(.unified(1, 2)) f () { }').attributes, [{ name: 'unified', values: [1n, 2n] }]);
});

// ---- sections

test('a section', () => {
  const text = `.section .debug_info
{
.b32 11, .debug_abbrev
.b64 $L__begin + 4
start:
.b8 1,2
,3
.b32 .debug_str+12
.b32 end-start
}`;
  const section = only(items(text));
  if (section.kind !== 'section') throw new Error(`a ${section.kind}`);
  assert.equal(bare(section), {
    kind: 'section',
    name: '.debug_info',
    items: [
      { kind: 'data', type: 'b32', values: [integer(11), name('.debug_abbrev')] },
      { kind: 'data', type: 'b64', values: [binary('+', name('$L__begin'), integer(4))] },
      { kind: 'label', name: 'start' },
      { kind: 'data', type: 'b8', values: [integer(1), integer(2), integer(3)] },
      { kind: 'data', type: 'b32', values: [binary('+', name('.debug_str'), integer(12))] },
      { kind: 'data', type: 'b32', values: [binary('-', name('end'), name('start'))] },
    ],
  });
  const at = ({ start, end }: Span) => text.slice(start, end);
  assert.is(at(section.span), text);
  assert.equal(
    section.items.map((i) => at(i.span)),
    ['.b32 11, .debug_abbrev', '.b64 $L__begin + 4', 'start:', '.b8 1,2\n,3', '.b32 .debug_str+12', '.b32 end-start'],
  );
});

// ---- properties of all trees

/** All nodes with a span, and the span that contains each. */
function placed(module: Module): { inner: Span; outer: Span; what: string }[] {
  const found: { inner: Span; outer: Span; what: string }[] = [];
  const visit = (value: unknown, outer: Span): void => {
    if (Array.isArray(value)) for (const element of value) visit(element, outer);
    else if (typeof value === 'object' && value !== null) {
      const inner = 'span' in value ? (value.span as Span) : outer;
      for (const key of ['span', 'nameSpan', 'opcodeSpan']) {
        const place = (value as Record<string, unknown>)[key];
        if (place) found.push({ inner: place as Span, outer, what: `${(value as { kind?: string }).kind}.${key}` });
      }
      for (const [key, part] of Object.entries(value)) if (!/[sS]pan$|^file$/.test(key)) visit(part, inner);
    }
  };
  visit(module, { start: 0, end: module.file.text.length });
  return found;
}

for (const [name, text] of examples) {
  test(`places in ${name} lie within each other and hold the text of their node`, () => {
    const module = clean(text);
    for (const { inner, outer, what } of placed(module)) {
      assert.ok(
        outer.start <= inner.start && inner.end <= outer.end && inner.start < inner.end,
        `${what} ${JSON.stringify({ inner, outer })}`,
      );
      const piece = text.slice(inner.start, inner.end);
      assert.is(piece, piece.trim());
    }
    const entries = module.items.filter((i) => i.kind === 'function');
    assert.is(entries.length, [...text.matchAll(/^\s*(\.visible )?\.(entry|func)\b/gm)].length);
    for (const f of entries) {
      const written = text.slice(f.span.start, f.span.end);
      const count =
        written
          .slice(written.indexOf('{'))
          .replace(/\/\/.*/g, '')
          .match(/;/g)?.length ?? 0;
      assert.is(statementCount(f.body ?? []), count);
    }
  });
}

/** How many statements end in a semicolon; each of the files' declarations declares one variable or range. */
const statementCount = (body: readonly Statement[]): number =>
  body.reduce(
    (n, s) =>
      n + (s.kind === 'block' ? statementCount(s.body) : s.kind === 'label' || (s.kind === 'directive' && s.name === 'loc') ? 0 : 1),
    0,
  );

test.run();
