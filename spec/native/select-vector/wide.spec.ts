/** Instructions across the parts of wide vectors, by what they say of bytes; and fused multiply-adds, by those of the C library. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { processorFeatures } from '../../../src/ffi/native/processor.ts';
import { nativeSystem } from '../../../src/ffi/native/system.ts';
import type { Inst, SsaType } from '../../../src/native/ssa/types.ts';
import { place, type Straight } from './harness.ts';
import { fill, type LaneKind, newRandom, type Random } from './random.ts';

const test = suite('native/select-vector/wide');
const check = (name: string, run: () => void): void => void (processorFeatures().hasBaseline ? test(name, run) : test.skip(name, run));

/** A function, the kind of its operands' lanes, and its result by theirs. */
interface Known {
  readonly fn: Straight;
  readonly kind: LaneKind;
  /** Whether the second operand is the address 0. */
  readonly isAtZero?: boolean;
  /** Bytes of the first operand, if they are not random. */
  readonly first?: readonly number[];
  expected(inputs: readonly Uint8Array[]): number[];
}

const type = (bytes: number): SsaType => `v${8 * bytes}` as SsaType;

/** A function of one instruction, whose operands are vectors of so many bytes. */
function one(op: string, widths: readonly number[], result: number, extras: Partial<Inst> = {}): Straight {
  const params = widths.map(type);
  const inst = { op, args: widths.map((_, i) => i), result: widths.length, ...extras };
  return { params, types: [...params, type(result)], insts: [inst], result: widths.length };
}

const memory = new Uint8Array(new ArrayBuffer(1024));

/** Runs functions for a target on random operands. */
function run(known: readonly Known[], avx512: boolean, random: Random): void {
  const view = new DataView(memory.buffer);
  const base = nativeSystem()!.ffi.ptr(memory as never) as unknown as number;
  const all = [...known, ...known, ...known];
  const native = place(
    all.map(({ fn }) => fn),
    { avx512 },
    random,
  );
  all.forEach(({ fn, kind, first, isAtZero, expected }, index) => {
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < fn.params.length; i++) fill(view, 64 * i, 64, kind, random);
      if (first) memory.set(first);
      if (isAtZero) memory.fill(0, 64, 68);
      native.call(index, base, base + 512, base);
      const wanted = expected(fn.params.map((_, i) => memory.slice(64 * i, 64 * i + 64)));
      assert.equal([...memory.slice(512, 512 + wanted.length)], wanted, JSON.stringify({ ...fn, avx512 }));
    }
  });
}

/** Runs functions for each target that has their widths. */
function runAll(known: readonly Known[]): void {
  const isNarrow = ({ fn }: Known): boolean => fn.types.every((each) => each !== 'v512');
  run(known.filter(isNarrow), false, newRandom(7));
  if (processorFeatures().hasAvx512) run(known, true, newRandom(8));
}

check('parts and unions', () => {
  const known: Known[] = [];
  for (const bytes of [32, 64]) {
    for (let lane = 0; lane < bytes / 16; lane++)
      known.push({
        kind: 'i8',
        fn: one('vector.part', [bytes], 16, { lane }),
        expected: ([a]) => [...a!.slice(16 * lane, 16 * lane + 16)],
      });
    for (const part of bytes === 32 ? [16] : [16, 32]) {
      const widths = Array<number>(bytes / part).fill(part);
      known.push({
        kind: 'i8',
        fn: one('vector.join', widths, bytes),
        expected: (inputs) => inputs.flatMap((each) => [...each.slice(0, part)]),
      });
      const same = one('vector.join', [part], bytes, { args: widths.map(() => 0) });
      known.push({ kind: 'i8', fn: same, expected: ([a]) => widths.flatMap(() => [...a!.slice(0, part)]) });
    }
  }
  runAll(known);
});

