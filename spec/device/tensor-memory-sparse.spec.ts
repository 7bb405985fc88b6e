/**
 * Sparse products in tensor memory, shifts, copies that widen, and loads with a reduction. Where metadata lie is computed from the layouts that CUTLASS
 * has for them as strides (`sm1xx_sparse_config.inl`), in bits. No GPU was compared. Source: PTX ISA 9.0, 9.7.16.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openCpuDevice } from '../../src/device/index.ts';
import { launchTensor, wordsOf } from '../support/tensor-launch.ts';
import {
  type Choice,
  encode,
  type Factor,
  imageBytes,
  instruction,
  type Kind,
  kernelOf,
  leftColumn,
  leftScales,
  metadataColumn,
  random,
  rightScales,
  smem,
} from '../support/tensor-memory.ts';

const test = suite('device/tensor-memory-sparse');
const device = openCpuDevice({ threads: 1 });
test.after(() => device.close());
const launch = (text: string, blocks: number, args: readonly (Uint8Array | bigint | number)[]) => launchTensor(device, text, blocks, args);
const columns = 384;

/** Elements that are kept, bits of each, and the numbers 0 to 3 as bits. */
const kinds: Readonly<Record<Exclude<Kind, 'mxf4nvf4'>, { kept: number; bits: number; format: number; numbers: readonly number[] }>> = {
  f16: { kept: 16, bits: 16, format: 0, numbers: [0, 0x3c00, 0x4000, 0x4200] },
  tf32: { kept: 8, bits: 32, format: 2, numbers: [0, 0x3f800000, 0x40000000, 0x40400000] },
  i8: { kept: 32, bits: 8, format: 1, numbers: [0, 1, 2, 3] },
  f8f6f4: { kept: 32, bits: 8, format: 0, numbers: [0, 0x38, 0x40, 0x44] },
  mxf8f6f4: { kept: 32, bits: 8, format: 0, numbers: [0, 0x38, 0x40, 0x44] },
  mxf4: { kept: 64, bits: 4, format: 1, numbers: [0, 2, 4, 5] },
};
type SparseKind = keyof typeof kinds;

/** Chunks: elements of each, which are kept, and the bits of metadata that say so. */
const halves = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110].map((bits) => ({ bits, kept: [bits & 3, bits >> 2] }));
const chunks = (kind: SparseKind): { size: number; ways: readonly { bits: number; kept: readonly number[] }[] } => {
  if (kind === 'tf32')
    return {
      size: 2,
      ways: [
        { bits: 0b0100, kept: [0] },
        { bits: 0b1110, kept: [1] },
      ],
    };
  if (kind !== 'mxf4') return { size: 4, ways: halves };
  return { size: 8, ways: halves.map(({ bits, kept }) => ({ bits, kept: kept.flatMap((pair) => [2 * pair, 2 * pair + 1]) })) };
};

/** The bit of metadata of an element of a matrix of 128 rows, of which a lane has 128 bits: coordinates by strides. */
function metadataBit(kind: SparseKind, m: number, k: number): number {
  const [m0, m1, m2] = [m % 8, (m >> 3) % 2, m >> 4];
  if (kind === 'f16') return 128 * m0 + 16 * m1 + 2048 * m2 + (k % 16) + 1024 * ((k >> 4) % 2) + 32 * (k >> 5);
  if (kind === 'tf32') return 2 * (64 * m0 + 8 * m1 + 1024 * m2 + (k % 8) + 512 * ((k >> 3) % 2) + 16 * (k >> 4));
  return kind === 'mxf4' ? 128 * m + k / 2 : 128 * m + k;
}

const factor = (start: number, stride: number, format: number): Factor => ({
  ...{ start, leading: 128, stride, swizzle: 16, isAcross: false, format, isNegated: false },
});
/** The bit in shared memory of a bit of a row, in units of 16 bytes without a swizzle. */
const sharedBit = ({ start, leading, stride }: Factor, row: number, bit: number): number =>
  8 * (start + 16 * (row % 8) + stride * (row >> 3) + leading * (bit >> 7)) + (bit & 127);

function put(bytes: Uint8Array, at: number, width: number, value: number): void {
  for (let bit = 0; bit < width; bit++) {
    const mask = 1 << ((at + bit) & 7);
    bytes[(at + bit) >> 3] = (value / 2 ** bit) & 1 ? bytes[(at + bit) >> 3]! | mask : bytes[(at + bit) >> 3]! & ~mask;
  }
}

