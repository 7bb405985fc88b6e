/**
 * Functions of AIR and LLVM on whole vectors, structs and memory, on the CPU device; expectations are in exact arithmetic here, by
 * the Metal Shading Language Specification (packing: 8.7.1) and the LLVM Language Reference.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { groupFunctionOf } from '../../src/air/functions/simd.ts';
import { elementOfTypeName } from '../../src/air/raise/read-metadata.ts';
import { shapedFunctionOf } from '../../src/air/raise/shaped-functions.ts';
import { f16Bits, f16Value } from '../../src/base/float.ts';
import { callEach } from '../support/air-call.ts';
import { airLibrary, airModule, buffer } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';

const test = suite('air shaped functions');

need(test, ['llvm-as-14'], 'air.dot', () => {
  const x = Float32Array.of(1, 2, 3, 0, -1, 0.5, 4, 0);
  const y = Float32Array.of(4, -5, 6, 9, 2, 8, 0.25, 9);
  const operands = [x, y].map((v): [string, Float32Array] => ['<3 x float>', v]);
  const found = callEach({ name: 'air.dot.v3f32', result: 'float', operands, threads: 2, stride: 4 });
  assert.equal([...new Float32Array(found.buffer)], [12, 3]);
});

need(test, ['llvm-as-14'], 'air.any and air.all', () => {
  for (const [name, wanted] of [
    ['air.any', [0, 1, 1]],
    ['air.all', [0, 0, 1]],
  ] as const) {
    const text = airModule(
      [buffer],
      ['00', '10', '11']
        .map(
          (bits, i) => `  %r${i} = call i1 @${name}.v2i1(<2 x i1> <i1 ${bits[0]}, i1 ${bits[1]}>)
  %w${i} = zext i1 %r${i} to i32
  %a${i} = getelementptr i32, i32 addrspace(1)* %p0, i64 ${i}
  store i32 %w${i}, i32 addrspace(1)* %a${i}`,
        )
        .join('\n'),
      `declare i1 @${name}.v2i1(<2 x i1>)`,
    );
    const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [new Uint32Array(3)] });
    assert.equal([...new Uint32Array(after!.slice().buffer)], wanted);
  }
});

need(test, ['llvm-as-14'], 'air.sincos leaves the cosine in memory', () => {
  const text = airModule(
    [{ type: 'float addrspace(1)*', kind: 'air.buffer' }],
    `  %c = alloca <2 x float>
  %s = call fast <2 x float> @air.fast_sincos.v2f32(<2 x float> <float 0.5, float 2.0>, <2 x float>* %c)
  %v = load <2 x float>, <2 x float>* %c
  %all = shufflevector <2 x float> %s, <2 x float> %v, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %to = bitcast float addrspace(1)* %p0 to <4 x float> addrspace(1)*
  store <4 x float> %all, <4 x float> addrspace(1)* %to`,
    'declare <2 x float> @air.fast_sincos.v2f32(<2 x float>, <2 x float>*)',
  );
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [new Float32Array(4)] });
  const wanted = [Math.sin(0.5), Math.sin(2), Math.cos(0.5), Math.cos(2)];
  new Float32Array(after!.slice().buffer).forEach((found, i) => {
    assert.ok(Math.abs(found - wanted[i]!) < 1e-7, `${i}: ${found}`);
  });
});

const packs: readonly (readonly [form: string, widths: readonly number[], isSigned: boolean, word: string])[] = [
  ['unorm4x8', [8, 8, 8, 8], false, 'i32'],
  ['snorm4x8', [8, 8, 8, 8], true, 'i32'],
  ['unorm2x16', [16, 16], false, 'i32'],
  ['snorm2x16', [16, 16], true, 'i32'],
  ['unorm4x16', [16, 16, 16, 16], false, 'i64'],
  ['snorm4x16', [16, 16, 16, 16], true, 'i64'],
  ['unorm1x16', [16], false, 'i16'],
  ['snorm1x16', [16], true, 'i16'],
  ['unorm.rgb10a2', [10, 10, 10, 2], false, 'i32'],
];

/** To the nearest integer, halves to even. */
function nearest(x: number): number {
  const low = Math.floor(x);
  const left = x - low;
  return left < 0.5 || (left === 0.5 && low % 2 === 0) ? low : low + 1;
}

