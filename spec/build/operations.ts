/** Every operation of the builder's values, one kernel each, with what it is in JavaScript where that is exact. */
import {
  type Body,
  b32,
  b64,
  bf16,
  bf16x2,
  f16,
  f16x2,
  f32,
  f64,
  globalIndex,
  type Handle,
  kernel,
  type MemoryName,
  ptr,
  s8,
  s16,
  s32,
  s64,
  type Type,
  u8,
  u16,
  u32,
  u64,
  type Value,
  when,
} from '../../src/build/index.ts';

/** An operation on values of a type: its name, the result's type, and the same in JavaScript, of bits for floats of 16 bits. */
export interface Operation {
  readonly name: string;
  readonly from: Type<MemoryName>;
  readonly to: Type<MemoryName>;
  /** Three operands. */
  readonly make: (a: never, b: never, c: never) => Handle;
  readonly compute?: (a: never, b: never, c: never) => number | bigint;
}

const singles = (value: number): number => Math.fround(value);
const same = (value: number): number => value;
type Any = Value<'f32'>;
type Word = Value<'u32'>;

const floats = ([type, round]: readonly [Type<'f32'>, (value: number) => number]): Operation[] => {
  const row = (
    name: string,
    make: (a: Any, b: Any, c: Any) => Handle,
    compute?: (a: number, b: number, c: number) => number,
  ): Operation => ({
    name: `${type.name} ${name}`,
    from: type,
    to: type,
    make: make as Operation['make'],
    ...(compute ? { compute: ((a: number, b: number, c: number) => round(compute(a, b, c))) as Operation['compute'] } : {}),
  });
  const truth = (name: string, make: (a: Any, b: Any) => Value<'pred'>, compute: (a: number, b: number) => boolean): Operation =>
    row(
      name,
      (a, b) => make(a, b).select(a, 3),
      (a, b) => (compute(a, b) ? a : 3),
    );
  return [
    row(
      'add',
      (a, b) => a.add(b),
      (a, b) => a + b,
    ),
    row(
      'sub',
      (a, b) => a.sub(b),
      (a, b) => a - b,
    ),
    row(
      'mul',
      (a, b) => a.mul(b),
      (a, b) => a * b,
    ),
    row(
      'div',
      (a, b) => a.div(b),
      (a, b) => a / b,
    ),
    row(
      'neg',
      (a) => a.neg(),
      (a) => -a,
    ),
    row(
      'abs',
      (a) => a.abs(),
      (a) => Math.abs(a),
    ),
    row(
      'sqrt',
      (a) => a.abs().sqrt(),
      (a) => Math.sqrt(Math.abs(a)),
    ),
    row(
      'rcp',
      (a) => a.rcp(),
      (a) => 1 / a,
    ),
    row(
      'constant',
      (a) => a.add(0.1),
      (a) => a + round(0.1),
    ),
    row('fma', (a, b, c) => a.fma(b, c)),
    row('mad', (a, b, c) => a.mad(b, c)),
    truth(
      'eq',
      (a, b) => a.eq(b),
      (a, b) => a === b,
    ),
    truth(
      'ne',
      (a, b) => a.ne(b),
      (a, b) => a !== b,
    ),
    truth(
      'lt',
      (a, b) => a.lt(b),
      (a, b) => a < b,
    ),
    truth(
      'le',
      (a, b) => a.le(b),
      (a, b) => a <= b,
    ),
    truth(
      'gt',
      (a, b) => a.gt(b),
      (a, b) => a > b,
    ),
    truth(
      'ge',
      (a, b) => a.ge(b),
      (a, b) => a >= b,
    ),
    truth(
      'isNan',
      (a) => a.isNan(),
      (a) => Number.isNaN(a),
    ),
  ];
};

const wholes = (type: Type<'f32'>): Operation[] => [
  { name: `${type.name} floor`, from: type, to: type, make: (a: Any) => a.floor(), compute: (a: number) => Math.floor(a) },
  { name: `${type.name} ceil`, from: type, to: type, make: (a: Any) => a.ceil(), compute: (a: number) => Math.ceil(a) },
  { name: `${type.name} trunc`, from: type, to: type, make: (a: Any) => a.trunc(), compute: (a: number) => Math.trunc(a) },
  { name: `${type.name} rint`, from: type, to: type, make: (a: Any) => a.rint() },
];
const extremes = (type: Type<'f32'>): Operation[] => [
  { name: `${type.name} min`, from: type, to: type, make: (a: Any, b: Any) => a.min(b), compute: (a: number, b: number) => Math.min(a, b) },
  { name: `${type.name} max`, from: type, to: type, make: (a: Any, b: Any) => a.max(b), compute: (a: number, b: number) => Math.max(a, b) },
];