interface Trial {
  readonly kind: SparseKind;
  readonly by: Choice['by'];
  readonly m: number;
  readonly isInTensor: boolean;
}

function check({ kind, by, m, isInTensor }: Trial): void {
  const { kept, bits, format, numbers } = kinds[kind];
  const n = by === 'stationary' ? 64 : 32;
  const blocks = by === 'pair' ? 2 : 1;
  const isScaled = kind.startsWith('mx');
  const selector = kind === 'f16' || kind === 'tf32' ? random(2) : 0;
  const scales = isScaled ? { a: 0, b: 0, block: 32, arePowers: true, word: kind === 'mxf4' ? '.scale_vec::2X' : '' } : undefined;
  const choice = {
    ...{ kind, by, m, n, isInTensor, selector, scales, a: factor(0, 256, format), b: factor(20480, 512, format) },
    ...{ isAdded: true, isSaturated: false, divided: undefined, masks: [] },
  } as Choice;
  const image = new Uint8Array(blocks * imageBytes);
  const before = new Uint32Array(blocks * 128 * columns);
  const memory = new Uint8Array(before.buffer);
  const wordAt = (part: number, lane: number, column: number): number => (part * 128 + lane) * columns + column;
  const { size, ways } = chunks(kind);
  const depth = 2 * kept;
  const scaleOf = (column: number, row: number, part: number, k: number): number => {
    const byte = 4 * wordAt(part, row % 32, column + (row >> 5)) + Math.floor(k / 64);
    return isScaled ? 2 ** (memory[byte]! - 127) : 1;
  };
  for (const column of [leftScales, rightScales])
    for (let part = 0; part < blocks; part++)
      for (let lane = 0; lane < 32; lane++) for (let at = 0; at < 16; at++) memory[4 * wordAt(part, lane, column) + at] = 126 + random(3);
  const left = Array.from({ length: m }, (_, row) => {
    const [part, inside] = [Math.floor(row / (m / blocks)), row % (m / blocks)];
    const whole = new Array<number>(depth).fill(0);
    let next = 0;
    for (let from = 0; from < depth; from += size) {
      const way = ways[random(ways.length)]!;
      const bit = metadataBit(kind, inside, from) + 32 * selector;
      for (const copy of by === 'stationary' ? Array.from({ length: 128 / m }, (_, i) => i * m) : [0])
        put(memory, 32 * wordAt(part, (bit >> 7) + copy, metadataColumn) + (bit & 127), 4, way.bits);
      for (const at of way.kept) {
        const value = random(4);
        whole[from + at] = value * scaleOf(leftScales, inside, part, from);
        if (isInTensor) put(memory, 32 * wordAt(part, inside, leftColumn) + next * bits, bits, numbers[value]!);
        else put(image, 8 * part * imageBytes + sharedBit(choice.a, inside, next * bits), bits, numbers[value]!);
        next++;
      }
    }
    return whole;
  });
  const right = Array.from({ length: n }, (_, row) => {
    const [part, inside] = [Math.floor(row / (n / blocks)), row % (n / blocks)];
    return Array.from({ length: depth }, (_, k) => {
      const value = random(4);
      put(image, 8 * part * imageBytes + sharedBit(choice.b, inside, k * bits), bits, numbers[value]!);
      return value * scaleOf(rightScales, row, 0, k);
    });
  });
  const args = [image, new Uint8Array(before.buffer.slice(0)), smem(choice.a), smem(choice.b), instruction(choice)];
  const found = launch(kernelOf(choice, columns), blocks, args);
  assert.ok(typeof found !== 'string', `${kind} ${by}: ${found}`);
  const after = wordsOf(found[1]!);
  const floats = new Float32Array(after.buffer, after.byteOffset, after.length);
  for (let row = 0; row < m; row++)
    for (let column = 0; column < n; column++) {
      const [part, inside] = [Math.floor(row / (m / blocks)), row % (m / blocks)];
      const each = by === 'stationary' ? n / (128 / m) : n;
      const at = wordAt(part, inside + m * Math.floor(column / each), column % each);
      const sum = left[row]!.reduce((total, value, k) => total + value * right[column]![k]!, 0);
      assert.is(kind === 'i8' ? after[at] : floats[at], sum, `${kind} ${by} ${m} ${row} ${column}`);
    }
}

