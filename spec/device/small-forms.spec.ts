/**
 * Forms that no recording has yet, against plain loops and exact arithmetic: small floats, wide accesses and registers, atomics on vectors, memory of
 * several devices. Source: PTX ISA 9.0; OCP Microscaling Formats (MX) Specification 1.0.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bf16Bits, bf16Value, f16Bits, f16Value } from '../../src/base/float.ts';
import { faultOf, refusedBy, run, ptx as text } from '../support/async.ts';

const test = suite('device/small-forms');

const threads = 64;
let seed = 0x2545f491;
const random = (): number => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return seed >>> 0;
};
const view = new DataView(new ArrayBuffer(8));
const floatOf = (bits: number): number => {
  view.setUint32(0, bits);
  return view.getFloat32(0);
};
const bitsOf = (value: number): number => {
  view.setFloat32(0, value);
  return view.getUint32(0);
};
const edges = [
  ...[0, 0x80000000, 1, 0x80000001, 0x00400000, 0x00400001, 0x007fffff, 0x00800000, 0x00800001, 0x7f7fffff, 0xff7fffff, 0x7f7ff000],
  ...[0x7f7fefff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x3f800000, 0x3f801000, 0x3f803000, 0xbf800fff, 0x40c00000, 0x40e00000],
  ...[0x40a00000, 0x3e800000, 0x3e800001, 0x3f400000, 0x3f9fffff, 0x3fa00000, 0x40200000, 0x40600000, 0x7f7fe000, 0x7f7fd001],
];
/** Words that are edges, floats of middling size, or any. */
const word = (): number => {
  const kind = random() % 4;
  if (kind === 0) return edges[random() % edges.length]!;
  return kind === 1 ? random() : ((random() & 0x80000000) | (0x3d000000 + (random() % 0x05000000))) >>> 0;
};
const words = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => edges[i] ?? word());

/** Each thread has `x`, `y` and `z`, of three lists of words, and stores `r`. */
function each(body: string, inputs: readonly Uint32Array[]): number[] {
  const count = inputs[0]!.length;
  const loads = ['x', 'y', 'z']
    .slice(0, inputs.length)
    .map((name, i) => `ld.param.u64 in, [p${i + 1}]; mad.wide.u32 in, n, 4, in; ld.global.b32 ${name}, [in];`);
  const source = text(
    `.reg .b32 n, r, z; .reg .f32 fx, fy, fz, fr; .reg .b16 h; .reg .b32 m;
mov.u32 n, %ctaid.x; mad.lo.u32 n, n, ${threads}, tid; mad.wide.u32 out, n, 4, out; ${loads.join('\n')}
mov.b32 fx, x; mov.b32 fy, ${inputs.length > 1 ? 'y' : 'x'}; mov.b32 fz, ${inputs.length > 2 ? 'z' : 'x'};
${body}
st.global.b32 [out], r;`,
    { params: inputs.map((_, i) => `, .param .u64 p${i + 1}`).join('') },
  );
  const [out] = run(source, { args: [new Uint32Array(count), ...inputs], blocks: count / threads, threads });
  return [...new Uint32Array(out!.slice().buffer)];
}

const isNan = (bits: number): boolean => (bits & 0x7fffffff) > 0x7f800000;
/** NaNs alike. */
const plain = (list: readonly number[]): string[] => list.map((bits) => (isNan(bits) ? 'NaN' : bits.toString(16)));

/** The numbers of four bits, by their bits. */
const e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
/** The nearest one, of two that are as near the one with even bits; NaN gives the largest. */
function toE2m1(value: number): number {
  if (Number.isNaN(value)) return 7;
  const sign = Object.is(value, -0) || value < 0 ? 8 : 0;
  const size = Math.min(6, Math.abs(value));
  const distances = e2m1.map((each_) => Math.abs(each_ - size));
  const least = Math.min(...distances);
  const near = [...distances.keys()].filter((i) => distances[i] === least);
  return sign | (near.find((i) => i % 2 === 0) ?? near[0]!);
}