/** A function that takes a part of a vector of so many bytes for one further instruction. */
function ofPart(bytes: number, lane: number, user: Partial<Inst> & { readonly op: string }, result: SsaType | undefined): Straight {
  const params: SsaType[] = [type(bytes), 'i32'];
  const part: Inst = { op: 'vector.part', args: [0], result: 2, lane };
  const last: Inst = { args: result ? [2] : [1, 2], result: result ? 3 : undefined, ...user };
  return { params, types: [...params, 'v128', ...(result ? [result] : [])], insts: [part, last], result: last.result };
}

const extracts: readonly (readonly [op: string, bytes: number, result: SsaType])[] = [
  ['i8x16.extract_lane_u', 1, 'i32'],
  ['i16x8.extract_lane_u', 2, 'i32'],
  ['i32x4.extract_lane', 4, 'i32'],
  ['f32x4.extract_lane', 4, 'f32'],
  ['i64x2.extract_lane', 8, 'i64'],
  ['f64x2.extract_lane', 8, 'f64'],
];

check('lanes and stores of parts', () => {
  const known = [32, 64].flatMap((width) =>
    Array.from({ length: width / 16 }, (_, part) => part).flatMap((part) =>
      extracts.flatMap(([op, bytes, result]) =>
        Array.from({ length: 16 / bytes }, (_, lane): Known => {
          const first = 16 * part + bytes * lane;
          const fn = ofPart(width, part, { op, lane }, result);
          return {
            kind: 'i8',
            fn,
            expected: ([a]) => [...a!.slice(first, first + bytes), ...(bytes < 4 ? [0, 0, 0].slice(bytes - 1) : [])],
          };
        }),
      ),
    ),
  );
  runAll(known);
  const base = nativeSystem()!.ffi.ptr(memory as never) as unknown as number;
  for (const avx512 of processorFeatures().hasAvx512 ? [false, true] : [false])
    for (const width of avx512 ? [32, 64] : [32])
      for (let part = 0; part < width / 16; part++) {
        const native = place([ofPart(width, part, { op: 'v128.store', offset: 3 }, undefined)], { avx512 }, newRandom(part + 1));
        const view = new DataView(memory.buffer);
        fill(view, 0, 64, 'i8', newRandom(12));
        view.setUint32(64, 768, true);
        native.call(0, base, base + 512, base);
        assert.equal([...memory.slice(771, 787)], [...memory.slice(16 * part, 16 * part + 16)], `part ${part} of ${width} bytes`);
      }
});

/** Numbers of words: any ones, those of one operand, ones in a row, the same ones in each part. */
function wordsOf(random: Random, operands: number, from: number, bytes: number, round: number): number[] {
  const [limit, count] = [(operands * from) / 4, bytes / 4];
  const make = (number: (i: number) => number): number[] => Array.from({ length: count }, (_, i) => number(i));
  const choice = round % 5;
  if (choice === 0) return make(() => random.below(limit));
  const first = random.below(Math.max(1, limit - count + 1));
  if (choice === 1) return make((i) => (first + i) % limit);
  if (choice === 2) return make((i) => ((first & ~3) + i) % limit);
  if (choice === 3) return make(() => (operands === 2 ? (from / 4) * (round & 1) : 0) + random.below(from / 4));
  const [pattern, side] = [make(() => random.below(4)), make(() => random.below(operands))];
  return make((i) => ((i & ~3) % (from / 4)) + pattern[i & 3]! + side[i & 3]! * (from / 4));
}

check('words in any order', () => {
  const random = newRandom(9);
  const known: Known[] = [];
  for (const from of [16, 32, 64])
    for (const bytes of [16, 32, 64])
      for (const operands of [1, 2])
        for (let round = 0; round < 25; round++) {
          const words = wordsOf(random, operands, from, bytes, round);
          const expected = (inputs: readonly Uint8Array[]): number[] => {
            const all = inputs.flatMap((each) => [...each.slice(0, from)]);
            return words.flatMap((word) => all.slice(4 * word, 4 * word + 4));
          };
          known.push({ kind: 'i8', fn: one('vector.words', Array<number>(operands).fill(from), bytes, { words }), expected });
        }
  runAll(known);
});

