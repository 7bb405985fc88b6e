/**
 * Products of sparse matrices, of small floats and with scales (`mma.sp`, `mma` with a `.kind`) against a model in doubles and integers, from the
 * layouts of the manual. Source: PTX ISA 9.0, 9.7.14.3, 9.7.14.5 and 9.7.14.6.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { numberOf as wideNumberOf } from '../support/wgmma.ts';
import { metallibOf, randomFrom } from '../support/wgmma-trials.ts';

const test = suite('device/mma-sparse');

interface Form {
  readonly text: string;
  readonly k: number;
  readonly a: string;
  readonly b: string;
  readonly d: 'f16' | 'f32' | 's32';
  readonly isSparse: boolean;
  readonly selector: number;
  /** Scales of a row, and their type. */
  readonly scales?: readonly [1 | 2 | 4, 'ue8m0' | 'ue4m3'];
  /** Numbers of the byte and the thread of the scales of a and b. */
  readonly numbers?: readonly [number, number, number, number];
}

const widths: Record<string, number> = {
  f16: 16,
  bf16: 16,
  tf32: 32,
  e4m3: 8,
  e5m2: 8,
  e3m2: 8,
  e2m3: 8,
  e2m1: 8,
  p4: 4,
  s8: 8,
  u8: 8,
  s4: 4,
  u4: 4,
};

/** A float of `exponent` and `mantissa` bits without infinities and NaNs. */
function finite(exponent: number, mantissa: number, word: number): number {
  const [e, m] = [(word >> mantissa) & (2 ** exponent - 1), word & (2 ** mantissa - 1)];
  const bias = 2 ** (exponent - 1) - 1;
  const size = e === 0 ? (m / 2 ** mantissa) * 2 ** (1 - bias) : (1 + m / 2 ** mantissa) * 2 ** (e - bias);
  return (word >> (exponent + mantissa)) & 1 ? -size : size;
}

/** The number of an element by its container. */
function numberOf(type: string, word: number): number {
  if (type === 'e3m2') return finite(3, 2, word);
  if (type === 'e2m3') return finite(2, 3, word);
  // Four bits are in the middle of a byte.
  if (type === 'e2m1') return finite(2, 1, (word >> 2) & 15);
  if (type === 'p4') return finite(2, 1, word);
  if (type === 's4') return (word << 28) >> 28;
  if (type === 'u4') return word;
  return wideNumberOf(type as 'f16', word);
}

const registersOf = (form: Form, of: 'a' | 'b' | 'd'): number => {
  if (of === 'd') return form.d === 'f16' ? 2 : 4;
  const held = of === 'a' && form.isSparse ? form.k / 2 : form.k;
  return (held * widths[form[of]]! * (of === 'a' ? 2 : 1)) / 128;
};

function kernelOf(form: Form): string {
  const list = (letter: string, count: number): string => `{${Array.from({ length: count }, (_, i) => `%${letter}${i}`).join(', ')}}`;
  const [a, b, d] = [registersOf(form, 'a'), registersOf(form, 'b'), registersOf(form, 'd')];
  const type = form.d === 'f32' ? 'f32' : 'b32';
  const [byteA, threadA, byteB, threadB] = form.numbers ?? [];
  const tail = [
    ...(form.isSparse ? ['%e', String(form.selector)] : []),
    ...(form.scales ? ['%s', `{${byteA}, ${threadA}}`, '%t', `{${byteB}, ${threadB}}`] : []),
  ];
  const load = (letter: string, count: number, from: number): string =>
    Array.from({ length: count }, (_, i) => `ld.global.b32 %${letter}${i}, [%p+${4 * (from + i)}];`).join(' ');
  return `.version 8.8
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 pi, .param .u64 po)
{
  .reg .b32 %a<4>, %b<4>, %e, %s, %t, %r; .reg .${type} %c<4>, %d<4>; .reg .b64 %p, %q, %o;
  ld.param.u64 %p, [pi]; ld.param.u64 %q, [po];
  mov.u32 %r, %laneid; mul.wide.u32 %o, %r, 64; add.u64 %p, %p, %o; mul.wide.u32 %o, %r, 16; add.u64 %q, %q, %o;
  ${load('a', a, 0)} ${load('b', b, 4)}
  ${load('c', d, 8).replaceAll('ld.global.b32', `ld.global.${type}`)}
  ld.global.b32 %e, [%p+48]; ld.global.b32 %s, [%p+52]; ld.global.b32 %t, [%p+56];
  ${form.text} ${[list('d', d), list('a', a), list('b', b), list('c', d), ...tail].join(', ')};
  ${Array.from({ length: d }, (_, i) => `st.global.${type} [%q+${4 * i}], %d${i};`).join(' ')}
  ret;
}
`;
}