test('4-bit floats', () => {
  const [x, y] = [words(256), words(256).reverse()];
  const relu = (value: number): number => Math.max(0, value);
  for (const [form, act] of [
    ['', (value: number) => value],
    ['.relu', relu],
  ] as const) {
    const body = `{ .reg .b8 b; cvt.rn.satfinite${form}.e2m1x2.f32 b, fx, fy; mov.b16 h, {b, b}; cvt.u32.u16 r, h; and.b32 r, r, 255; }`;
    const wanted = [...x].map((bits, i) => (toE2m1(act(floatOf(bits))) << 4) | toE2m1(act(floatOf(y[i]!))));
    assert.equal(each(body, [x, y]), wanted, form);
  }
  const halves = Uint32Array.from({ length: 256 }, () => random());
  const fromHalves = '{ .reg .b8 b; cvt.rn.satfinite.e2m1x2.f16x2 b, x; mov.b16 h, {b, b}; cvt.u32.u16 r, h; and.b32 r, r, 255; }';
  assert.equal(
    each(fromHalves, [halves]),
    [...halves].map((bits) => (toE2m1(f16Value(bits >>> 16)) << 4) | toE2m1(f16Value(bits & 0xffff))),
  );
  const all = Uint32Array.from({ length: 256 }, (_, i) => i);
  const back = '{ .reg .b8 b, c; cvt.u16.u32 h, x; mov.b16 {b, c}, h; cvt.rn.f16x2.e2m1x2 r, b; }';
  const half = (bits: number): number => f16Bits(bits & 8 ? -e2m1[bits & 7]! : e2m1[bits]!);
  assert.equal(
    each(back, [all]),
    [...all].map((bits) => ((half(bits >> 4) << 16) | half(bits & 15)) >>> 0),
  );
});

/** The bits of a power of two by exact comparison: the greatest one not above, or the least one not below. */
function toPower(value: number, rounding: 'rz' | 'rp', isSaturating: boolean): number {
  if (Number.isNaN(value)) return 255;
  const size = Math.abs(value);
  const powers = Array.from({ length: 256 }, (_, i) => 2 ** (i - 127));
  let found = rounding === 'rz' ? powers.filter((power) => power <= size).length - 1 : powers.findIndex((power) => power >= size);
  if (found < 0) found = rounding === 'rz' ? 0 : 255;
  return isSaturating ? Math.min(254, found) : Math.min(255, found);
}

test('8-bit powers of two', () => {
  const [x, y] = [words(256), words(256).reverse()];
  for (const rounding of ['rz', 'rp'] as const)
    for (const isSaturating of [false, true]) {
      const name = `cvt.${rounding}${isSaturating ? '.satfinite' : ''}.ue8m0x2`;
      const one = (bits: number): number => toPower(floatOf(bits), rounding, isSaturating);
      const wanted = [...x].map((bits, i) => (one(bits) << 8) | one(y[i]!));
      assert.equal(each(`${name}.f32 h, fx, fy; cvt.u32.u16 r, h;`, [x, y]), wanted, name);
      const bfloats = [...x].map((bits) => (one((bits & 0xffff0000) >>> 0) << 8) | one((bits << 16) >>> 0));
      assert.equal(each(`${name}.bf16x2 h, x; cvt.u32.u16 r, h;`, [x]), bfloats, `${name} of bfloats`);
    }
  const all = Uint32Array.from({ length: 256 }, (_, i) => i | ((255 - i) << 8));
  const bfloat = (power: number): number => (power === 255 ? 0x7fff : bf16Bits(2 ** (power - 127)));
  assert.equal(
    each('cvt.u16.u32 h, x; cvt.rn.bf16x2.ue8m0x2 r, h;', [all]),
    [...all].map((bits) => ((bfloat(bits >> 8) << 16) | bfloat(bits & 255)) >>> 0),
  );
});

test('19-bit floats that saturate', () => {
  const x = words(512);
  for (const rounding of ['rna', 'rn', 'rz']) {
    const wanted = [...x].map((bits) => {
      if (isNan(bits)) return bits;
      const [sign, size] = [(bits & 0x80000000) >>> 0, bits & 0x7fffffff];
      const [low, rest] = [size & ~0x1fff, size & 0x1fff];
      const isUp = rounding === 'rna' ? rest >= 0x1000 : rounding === 'rn' && (rest > 0x1000 || (rest === 0x1000 && (low & 0x2000) !== 0));
      return (sign | Math.min(0x7f7fe000, low + (isUp ? 0x2000 : 0))) >>> 0;
    });
    assert.equal(plain(each(`cvt.${rounding}.satfinite.tf32.f32 r, fx;`, [x])), plain(wanted), rounding);
  }
});