const bytesOf = (array: { readonly buffer: ArrayBufferLike }): number[] => [...new Uint8Array(array.buffer as ArrayBuffer)];

/** Lanes of the operand and of the result of each kind of widening. */
const kinds = {
  'f64x2.promote_low_f32x4': [Float32Array, Float64Array],
  'f64x2.convert_low_i32x4_s': [Int32Array, Float64Array],
  'f64x2.convert_low_i32x4_u': [Uint32Array, Float64Array],
  'i64x2.extend_low_i32x4_s': [Int32Array, BigInt64Array],
  'i64x2.extend_low_i32x4_u': [Uint32Array, BigUint64Array],
  'i32x4.extend_low_i16x8_s': [Int16Array, Int32Array],
  'i32x4.extend_low_i16x8_u': [Uint16Array, Uint32Array],
  'i16x8.extend_low_i8x16_s': [Int8Array, Int16Array],
  'i16x8.extend_low_i8x16_u': [Uint8Array, Uint16Array],
} as const;

/** Floats without NaNs, whose payloads JavaScript does not promise. */
const floats = bytesOf(Float32Array.of(0, -0, 1.5, -1e-45, Infinity, -3.4e38, 1e-40, 7, -Infinity, 2, 3, 4, 5, 6, 7, 8));

check('lanes of twice the bits in their order', () => {
  const known = Object.entries(kinds).flatMap(([kind, [From, To]]) =>
    [32, 64].map(
      (bytes): Known => ({
        kind: 'i32',
        ...(From === Float32Array ? { first: floats } : {}),
        fn: one('vector.widen', [bytes / 2], bytes, { kind }),
        expected([operand]) {
          const lanes = [...new From(operand!.buffer as ArrayBuffer, 0, bytes / 2 / From.BYTES_PER_ELEMENT)];
          return bytesOf((To as typeof Float64Array).from(kind.startsWith('i64') ? (lanes.map(BigInt) as never) : lanes));
        },
      }),
    ),
  );
  runAll(known);
  // The operand is in memory as well, where the address is 0.
  const loaded = ({ fn, ...rest }: Known): Known => {
    const [from, to] = [fn.params[0]!, fn.types.at(-1)!];
    const load: Inst = { op: 'v128.load', args: [1], result: 2 };
    const user: Inst = { ...fn.insts[0]!, args: [2], result: 3 };
    return { ...rest, fn: { params: [from, 'i32'], types: [from, 'i32', from, to], insts: [load, user], result: 3 }, isAtZero: true };
  };
  runAll(known.map(loaded));
});

check('multiply-adds round once, with each of their operands overwritten, negated or constant', () => {
  const { symbols } = nativeSystem()!.ffi.dlopen('libm.so.6', {
    fma: { args: ['f64', 'f64', 'f64'], returns: 'f64' },
    fmaf: { args: ['f32', 'f32', 'f32'], returns: 'f32' },
  }) as unknown as { symbols: { fma(...of: number[]): number; fmaf(...of: number[]): number } };
  const random = newRandom(11);
  const functions = Array.from({ length: 320 }, (_, i) => multiplyAdd(random, i % 2 === 0 ? 4 : 8, [16, 32, 64, 4][i % 4]!));
  const base = nativeSystem()!.ffi.ptr(memory as never) as unknown as number;
  for (const avx512 of processorFeatures().hasAvx512 ? [false, true] : [false]) {
    const usable = functions.filter(({ bytes }) => avx512 || bytes < 64);
    const native = place(
      usable.map(({ fn }) => fn),
      { avx512 },
      random,
    );
    usable.forEach(({ fn, bytes, lane, signs, constants, splats, again }, index) => {
      memory.fill(0, 192, 196);
      const count = Math.max(1, bytes / lane);
      const lanesAt = (offset: number): Float32Array | Float64Array =>
        lane === 4 ? new Float32Array(memory.buffer, offset, count) : new Float64Array(memory.buffer, offset, count);
      for (let i = 0; i < 3; i++)
        lanesAt(64 * i).set(Array.from({ length: count }, () => (random.below(2001) - 1000) * random.of([1 / 3, 1e-7, 12345.678, 1])));
      native.call(index, base, base + 512, base);
      const fused = lane === 4 ? symbols.fmaf : symbols.fma;
      for (let k = 0; k < count; k++) {
        const operands = [0, 1, 2].map((i) => signs[i]! * (constants[i] ?? lanesAt(64 * i)[splats[i] ? 0 : k]!)) as [
          number,
          number,
          number,
        ];
        const sum = fused(...operands) + (again === undefined ? 0 : lanesAt(64 * again)[k]!);
        assert.is(lanesAt(512)[k], lane === 4 ? Math.fround(sum) : sum, JSON.stringify({ fn, k, avx512 }));
      }
    });
  }
});

