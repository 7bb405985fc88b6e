/**
 * What follows each opcode, and what a memory instruction takes from the stack. One table for the code that is read: an opcode that is not in
 * it is refused, because what follows it would be read as something else.
 * Source: WebAssembly Core Specification 3.0, 5.4 (binary format of instructions); the threads proposal for the prefix 0xfe; the
 * exception handling proposal for its first form (`try`, `catch`, `delegate`, `rethrow`).
 */

/** A type of a value that is kept while an address below it is looked at. */
export type Kept = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

/** What follows an opcode. `index`: a number of 32 bits. `lane`, `order`: a byte. `memory`, `table`: the number of one. */
export type Immediate =
  | 'index'
  | 'blockType'
  | 'labels'
  | 'catches'
  | 'types'
  | 'heapType'
  | 'i32'
  | 'i64'
  | 'bytes4'
  | 'bytes8'
  | 'bytes16'
  | 'lane'
  | 'order'
  | 'access'
  | 'memory'
  | 'table';

/** How an instruction uses memory or a table, whose addresses become numbers of 32 bits. */
export type Use =
  /** An address below values of these types. */
  | { readonly kind: 'access'; readonly above: readonly Kept[] }
  | { readonly kind: 'size' | 'grow' | 'fill' | 'copy' | 'init' }
  | { readonly kind: 'table'; readonly above: readonly Kept[] };

export interface Opcode {
  readonly immediates: readonly Immediate[];
  readonly use?: Use;
}

/** First and last number, and what is true of all of them. */
type Row = readonly [first: number, last: number, immediates?: readonly Immediate[], use?: Use];

const access = (...above: Kept[]): Use => ({ kind: 'access', above });

const plain: readonly Row[] = [
  [0x00, 0x01],
  [0x02, 0x04, ['blockType']],
  [0x05, 0x05],
  [0x06, 0x06, ['blockType']],
  [0x07, 0x09, ['index']],
  [0x0a, 0x0b],
  [0x0c, 0x0d, ['index']],
  [0x0e, 0x0e, ['labels']],
  [0x0f, 0x0f],
  [0x10, 0x10, ['index']],
  [0x11, 0x11, ['index', 'table'], { kind: 'table', above: [] }],
  [0x12, 0x12, ['index']],
  [0x13, 0x13, ['index', 'table'], { kind: 'table', above: [] }],
  [0x14, 0x15, ['index']],
  [0x18, 0x18, ['index']],
  [0x19, 0x1b],
  [0x1c, 0x1c, ['types']],
  [0x1f, 0x1f, ['blockType', 'catches']],
  [0x20, 0x24, ['index']],
  [0x25, 0x25, ['table'], { kind: 'table', above: [] }],
  [0x28, 0x35, ['access'], access()],
  [0x36, 0x36, ['access'], access('i32')],
  [0x37, 0x37, ['access'], access('i64')],
  [0x38, 0x38, ['access'], access('f32')],
  [0x39, 0x39, ['access'], access('f64')],
  [0x3a, 0x3b, ['access'], access('i32')],
  [0x3c, 0x3e, ['access'], access('i64')],
  [0x3f, 0x3f, ['memory'], { kind: 'size' }],
  [0x40, 0x40, ['memory'], { kind: 'grow' }],
  [0x41, 0x41, ['i32']],
  [0x42, 0x42, ['i64']],
  [0x43, 0x43, ['bytes4']],
  [0x44, 0x44, ['bytes8']],
  [0x45, 0xc4],
  [0xd0, 0xd0, ['heapType']],
  [0xd1, 0xd1],
  [0xd2, 0xd2, ['index']],
  [0xd3, 0xd4],
  [0xd5, 0xd6, ['index']],
];

/** Behind 0xfc. Instructions on ranges of tables are not in it: compilers of C and C++ do not write them. */
const numeric: readonly Row[] = [
  [0, 7],
  [8, 8, ['index', 'memory'], { kind: 'init' }],
  [9, 9, ['index']],
  [10, 10, ['memory', 'memory'], { kind: 'copy' }],
  [11, 11, ['memory'], { kind: 'fill' }],
];

/** Behind 0xfd. */
const vectors: readonly Row[] = [
  [0x00, 0x0a, ['access'], access()],
  [0x0b, 0x0b, ['access'], access('v128')],
  [0x0c, 0x0d, ['bytes16']],
  [0x0e, 0x14],
  [0x15, 0x22, ['lane']],
  [0x23, 0x53],
  [0x54, 0x5b, ['access', 'lane'], access('v128')],
  [0x5c, 0x5d, ['access'], access()],
  [0x5e, 0x113],
];

/** Behind 0xfe: in each group of seven, those of the odd second and the last three have 64 bits. */
const widths: readonly Kept[] = ['i32', 'i64', 'i32', 'i32', 'i64', 'i64', 'i64'];
const group = (first: number, above: (width: Kept) => readonly Kept[]): Row[] =>
  widths.map((width, i): Row => [first + i, first + i, ['access'], access(...above(width))]);
const atomics: readonly Row[] = [
  [0x00, 0x00, ['access'], access('i32')],
  [0x01, 0x01, ['access'], access('i32', 'i64')],
  [0x02, 0x02, ['access'], access('i64', 'i64')],
  [0x03, 0x03, ['order']],
  ...group(0x10, () => []),
  ...[0x17, 0x1e, 0x25, 0x2c, 0x33, 0x3a, 0x41].flatMap((first) => group(first, (width) => [width])),
  ...group(0x48, (width) => [width, width]),
];

const tableOf = (rows: readonly Row[]): ReadonlyMap<number, Opcode> =>
  new Map(
    rows.flatMap(([first, last, immediates = [], use]) =>
      Array.from({ length: last - first + 1 }, (_, i): [number, Opcode] => [first + i, use ? { immediates, use } : { immediates }]),
    ),
  );

/** The instructions of one byte. */
export const opcodes = tableOf(plain);
/** The instructions behind a prefix. */
export const prefixed: ReadonlyMap<number, ReadonlyMap<number, Opcode>> = new Map([
  [0xfc, tableOf(numeric)],
  [0xfd, tableOf(vectors)],
  [0xfe, tableOf(atomics)],
]);

/** Encodings that the lowering writes. */
export const written = {
  unreachable: 0x00,
  drop: 0x1a,
  block: 0x02,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  call: 0x10,
  i32Const: 0x41,
  i64Const: 0x42,
  i32Eq: 0x46,
  i64Ne: 0x52,
  i64LtU: 0x54,
  i64Add: 0x7c,
  i64ShrU: 0x88,
  i32Wrap: 0xa7,
  i64ExtendS: 0xac,
  i64ExtendU: 0xad,
  emptyType: 0x40,
} as const;
