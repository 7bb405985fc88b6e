/**
 * Tensor memory (`tcgen05`) against a model of the manual's layouts in doubles and integers: where each row and column of a factor lies in shared
 * memory, and of a sum in tensor memory. No GPU was compared. Source: PTX ISA 9.0, 9.7.16.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openCpuDevice } from '../../src/device/index.ts';
import { launchTensor, wordsOf } from '../support/tensor-launch.ts';
import {
  type Choice,
  encode,
  expectedSums,
  imageBytes,
  instruction,
  type Kind,
  kernelOf,
  random,
  randomImage,
  smem,
  zeroMask,
} from '../support/tensor-memory.ts';

const test = suite('device/tensor-memory');
const device = openCpuDevice({ threads: 1 });
test.after(() => device.close());

const launch = (text: string, blocks: number, args: readonly (Uint8Array | bigint | number)[]) => launchTensor(device, text, blocks, args);

/** Columns of tensor memory that tests look at: sums from column 0, a from 256 on, scale factors from 320 on. */
const columns = 384;

function check(choice: Choice): void {
  const { kind, by } = choice;
  const parts = by === 'pair' ? 2 : 1;
  const images = Array.from({ length: parts }, () => randomImage(choice));
  const before = Uint32Array.from({ length: parts * 128 * columns }, () =>
    kind === 'i8' ? random(1 << 20) : new Uint32Array(Float32Array.of(random(64) / 4 - 8).buffer)[0]!,
  );
  for (let part = 0; part < parts; part++) encode.tensorPart(choice, before, part, columns);
  const image = new Uint8Array(parts * imageBytes);
  for (const [part, each] of images.entries()) image.set(each, part * imageBytes);
  const args = [
    image,
    new Uint8Array(before.slice().buffer),
    smem(choice.a),
    smem(choice.b),
    instruction(choice),
    ...choice.masks,
    ...zeroMask(choice),
  ];
  const found = launch(kernelOf(choice, columns), parts, args);
  assert.ok(typeof found !== 'string', `${found}`);
  const after = wordsOf(found[1]!);
  const wanted = expectedSums(choice, images, before, columns);
  for (let at = 0; at < before.length; at++) {
    const sum = wanted.get(at);
    const where = `${JSON.stringify({ ...choice, a: undefined, b: undefined })} lane ${Math.floor(at / columns) % 128} column ${at % columns}`;
    if (sum === undefined) assert.is(after[at], before[at], `not to be written: ${where}`);
    else if (kind === 'i8') assert.is(after[at]! | 0, sum, where);
    else {
      const got = new Float32Array(Uint32Array.of(after[at]!).buffer)[0]!;
      assert.ok(got === Math.fround(sum) || Math.abs(got - sum) <= 2 ** -22 * Math.abs(sum) + 1e-30, `${got} ${sum} ${where}`);
    }
  }
}

const kinds: readonly Kind[] = ['f16', 'tf32', 'i8', 'f8f6f4', 'mxf8f6f4', 'mxf4', 'mxf4nvf4'];
const rounds = Number(process.env.CUMETAL_TRIALS ?? 0);
let turn = 0;

for (const kind of kinds)
  for (const by of ['one', 'pair', 'stationary'] as const) {
    if (by === 'stationary' && kind.startsWith('mx')) continue;
    // A few of a kind; all by the variable of the environment.
    const isFew = (by === 'stationary' && !/f16|i8/.test(kind)) || (by === 'pair' && /tf32|^mxf8|nvf4/.test(kind));
    if (isFew && rounds === 0) continue;
    test(`${kind} by ${by === 'pair' ? 'a pair of blocks' : by === 'one' ? 'one block' : 'one block that keeps b'}`, () => {
      // One of both in each run; more by a variable of the environment.
      check(encode.choice(kind, by, turn++ % 2 === 1));
      for (let round = 0; round < rounds; round++) for (const isInTensor of [false, true]) check(encode.choice(kind, by, isInTensor));
    });
  }

// ── moves ──