for (const [form, widths, isSigned, word] of packs)
  need(test, ['llvm-as-14'], `air.pack.${form} and air.unpack.${form}`, () => {
    const n = widths.length;
    const type = n === 1 ? 'float' : `<${n} x float>`;
    const suffix = n === 1 ? 'f32' : `v${n}f32`;
    const bytes = word === 'i64' ? 8 : word === 'i16' ? 2 : 4;
    const values = [
      0,
      1,
      -1,
      0.5,
      -0.5,
      2,
      -2,
      Number.NaN,
      0.1,
      0.25,
      -0.75,
      1 / 3,
      0.002,
      -0.004,
      0.999,
      0.498,
      Number.POSITIVE_INFINITY,
      -0,
    ];
    const threads = values.length;
    const input = Float32Array.from({ length: threads * n }, (_, i) => values[(i * 5 + Math.floor(i / n)) % threads]!);
    const packed = callEach({ name: `air.pack.${form}.${suffix}`, result: word, operands: [[type, input]], threads, stride: bytes });
    const words = Array.from({ length: threads }, (_, i) =>
      packed.subarray(i * bytes, (i + 1) * bytes).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n),
    );
    const scale = (width: number): number => 2 ** (isSigned ? width - 1 : width) - 1;
    words.forEach((found, thread) => {
      let wanted = 0n;
      let at = 0n;
      widths.forEach((width, lane) => {
        const x = input[thread * n + lane]!;
        const scaled = Number.isNaN(x)
          ? 0
          : nearest(Math.min(Math.max(Math.fround(x * scale(width)), isSigned ? -scale(width) : 0), scale(width)));
        wanted |= BigInt.asUintN(width, BigInt(scaled)) << at;
        at += BigInt(width);
      });
      assert.is(found, wanted, `thread ${thread}`);
    });
    const stride = n === 1 ? 4 : 4 * n;
    const back = callEach({ name: `air.unpack.${form}.${suffix}`, result: type, operands: [[word, packed]], threads, stride });
    const unpacked = new Float32Array(back.buffer);
    words.forEach((whole, thread) => {
      let rest = whole;
      widths.forEach((width, lane) => {
        const bits = isSigned ? BigInt.asIntN(width, rest) : BigInt.asUintN(width, rest);
        rest >>= BigInt(width);
        assert.is(unpacked[thread * n + lane], Math.fround(Math.max(-1, Number(bits) / scale(width))), `thread ${thread}, lane ${lane}`);
      });
    });
  });

const edges = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0xdeadbeef, 65536, 46341];
const pairs = edges.flatMap((x) => edges.map((y) => [x, y] as const));

/** Sum and flag of a function that returns a struct. */
function overflowing(name: string): [number, number][] {
  const text = airModule(
    [buffer, buffer, buffer, { type: 'i32', kind: 'air.thread_position_in_grid' }],
    `  %w = zext i32 %p3 to i64
  %ax = getelementptr i32, i32 addrspace(1)* %p1, i64 %w
  %ay = getelementptr i32, i32 addrspace(1)* %p2, i64 %w
  %x = load i32, i32 addrspace(1)* %ax
  %y = load i32, i32 addrspace(1)* %ay
  %r = call { i32, i1 } @${name}(i32 %x, i32 %y)
  %sum = extractvalue { i32, i1 } %r, 0
  %flag = extractvalue { i32, i1 } %r, 1
  %word = zext i1 %flag to i32
  %v = insertelement <2 x i32> undef, i32 %sum, i64 0
  %both = insertelement <2 x i32> %v, i32 %word, i64 1
  %base = bitcast i32 addrspace(1)* %p0 to <2 x i32> addrspace(1)*
  %to = getelementptr <2 x i32>, <2 x i32> addrspace(1)* %base, i64 %w
  store <2 x i32> %both, <2 x i32> addrspace(1)* %to`,
    `declare { i32, i1 } @${name}(i32, i32)`,
  );
  const given = [0, 1].map((k) => Uint32Array.from(pairs.map((pair) => pair[k]!)));
  const args = [new Uint32Array(2 * pairs.length), ...given];
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: pairs.length, args });
  const words = new Uint32Array(after!.slice().buffer);
  return pairs.map((_, i) => [words[2 * i]!, words[2 * i + 1]!]);
}

/** What a kernel with an array of so many words as a value leaves, whose last word is 9; or what is said of it. */
function arrayValue(count: number): number[] | string {
  const type = `{ i32, [${count} x i32] }`;
  const text = airModule(
    [buffer],
    `  %a = insertvalue ${type} undef, i32 7, 0
  %b = insertvalue ${type} %a, i32 9, 1, ${count - 1}
  %c = insertvalue ${type} %b, i32 8, 1, 0
  %array = extractvalue ${type} %c, 1
  %last = extractvalue [${count} x i32] %array, ${count - 1}
  %first = extractvalue [${count} x i32] %array, 0
  %head = extractvalue ${type} %c, 0
  %sum = add i32 %head, %first
  store i32 %sum, i32 addrspace(1)* %p0, align 4
  %to = getelementptr i32, i32 addrspace(1)* %p0, i64 1
  store i32 %last, i32 addrspace(1)* %to, align 4`,
  );
  try {
    const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [new Uint32Array(2)] });
    return [...new Uint32Array(after!.slice().buffer)];
  } catch (error) {
    return (error as Error).message;
  }
}

