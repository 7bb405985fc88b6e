/** What results are where a narrower computation would round twice, a counter would leave its type, or a variable changes after its use. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bf16,
  f16,
  f32,
  f64,
  globalIndex,
  kernel,
  local,
  loop,
  pipeline,
  ptr,
  range,
  s16,
  s32,
  s64,
  shared,
  type Type,
  u8,
  u16,
  u32,
  u64,
  type Value,
  v4,
  vector,
  warpReduce,
  when,
} from '../../src/build/index.ts';
import { Device } from '../../src/index.ts';

const test = suite('build/exact');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

/** Exactly `digits * 2^exponent` with 8 significant bits: to the nearest even, or to zero. */
function bfloatOf(digits: bigint, exponent: number, toZero: boolean): number {
  const sign = digits < 0n ? -1 : 1;
  let [whole, power] = [digits < 0n ? -digits : digits, exponent];
  const excess = whole.toString(2).length - 8;
  if (excess > 0) {
    const [kept, rest, half] = [whole >> BigInt(excess), whole & ((1n << BigInt(excess)) - 1n), 1n << BigInt(excess - 1)];
    whole = kept + (!toZero && (rest > half || (rest === half && (kept & 1n) === 1n)) ? 1n : 0n);
    power += excess;
  }
  return sign * Number(whole) * 2 ** power;
}

/** Values halfway between bfloats, and next to them by less than an f32 has. */
const integersNear = (bits: number, signed: boolean): bigint[] => {
  const found = [0n, 1n, 255n];
  for (let top = 8; top < bits - (signed ? 1 : 0); top++)
    for (const head of [0x80n, 0x81n, 0xffn])
      for (const off of [-1n, 0n, 1n]) {
        const half = ((2n * head + 1n) << BigInt(top)) >> 8n;
        const value = half + off;
        if (value < 1n << BigInt(bits - (signed ? 1 : 0))) found.push(value, ...(signed ? [-value] : []));
      }
  return found;
};

test('every type becomes a bfloat rounded once, to the nearest and to zero', async () => {
  const integers = [u8, u16, s16, u32, s32, u64, s64] as unknown as Type<'u32'>[];
  for (const type of integers) {
    const bits = Number(type.name.slice(1));
    const list = integersNear(bits, type.name.startsWith('s'));
    const convert = kernel('convert', { from: ptr(type), near: ptr(bf16), zero: ptr(bf16), n: u32 }, ({ from, near, zero, n }) => {
      const i = globalIndex();
      when(i.lt(n), () => {
        near.at(i).set(from.at(i).get().to(bf16));
        zero.at(i).set(from.at(i).get().to(bf16, { round: 'rz' }));
      });
    });
    const element = type.name.replace('s', 'i') as 'u32';
    const from = device.bufferOf(element, (bits === 64 ? list : list.map(Number)) as number[]);
    const [near, zero] = [device.allocate('bf16', list.length), device.allocate('bf16', list.length)];
    convert.launch(device, { grid: Math.ceil(list.length / 64), block: 64, args: { from, near, zero, n: list.length } });
    const wanted = (toZero: boolean): number[] => list.map((value) => bfloatOf(value, 0, toZero));
    assert.equal([...(await near.read())], wanted(false), type.name);
    assert.equal([...(await zero.read())], wanted(true), type.name);
  }
});

test('doubles become bfloats rounded once', async () => {
  const heads = [257n, 259n, 511n].flatMap((head) => [-1n, 0n, 1n].flatMap((off) => [(head << 44n) + off, -(head << 44n) + off]));
  const cases = heads.flatMap((digits) => [-52, -130, 0, 40].map((exponent) => ({ digits, exponent })));
  const values = cases.map(({ digits, exponent }) => Number(digits) * 2 ** exponent);
  const special = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -0, Number.NaN];
  const convert = kernel('convert', { from: ptr(f64), to: ptr(bf16) }, ({ from, to }) => {
    const i = globalIndex();
    to.at(i).set(from.at(i).get().to(bf16));
  });
  const all = [...values, ...special];
  const to = device.allocate('bf16', all.length);
  convert.launch(device, { grid: all.length, block: 1, args: { from: device.bufferOf('f64', all), to } });
  const got = [...(await to.read())];
  const wanted = cases.map(({ digits, exponent }) => bfloatOf(digits, exponent, false));
  assert.equal(got.slice(0, wanted.length), wanted);
  assert.equal(got.slice(wanted.length), [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -0, Number.NaN]);
});

