/** The host's half of `printf`: it formats the records that a kernel has left in the print buffer (`src/ir/print-buffer.ts`). */
import { type ArgumentKind, argumentsOf, type Piece, parseFormat } from '../base/printf/conversion.ts';
import { type Argument, formatText } from '../base/printf/format.ts';
import { nullLength, printHead } from '../ir/index.ts';

/** Clears the buffer and writes its capacity. */
export function emptyPrintBuffer(buffer: Uint8Array): void {
  buffer.fill(0);
  wordsOf(buffer).setUint32(printHead.capacity, (buffer.length - printHead.bytes) >>> 2, true);
}

/** The number of records for which there was no room. */
export const lostRecords = (buffer: Uint8Array): number => wordsOf(buffer).getUint32(printHead.lost, true);

const wordsOf = (buffer: Uint8Array): DataView => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

/** Passes the printed text on in the order of the records, in pieces. */
export function readPrinted(buffer: Uint8Array, formats: readonly string[], print: (text: Uint8Array) => void): void {
  let text = '';
  for (const more of recordTexts(buffer, formats)) {
    text += more;
    if (text.length < pieceBytes) continue;
    print(bytesOf(text));
    text = '';
  }
  if (text !== '') print(bytesOf(text));
}

/** The minimum size of a piece in bytes: the text of records may be far larger than they are. */
const pieceBytes = 65536;

/** The bytes of a text, one for each character. */
const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** A format, which records refer to by number. */
interface Format {
  readonly pieces: readonly Piece[];
  readonly kinds: readonly ArgumentKind[];
}

function* recordTexts(buffer: Uint8Array, texts: readonly string[]): Generator<string> {
  const known = new Map<number, Format | undefined>();
  const formatAt = (number: number): Format | undefined => {
    if (!known.has(number)) known.set(number, formatOf(texts[number - 1]));
    return known.get(number);
  };
  const view = wordsOf(buffer);
  const taken = view.getUint32(printHead.taken, true) * 4 + printHead.bytes;
  const end = Math.min(taken, buffer.length & ~3);
  let at: number = printHead.bytes;
  while (at < end) {
    const format = formatAt(view.getUint32(at, true));
    // A stopped thread may not have written the record that it has reserved.
    const record = format && readRecord(view, { at: at + 4, end }, format.kinds);
    if (!record) return;
    yield formatText(format.pieces, record.args);
    at = record.end;
  }
}

function formatOf(text: string | undefined): Format | undefined {
  const pieces = text === undefined ? undefined : parseFormat(text);
  return pieces === undefined || 'why' in pieces ? undefined : { pieces, kinds: argumentsOf(pieces) };
}

interface Place {
  readonly at: number;
  readonly end: number;
}

/** The arguments of a record, and the start of the next one; undefined if the record exceeds the buffer. */
function readRecord(view: DataView, place: Place, kinds: readonly ArgumentKind[]): { args: Argument[]; end: number } | undefined {
  let { at } = place;
  const words = kinds.reduce((sum, kind) => sum + (kind === 'long' ? 2 : 1), 0);
  if (at + 4 * words > place.end) return undefined;
  const numbers = kinds.map((kind) => {
    const value = kind === 'long' ? view.getBigUint64(at, true) : BigInt(view.getUint32(at, true));
    at += kind === 'long' ? 8 : 4;
    return value;
  });
  const args: Argument[] = [];
  for (const [i, kind] of kinds.entries()) {
    const length = Number(numbers[i]);
    if (kind !== 'string') args.push(numbers[i]);
    else if (length === nullLength) args.push(undefined);
    else if (at + length > place.end) return undefined;
    else {
      args.push(Array.from({ length }, (_, n) => String.fromCharCode(view.getUint8(at + n))).join(''));
      at += Math.ceil(length / 4) * 4;
    }
  }
  return { args, end: at };
}
