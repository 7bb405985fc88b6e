/** What vector instructions of WebAssembly compute: each is a function of parts of 128 bits. Source: WebAssembly Core Specification 2.0, 4.3.5. */
import { bitsOf, floatComparisons, floatOf, floatOps, integerComparisons, integerOps, numberOf, truncSat } from './numbers.ts';

/** The width of a lane, and whether it is a float. */
interface Shape {
  readonly width: number;
  readonly isFloat: boolean;
}

const shapeOf = (name: string): Shape => {
  const width = /^[if](\d+)x/.exec(name);
  return width ? { width: Number(width[1]), isFloat: name[0] === 'f' } : { width: 64, isFloat: false };
};

/** The lanes of a vector as unsigned numbers, lowest first. */
export function lanesOf(bytes: Uint8Array, width: number): bigint[] {
  const size = width / 8;
  return Array.from({ length: bytes.length / size }, (_, lane) => {
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[lane * size + i]!);
    return value;
  });
}

/** A vector of lanes, each wrapped to their width. */
export function vectorOf(lanes: readonly bigint[], width: number): Uint8Array {
  const size = width / 8;
  const bytes = new Uint8Array(lanes.length * size);
  lanes.forEach((lane, i) => {
    let rest = BigInt.asUintN(width, lane);
    for (let at = 0; at < size; at++, rest >>= 8n) bytes[i * size + at] = Number(rest & 0xffn);
  });
  return bytes;
}

const all = (width: number): bigint => (1n << BigInt(width)) - 1n;
const extended = (value: bigint, width: number, isSigned: boolean): bigint => (isSigned ? BigInt.asIntN(width, value) : value);
const isSignedName = (op: string): boolean => /_s(_zero)?$/.test(op);

type PartOp = (parts: readonly Uint8Array[]) => Uint8Array;

/** What an instruction makes of one part of each operand. */
export function partOp(name: string, pattern: readonly number[] = []): PartOp {
  const [shape = '', op = ''] = name.split('.');
  const { width, isFloat } = shapeOf(shape);
  if (op === 'shuffle') return ([a, b]) => Uint8Array.from(pattern, (from) => (from < 16 ? a![from]! : b![from - 16]!));
  if (op === 'swizzle') return ([a, by]) => by!.map((from) => (from < 16 ? a![from]! : 0));
  if (op === 'bitselect') return ([a, b, mask]) => a!.map((byte, i) => (byte & mask![i]!) | (b![i]! & ~mask![i]!));
  return conversion(op, width) ?? (isFloat ? floatLanes(op, width) : integerLanes(op, width));
}

const lanewise =
  (width: number, each: (...lanes: bigint[]) => bigint): PartOp =>
  (parts) => {
    const lanes = parts.map((part) => lanesOf(part, width));
    return vectorOf(
      lanes[0]!.map((_, i) => each(...lanes.map((list) => list[i]!))),
      width,
    );
  };

function floatLanes(op: string, width: number): PartOp {
  const compare = floatComparisons[op];
  if (compare) return lanewise(width, (a, b) => (compare(numberOf(a, width), numberOf(b!, width)) ? all(width) : 0n));
  const compute = floatOps[op];
  if (!compute) throw new Error(`no lane operation f${width} ${op}`);
  return lanewise(width, (...lanes) => compute(lanes, width));
}

function integerLanes(op: string, width: number): PartOp {
  const compare = integerComparisons[op];
  if (compare) return lanewise(width, (a, b) => (compare(a, b!, width) ? all(width) : 0n));
  const compute = integerOps[op];
  if (!compute) throw new Error(`no lane operation i${width} ${op}`);
  return lanewise(width, (a, b = 0n) => compute(a, b, width));
}