/** The larger or the smaller of two; `Math.max` takes no bigints. */
const extremeOf = (a: bigint, b: bigint, larger: boolean): bigint => (a > b === larger ? a : b);

/** Integers as bigints, wrapped to a type. */
const integers = (type: Type<'u32'>): Operation[] => {
  const [signed, bits] = [type.name.startsWith('s'), Number(type.name.slice(1))];
  const wrap = (value: bigint): bigint => (signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
  const row = (
    name: string,
    make: (a: Word, b: Word, c: Word) => Handle,
    compute: (a: bigint, b: bigint, c: bigint) => bigint,
  ): Operation => ({
    name: `${type.name} ${name}`,
    from: type,
    to: type,
    make: make as Operation['make'],
    compute: ((a: bigint, b: bigint, c: bigint) => wrap(compute(BigInt(a), BigInt(b), BigInt(c)))) as Operation['compute'],
  });
  const low = (value: bigint): bigint => BigInt.asUintN(bits, value);
  const shift = (b: bigint): bigint => low(b) & 0x1fn;
  const truth = (name: string, make: (a: Word, b: Word) => Value<'pred'>, compute: (a: bigint, b: bigint) => boolean): Operation =>
    row(
      name,
      (a, b) => make(a, b).select(a, 3),
      (a, b) => (compute(a, b) ? a : 3n),
    );
  return [
    row(
      'add',
      (a, b) => a.add(b),
      (a, b) => a + b,
    ),
    row(
      'sub',
      (a, b) => a.sub(b),
      (a, b) => a - b,
    ),
    row(
      'mul',
      (a, b) => a.mul(b),
      (a, b) => a * b,
    ),
    row(
      'mad',
      (a, b, c) => a.mad(b, c),
      (a, b, c) => a * b + c,
    ),
    row(
      'mulHi',
      (a, b) => a.mulHi(b),
      (a, b) => (a * b) >> BigInt(bits),
    ),
    row(
      'div',
      (a, b) => a.div(b.or(1)),
      (a, b) => a / wrap(b | 1n),
    ),
    row(
      'rem',
      (a, b) => a.rem(b.or(1)),
      (a, b) => a % wrap(b | 1n),
    ),
    row(
      'div and rem by 16',
      (a, b) => a.div(16).xor(b.rem(16)),
      (a, b) => wrap((a / 16n) ^ (b % 16n)),
    ),
    row(
      'min',
      (a, b) => a.min(b),
      (a, b) => extremeOf(a, b, false),
    ),
    row(
      'max',
      (a, b) => a.max(b),
      (a, b) => extremeOf(a, b, true),
    ),
    row(
      'and',
      (a, b) => a.and(b),
      (a, b) => a & b,
    ),
    row(
      'or',
      (a, b) => a.or(b),
      (a, b) => a | b,
    ),
    row(
      'xor',
      (a, b) => a.xor(b),
      (a, b) => a ^ b,
    ),
    row(
      'not',
      (a) => a.not(),
      (a) => ~a,
    ),
    row(
      'shl',
      (a, b) => a.shl(toWord(b).and(31)),
      (a, b) => (shift(b) >= bits ? 0n : a << shift(b)),
    ),
    row(
      'shr',
      (a, b) => a.shr(toWord(b).and(31)),
      (a, b) => a >> shift(b),
    ),
    truth(
      'eq',
      (a, b) => a.eq(b),
      (a, b) => a === b,
    ),
    truth(
      'ne',
      (a, b) => a.ne(b),
      (a, b) => a !== b,
    ),
    truth(
      'lt',
      (a, b) => a.lt(b),
      (a, b) => a < b,
    ),
    truth(
      'le',
      (a, b) => a.le(b),
      (a, b) => a <= b,
    ),
    truth(
      'gt',
      (a, b) => a.gt(b),
      (a, b) => a > b,
    ),
    truth(
      'ge',
      (a, b) => a.ge(b),
      (a, b) => a >= b,
    ),
    ...(signed
      ? [
          row(
            'neg',
            (a) => (a as never as Any).neg(),
            (a) => -a,
          ),
          row(
            'abs',
            (a) => (a as never as Any).abs(),
            (a) => (a < 0n ? -a : a),
          ),
        ]
      : []),
  ];
};
const toWord = (value: Handle): Word => (value as Value<'u64'>).to(u32);

const bitCount = (value: bigint): bigint => BigInt(value.toString(2).replaceAll('0', '').length);
const counted = (type: Type<'u32'>): Operation[] => {
  const bits = Number(type.name.slice(1));
  const raw = (value: bigint): bigint => BigInt.asUintN(bits, BigInt(value));
  const row = (
    name: string,
    make: (a: Word, b: Word) => Handle,
    compute: (a: bigint, b: bigint) => bigint,
    to: Type<MemoryName> = u32,
  ): Operation => ({
    name: `${type.name} ${name}`,
    from: type,
    to,
    make: make as Operation['make'],
    compute: ((a: bigint, b: bigint) => compute(raw(a), raw(b))) as Operation['compute'],
  });
  return [
    row('popc', (a) => a.popc(), bitCount),
    row(
      'clz',
      (a) => a.clz(),
      (a) => BigInt(bits - (a === 0n ? 0 : a.toString(2).length)),
    ),
    row(
      'brev',
      (a) => a.brev(),
      (a) => BigInt(`0b${[...a.toString(2).padStart(bits, '0')].reverse().join('')}`),
      type,
    ),
    row(
      'bfe',
      (a) => a.bfe(3, 7),
      (a) => (a >> 3n) & 127n,
      type,
    ),
    row(
      'bfi',
      (a, b) => a.bfi(b, 5, 9),
      (a, b) => (a & ~(511n << 5n)) | ((b & 511n) << 5n),
      type,
    ),
    row(
      'bfind',
      (a) => a.bfind(),
      (a) => (a === 0n ? 0xffffffffn : BigInt(a.toString(2).length - 1)),
    ),
  ];
};

const words: Operation[] = [
  {
    name: 'u32 mulWide',
    from: u32,
    to: u64,
    make: (a: Word, b: Word) => a.mulWide(b),
    compute: (a: number, b: number) => BigInt(a) * BigInt(b),
  },
  {
    name: 's32 madWide',
    from: s32,
    to: s64,
    make: (a: Value<'s32'>, b: Value<'s32'>) => a.madWide(b, -5),
    compute: (a: number, b: number) => BigInt(a) * BigInt(b) - 5n,
  },
  {
    name: 'u32 prmt',
    from: u32,
    to: u32,
    make: (a: Word, b: Word) => a.prmt(b, 0x7250),
    compute: (a: number, b: number) => ((a & 255) | (((b >>> 8) & 255) << 8) | (((a >>> 16) & 255) << 16) | ((b >>> 24) << 24)) >>> 0,
  },
  {
    name: 'u32 shlFunnel',
    from: u32,
    to: u32,
    make: (a: Word, b: Word) => a.shlFunnel(b, 7),
    compute: (a: number, b: number) => ((b << 7) | (a >>> 25)) >>> 0,
  },
  {
    name: 'u32 shrFunnel',
    from: u32,
    to: u32,
    make: (a: Word, b: Word) => a.shrFunnel(b, 7),
    compute: (a: number, b: number) => ((a >>> 7) | (b << 25)) >>> 0,
  },
  {
    name: 'u32 lop3',
    from: u32,
    to: u32,
    make: (a: Word, b: Word, c: Word) => a.lop3(b, c, (0xf0 & 0xcc) ^ 0xaa),
    compute: (a: number, b: number, c: number) => ((a & b) ^ c) >>> 0,
  },
  {
    name: 'pred logic',
    from: u32,
    to: u32,
    make: (a: Word, b: Word) => a.lt(b).and(a.ne(0)).xor(b.gt(9)).or(a.eq(b)).not().select(1, a),
    compute: (a: number, b: number) => ((a < b && a !== 0) !== b > 9 || a === b ? a : 1),
  },
];

/** Conversions: from a type to another one, by what JavaScript has of it. */
const conversions = (): Operation[] => {
  const wrapTo = (type: Type<MemoryName>, value: number | bigint): number | bigint => {
    const bits = Number(/\d+$/.exec(type.name)![0]);
    if (type.name === 'f32') return Math.fround(Number(value));
    if (type.name === 'f64') return Number(value);
    return type.name.startsWith('s') ? BigInt.asIntN(bits, BigInt(value)) : BigInt.asUintN(bits, BigInt(value));
  };
  const integerTypes = [u8, s8, u16, s16, u32, s32, u64, s64] as Type<MemoryName>[];
  const wrapped = (signed: boolean, bits: bigint, value: bigint): bigint => (signed ? BigInt.asIntN(Number(bits), value) : value);
  const clamp = (from: Type<MemoryName>, type: Type<MemoryName>, value: number): number | bigint => {
    const [signed, bits] = [type.name.startsWith('s'), BigInt(type.name.slice(1))];
    // As GPUs do: 0 for f32 to 32 bits and fewer, else the least number of the type.
    if (Number.isNaN(value)) return from === f32 && bits <= 32n ? 0n : wrapped(signed, bits, 1n << (bits - 1n));
    const [least, most] = signed ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n];
    const whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : value > 0 ? most : least;
    return whole < least ? least : whole > most ? most : whole;
  };
  const row = (from: Type<MemoryName>, to: Type<MemoryName>, compute: (value: number) => number | bigint): Operation => ({
    name: `${from.name} to ${to.name}`,
    from,
    to,
    make: (a: Value<'f32'>) => a.to(to as Type<'f32'>),
    compute: (value: number | bigint) => compute(value as number),
  });
  return [
    ...integerTypes.flatMap((from) =>
      [...integerTypes, f32, f64]
        // Every other pair of types; each type is in four of them, and on both sides.
        .filter((to, i) => to !== from && (i + integerTypes.indexOf(from)) % 2 === 0)
        .map((to) =>
          row(from, to as Type<MemoryName>, (value) =>
            wrapTo(to as Type<MemoryName>, to === f32 ? exactSingle(value) : to === f64 ? Number(value) : value),
          ),
        ),
    ),
    ...[f32, f64].flatMap((from) =>
      integerTypes
        .filter(({ name }) => !/8$/.test(name))
        .map((to) => row(from as Type<MemoryName>, to, (value) => clamp(from as Type<MemoryName>, to, value))),
    ),
    row(f32, f64 as Type<MemoryName>, same),
    row(f64, f32 as Type<MemoryName>, singles),
  ];
};
/** A bigint of 64 bits rounded once: by way of a double that has the right last bit for it. */
function exactSingle(value: number | bigint): number {
  if (typeof value === 'number') return value;
  const [sign, size] = value < 0n ? [-1, -value] : [1, value];
  const extra = Math.max(0, size.toString(2).length - 30);
  const sticky = (size & ((1n << BigInt(extra)) - 1n)) === 0n ? 0n : 1n;
  return sign * Number(((size >> BigInt(extra)) | sticky) << BigInt(extra));
}