/** The least or greatest number, -0 below +0; undefined for none. */
function extreme(list: readonly number[], isLeast: boolean): number | undefined {
  const sorted = list.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b || Number(Object.is(b, -0)) - Number(Object.is(a, -0)));
  return isLeast ? sorted[0] : sorted.at(-1);
}

const of = (list: readonly number[], op: string, m: { abs: boolean; nan: boolean }): number => {
  const values = list.map((bits) => floatOf(m.abs ? bits & 0x7fffffff : bits));
  const found = m.nan && values.some(Number.isNaN) ? undefined : extreme(values, op === 'min');
  return found === undefined ? 0x7fffffff : bitsOf(found);
};

const modes = ['min', 'max'].flatMap((op) => [false, true].flatMap((abs) => [false, true].map((nan) => ({ op, abs, nan }))));

test('the least and the greatest of three floats', () => {
  const lists = [words(256), words(256).reverse(), Uint32Array.from({ length: 256 }, word)];
  for (const m of modes) {
    const form = `${m.op}${m.nan ? '.NaN' : ''}${m.abs ? '.abs' : ''}.f32`;
    const wanted = [...lists[0]!].map((_, i) =>
      of(
        lists.map((list) => list[i]!),
        m.op,
        m,
      ),
    );
    assert.equal(plain(each(`${form} fr, fx, fy, fz; mov.b32 r, fr;`, lists)), plain(wanted), form);
  }
});

test('the least and the greatest float of a mask of threads', () => {
  const x = Uint32Array.from({ length: 512 }, (_, i) => (i < 64 ? 0x7fc00000 : word()));
  for (const m of modes) {
    const form = `redux.sync.${m.op}${m.abs ? '.abs' : ''}${m.nan ? '.NaN' : ''}.f32`;
    // Lanes below and above 12 are two groups.
    const body = `and.b32 m, n, 31; setp.lt.u32 p, m, 12; selp.b32 m, 0xfff, 0xfffff000, p; @p ${form} fr, fx, m; @!p ${form} fr, fx, m; mov.b32 r, fr;`;
    const wanted = [...x].map((_, i) => {
      const first = i - (i % 32);
      const [from, to] = i % 32 < 12 ? [0, 12] : [12, 32];
      return of([...x.subarray(first + from, first + to)], m.op, m);
    });
    assert.equal(plain(each(body, [x])), plain(wanted), form);
  }
});

const lists = (register: string, count: number): string => Array.from({ length: count }, (_, i) => `${register}${i}`).join(', ');

test('loads and stores of eight elements, in every space and with every hint', () => {
  const input = words(64);
  const kinds = [
    ['b32', 'b32', 32],
    ['f32', 'f32', 32],
    ['b16', 'b16', 16],
    ['u8', 'b16', 8],
  ] as const;
  for (const [type, register, bytes] of kinds) {
    const wide = bytes > 16;
    const forms: readonly (readonly [string, string])[] = [
      [`ld.global.v8.${type} {${lists('v', 8)}}, [in]`, `st.global.v8.${type} [out], {${lists('v', 8)}}`],
      [`ld.v8.${type} {${lists('v', 8)}}, [in]`, `st.v8.${type} [out], {${lists('v', 8)}}`],
      [`ld.volatile.global.v8.${type} {${lists('v', 8)}}, [in]`, `st.volatile.global.v8.${type} [out], {${lists('v', 8)}}`],
      [`ld.global.nc.L2::128B.v8.${type} {${lists('v', 8)}}, [in]`, `st.global.L1::no_allocate.v8.${type} [out], {${lists('v', 8)}}`],
      [`ld.acquire.gpu.global.v8.${type} {${lists('v', 8)}}, [in]`, `st.release.cluster.global.v8.${type} [out], {${lists('v', 8)}}`],
      [
        `ld.global.L2::cache_hint.v8.${type} {${lists('v', 8)}}, [in], state`,
        `st.global.L2::cache_hint.v8.${type} [out], {${lists('v', 8)}}, state`,
      ],
      ...(wide
        ? [
            [
              `ld.global.L2::evict_last.v8.${type} {${lists('v', 8)}}, [in]`,
              `st.global.L2::evict_first.v8.${type} [out], {${lists('v', 8)}}`,
            ] as const,
          ]
        : []),
      ...(wide
        ? []
        : [
            [
              `ld.global.v8.${type} {${lists('v', 8)}}, [in]; st.shared.v8.${type} [buffer+64], {${lists('v', 8)}}; mov.b16 v0, 0; ld.shared.v8.${type} {${lists('v', 8)}}, [data+64]`,
              `st.global.v8.${type} [out], {${lists('v', 8)}}`,
            ] as const,
          ]),
    ];
    for (const [load, store] of forms) {
      const body = `.reg .${register} v<8>; mov.u64 state, 0; ld.param.u64 in, [p1];\n${load};\n${store};`;
      const [out] = run(text(body, { params: ', .param .u64 p1' }), { args: [new Uint32Array(16).fill(0xeeeeeeee), input] });
      const wanted = new Uint8Array(64).fill(0xee);
      wanted.set(new Uint8Array(input.buffer).subarray(0, bytes));
      assert.equal([...out!], [...wanted], `${load} ${store}`);
    }
  }
});

