/** Simpler forms of instructions on vectors. */
import type { Rewriter, Rule, Simpler } from './rewriter.ts';
import { bytesOfType, type SsaType, type Value } from './types.ts';

const laneBytes: Readonly<Record<string, number>> = { i8x16: 1, i16x8: 2, i32x4: 4, i64x2: 8, f32x4: 4, f64x2: 8 };
const shapeOf = (op: string): string => op.slice(0, op.indexOf('.'));
const value = (of: Value): Simpler => ({ value: of });

const isAll = (bytes: readonly number[] | undefined, byte: number): boolean => bytes?.every((each) => each === byte) ?? false;

/** The bytes of a number, lowest first. */
const bytesOfNumber = (bits: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((bits >> BigInt(8 * i)) & 0xffn));

const numberOfBytes = (bytes: readonly number[]): bigint => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** A splat of a constant. */
const splat: Rule = (r, { op, args: [x], result }) => {
  const bits = r.bits(x!);
  if (bits === undefined) return undefined;
  const type = r.types[result!]!;
  const lane = bytesOfNumber(bits, laneBytes[shapeOf(op)]!);
  return value(
    r.vector(
      type,
      Array.from({ length: bytesOfType(type) }, (_, i) => lane[i % lane.length]!),
    ),
  );
};

/** A lane of a constant, of a splat, or of a vector of which a lane was replaced. */
const extract: Rule = (r, { op, args: [x], lane, result }) => {
  const shape = shapeOf(op);
  const size = laneBytes[shape]!;
  const bytes = r.bytes(x!);
  if (bytes) {
    const bits = numberOfBytes(bytes.slice(size * lane!, size * lane! + size));
    return value(r.constant(r.types[result!]!, op.endsWith('_s') ? BigInt.asUintN(32, BigInt.asIntN(8 * size, bits)) : bits));
  }
  const of = r.definition(x!);
  if (!of || size < 4) return undefined;
  if (of.op === `${shape}.splat`) return value(of.args[0]!);
  if (of.op !== `${shape}.replace_lane`) return undefined;
  return of.lane === lane ? value(of.args[1]!) : { inst: { op, args: [of.args[0]!], lane: lane! } };
};

/** Bytewise operations on constants. */
const bytewise = (r: Rewriter, type: SsaType, args: readonly Value[], compute: (...bytes: number[]) => number): Simpler => {
  const all: (readonly number[])[] = [];
  for (const arg of args) {
    const bytes = r.bytes(arg);
    if (!bytes) return undefined;
    all.push(bytes);
  }
  return value(
    r.vector(
      type,
      all[0]!.map((_, i) => compute(...all.map((bytes) => bytes[i]!)) & 0xff),
    ),
  );
};

const and: Rule = (r, { args, result }) => {
  const [x, y] = args;
  if (x === y || isAll(r.bytes(y!), 0xff) || isAll(r.bytes(x!), 0)) return value(x!);
  if (isAll(r.bytes(x!), 0xff) || isAll(r.bytes(y!), 0)) return value(y!);
  return bytewise(r, r.types[result!]!, args, (a, b) => a! & b!);
};

const or: Rule = (r, { args, result }) => {
  const [x, y] = args;
  if (x === y || isAll(r.bytes(y!), 0) || isAll(r.bytes(x!), 0xff)) return value(x!);
  if (isAll(r.bytes(x!), 0) || isAll(r.bytes(y!), 0xff)) return value(y!);
  return bytewise(r, r.types[result!]!, args, (a, b) => a! | b!);
};

const exclusiveOr: Rule = (r, { args, result }) => {
  const [x, y] = args;
  const type = r.types[result!]!;
  if (x === y) return value(r.vector(type, Array<number>(bytesOfType(type)).fill(0)));
  if (isAll(r.bytes(y!), 0)) return value(x!);
  if (isAll(r.bytes(x!), 0)) return value(y!);
  if (isAll(r.bytes(y!), 0xff)) return { inst: { op: 'v128.not', args: [x!] } };
  return bytewise(r, type, args, (a, b) => a! ^ b!);
};

const andNot: Rule = (r, { args, result }) => {
  const [x, y] = args;
  if (isAll(r.bytes(y!), 0) || isAll(r.bytes(x!), 0)) return value(x!);
  return bytewise(r, r.types[result!]!, args, (a, b) => a! & ~b!);
};

const not: Rule = (r, { args, result }) => {
  const of = r.definition(args[0]!);
  if (of?.op === 'v128.not') return value(of.args[0]!);
  return bytewise(r, r.types[result!]!, args, (a) => ~a!);
};

const bitSelect: Rule = (r, { args, result }) => {
  const [x, y, mask] = args;
  const bytes = r.bytes(mask!);
  if (x === y || isAll(bytes, 0xff)) return value(x!);
  if (isAll(bytes, 0)) return value(y!);
  const of = r.definition(mask!);
  if (of?.op === 'v128.not') return { inst: { op: 'v128.bitselect', args: [y!, x!, of.args[0]!] } };
  return bytewise(r, r.types[result!]!, args, (a, b, m) => (a! & m!) | (b! & ~m!));
};

const anyTrue: Rule = (r, { args: [x] }) => {
  const bytes = r.bytes(x!);
  return bytes && value(r.constant('i32', isAll(bytes, 0) ? 0n : 1n));
};

const lanesOf = (bytes: readonly number[], size: number): number[][] =>
  Array.from({ length: bytes.length / size }, (_, i) => bytes.slice(size * i, size * i + size));

const allTrue: Rule = (r, { op, args: [x] }) => {
  const bytes = r.bytes(x!);
  return bytes && value(r.constant('i32', lanesOf(bytes, laneBytes[shapeOf(op)]!).every((lane) => !isAll(lane, 0)) ? 1n : 0n));
};

const bitmask: Rule = (r, { op, args: [x] }) => {
  const bytes = r.bytes(x!);
  if (!bytes) return undefined;
  const bits = lanesOf(bytes, laneBytes[shapeOf(op)]!).reduce((mask, lane, i) => mask | (BigInt(lane.at(-1)! >> 7) << BigInt(i)), 0n);
  return value(r.constant('i32', BigInt.asUintN(32, bits)));
};

/** A shift of lanes by nothing. */
const shift: Rule = (r, { op, args: [x, y] }) => {
  const bits = r.bits(y!);
  return bits !== undefined && bits % BigInt(8 * laneBytes[shapeOf(op)]!) === 0n ? value(x!) : undefined;
};

const ofShapes = (shapes: readonly string[], ops: Readonly<Record<string, Rule>>): Record<string, Rule> =>
  Object.fromEntries(shapes.flatMap((shape) => Object.entries(ops).map(([op, rule]) => [`${shape}.${op}`, rule])));

const integers = ['i8x16', 'i16x8', 'i32x4', 'i64x2'];

export const vectorRules: Readonly<Record<string, Rule>> = {
  ...ofShapes(Object.keys(laneBytes), { splat }),
  ...ofShapes(['i32x4', 'i64x2', 'f32x4', 'f64x2'], { extract_lane: extract }),
  ...ofShapes(['i8x16', 'i16x8'], { extract_lane_s: extract, extract_lane_u: extract }),
  ...ofShapes(integers, { all_true: allTrue, bitmask, shl: shift, shr_s: shift, shr_u: shift }),
  'v128.and': and,
  'v128.or': or,
  'v128.xor': exclusiveOr,
  'v128.andnot': andNot,
  'v128.not': not,
  'v128.bitselect': bitSelect,
  'v128.any_true': anyTrue,
};