/** Which lane and column a register of a thread of a warp is of. */
const moves: Readonly<Record<string, (thread: number, register: number) => [number, number]>> = {
  '32x32b': (t, r) => [t, r],
  '16x64b': (t, r) => [(t >> 2) + 8 * (t & 1), 2 * r + ((t >> 1) & 1)],
  '16x128b': (t, r) => [(t >> 2) + 8 * (r % 2), 4 * Math.floor(r / 2) + (t % 4)],
  '16x256b': (t, r) => [(t >> 2) + 8 * (Math.floor(r / 2) % 2), 8 * Math.floor(r / 4) + 2 * (t % 4) + (r % 2)],
  '16x32bx2': (t, r) => [t % 16, t < 16 ? r : 12 + r],
};
const perUnit: Readonly<Record<string, number>> = { '16x128b': 2, '16x256b': 4 };

test('loads and stores of every shape', () => {
  for (const [shape, placeOf] of Object.entries(moves))
    for (const [units, isPacked] of [
      [4, false],
      [2, true],
    ] as const) {
      const count = units * (perUnit[shape] ?? 1);
      const list = Array.from({ length: count }, (_, i) => `v${i}`).join(', ');
      const split = shape === '16x32bx2' ? ', 12' : '';
      const give = Array.from({ length: count }, (_, i) => `st.global.u32 [o+${4 * i}], v${i};`).join('\n');
      const take = Array.from({ length: count }, (_, i) => `mad.lo.u32 v${i}, t, 100000, ${i * 7 + 1};`).join('\n');
      const size = 128 * 32;
      const before = Uint32Array.from({ length: size }, () => random(2 ** 31));
      for (const way of ['ld', 'st']) {
        const pack = isPacked ? (way === 'ld' ? '.pack::16b' : '.unpack::16b') : '';
        const operands = way === 'ld' ? `{${list}}, [a]${split}` : `[a]${split}, {${list}}`;
        const body = `mul.lo.u32 x, t, ${4 * count}; cvt.u64.u32 %w, x; add.u64 o, out, %w;
${way === 'st' ? take : ''}
tcgen05.${way}.sync.aligned.${shape}.x${units}${pack}.b32 ${operands};
tcgen05.wait::${way}.sync.aligned;
${way === 'ld' ? give : ''}`;
        const text = encode.around(`{ .reg .b32 v<${count}>, x; .reg .b64 o;\n${body} }`, 32);
        const found = launch(text, 1, [new Uint8Array(128 * 4 * count), new Uint8Array(before.slice().buffer)]);
        assert.ok(typeof found !== 'string', `${found}`);
        const [registers, memory] = found.map(wordsOf) as [Uint32Array, Uint32Array];
        const wanted = before.slice();
        for (let thread = 0; thread < 128; thread++)
          for (let r = 0; r < count; r++) {
            const [lane, column] = placeOf(thread % 32, r);
            const from = shape === '16x32bx2' && column >= 12 ? 12 : 0;
            const at = (c: number): number => 32 * (32 * (thread >> 5) + lane) + c;
            const own = thread * 100000 + r * 7 + 1;
            const first = isPacked ? from + 2 * (column - from) : column;
            if (way === 'ld') {
              const value = isPacked ? ((before[at(first)]! & 0xffff) | (before[at(first + 1)]! << 16)) >>> 0 : before[at(first)]!;
              assert.is(registers[thread * count + r], value, `${shape} x${units} ${isPacked} ${thread} ${r}`);
            } else if (isPacked) {
              wanted[at(first)] = own & 0xffff;
              wanted[at(first + 1)] = own >>> 16;
            } else wanted[at(first)] = own;
          }
        assert.equal([...memory], [...wanted], `${way} ${shape} x${units} ${isPacked}`);
      }
    }
});

