/** Parameters, variables and addresses, and what is refused about them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { interpret } from '../../src/ir/interpret.ts';
import { entry, irOf, kernelOf, lowered, wordsFrom, writing } from './lowered.ts';

const test = suite('lower/memory');

const two = (body: string): string =>
  entry(
    '.param .u64 a, .param .u64 b, .param .u32 n',
    `.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\nld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u32 %r0, [n];\n${body}`,
  );
const kindsOf = (text: string): string =>
  kernelOf(text)
    .params.map((param) => param.kind)
    .join(' ');

// ── parameters ──

test('a parameter is a pointer when an address is made of it', () => {
  assert.is(kindsOf(two('ld.global.f32 %f1, [%rd0+4]; st.global.f32 [%rd1], %f1;')), 'pointer pointer value');
  assert.is(kindsOf(two('add.s64 %rd2, %rd0, 8; ld.global.u32 %r1, [%rd2];')), 'pointer value value');
  assert.is(kindsOf(two('cvta.to.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, %rd0; ld.global.u32 %r1, [%rd3];')), 'value pointer value');
  assert.is(kindsOf(two('ld.u32 %r1, [%rd0];')), 'pointer value value', 'generic accesses');
  assert.is(kindsOf(two('add.s64 %rd2, %rd0, %rd1;')), 'value value value', 'sums that are no address');
  assert.is(kindsOf(entry('.param .u64 .ptr .global .align 4 a', '')), 'pointer', 'declared');
});

test('a sum is told apart by what is known elsewhere', () => {
  assert.is(kindsOf(two('ld.global.u32 %r1, [%rd1]; add.s64 %rd3, %rd1, %rd0; ld.global.u32 %r1, [%rd3];')), 'value pointer value');
  assert.is(kindsOf(two('mul.lo.s64 %rd2, %rd0, 4; add.s64 %rd3, %rd2, %rd1; ld.global.u32 %r1, [%rd3];')), 'value pointer value');
});

test('CM2046: a sum of two parameters and no other evidence', () => {
  assert.equal(lowered(two('add.s64 %rd3, %rd1, %rd0;\nld.global.u32 %r1, [%rd3];')).said, [
    'CM2046 9:1 either `b` or `a` is the pointer in this sum, and the compiler cannot determine which',
  ]);
});

test('pointers through selp and loops', () => {
  const selected = two('setp.eq.u32 %p1, %r0, 0; selp.b64 %rd2, %rd0, %rd1, %p1; ld.global.u32 %r1, [%rd2];');
  assert.is(kindsOf(selected), 'pointer pointer value');
  assert.match(irOf(selected), /select ptr\.global/);
  const walked = two(`mov.b64 %rd2, %rd0; mov.b32 %r1, 0;
    TOP: ld.global.u32 %r2, [%rd2]; add.u32 %r1, %r1, %r2; add.s64 %rd2, %rd2, 4; sub.u32 %r0, %r0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra TOP;
    st.global.u32 [%rd1], %r1;`);
  assert.is(kindsOf(walked), 'pointer pointer value');
  assert.match(irOf(walked), /"TOP"\(.*ptr\.global/);
  assert.not.match(irOf(walked), /inttoptr/, 'the loop carries a pointer');
});

test('a generic access of a variable by its name is one of its space', () => {
  const body = (access: string): string => two(`.shared .b32 word[4]; st${access}.u32 [word+8], %r0; ld${access}.u32 %r1, [word+8];`);
  const accesses = irOf(body('')).match(/store|load|ptr\.\w+/g);
  assert.equal(accesses, irOf(body('.shared')).match(/store|load|ptr\.\w+/g));
  assert.ok(accesses?.includes('ptr.shared'));
});

test('hints to the caches leave nothing behind', () => {
  const body = (hints: string): string => two(`${hints} ld.global.f32 %f1, [%rd0+4]; st.global.f32 [%rd1], %f1;`);
  const hints = 'prefetch.global.L2 [%rd0+64]; prefetch.L1 [%rd1]; prefetchu.L1 [%rd1];';
  assert.is(irOf(body(hints)), irOf(body('')));
  assert.is(irOf(body('griddepcontrol.wait; griddepcontrol.launch_dependents;')), irOf(body('')), 'launches follow one another');
  const accesses = (text: string): unknown => irOf(body(text)).match(/ptradd|load|store/g);
  assert.equal(accesses('applypriority.L2::evict_normal [%rd1], 128;'), accesses(''));
});

test('what is known of a buffer: element, sign, access', () => {
  const shown = (body: string): unknown => {
    const { element, signed, access, size } = kernelOf(two(body)).params[0]!;
    return [element, signed, access, size];
  };
  assert.equal(shown('ld.global.f32 %f1, [%rd0];'), ['f32', false, 'read', 4]);
  assert.equal(shown('st.global.u16 [%rd0], %r1;'), ['i16', false, 'write', 2]);
  assert.equal(shown('ld.global.s32 %r1, [%rd0]; st.global.s32 [%rd0], %r1;'), ['i32', true, 'read_write', 4]);
  assert.equal(shown('ld.global.u32 %r1, [%rd0]; setp.lt.s32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], 1;'), ['i32', true, 'read', 4]);
  assert.equal(shown('ld.global.b32 %f1, [%rd0]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd1], %f1;'), ['f32', false, 'read', 4]);
});

test('an access through an address that may be of several buffers is one of each', () => {
  const accesses = (body: string): string => {
    const loads = ['a', 'b', 'c'].map((name, i) => `ld.param.u64 %rd${i}, [${name}];`).join(' ');
    const text = `.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n${loads} mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 4; setp.lt.u32 %p2, %r0, 9;\n${body}`;
    return kernelOf(entry('.param .u64 a, .param .u64 b, .param .u64 c', text))
      .params.map(({ kind, access }) => (kind === 'pointer' ? access : kind))
      .join(' ');
  };
  // Whichever of them comes first on the way to the address.
  for (const [first, second] of [
    [0, 2],
    [2, 0],
  ]) {
    const either = `selp.b64 %rd3, %rd${first}, %rd${second}, %p1;`;
    assert.is(accesses(`${either} st.global.u32 [%rd3], %r0;`), 'write value write');
    assert.is(accesses(`${either} ld.global.u32 %r1, [%rd3+8]; st.global.u32 [%rd1], %r1;`), 'read write read');
    assert.is(accesses(`${either} selp.b64 %rd4, %rd1, %rd3, %p2; st.global.u32 [%rd4], %r0;`), 'write write write');
    assert.is(
      accesses(`${either} selp.b64 %rd4, %rd3, %rd1, %p2; ld.global.u32 %r1, [%rd4]; st.global.u32 [%rd3], %r1;`),
      'read_write read read_write',
    );
    // Stored as a number, an address may be used in any way.
    assert.is(accesses(`${either} st.global.u64 [%rd1], %rd3; ld.global.u32 %r1, [%rd3];`), 'read_write write read_write');
  }
});

test('structs by value', () => {
  const kernel = kernelOf(
    entry('.param .align 8 .b8 s[16]', '.reg .b32 %r1; .reg .b64 %rd1; ld.param.u32 %r1, [s+12]; ld.param.u64 %rd1, [s];'),
  );
  const { kind, size, align, element } = kernel.params[0]!;
  assert.equal([kind, size, align, element], ['value', 16, 8, undefined]);
});

test('a number that is read in halves stays a number', () => {
  assert.is(kindsOf(entry('.param .u64 a', '.reg .b32 %r1; .reg .b64 %rd1; ld.param.u32 %r1, [a]; ld.param.u64 %rd1, [a];')), 'value');
});

// ── variables ──

test('constant tables with initial values', () => {
  const table = '.const .align 4 .u32 t[4] = {1, 2, 0x30, -1};\n.const .u16 h[2][2] = {{1, 2}, {3}};\n.const .f32 f = 0f3F800000;';
  const text = writing(
    'ld.const.u32 %r1, [t+8]; mov.u64 %rd1, t; ld.const.u32 %r2, [%rd1+12]; ld.const.u16 %r3, [h+4]; ld.const.f32 %f1, [f]; ld.const.u32 %r4, [t[1]]; st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; st.global.f32 [%rd0+16], %f1;',
    table,
  );
  assert.equal(wordsFrom(text, 0, 5), [0x30, 0xffffffff, 3, 2, 0x3f800000]);
});

test('shared variables: their address with 32 and 64 bits, with offsets', () => {
  const text = writing(
    `mov.u32 %r1, tile; mov.u64 %rd1, tile+8; st.shared.u32 [%r1+4], 5; st.shared.u32 [%rd1], 6; st.shared.u32 [tile], 4;
    add.u32 %r2, %r1, 8; ld.shared.u32 %r3, [%r2]; ld.shared.v2.u32 {%r4, %r5}, [tile]; mov.u64 %rd2, tile[1]; ld.shared.u32 %r6, [%rd2];
    st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6};`,
    '.shared .align 16 .b32 tile[8];',
  );
  assert.equal(wordsFrom(text, 0, 4), [6, 4, 5, 5]);
});

test('dynamic shared memory', () => {
  const text = writing(
    'mov.u32 %r1, s; st.shared.u32 [%r1+4], 9; ld.shared.u32 %r2, [s+4]; st.global.u32 [%rd0], %r2;',
    '.extern .shared .align 16 .b8 s[];',
  );
  const [variable] = kernelOf(text).variables;
  assert.equal([variable!.isDynamic, variable!.size, variable!.align], [true, 0, 16]);
  assert.equal(wordsFrom(text), [9]);
});

test('local arrays, of one name in two scopes', () => {
  const text = writing(`.local .align 4 .b32 x[2]; st.local.u32 [x+4], 1; { .local .b32 x; st.local.u32 [x], 2; ld.local.u32 %r2, [x]; }
    ld.local.u32 %r1, [x+4]; st.global.v2.u32 [%rd0], {%r1, %r2};`);
  assert.equal(wordsFrom(text, 0, 2), [1, 2]);
  assert.is(kernelOf(text).variables.length, 2);
});

test('generic addresses are seen through to their space', () => {
  const text = writing(
    `mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 4; st.u32 [%rd3], 8; ld.shared.u32 %r1, [tile+4];
    cvta.to.shared.u64 %rd4, %rd3; ld.shared.u32 %r2, [%rd4]; st.v2.u32 [%rd0], {%r1, %r2};`,
    '.shared .b32 tile[8];',
  );
  assert.equal(wordsFrom(text, 0, 2), [8, 8]);
});

// ── refusals ──

const refused: readonly (readonly [name: string, text: string, ...said: string[]])[] = [
  [
    'CM2042',
    writing('.global .u32 g;\nld.global.u32 %r1, [g];\nst.global.u32 [g], 1;'),
    'CM2042 10:21 variable `g` in `.global` memory is not supported',
  ],
  [
    'CM2043: an address',
    writing('ld.const.u64 %rd1, [t];', '.const .u64 t[1] = {u};\n.shared .b32 u;'.replace('t[1] = {u}', 't = u')),
    'CM2043 4:17 the initial value of `t` cannot be laid out: it holds an address that is not one of 64 bits into a `.global` or `.const` variable of the module',
  ],
  [
    'CM2043: of another type',
    writing('ld.const.u32 %r1, [t];', '.const .b32 t[2] = {1, 1.5};'),
    'CM2043 4:24 the initial value of `t` cannot be laid out: its type and that of the variable differ',
  ],
  [
    'CM2044',
    entry('.param .u64 .ptr .shared .align 4 a', ''),
    'CM2044 5:45 parameter `a` points to `.shared` memory, which a host cannot pass',
  ],
  ['CM2045', entry('.param .texref t', ''), 'CM2045 5:26 `t` has type `.texref`, which is not supported'],
  [
    'CM2048',
    writing('ld.const.u32 %r1, [t];', '.extern .const .u32 t;'),
    'CM2048 9:20 variable `t` is declared `.extern` and defined in no module given',
  ],
  [
    'CM2049: barriers',
    writing('bar.sync 1;\nbar.sync 0, 32;\nbar.sync %r0;'),
    'CM2049 10:13 operand `32` is not supported here: a barrier for some of the threads',
    'CM2049 11:10 operand `%r0` is not supported here: only barrier 0 is there',
  ],
  [
    'CM2049: barriers that compute',
    writing('bar.red.popc.u32 %r1, 1, %p1;\nbarrier.red.and.aligned.pred %p1, 0, 32, !%p1;\nbar.cta.red.or.pred %p1, %r0, %p1;'),
    'CM2049 10:38 operand `32` is not supported here: a barrier for some of the threads',
  ],
  [
    'CM2049: a declared pointer in halves',
    entry('.param .u64 .ptr .global a', '.reg .b32 %r1;\nld.param.u32 %r1, [a];'),
    'CM2049 8:1 operand `a` is not supported here: a pointer parameter must be read as one whole address',
  ],
  [
    'CM2049: an address of which a half is read as well',
    writing('st.global.u32 [%rd0], 1;\nld.param.u32 %r1, [out+4];'),
    'CM2049 10:1 operand `out` is not supported here: a pointer parameter must be read as one whole address',
  ],
  [
    'CM2092',
    entry(Array.from({ length: 32 }, (_, i) => `.param .u64 .ptr .global p${i}`).join(', '), ''),
    'CM2092 5:8 kernel `k` needs 32 buffers, but a pipeline has 31 slots',
  ],
  [
    'CM2094: a question about an address that may be of a parameter',
    writing(
      'mov.u64 %rd1, n; cvta.param.u64 %rd2, %rd1; setp.eq.u32 %p1, %r0, 0; selp.b64 %rd3, %rd0, %rd2, %p1;\nisspacep.param %p1, %rd3;',
    ),
    'CM2094 10:1 the state space of this generic address cannot be determined',
  ],
  [
    'CM2094: two spaces, one of them that of parameters',
    writing('mov.u64 %rd1, n; cvta.param.u64 %rd2, %rd1; setp.eq.u32 %p1, %r0, 0; selp.b64 %rd3, %rd0, %rd2, %p1;\nld.u32 %r1, [%rd3];'),
    'CM2094 10:1 the state space of this generic address cannot be determined',
  ],
  [
    'CM2096: the generic address of a parameter compared with a number',
    writing('mov.u64 %rd1, n; cvta.param.u64 %rd2, %rd1; setp.eq.s64 %p1, %rd2, 1;'),
    'CM2096 9:45 this instruction uses the generic address of a parameter as a number',
  ],
  [
    'CM2096: the generic address of a parameter in memory',
    writing('mov.u64 %rd1, n; cvta.param.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 4;\nst.global.u64 [%rd0], %rd3;'),
    'CM2096 10:1 this instruction uses the generic address of a parameter as a number',
  ],
];
for (const [name, text, ...said] of refused) test(name, () => assert.equal(lowered(text).said, said));

test('CM2047: 32-bit addresses', () => {
  assert.equal(lowered('.version 8.0\n.target sm_90\n.address_size 32\n.entry k () { ret; }').said, [
    'CM2047 1:1 modules with 32-bit addresses are not supported',
  ]);
});

test('an offset that `or` adds to an aligned address', () => {
  const text = writing(
    `.local .align 16 .b8 own[32]; st.global.u32 [%rd0], 0; mov.u64 %rd1, own; cvta.local.u64 %rd2, %rd1; st.local.v4.u32 [own], {1, 2, 3, 4};
    st.local.v4.u32 [own+16], {5, 6, 7, 8}; and.b32 %r1, %r0, 3; shl.b32 %r1, %r1, 2; cvt.u64.u32 %rd3, %r1; or.b64 %rd4, %rd2, %rd3; ld.u32 %r2, [%rd4];
    add.u64 %rd5, %rd2, 16; or.b64 %rd6, %rd3, %rd5; ld.u32 %r3, [%rd6];
    or.b64 %rd8, %rd1, 8; ld.local.u32 %r4, [%rd8]; st.global.v4.u32 [%rd0], {%r2, %r3, %r4, 0};`,
  );
  assert.equal(
    [wordsFrom(text, 1, 3), wordsFrom(text, 7, 3)],
    [
      [2, 6, 3],
      [4, 8, 3],
    ],
  );
  assert.not.match(irOf(text), / or i64/);
});

test('a generic shared address is not null, one that is counted up in a loop neither', () => {
  const text = writing(
    `mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; mov.u32 %r1, 0; setp.eq.s64 %p1, %rd2, 0; @%p1 bra END;
    TOP: st.u32 [%rd2], %r1; add.u64 %rd2, %rd2, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; setp.ne.and.s64 %p2, %rd2, 0, %p2; @%p2 bra TOP;
    END: ld.shared.u32 %r2, [tile+8]; st.global.v2.u32 [%rd0], {%r1, %r2};`,
    '.shared .b32 tile[8];',
  );
  assert.equal(wordsFrom(text, 0, 2), [4, 2]);
});

const elements = (body: string): string =>
  entry(
    '.param .u64 out, .param .u32 n, .param .align 4 .b8 s[16], .param .align 4 .b8 t[16]',
    `.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n];\n${body}`,
  );

/** What a kernel of `elements` writes to `out`, where the words of `s` are 1, 2, 3, 4 and those of `t` 10, 20, 30, 40. */
function wordFrom(text: string, n: number): number {
  const [global, param] = [new Uint8Array(256), new Uint8Array(64)];
  const view = new DataView(param.buffer);
  view.setUint32(8, n, true);
  for (let i = 0; i < 4; i++) view.setUint32(16 + 4 * i, i + 1, true);
  for (let i = 0; i < 4; i++) view.setUint32(32 + 4 * i, 10 * (i + 1), true);
  const memory = { global, param, shared: new Uint8Array(0), local: new Uint8Array(0), constant: new Uint8Array(0) };
  const outcome = interpret(kernelOf(text), { memory, params: [64n, 8n, 16n, 32n], variables: {}, sregs: {}, limit: 1000 });
  assert.equal(outcome, { ended: 'return' });
  return new DataView(global.buffer).getUint32(64, true);
}

