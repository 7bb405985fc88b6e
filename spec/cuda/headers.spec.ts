/**
 * Our CUDA headers, as clang compiled the fixtures with them: intrinsics, 16-bit floats and groups give what nvcc's code of the same sources
 * gave; functions of mathematics are as near to the exact results as CUDA states. `scripts/record/headers.ts` records both.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { headerDigests, headerFixtures, headerNames, headersHash, includeFolder, wordsPerThread } from '../support/headers.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('cuda/headers');
const recorded = JSON.parse(readFileSync(join(headerFixtures, 'recorded.json'), 'utf8')) as {
  readonly headers: string;
  readonly digests: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
};

function translated(name: string): string {
  const diagnostics = new Diagnostics();
  const ptx = ptxOfBitcode(new Uint8Array(gunzipSync(readFileSync(join(headerFixtures, `${name}.bc.gz`)))), diagnostics);
  assert.equal(diagnostics.list, []);
  return ptx!;
}

test('the recording is of these headers', () => assert.is(headersHash(), recorded.headers));

/** Of a second and more: run with CUMETAL_MATH=all. */
const long = ['distributions'];
const all = process.env.CUMETAL_MATH === 'all';

for (const [name, words] of Object.entries(wordsPerThread).filter(([each]) => all || !long.includes(each)))
  test(`${name}: each word is that of nvcc's code`, async () => {
    const found = await headerDigests(translated(name), words);
    assert.equal(Object.keys(found).sort(), Object.keys(recorded.digests[name]!).sort());
    for (const [kernel, digests] of Object.entries(recorded.digests[name]!))
      assert.equal(
        digests.flatMap((digest, word) => (digest === found[kernel]![word] ? [] : [word])),
        [],
        `${kernel}: words`,
      );
  });

test("enumerators have the numbers of nvcc's headers", () => {
  const numbers = JSON.parse(readFileSync(join(headerFixtures, 'numbers.json'), 'utf8')) as Readonly<Record<string, number>>;
  let count = 0;
  for (const file of ['driver_types.h', 'cuda.h', 'device_types.h', 'attributes', 'errors', 'graph_types', 'texture_types']) {
    const text = readFileSync(join(includeFolder, file.endsWith('.h') ? file : `cumetal/${file}.h`), 'utf8');
    for (const [, name, value] of text.matchAll(/\b((?:cu|CU)\w+) = (-?\d+|0x[\da-f]+)\b/g)) {
      assert.is(Number(value), numbers[name!], name);
      count++;
    }
  }
  assert.ok(count > 450);
});

test('managed variables are those of PTX', () => {
  const { length } = translated('intrinsics').match(/\.managed/g) ?? [];
  assert.is(length, 1);
  assert.match(translated('intrinsics'), /\n\.visible \.global \.attribute\(\.managed\) \.align 4 \.b8 both\[8\] = \{30, 0, 0, 0, 41\};/);
});

type Row = readonly [x: string, y: string, value: string, rest: number];
const reference = JSON.parse(String(gunzipSync(readFileSync(join(headerFixtures, 'math.json.gz'))))) as Readonly<
  Record<string, { readonly limit: number; readonly rows: readonly Row[] }>
>;
/** One for each core that functions share, as a compilation takes half a second; with CUMETAL_MATH=all every function runs. */
const chosen = ['f_sin', 'f_pow', 'f_erfc', 'f_remainder', 'd_cos', 'd_log'];
const names = all ? Object.keys(reference) : chosen;
const mathPtx = translated('math');

const bits = new DataView(new ArrayBuffer(8));
function doubleOf(hexadecimal: string): number {
  bits.setBigUint64(0, BigInt(`0x${hexadecimal}`));
  return bits.getFloat64(0);
}

/** The distance to the exact result, in units of its last place. */
function unitsOff(found: number, [, , value, rest]: Row, isSingle: boolean): number {
  if (value === 'nan') return Number.isNaN(found) ? 0 : Number.POSITIVE_INFINITY;
  if (value.endsWith('inf')) return found === (value === 'inf' ? Infinity : -Infinity) ? 0 : Number.POSITIVE_INFINITY;
  const nearest = doubleOf(value);
  if (found === nearest) return Math.abs(rest);
  const [fraction, least] = isSingle ? [23, -126] : [52, -1022];
  const exponent = Math.max(least, Math.floor(Math.log2(Math.abs(nearest) || Number.MIN_VALUE)));
  return Math.abs((found - nearest) / 2 ** (exponent - fraction) - rest);
}

