/** Elements of the factors of products in tensor memory, as doubles. Source: PTX ISA 9.0, 9.7.16.2 and 9.7.16.10; CUTLASS, mma_sm100_desc.hpp, mma_traits_sm100_frag.hpp. */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { decoded, type SmallFloat } from '../small-floats.ts';
import {
  alongK,
  alongOther,
  type Described,
  field,
  int,
  isEqual,
  loadBits,
  matrixByte,
  type Part,
  stopIf,
  tensorWord,
  word,
} from './words.ts';

export type Kind = 'f16' | 'tf32' | 'i8' | 'f8f6f4' | 'mxf8f6f4' | 'mxf4' | 'mxf4nvf4';

/** Elements along k, a power of two. */
export const depthOf = { f16: 16, tf32: 8, i8: 32, f8f6f4: 32, mxf8f6f4: 32, mxf4: 64, mxf4nvf4: 64 } as const satisfies Record<
  Kind,
  number
>;

/** Bits of an element; `mixed` are 8, 6 or 4 bits by the format, of which 16 take 16 bytes. */
const bitsOf = { f16: 16, tf32: 32, i8: 8, f8f6f4: 'mixed', mxf8f6f4: 'mixed', mxf4: 4, mxf4nvf4: 4 } as const satisfies Record<
  Kind,
  unknown
>;

/** A factor: in shared memory, or (an i32) in tensor memory from an address on. */
export interface FactorOperand {
  readonly kind: Kind;
  readonly in: Described | Value;
  /** The number of its format, whether signs are changed, and whether the other dimension is the contiguous one: i32. */
  readonly format: Value;
  readonly isNegated: Value;
  readonly isAcross: Value;
}

/** Numbers of formats of 8, 6 and 4 bits. */
const mixed: readonly (readonly [number, SmallFloat])[] = [
  [0, 'e4m3'],
  [1, 'e5m2'],
  [3, 'e2m3'],
  [4, 'e3m2'],
  [5, 'e2m1'],
];
const widthOf = (ir: RowBuilder, format: Value): Value =>
  ir.select(isEqual(ir, format, 5), int(ir, 4), ir.select(ir.icmp(format, int(ir, 3), { pred: 'uge' }), int(ir, 6), int(ir, 8)));

/** Stops where a factor has a format or an order that its kind does not. */
export function stopUnlessKnown(ir: RowBuilder, { kind, format, isAcross }: FactorOperand): void {
  const known: Record<Kind, readonly number[]> = {
    f16: [0, 1],
    tf32: [2],
    i8: [0, 1],
    f8f6f4: [0, 1, 3, 4, 5],
    mxf8f6f4: [0, 1, 3, 4, 5],
    mxf4: [1],
    mxf4nvf4: [1],
  };
  const isKnown = known[kind].map((each) => isEqual(ir, format, each)).reduce((a, b) => ir.or(a, b));
  stopIf(ir, ir.xor(isKnown, ir.const('i1', 1)), 'a format of a factor that there is not for this kind of product');
  const isNarrow =
    bitsOf[kind] === 'mixed' ? ir.icmp(widthOf(ir, format), int(ir, 8), { pred: 'ne' }) : ir.const('i1', bitsOf[kind] === 4 ? 1 : 0);
  stopIf(ir, ir.and(isNarrow, isEqual(ir, isAcross, 1)), 'a factor of less than 8 bits that is not contiguous along k');
}

/** The bits of an element of a row, which are the lower ones of an i32. */
function bitsAt(ir: RowBuilder, factor: FactorOperand, row: Value, k: Value, part: Part): Value {
  return typeof factor.in === 'number' ? bitsInTensor(ir, factor, row, k, part) : bitsInShared(ir, factor, factor.in, row, k, part);
}

/** Numbers of 6 or 4 bits are in the middle of their byte. Source: CUTLASS, cp_narrow_a_to_tmem_mma.py. */
function bitsInTensor(ir: RowBuilder, { kind, format, in: address }: FactorOperand, lane: Value, k: Value, part: Part): Value {
  const bits = bitsOf[kind] === 'mixed' ? 8 : bitsOf[kind];
  const each = Math.log2(32 / bits);
  const whole = ir.load('i32', tensorWord(ir, address as Value, lane, ir.lshr(k, int(ir, each)), part), word);
  const element = ir.lshr(whole, ir.shl(ir.and(k, int(ir, 2 ** each - 1)), int(ir, Math.log2(bits))));
  if (bitsOf[kind] !== 'mixed') return element;
  return ir.lshr(element, ir.lshr(ir.sub(int(ir, 8), widthOf(ir, format)), int(ir, 1)));
}

