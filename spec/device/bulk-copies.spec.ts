/** Bulk copies, asynchronous stores and reductions within a block, against plain loops. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { faultOf, ptx, run } from '../support/async.ts';

const test = suite('device/bulk-copies');

const signal = 'mbarrier::complete_tx::bytes';
const words = (bytes: Uint8Array): number[] => [...new Uint32Array(bytes.slice().buffer)];
const numbers = (count: number, of = 2654435761): Uint32Array => Uint32Array.from({ length: count }, (_, i) => Math.imul(i + 1, of) >>> 0);
const two = { params: ', .param .u64 p1' };
/** A barrier for `bytes`, which the copy brings, and the wait for them. */
const around = (bytes: number, copy: string): string => `ld.param.u64 in, [p1];
mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], ${bytes};
${copy}
WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [bar], 0;
@!p bra WAIT;
fence.proxy.async.shared::cta;
`;
const back = (bytes: number): string => `cp.async.bulk.global.shared::cta.bulk_group [out], [data], ${bytes};
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;`;

test('copies to shared memory and back, of every space and hint', () => {
  const input = numbers(64);
  const forms = [
    `cp.async.bulk.shared::cluster.global.${signal} [data], [in], 256, [bar];`,
    `cp.async.bulk.shared::cta.global.${signal}.L2::cache_hint [data], [in], 256, [bar], state;`,
    `cp.async.bulk.shared::cluster.global.${signal} [data+1024], [in], 256, [bar];
cp.async.bulk.shared::cluster.shared::cta.${signal} [data], [data+1024], 256, [bar];`,
  ];
  for (const [i, form] of forms.entries()) {
    const [out] = run(ptx(`mov.u64 state, 0;\n${around(i < 2 ? 256 : 512, form)}${back(256)}`, two), {
      args: [new Uint32Array(64), input],
    });
    assert.equal(words(out!), [...input], form);
  }
  const masked = `${around(256, forms[0]!)}mov.b16 m, 0x8421;\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask [out], [data], 256, m;`;
  const [out] = run(ptx(`.reg .b16 m;\n${masked}`, two), { args: [new Uint32Array(64).fill(0xeeeeeeee), input] });
  const bytes = new Uint8Array(input.buffer);
  assert.equal(
    [...out!],
    [...bytes].map((byte, i) => ((0x8421 >> (i % 16)) & 1 ? byte : 0xee)),
  );
});

const signed = (value: number): number => value | 0;
const joined: Readonly<Record<string, (a: number, b: number) => number>> = {
  'and.b32': (a, b) => a & b,
  'or.b32': (a, b) => a | b,
  'xor.b32': (a, b) => a ^ b,
  'add.u32': (a, b) => a + b,
  'inc.u32': (a, b) => (a >= b ? 0 : a + 1),
  'dec.u32': (a, b) => (a === 0 || a > b ? b : a - 1),
  'min.s32': (a, b) => Math.min(signed(a), signed(b)),
  'max.u32': (a, b) => Math.max(a, b),
};

test('reductions of integers, in global and in shared memory', () => {
  const [first, second] = [numbers(32), numbers(32, 40503 * 65521)];
  for (const [form, join] of Object.entries(joined)) {
    const wanted = [...first].map((a, i) => join(a, second[i]!) >>> 0);
    const load = `cp.async.bulk.shared::cluster.global.${signal} [data], [in], 128, [bar];`;
    const toGlobal = `${around(128, load)}cp.reduce.async.bulk.global.shared::cta.bulk_group.${form} [out], [data], 128;`;
    assert.equal(words(run(ptx(toGlobal, two), { args: [first, second] })[0]!), wanted, form);
    const toShared = `cp.async.bulk.shared::cluster.global.${signal} [data+512], [out], 128, [bar];\n${load}
cp.reduce.async.bulk.shared::cluster.shared::cta.${signal}.${form} [data+512], [data], 128, [bar];`;
    const body = `${around(384, toShared)}cp.async.bulk.global.shared::cta.bulk_group [out], [data+512], 128;`;
    assert.equal(words(run(ptx(body, two), { args: [first, second] })[0]!), wanted, form);
  }
});