const trials: readonly Trial[] = [
  { kind: 'f16', by: 'pair', m: 256, isInTensor: true },
  { kind: 'f16', by: 'stationary', m: 64, isInTensor: false },
  { kind: 'tf32', by: 'one', m: 128, isInTensor: true },
  { kind: 'i8', by: 'one', m: 128, isInTensor: false },
  { kind: 'mxf4', by: 'one', m: 128, isInTensor: false },
];
for (const trial of trials)
  test(`a sparse factor of ${trial.kind}, ${trial.m} rows in ${trial.isInTensor ? 'tensor' : 'shared'} memory, ${trial.by}`, () =>
    check(trial));

const plain = (m: number, selector: number): Choice =>
  ({
    ...{ kind: 'f16', by: 'one', m, n: 16, isInTensor: false, selector, scales: undefined, a: factor(0, 256, 0), b: factor(20480, 512, 0) },
    ...{ isAdded: true, isSaturated: false, divided: undefined, masks: [] },
  }) as Choice;
test('what figures alone say stops a sparse product', () => {
  // Nobody waits for a product that is not computed.
  const stopped = (choice: Choice, descriptor: number): unknown =>
    launch(kernelOf(choice, 16).replace(/^WAIT:.*$/m, ''), 1, [
      new Uint8Array(imageBytes),
      new Uint8Array(128 * 64),
      smem(choice.a),
      smem(choice.b),
      descriptor,
    ]);
  assert.match(stopped(plain(64, 0), instruction(plain(64, 0))) as string, /fewer than 128 rows of a block/);
  assert.match(stopped(plain(128, 0), instruction(plain(128, 0)) & ~4) as string, /a product that is not sparse/);
});

test('rows are shifted in parts of 32 lanes', () => {
  const before = Uint32Array.from({ length: 128 * 32 }, () => random(2 ** 31));
  const of = (at: number, from: number, to: number): number => {
    const [lane, column] = [at >> 5, at & 31];
    const isMoved = lane >= from && lane < to && lane % 32 !== 31 && column >= 4 && column < 12;
    return before[isMoved ? at + 32 : at]!;
  };
  const body = (lane: number): string => encode.shared(`mov.u32 b, ${lane * 65536 + 4}; @first tcgen05.shift.cta_group::1.down [b];`);
  const run = (lane: number) =>
    launch(encode.around(body(lane), 32), 1, [new Uint8Array(imageBytes), new Uint8Array(before.slice().buffer)]);
  const found = run(64);
  assert.ok(typeof found !== 'string', `${found}`);
  assert.equal(
    [...wordsOf(found[1]!)],
    [...before.keys()].map((at) => of(at, 64, 96)),
  );
  assert.match(run(16) as string, /no multiple of 32/);
  // A product shifts its factor behind it: sums are those of the rows as they were.
  const choice = { ...plain(128, 0), kind: 'i8', isInTensor: true, isShifted: true, selector: undefined } as unknown as Choice;
  const words = new Uint32Array(128 * columns);
  for (let at = 0; at < words.length; at++) if (at % columns >= leftColumn && at % columns < leftColumn + 8) words[at] = random(2 ** 31);
  const image = new Uint8Array(imageBytes);
  for (let row = 0; row < 16; row++) image[sharedBit(choice.b, row, 0) >> 3] = 1;
  const shifted = launch(kernelOf(choice, columns), 1, [
    image,
    new Uint8Array(words.slice().buffer),
    smem(choice.a),
    smem(choice.b),
    instruction(choice),
  ]);
  assert.ok(typeof shifted !== 'string', `${shifted}`);
  const after = wordsOf(shifted[1]!);
  for (let lane = 0; lane < 128; lane++) {
    assert.is(after[columns * lane], words[columns * lane + leftColumn]! & 0xff, `sum of lane ${lane}`);
    const from = lane % 32 === 31 ? lane : lane + 1;
    assert.is(after[columns * lane + leftColumn + 7], words[columns * from + leftColumn + 7], `factor of lane ${lane}`);
  }
});