test('functions of mathematics are within the errors that CUDA states', async () => {
  const device = await Device.open('cpu');
  try {
    const module = await device.load(mathPtx);
    for (const name of names) {
      const { limit, rows } = reference[name]!;
      const isSingle = name.startsWith('f_');
      const make = (values: readonly number[]): Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> =>
        isSingle ? Float32Array.from(values) : Float64Array.from(values);
      const buffers = [0, 1, 2].map((which) => {
        const buffer = device.allocate(isSingle ? 'f32' : 'f64', rows.length);
        buffer.write(make(rows.map((row) => (which < 2 ? doubleOf(row[which as 0 | 1]) : 0))) as never);
        return buffer;
      });
      await module.kernel(name).launch({ grid: 1, block: rows.length, args: [...buffers, rows.length] });
      const found = await buffers[2]!.read();
      for (const [i, row] of rows.entries()) {
        const off = unitsOff(Number(found[i]), row, isSingle);
        assert.ok(off <= Math.max(limit, 0.5), `${name}(${doubleOf(row[0])}, ${doubleOf(row[1])}) is ${found[i]}: ${off} units off`);
      }
      for (const buffer of buffers) buffer.free();
    }
  } finally {
    await device.close();
  }
});

test("random numbers are those of the generators' papers", async () => {
  const device = await Device.open('cpu');
  try {
    const module = await device.load(translated('random'));
    const jumps = Uint32Array.from({ length: 32 }, (_, i) => (i * i * 37) % 1000);
    const input = device.allocate('u32', 64);
    input.write(Uint32Array.from([...jumps, 0, 0xffffffff, ...new Array(30).fill(1)]));
    const output = device.allocate('u32', 32 * 32);
    await module.kernel('numbers').launch({ grid: 1, block: 32, args: [input, output] });
    const found = [...(await output.read())];
    for (const [i, jump] of jumps.entries()) assert.equal(found.slice(32 * i, 32 * i + 8), xorwow(jump, 8), `XORWOW after ${jump} steps`);
    for (const same of [8, 9, 14, 15]) for (let i = 0; i < 32; i++) assert.is(found[32 * i + same], 1, `word ${same} of thread ${i}`);
    // Known answers of the authors' library Random123.
    assert.equal(found.slice(10, 14), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    assert.equal(found.slice(42, 46), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
    // L'Ecuyer's first number for seeds of 12345, which he divides by one more than cuRAND.
    const mrg = new DataView(new Uint32Array([found[17]!, found[16]!]).buffer).getFloat64(0, true);
    assert.ok(Math.abs(mrg / 0.127011122046577 - 4294967088 / 4294967087) < 1e-14);
  } finally {
    await device.close();
  }
});

/** Numbers of Marsaglia's xorwow with his initial state, after `skipped` steps. */
function xorwow(skipped: number, count: number): number[] {
  let [x, y, z, w, v, d] = [123456789, 362436069, 521288629, 88675123, 5783321, 6615241];
  const all = Array.from({ length: skipped + count }, () => {
    const t = x ^ (x >>> 2);
    [x, y, z, w] = [y, z, w, v];
    v = v ^ (v << 4) ^ (t ^ (t << 1));
    d = (d + 362437) | 0;
    return (v + d) >>> 0;
  });
  return all.slice(skipped);
}

test('no header is longer than 400 lines, but for polynomials, and none has a line of more than 160 characters', () => {
  for (const name of headerNames()) {
    const lines = readFileSync(join(includeFolder, name), 'utf8').split('\n');
    assert.ok(lines.length <= 401 || name.includes('polynomials'), name);
    assert.ok(
      lines.every((line) => line.length <= 160),
      name,
    );
  }
});

need(test, ['ptxas'], 'ptxas takes what becomes of them', async () => {
  const all = [...Object.keys(wordsPerThread).map(translated), translated('random')];
  assert.equal(
    await ptxasTakes(all, 'sm_80'),
    all.map(() => true),
  );
});

test.run();
