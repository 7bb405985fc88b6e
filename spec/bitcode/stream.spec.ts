/** The bitstream container against the encoding rules that LLVM publishes ("LLVM Bitcode File Format"), with bits worked out by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BitReader, BitWriter, OutOfBits } from '../../src/base/bits.ts';
import { Malformed } from '../../src/bitcode/malformed.ts';
import type { RawRecord } from '../../src/bitcode/read/record-reader.ts';
import { openStream, type RawBlock, readStream } from '../../src/bitcode/read/stream-reader.ts';
import { streamWriter } from '../../src/bitcode/write/stream-writer.ts';
import { align, block, end, enter, type Field, magic, pack, plain } from '../support/bit-fields.ts';

const test = suite('bitcode stream');

const written = (write: (bits: BitWriter) => void): number[] => {
  const bits = new BitWriter();
  write(bits);
  bits.align32();
  return [...bits.finish()];
};
const hex = (text: string): number[] => text.split(' ').map((byte) => Number.parseInt(byte, 16));

// ── fields ──

test('fixed fields: lowest bit first, little-endian words', () => {
  const bytes = written((bits) => {
    bits.fixed(0b101, 3);
    bits.fixed(0b01, 2);
    bits.fixed(0xdeadbeef, 32);
  });
  // 0xdeadbeef << 5 | 0b01101 = 0x1BD5B7DDED
  assert.equal(bytes, hex('ed dd b7 d5 1b 00 00 00'));
  const bits = new BitReader(Uint8Array.from(bytes));
  assert.equal([bits.fixed(3), bits.fixed(2), bits.fixed(32)], [0b101, 0b01, 0xdeadbeef]);
});

test('variable-width fields: the example of the format’s own description', () => {
  // "the value 30 (0x1E) is encoded as 62 (0b0011'1110) when emitted as a vbr4 value"
  assert.equal(
    written((bits) => bits.vbr(30, 4)),
    [62, 0, 0, 0],
  );
  assert.is(new BitReader(Uint8Array.of(62, 0, 0, 0)).vbr(4), 30);
});

test('variable-width fields of the widths and sizes LLVM uses', () => {
  const cases: [value: number | bigint, width: number, fields: Field[]][] = [
    [31, 6, [[31, 6]]],
    [
      32,
      6,
      [
        [0b100000, 6],
        [1, 6],
      ],
    ],
    [
      1023,
      6,
      [
        [0b111111, 6],
        [31, 6],
      ],
    ],
    [0xffffffff, 6, [...Array.from({ length: 6 }, (): Field => [0b111111, 6]), [0b11, 6]]],
    [2n ** 64n - 1n, 6, [...Array.from({ length: 12 }, (): Field => [0b111111, 6]), [0b1111, 6]]],
    [2n ** 63n, 8, [...Array.from({ length: 9 }, (): Field => [0x80, 8]), [1, 8]]],
    [
      2n ** 64n - 1n,
      32,
      [
        [0xffffffff, 32],
        [0xffffffff, 32],
        [0b11, 32],
      ],
    ],
  ];
  for (const [value, width, fields] of cases) {
    assert.equal(
      written((bits) => bits.vbr(value, width)),
      [...pack(...fields)],
      `${value} in chunks of ${width}`,
    );
    assert.is(new BitReader(pack(...fields)).vbr(width), value);
  }
});

test('a number is given as a number where it is exact, as a bigint where not', () => {
  const back = (value: number | bigint) => new BitReader(Uint8Array.from(written((bits) => bits.vbr(value, 6)))).vbr(6);
  assert.is(back(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  assert.is(back(2n ** 53n), 2n ** 53n);
});

test('a variable-width field that goes on beyond 64 bits is refused', () => {
  assert.throws(
    () => new BitReader(new Uint8Array(64).fill(0xff)).vbr(6),
    (e: unknown) => e instanceof OutOfBits,
  );
});

test('many six-bit fields at once: read as one by one', () => {
  const borders = Array.from({ length: 53 }, (_, bits) => 2 ** bits).flatMap((power) => [power - 1, power]);
  const values = [...borders, Number.MAX_SAFE_INTEGER, ...[...borders].reverse(), 7, 7, 32769, 0];
  const bytes = written((bits) => {
    for (const value of values) bits.vbr(value, 6);
  });
  const into = new Float64Array(values.length + 1);
  new BitReader(Uint8Array.from(bytes)).vbr6s(values.length, into, 1);
  assert.equal([...into], [0, ...values]);
  assert.throws(
    () => new BitReader(Uint8Array.from(bytes)).vbr6s(bytes.length * 2, new Float64Array(bytes.length * 2)),
    (e: unknown) => e instanceof OutOfBits,
  );
});

test('many records at once: written as field by field, words of 32 bits without sign', () => {
  const borders = Array.from({ length: 32 }, (_, bits) => 2 ** bits).flatMap((power) => [power - 1, power]);
  const operands = [...borders, 2 ** 32 - 1, ...[...borders].reverse(), 7, 7, 32769, 0];
  const records = [[], [32], operands, [], operands.slice(3)];
  const tape = records.flatMap((record, i) => [2 ** i * 8, record.length, ...record]);
  const fields = written((bits) => {
    for (const [i, record] of records.entries()) {
      bits.fixed(3, 4);
      for (const value of [2 ** i * 8, record.length, ...record]) bits.vbr(value, 6);
    }
  });
  const words = Int32Array.from([99, ...tape, 99], (word) => word | 0);
  assert.equal(
    written((bits) => bits.records(words, 1, tape.length + 1, 3, 4)),
    fields,
  );
  // Two records: id 3 of four bits, code 8, one operand, 32; id 3, code 9, none.
  assert.equal(
    written((bits) => bits.records(Int32Array.of(8, 1, 32, 9, 0), 0, 5, 3, 4)),
    [...pack([3, 4], [8, 6], [1, 6], [0b100000, 6], [1, 6], [3, 4], [9, 6], [0, 6])],
  );
});

test('char6: a-z, A-Z, 0-9, dot, underscore', () => {
  const bits = new BitReader(pack([0, 6], [25, 6], [26, 6], [51, 6], [52, 6], [61, 6], [62, 6], [63, 6]));
  assert.is(String.fromCharCode(...Array.from({ length: 8 }, () => bits.char6())), 'azAZ09._');
});

test('fields that the data ends in', () => {
  for (const read of [(b: BitReader) => b.fixed(32), (b: BitReader) => b.vbr(6), (b: BitReader) => b.blob(1)]) {
    const bits = new BitReader(Uint8Array.of(0xff, 0xff, 0xff, 0xff));
    bits.fixed(30);
    assert.throws(
      () => read(bits),
      (e: unknown) => e instanceof OutOfBits,
    );
  }
});

test('patched words: at a word border and across one', () => {
  const bits = new BitWriter();
  bits.fixed(0, 32);
  bits.fixed(0b1, 4);
  bits.fixed(0, 32);
  bits.fixed(0, 28);
  bits.patch32(0, 0x11223344);
  bits.patch32(36, 0xdeadbeef);
  assert.equal([...bits.finish()], [...pack([0x11223344, 32], [0b1, 4], [0xdeadbeef, 32])]);
});

// ── blocks and records ──

const records = (block: RawBlock): RawRecord[] => block.items.filter((item): item is RawRecord => item.kind === 'record');
const plainly = (block: RawBlock) => records(block).map(({ code, ops }) => [code, ...ops]);
const refusal = (...fields: Field[]): string => {
  try {
    readStream(pack(...fields));
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
  return 'nothing';
};

test('a written block: the first bytes of every bitcode file', () => {
  const out = streamWriter();
  assert.is(
    out.block('identification', () => out.record('identification', 'epoch', { epoch: 0 })),
    1,
  );
  assert.equal([...out.finish()], hex('42 43 c0 de 35 14 00 00 01 00 00 00 43 08 00 00'));
});

test('a written record: 3, code, count and operands in chunks of 6', () => {
  const out = streamWriter();
  out.block('identification', () => out.record('identification', 'string', { text: 'LLVM' }));
  const letter = (char: string): Field[] => [
    [(char.charCodeAt(0) & 31) | 32, 6],
    [char.charCodeAt(0) >> 5, 6],
  ];
  const record: Field[] = [[3, 5], [1, 6], [4, 6], ...[...'LLVM'].flatMap(letter)];
  assert.equal([...out.finish()], [...pack(magic, ...enter(2, 13, 5, 3), ...record, ...end(5))]);
});

test('nested blocks: each with its own width, lengths in words', () => {
  const out = streamWriter();
  out.block('module', () => {
    out.record('module', 'version', { version: 2 });
    out.block('types', () => out.record('types', 'count', { count: 0 }));
    out.record('module', 'version', { version: 1 });
  });
  const inner = [...enter(3, 17, 4, 1), ...plain(4, 1, 0), ...end(4)];
  assert.equal([...out.finish()], [...pack(magic, ...enter(2, 8, 3, 5), ...plain(3, 1, 2), ...inner, ...plain(3, 1, 1), ...end(3))]);
});

test('a written blob: its abbreviation, then aligned bytes', () => {
  const out = streamWriter();
  out.block('strtab', () => out.record('strtab', 'blob', { blob: Uint8Array.of(1, 2, 3, 4, 5) }));
  const define: Field[] = [
    [2, 3],
    [2, 5],
    [1, 1],
    [1, 8],
    [0, 1],
    [5, 3],
  ];
  const blob: Field[] = [[4, 3], [5, 6], align, [0x04030201, 32], [5, 8], align];
  assert.equal([...out.finish()], [...pack(magic, ...enter(2, 23, 3, 4), ...define, ...blob, ...end(3))]);
});

test('a record filled in later', () => {
  const out = streamWriter();
  let place = 0;
  out.block('module', () => {
    place = out.reserveRecord('module', 'vstOffset');
  });
  out.patch(place, 0x12345678);
  const define: Field[] = [
    [2, 3],
    [2, 5],
    [1, 1],
    [13, 8],
    [0, 1],
    [1, 3],
    [0, 1],
    [1, 5],
  ];
  // 32 in chunks of 5 is 10000, 00010: written above the wrong way would be read as 1.
  define.splice(6, 2, [0b10000, 5], [0b00010, 5]);
  assert.equal([...out.finish()], [...pack(magic, ...enter(2, 8, 3, 3), ...define, [4, 3], [0x12345678, 32], ...end(3))]);
});

test('reading: records without abbreviation, blocks inside blocks, blocks of unknown number', () => {
  const [module] = readStream(
    pack(
      magic,
      ...enter(2, 8, 3, 6),
      ...plain(3, 1, 2),
      ...enter(3, 99, 5, 1),
      ...plain(5, 7),
      ...end(5),
      ...plain(3, 9, 1, 2, 31),
      ...end(3),
    ),
  );
  assert.is(module!.id, 8);
  assert.equal(plainly(module!), [
    [1, 2],
    [9, 1, 2, 31],
  ]);
  const inner = module!.items.find((item): item is RawBlock => item.kind === 'block')!;
  assert.is(inner.id, 99);
  assert.equal(plainly(inner), [[7]]);
});

// A module block whose abbreviation 4 is defined in it; `body` comes behind.
const withAbbreviation = (define: Field[], ...body: Field[]): Field[] => [magic, ...block(2, 8, 3, [2, 3], ...define, ...body)];

test('reading: an abbreviation of literal, fixed, variable-width and char6 fields', () => {
  const define: Field[] = [
    [4, 5],
    [1, 1],
    [9, 8], // the literal 9: the code
    [0, 1],
    [1, 3],
    [7, 5], // fixed(7)
    [0, 1],
    [2, 3],
    [4, 5], // vbr(4)
    [0, 1],
    [4, 3], // char6
  ];
  const [module] = readStream(pack(...withAbbreviation(define, [4, 3], [100, 7], [0b1110, 4], [0b0011, 4], [2, 6])));
  assert.equal(plainly(module!), [[9, 100, 30, 'c'.charCodeAt(0)]]);
});

test('reading: arrays and blobs', () => {
  const array: Field[] = [
    [3, 5],
    [1, 1],
    [5, 8],
    [0, 1],
    [3, 3],
    [0, 1],
    [4, 3],
  ];
  const [text] = readStream(pack(...withAbbreviation(array, [4, 3], [3, 6], [26, 6], [8, 6], [17, 6])));
  assert.is(String.fromCharCode(...records(text!)[0]!.ops.map(Number)), 'Air');
  const blob: Field[] = [
    [3, 5],
    [1, 1],
    [5, 8],
    [0, 1],
    [2, 3],
    [6, 5],
    [0, 1],
    [5, 3],
  ];
  const [data] = readStream(pack(...withAbbreviation(blob, [4, 3], [7, 6], [3, 6], align, [0x0a0b0c, 24], align)));
  assert.equal(plainly(data!), [[5, 7]]);
  assert.equal([...records(data!)[0]!.blob!], [0x0c, 0x0b, 0x0a]);
});

test('reading: in passing the same as in a tree, whatever shape the abbreviation has', () => {
  const literal = (value: number): Field[] => [
    [1, 1],
    [value, 8],
  ];
  const sized = (kind: 1 | 2, width: number): Field[] => [[0, 1], [kind, 3], ...(width < 16 ? [[width, 5] as const] : wide(width))];
  // Two chunks of five bits.
  const wide = (width: number): Field[] => [
    [16 | (width & 15), 5],
    [width >> 4, 5],
  ];
  const [array, char6, blob]: Field[][] = [3, 4, 5].map((kind) => [
    [0, 1],
    [kind, 3],
  ]);
  const shapes: [operands: number, define: Field[], body: Field[], record: number[]][] = [
    [
      3,
      [...literal(9), ...sized(1, 7), ...sized(2, 4)],
      [
        [100, 7],
        [0b1110, 4],
        [0b0011, 4],
      ],
      [9, 100, 30],
    ],
    [2, [...literal(9), ...sized(1, 32)], [[0xfffffff1, 32]], [9, 0xfffffff1]],
    [
      2,
      [...literal(9), ...sized(2, 32)],
      [
        [0x80000001, 32],
        [2, 32],
      ],
      [9, 2 ** 32 + 1],
    ],
    [
      4,
      [...literal(9), ...sized(1, 1), ...array!, ...sized(2, 6)],
      [
        [1, 1],
        [2, 6],
        [33, 6],
        [1, 6],
        [5, 6],
      ],
      [9, 1, 33, 5],
    ],
    [
      3,
      [...literal(9), ...array!, ...sized(1, 3)],
      [
        [2, 6],
        [7, 3],
        [5, 3],
      ],
      [9, 7, 5],
    ],
    [
      3,
      [...literal(9), ...array!, ...char6!],
      [
        [2, 6],
        [0, 6],
        [63, 6],
      ],
      [9, 0x61, 0x5f],
    ],
    [3, [...literal(9), ...literal(4), ...sized(1, 2)], [[3, 2]], [9, 4, 3]],
    [
      2,
      [...sized(2, 6), ...sized(1, 2)],
      [
        [9, 6],
        [3, 2],
      ],
      [9, 3],
    ],
    [2, [...literal(9), ...blob!], [[3, 6], align, [0x0a0b0c, 24], align], [9]],
  ];
  const defined = shapes.flatMap(([operands, define]): Field[] => [[2, 4], [operands, 5], ...define]);
  const used = shapes.flatMap(([, , body], i): Field[] => [[4 + i, 4], ...body]);
  const stream = openStream(pack(magic, ...block(2, 8, 3, ...block(3, 12, 4, ...defined, ...used))), new Set([12]));
  const [body] = stream.top[0]!.unread;
  const passing: number[][] = [];
  stream.walk(body!, { block: () => {}, record: ({ code, ops, count }) => void passing.push([code, ...ops.subarray(0, count)]) });
  const expected = shapes.map(([, , , record]) => record);
  assert.equal(passing, expected);
  assert.equal(plainly(stream.read(body!)), expected);
});

test('reading: a field of no bits is 0, one of 64 bits is whole', () => {
  const define: Field[] = [
    [3, 5],
    [1, 1],
    [5, 8],
    [0, 1],
    [1, 3],
    [0, 5],
    [0, 1],
    [1, 3],
    [0b10000, 5],
    [0b00100, 5],
  ];
  const [module] = readStream(pack(...withAbbreviation(define, [4, 3], [0x8000000000000001n, 64])));
  assert.equal(plainly(module!), [[5, 0, 0x8000000000000001n]]);
});

test('reading: BLOCKINFO defines abbreviations for the blocks behind it, before their own', () => {
  const literal = (code: number): Field[] => [
    [1, 5],
    [1, 1],
    [code, 8],
  ];
  const info = block(3, 0, 2, ...plain(2, 1, 17), [2, 2], ...literal(21));
  const user = block(3, 17, 4, [2, 4], ...literal(22), [4, 4], [5, 4]);
  const [module] = readStream(pack(magic, ...block(2, 8, 3, ...info, ...user)));
  const inner = module!.items.filter((item): item is RawBlock => item.kind === 'block')[1]!;
  assert.equal(plainly(inner), [[21], [22]]);
});

test('what is no bitstream is refused with its reason', () => {
  assert.match(refusal([0x12345678, 32]), /magic/);
  assert.match(refusal(magic, [3, 2]), /other than a block at the top/);
  assert.match(refusal(magic, ...enter(2, 8, 3, 9)), /9 words goes past the end/);
  assert.match(refusal(magic, ...enter(2, 8, 1, 1), [0, 32]), /ids of 1 bits/);
  assert.match(refusal(magic, ...enter(2, 8, 3, 1), [7, 3], align), /abbreviation 7 is not defined/);
  assert.match(refusal(magic, ...enter(2, 8, 3, 2), ...plain(3, 1, 0), ...end(3), [0, 32]), /ends elsewhere/);
  assert.match(refusal(magic, ...enter(2, 8, 3, 1), [3, 3], [1, 6], [0b111110, 6], [1, 6], ...end(3)), /operands/);
});

test('abbreviations of impossible shape are refused', () => {
  const unknown: Field[] = [
    [1, 5],
    [0, 1],
    [7, 3],
  ];
  assert.match(refusal(...withAbbreviation(unknown)), /unknown encoding/);
  const arrayAlone: Field[] = [
    [1, 5],
    [0, 1],
    [3, 3],
  ];
  assert.match(refusal(...withAbbreviation(arrayAlone)), /impossible shape/);
  // Elements that take no bits would make a few bytes an endless list.
  const nothings: Field[] = [
    [3, 5],
    [1, 1],
    [5, 8],
    [0, 1],
    [3, 3],
    [1, 1],
    [0, 8],
  ];
  assert.match(refusal(...withAbbreviation(nothings, [4, 3], [31, 6])), /impossible shape/);
  const none: Field[] = [
    [3, 5],
    [1, 1],
    [5, 8],
    [0, 1],
    [3, 3],
    [0, 1],
    [1, 3],
    [0, 5],
  ];
  assert.match(refusal(...withAbbreviation(none, [4, 3], [31, 6])), /impossible shape/);
});

test('blocks nested without end are refused', () => {
  const depth = 40;
  const opens = Array.from({ length: depth }, (_, i) => enter(2, 99, 2, 2 * (depth - i) + 100)).flat();
  const fields: Field[] = [magic, ...opens, ...Array.from({ length: 400 }, (): Field => [0, 32])];
  assert.match(refusal(...fields), /nested too deep/);
});

test.run();
