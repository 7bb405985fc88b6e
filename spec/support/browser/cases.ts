/** Cases for pages: the examples with their recorded launches, programs made at random, and kernels of what engines may do differently. */
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { cpuInfo } from '../../../src/device/cpu/index.ts';
import { bindArguments } from '../../../src/runtime/bind.ts';
import { fillPlan } from '../../../src/runtime/default-launch.ts';
import { splitMix64 } from '../../../src/runtime/rand.ts';
import { assertQuiet, compileExample, diskIo, exampleNames, exampleText, recordedLaunch } from '../examples.ts';
import { fuzzForms } from '../fuzz.ts';
import { printCall, printingModule } from '../printing.ts';
import { bytesOfThread, threads as fuzzThreads, randomInput, randomProgram } from '../random-ptx.ts';
import type { Case } from './answers.ts';

const base64 = (bytes: ArrayBufferView): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
const bufferOf = (bytes: ArrayBufferView): Case['args'][number] => ({ bytes: base64(bytes), isBuffer: true });
const bytesOf = (bytes: ArrayBufferView): Case['args'][number] => ({ bytes: base64(bytes), isBuffer: false });

const shape = { kernel: 'k', options: {}, shared: 0, timeoutMs: 60_000, isWatched: false } as const;

function exampleCase(name: string): Case {
  const plan = recordedLaunch(name);
  const { reflection } = compileExample(name);
  const diagnostics = new Diagnostics();
  const kernel = reflection.kernels.find((each) => each.name === plan.kernel) ?? reflection.kernels[0]!;
  const full = fillPlan(plan, kernel, cpuInfo.limits);
  const bound = bindArguments(full, kernel, diskIo, diagnostics)!;
  assertQuiet(diagnostics);
  const args = bound.map((each) =>
    each.kind === 'buffer' ? bufferOf(each.buffer.bytes) : bytesOf(each.kind === 'bytes' ? each.bytes : new Uint8Array(8)),
  );
  const { grid, block, sharedBytes: shared } = full;
  return { ...shape, name, text: exampleText(name), kernel: kernel.name, grid, block, shared, args };
}

/** Every example, as it was launched on a GPU. */
export const exampleCases = (): Case[] => exampleNames.map(exampleCase);

/** Programs made at random, by their numbers in the recording (`fixtures/h200/fuzz.json`). */
export function randomCases(from: number, numbers: readonly number[]): Case[] {
  const forms = fuzzForms();
  const input = bufferOf(randomInput());
  const output = bufferOf(new Uint8Array(fuzzThreads * bytesOfThread).fill(0xa5));
  return numbers.map((i) => ({
    ...shape,
    name: `program ${i}`,
    text: randomProgram(from + i, forms),
    options: i % 2 === 1 ? { target: 'cpu', fp64: 'native' } : { target: 'macos15' },
    kernel: 'fuzz',
    grid: [1, 1, 1],
    block: [fuzzThreads, 1, 1],
    args: [input, output],
  }));
}

const head = '.version 9.0\n.target sm_90\n.address_size 64\n';

/** A kernel of the parameters `from` and `to`; `t` is the number of the thread, `p` and `o` are where it reads and writes so many bytes. */
const kernelOf = (reads: number, writes: number, body: string, more = ''): string => `${head}${more}
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred q, q<4>; .reg .b16 h<8>; .reg .b32 t, i, n, r<24>; .reg .b64 p, o, w<12>; .reg .f32 f<24>; .reg .f64 d<12>;
  ld.param.u64 p, [from]; ld.param.u64 o, [to];
  mov.u32 t, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 i, %tid.x; mad.lo.u32 t, t, n, i;
  mul.wide.u32 w0, t, ${reads}; add.u64 p, p, w0; ld.global.u32 r0, [p]; mul.wide.u32 w0, t, ${writes}; add.u64 o, o, w0;
${body}
  ret;
}
`;

/** Stores a single or a double, every NaN as one. */
const storeSingle = (name: string, at: number): string =>
  `  setp.nan.f32 q, ${name}, ${name}; selp.f32 ${name}, 0f7fc00000, ${name}, q; st.global.f32 [o+${at}], ${name};`;
const storeDouble = (name: string, at: number): string =>
  `  setp.nan.f64 q, ${name}, ${name}; selp.f64 ${name}, 0d7ff8000000000000, ${name}, q; st.global.f64 [o+${at}], ${name};`;