/** The words of a thread: four of a, four of b, four of c, positions, and two of scales. */
const stride = 16;

/** Row (of a) or column (of b) and place along k of an element: the word that has it, and its lowest bit. */
function placeOf(of: 'a' | 'b', width: number, line: number, along: number): readonly [word: number, bit: number] {
  const each = 32 / width;
  const thread = Math.floor(along / each) % 4;
  const block = Math.floor(along / (4 * each));
  const register = of === 'a' ? 2 * block + Math.floor(line / 8) : 4 + block;
  return [(4 * (line % 8) + thread) * stride + register, width * (along % each)];
}

/** The bits of a row's positions from a number on. */
function positionOf(form: Form, words: Uint32Array, row: number, bit: number, count: number): number {
  const width = widths[form.a]!;
  const [group, half] = [row % 8, Math.floor(row / 8)];
  const wordOf = (thread: number): number => words[(4 * group + thread) * stride + 12]!;
  const perRow = width === 32 ? 2 * form.k : width === 4 ? form.k / 2 : form.k;
  let word: number;
  let at: number;
  if (width >= 16) {
    // Rows g and g + 8 in the halves of a word, 16 bits of each.
    word = wordOf(form.selector * (perRow / 16) + Math.floor(bit / 16));
    at = 16 * half + (bit % 16);
  } else if (perRow === 32) {
    // Rows g and g + 8 in the words of two threads.
    word = wordOf(2 * form.selector + half);
    at = bit;
  } else {
    word = wordOf(half + 2 * Math.floor(bit / 32));
    at = bit % 32;
  }
  return (word >>> at) & (2 ** count - 1);
}

/** The column of an element that is held. */
function columnOf(form: Form, words: Uint32Array, row: number, held: number): number {
  const width = widths[form.a]!;
  if (width === 32) return 2 * held + (positionOf(form, words, row, 4 * held, 4) === 0b1110 ? 1 : 0);
  if (width === 4) return 8 * Math.floor(held / 4) + 2 * positionOf(form, words, row, 2 * Math.floor(held / 2), 2) + (held % 2);
  return 4 * Math.floor(held / 2) + positionOf(form, words, row, 2 * held, 2);
}

function scaleOf(type: 'ue8m0' | 'ue4m3', byte: number): number {
  return type === 'ue8m0' ? 2 ** (byte - 127) : finite(4, 3, byte & 0x7f);
}

const pairsOfTwo = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110];

function randomWords(form: Form, random: (below: number) => number): Uint32Array {
  const words = Uint32Array.from({ length: 32 * stride }, () => random(2 ** 32));
  const moderate = (word: number, type: string): number => {
    const bytes = new Uint8Array(Uint32Array.of(word).buffer);
    const top = { f16: 0x43, bf16: 0x40, tf32: 0x40, e4m3: 0x4f, e5m2: 0x47, f32: 0x40 }[type];
    const step = { f16: 2, bf16: 2, tf32: 4, f32: 4 }[type] ?? 1;
    if (top !== undefined)
      for (let i = step - 1; i < 4; i += step) bytes[i] = (bytes[i]! & 0x80) | (top - (bytes[i]! & (step === 1 ? 0x1f : 7)));
    return new Uint32Array(bytes.buffer)[0]!;
  };
  for (let thread = 0; thread < 32; thread++) {
    const at = thread * stride;
    for (let i = 0; i < 4; i++) {
      words[at + i] = moderate(words[at + i]!, form.a);
      words[at + 4 + i] = moderate(words[at + 4 + i]!, form.b);
      words[at + 8 + i] = form.d === 's32' && i === 0 ? 0x7fffff00 : moderate(words[at + 8 + i]!, form.d);
    }
    const choices = form.a === 'tf32' ? [0b0100, 0b1110] : pairsOfTwo;
    words[at + 12] = Array.from({ length: 8 }, (_, i) => choices[random(choices.length)]! << (4 * i)).reduce((all, each) => all | each, 0);
    const scale = (): number => (form.scales?.[1] === 'ue4m3' ? random(0x7f) : 120 + random(14));
    for (const i of [13, 14]) words[at + i] = scale() | (scale() << 8) | (scale() << 16) | (scale() << 24);
  }
  return words;
}

