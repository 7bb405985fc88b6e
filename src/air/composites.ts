/**
 * Functions of AIR that are several operations of the IR, and are only read from other people's files: what each gives, for
 * scalars. Vectors go element by element.
 * Source: Metal Shading Language Specification 4, sections 6.2 (common functions) and 6.3 (integer functions).
 */
import { type Builder, bytesOf, type ScalarType, type Value } from '../ir/index.ts';

export interface Composite {
  /** The type of operands and result. */
  readonly type: ScalarType;
  /** Operands of that type; those behind them are words of 32 bits. */
  readonly operands: number;
  readonly words: number;
  make(b: Builder, args: readonly Value[]): Value;
}

type Make = (b: Builder, args: readonly Value[], type: ScalarType, isSigned: boolean) => Value;

const bitsOf = (type: ScalarType): bigint => BigInt(bytesOf(type) * 8);

const least = (b: Builder, x: Value, y: Value, isSigned: boolean): Value => (isSigned ? b.smin(x, y) : b.umin(x, y));
const most = (b: Builder, x: Value, y: Value, isSigned: boolean): Value => (isSigned ? b.smax(x, y) : b.umax(x, y));

/** The bits from `offset` on, `count` of them, at the bottom; with a sign where that is asked for. */
function extractBits(b: Builder, [x, offset, count]: readonly Value[], type: ScalarType, isSigned: boolean): Value {
  const width = b.const(type, bitsOf(type));
  const [from, size] = [asType(b, offset!, type), asType(b, count!, type)];
  // The wanted bits at the top, then down again. Where there are none the shift takes all away.
  const top = b.shl(x!, b.sub(b.sub(width, size), from));
  const down = isSigned ? b.ashr(top, b.sub(width, size)) : b.lshr(top, b.sub(width, size));
  return b.select(b.icmp(size, b.const(type, 0n), { pred: 'eq' }), b.const(type, 0n), down);
}

/** The lowest bits of the second in the place of those of the first from `offset` on. */
function insertBits(b: Builder, [base, insert, offset, count]: readonly Value[], type: ScalarType): Value {
  const [from, size] = [asType(b, offset!, type), asType(b, count!, type)];
  // A shift by the whole width gives 0, so that all bits make a mask of ones.
  const mask = b.shl(b.sub(b.shl(b.const(type, 1n), size), b.const(type, 1n)), from);
  const ones = b.const(type, (1n << bitsOf(type)) - 1n);
  return b.or(b.and(base!, b.xor(mask, ones)), b.and(b.shl(insert!, from), mask));
}

function asType(b: Builder, word: Value, type: ScalarType): Value {
  if (type === 'i32') return word;
  return type === 'i64' ? b.zext(type, word) : b.trunc(type, word);
}

/** Of integers, with a sign in the name: operands of their type, then words. */
const signedForms: Readonly<Record<string, readonly [operands: number, words: number, make: Make]>> = {
  abs: [1, 0, (b, [x], type, isSigned) => (isSigned ? b.select(negative(b, x!, type), b.sub(b.const(type, 0n), x!), x!) : x!)],
  abs_diff: [2, 0, (b, [x, y], _, isSigned) => b.sub(most(b, x!, y!, isSigned), least(b, x!, y!, isSigned))],
  clamp: [3, 0, (b, [x, low, high], _, isSigned) => least(b, most(b, x!, low!, isSigned), high!, isSigned)],
  min3: [3, 0, (b, [x, y, z], _, isSigned) => least(b, least(b, x!, y!, isSigned), z!, isSigned)],
  max3: [3, 0, (b, [x, y, z], _, isSigned) => most(b, most(b, x!, y!, isSigned), z!, isSigned)],
  median3: [
    3,
    0,
    (b, [x, y, z], _, isSigned) => most(b, least(b, x!, y!, isSigned), least(b, most(b, x!, y!, isSigned), z!, isSigned), isSigned),
  ],
  mad_hi: [3, 0, (b, [x, y, z], _, isSigned) => b.add(isSigned ? b.smulhi(x!, y!) : b.umulhi(x!, y!), z!)],
  extract_bits: [1, 2, extractBits],
};

const negative = (b: Builder, x: Value, type: ScalarType): Value => b.icmp(x, b.const(type, 0n), { pred: 'slt' });

/** Of integers, without a sign in the name. */
const plainForms: Readonly<Record<string, readonly [operands: number, words: number, make: Make]>> = {
  rotate: [
    2,
    0,
    (b, [x, count], type) => {
      const low = b.const(type, bitsOf(type) - 1n);
      const left = b.and(count!, low);
      return b.or(b.shl(x!, left), b.lshr(x!, b.and(b.sub(b.const(type, 0n), left), low)));
    },
  ],
  insert_bits: [2, 2, insertBits],
};

const floatForms: Readonly<Record<string, readonly [operands: number, words: number, make: Make]>> = {
  clamp: [3, 0, (b, [x, low, high]) => b.fmin(b.fmax(x!, low!), high!)],
  saturate: [1, 0, (b, [x], type) => b.fmin(b.fmax(x!, b.const(type, 0n)), b.const(type, type === 'f16' ? 0x3c00n : 0x3f800000n))],
};

/** The function of a name, where it is one of these; of a vector’s name with the element’s type in it. */
export function compositeOf(name: string): Composite | undefined {
  const [, fast, form = '', sign, kind, bits] = /^air\.(fast_)?([a-z_]+\d?)(?:\.([su]))?\.([if])(\d+)$/.exec(name) ?? [];
  const type = `${kind}${bits}`;
  const known = kind === 'f' ? (sign ? undefined : floatForms[form]) : fast ? undefined : sign ? signedForms[form] : plainForms[form];
  const isType = kind === 'f' ? type === 'f32' || (type === 'f16' && !fast) : ['i8', 'i16', 'i32', 'i64'].includes(type);
  if (!known || !isType) return undefined;
  const [operands, words, make] = known;
  return { type: type as ScalarType, operands, words, make: (b, args) => make(b, args, type as ScalarType, sign === 's') };
}