test('an access of eight elements needs its alignment', () => {
  assert.match(
    faultOf('.reg .b32 v<8>; add.u64 out, out, 4; ld.global.v8.b32 {v0, v1, v2, v3, v4, v5, v6, v7}, [out]; st.global.b32 [out], v0;')
      .message,
    'multiple',
  );
});

test('registers of 128 bits', () => {
  const input = words(64);
  const wanted = [...input.subarray(2, 4), ...input.subarray(0, 2), ...input.subarray(4, 8)];
  const body = `.reg .b128 big, s, t<2>; .reg .b64 lo, hi; ld.param.u64 in, [p1];
ld.global.b128 big, [in]; mov.b128 {lo, hi}, big; mov.b128 s, {hi, lo}; st.global.b128 [out], s;
ld.volatile.global.b128 t0, [in+16]; st.shared.b128 [buffer+32], t0; ld.relaxed.cta.shared.b128 t1, [data+32];
setp.eq.u32 p, tid, 0; @p mov.b128 big, t1; st.global.L2::cache_hint.b128 [out+16], big, state;`;
  const [out] = run(text(`mov.u64 state, 0; ${body}`, { params: ', .param .u64 p1' }), { args: [new Uint32Array(8), input] });
  assert.equal([...new Uint32Array(out!.slice().buffer)], wanted);
});

test('atomics of 128 bits: each thread puts its number on a list', () => {
  // The head of the list and a count are exchanged together; each thread keeps what it found.
  const body = `.reg .b128 big, s, t; .reg .b64 lo, hi, n; ld.param.u64 in, [p1]; cvt.u64.u32 n, tid; add.u64 n, n, 1;
ld.global.b128 big, [in];
AGAIN: mov.b128 {lo, hi}, big; add.u64 hi, hi, 1; mov.b128 s, {n, hi}; atom.relaxed.gpu.global.cas.b128 t, [in], big, s;
mov.b128 {state, hi}, t; mov.b128 {lo, generic}, big; setp.ne.u64 p, state, lo; setp.ne.or.u64 p, hi, generic, p; mov.b128 big, t; @p bra AGAIN;
cvt.u32.u64 x, lo; mad.wide.u32 out, tid, 4, out; st.global.u32 [out], x;`;
  const count = 96;
  const [found, list] = run(text(body, { params: ', .param .u64 p1' }), {
    args: [new Uint32Array(count), new Uint32Array(4)],
    threads: count,
  });
  const next = [...new Uint32Array(found!.slice().buffer)];
  const [head, , total] = new Uint32Array(list!.slice().buffer);
  assert.is(total, count);
  const seen: number[] = [];
  for (let at = head!; at !== 0; at = next[at - 1]!) seen.push(at);
  assert.equal(
    seen.sort((a, b) => a - b),
    Array.from({ length: count }, (_, i) => i + 1),
  );
  const swap = `.reg .b128 big, s; .reg .b64 n; cvt.u64.u32 n, tid; mov.b128 big, {n, n}; atom.global.exch.b128 s, [out], big; mov.b128 {n, state}, s; ld.param.u64 in, [p1]; mad.wide.u32 in, tid, 8, in; st.global.u64 [in], n;`;
  const [last, before] = run(text(swap, { params: ', .param .u64 p1' }), {
    args: [new Uint32Array([1000, 0, 1000, 0]), new Uint32Array(2 * count)],
    threads: count,
  });
  const old = [...new Uint32Array(before!.slice().buffer)].filter((_, i) => i % 2 === 0);
  assert.equal(
    [...old, new Uint32Array(last!.slice().buffer)[0]!].sort((a, b) => a - b),
    [...Array.from({ length: count }, (_, i) => i), 1000],
  );
});