function check(form: Form, random: (below: number) => number): void {
  const words = randomWords(form, random);
  const after = launchMetallib(metallibOf(kernelOf(form)), {
    kernel: 'k',
    blocks: 1,
    threads: 32,
    args: [words, new Uint32Array(128)],
  })[1]!;
  const out = new Uint32Array(after.buffer, after.byteOffset, 128);
  const [floats, before] = [new Float32Array(out.buffer, out.byteOffset, 128), new Float32Array(words.buffer)];
  const element = (of: 'a' | 'b', line: number, along: number): number => {
    const [word, bit] = placeOf(of, widths[form[of]]!, line, along);
    return numberOf(form[of], (words[word]! >>> bit) & (2 ** widths[form[of]]! - 1)) as number;
  };
  const tf32 = (of: 'a' | 'b', line: number, along: number): number => wideNumberOf('tf32', words[placeOf(of, 32, line, along)[0]]!);
  const read = (of: 'a' | 'b', line: number, along: number): number =>
    form[of] === 'tf32' ? tf32(of, line, along) : element(of, line, along);
  for (let row = 0; row < 16; row++) {
    const line = new Array<number>(form.k).fill(0);
    for (let i = 0; i < (form.isSparse ? form.k / 2 : form.k); i++)
      line[form.isSparse ? columnOf(form, words, row, i) : i] = read('a', row, i);
    for (let column = 0; column < 8; column++) {
      const scale = (step: number): number => {
        if (!form.scales || !form.numbers) return 1;
        const [byteA, threadA, byteB, threadB] = form.numbers;
        const left = words[(4 * (row % 8) + 2 * threadA + Math.floor(row / 8)) * stride + 13]! >>> (8 * (byteA + step));
        const right = words[(4 * column + threadB) * stride + 14]! >>> (8 * (byteB + step));
        return scaleOf(form.scales[1], left & 255) * scaleOf(form.scales[1], right & 255);
      };
      const perStep = form.k / (form.scales?.[0] ?? 1);
      const terms = line.map((each, i) => each * read('b', column, i) * scale(Math.floor(i / perStep)));
      const [thread, part] = [4 * (row % 8) + Math.floor(column / 2), 2 * Math.floor(row / 8) + (column % 2)];
      const halfOf = (word: number): number => wideNumberOf('f16', (word >>> (16 * (part & 1))) & 0xffff);
      const isHalf = form.d === 'f16';
      const c = isHalf
        ? halfOf(words[thread * stride + 8 + (part >> 1)]!)
        : form.d === 's32'
          ? words[thread * stride + 8 + part]! | 0
          : before[thread * stride + 8 + part]!;
      const exact = terms.reduce((sum, each) => sum + each, c);
      const at = `${form.text}: row ${row}, column ${column}`;
      if (form.d === 's32') {
        const want = form.text.includes('satfinite') ? Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, exact)) : exact | 0;
        assert.is(out[4 * thread + part]! | 0, want, at);
        continue;
      }
      const got = isHalf ? halfOf(out[4 * thread + (part >> 1)]!) : floats[4 * thread + part]!;
      const size = terms.reduce((sum, each) => sum + Math.abs(each), Math.abs(c));
      const tolerance = (form.k + 1) * 2 ** -23 * size + (isHalf ? Math.max(2 ** -24, Math.abs(exact) * 2 ** -11) : 0);
      assert.ok(Math.abs(got - exact) <= tolerance || (isHalf && Math.abs(exact) > 65000), `${at} is ${got}, not ${exact}`);
    }
  }
}