need(test, ['llvm-as-14'], 'values of structs and arrays, of which large ones are refused', () => {
  assert.equal(arrayValue(2), [15, 9]);
  assert.equal(arrayValue(16), [15, 9]);
  assert.match(String(arrayValue(257)), /values of type \[257 x i32\]/);
});

need(test, ['llvm-as-14'], 'a truth value is a byte in memory', () => {
  const text = airModule(
    [buffer],
    `  %word = load i32, i32 addrspace(1)* %p0, align 4
  %is = icmp ugt i32 %word, 4
  %flags = bitcast i32 addrspace(1)* %p0 to i1 addrspace(1)*
  %second = getelementptr i1, i1 addrspace(1)* %flags, i64 1
  store i1 %is, i1 addrspace(1)* %second, align 1
  %again = load i1, i1 addrspace(1)* %second, align 1
  %wide = select i1 %again, i32 10, i32 20
  %to = getelementptr i32, i32 addrspace(1)* %p0, i64 1
  store i32 %wide, i32 addrspace(1)* %to, align 4`,
  );
  const left = (first: number): number[] => {
    const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [Uint32Array.of(first, 0)] });
    return [...new Uint32Array(after!.slice().buffer)];
  };
  assert.equal(left(5), [0x0105, 10]);
  assert.equal(left(4), [0x0004, 20]);
});

const operations = { add: (x: bigint, y: bigint) => x + y, sub: (x: bigint, y: bigint) => x - y, mul: (x: bigint, y: bigint) => x * y };
for (const [operation, of] of Object.entries(operations))
  for (const sign of ['s', 'u'] as const)
    need(test, ['llvm-as-14'], `llvm.${sign}${operation}.with.overflow`, () => {
      const as = (x: bigint): bigint => (sign === 's' ? BigInt.asIntN(32, x) : BigInt.asUintN(32, x));
      overflowing(`llvm.${sign}${operation}.with.overflow.i32`).forEach(([value, flag], i) => {
        const [x, y] = pairs[i]!;
        const exact = of(as(BigInt(x)), as(BigInt(y)));
        assert.equal([value, flag], [Number(BigInt.asUintN(32, exact)), Number(as(exact) !== exact)], `${x}, ${y}`);
      });
    });

const words: Readonly<Record<string, (x: bigint, y: bigint) => bigint>> = {
  smin: (x, y) => (BigInt.asIntN(32, x) < BigInt.asIntN(32, y) ? x : y),
  smax: (x, y) => (BigInt.asIntN(32, x) > BigInt.asIntN(32, y) ? x : y),
  umin: (x, y) => [x, y].sort((a, b) => Number(a - b))[0]!,
  umax: (x, y) => [x, y].sort((a, b) => Number(a - b))[1]!,
  'usub.sat': (x, y) => (x < y ? 0n : x - y),
  'uadd.sat': (x, y) => (x + y > 0xffffffffn ? 0xffffffffn : x + y),
  fshl: (x, y) => BigInt.asUintN(32, (x << 7n) | (y >> 25n)),
  fshr: (x, y) => BigInt.asUintN(32, (x << 25n) | (y >> 7n)),
};
for (const [name, of] of Object.entries(words))
  need(test, ['llvm-as-14'], `llvm.${name}`, () => {
    const shift: [string, string][] = name.startsWith('fsh') ? [['i32', '39']] : [];
    const operands = [0, 1].map((k): [string, Uint32Array] => ['i32', Uint32Array.from(pairs.map((pair) => pair[k]!))]);
    const bytes = callEach({
      name: `llvm.${name}.i32`,
      result: 'i32',
      operands: [...operands, ...shift],
      threads: pairs.length,
      stride: 4,
    });
    new Uint32Array(bytes.buffer).forEach((found, i) => {
      assert.is(BigInt(found), of(BigInt(pairs[i]![0]), BigInt(pairs[i]![1])), String(pairs[i]));
    });
  });

