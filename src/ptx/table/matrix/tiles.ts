/** 8-by-8 tiles of halves between shared memory and the registers of a warp. Source: PTX ISA 9.0, 9.7.14.5.15 to 9.7.14.5.17. */
import type { Value } from '../../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { joined } from '../halves.ts';
import { mmaFragment, type Place } from './fragments.ts';
import { type Coordinate, coordinatesOf, fromLane, locationOf, numberOf, registerAt } from './lanes.ts';

/** The layout of a tile: that of the factor a in a product of halves. */
const tile = mmaFragment('a', 'm8n8k8', 'f16');
const halfOf = (ir: RowBuilder, word: Value, upper: Value): Value => ir.trunc('i16', ir.lshr(word, ir.shl(upper, ir.const('i32', 4))));

/** The shared-memory address of this thread, as an i32. */
export function ownRow(ir: RowBuilder, address: AddressOperand, space: string | undefined): Value {
  const pointer = ir.pointer(address, space === undefined ? 'generic' : 'shared');
  const whole = ir.ptrtoint('i64', pointer);
  return ir.trunc('i32', space === undefined ? ir.convertAddress(whole, 'shared', 'space') : whole);
}

/** The rows or columns of one of the thread's two halves in a tile. */
const placesOf = (along: readonly Place[], part: number): Coordinate[] => coordinatesOf(along, 0, part);

/** The address of a tile element: lanes `8 * index` and following hold the addresses of the tile's rows. */
function elementAt(ir: RowBuilder, rows: Value, index: number, line: readonly Coordinate[], column: readonly Coordinate[]): Value {
  const lane: Coordinate[] = [...line, (index & 1) as 0 | 1, (index >> 1) as 0 | 1];
  const start = fromLane(ir, rows, lane);
  const offset = numberOf(ir, [0, ...column]);
  return ir.inttoptr('ptr.shared', ir.zext('i64', ir.add(start, offset)));
}

const word = { align: 4, volatile: false } as const;
const half = { align: 2, volatile: false } as const;

/** The addresses of the thread's two halves in a tile: adjacent in a row, or in a column with `.trans`. */
function halvesAt(ir: RowBuilder, rows: Value, index: number): Value[] {
  return [0, 1].map((part) => elementAt(ir, rows, index, placesOf(tile.column, part), placesOf(tile.row, part)));
}

const wordAt = (ir: RowBuilder, rows: Value, index: number): Value =>
  elementAt(ir, rows, index, placesOf(tile.row, 0), placesOf(tile.column, 0));

const countOf = (num: string): number => Number(num.slice(1));
const numbers = ['x1', 'x2', 'x4'] as const;
const space = ['shared', 'shared::cta'] as const;

/** The registers of a thread that hold its parts of tiles, by the addresses of their rows. */
function tilesAt(ir: RowBuilder, rows: Value, { num, trans }: { readonly num: string; readonly trans?: boolean | undefined }): Value[] {
  return Array.from({ length: countOf(num) }, (_, index) => {
    if (!trans) return ir.load('i32', wordAt(ir, rows, index), word);
    const [low, high] = halvesAt(ir, rows, index).map((place) => ir.load('i16', place, half)) as [Value, Value];
    return joined(ir, low, high);
  });
}

export const tileRows = (): readonly Row[] => [
  row({
    syntax: 'ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 d, [a]',
    values: { num: numbers, space },
    types: { d: 'b32', a: 'b128' },
    vectors: { d: 'elements' },
    lanes: { d: '.num' },
    since: { ptx: 6.5, sm: 75 },
    doc: 'Loads 8-by-8 tiles of halves, distributed over the warp. Each group of four threads gets a row, or a column with `.trans`. Each group of eight lanes holds the addresses of the rows of one tile.',
    source: '9.7.14.5.15',
    status: 'exact',
    isCollective: true,
    lower({ a }, m, ir) {
      const rows = ownRow(ir, a, m.space);
      if (!ir.exchangeFunction) return tilesAt(ir, rows, m);
      const count = countOf(m.num);
      const whole = ir.exchangeFunction(`cumetal.ldmatrix.${m.num}${m.trans ? '.trans' : ''}`, rows, (own, places) => {
        const [first, second, third, fourth] = tilesAt(own, places, m) as [Value, Value, Value, Value];
        if (count === 1) return first;
        return count === 2 ? own.vec2('v2.i32', first, second) : own.vec4('v4.i32', first, second, third, fourth);
      });
      return count === 1 ? [whole] : Array.from({ length: count }, (_, lane) => ir.extract('i32', whole, { lane }));
    },
    cases: () => [],
  }),
  row({
    syntax: 'stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 [a], b',
    values: { num: numbers, space },
    types: { a: 'b128', b: 'b32' },
    vectors: { b: 'elements' },
    lanes: { b: '.num' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Stores 8-by-8 tiles of halves in the layout of `ldmatrix`.',
    source: '9.7.14.5.16',
    status: 'exact',
    isCollective: true,
    lower({ a, b }, m, ir) {
      const rows = ownRow(ir, a, m.space);
      for (const [index, value] of (b as readonly Value[]).entries()) {
        if (!m.trans) ir.store(wordAt(ir, rows, index), value, word);
        else
          for (const [part, place] of halvesAt(ir, rows, index).entries()) ir.store(place, halfOf(ir, value, ir.const('i32', part)), half);
      }
    },
    cases: () => [],
  }),
  row({
    syntax: 'movmatrix.sync.aligned.m8n8.trans.b16 d, a',
    types: { d: 'b32', a: 'b32' },
    since: { ptx: 7.8, sm: 75 },
    doc: 'Transposes an 8-by-8 tile of halves that is distributed over the warp.',
    source: '9.7.14.5.17',
    status: 'exact',
    isCollective: true,
    lower({ a }, _, ir) {
      const [low, high] = [0, 1].map((part) => {
        const from = locationOf(tile, placesOf(tile.column, part), placesOf(tile.row, part));
        return halfOf(ir, registerAt(ir, [a], from), numberOf(ir, from.part));
      }) as [Value, Value];
      return joined(ir, low, high);
    },
    cases: () => [],
  }),
];
