/**
 * Value-range and known-bits analysis: bounds of integers and their trailing zeros, from the instructions that make them. Every claim holds for
 * all operands of `evalOp`; all bounds are inclusive. The analysis is on demand: it follows operands to a depth, and does not follow loops.
 */
import { constantOf, edgesOf, type Inst, type InstOf, type Kernel, type Value } from '../kernel.ts';
import type { Op } from '../ops.ts';
import { maxBlockThreads, type Sreg } from '../sregs.ts';
import { bitsOf, isInt } from '../types.ts';
import { type Bound, bitLength, boundOf, dividedBy, isNatural, numberOf, onesOf, plus, shiftedDown, shiftedUp, times } from './bound.ts';
import { claimsTo } from './claims.ts';

const lastThread = BigInt(maxBlockThreads - 1);
const warps = BigInt(maxBlockThreads / 32);

/** The most that the numbers of threads are, on every target. */
export const threadNumberMax = {
  'tid.x': lastThread,
  'tid.y': lastThread,
  'tid.z': lastThread,
  'tid.linear': lastThread,
  laneid: 31n,
} as const satisfies Partial<Record<Sreg, bigint>>;

/** The most that the special registers of a block hold, on every target. Those of a grid are bounded by the launch alone. */
export const sregMax = {
  ...threadNumberMax,
  'ntid.x': BigInt(maxBlockThreads),
  'ntid.y': BigInt(maxBlockThreads),
  'ntid.z': BigInt(maxBlockThreads),
  warpid: warps - 1n,
  nwarpid: warps,
} as const satisfies Partial<Record<Sreg, bigint>>;

/** The facts that a client uses; by default all of them. */
export interface RangeOptions {
  /** How many operands deep a bound is looked for. */
  readonly depth?: number;
  /** The ops whose operands are followed; the result of another op is not bounded by its operands. */
  readonly through?: ReadonlySet<Op>;
  /** The most that special registers hold, where something is known of them. */
  readonly sregs?: Readonly<Partial<Record<Sreg, bigint>>>;
  /** Whether the width of a type counts as a bound. */
  readonly usesWidths?: boolean;
  /** Bounds above this count as none. */
  readonly ceiling?: bigint;
}

export interface ValueRanges {
  /** The most that an integer is as an unsigned number; nothing where no bound is known. */
  unsignedMax(value: Value): bigint | undefined;
  /** The most that an integer is away from 0 as a signed number; nothing where no bound is known. */
  signedMagnitude(value: Value): bigint | undefined;
  /** How many bits the most has that an integer is, where types count as bounds. */
  maxLength(value: Value): number;
}

/** The depth to which operands are followed. */
const usualDepth = 6;

const lesser = (a: Bound, b: Bound): Bound => (a < b ? a : b);
const greater = (a: Bound, b: Bound): Bound => (a > b ? a : b);

/** The lesser of two bounds, of which one may not be known. */
const either = (a: Bound | undefined, b: Bound | undefined): Bound | undefined =>
  a === undefined || b === undefined ? (a ?? b) : lesser(a, b);
const both = (a: Bound | undefined, b: Bound | undefined, join: (a: Bound, b: Bound) => Bound | undefined): Bound | undefined =>
  a === undefined || b === undefined ? undefined : join(a, b);

interface Bounds {
  /** The bound of an operand. */
  readonly max: (operand: Value) => Bound | undefined;
  readonly constant: (operand: Value) => Bound | undefined;
  /** The bits of the result's type. */
  readonly bits: number;
  /** The bits of an operand's type. */
  readonly bitsOf: (operand: Value) => number;
}

type Binary = InstOf<'add'>;
type MaxRule<K extends Op> = (inst: InstOf<K>, bounds: Bounds) => Bound | undefined;

/** A bound, where the result cannot wrap. */
const unwrapped = (bound: Bound, bits: number): Bound | undefined => (bound <= onesOf(bits) ? bound : undefined);

const sum: MaxRule<'add'> = ({ a, b }, { max, bits }) => both(max(a), max(b), (x, y) => unwrapped(plus(x, y), bits));
const lesserOperand = ({ a, b }: Pick<Binary, 'a' | 'b'>, { max }: Bounds): Bound | undefined => either(max(a), max(b));
const greaterOperand = ({ a, b }: Pick<Binary, 'a' | 'b'>, { max }: Bounds): Bound | undefined => both(max(a), max(b), greater);
/** No bit above the highest of both. */
const anyBits = ({ a, b }: Pick<Binary, 'a' | 'b'>, { max }: Bounds): Bound | undefined =>
  both(max(a), max(b), (x, y) => onesOf(Math.max(bitLength(x), bitLength(y))));
