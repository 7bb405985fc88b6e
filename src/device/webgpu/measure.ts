/**
 * What a GPU computes exactly. WGSL promises little, and drivers keep much more: a kernel computes sums, products and the like of numbers that
 * tell an exact GPU from another, and the results are compared with those of JavaScript, whose doubles contain them.
 */
import { type Exactness, portable } from '../../text/index.ts';
import type { Arena } from './arena.ts';
import type { Connection } from './connection.ts';

/** Pairs of numbers. */
const count = 4096;
/** Results of a pair, in this order. */
const results = ['sum', 'product', 'quotient', 'root', 'less', 'separate', 'fused'] as const;

const code = `@group(0) @binding(0) var<storage, read_write> arena: array<u32>;
@group(0) @binding(1) var<storage, read> launch: array<u32>;
fn number(at: u32) -> f32 { return bitcast<f32>(arena[(launch[0] >> 2u) + at]); }
fn put(at: u32, value: f32) { arena[(launch[0] >> 2u) + ${2 * count}u + at] = bitcast<u32>(value); }
@compute @workgroup_size(64)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
  let a = number(2u * id.x);
  let b = number(2u * id.x + 1u);
  let at = ${results.length}u * id.x;
  put(at, a + b);
  put(at + 1u, a * b);
  put(at + 2u, a / b);
  put(at + 3u, sqrt(abs(a)));
  put(at + 4u, select(0.0f, 1.0f, a < b));
  // Exactly the rounding error of the product, if the operations are fused, and zero otherwise.
  put(at + 5u, a * b - bitcast<f32>(arena[(launch[0] >> 2u) + ${2 * count}u + at + 1u]));
  put(at + 6u, fma(a, b, bitcast<f32>(arena[(launch[0] >> 2u) + ${2 * count}u + at + 1u] ^ 0x80000000u)));
}`;

/** Pseudo-random words of a fixed seed. */
function newRandom(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state ^ (state >>> 15)) >>> 0;
  };
}

/** Numbers of usual size, and at the front subnormal ones, zeros, infinities and NaN. */
function samples(): Uint32Array {
  const next = newRandom();
  const special = [
    0, 0x80000000, 1, 0x807fffff, 0x400000, 0x800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x00ffffff,
  ];
  const words = new Uint32Array(2 * count);
  let at = 0;
  for (const a of special)
    for (const b of special) {
      words[at++] = a;
      words[at++] = b;
    }
  for (; at < words.length; at++) {
    const exponent = at < 2048 ? (next() >>> 8) % 40 : 97 + ((next() >>> 8) % 60);
    words[at] = ((next() & 0x80000000) | (exponent << 23) | (next() >>> 9)) >>> 0;
  }
  return words;
}

type Exact = Readonly<Record<(typeof results)[number] | 'fusedNormal', boolean>>;

const isNormal = (a: number): boolean => Math.abs(a) >= 2 ** -126 && Number.isFinite(a);

/** Which results are right for all pairs; `fusedNormal` is `fused` for pairs of normal numbers. */
function judge(words: Uint32Array, given: Float32Array): Exact {
  const numbers = new Float32Array(words.buffer);
  const right: Record<keyof Exact, boolean> = {
    ...(Object.fromEntries(results.map((name) => [name, true])) as Record<(typeof results)[number], boolean>),
    fusedNormal: true,
  };
  for (let i = 0; i < count; i++) {
    const [a, b] = [numbers[2 * i]!, numbers[2 * i + 1]!];
    const product = Math.fround(a * b);
    // Errors of products below this size are no floats.
    const isSmall = !(Math.abs(product) > 2 ** -100) || !Number.isFinite(product);
    const wanted: Record<(typeof results)[number], number> = {
      sum: Math.fround(a + b),
      product,
      quotient: Math.fround(a / b),
      root: Math.fround(Math.sqrt(Math.abs(a))),
      less: a < b ? 1 : 0,
      separate: 0,
      fused: Math.fround(a * b - product),
    };
    results.forEach((name, at) => {
      const isFree = isSmall && (name === 'separate' || name === 'fused');
      if (!isFree && !Object.is(given[results.length * i + at], wanted[name])) {
        const isZero = (name === 'separate' || name === 'fused') && given[results.length * i + at] === wanted[name];
        if (!isZero) right[name] = false;
        if (!isZero && name === 'fused' && isNormal(a) && isNormal(b)) right.fusedNormal = false;
      }
    });
  }
  return right;
}

/** Measures a GPU; one that fails is taken for exact in nothing. */
export function measure(connection: Connection, arena: Arena, program: number): Exactness {
  const words = samples();
  const bytes = 4 * count * (2 + results.length);
  const address = arena.take(bytes);
  if (address === undefined) return portable;
  const made = connection.ask({ ask: 'program', id: program, code, entry: 'measure', constants: {}, table: undefined });
  const given = made?.isGood ? run(connection, address, words, program) : undefined;
  connection.send({ ask: 'forget', id: program });
  arena.give(address);
  if (!given) return portable;
  const { sum, product, quotient, root, less, separate, fused, fusedNormal } = judge(words, given);
  return { subnormals: sum && product && less, separate, fused, fusedNormal, division: quotient && root, approximate: false };
}

function run(connection: Connection, address: number, words: Uint32Array, program: number): Float32Array | undefined {
  connection.send({ ask: 'write', offset: address, bytes: new Uint8Array(words.buffer) });
  const launch = new Uint8Array(Uint32Array.of(address, 0, 0, 0).buffer);
  const grid = [count / 64, 1, 1] as const;
  const isDone = connection.ask({ ask: 'launch', id: program, words: launch, placeAt: 4, grid, most: grid[0] })?.isGood;
  const into = new SharedArrayBuffer(4 * count * results.length);
  if (!isDone || !connection.ask({ ask: 'read', offset: address + 8 * count, into })?.isGood) return undefined;
  return new Float32Array(new Uint8Array(into).slice().buffer);
}