/** Operations whose results have no exact counterpart in JavaScript: for the assembler. */
const others = (): Operation[] => {
  const row = (name: string, type: Type<MemoryName>, make: (a: Any, b: Any, c: Any) => Handle, to = type): Operation => ({
    name: `${type.name} ${name}`,
    from: type,
    to,
    make: make as Operation['make'],
  });
  const real = (type: Type<MemoryName>): Operation[] =>
    (['rsqrt', 'exp2', 'log2', 'exp', 'log', 'sin', 'cos', 'tanh'] as const).map((name) => row(name, type, (a) => a[name]()));
  const half = (type: Type<MemoryName>): Operation[] => [
    ...floats([type as Type<'f32'>, same]).map(({ compute: _, ...each }) => each),
    ...extremes(type as Type<'f32'>).map(({ compute: _, ...each }) => each),
    row('to f32', type, (a) => a.to(f32), f32),
    row('to s32', type, (a) => a.to(s32), s32 as Type<MemoryName>),
    row('to f64', type, (a) => a.to(f64), f64),
  ];
  const pairs = (type: Type<MemoryName>): Operation[] => [
    row('add', type, (a, b) => a.add(b)),
    row('sub', type, (a, b) => a.sub(b)),
    row('mul', type, (a, b) => a.mul(b)),
    row('fma', type, (a, b, c) => a.fma(b, c)),
    row('min', type, (a, b) => a.min(b)),
    row('max', type, (a, b) => a.max(b)),
    row('neg', type, (a) => a.neg()),
    row('abs', type, (a) => a.abs()),
  ];
  const rounded = (['rz', 'rm', 'rp'] as const).flatMap((round) => [
    row(`add.${round}`, f32, (a, b) => a.add(b, { round })),
    row(`fma.${round}`, f32, (a, b, c) => a.fma(b, c, { round, ftz: true })),
    row(`div.${round}`, f64, (a, b) => a.div(b, { mode: round })),
    row(`to s32.${round}`, f32, (a) => a.to(s32, { round }), s32 as Type<MemoryName>),
  ]);
  return [
    ...real(f32),
    ...real(f16),
    ...real(bf16),
    row('rsqrt', f64, (a) => a.rsqrt()),
    ...half(f16),
    ...wholes(f16 as Type<never>).map(({ compute: _, ...each }) => each),
    ...half(bf16),
    ...pairs(f16x2),
    ...pairs(bf16x2),
    ...rounded,
    row('div.approx', f32, (a, b) => a.div(b, { mode: 'approx' })),
    row('div.full', f32, (a, b) => a.div(b, { mode: 'full', ftz: true })),
    row('sqrt.approx', f32, (a) => a.sqrt({ mode: 'approx' })),
    row('sat', f32, (a, b) => a.add(b, { sat: true })),
    row('min.NaN', f32, (a, b) => a.min(b, { nan: true })),
    row('to f16', f32, (a) => a.to(f16), f16),
    row('to bf16', f32, (a) => a.to(bf16), bf16),
    row('to f16', bf16, (a) => a.to(f16), f16),
    row('to bf16', f16, (a) => a.to(bf16), bf16),
    ...([u8, s8, u16, s16, u32, s32, u64, s64, f64] as Type<MemoryName>[]).map((from) => row('to bf16', from, (a) => a.to(bf16), bf16)),
    row('to f16', f64, (a) => a.to(f16), f16),
    row('to f16', s32, (a) => a.to(f16), f16),
    row('not', b32, (a) =>
      (a as never as Value<'b32'>)
        .not()
        .eq(0 as never)
        .select(a, 1),
    ),
    row('xor', b64, (a, b) => (a as never as Value<'b64'>).xor(b as never)),
  ];
};