test('reductions of 64 bits and of floats', () => {
  const load = `cp.async.bulk.shared::cluster.global.${signal} [data], [in], 64, [bar];`;
  const reduce = (form: string, a: ArrayBufferView, b: ArrayBufferView): ArrayBuffer =>
    run(ptx(`${around(64, load)}cp.reduce.async.bulk.global.shared::cta.bulk_group.${form} [out], [data], 64;`, two), {
      args: [a, b],
    })[0]!.slice().buffer as ArrayBuffer;
  const [a, b] = [
    BigInt64Array.from({ length: 8 }, (_, i) => (-3n) ** BigInt(i * 5)),
    BigInt64Array.from({ length: 8 }, (_, i) => 7n ** BigInt(i * 3) - 400n),
  ];
  assert.equal(
    [...new BigInt64Array(reduce('add.u64', a, b))],
    [...a].map((x, i) => BigInt.asIntN(64, x + b[i]!)),
  );
  assert.equal(
    [...new BigInt64Array(reduce('min.s64', a, b))],
    [...a].map((x, i) => (x - b[i]! < 0n ? x : b[i]!)),
  );
  const [f, g] = [Float32Array.from({ length: 16 }, (_, i) => 1.1 ** i), Float32Array.from({ length: 16 }, (_, i) => i / 7)];
  assert.equal(
    [...new Float32Array(reduce('add.f32', f, g))],
    [...f].map((x, i) => Math.fround(x + g[i]!)),
  );
  const [d, e] = [Float64Array.from(f.subarray(8)), Float64Array.from(g.subarray(8))];
  assert.equal(
    [...new Float64Array(reduce('add.f64', d, e))],
    [...d].map((x, i) => x + e[i]!),
  );
  // Halves of small whole numbers: exact.
  const halves = (of: (i: number) => number): Uint16Array =>
    Uint16Array.from({ length: 32 }, (_, i) => new Uint16Array(new Float16Array([of(i)]).buffer)[0]!);
  const [h, k] = [halves((i) => i - 9), halves((i) => 40 - 3 * i)];
  assert.equal([...new Uint16Array(reduce('add.noftz.f16', h, k))], [...halves((i) => i - 9 + 40 - 3 * i)]);
  assert.equal([...new Uint16Array(reduce('max.f16', h, k))], [...halves((i) => Math.max(i - 9, 40 - 3 * i))]);
});

test('stores and reductions of one thread that signal a barrier', () => {
  const body = `mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 40;
st.bulk.weak.shared::cta [data], generic8, 0;
st.async.weak.shared::cluster.${signal}.v4.u32 [data], {5, 6, 7, 8}, [bar];
st.async.shared::cluster.${signal}.v2.b64 [data+16], {wide, wide}, [bar];
red.async.relaxed.cluster.shared::cluster.${signal}.add.u32 [data+4], 100, [bar];
mbarrier.test_wait.parity.shared.b64 p, [bar], 0;
@p trap;
red.async.relaxed.cluster.shared::cluster.${signal}.max.s32 [data+12], -1, [bar];
mbarrier.test_wait.parity.shared.b64 p, [bar], 0;
@!p trap;
${back(48)}
st.async.release.gpu.global.b32 [out+40], 77;
red.async.release.gpu.global.add.u32 [out+44], 5;`;
  const [out] = run(ptx(`.reg .b64 generic8, wide;\nmov.u64 generic8, 256;\nmov.u64 wide, 0x300000004;\n${body}`), {
    args: [new Uint32Array(12)],
  });
  assert.equal(words(out!), [5, 106, 7, 8, 4, 3, 4, 3, 0, 0, 77, 5]);
});

test('a copy of bytes that are not whole, or not where they may be, stops the kernel at its line', () => {
  for (const [body, why] of [
    ['cp.async.bulk.global.shared::cta.bulk_group [out], [data], 20;', /16 does not divide/],
    ['cp.async.bulk.global.shared::cta.bulk_group [out], [data+8], 16;', /an address that 16/],
    ['cp.async.bulk.global.shared::cta.bulk_group [out+4], [data], 16;', /an address that 16/],
    [`cp.async.bulk.shared::cluster.global.${signal} [data], [out], 16, [bar];`, /not initialized/],
  ] as const) {
    const { message, line, last } = faultOf(body);
    assert.match(message, why, body);
    assert.is(line, last, body);
  }
});

test.run();