function bitsInShared(
  ir: RowBuilder,
  { kind, format, isAcross }: FactorOperand,
  matrix: Described,
  row: Value,
  k: Value,
  part: Part,
): Value {
  const bits = bitsOf[kind];
  if (bits === 4) {
    const at = alongK(ir, matrix, row, ir.lshr(k, int(ir, 1)));
    return ir.lshr(loadBits(ir, matrixByte(ir, matrix, at, part), 8), ir.shl(ir.and(k, int(ir, 1)), int(ir, 2)));
  }
  const size = bits === 'mixed' ? 1 : bits / 8;
  const across = (): Value => alongOther(ir, matrix, size === 1 ? row : ir.mul(row, int(ir, size)), k);
  if (bits !== 'mixed') {
    const along = alongK(ir, matrix, row, size === 1 ? k : ir.mul(k, int(ir, size)));
    return loadBits(ir, matrixByte(ir, matrix, ir.select(isEqual(ir, isAcross, 1), across(), along), part), bits);
  }
  // Sixteen elements are at the start of 16 bytes, whatever their size.
  const first = ir.mul(ir.and(k, int(ir, 15)), widthOf(ir, format));
  const unit = ir.and(k, int(ir, -16));
  const low = ir.lshr(first, int(ir, 3));
  const byteAt = (at: Value): Value => {
    const along = alongK(ir, matrix, row, ir.or(unit, at));
    return loadBits(ir, matrixByte(ir, matrix, ir.select(isEqual(ir, isAcross, 1), across(), along), part), 8);
  };
  const both = ir.or(byteAt(low), ir.shl(byteAt(ir.umin(ir.add(low, int(ir, 1)), int(ir, 15))), int(ir, 8)));
  return ir.lshr(both, ir.and(first, int(ir, 7)));
}

/** An element of a row as a double. */
export function elementAt(ir: RowBuilder, factor: FactorOperand, row: Value, k: Value, part: Part): Value {
  const value = numberOf(ir, factor.kind, factor.format, bitsAt(ir, factor, row, k, part));
  return ir.select(isEqual(ir, factor.isNegated, 1), ir.fneg(value), value);
}

function numberOf(ir: RowBuilder, kind: Kind, format: Value, bits: Value): Value {
  switch (kind) {
    case 'f16': {
      const half = ir.fpext('f32', ir.bitcast('f16', ir.trunc('i16', bits)));
      const single = ir.bitcast('f32', ir.shl(bits, int(ir, 16)));
      return ir.fpext('f64', ir.select(isEqual(ir, format, 1), single, half));
    }
    case 'tf32':
      return ir.fpext('f64', ir.bitcast('f32', ir.and(bits, int(ir, 0xffffe000 | 0))));
    case 'i8': {
      const byte = ir.trunc('i8', bits);
      return ir.sitofp('f64', ir.select(isEqual(ir, format, 1), ir.sext('i32', byte), ir.zext('i32', byte)));
    }
    case 'mxf4':
    case 'mxf4nvf4':
      return ir.fpext('f64', decoded(ir, 'e2m1', bits, undefined));
    default:
      return ir.fpext(
        'f64',
        mixed
          .map(([number, name]) => [number, decoded(ir, name, bits, undefined)] as const)
          .reduce(
            (found, [number, value]) => [number, number === 0 ? value : ir.select(isEqual(ir, format, number), value, found[1])] as const,
          )[1],
      );
  }
}

/** Scale factors in tensor memory: those of 32 rows are in a column, up to four of a row in the bytes of its word. */
export interface Scales {
  readonly address: Value;
  /** The byte of the first one. */
  readonly first: Value;
  /** Whether they are powers of two; otherwise they are positive floats of 8 bits. */
  readonly arePowers: Value;
  /** Elements along k that share one. */
  readonly block: 16 | 32 | 64;
}

/** The scale factor of an element, a double. */
export function scaleAt(ir: RowBuilder, { address, first, arePowers, block }: Scales, row: Value, k: Value, part: Part): Value {
  const place = tensorWord(ir, address, ir.and(row, int(ir, 31)), ir.lshr(row, int(ir, 5)), part);
  const byte = ir.add(first, ir.lshr(k, int(ir, Math.log2(block))));
  const bits = field(ir, ir.lshr(ir.load('i32', place, word), ir.shl(ir.and(byte, int(ir, 3)), int(ir, 3))), 0, 8);
  const float = ir.fpext('f64', decoded(ir, 'e4m3', ir.and(bits, int(ir, 0x7f)), undefined));
  // 2 to the power of bits - 127, as a double; all ones are a NaN.
  const power = ir.bitcast('f64', ir.shl(ir.zext('i64', ir.add(bits, int(ir, 1023 - 127))), ir.const('i64', 52)));
  const whole = ir.select(isEqual(ir, bits, 255), ir.const('f64', 0x7ff8_0000_0000_0000n), power);
  return ir.select(arePowers, whole, float);
}