interface MultiplyAdd {
  readonly fn: Straight;
  readonly bytes: number;
  readonly lane: 4 | 8;
  readonly signs: readonly number[];
  readonly constants: readonly (number | undefined)[];
  /** Whether operands have their lowest lane in all lanes. */
  readonly splats: readonly boolean[];
  /** The number of an operand that lives on, and is added to the result. */
  readonly again: number | undefined;
}

/** `a * b + c`, some operands negated, some constant; of 4 bytes, one of scalars, as the lowest lane of one of splats. */
function multiplyAdd(random: Random, lane: 4 | 8, bytes: number): MultiplyAdd {
  const shape = lane === 4 ? 'f32x4' : 'f64x2';
  const isScalar = bytes === 4;
  const own = type(isScalar ? 16 : bytes);
  const scalar = lane === 4 ? 'f32' : 'f64';
  const params: SsaType[] = [...(Array(3).fill(isScalar ? scalar : own) as SsaType[]), 'i32'];
  const types = [...params];
  const insts: Inst[] = [];
  const signs: number[] = [];
  const constants: (number | undefined)[] = [];
  const splats: boolean[] = [];
  const add = (op: string, args: number[], extras: Partial<Inst> = {}, of: SsaType = own): number => {
    const result = types.push(of) - 1;
    insts.push({ op, args, result, ...extras });
    return result;
  };
  const args = [0, 1, 2].map((i) => {
    const constant = random.below(4) === 0 ? random.of([0.5, -3, 1 / 1024]) : undefined;
    const element = bytesOf(lane === 4 ? Float32Array.of(constant ?? 0) : Float64Array.of(constant ?? 0));
    const repeated = Array.from({ length: 64 / lane }, () => element).flat();
    // The operands are in memory as well, where the address is 0.
    const load = isScalar ? 0 : random.below(4);
    const isSplat = load === 1 && constant === undefined;
    const loadOf = (): number => add(isSplat ? `v128.load${8 * lane}_splat` : 'v128.load', [3], { offset: 64 * i });
    const vector = (): number => (isScalar ? add(`${shape}.splat`, [i]) : load === 1 || load === 2 ? loadOf() : i);
    splats.push(isSplat);
    const operand = constant === undefined ? vector() : add('v128.const', [], { bytes: repeated.slice(0, Math.max(16, bytes)) });
    constants.push(constant);
    signs.push(random.below(3) === 0 ? -1 : 1);
    return signs[i] === -1 ? add(`${shape}.neg`, [operand]) : operand;
  });
  const again = random.below(2) ? undefined : random.below(3);
  const sum = add(`${shape}.relaxed_madd`, args);
  const whole = again === undefined || isScalar ? sum : add(`${shape}.add`, [sum, again]);
  const result = isScalar ? add(`${shape}.extract_lane`, [sum], { lane: 0 }, scalar) : whole;
  return { fn: { params, types, insts, result }, bytes, lane, signs, constants, splats, again: isScalar ? undefined : again };
}

test.run();