test('a value of the same type is not changed by a conversion', async () => {
  const same = kernel('same', { x: ptr(f32), h: ptr(f16) }, ({ x, h }) => {
    x.at(1).set(x.at(0).get().to(f32, { round: 'rz' }));
    h.at(1).set(h.at(0).get().to(f16, { round: 'rp' }));
  });
  const [x, h] = [device.bufferOf('f32', [2.75, 0]), device.bufferOf('f16', [1.25, 0])];
  same.launch(device, { grid: 1, block: 1, args: { x, h } });
  assert.equal([...(await x.read()), ...(await h.read())], [2.75, 2.75, 1.25, 1.25]);
});

test('a counter does not leave its type', async () => {
  const made = kernel('ends', { out: ptr(u32), n: u32, s: s32, w: u64 }, ({ out, n, s, w }) => {
    let row = 0;
    const counted = (run: (count: () => void) => void): void => {
      const rounds = local(u32, 0);
      run(() => {
        rounds.set(rounds.add(1));
        when(rounds.gt(100), () => out.at(row).pointer().at(0).set(101));
      });
      out.at(row++).set(rounds);
    };
    counted((count) => loop(n, 0, -2, count));
    counted((count) => loop(n, 1, -3, count));
    counted((count) => {
      for (const _ of range(n, n.sub(5), -2)) count();
    });
    counted((count) => loop(n, 0xffffffff, 0x80000000, count));
    counted((count) => loop(s, -(2 ** 31), -(2 ** 30) - 1, count));
    counted((count) => loop(s, 2 ** 31 - 1, 2 ** 30, count));
    counted((count) => loop(w, 0n, -4n, count));
  });
  const out = device.allocate('u32', 7);
  await made.launch(device, { grid: 1, block: 1, args: { out, n: 5, s: -7, w: 9n }, timeoutMs: 3000 }).ended();
  const rounds = (from: bigint, to: bigint, step: bigint): number => {
    let count = 0;
    for (let i = from; step > 0n ? i < to : i > to; i += step) count++;
    return count;
  };
  const [n, least, most] = [5n, -(2n ** 31n), 2n ** 31n - 1n];
  assert.equal(
    [...(await out.read())],
    [
      rounds(n, 0n, -2n),
      rounds(n, 1n, -3n),
      rounds(n, 0n, -2n),
      rounds(n, 0xffffffffn, 0x80000000n),
      rounds(-7n, least, -(2n ** 30n) - 1n),
      rounds(-7n, most, 2n ** 30n),
      rounds(9n, 0n, -4n),
    ],
  );
});

test('vectors and groups of one lane have what a variable was, and a pipeline the rounds that there were', async () => {
  const made = kernel('kept', { out: ptr(f32), rounds: u32 }, ({ out, rounds }) => {
    const changing = local(f32, 1);
    const kept = vector(f32, [changing, 2, 3, 4]);
    const alone = warpReduce(changing as Value<'f32'>, (a, b) => a.add(b), { width: 1 });
    changing.set(9);
    out.as(v4(f32)).at(0).set(kept);
    out.at(4).set(alone);
    const left = local(u32, rounds);
    const [tile, count] = [shared(f32, 2), local(f32, 0)];
    const load = (stage: Value<'u32'>, round: Value<'u32'>): void => tile.at(stage).set(round.add(1).to(f32));
    const compute = (stage: Value<'u32'>): void => {
      left.set(0);
      count.set(count.add(tile.at(stage)));
    };
    pipeline({ stages: 2, rounds: left, load, compute });
    out.at(5).set(count);
  });
  const out = device.allocate('f32', 6);
  made.launch(device, { grid: 1, block: 1, args: { out, rounds: 4 } });
  assert.equal([...(await out.read())], [1, 2, 3, 4, 1, 1 + 2 + 3 + 4]);
});

test.run();