const singles = kernelOf(
  12,
  32,
  `  ld.global.f32 f1, [p]; ld.global.f32 f2, [p+4]; ld.global.f32 f3, [p+8]; abs.f32 f4, f1;
  fma.rn.f32 f8, f1, f2, f3; fma.rz.f32 f9, f1, f2, f3; div.rn.f32 f10, f1, f2; sqrt.rn.f32 f11, f4;
  add.rp.f32 f12, f1, f3; mul.rm.f32 f13, f1, f2; fma.rn.ftz.f32 f14, f1, f2, f3; rcp.rn.f32 f15, f3;
${[8, 9, 10, 11, 12, 13, 14, 15].map((n, i) => storeSingle(`f${n}`, 4 * i)).join('\n')}`,
);

/** A chain of fused sums, which an engine comes to compile better while it runs. */
const chain = kernelOf(
  12,
  4,
  `  ld.global.f32 f1, [p]; ld.global.f32 f2, [p+4]; ld.global.f32 f3, [p+8];
  and.b32 r1, t, 1; cvt.rn.f32.u32 f4, r1; mov.u32 i, 0;
again:
  fma.rn.f32 f4, f4, 0f3f7fffef, f1; fma.rn.f32 f5, f2, f3, f4; fma.rn.f32 f4, f5, 0f3eaaaaab, f4;
  add.u32 i, i, 1; setp.lt.u32 q1, i, 3000; @q1 bra again;
${storeSingle('f4', 0)}`,
);

const doubles = kernelOf(
  24,
  48,
  `  ld.global.f64 d1, [p]; ld.global.f64 d2, [p+8]; ld.global.f64 d3, [p+16]; abs.f64 d4, d1;
  fma.rn.f64 d5, d1, d2, d3; div.rn.f64 d6, d1, d2; sqrt.rn.f64 d7, d4; add.rm.f64 d8, d1, d3; mul.rz.f64 d9, d1, d2;
  cvt.rn.f32.f64 f1, d1; cvt.f64.f32 d10, f1;
${[5, 6, 7, 8, 9, 10].map((n, i) => storeDouble(`d${n}`, 8 * i)).join('\n')}`,
);

const halves = kernelOf(
  12,
  8,
  `  ld.global.u16 h1, [p]; ld.global.u16 h2, [p+4]; ld.global.u16 h3, [p+8];
  fma.rn.f16 h4, h1, h2, h3; setp.nan.f16 q1, h4, h4; selp.b16 h4, 0x7fff, h4, q1; st.global.u16 [o], h4;
  fma.rn.bf16 h5, h1, h2, h3; setp.nan.bf16 q1, h5, h5; selp.b16 h5, 0x7fff, h5, q1; st.global.u16 [o+2], h5;
  ld.global.f32 f1, [p]; cvt.rn.f16.f32 h6, f1; setp.nan.f16 q1, h6, h6; selp.b16 h6, 0x7fff, h6, q1; st.global.u16 [o+4], h6;
  cvt.rn.bf16.f32 h7, f1; setp.nan.bf16 q1, h7, h7; selp.b16 h7, 0x7fff, h7, q1; st.global.u16 [o+6], h7;`,
);

/** Of whole numbers and their thirds, so that every function is where it is used. */
const approximate = kernelOf(
  12,
  32,
  `  cvt.rn.f32.u32 f1, t; mul.f32 f1, f1, 0f3eaaaaab; add.f32 f1, f1, 0f3a83126f; mul.f32 f2, f1, 0f3c23d70a;
  ex2.approx.f32 f8, f2; lg2.approx.f32 f9, f1; sin.approx.f32 f10, f1; cos.approx.f32 f11, f1;
  tanh.approx.f32 f12, f2; rsqrt.approx.f32 f13, f1; div.full.f32 f14, f2, f1; sqrt.approx.f32 f15, f1;
${[8, 9, 10, 11, 12, 13, 14, 15].map((n, i) => storeSingle(`f${n}`, 4 * i)).join('\n')}`,
);