const plain = { isSparse: false, selector: 0 } as const;
const sparse = (k: number, types: string, a: string, b: string, d: Form['d'], selector = 0, option = ''): Form => {
  const variant = selector % 2 || k > 100 ? 'sp::ordered_metadata' : 'sp';
  return { text: `mma.${variant}.sync.aligned.m16n8k${k}.row.col${option}.${types}`, k, a, b, d, isSparse: true, selector };
};

const forms: readonly Form[] = [
  ...[0, 1, 2, 3].map((selector) => sparse(16, 'f16.f16.f16.f16', 'f16', 'f16', 'f16', selector)),
  ...[0, 1].map((selector) => sparse(32, 'f32.f16.f16.f32', 'f16', 'f16', 'f32', selector)),
  sparse(16, 'f32.bf16.bf16.f32', 'bf16', 'bf16', 'f32', 2),
  sparse(32, 'f32.bf16.bf16.f32', 'bf16', 'bf16', 'f32', 1),
  sparse(8, 'f32.tf32.tf32.f32', 'tf32', 'tf32', 'f32', 3),
  sparse(16, 'f32.tf32.tf32.f32', 'tf32', 'tf32', 'f32', 1),
  sparse(64, 'f32.e4m3.e5m2.f32', 'e4m3', 'e5m2', 'f32'),
  ...[0, 1].map((selector) => sparse(32, 's32.s8.u8.s32', 's8', 'u8', 's32', selector)),
  sparse(64, 's32.u8.s8.s32', 'u8', 's8', 's32', 0, '.satfinite'),
  ...[0, 1].map((selector) => sparse(64, 's32.u4.s4.s32', 'u4', 's4', 's32', selector)),
  sparse(128, 's32.s4.s4.s32', 's4', 's4', 's32'),
  ...(['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1'] as const).flatMap((a, i, all): Form[] => {
    const b = all[(i + 2) % 5]!;
    const d = i % 2 ? 'f16' : 'f32';
    const scaled = { a, b, d: 'f32', scales: [1, 'ue8m0'], numbers: [i % 4, i % 2, (i + 1) % 4, (i + 2) % 4] } as const;
    const kind = 'kind::mxf8f6f4.block_scale.scale_vec::1X';
    return [
      { text: `mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.${d}.${a}.${b}.${d}`, k: 32, a, b, d, ...plain },
      { text: `mma.sync.aligned.m16n8k32.row.col.${kind}.f32.${a}.${b}.f32.ue8m0`, k: 32, ...plain, ...scaled },
      {
        text: `mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.${d}.${a}.${b}.${d}`,
        k: 64,
        a,
        b,
        d,
        isSparse: true,
        selector: 0,
      },
      {
        text: `mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.${kind}.f32.${a}.${b}.f32.ue8m0`,
        k: 64,
        isSparse: true,
        selector: 0,
        ...scaled,
      },
    ];
  }),
  ...(
    [
      ['mxf4', '', 2, 'ue8m0'],
      ['mxf4nvf4', '.scale_vec::2X', 2, 'ue8m0'],
      ['mxf4nvf4', '.scale_vec::4X', 4, 'ue4m3'],
    ] as const
  ).flatMap(([kind, vec, count, type], i): Form[] => {
    const numbers = count === 4 ? ([0, 1, 0, 3] as const) : ([2 * (i % 2), i % 2, 2, 2] as const);
    const same = { a: 'p4', b: 'p4', d: 'f32', scales: [count, type], numbers } as const;
    const tail = `kind::${kind}.block_scale${vec}.f32.e2m1.e2m1.f32.${type}`;
    return [
      { text: `mma.sync.aligned.m16n8k64.row.col.${tail}`, k: 64, ...plain, ...same },
      { text: `mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.${tail}`, k: 128, isSparse: true, selector: 0, ...same },
    ];
  }),
];

for (const [i, form] of forms.entries()) test(`${form.text}, ${form.selector}`, () => check(form, randomFrom(i + 1)));

test('a selector that names no threads is refused', () => {
  const form = sparse(64, 'f32.e4m3.e4m3.f32', 'e4m3', 'e4m3', 'f32', 1);
  const source = new SourceFile('k.ptx', kernelOf(form));
  const diagnostics = new Diagnostics(source);
  assert.is(compile(source, { target: 'cpu' }, diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ labels }) => labels[0]?.text),
    ['the positions of elements in threads number 1, of 1'],
  );
});

test.run();