test('CM2001: Apple GPUs have no atomic access of 128 bits', () => {
  const [said] = refusedBy('.reg .b128 big; ld.relaxed.gpu.global.b128 big, [out]; st.global.b128 [out], big;', 'macos15');
  assert.match(said!, /^CM2001 .*128 bits.*--target cpu/);
  assert.equal(refusedBy('.reg .b128 big; ld.global.b128 big, [out]; st.global.b128 [out], big;', 'macos15'), []);
});

/** Halves and floats as numbers. */
const decoders = {
  f32: { bytes: 4, at: (bytes: DataView, i: number): number => bytes.getFloat32(4 * i, true) },
  f16: { bytes: 2, at: (bytes: DataView, i: number): number => f16Value(bytes.getUint16(2 * i, true)) },
  bf16: { bytes: 2, at: (bytes: DataView, i: number): number => bf16Value(bytes.getUint16(2 * i, true)) },
} as const;
const encodedAs = { f32: bitsOf, f16: f16Bits, bf16: bf16Bits } as const;

test('atomics on vectors: each element on its own', () => {
  // Few enough that sums of 8 bits of mantissa are exact.
  const count = 8;
  for (const [type, vec, isPair, register] of [
    ['f32', 2, false, 'f32'],
    ['f32', 4, false, 'f32'],
    ['f16', 2, false, 'b16'],
    ['f16', 8, false, 'b16'],
    ['bf16', 4, false, 'b16'],
    ['f16', 4, true, 'b32'],
    ['bf16', 2, true, 'b32'],
  ] as const)
    for (const op of type === 'f32' ? (['add'] as const) : (['add', 'min', 'max'] as const)) {
      const elements = vec * (isPair ? 2 : 1);
      const name = `${op}${type === 'f32' ? '' : '.noftz'}.v${vec}.${type}${isPair ? 'x2' : ''}`;
      // Element e of thread t has t * 4 - e; sums are exact.
      const one = (e: number): string => {
        const lane = (index: number, to: string): string =>
          `cvt.rn.f32.s32 g, tid; fma.rn.f32 g, g, 0f3F800000, ${-index}.0; cvt.rn.${type}.f32 ${to}, g;`;
        if (type === 'f32') return `cvt.rn.f32.s32 v${e}, tid; add.f32 v${e}, v${e}, ${-e}.0;`;
        return isPair ? `${lane(2 * e, 'h0')} ${lane(2 * e + 1, 'h1')} mov.b32 v${e}, {h0, h1};` : lane(e, `v${e}`);
      };
      const values = Array.from({ length: vec }, (_, e) => one(e)).join('\n');
      const body = `.reg .f32 g; .reg .b16 h<2>; .reg .${register} v<${vec}>, w<${vec}>;\n${values}
atom.global.${name} {${lists('w', vec)}}, [out], {${lists('v', vec)}}; red.relaxed.gpu.global.${name} [out+64], {${lists('v', vec)}};
atom.global.L2::cache_hint.${name} {${lists('w', vec)}}, [out+128], {${lists('v', vec)}}, state;`.replace(
        `atom.global.L2::cache_hint.${name}`,
        `atom.global.${name.replace(/^(\w+(?:\.noftz)?)/, '$1.L2::cache_hint')}`,
      );
      const start = new Uint8Array(192);
      const [out] = run(text(`mov.u64 state, 0; ${body}`), { args: [start], threads: count });
      const values_ = (e: number): number[] => Array.from({ length: count }, (_, t) => t - e);
      const wanted = (e: number): number => {
        const all = values_(e);
        if (op === 'add') return all.reduce((a, b) => a + b, 0);
        return op === 'min' ? Math.min(0, ...all) : Math.max(0, ...all);
      };
      const { bytes, at } = decoders[type];
      for (const from of [0, 64, 128])
        assert.equal(
          Array.from({ length: elements }, (_, e) => at(new DataView(out!.buffer, out!.byteOffset + from), e)),
          Array.from({ length: elements }, (_, e) => wanted(e)),
          `${name} ${from} ${bytes}`,
        );
      assert.ok(encodedAs[type](0) === 0);
    }
});