/** Shuffles, votes and reductions, in halves of warps too. */
const warps = kernelOf(
  12,
  40,
  `  ld.global.u32 r1, [p]; and.b32 r2, t, 31; and.b32 r3, r1, 31; setp.lt.u32 q1, r2, 16;
  shfl.sync.up.b32 r4, r1, 3, 0, 0xffffffff; shfl.sync.down.b32 r5|q2, r1, 5, 0x181f, 0xffffffff;
  shfl.sync.bfly.b32 r6, r1, 9, 31, 0xffffffff; shfl.sync.idx.b32 r7, r1, r3, 31, 0xffffffff;
  and.b32 r8, r1, 1; setp.ne.u32 q3, r8, 0; vote.sync.ballot.b32 r9, q3, 0xffffffff;
  redux.sync.add.u32 r10, r1, 0xffffffff; match.any.sync.b32 r11, r3, 0xffffffff; selp.u32 r12, 1, 0, q2;
  mov.u32 r13, 0;
  @!q1 bra others;
  redux.sync.max.u32 r13, r1, 0xffff; shfl.sync.bfly.b32 r14, r1, 1, 31, 0xffff; add.u32 r13, r13, r14;
  bra.uni meet;
others:
  redux.sync.min.s32 r13, r1, 0xffff0000;
meet:
  st.global.u32 [o], r4; st.global.u32 [o+4], r5; st.global.u32 [o+8], r6; st.global.u32 [o+12], r7; st.global.u32 [o+16], r9;
  st.global.u32 [o+20], r10; st.global.u32 [o+24], r11; st.global.u32 [o+28], r12; st.global.u32 [o+32], r13; st.global.u32 [o+36], r2;`,
);

/** Sums within a block by halves, with a barrier for each, and a vote of the block. */
const meeting = kernelOf(
  12,
  8,
  `  ld.global.u32 r1, [p]; mov.u32 r2, row; mov.u32 r3, %tid.x; shl.b32 r4, r3, 2; add.u32 r4, r4, r2; st.shared.u32 [r4], r1;
  mov.u32 r5, 64;
again:
  bar.sync 0; setp.lt.u32 q1, r3, r5; shl.b32 r6, r5, 2; add.u32 r6, r6, r4;
  @q1 ld.shared.u32 r7, [r6]; @q1 ld.shared.u32 r8, [r4]; @q1 add.u32 r8, r8, r7; @q1 st.shared.u32 [r4], r8;
  shr.u32 r5, r5, 1; setp.ne.u32 q2, r5, 0; @q2 bra again;
  bar.sync 0; ld.shared.u32 r9, [r2]; setp.gt.u32 q3, r1, r9; barrier.sync 0; bar.red.popc.u32 r10, 0, q3;
  st.global.u32 [o], r9; st.global.u32 [o+4], r10;`,
  '.shared .align 4 .b32 row[128];',
);

/** Atomics whose end does not hang on their order, and one in shared memory. \`to\` is one place for all. */
const atomics = `${head}
.shared .align 8 .b32 own[2];
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred q; .reg .b32 t, i, n, r<9>; .reg .b64 p, o, w<6>;
  ld.param.u64 p, [from]; ld.param.u64 o, [to];
  mov.u32 t, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 i, %tid.x; mad.lo.u32 t, t, n, i;
  mul.wide.u32 w0, t, 12; add.u64 p, p, w0; ld.global.u32 r1, [p]; ld.global.u32 r4, [p+4]; ld.global.u32 r5, [p+8]; mov.b64 w1, {r4, r5};
  setp.eq.u32 q, i, 0; mov.u32 r2, own; @q st.shared.u32 [r2], 0; bar.sync 0;
  red.global.add.u32 [o], r1; red.global.max.s32 [o+4], r1; red.global.xor.b32 [o+8], r1; red.global.min.u32 [o+12], r1;
  red.global.add.f32 [o+16], 0f3f000000;
  red.global.add.u64 [o+24], w1; red.global.max.u64 [o+32], w1; red.global.add.f64 [o+40], 0d3ff8000000000000;
  atom.global.inc.u32 r3, [o+48], 999;
  ld.global.u32 r4, [o+52];
retry: add.u32 r5, r4, 5; atom.global.cas.b32 r6, [o+52], r4, r5; setp.ne.u32 q, r6, r4; mov.u32 r4, r6; @q bra retry;
  and.b32 r7, r1, 0xff; red.shared.add.u32 [r2], r7; bar.sync 0;
  setp.eq.u32 q, i, 0; @q ld.shared.u32 r8, [r2]; @q red.global.add.u32 [o+56], r8;
  ret;
}
`;