need(test, ['llvm-as-14'], 'llvm.fshl and fshr by 0 and the width', () => {
  for (const count of ['0', '32'])
    for (const [name, wanted] of [
      ['fshl', 5],
      ['fshr', 9],
    ] as const) {
      const operands: [string, string][] = [
        ['i32', '5'],
        ['i32', '9'],
        ['i32', count],
      ];
      const bytes = callEach({ name: `llvm.${name}.i32`, result: 'i32', operands, threads: 1, stride: 4 });
      assert.is(new Uint32Array(bytes.buffer)[0], wanted);
    }
});

/** Moves bytes within a 512-byte buffer that holds byte indices, with constant and run-time lengths. */
function moved(call: string, declared: string, length: number): number[] {
  const text = airModule(
    [{ type: 'i8 addrspace(1)*', kind: 'air.buffer' }, buffer],
    `  %n = load i32, i32 addrspace(1)* %p1
  %len = zext i32 %n to i64
  %a = getelementptr i8, i8 addrspace(1)* %p0, i64 40
  %b = getelementptr i8, i8 addrspace(1)* %p0, i64 51
  %c = getelementptr i8, i8 addrspace(1)* %p0, i64 300
${call}`,
    declared,
  );
  const before = Uint8Array.from({ length: 512 }, (_, i) => i & 0xff);
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [before, Uint32Array.of(length)] });
  return [...after!];
}

for (const length of [0, 1, 7, 13, 64, 128, 129, 200])
  need(test, ['llvm-as-14'], `memory of ${length} bytes: copied, moved up and down, filled`, () => {
    const before = Array.from({ length: 512 }, (_, i) => i & 0xff);
    for (const size of [String(length), '%len']) {
      for (const [to, from, form] of [
        ['c', 'a', 'memcpy'],
        ['b', 'a', 'memmove'],
        ['a', 'b', 'memmove'],
      ] as const) {
        const type = 'i8 addrspace(1)*';
        const name = `llvm.${form}.p1i8.p1i8.i64`;
        const found = moved(
          `  call void @${name}(${type} %${to}, ${type} %${from}, i64 ${size}, i1 false)`,
          `declare void @${name}(${type}, ${type}, i64, i1)`,
          length,
        );
        const at = { a: 40, b: 51, c: 300 };
        const wanted = [...before];
        wanted.splice(at[to], length, ...before.slice(at[from], at[from] + length));
        assert.equal(found, wanted, `${form} from ${from} to ${to}, ${size}`);
      }
      const filled = moved(
        `  call void @llvm.memset.p1i8.i64(i8 addrspace(1)* %a, i8 -93, i64 ${size}, i1 false)`,
        'declare void @llvm.memset.p1i8.i64(i8 addrspace(1)*, i8, i64, i1)',
        length,
      );
      const wanted = [...before];
      wanted.splice(40, length, ...Array<number>(length).fill(163));
      assert.equal(filled, wanted, `memset, ${size}`);
    }
  });

need(test, ['llvm-as-14'], 'conversions: to bool, between kinds, narrower and wider', () => {
  const floats = Float32Array.of(0, -0, 0.5, Number.NaN, -3.75, 300, -1, 1e10);
  const threads = floats.length;
  const operands: [string, Float32Array][] = [['float', floats]];
  const call = (name: string, result: string, stride: number): Uint8Array => callEach({ name, result, operands, threads, stride });
  assert.equal([...new Uint32Array(call('air.convert.u.i1.f.f32', 'i1', 4).buffer)], [0, 0, 1, 1, 1, 1, 1, 1]);
  assert.equal([...new Uint8Array(call('air.convert.u.i8.f.f32', 'i8', 1).buffer)], [0, 0, 0, 0, 0, 255, 0, 255]);
  assert.equal([...new Int8Array(call('air.convert.s.i8.f.f32', 'i8', 1).buffer)], [0, 0, 0, 0, -3, 127, -1, 127]);
  assert.equal([...new Int16Array(call('llvm.fptosi.sat.i16.f32', 'i16', 2).buffer)], [0, 0, 0, 0, -3, 300, -1, 32767]);
  const halves = call('air.convert.f.f16.f.f32', 'half', 2);
  assert.equal(
    [...new Uint16Array(halves.buffer)].map((bits) => ((bits & 0x7fff) > 0x7c00 ? -1 : bits)),
    [0, 0x8000, 0x3800, -1, 0xc380, 0x5cb0, 0xbc00, 0x7c00],
  );
  const bytes = Int8Array.of(-1, 2, -128, 127);
  const ints = callEach({ name: 'air.convert.s.i32.s.i8', result: 'i32', operands: [['i8', bytes]], threads: 4, stride: 4 });
  assert.equal([...new Int32Array(ints.buffer)], [-1, 2, -128, 127]);
});

