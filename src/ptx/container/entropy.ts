/**
 * The two entropy coders of Zstandard, FSE and Huffman, and the bit streams they read.
 * Source: RFC 8878, "Zstandard Compression and the application/zstd Media Type", sections 4.1 and 4.2.
 */
import { malformed } from './malformed.ts';

/** Reads bits from the last to the first, in the order of the encoders. Bits before the first are zeros and make the count negative. */
export class BackwardBits {
  readonly #bytes: Uint8Array;
  /** The number of remaining bits; negative after reading too many. */
  left: number;

  constructor(bytes: Uint8Array) {
    const last = bytes.at(-1) ?? 0;
    if (last === 0) malformed(0, 'a Zstandard bit stream has no end mark');
    this.#bytes = bytes;
    this.left = bytes.length * 8 - 8 + floorLog2(last);
  }

  /** The next `count` bits, at most 24. */
  read(count: number): number {
    this.left -= count;
    return this.#at(this.left, count);
  }

  /** The next `count` bits, without consuming them. */
  peek(count: number): number {
    return this.#at(this.left - count, count);
  }

  #at(bit: number, count: number): number {
    if (bit < 0) return bit + count <= 0 ? 0 : (this.#at(0, bit + count) << -bit) >>> 0;
    const at = bit >> 3;
    const bytes = this.#bytes;
    const word = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
    return (word >>> (bit & 7)) & ((1 << count) - 1);
  }
}

/** The index of the highest set bit of a positive value. */
const floorLog2 = (value: number): number => 31 - Math.clz32(value);

/** A decoding table of finite-state entropy: for each state, the symbol and the transition to the next state. */
export interface FseTable {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** The table for a single symbol, which takes no bits. */
export const fseOfOne = (symbol: number): FseTable => ({
  log: 0,
  symbols: Uint8Array.of(symbol),
  bits: Uint8Array.of(0),
  bases: Uint16Array.of(0),
});

/** The table of a distribution; -1 means "less than one". */
export function fseTable(log: number, counts: readonly number[]): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const next = counts.map((count) => (count === -1 ? 1 : count));
  let high = size;
  counts.forEach((count, symbol) => {
    if (count === -1) symbols[--high] = symbol;
  });
  distribute(symbols, counts, high);
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const from = next[symbols[state]!]!++;
    bits[state] = log - floorLog2(from);
    bases[state] = (from << bits[state]!) - size;
  }
  return { log, symbols, bits, bases };
}