const printing = printingModule(
  { line: 'thread %d: %x, %5.2f and %s%c', word: 'words' },
  `mad.lo.u32 x, t, 2654435769, 5; cvt.rn.f64.u32 d, t; mul.f64 d, d, 0d3fd3333333333333;
  st.local.u32 [depotat], t; st.local.u32 [depotat+4], x; st.local.f64 [depotat+8], d;
  mov.u64 s0, word; cvta.global.u64 s0, s0; st.local.u64 [depotat+16], s0; mov.u32 y, 10; st.local.u32 [depotat+24], y;
  ${printCall('line', 'list')}`,
);

const fault = (name: string, body: string): [string, string] => [name, kernelOf(12, 4, body)];
const beyond = 'setp.eq.u32 q, t, 1234; mov.u64 w1, 0xE0000000; @q add.u64 o, o, w1;';
const faults: readonly (readonly [string, string])[] = [
  fault('a store far outside', `${beyond} st.global.u32 [o], t;`),
  fault('a load far outside', `${beyond} ld.global.u32 r1, [o]; st.global.u32 [p], r1;`),
  fault('an atomic that is misaligned', 'setp.eq.u32 q, t, 777; @q add.u64 o, o, 2; red.global.add.u32 [o], t;'),
  fault('a trap', 'setp.ne.u32 q, t, 100; @q bra on; trap;\non: st.global.u32 [o], t;'),
  fault('a loop without end', 'again: ld.volatile.global.u32 r1, [p]; setp.ne.u32 q, r1, 0xabcdef; @q bra again; st.global.u32 [o], r1;'),
  // Blocks of the loop above wait by turns in one thread; those of this one run in all of them.
  fault('a loop without end that waits for nothing', 'again: add.u32 r1, r1, 1; st.volatile.global.u32 [o], r1; bra again;'),
];

/** Bits of all kinds: numbers of every size, and those at the edges. */
function bitsFor(count: number): Uint32Array {
  const draw = splitMix64(7n);
  const edges = [0, 0x80000000, 1, 0x7fffff, 0x800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x42c20000, 0x4828e840];
  return Uint32Array.from({ length: count }, () => {
    const bits = Number(draw() >> 32n);
    if (bits % 16 === 0) return edges[(bits >>> 4) % edges.length]!;
    // Near one another, so that sums are not one of their operands.
    return bits % 2 === 0 ? bits : ((bits & 0x807fffff) | ((0x70 + ((bits >>> 23) % 24)) << 23)) >>> 0;
  });
}

/** Kernels of what engines may do differently, and of what goes wrong. */
export function ownCases(): Case[] {
  const [blocks, threads] = [48, 128];
  const input = bufferOf(bitsFor(blocks * threads * 6));
  const make = (name: string, text: string, writes: number, more: Partial<Case> = {}): Case => {
    const args = [input, bufferOf(new Uint8Array(Math.max(64, blocks * threads * writes)))];
    return { ...shape, name, text, grid: [blocks, 1, 1], block: [threads, 1, 1], args, ...more };
  };
  const native = { options: { target: 'cpu', fp64: 'native' } } as const;
  const cpu = { options: { target: 'cpu' } } as const;
  // The threads of a block take turns in a loop that waits, so one of several is named by chance.
  const endless = { ...cpu, timeoutMs: 300, block: [1, 1, 1] } as const;
  return [
    make('singles', singles, 32),
    make('a chain of fused sums', chain, 4),
    make('doubles in integers', doubles, 48),
    make('doubles', doubles, 48, native),
    make('halves', halves, 8),
    make('functions', approximate, 32),
    make('functions, one thread at a time', approximate, 32, { grid: [blocks * 8, 1, 1], block: [threads / 8, 1, 1] }),
    make('warps', warps, 40),
    make('barriers and shared memory', meeting, 8),
    make('atomics', atomics, 0, cpu),
    { ...make('printf', printing, 4, { grid: [3, 1, 1], block: [40, 1, 1] }), args: [bufferOf(new Uint8Array(4 * 40))] },
    ...faults.map(([name, text]) => make(name, text, 4, name.startsWith('a loop') ? endless : cpu)),
    make('a store outside that is looked for', kernelOf(12, 4, 'add.u64 o, o, 8; st.global.u32 [o], t;'), 4, {
      options: { target: 'cpu', sanitize: true },
      isWatched: true,
      grid: [2, 1, 1],
      args: [input, bufferOf(new Uint8Array(4 * 2 * threads))],
    }),
  ];
}
