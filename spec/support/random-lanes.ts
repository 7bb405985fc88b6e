/**
 * Random kernels whose threads compute values of all types in deep expressions and store them in places of their own: contiguous,
 * strided, as vectors, or at an index from memory. No thread reads the stores of another.
 */
import {
  bytesOf,
  elementOf,
  isFloat,
  type Kernel,
  lanesOf,
  type ScalarType,
  scalarTypes,
  type Type,
  type Value,
  vectorOf,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { type Writer, writeKernel } from './kernel-writer.ts';
import { pointerParam } from './kernels.ts';
import { compute, computed, edges, type Making } from './random-kernel.ts';

/** Bytes of a thread in the buffer `out`. */
export const bytesOfLane = 160;

interface Maker extends Making {
  readonly w: Writer;
  readonly lane: Value;
  readonly threads: number;
  /** Few conditions, so that expressions share them. */
  readonly ops: readonly (typeof computed)[number][];
  left: number;
}

/** NaN bits are unspecified, so float bits are not inspected. */
const ops = computed.filter((op) => op !== 'bitcast');
const stored: readonly ScalarType[] = scalarTypes.filter((type) => type !== 'i1');
const vectors: readonly Type[] = stored.flatMap((type) => [vectorOf(type, 2), vectorOf(type, 4)]);

/** The kernel with a given seed, for blocks of `threads` threads. */
export function randomLanes(seed: number, threads: number): Kernel {
  const draw = splitMix64(BigInt(seed) * 104729n + 7n);
  const pick = (count: number): number => Number(draw() % BigInt(count));
  const few = Array.from({ length: 5 }, () => ops[pick(ops.length)]!);
  return writeKernel('lanes', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const { b } = w;
    const lane = b.add(b.mul(w.sreg('ctaid.x'), w.sreg('ntid.x')), w.sreg('tid.linear'));
    const m: Maker = { w, lane, threads, ops: few, b, kernel: w.kernel, pick, pool: new Map(), stored: 0, left: 10 };
    for (const type of scalarTypes) m.pool.set(type, firstOf(m, type));
    while (m.left > 0) statement(m, 0);
    for (const type of stored) put(m, type);
  });
}

/** Varying values, small ones and arbitrary bits, and an edge value. */
function firstOf({ b, w, lane, pick }: Maker, type: ScalarType): Value[] {
  const mixed = b.mul(b.xor(lane, w.i32(pick(1 << 20))), w.i32(2 * pick(1 << 30) + 1));
  const small = b.and(b.add(mixed, lane), w.i32(63));
  const edge = b.const(type, edges[type][pick(edges[type].length)]!);
  if (type === 'i1') return [w.is(small, 'ult', w.i32(pick(64))), edge];
  if (isFloat(type))
    return [b.sitofp(type, small), edge, b.sitofp(type, mixed), b.fdiv(b.sitofp(type, mixed), b.sitofp(type, b.add(small, w.i32(1))))];
  const of = (value: Value): Value => (type === 'i32' ? value : type === 'i64' ? b.sext(type, value) : b.trunc(type, value));
  return [of(small), edge, of(mixed)];
}

function statement(m: Maker, depth: number): void {
  m.left--;
  for (let i = 3 + m.pick(10); i > 0; i--) compute(m, m.ops[m.pick(m.ops.length)]!);
  const kind = m.pick(8);
  const before = new Map([...m.pool].map(([type, values]) => [type, [...values]]));
  const inside = (): void => {
    statement(m, depth + 1);
    m.pool = new Map([...before].map(([type, values]) => [type, [...values]]));
  };
  if (kind < 3) put(m, [...stored, ...vectors][m.pick(stored.length + vectors.length)]!);
  else if (kind < 5) get(m, [...stored, ...vectors][m.pick(stored.length + vectors.length)]!);
  else if (kind === 5 && depth < 2) m.w.when(takeFrom(m, 'i1'), inside, m.pick(2) === 0 ? inside : undefined);
  else if (kind === 6 && depth < 2) turns(m, inside);
}

/** A loop with a small trip count per lane. */
function turns(m: Maker, inside: () => void): void {
  const { b, w } = m;
  const most = b.and(takeFrom(m, 'i32'), w.i32(3));
  w.repeat(
    [w.i32(0)],
    (i) => w.is(i!, 'ult', most),
    (i) => {
      m.pool.get('i32')!.push(i!);
      inside();
      return [b.add(i!, w.i32(1))];
    },
  );
}

function takeFrom({ pool, pick }: Maker, type: ScalarType): Value {
  const values = pool.get(type)!;
  return values[values.length - 1 - Math.min(pick(values.length), pick(values.length))]!;
}

/** The address of a thread's slot: in an array per size, or in a row of 96 bytes, by its id or by an index from memory. */
function place({ w, lane, threads, pick }: Maker, type: Type): Value {
  const { b, i32 } = w;
  const size = bytesOf(elementOf(type)) * lanesOf(type);
  const own = b.sub(lane, b.mul(w.sreg('ctaid.x'), i32(threads)));
  const start = b.mul(w.sreg('ctaid.x'), i32(bytesOfLane * threads));
  const way = pick(3);
  // Computed so that no analysis finds that it equals the lane's id.
  const hidden = b.xor(b.xor(own, b.lshr(b.mul(own, i32(77)), i32(3))), b.lshr(b.mul(own, i32(77)), i32(3)));
  const row = (): Value => b.add(b.mul(way === 1 ? own : hidden, i32(96)), i32(64 * threads + 32 * pick(3)));
  const at = way === 0 ? b.add(b.mul(own, i32(size)), i32(size * threads)) : row();
  return b.ptradd(w.param(0), b.zext('i64', b.add(start, at)));
}

const attrsOf = (type: Type): { align: number; volatile: boolean } => ({ align: bytesOf(elementOf(type)), volatile: false });

/** A NaN is stored as 0. */
function put(m: Maker, type: Type): void {
  const { b } = m;
  const element = elementOf(type);
  const one = (): Value => {
    const value = takeFrom(m, element);
    return isFloat(element) ? b.select(b.fcmp(value, value, { pred: 'oeq' }), value, b.const(element, 0)) : value;
  };
  const value =
    lanesOf(type) === 1
      ? one()
      : lanesOf(type) === 2
        ? b.vec2(type as 'v2.i32', one(), one())
        : b.vec4(type as 'v4.i32', one(), one(), one(), one());
  b.store(place(m, type), value, attrsOf(type));
}

function get(m: Maker, type: Type): void {
  const { b } = m;
  const element = elementOf(type);
  const value = b.load(type, place(m, type), attrsOf(type));
  const pool = m.pool.get(element)!;
  if (lanesOf(type) === 1) pool.push(value);
  else for (let lane = 0; lane < lanesOf(type); lane++) pool.push(b.extract(element as 'i32', value, { lane }));
}
