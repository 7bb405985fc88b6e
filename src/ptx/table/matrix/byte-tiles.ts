/**
 * Tiles of bytes, and of small floats that become bytes, between shared memory and the registers of a warp. The manual shows which rows and columns a
 * thread has; their order in its registers with `.trans` is that of CUTLASS (`SM100_U8x8_LDSM_T`). Source: PTX ISA 9.0, 9.7.14.5.15 and 9.7.14.5.16.
 */
import type { Value } from '../../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../../model/row.ts';
import { type Coordinate, fromLane, laneOf, numberOf } from './lanes.ts';
import { ownRow } from './tiles.ts';

const space = ['shared', 'shared::cta'] as const;
const source = ['b6x16_p32', 'b4x16_p64'] as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;

type Source = 'b8' | (typeof source)[number];

const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
const own = (bit: number): Coordinate => ({ lane: bit });
const fixed = (value: number): Coordinate => (value & 1 ? 1 : 0);
const byteAccess = { align: 1, volatile: false } as const;

/** The pointer to a byte of the row whose address a lane has. */
function placeAt(ir: RowBuilder, rows: Value, lane: readonly Coordinate[], offset: Value): Value {
  return ir.inttoptr('ptr.shared', ir.zext('i64', ir.add(fromLane(ir, rows, lane), offset)));
}

const byteAt = (ir: RowBuilder, pointer: Value, at: number): Value =>
  ir.zext('i32', ir.load('i8', at === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', at)), byteAccess));

const joined = (ir: RowBuilder, parts: readonly Value[], bits: number): Value =>
  parts.map((part, i) => (i === 0 ? part : ir.shl(part, int(ir, bits * i)))).reduce((all, each) => ir.or(all, each));

/** Four elements of a row that follow each other, each in a byte. */
function fourAt(ir: RowBuilder, rows: Value, index: number, from: Source): Value {
  const lane = [own(2), own(3), own(4), fixed(index), fixed(index >> 1)];
  const bits = from === 'b4x16_p64' ? 4 : 6;
  const pointer = placeAt(ir, rows, lane, ir.mul(ir.and(laneOf(ir), int(ir, 3)), int(ir, bits / 2)));
  const packed = joined(
    ir,
    Array.from({ length: bits / 2 }, (_, at) => byteAt(ir, pointer, at)),
    8,
  );
  const mask = int(ir, 2 ** bits - 1);
  return joined(
    ir,
    [0, 1, 2, 3].map((i) => ir.and(ir.lshr(packed, int(ir, bits * i)), mask)),
    8,
  );
}

/** One element of a row, by the bits of its column. */
function oneAt(ir: RowBuilder, rows: Value, lane: readonly Coordinate[], column: readonly Coordinate[], from: Source): Value {
  if (from === 'b8') return byteAt(ir, placeAt(ir, rows, lane, numberOf(ir, column)), 0);
  if (from === 'b4x16_p64') {
    const [low, ...rest] = column as [Coordinate, ...Coordinate[]];
    const both = byteAt(ir, placeAt(ir, rows, lane, numberOf(ir, rest)), 0);
    return ir.and(ir.lshr(both, ir.shl(numberOf(ir, [low]), int(ir, 2))), int(ir, 15));
  }
  const at = ir.mul(numberOf(ir, column), int(ir, 6));
  const pointer = placeAt(ir, rows, lane, ir.lshr(at, int(ir, 3)));
  const both = joined(ir, [byteAt(ir, pointer, 0), byteAt(ir, pointer, 1)], 8);
  return ir.and(ir.lshr(both, ir.and(at, int(ir, 7))), int(ir, 63));
}

/** The two registers of a tile of 16 rows that is transposed: each has two columns of two rows. */
const transposed = (ir: RowBuilder, rows: Value, index: number, from: Source): Value[] =>
  [0, 1].map((register) =>
    joined(
      ir,
      [0, 1, 2, 3].map((part) => {
        const lane = [fixed(part), fixed(register), own(0), own(1), fixed(index)];
        return oneAt(ir, rows, lane, [own(2), own(3), own(4), fixed(part >> 1)], from);
      }),
      8,
    ),
  );

const countOf = (num: string): number[] => Array.from({ length: Number(num.slice(1)) }, (_, i) => i);
const common = { since: blackwell, source: '9.7.14.5.15', status: 'exact', isCollective: true, cases: () => [] } as const;
const types = { d: 'b32', a: 'b128' } as const;
const vectors = { d: 'elements' } as const;
const twice = { d: (m: { readonly num?: unknown }) => 2 * Number(String(m.num).slice(1)) } as const;
const order = 'Each register has two columns of two rows. Not recorded on a GPU.';

export const byteTileRows = (): readonly Row[] => [
  row({
    ...common,
    syntax: 'ldmatrix.sync.aligned.m8n16.num{.space}.b8x16.source d, [a]',
    values: { num: ['x1', 'x2', 'x4'], space, source },
    types,
    vectors,
    lanes: { d: '.num' },
    doc: 'Loads 8-by-16 tiles of small floats, each into the low bits of a byte, distributed over the warp. Not recorded on a GPU.',
    lower({ a }, m, ir) {
      const rows = ownRow(ir, a, m.space);
      return countOf(m.num).map((index) => fourAt(ir, rows, index, m.source));
    },
  }),
  row({
    ...common,
    syntax: 'ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8 d, [a]',
    values: { num: ['x1', 'x2'], space },
    types,
    vectors,
    lanes: twice,
    doc: `Loads 16-by-16 tiles of bytes, transposed, distributed over the warp. ${order}`,
    lower({ a }, m, ir) {
      const rows = ownRow(ir, a, m.space);
      return countOf(m.num).flatMap((index) => transposed(ir, rows, index, 'b8'));
    },
  }),
  row({
    ...common,
    syntax: 'ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8x16.source d, [a]',
    values: { num: ['x1', 'x2'], space, source },
    types,
    vectors,
    lanes: twice,
    doc: `Loads 16-by-16 tiles of small floats, transposed, each into the low bits of a byte, distributed over the warp. ${order}`,
    lower({ a }, m, ir) {
      const rows = ownRow(ir, a, m.space);
      return countOf(m.num).flatMap((index) => transposed(ir, rows, index, m.source));
    },
  }),
  row({
    ...common,
    syntax: 'stmatrix.sync.aligned.m16n8.num.trans{.space}.b8 [a], b',
    values: { num: ['x1', 'x2', 'x4'], space },
    types: { b: 'b32', a: 'b128' },
    vectors: { b: 'elements' },
    lanes: { b: '.num' },
    source: '9.7.14.5.16',
    doc: `Stores 16-by-8 tiles of bytes that are distributed over the warp, transposed. ${order}`,
    lower({ a, b }, m, ir) {
      const rows = ownRow(ir, a, m.space);
      for (const [index, value] of (b as readonly Value[]).entries())
        for (let part = 0; part < 4; part++) {
          const lane = [fixed(part), own(0), own(1), fixed(index), fixed(index >> 1)];
          const place = placeAt(ir, rows, lane, numberOf(ir, [own(2), own(3), own(4), fixed(part >> 1)]));
          ir.store(place, ir.trunc('i8', ir.lshr(value, int(ir, 8 * part))), byteAccess);
        }
    },
  }),
];