test('copies put numbers of 6 and 4 bits into the middle of a byte', () => {
  const image = Uint8Array.from({ length: imageBytes }, () => random(256));
  const bitsAt = (from: number, bits: number): number => {
    let value = 0;
    for (let bit = 0; bit < bits; bit++) value += ((image[(from + bit) >> 3]! >> ((from + bit) & 7)) & 1) << bit;
    return value;
  };
  for (const [format, bits, shift] of [
    ['b6x16_p32', 6, 1],
    ['b4x16_p64', 4, 2],
  ] as const) {
    const body = encode.shared(`@first tcgen05.cp.cta_group::1.128x256b.b8x16.${format} [a], desc;`);
    const descriptor = ((128n >> 4n) << 16n) | ((256n >> 4n) << 32n) | (1n << 46n);
    const found = launch(encode.around(body, 16), 1, [image, new Uint8Array(128 * 64), descriptor]);
    assert.ok(typeof found !== 'string', `${found}`);
    for (let lane = 0; lane < 128; lane++)
      for (let at = 0; at < 32; at++) {
        const unit = 256 * (lane >> 3) + 16 * (lane & 7) + 128 * (at >> 4);
        assert.is(found[1]![64 * lane + at], bitsAt(8 * unit + bits * (at & 15), bits) << shift, `${format} ${lane} ${at}`);
      }
  }
});

test('loads with a reduction', () => {
  const nan = 0x7fc00123;
  const words = Uint32Array.from({ length: 128 * 16 }, (_, at) =>
    at % 37 === 5 ? nan : at % 11 === 3 ? 0x80000000 : new Uint32Array(Float32Array.of(random(64) / 4 - 8).buffer)[0]!,
  );
  const floatOf = (bits: number): number => new Float32Array(Uint32Array.of(bits).buffer)[0]!;
  const bitsOf = (value: number): number => (Number.isNaN(value) ? 0x7fffffff : new Uint32Array(Float32Array.of(value).buffer)[0]!);
  const least = (list: readonly number[], keepsNaN: boolean): number => {
    const numbers = list.filter((value) => !Number.isNaN(value));
    return bitsOf((keepsNaN && numbers.length < list.length) || numbers.length === 0 ? Number.NaN : Math.min(...numbers));
  };
  const forms: readonly (readonly [string, string, string, (list: readonly number[]) => number])[] = [
    ['32x32b', 'min.f32', '', (list) => least(list.map(floatOf), false)],
    ['32x32b', 'min.NaN.f32', '', (list) => least(list.map(floatOf), true)],
    [
      '32x32b',
      'max.abs.f32',
      '',
      (list) =>
        bitsOf(
          Math.max(
            ...list
              .map(floatOf)
              .filter((value) => !Number.isNaN(value))
              .map(Math.abs),
          ),
        ),
    ],
    ['16x32bx2', 'max.u32', ', 4', (list) => Math.max(...list)],
    ['32x32b', 'min.s32', '', (list) => Math.min(...list.map((value) => value | 0)) >>> 0],
  ];
  const each = 5 * 128;
  const bodies = forms.map(([shape, op, split], form) => {
    const type = op.endsWith('f32') ? 'f32' : 'b32';
    return `{ .reg .${type} v<4>, r; .reg .b32 x; .reg .b64 o; mad.lo.u32 x, t, 20, ${4 * each * form}; cvt.u64.u32 %w, x; add.u64 o, out, %w;
tcgen05.ld.red.sync.aligned.${shape}.x4.${op} {v0, v1, v2, v3}, r, [a]${split};
st.global.${type} [o], v0; st.global.${type} [o+4], v1; st.global.${type} [o+8], v2; st.global.${type} [o+12], v3; st.global.${type} [o+16], r; }`;
  });
  const text = encode.around(bodies.join('\n'), 16).replace('.target sm_100a', '.target sm_101a');
  const found = launch(text, 1, [new Uint8Array(4 * each * forms.length), new Uint8Array(words.slice().buffer)]);
  assert.ok(typeof found !== 'string', `${found}`);
  for (const [form, [shape, op, , wanted]] of forms.entries()) {
    const out = wordsOf(found[0]!).subarray(each * form);
    for (let thread = 0; thread < 128; thread++) {
      const half = shape === '16x32bx2';
      const lane = half ? (thread & 96) + (thread & 15) : thread;
      const from = 16 * lane + (half && thread & 16 ? 4 : 0);
      const list = [...words.subarray(from, from + 4)];
      assert.equal([...out.subarray(5 * thread, 5 * thread + 5)], [...list, wanted(list)], `${shape}.${op} ${thread}`);
    }
  }
});

test.run();
