/** Constant counts, shuffles of every kind, constants as operands, and loads that their users do: the results are those of WebAssembly. */
import { suite } from 'uvu';
import { processorFeatures } from '../../../src/ffi/native/processor.ts';
import { type Builder, build, type Case, compareAll } from './compare.ts';
import { newRandom, type Random } from './random.ts';

const test = suite('native/select-vector/constants');
const check = (name: string, run: () => void): void => void (processorFeatures().hasBaseline ? test(name, run) : test.skip(name, run));

check('shifts by every constant', () => {
  const cases = ([8, 16, 32, 64] as const).flatMap((bits) =>
    ['shl', 'shr_s', 'shr_u'].flatMap((op) =>
      Array.from({ length: bits }, (_, count) => {
        const name = `i${bits}x${128 / bits}.${op}`;
        return build(`${name} ${count}`, (b) => b.op(name, [b.input(`i${bits}`), b.i32(count + bits * (count % 3))]));
      }),
    ),
  );
  compareAll(cases, { rounds: 3 });
});

const row = (first: number, count = 16): number[] => Array.from({ length: count }, (_, i) => first + i);
const units = (order: readonly number[], bytes: number): number[] => order.flatMap((unit) => row(unit * bytes, bytes));

/** Patterns that an instruction does, and ones that none does, as functions of chance. */
const patterns: Readonly<Record<string, (random: Random) => number[]>> = {
  bytes: (random) => Array.from({ length: 16 }, () => random.below(32)),
  'bytes of one': (random) => Array.from({ length: 16 }, () => random.below(16)),
  'bytes of the other': (random) => Array.from({ length: 16 }, () => 16 + random.below(16)),
  words: (random) =>
    units(
      Array.from({ length: 4 }, () => random.below(8)),
      4,
    ),
  'words of one': (random) =>
    units(
      Array.from({ length: 4 }, () => random.below(4)),
      4,
    ),
  quads: (random) => units([random.below(4), random.below(4)], 8),
  pairs: (random) =>
    units(
      Array.from({ length: 8 }, () => random.below(16)),
      2,
    ),
  row: (random) => row(random.below(32)).map((byte) => byte & 31),
  blend: (random) => row(0).map((byte) => byte + 16 * random.below(2)),
  'blend of words': (random) =>
    units(
      row(0, 4).map((word) => word + 4 * random.below(2)),
      4,
    ),
  'two and two': (random) => {
    const [first, second] = [4 * random.below(2), 4 * random.below(2)];
    return units([first + random.below(4), first + random.below(4), second + random.below(4), second + random.below(4)], 4);
  },
  interleaved(random) {
    const bytes = random.of([1, 2, 4, 8]);
    const [count, start] = [16 / bytes, random.below(2) * (8 / bytes)];
    const [even, odd] = random.of([
      [0, count],
      [count, 0],
    ] as const) as [number, number];
    return units(
      Array.from({ length: count }, (_, i) => start + (i >> 1) + (i & 1 ? odd : even)),
      bytes,
    );
  },
};

check('shuffles of every kind', () => {
  const random = newRandom(3);
  const cases = Object.entries(patterns).flatMap(([kind, pattern]) =>
    Array.from({ length: 14 }, (_, i) => {
      const bytes = pattern(random);
      return build(`${kind}: shuffle ${bytes.join()}`, (b) => {
        const inputs = [b.input('i8'), b.input('i8')] as const;
        const zero = (): number => b.constant([0]);
        const args =
          i < 10
            ? inputs
            : i === 10
              ? [inputs[0], inputs[0]]
              : i === 11
                ? [zero(), inputs[1]]
                : i === 12
                  ? [inputs[0], zero()]
                  : [inputs[1], b.constant(row(0, 64))];
        return b.op('i8x16.shuffle', args, { bytes });
      });
    }),
  );
  compareAll(cases, { rounds: 3 });
});

check('swizzles by constants, splats of constants, minima and maxima with constants', () => {
  const random = newRandom(4);
  const floats = (value: number): number[] => [...new Uint8Array(Float32Array.of(value).buffer)];
  const doubles = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];
  const cases: Case[] = Array.from({ length: 8 }, (_, i) =>
    build(`swizzle ${i}`, (b) =>
      b.op('i8x16.swizzle', [b.input('i8'), b.constant(Array.from({ length: 64 }, () => random.below(i % 2 ? 256 : 20)))]),
    ),
  );
  for (const value of [0, -0, 1, -2.5, Infinity, NaN])
    for (const op of ['min', 'max', 'pmin', 'pmax', 'add', 'lt', 'ge', 'ne'])
      for (const [shape, kind, bytes] of [
        ['f32x4', 'f32', floats(value)],
        ['f64x2', 'f64', doubles(value)],
      ] as const)
        for (const isFirst of [true, false])
          for (const isQuiet of [true, false])
            cases.push(
              build(`${shape}.${op} with ${value} ${isFirst ? 'first' : 'last'}${isQuiet ? ' of a quiet operand' : ''}`, (b) => {
                const input = b.input(kind);
                const operand = isQuiet ? b.op(`${shape}.sqrt`, [b.op(`${shape}.abs`, [input])]) : input;
                const constant = b.constant(bytes);
                return b.op(`${shape}.${op}`, isFirst ? [constant, operand] : [operand, constant]);
              }),
            );
  compareAll(cases, { rounds: 6 });
});

check('loads that their users do', () => {
  const loads = ['v128.load', 'v128.load32_splat', 'v128.load64_splat', 'v128.load32x2_s', 'i32', 'i64', 'f32', 'f64'];
  /** A load, or the splat of a load of a scalar. */
  const loadOf = (b: Builder, load: string, address: number): number =>
    load.startsWith('v128')
      ? b.op(load, [address], { offset: 9 })
      : b.op(`${load}x${128 / Number(load.slice(1))}.splat`, [b.op(`${load}.load`, [address])]);
  const users = [
    'i32x4.add',
    'i64x2.add',
    'i32x4.sub',
    'i8x16.add',
    'i32x4.mul',
    'i64x2.mul',
    'i16x8.narrow_i32x4_s',
    'v128.and',
    'v128.andnot',
    'i32x4.max_u',
    'i16x8.q15mulr_sat_s',
    'i32x4.abs',
  ];
  const cases = users.flatMap((user) =>
    loads.flatMap((load) =>
      [true, false].map((isFirst) =>
        build(`${user} of ${load}${isFirst ? ' first' : ''}`, (b) => {
          const [address, input] = [b.input('address'), b.input('i32')];
          const loaded = loadOf(b, load, address);
          return b.op(user, user.endsWith('abs') ? [loaded] : isFirst ? [loaded, input] : [input, loaded]);
        }),
      ),
    ),
  );
  for (const load of loads)
    for (const op of ['v128.bitselect', 'v128.xor'])
      for (const place of [0, 1, 2])
        cases.push(
          build(`${op} of three with ${load} as number ${place}`, (b) => {
            const [address, x, y] = [b.input('address'), b.input('i32'), b.input('i32')];
            const loaded = loadOf(b, load, address);
            const args = [x, y];
            args.splice(place, 0, loaded);
            return op === 'v128.xor' ? b.op(op, [b.op(op, [args[0]!, args[1]!]), args[2]!]) : b.op(op, args);
          }),
        );
  compareAll(cases, { rounds: 9 });
});

test.run();
