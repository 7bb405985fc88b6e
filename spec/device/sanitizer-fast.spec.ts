/**
 * The fast sanitizer: vectorized kernels with checks that fall back to the precise sanitizer where something may be wrong. Planted faults have
 * the same reports in both; kernels without faults do not fall back; and faults that need 64-bit offsets or several blocks are found.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { kernels } from '../../bench/cpu.ts';
import { sanitizeKinds } from '../../src/device/device.ts';
import { root } from '../support/examples.ts';
import { contentsOf, planted } from '../support/planted.ts';
import { runSanitized, type SanitizedLaunch } from '../support/sanitized-launch.ts';

const test = suite('device/sanitizer-fast');

// ── faults ──

const sizes = { f32: 4, i32: 4, u8: 1, u64: 8 } as const;

for (const { file, kernel, grid, block, args, shared } of planted.filter(({ before }) => !before))
  test(`${file}: ${kernel} has the same report`, () => {
    const text = readFileSync(join(root, `fixtures/sanitize/${file}.ptx`), 'utf8');
    const launch = (kinds: SanitizedLaunch['kinds']): SanitizedLaunch => ({
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
      const [fast, precise] = [false, true].map((isPrecise) => runSanitized(text, launch(kinds), isPrecise)) as [
        ReturnType<typeof runSanitized>,
        ReturnType<typeof runSanitized>,
      ];
      assert.ok(precise.messages.length > 0, kinds.join());
      assert.equal(fast.messages, precise.messages);
      assert.equal(fast.buffers, precise.buffers);
    }
  });

// ── none ──

for (const { name, entry = name, block, args } of kernels)
  test(`${name} does not fall back`, () => {
    const text = readFileSync(join(root, 'bench/kernels/cpu/eleven.ptx'), 'utf8');
    // Two or four blocks of each grid are enough.
    const given = args.map((arg) => (arg[0] === 'int' || arg[0] === 'float' ? Math.min(arg[1], 64) : new Uint8Array(4 * 8192)));
    const { isFast, isFallback, messages } = runSanitized(
      text,
      { kernel: entry, grid: [2, block[1] > 1 ? 2 : 1, 1], block, args: given },
      false,
    );
    assert.equal(messages, []);
    assert.ok(isFast);
    assert.not.ok(isFallback);
  });

// ── by hand ──

/** The last value read is stored to a buffer of its own, so that the read is not dead. */
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
  readonly launch?: Partial<SanitizedLaunch>;
  /** The code of the first diagnostic; undefined where the fast sanitizer must not fall back. */
  readonly code?: string;
}