/** All of them. */
export const operations: readonly Operation[] = [
  ...floats([f32, singles]),
  ...floats([f64 as Type<never>, same]),
  ...wholes(f32),
  ...wholes(f64 as Type<never>),
  ...extremes(f32),
  ...extremes(f64 as Type<never>),
  ...[u16, u32, u64, s16, s32, s64].flatMap((type) => integers(type as Type<never>)),
  ...counted(u32),
  ...counted(u64 as Type<never>),
  ...words,
  ...conversions(),
  ...others(),
];

/**
 * A kernel that computes operations on one type over arrays of any length. There is a pointer to results of each type, with those of one operation
 * after those of another.
 */
export function kernelOf(list: readonly Operation[], name: string) {
  const { from } = list[0]!;
  const results = Object.fromEntries(list.map(({ to }) => [`to_${to.name}`, ptr(to)]));
  const parameters = { a: ptr(from), b: ptr(from), c: ptr(from), n: u32 } as const;
  const body: Body<typeof parameters> = ({ a, b, c, n, ...others }) => {
    const i = globalIndex();
    const at = (pointer: typeof a): never => pointer.at(i).get() as never;
    const counts = new Map<string, number>();
    when(i.lt(n), () => {
      for (const { to, make } of list) {
        const row = counts.get(to.name) ?? 0;
        counts.set(to.name, row + 1);
        const result = (others as Record<string, typeof a>)[`to_${to.name}`]!;
        result.at(i.add(n.mul(row))).set(make(at(a), at(b), at(c)) as Handle<MemoryName>);
      }
    });
  };
  return kernel(name, { ...parameters, ...results }, body as never, { locations: false });
}

/** Lists of what has the same key. */
export function grouped<T>(list: readonly T[], keyOf: (each: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of list) {
    const group = groups.get(keyOf(each)) ?? [];
    group.push(each);
    groups.set(keyOf(each), group);
  }
  return groups;
}