test('copies of shared memory to lanes', () => {
  const rows = 128;
  const image = Uint8Array.from({ length: imageBytes }, () => random(256));
  // Core matrices of 8 rows of 16 bytes: 8 rows are 256 bytes apart, units 128.
  const byteAt = (row: number, at: number): number => image[256 * (row >> 3) + 16 * (row & 7) + 128 * (at >> 4) + (at & 15)]!;
  const descriptor = ((128n >> 4n) << 16n) | ((256n >> 4n) << 32n) | (1n << 46n);
  const forms: readonly (readonly [string, number, number, (lane: number) => number | undefined])[] = [
    ['128x256b', rows, 32, (lane) => lane],
    ['128x128b', rows, 16, (lane) => lane],
    ['4x256b', 4, 32, (lane) => (lane % 32 === 0 ? lane / 32 : undefined)],
    ['32x128b.warpx4', 32, 16, (lane) => lane % 32],
    ['64x128b.warpx2::02_13', 64, 16, (lane) => lane % 64],
    ['64x128b.warpx2::01_23', 64, 16, (lane) => (lane % 32) + (lane >= 64 ? 32 : 0)],
  ];
  for (const [form, , bytes, rowOf] of forms) {
    const before = Uint32Array.from({ length: rows * 16 }, () => random(2 ** 31));
    const body = encode.shared(`@first tcgen05.cp.cta_group::1.${form} [a+4], desc;`);
    const found = launch(encode.around(body, 16), 1, [image, new Uint8Array(before.slice().buffer), descriptor]);
    assert.ok(typeof found !== 'string', `${found}`);
    const wanted = new Uint8Array(before.buffer.slice(0));
    for (let lane = 0; lane < rows; lane++) {
      const row = rowOf(lane);
      for (let at = 0; row !== undefined && at < bytes; at++) wanted[64 * lane + 16 + at] = byteAt(row, at);
    }
    assert.equal([...found[1]!], [...wanted], form);
  }
});

test('columns are taken and freed', () => {
  const take = (columns: number): string => `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], ${columns};`;
  const say = (at: number): string => `bar.warp.sync -1; ld.shared.u32 a, [place]; st.global.u32 [out+${at}], a;`;
  const free = (at: number, columns: number): string => `mov.u32 a, ${at}; tcgen05.dealloc.cta_group::1.sync.aligned.b32 a, ${columns};`;
  const kernel = (body: string): string => encode.bare(`setp.ge.u32 p, t, 32; @p bra END;\n${body}\nEND:`);
  const steps = [
    take(32),
    say(0),
    take(128),
    say(4),
    take(32),
    say(8),
    free(128, 128),
    take(64),
    say(12),
    free(0, 32),
    free(32, 32),
    free(64, 64),
  ];
  const found = launch(kernel(steps.join('\n')), 1, [new Uint8Array(16)]);
  assert.ok(typeof found !== 'string', `${found}`);
  assert.equal([...wordsOf(found[0]!)], [0, 128, 32, 64]);
  assert.match(launch(kernel(take(48)), 1, [new Uint8Array(16)]) as string, /columns of tensor memory that is not 32/);
  assert.match(launch(kernel(free(64, 32)), 1, [new Uint8Array(16)]) as string, /that were not taken/);
  const lanes = 'mov.u32 a, 0x00200000; tcgen05.ld.sync.aligned.32x32b.x1.b32 {b}, [a];';
  assert.match(launch(kernel(lanes), 1, [new Uint8Array(16)]) as string, /lanes of tensor memory that a warp has no access to/);
  // Before columns are taken, behind those that are, and once they are free again.
  const load = (column: number): string => `mov.u32 a, ${column}; tcgen05.ld.sync.aligned.32x32b.x2.b32 {b, c}, [a];`;
  const tried = (body: readonly string[]): unknown => launch(kernel(body.join('\n')), 1, [new Uint8Array(16)]);
  const not = /columns of tensor memory that are not taken \(k\.ptx:\d+\)/;
  assert.match(tried([load(0)]) as string, not);
  assert.match(tried([take(64), load(63)]) as string, not);
  assert.match(tried([take(32), load(0), free(0, 32), load(0)]) as string, not);
  assert.ok(typeof tried([take(64), load(30), load(62), free(0, 64)]) !== 'string');
  const descriptor = ((128n >> 4n) << 16n) | ((256n >> 4n) << 32n) | (1n << 46n);
  const copy = encode.shared('@first tcgen05.cp.cta_group::1.128x128b [a+508], desc;');
  assert.ok(typeof launch(encode.around(copy, 16), 1, [new Uint8Array(imageBytes), new Uint8Array(128 * 64), descriptor]) !== 'string');
});

test.run();