const cases: Case[] = [
  { what: 'one word per thread', body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;' },
  {
    what: 'an offset of 2^32 whose low half is in bounds',
    body: 'or.b32 %i, %g, 1073741824; mul.wide.u32 %w, %i, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;',
    code: 'CM6101',
  },
  {
    what: 'an offset of -2^33 whose low half is in bounds',
    body: 'or.b32 %i, %g, 0x80000000; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    what: 'a 64-bit product whose low half is in bounds',
    body: 'cvt.u64.u32 %w, %g; cvt.u64.u32 %l, %n; shl.b64 %l, %l, 26; mul.lo.s64 %w, %w, %l; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    what: 'a pointer that is advanced past 2^32 in a loop',
    body: `mov.u32 %k, 0; mul.wide.u32 %w, %g, 4; add.s64 %c, %a, %w;
  L: add.s64 %c, %c, 268435456; add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 16; @%q bra L;
  ld.global.u32 %x, [%c];`,
    code: 'CM6101',
  },
  {
    what: 'a pointer that is advanced through its buffer in a loop',
    body: `mov.u32 %k, 0; mul.wide.u32 %w, %t, 4; add.s64 %c, %a, %w;
  L: ld.global.u32 %x, [%c]; add.s64 %c, %c, 4; add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 60; @%q bra L;`,
  },
  {
    what: 'contiguous bytes',
    body: 'cvt.u16.u32 %h, %g; cvt.u64.u32 %w, %g; add.s64 %at, %a, %w; st.global.u8 [%at], %h;',
  },
  {
    what: 'bytes, two of which have one address',
    body: 'cvt.u16.u32 %h, %g; and.b32 %i, %g, 126; cvt.u64.u32 %w, %i; add.s64 %at, %a, %w; st.global.u8 [%at], %h;',
    code: 'CM6120',
  },
  {
    what: 'a block reads what another one wrote',
    body: 'mul.wide.s32 %w, %t, 4; add.s64 %at, %a, %w; setp.eq.u32 %p, %g, %t; @%p st.global.u32 [%at], 7; @!%p ld.global.u32 %x, [%at];',
    code: 'CM6121',
  },
  {
    what: 'a block writes what several others read',
    body: `mul.wide.s32 %w, %t, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at]; bar.sync 0;
  setp.ge.u32 %p, %g, 64; @%p st.global.u32 [%at], 7;`,
    code: 'CM6121',
  },
  {
    what: 'a block reads what it wrote before a barrier',
    body: `mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g; bar.sync 0;
  xor.b32 %i, %g, 5; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];`,
  },
  {
    what: 'a block reads what it wrote before a barrier, and another block reads it too',
    body: `mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; setp.lt.u32 %p, %g, 64; @%p st.global.u32 [%at], 7; bar.sync 0;
  and.b32 %i, %t, 15; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];`,
    code: 'CM6121',
  },
  {
    what: 'atomics of one block, and a read by another',
    body: 'setp.lt.u32 %q, %g, 64; @%q atom.global.add.u32 %y, [%a], 1; setp.eq.u32 %p, %g, 127; @%p ld.global.u32 %x, [%a];',
    code: 'CM6121',
  },
  { what: 'atomics of all blocks', body: 'atom.global.add.u32 %x, [%a], 1;' },
  {
    what: 'two parameters with one buffer',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], 7; ld.global.u32 %x, [%b];',
    launch: { args: [bufferOf(), { same: 0 }, bufferOf()] },
    code: 'CM6120',
  },
  {
    what: 'a block size that is no multiple of the lane group, and a buffer of that size',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;',
    launch: { grid: [1, 1, 1], block: [45, 1, 1], args: [new Uint8Array(180), bufferOf(), new Uint8Array(180)] },
  },
  {
    what: 'a buffer that is one word too small for it',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %a, %w; st.global.u32 [%at], %g;',
    launch: { grid: [1, 1, 1], block: [45, 1, 1], args: [new Uint8Array(176), bufferOf(), bufferOf()] },
    code: 'CM6101',
  },
  {
    what: 'a read of the uninitialized second half',
    body: 'mul.wide.s32 %w, %g, 4; add.s64 %at, %b, %w; ld.global.u32 %x, [%at];',
    launch: { args: [bufferOf(), { bytes: 512, written: new Uint8Array(508) }, bufferOf()] },
    code: 'CM6110',
  },
  {
    what: 'an atomic on uninitialized memory',
    body: 'mul.wide.s32 %w, %t, 4; cvt.u32.u64 %i, %w; mov.u32 %k, cells; add.u32 %k, %k, %i; atom.shared.add.u32 %x, [%k], 1;',
    shared: '.shared .align 4 .b32 cells[64];',
    code: 'CM6110',
  },
  {
    what: 'a read of shared memory that only the previous block initialized',
    body: `shl.b32 %i, %t, 2; mov.u32 %k, cells; add.u32 %k, %k, %i; setp.lt.u32 %p, %g, 64; @%p st.shared.u32 [%k], %t; bar.sync 0;
  ld.shared.u32 %x, [%k];`,
    shared: '.shared .align 4 .b32 cells[64];',
    code: 'CM6110',
  },
  {
    what: 'a wide store and a store to a word of it by another thread',
    body: 'mul.wide.s32 %w, %g, 4; and.b64 %w, %w, -8; add.s64 %at, %a, %w; setp.eq.u32 %p, %t, 0; @%p st.global.v2.u32 [%at], {%g, %g}; setp.eq.u32 %q, %t, 1; @%q ld.global.u32 %x, [%at+4];',
    code: 'CM6120',
  },
  {
    what: 'bytes of shared memory that are written and then read by others',
    body: `mov.u32 %k, cells; add.u32 %i, %k, %t; cvt.u16.u32 %h, %t; st.shared.u8 [%i], %h; bar.sync 0;
  xor.b32 %y, %t, 1; add.u32 %i, %k, %y; ld.shared.u8 %h, [%i]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[64];',
  },
  {
    what: 'bytes of shared memory between the initialized ones',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 1; add.u32 %k, %k, %i; cvt.u16.u32 %h, %t; st.shared.u8 [%k], %h; bar.sync 0;
  ld.shared.u8 %h, [%k+1]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[128];',
    code: 'CM6110',
  },
  {
    what: 'halves of words of shared memory that are written and then read by others',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 1; add.u32 %i, %k, %i; cvt.u16.u32 %h, %t; st.shared.u16 [%i], %h; bar.sync 0;
  xor.b32 %y, %t, 1; shl.b32 %y, %y, 1; add.u32 %i, %k, %y; ld.shared.u16 %h, [%i]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[128];',
  },
  {
    what: 'halves of words of shared memory whose other half is initialized',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 2; add.u32 %k, %k, %i; cvt.u16.u32 %h, %t; st.shared.u16 [%k], %h; bar.sync 0;
  ld.shared.u16 %h, [%k+2]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[256];',
    code: 'CM6110',
  },
  {
    what: 'halves of words of shared memory with one initialized byte',
    body: `mov.u32 %k, cells; shl.b32 %i, %t, 2; add.u32 %k, %k, %i; cvt.u16.u32 %h, %t; st.shared.u8 [%k], %h; bar.sync 0;
  ld.shared.u16 %h, [%k]; cvt.u32.u16 %x, %h;`,
    shared: '.shared .align 4 .b8 cells[256];',
    code: 'CM6110',
  },
  {
    what: 'a byte of a buffer behind the initialized ones',
    body: 'cvt.u64.u32 %w, %g; add.s64 %at, %b, %w; ld.global.u8 %h, [%at]; cvt.u32.u16 %x, %h;',
    launch: { args: [bufferOf(), { bytes: 512, written: new Uint8Array(127) }, bufferOf()] },
    code: 'CM6110',
  },
  {
    what: 'contiguous indices from -2^31 whose byte offsets are in bounds modulo 2^32',
    body: 'sub.u32 %i, %g, 0x80000000; mul.wide.s32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    what: 'stride 2',
    body: 'mul.wide.s32 %w, %g, 8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [new Uint8Array(252), bufferOf(), bufferOf()] },
  },
  {
    what: 'stride 2 with the last word behind the end',
    body: 'mul.wide.s32 %w, %g, 8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [new Uint8Array(248), bufferOf(), bufferOf()] },
    code: 'CM6101',
  },
  {
    what: 'stride -2 from the end with the last word before the start',
    body: 'mul.wide.s32 %w, %g, -8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at+244];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [new Uint8Array(248), bufferOf(), bufferOf()] },
    code: 'CM6101',
  },
  {
    what: 'stride 2 with uninitialized last words',
    body: 'mul.wide.s32 %w, %g, 8; add.s64 %at, %b, %w; ld.global.u32 %x, [%at];',
    launch: { grid: [1, 1, 1], block: [32, 1, 1], args: [bufferOf(), { bytes: 256, written: new Uint8Array(240) }, bufferOf()] },
    code: 'CM6110',
  },
  {
    what: 'stride 2, and the words between by the threads of the other half',
    body: `mul.wide.s32 %w, %g, 8; add.s64 %at, %a, %w; st.global.u32 [%at], %g;
  xor.b32 %i, %g, 16; mul.wide.s32 %w, %i, 8; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];`,
    launch: { grid: [1, 1, 1], block: [32, 1, 1] },
    code: 'CM6120',
  },
  {
    what: 'the uniform index 2^30, whose byte offset is in bounds modulo 2^32',
    body: 'or.b32 %i, %n, 1073741824; mul.wide.u32 %w, %i, 4; add.s64 %at, %a, %w; ld.global.u32 %x, [%at];',
    code: 'CM6101',
  },
  {
    // 31 steps of 138547332 are -4 modulo 2^32, and 124 of them -16: every offset is in bounds modulo 2^32, and the last thread's index is small.
    what: 'a stride that wraps around, with a small index in the last of 32 threads',
    body: 'mul.lo.s32 %i, %t, 138547332; mul.wide.s32 %w, %i, 124; add.s64 %at, %a, %w; ld.global.u32 %x, [%at+496];',
    launch: { block: [32, 1, 1] },
    code: 'CM6101',
  },
];

cases.push({
  what: 'a loop that spins on a plain load of what another thread of the warp writes',
  body: `setp.eq.u32 %p, %t, 0; @%p bra W;
  L: ld.global.u32 %x, [%a]; setp.eq.u32 %q, %x, 0; @%q bra L; bra E;
  W: st.global.u32 [%a], 7;
  E:`,
  code: 'CM6120',
});

for (const { what, body, shared, launch, code } of cases)
  test(what, () => {
    const text = kernel(body, shared);
    const [fast, precise] = [false, true].map((isPrecise) => runSanitized(text, { ...shape, ...buffers, ...launch }, isPrecise)) as [
      ReturnType<typeof runSanitized>,
      ReturnType<typeof runSanitized>,
    ];
    assert.is(precise.messages[0]?.slice(0, 6), code);
    assert.equal(fast.messages, precise.messages);
    assert.equal(fast.buffers, precise.buffers);
    assert.ok(fast.isFast);
    assert.is(fast.isFallback, code !== undefined);
  });

test('when the clock of the shadow memory overflows, cells are simplified without a loss of findings', () => {
  // More blocks than clock values: the last block reads what the first has written.
  const blocks = 2 ** 17;
  const write = (last: string): string =>
    `setp.eq.u32 %p, %g, 0; @%p st.global.u32 [%a], 7; mov.u32 %i, %ctaid.x; setp.eq.u32 %q, %i, ${blocks - 1}; @%q ${last}`;
  const launch: SanitizedLaunch = {
    grid: [blocks, 1, 1],
    block: [32, 1, 1],
    args: [bufferOf(), bufferOf(), new Uint8Array(4 * 32 * blocks)],
  };
  assert.ok(runSanitized(kernel(write('ld.global.u32 %x, [%a];')), launch, false).isFallback);
  for (const kinds of [sanitizeKinds, ['memory']] as const)
    assert.not.ok(runSanitized(kernel(write('ld.global.u32 %x, [%a+4];')), { ...launch, kinds }, false).isFallback);
});

test.run();