/** Instructions whose operands have lanes of another width. */
function conversion(op: string, width: number): PartOp | undefined {
  const isSigned = isSignedName(op);
  const half = width / 2;
  const at = (lanes: readonly bigint[], part: string): readonly bigint[] =>
    part === 'low' ? lanes.slice(0, lanes.length / 2) : lanes.slice(lanes.length / 2);
  const [, kind, part] = /^(extend|extmul)_(low|high)/.exec(op) ?? [];
  if (kind === 'extend')
    return ([a]) =>
      vectorOf(
        at(lanesOf(a!, half), part!).map((lane) => extended(lane, half, isSigned)),
        width,
      );
  if (kind === 'extmul')
    return (parts) => {
      const [a, b] = parts.map((each) => at(lanesOf(each, half), part!).map((lane) => extended(lane, half, isSigned)));
      return vectorOf(
        a!.map((lane, i) => lane * b![i]!),
        width,
      );
    };
  const pairs = (lanes: readonly bigint[]): bigint[] =>
    Array.from({ length: lanes.length / 2 }, (_, i) => lanes[2 * i]! + lanes[2 * i + 1]!);
  if (op.startsWith('extadd_pairwise'))
    return ([a]) => vectorOf(pairs(lanesOf(a!, half).map((lane) => extended(lane, half, isSigned))), width);
  if (op === 'dot_i16x8_s')
    return (parts) => {
      const [a, b] = parts.map((each) => lanesOf(each, 16).map((lane) => BigInt.asIntN(16, lane)));
      return vectorOf(pairs(a!.map((lane, i) => lane * b![i]!)), 32);
    };
  if (op.startsWith('narrow'))
    return (parts) =>
      vectorOf(
        parts.flatMap((each) => narrowed(each, width, isSigned)),
        width,
      );
  return floatConversion(op, isSigned);
}

const narrowed = (part: Uint8Array, width: number, isSigned: boolean): bigint[] =>
  lanesOf(part, 2 * width).map((lane) => {
    const [min, max] = isSigned ? [-(1n << BigInt(width - 1)), (1n << BigInt(width - 1)) - 1n] : [0n, all(width)];
    const value = BigInt.asIntN(2 * width, lane);
    return value < min ? min : value > max ? max : value;
  });

function floatConversion(op: string, isSigned: boolean): PartOp | undefined {
  const low = (part: Uint8Array): bigint[] => lanesOf(part, 32).slice(0, 2);
  if (op === 'demote_f64x2_zero') return ([a]) => vectorOf([...lanesOf(a!, 64).map((lane) => bitsOf(numberOf(lane, 64), 32)), 0n, 0n], 32);
  if (op === 'promote_low_f32x4')
    return ([a]) =>
      vectorOf(
        low(a!).map((lane) => bitsOf(numberOf(lane, 32), 64)),
        64,
      );
  if (op.startsWith('convert_low'))
    return ([a]) =>
      vectorOf(
        low(a!).map((lane) => floatOf(extended(lane, 32, isSigned), 64)),
        64,
      );
  if (op.startsWith('convert')) return lanewise(32, (lane) => floatOf(extended(lane, 32, isSigned), 32));
  if (op.startsWith('trunc_sat_f32x4')) return lanewise(32, (lane) => truncSat(numberOf(lane, 32), 32, isSigned));
  if (op.startsWith('trunc_sat_f64x2'))
    return ([a]) => vectorOf([...lanesOf(a!, 64).map((lane) => truncSat(numberOf(lane, 64), 32, isSigned)), 0n, 0n], 32);
  return undefined;
}

/** A vector whose lanes are shifted by one number. */
export function shiftLanes(name: string, vector: Uint8Array, by: bigint): Uint8Array {
  const [shape = '', op = ''] = name.split('.');
  const { width } = shapeOf(shape);
  return vectorOf(
    lanesOf(vector, width).map((lane) => integerOps[op]!(lane, by, width)),
    width,
  );
}

/** What `vector.widen` makes of the first lanes of a vector, as many as the result has. */
export function widenLanes(kind: string, from: Uint8Array, bytes: number): Uint8Array {
  const low = partOp(kind);
  const out = new Uint8Array(bytes);
  // Each part of the result takes the half of a part.
  for (let part = 0; part < bytes / 16; part++) {
    const half = new Uint8Array(16);
    half.set(from.subarray(8 * part, 8 * part + 8));
    out.set(low([half]), 16 * part);
  }
  return out;
}

/** `any_true`, `all_true` and `bitmask`. */
export function reduce(name: string, vector: Uint8Array): number {
  const [shape = '', op = ''] = name.split('.');
  const lanes = lanesOf(vector, shapeOf(shape).width);
  if (op === 'any_true') return lanes.some((lane) => lane !== 0n) ? 1 : 0;
  if (op === 'all_true') return lanes.every((lane) => lane !== 0n) ? 1 : 0;
  const top = BigInt(shapeOf(shape).width - 1);
  return Number(
    BigInt.asIntN(
      32,
      lanes.reduce((mask, lane, i) => mask | ((lane >> top) << BigInt(i)), 0n),
    ),
  );
}

export const laneWidth = (name: string): number => shapeOf(name.split('.')[0]!).width;