test('halves with a cache policy', () => {
  const body = `.reg .b16 h, g; mov.b16 h, 0x3c00; mov.u64 state, 0; atom.global.add.noftz.L2::cache_hint.f16 g, [out], h, state;
red.global.add.noftz.L2::cache_hint.bf16x2 [out+4], 0x3f804000, state;`;
  const [out] = run(text(body), { args: [new Uint32Array(2)], threads: 8 });
  assert.equal([...new Uint32Array(out!.slice().buffer)], [0x4800, 0x41004180]);
});

test('memory of one device at the address of several', () => {
  const input = words(16);
  const forms: readonly (readonly [string, number])[] = [
    ['multimem.ld_reduce.global.add.u64 state, [in]; multimem.st.global.u64 [out], state;', 8],
    ['multimem.ld_reduce.acquire.gpu.global.min.s32 x, [in]; multimem.st.release.sys.global.s32 [out], x;', 4],
    ['multimem.ld_reduce.global.add.v4.f32 {f0, f1, f2, f3}, [in]; multimem.st.global.v4.f32 [out], {f0, f1, f2, f3};', 16],
    [
      'multimem.ld_reduce.global.add.acc::f32.v8.f16 {h0, h1, h2, h3, h4, h5, h6, h7}, [in]; multimem.st.global.v8.f16 [out], {h0, h1, h2, h3, h4, h5, h6, h7};',
      16,
    ],
    ['multimem.ld_reduce.global.max.v4.bf16x2 {r0, r1, r2, r3}, [in]; multimem.st.weak.global.v4.bf16x2 [out], {r0, r1, r2, r3};', 16],
    ['multimem.ld_reduce.global.add.e5m2x4 r0, [in]; multimem.st.global.e5m2x4 [out], r0;', 4],
  ];
  for (const [form, bytes] of forms) {
    const body = `.reg .f32 f<4>; .reg .b16 h<8>; .reg .b32 r<4>; ld.param.u64 in, [p1]; ${form}`;
    const [out] = run(text(body, { params: ', .param .u64 p1' }), { args: [new Uint32Array(8), input] });
    assert.equal([...out!.subarray(0, bytes)], [...new Uint8Array(input.buffer).subarray(0, bytes)], form);
  }
  const reductions = `.reg .b16 h<2>; mov.b32 y, 0x3c004000; multimem.red.global.add.u32 [out], tid; multimem.red.relaxed.gpu.global.max.s64 [out+8], 77;
multimem.red.global.add.f32 [out+16], 0f3F800000; multimem.red.global.add.f16x2 [out+20], y; mov.b32 {h0, h1}, y; multimem.red.global.max.v2.f16 [out+24], {h0, h1};`;
  const [out] = run(text(reductions), { args: [new Uint32Array(8)], threads: 4 });
  assert.equal([...new Uint32Array(out!.slice().buffer)], [6, 0, 77, 0, 0x40800000, 0x44004800, 0x3c004000, 0]);
});

test('what has no effect on results, and requests that get no block', () => {
  const body = `pmevent 3; pmevent.mask 5; setmaxnreg.inc.sync.aligned.u32 64; st.global.u32 [out], 5; discard.global.L2 [out+128], 128;
ld.mmio.relaxed.sys.global.u32 x, [out]; st.mmio.relaxed.sys.global.u32 [out+4], x; ld.volatile.global.L2::64B.u32 y, [out+4];
.reg .b128 answer; .reg .pred got; mov.u32 slot, barriers; mbarrier.init.shared.b64 [slot], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [slot], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [data], [slot];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [slot], 0; @!p bra WAIT;
ld.shared.b128 answer, [data]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 got, answer; selp.u32 y, 1000, y, got; st.global.u32 [out+8], y;`;
  const [out] = run(text(body), { args: [new Uint32Array(64)] });
  assert.equal([...new Uint32Array(out!.slice().buffer)].slice(0, 3), [5, 5, 5]);
});