const signedChoice =
  (choose: (a: Bound, b: Bound) => Bound) =>
  ({ a, b }: Pick<Binary, 'a' | 'b'>, { max, bits }: Bounds): Bound | undefined =>
    both(max(a), max(b), (x, y) => (isNatural(x, bits) && isNatural(y, bits) ? choose(x, y) : undefined));
const count = ({ a }: { readonly a: Value }, bounds: Bounds): Bound => bounds.bitsOf(a);

function shiftedRight({ a, b }: Pick<Binary, 'a' | 'b'>, { max, constant }: Bounds): Bound | undefined {
  const [bound, by] = [max(a), constant(b)];
  return bound === undefined || by === undefined ? undefined : shiftedDown(bound, by);
}

/** How the bound of a result follows from those of its operands. */
const maxRules: { readonly [K in Op]?: MaxRule<K> } = {
  add: sum,
  mul: ({ a, b }, { max, bits }) => both(max(a), max(b), (x, y) => unwrapped(times(x, y), bits)),
  udiv: ({ a, b }, { max, constant }) => {
    const [bound, by] = [max(a), constant(b)];
    return bound === undefined || by === undefined || by === 0 ? undefined : dividedBy(bound, by);
  },
  // x rem 0 is x.
  urem: ({ a, b }, { max, constant }) => {
    const by = constant(b);
    return by === undefined || by === 0 ? max(a) : either(max(a), boundOf(numberOf(by) - 1n));
  },
  and: lesserOperand,
  umin: lesserOperand,
  umax: greaterOperand,
  select: greaterOperand,
  smin: signedChoice(lesser),
  smax: signedChoice(greater),
  or: anyBits,
  xor: anyBits,
  shl: ({ a, b }, { max, constant, bits }) => {
    const [bound, by] = [max(a), constant(b)];
    return bound === undefined || by === undefined ? undefined : by >= bits ? 0 : unwrapped(shiftedUp(bound, by), bits);
  },
  lshr: shiftedRight,
  ashr: (inst, bounds) => {
    const bound = bounds.max(inst.a);
    return bound !== undefined && isNatural(bound, bounds.bits) ? shiftedRight(inst, bounds) : undefined;
  },
  zext: ({ a }, { max }) => max(a),
  sext: ({ a }, bounds) => {
    const bound = bounds.max(a);
    return bound !== undefined && isNatural(bound, bounds.bitsOf(a)) ? bound : undefined;
  },
  trunc: ({ a }, { max, bits }) => {
    const bound = max(a);
    return bound === undefined ? undefined : lesser(bound, onesOf(bits));
  },
  clz: count,
  popcount: count,
};

/** The ranges of a kernel's values as they are now; a rewrite that keeps the value of an instruction keeps its claims. */
export function valueRanges(kernel: Kernel, options: RangeOptions = {}): ValueRanges {
  const { depth: deepest = usualDepth, through, usesWidths = true, ceiling } = options;
  const sregs: NonNullable<RangeOptions['sregs']> = options.sregs ?? sregMax;
  const widthOf = (value: Value): number => bitsOf(kernel.insts[value]!.type);
  const constant = (value: Value): Bound | undefined => {
    const bits = constantOf(kernel, value);
    return bits === undefined ? undefined : boundOf(bits);
  };
  // One object for all rules, which hold the place of the instruction at hand while its operands are looked at.
  let place = 0;
  const bounds = {
    bits: 0,
    constant,
    bitsOf: widthOf,
    max(operand: Value): Bound | undefined {
      const [here, { bits }] = [place, bounds];
      const found = maxOf(operand, here + 1);
      place = here;
      bounds.bits = bits;
      return found;
    },
  };

  function leafMax(inst: Inst): Bound | undefined {
    if (inst.op === 'const') return boundOf(inst.bits);
    const max = inst.op === 'sreg' ? sregs[inst.name] : undefined;
    return max === undefined ? undefined : boundOf(max);
  }

  function madeOf(value: Value, depth: number): Bound | undefined {
    const inst = kernel.insts[value]!;
    if (!isInt(inst.type)) return undefined;
    const bits = bitsOf(inst.type);
    const rule = (through?.has(inst.op) ?? true) ? (maxRules[inst.op] as MaxRule<never> | undefined) : undefined;
    place = depth;
    bounds.bits = bits;
    const found = leafMax(inst) ?? rule?.(inst as never, bounds);
    const bound = found ?? (usesWidths ? onesOf(bits) : undefined);
    return bound !== undefined && ceiling !== undefined && bound > ceiling ? undefined : bound;
  }

  /** Beyond the depth the type alone is a bound. */
  const ofType = (value: Value): Bound | undefined => {
    const { type } = kernel.insts[value]!;
    return usesWidths && isInt(type) ? onesOf(bitsOf(type)) : undefined;
  };
  const maxOf = claimsTo(deepest, ofType, madeOf);

  function magnitudeOf(value: Value, depth: number): bigint | undefined {
    const inst = kernel.insts[value]!;
    if (!isInt(inst.type)) return undefined;
    const bits = bitsOf(inst.type);
    if (inst.op === 'const') return magnitude(inst.bits, bits);
    const bound = maxOf(value, depth);
    if (bound !== undefined && isNatural(bound, bits)) return numberOf(bound);
    const extended = inst.op === 'sext' && (through?.has('sext') ?? true) && depth < deepest ? magnitudeOf(inst.a, depth + 1) : undefined;
    return extended ?? (usesWidths ? 1n << BigInt(bits - 1) : undefined);
  }

  return {
    unsignedMax: (value) => {
      const max = maxOf(value, 0);
      return max === undefined ? undefined : numberOf(max);
    },
    signedMagnitude: (value) => magnitudeOf(value, 0),
    maxLength: (value) => bitLength(maxOf(value, 0) ?? onesOf(64)),
  };
}

