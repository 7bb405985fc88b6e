/**
 * The quick look of the sanitizer: strips that give up where something may be wrong. The planted faults are reported word for word as they are
 * where every lane is watched from the start; kernels without faults are not given up; and what only 64 bits tell, or many blocks, is seen.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { kernels } from '../../bench/cpu.ts';
import { sanitizeKinds } from '../../src/device/device.ts';
import { root } from '../support/examples.ts';
import { type LookedLaunch, look } from '../support/looked.ts';
import { contentsOf, planted } from '../support/planted.ts';

const test = suite('device/sanitizer-fast');

// ── faults ──

const sizes = { f32: 4, i32: 4, u8: 1, u64: 8 } as const;

for (const { file, kernel, grid, block, args, shared } of planted.filter(({ before }) => !before))
  test(`${file}: ${kernel} is reported alike`, () => {
    const text = readFileSync(join(root, `fixtures/sanitize/${file}.ptx`), 'utf8');
    const launch = (kinds: LookedLaunch['kinds']): LookedLaunch => ({
      kernel,
      kinds,
      grid: [grid, 1, 1],
      block: [block, 1, 1],
      shared,
      args: args.map((arg) => {
        if (typeof arg === 'number') return arg;
        const written = contentsOf(arg);
        return { bytes: arg.count * sizes[arg.type], written: arg.init === 'none' ? written.subarray(0, 0) : written };
      }),
    });
    for (const kinds of [[file], sanitizeKinds]) {
      const [quick, exact] = [false, true].map((isExact) => look(text, launch(kinds), isExact)) as [
        ReturnType<typeof look>,
        ReturnType<typeof look>,
      ];
      assert.ok(exact.said.length > 0, kinds.join());
      assert.equal(quick.said, exact.said);
      assert.equal(quick.buffers, exact.buffers);
    }
  });

// ── none ──

for (const { name, entry = name, block, args } of kernels)
  test(`${name} is not given up`, () => {
    const text = readFileSync(join(root, 'bench/kernels/cpu/eleven.ptx'), 'utf8');
    // Two blocks or four of each, of grids that these are the first blocks of.
    const given = args.map((arg) => (arg[0] === 'int' || arg[0] === 'float' ? Math.min(arg[1], 64) : new Uint8Array(4 * 8192)));
    const { isQuick, isGivenUp, said } = look(text, { kernel: entry, grid: [2, block[1] > 1 ? 2 : 1, 1], block, args: given }, false);
    assert.equal(said, []);
    assert.ok(isQuick);
    assert.not.ok(isGivenUp);
  });

// ── by hand ──

/** What is read at last goes to a buffer of its own, so that it is wanted. */
const kernel = (body: string, shared = ''): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry looked(.param .u64 pa, .param .u64 pb, .param .u64 pc)
{
  .reg .pred %p, %q;
  .reg .b16 %h;
  .reg .b32 %t, %g, %n, %i, %x, %y, %k;
  .reg .b64 %a, %b, %c, %w, %at, %l;
  ${shared}
  mov.u32 %t, %tid.x;
  mov.u32 %g, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mad.lo.s32 %g, %g, %n, %t;
  ld.param.u64 %a, [pa];
  ld.param.u64 %b, [pb];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  mov.u32 %x, 0;
  ${body}
  ld.param.u64 %c, [pc];
  cvta.to.global.u64 %c, %c;
  mul.wide.s32 %w, %g, 4;
  add.s64 %c, %c, %w;
  st.global.u32 [%c], %x;
  ret;
}
`;
const shape = { grid: [2, 1, 1], block: [64, 1, 1] } as const;
const bufferOf = (): Uint8Array => new Uint8Array(512);
const buffers = { args: [bufferOf(), bufferOf(), bufferOf()] } as const;

interface Case {
  readonly what: string;
  readonly body: string;
  readonly shared?: string;
  readonly launch?: Partial<LookedLaunch>;
  /** What is found first, and nothing where the quick look is to go through. */
  readonly code?: string;
}

const cases: Case[] = [
  { what: 'own words', body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;' },
  {
    what: 'an offset of 2^32, of which the low half is in the buffer',
    body: 'or.b32 %i, %g, 1073741824; mul.wide.u32 %w, %i, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;',
    code: 'CM6101',
  },
  {
    what: 'an offset of -2^33, of which the low half is in the buffer',
    body: 'or.b32 %i, %g, 0x80000000; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    what: 'a product of 64 bits whose low half is in the buffer',
    body: 'cvt.u64.u32 %w, %g; cvt.u64.u32 %l, %n; shl.b64 %l, %l, 26; mul.lo.s64 %w, %w, %l; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    what: 'a pointer that goes through the whole of 2^32 in a loop',
    body: `mov.u32 %k, 0; mul.wide.u32 %w, %g, 4; add.s64 %c, %a, %w;
  L: add.s64 %c, %c, 268435456; add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 16; @%q bra L;
  ld.global.u32 %x, [%c];`,
    code: 'CM6101',
  },
  {
    what: 'a pointer that goes through its buffer in a loop',
    body: `mov.u32 %k, 0; mul.wide.u32 %w, %t, 4; add.s64 %c, %a, %w;
  L: ld.global.u32 %x, [%c]; add.s64 %c, %c, 4; add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 60; @%q bra L;`,
  },
  {
    what: 'bytes side by side',
    body: 'cvt.u16.u32 %h, %g; cvt.u64.u32 %w, %g; add.s64 %at, %a, %w; st.global.u8 [%at], %h;',
  },
  {
    what: 'bytes of which two are the same',
    body: 'cvt.u16.u32 %h, %g; and.b32 %i, %g, 126; cvt.u64.u32 %w, %i; add.s64 %at, %a, %w; st.global.u8 [%at], %h;',
    code: 'CM6120',
  },
  {
    what: 'what one block writes and another reads',
    body: 'mul.wide.s32 %w, %t, 4; add.s64 %at, %a, %w; setp.eq.u32 %p, %g, %t; @%p st.global.u32 [%at], 7; @!%p ld.global.u32 %x, [%at];',
    code: 'CM6121',
  },
  {
    what: 'what several blocks read and one writes later',
    body: `mul.wide.s32 %w, %t, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at]; bar.sync 0;
  setp.ge.u32 %p, %g, 64; @%p st.global.u32 [%at], 7;`,
    code: 'CM6121',
  },
  {
    what: 'what a block writes, waits, and reads',
    body: `mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g; bar.sync 0;
  xor.b32 %i, %g, 5; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];`,
  },
  {
    what: 'what a block writes, waits, and reads, and another block reads',
    body: `mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; setp.lt.u32 %p, %g, 64; @%p st.global.u32 [%at], 7; bar.sync 0;
  and.b32 %i, %t, 15; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];`,
    code: 'CM6121',
  },
  {
    what: 'atomics of one block, and a read of another',
    body: 'setp.lt.u32 %q, %g, 64; @%q atom.global.add.u32 %y, [%a], 1; setp.eq.u32 %p, %g, 127; @%p ld.global.u32 %x, [%a];',
    code: 'CM6121',
  },
  { what: 'atomics of all blocks', body: 'atom.global.add.u32 %x, [%a], 1;' },
  {
    what: 'two parameters of one buffer',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], 7; ld.global.u32 %x, [%b];',
    launch: { args: [bufferOf(), { same: 0 }, bufferOf()] },
    code: 'CM6120',
  },
  {
    what: 'a block that is no multiple of a strip, and a buffer for it',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;',
    launch: { grid: [1, 1, 1], block: [45, 1, 1], args: [new Uint8Array(180), bufferOf(), new Uint8Array(180)] },
  },
  {
    what: 'a word less than that',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;',
    launch: { grid: [1, 1, 1], block: [45, 1, 1], args: [new Uint8Array(176), bufferOf(), bufferOf()] },
    code: 'CM6101',
  },
  {
    what: 'a read of the second half, which is not written',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %b, %w; ld.global.u32 %x, [%at];',
    launch: { args: [bufferOf(), { bytes: 512, written: new Uint8Array(508) }, bufferOf()] },
    code: 'CM6110',
  },
  {
    what: 'an atomic where nothing is written',
    body: 'mul.wide.s32 %w, %t, 4; cvt.u32.u64 %i, %w; mov.u32 %k, cells; add.u32 %k, %k, %i; atom.shared.add.u32 %x, [%k], 1;',
    shared: '.shared .align 4 .b32 cells[64];',
    code: 'CM6110',
  },
  {
    what: 'shared memory that the block before has written',
    body: `shl.b32 %i, %t, 2; mov.u32 %k, cells; add.u32 %k, %k, %i; setp.lt.u32 %p, %g, 64; @%p st.shared.u32 [%k], %t; bar.sync 0;
  ld.shared.u32 %x, [%k];`,
    shared: '.shared .align 4 .b32 cells[64];',
    code: 'CM6110',
  },
  {
    what: 'a wide write and a word of it by another thread',
    body: 'mul.wide.s32 %w, %g, 4; and.b64 %w, %w, -8; add.s64 %at, %a, %w; setp.eq.u32 %p, %t, 0; @%p st.global.v2.u32 [%at], {%g, %g}; setp.eq.u32 %q, %t, 1; @%q ld.global.u32 %x, [%at+4];',
    code: 'CM6120',
  },
  {
    what: 'bytes of shared memory that are written, and read by others',
    body: `mov.u32 %k, cells; add.u32 %i, %k, %t; cvt.u16.u32 %h, %t; st.shared.u8 [%i], %h; bar.sync 0;
  xor.b32 %y, %t, 1; add.u32 %i, %k, %y; ld.shared.u8 %h, [%i]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[64];',
  },
  {
    what: 'bytes of shared memory between those that are written',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 1; add.u32 %k, %k, %i; cvt.u16.u32 %h, %t; st.shared.u8 [%k], %h; bar.sync 0;
  ld.shared.u8 %h, [%k+1]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[128];',
    code: 'CM6110',
  },
  {
    what: 'halves of words of shared memory that are written, and read by others',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 1; add.u32 %i, %k, %i; cvt.u16.u32 %h, %t; st.shared.u16 [%i], %h; bar.sync 0;
  xor.b32 %y, %t, 1; shl.b32 %y, %y, 1; add.u32 %i, %k, %y; ld.shared.u16 %h, [%i]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[128];',
  },
  {
    what: 'halves of words of shared memory whose other half is written',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 2; add.u32 %k, %k, %i; cvt.u16.u32 %h, %t; st.shared.u16 [%k], %h; bar.sync 0;
  ld.shared.u16 %h, [%k+2]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[256];',
    code: 'CM6110',
  },
  {
    what: 'halves of words of shared memory of which one byte is written',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 2; add.u32 %k, %k, %i; cvt.u16.u32 %h, %t; st.shared.u8 [%k], %h; bar.sync 0;
  ld.shared.u16 %h, [%k]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[256];',
    code: 'CM6110',
  },
  {
    what: 'a byte of a buffer behind those that are written',
    body: 'cvt.u64.u32 %w, %g; add.s64 %at, %b, %w; ld.global.u8 %h, [%at]; cvt.u32.u16 %x, %h;',
    launch: { args: [bufferOf(), { bytes: 512, written: new Uint8Array(127) }, bufferOf()] },
    code: 'CM6110',
  },
  {
    what: 'indices side by side from -2^31 on, of which the low half of 4 times as much is in the buffer',
    body: 'sub.u32 %i, %g, 0x80000000; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    what: 'every other word of a buffer',
    body: 'mul.wide.s32 %w, %g, 8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [new Uint8Array(252), bufferOf(), bufferOf()] },
  },
  {
    what: 'every other word of a buffer, of which the last is behind its end',
    body: 'mul.wide.s32 %w, %g, 8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [new Uint8Array(248), bufferOf(), bufferOf()] },
    code: 'CM6101',
  },
  {
    what: 'every other word from the end of a buffer back, of which the last is before its start',
    body: 'mul.wide.s32 %w, %g, -8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at+244];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [new Uint8Array(248), bufferOf(), bufferOf()] },
    code: 'CM6101',
  },
  {
    what: 'every other word of a buffer of which the last words are not written',
    body: 'mul.wide.s32 %w, %g, 8; add.s64 %at, %b, %w; ld.global.u32 %x, [%at];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [bufferOf(), { bytes: 256, written: new Uint8Array(240) }, bufferOf()] },
    code: 'CM6110',
  },
  {
    what: 'every other word, and the words between them by the threads of the other half',
    body: `mul.wide.s32 %w, %g, 8; add.s64 %at, %a, %w; st.global.u32 [%at], %g;
  xor.b32 %i, %g, 16; mul.wide.s32 %w, %i, 8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];`,
    launch: { grid: [1, 1, 1], block: [32, 1, 1] },
    code: 'CM6120',
  },
  {
    what: 'an index of all threads, 2^30, of which the low half of 4 times as much is in the buffer',
    body: 'or.b32 %i, %n, 1073741824; mul.wide.u32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    // 31 steps of 138547332 are -4 modulo 2^32, and 124 of them -16: every offset is in the buffer modulo 2^32, and the last thread's index is small.
    what: 'indices that are far from each other and near again at the last of 32 threads',
    body: 'mul.lo.s32 %i, %t, 138547332; mul.wide.s32 %w, %i, 124; add.s64 %at, %a, %w; ld.global.u32 %x, [%at+496];',
    launch: { block: [32, 1, 1] },
    code: 'CM6101',
  },
];

