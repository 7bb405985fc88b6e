/**
 * Metadata of sparse factors in tensor memory: four bits for each chunk of a row, which say where its elements that are not zeros are.
 * Source: PTX ISA 9.0, 9.7.16.10.8; CUTLASS, mma_traits_sm100_frag.hpp and sm1xx_sparse_config.inl.
 */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import type { Kind } from './factors.ts';
import { field, int, isEqual, type Part, stopIf, tensorWord, word } from './words.ts';

/** The metadata of a product. */
export interface Metadata {
  readonly kind: Kind;
  /** The address in tensor memory, an i32. */
  readonly address: Value;
}

/** Kinds whose elements of 32 bytes have one column of metadata, of which a selector names one of two; the others have two. */
const isSelected = (kind: Kind): boolean => kind === 'f16' || kind === 'tf32';

/** Reads the selector of an instruction descriptor, and stops for metadata whose place is documented in figures alone. */
export function metadataOf(ir: RowBuilder, kind: Kind, m: Value, i: Value): Metadata {
  const selector = field(ir, i, 0, 2);
  const above = (most: number): Value => ir.icmp(selector, int(ir, most), { pred: 'ugt' });
  if (!isSelected(kind)) {
    // Of products with scale factors it is assumed to be 0.
    if (kind === 'i8' || kind === 'f8f6f4') stopIf(ir, above(0), 'a sparsity selector of bytes that is not 0');
    return { kind, address: m };
  }
  stopIf(ir, above(1), 'a sparsity selector above 1, whose columns are documented in figures alone');
  stopIf(ir, isEqual(ir, field(ir, m, 0, 1), 1), 'metadata that do not start at an even column');
  return { kind, address: ir.add(m, selector) };
}

/** The place along k, in the matrix with its zeros, of an element of a row without them. */
export function placeAlongK(ir: RowBuilder, { kind, address }: Metadata, row: Value, at: Value, part: Part): Value {
  const isPaired = kind === 'mxf4' || kind === 'mxf4nvf4';
  const chunk = kind === 'tf32' ? at : ir.lshr(at, int(ir, isPaired ? 2 : 1));
  const bits = isSelected(kind) ? bitsOfHalves(ir, address, row, chunk, part) : bitsOfRow(ir, address, row, chunk, part);
  // Of two elements one is kept: 0100 is the first, 1110 the second.
  if (kind === 'tf32') return ir.add(ir.shl(at, int(ir, 1)), field(ir, bits, 1, 1));
  const which = ir.and(isPaired ? ir.lshr(at, int(ir, 1)) : at, int(ir, 1));
  const index = ir.and(ir.lshr(bits, ir.shl(which, int(ir, 1))), int(ir, 3));
  const place = ir.add(ir.shl(chunk, int(ir, 2)), index);
  return isPaired ? ir.or(ir.shl(place, int(ir, 1)), ir.and(at, int(ir, 1))) : place;
}

/** The bits of a chunk in the lane of its row, 8 chunks to a column. */
function bitsOfRow(ir: RowBuilder, address: Value, row: Value, chunk: Value, part: Part): Value {
  const whole = ir.load('i32', tensorWord(ir, address, row, ir.lshr(chunk, int(ir, 3)), part), word);
  return ir.lshr(whole, ir.shl(ir.and(chunk, int(ir, 7)), int(ir, 2)));
}

/**
 * The bits of one of 8 chunks: of 16 rows, the first four chunks are in the lanes of the first eight rows and the others in those behind, and the two
 * halves of a word are of rows that are 8 apart.
 */
function bitsOfHalves(ir: RowBuilder, address: Value, row: Value, chunk: Value, part: Part): Value {
  const upper = ir.shl(ir.and(chunk, int(ir, 4)), int(ir, 1));
  const lane = ir.or(ir.and(row, int(ir, ~8)), upper);
  const whole = ir.load('i32', tensorWord(ir, address, lane, int(ir, 0), part), word);
  const half = ir.shl(ir.and(row, int(ir, 8)), int(ir, 1));
  return ir.lshr(whole, ir.or(half, ir.shl(ir.and(chunk, int(ir, 3)), int(ir, 2))));
}