/** The neighboring f16 in the rounding direction, by trial. */
function halfTowards(x: number, isFit: (half: number) => boolean): number {
  const near = f16Bits(x);
  const candidates = [near - 1, near, near + 1].filter((bits) => bits >= 0 && (bits & 0x7fff) <= 0x7c00 && isFit(f16Value(bits)));
  return f16Value(candidates.sort((a, b) => Math.abs(f16Value(a) - x) - Math.abs(f16Value(b) - x))[0]!);
}

need(test, ['llvm-as-14'], 'conversions with a rounding', () => {
  const floats = Float32Array.of(1.0001, -1.0001, 2049, -2049, 65519, 70000, -70000, 1e-7, -1e-7, 0.1, 3.75, -3.5, 2.5, 3.5, -0.5, 0);
  const threads = floats.length;
  const halves = (rounding: string): number[] => {
    const name = `air.convert.f.f16.f.f32.${rounding}`;
    const bytes = callEach({ name, result: 'half', operands: [['float', floats]], threads, stride: 2 });
    return [...new Uint16Array(bytes.buffer)].map(f16Value);
  };
  const fits = {
    rtz: (x: number) => (half: number) => Math.abs(half) <= Math.abs(x),
    rtn: (x: number) => (half: number) => half <= x,
    rtp: (x: number) => (half: number) => half >= x,
    rte: () => () => true,
  };
  for (const [rounding, fit] of Object.entries(fits))
    assert.equal(
      halves(rounding),
      [...floats].map((x) => (rounding === 'rte' ? f16Value(f16Bits(x)) : halfTowards(x, fit(x)))),
      rounding,
    );
  const whole = (rounding: string): number[] => {
    const name = `air.convert.s.i32.f.f32.${rounding}`;
    const bytes = callEach({ name, result: 'i32', operands: [['float', floats.subarray(10)]], threads: 6, stride: 4 });
    return [...new Int32Array(bytes.buffer)];
  };
  assert.equal(whole('rte'), [4, -4, 2, 4, 0, 0]);
  assert.equal(whole('rtp'), [4, -3, 3, 4, 0, 0]);
  assert.equal(whole('rtn'), [3, -4, 2, 3, -1, 0]);
  assert.equal(whole('rtz'), [3, -3, 2, 3, 0, 0]);
});

need(test, ['llvm-as-14'], 'conversions of integers that saturate', () => {
  const words = Int32Array.of(0, 1, -1, 127, 128, 255, 256, -128, -129, 2 ** 31 - 1, -(2 ** 31));
  const call = (name: string, result: string): number[] => {
    const bytes = callEach({ name, result, operands: [['i32', words]], threads: words.length, stride: 1 });
    return [...bytes];
  };
  const within = (low: number, high: number) => [...words].map((x) => Math.min(high, Math.max(low, x)) & 0xff);
  assert.equal(call('air.convert.s.i8.s.i32.sat', 'i8'), within(-128, 127));
  assert.equal(call('air.convert.u.i8.s.i32.sat', 'i8'), within(0, 255));
  assert.equal(
    call('air.convert.s.i8.u.i32.sat', 'i8'),
    [...words].map((x) => Math.min(127, x >>> 0)),
  );
  assert.equal(
    call('air.convert.u.i8.u.i32', 'i8'),
    [...words].map((x) => x & 0xff),
  );
});

need(test, ['llvm-as-14'], 'reductions of vectors', () => {
  const x = Int32Array.of(5, -7, 3, 100);
  const of = (name: string): number =>
    new Int32Array(
      callEach({ name: `llvm.vector.reduce.${name}.v4i32`, result: 'i32', operands: [['<4 x i32>', x]], threads: 1, stride: 4 }).buffer,
    )[0]!;
  assert.equal(['add', 'mul', 'smin', 'smax', 'umax', 'and', 'xor'].map(of), [
    101,
    -10500,
    -7,
    100,
    -7,
    5 & -7 & 3 & 100,
    5 ^ -7 ^ 3 ^ 100,
  ]);
});

// Tables are objects of JavaScript, which have properties of their own.
test('names of JavaScript are no functions and no types', () => {
  for (const name of ['air.simd_constructor', 'air.quad_toString', 'air.constructor', 'llvm.toString'])
    assert.is(groupFunctionOf(name) ?? shapedFunctionOf(name), undefined, name);
  for (const name of ['constructor', 'toString', '__proto__']) assert.is(elementOfTypeName(name), undefined, name);
});

test.run();