cases.push({
  what: 'a loop that reads plainly what another thread writes, and never comes to it in a strip',
  body: `setp.eq.u32 %p, %t, 0; @%p bra W;
  L: ld.global.u32 %x, [%a]; setp.eq.u32 %q, %x, 0; @%q bra L; bra E;
  W: st.global.u32 [%a], 7;
  E:`,
  code: 'CM6120',
});

for (const { what, body, shared, launch, code } of cases)
  test(what, () => {
    const text = kernel(body, shared);
    const [quick, exact] = [false, true].map((isExact) => look(text, { ...shape, ...buffers, ...launch }, isExact)) as [
      ReturnType<typeof look>,
      ReturnType<typeof look>,
    ];
    assert.is(exact.said[0]?.slice(0, 6), code);
    assert.equal(quick.said, exact.said);
    assert.equal(quick.buffers, exact.buffers);
    assert.ok(quick.isQuick);
    assert.is(quick.isGivenUp, code !== undefined);
  });

test('a shadow whose time comes to its end is made simpler, and forgets nothing', () => {
  // More blocks than there are times: the last one reads what the first has written.
  const blocks = 2 ** 17;
  const write = (last: string): string =>
    `setp.eq.u32 %p, %g, 0; @%p st.global.u32 [%a], 7; mov.u32 %i, %ctaid.x; setp.eq.u32 %q, %i, ${blocks - 1}; @%q ${last}`;
  const launch: LookedLaunch = { grid: [blocks, 1, 1], block: [32, 1, 1], args: [bufferOf(), bufferOf(), new Uint8Array(4 * 32 * blocks)] };
  assert.ok(look(kernel(write('ld.global.u32 %x, [%a];')), launch, false).isGivenUp);
  for (const kinds of [sanitizeKinds, ['memory']] as const)
    assert.not.ok(look(kernel(write('ld.global.u32 %x, [%a+4];')), { ...launch, kinds }, false).isGivenUp);
});

test.run();