/** How far bits are from 0 as a signed number of a width. */
export function magnitude(bits: bigint, width: number): bigint {
  const number = BigInt.asIntN(width, bits);
  return number < 0n ? -number : number;
}

// ── known bits ──

/** Trailing zeros of 0, which has as many as any width. */
export const allZeros = 64;

/** The trailing zeros of a number. */
export const zerosIn = (bits: bigint): number => (bits === 0n ? allZeros : bitLength(bits & -bits) - 1);

/**
 * How many of the last bits of a value are 0 for certain, by those of its operands: a value of n bits is a multiple of 2^min(n, zeros).
 * `alignOf` gives the alignment of a variable in bytes.
 */
export function zerosOf(
  kernel: Kernel,
  inst: Inst,
  zeros: (operand: Value) => number,
  alignOf: (variable: string) => number = () => 1,
): number {
  switch (inst.op) {
    case 'const':
      return zerosIn(inst.bits);
    case 'variable':
      return zerosIn(BigInt(alignOf(inst.name)));
    case 'add':
    case 'ptradd':
    case 'sub':
    case 'or':
    case 'xor':
    case 'select':
      return Math.min(zeros(inst.a), zeros(inst.b));
    case 'and':
      return Math.max(zeros(inst.a), zeros(inst.b));
    case 'mul':
      return Math.min(allZeros, zeros(inst.a) + zeros(inst.b));
    case 'shl':
      return Math.min(allZeros, zeros(inst.a) + Number(lesser(constantOf(kernel, inst.b) ?? 0n, allZeros)));
    case 'zext':
    case 'sext':
      // A narrower 0 extends to 0.
      return zeros(inst.a) >= bitsOf(kernel.insts[inst.a]!.type) ? allZeros : zeros(inst.a);
    case 'trunc':
    case 'ptrtoint':
    case 'inttoptr':
      return zeros(inst.a);
    default:
      return 0;
  }
}

/** By value: `zerosOf` as a fixpoint over loops, from as many as there could be downwards. `given` says what is known of a value otherwise. */
export function trailingZeros(kernel: Kernel, given: (inst: Inst) => number | undefined = () => undefined): Uint8Array {
  const zeros = new Uint8Array(kernel.insts.length).fill(allZeros);
  for (let changed = true; changed; ) {
    changed = false;
    const lower = (value: Value, found: number): void => {
      if (found >= zeros[value]!) return;
      zeros[value] = found;
      changed = true;
    };
    const of = (value: Value): number => zeros[value]!;
    for (const { body, end } of kernel.blocks) {
      for (const value of body) lower(value, given(kernel.insts[value]!) ?? zerosOf(kernel, kernel.insts[value]!, of));
      for (const { block, args } of edgesOf(end)) args.forEach((arg, i) => void lower(block.params[i]!, zeros[arg]!));
    }
  }
  return zeros;
}