test('an address in a parameter is carried around a loop as its offset', () => {
  const text = elements(`mov.b64 %rd1, s; mov.b64 %rd2, t; mov.b32 %r1, 0;
    TOP: ld.param.u32 %r2, [%rd1+4]; ld.param.u32 %r3, [%rd2]; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
    add.s64 %rd1, %rd1, 4; add.s64 %rd2, %rd2, 4; sub.u32 %r0, %r0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra TOP;
    st.global.u32 [%rd0], %r1;`);
  assert.is(wordFrom(text, 3), 2 + 3 + 4 + 10 + 20 + 30);
  assert.match(irOf(text), /"TOP"\([^)]*i64[^)]*\)/);
  assert.not.match(irOf(text), /"TOP"\([^)]*ptr\.param/);
});

test('an address in a parameter that is chosen', () => {
  const text = elements(`mov.b64 %rd1, s; add.s64 %rd2, %rd1, 8; setp.eq.u32 %p1, %r0, 0; selp.b64 %rd3, %rd1, %rd2, %p1;
    ld.param.u32 %r1, [%rd3+4]; st.global.u32 [%rd0], %r1;`);
  assert.equal([wordFrom(text, 0), wordFrom(text, 1)], [2, 4]);
  assert.not.match(irOf(text), /select ptr/);
});

test('CM2049: an address in one parameter or another', () => {
  const text = elements(`mov.b64 %rd1, s; mov.b64 %rd2, t; setp.eq.u32 %p1, %r0, 0;
    selp.b64 %rd3, %rd1, %rd2, %p1;\nld.param.u32 %r1, [%rd3];`);
  assert.equal(lowered(text).said, [
    'CM2049 10:5 operand `an address of a parameter` is not supported here: it is only known at run time which parameter it is in',
  ]);
});

test('an instruction of 16 bits reads the lower half of a special register that once had as many', () => {
  const text = writing('mov.u16 %h1, %tid.x; cvt.u32.u16 %r1, %h1; st.global.u32 [%rd0], %r1;');
  assert.equal(wordsFrom(text, 0, 1, { 'tid.x': 0x12345 }), [0x2345]);
});

test('what is not used is not refused', () => {
  assert.equal(lowered(writing('', '.global .u32 g;\n.extern .global .u32 h;')).said, []);
});

test.run();