test('a breakpoint fails the launch at its line', () => {
  const { message, line, last } = faultOf('mov.u32 x, 1;\nbrkpt;');
  assert.match(message, 'brkpt');
  assert.is(line, last);
});

test('saturated products of halves: infinities become the largest numbers, and NaN 0, in versions before 6.5', () => {
  const registers = (name: string, count: number): string => `{${Array.from({ length: count }, (_, i) => `${name}${i}`).join(', ')}}`;
  const textOf = (version: string, d: 'f16' | 'f32', c: string, factor: string): string => `.version ${version}
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p0) {
.reg .b32 a<8>, h<8>, t; .reg .f32 f<8>; .reg .b64 out, at;
ld.param.u64 out, [p0]; mov.u32 t, %tid.x; mul.wide.u32 at, t, 4; add.u64 out, out, at;
${Array.from({ length: 8 }, (_, i) => `mov.b32 a${i}, ${factor}; mov.b32 f${i}, ${c}; mov.b32 h${i}, ${c};`).join('\n')}
wmma.mma.sync.aligned.row.col.m16n16k16.${d}.${d}.satfinite ${d === 'f32' ? registers('f', 8) : registers('h', 4)}, ${registers('a', 8)}, ${registers('a', 8)}, ${d === 'f32' ? registers('f', 8) : registers('h', 4)};
${d === 'f32' ? 'st.global.f32 [out], f3;' : 'st.global.u32 [out], h3;'}
ret; }`;
  const resultOf = (...given: Parameters<typeof textOf>): number =>
    new Uint32Array(run(textOf(...given), { threads: 32, args: [new Uint32Array(32)] })[0]!.slice().buffer)[7]!;
  assert.is(resultOf('6.4', 'f32', '0x7f800000', '0x3c003c00'), 0x7f7fffff);
  assert.is(resultOf('6.4', 'f32', '0xff800000', '0x3c003c00'), 0xff7fffff);
  assert.is(resultOf('6.4', 'f32', '0x7fc00000', '0x3c003c00'), 0);
  assert.is(resultOf('6.4', 'f32', '0x3f800000', '0x3c003c00'), bitsOf(17));
  assert.is(resultOf('6.4', 'f16', '0xfc007c00', '0x3c003c00'), 0xfbff7bff);
  assert.is(resultOf('6.4', 'f16', '0x7e003c00', '0x3c003c00'), 0x00004c40);
  assert.is(resultOf('6.4', 'f16', '0', '0x7bff7bff'), 0x7bff7bff, 'a sum that does not fit');
  assert.throws(() => resultOf('6.5', 'f32', '0', '0'), /CM2001/);
});

test('NaNs of atomic sums are those of an H200, whatever operand is one', () => {
  // Of f32: memory, the operand and both are NaN, and sums of numbers; recorded on an NVIDIA H200.
  const pairs = [0x7fc00001, 0xffc12345, 0x7f800001, 0xff812345, 0x7fc1ffc2].flatMap((nan): [number, number, number][] => [
    [nan, 0x3f803c00, 0x7fffffff],
    [0x3f803c00, nan, 0x7fffffff],
    [nan, 0xffc12345, 0x7fffffff],
  ]);
  const others: readonly [number, number, number][] = [
    [0x7f800000, 0xff800000, 0x7fffffff],
    [0x7e017e02, 0xfe03fd55, 0xfb1fd4c0],
    [0x00000001, 0x00000001, 0],
    [0x3f803c00, 0x7c01fc03, 0x7c01fc03],
  ];
  const all = [...pairs, ...others];
  const given = Uint32Array.from(all.flatMap((row) => row.slice(0, 2)));
  const kernel = (body: string): string =>
    text(`mul.wide.u32 place, tid, 8; add.u64 out, out, place; { .reg .f32 a, b; ld.global.f32 a, [out+4]; ${body} }`);
  for (const body of ['atom.global.add.f32 b, [out], a;', 'red.global.add.f32 [out], a;']) {
    const [found] = run(kernel(body), { threads: all.length, args: [given] });
    const sums = new Uint32Array(found!.slice().buffer).filter((_, i) => i % 2 === 0);
    assert.equal(
      [...sums],
      all.map(([, , sum]) => sum),
      body,
    );
  }
});

test.run();