/** Distributes the symbols over the cells below `high` in steps that reach each cell once. */
function distribute(symbols: Uint8Array, counts: readonly number[], high: number): void {
  const size = symbols.length;
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  counts.forEach((count, symbol) => {
    for (let i = 0; i < count; i++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  });
}

/** Reads bits from the first to the last. Bits after the last are zeros, and `next` detects them. */
class ForwardBits {
  readonly #bytes: Uint8Array;
  #bit: number;
  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#bit = at * 8;
  }
  /** At most 16 bits. */
  peek(count: number): number {
    const at = this.#bit >> 3;
    const byte = (i: number): number => this.#bytes[at + i] ?? 0;
    return ((byte(0) | (byte(1) << 8) | (byte(2) << 16)) >>> (this.#bit & 7)) & ((1 << count) - 1);
  }
  skip(count: number): void {
    this.#bit += count;
  }
  /** The first byte without a read bit. */
  get next(): number {
    const at = (this.#bit + 7) >> 3;
    return at > this.#bytes.length ? malformed(this.#bytes.length, 'a Zstandard table ends early') : at;
  }
}

/** Reads a table's description. `maxLog` is the largest accuracy allowed, `last` the largest symbol. */
export function readFse(bytes: Uint8Array, at: number, maxLog: number, last: number): { readonly table: FseTable; readonly next: number } {
  const bits = new ForwardBits(bytes, at);
  const log = bits.peek(4) + 5;
  bits.skip(4);
  if (log > maxLog) malformed(at, `a Zstandard table of accuracy ${log}, where ${maxLog} is the largest`);
  const counts: number[] = [];
  for (let left = 1 << log; left > 0; ) {
    if (counts.length > last) malformed(at, 'a Zstandard table has too many symbols');
    const count = readCount(bits, left);
    counts.push(count);
    left -= Math.abs(count);
    if (count === 0) readZeros(bits, counts, last);
  }
  if (counts.length > last + 1) malformed(at, 'a Zstandard table has too many symbols');
  return { table: fseTable(log, counts), next: bits.next };
}

/** A count of at most `left`, in the fewest bits; small counts take one bit less. */
function readCount(bits: ForwardBits, left: number): number {
  const width = floorLog2(left + 1) + 1;
  const value = bits.peek(width);
  const short = value & ((1 << (width - 1)) - 1);
  const spare = (1 << width) - 1 - (left + 1);
  bits.skip(short < spare ? width - 1 : width);
  if (short < spare) return short - 1;
  return (value === short ? value : value - spare) - 1;
}

/** After a count of zero: the number of further zeros, in groups of up to three. */
function readZeros(bits: ForwardBits, counts: number[], last: number): void {
  for (let more = 3; more === 3 && counts.length <= last; ) {
    more = bits.peek(2);
    bits.skip(2);
    for (let i = 0; i < more; i++) counts.push(0);
  }
}

/** A decoding table of a Huffman code: for the next `log` bits, the symbol and the length of its code. */
export interface HuffmanTable {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
}

const maxCodeLength = 11;

/** Reads a tree's description. */
export function readHuffman(bytes: Uint8Array, at: number): { readonly table: HuffmanTable; readonly next: number } {
  const head = bytes[at] ?? malformed(at, 'a Zstandard block ends early');
  const size = head < 128 ? head : (head - 127 + 1) >> 1;
  const next = at + 1 + size;
  if (next > bytes.length) malformed(at, 'a Zstandard Huffman tree ends early');
  const body = bytes.subarray(at + 1, next);
  const weights = head < 128 ? packedWeights(body) : plainWeights(body, head - 127);
  return { table: huffmanTable(weights, at), next };
}

const plainWeights = (body: Uint8Array, count: number): number[] =>
  Array.from({ length: count }, (_, i) => (i % 2 === 0 ? body[i >> 1]! >> 4 : body[i >> 1]! & 15));

/** Weights coded by two alternating FSE states. The state that runs out of bits leaves the last symbol to the other. */
function packedWeights(body: Uint8Array): number[] {
  const { table, next } = readFse(body, 0, 6, 255);
  const bits = new BackwardBits(body.subarray(next));
  const weights: number[] = [];
  let state = bits.read(table.log);
  let other = bits.read(table.log);
  if (bits.left < 0) malformed(next, 'the weights of a Zstandard Huffman tree end early');
  while (bits.left >= 0) {
    if (weights.length > 253) malformed(next, 'a Zstandard Huffman tree has too many symbols');
    weights.push(table.symbols[state]!);
    const after = table.bases[state]! + bits.read(table.bits[state]!);
    state = other;
    other = after;
  }
  weights.push(table.symbols[state]!);
  return weights;
}

/** The last symbol's weight is implicit: it completes the code. */
function huffmanTable(weights: number[], at: number): HuffmanTable {
  let sum = 0;
  for (const weight of weights) {
    if (weight > maxCodeLength) malformed(at, 'a Zstandard Huffman code is too long');
    sum += weight === 0 ? 0 : 1 << (weight - 1);
  }
  if (sum === 0) malformed(at, 'a Zstandard Huffman tree is empty');
  const log = floorLog2(sum) + 1;
  const rest = (1 << log) - sum;
  if (log > maxCodeLength || (rest & (rest - 1)) !== 0) malformed(at, 'the weights of a Zstandard Huffman tree do not add up');
  return filledTable([...weights, floorLog2(rest) + 1], log);
}

/** Codes ordered by weight, then by symbol. */
function filledTable(weights: readonly number[], log: number): HuffmanTable {
  const symbols = new Uint8Array(1 << log);
  const bits = new Uint8Array(1 << log);
  let to = 0;
  for (let weight = 1; weight <= log; weight++) {
    weights.forEach((one, symbol) => {
      if (one !== weight) return;
      const end = to + (1 << (weight - 1));
      symbols.fill(symbol, to, end);
      bits.fill(log + 1 - weight, to, end);
      to = end;
    });
  }
  return { log, symbols, bits };
}

/** Fills `out` with decoded symbols. The stream must hold exactly that many. */
export function readHuffmanStream(stream: Uint8Array, table: HuffmanTable, out: Uint8Array): void {
  const bits = new BackwardBits(stream);
  for (let i = 0; i < out.length; i++) {
    const code = bits.peek(table.log);
    out[i] = table.symbols[code]!;
    bits.left -= table.bits[code]!;
  }
  if (bits.left !== 0) malformed(0, 'a Zstandard literal stream has another length than its header says');
}
