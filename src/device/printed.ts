/** What a kernel printed, out of the buffer in which it left records (`src/ir/print-buffer.ts`): the host's half of `printf`. */
import { type ArgumentKind, argumentsOf, type Piece, parseFormat } from '../base/printf/conversion.ts';
import { type Argument, formatText } from '../base/printf/format.ts';
import { nullLength, printHead } from '../ir/index.ts';

/** Zeros the buffer and says how much room for records there is. */
export function emptyPrintBuffer(buffer: Uint8Array): void {
  buffer.fill(0);
  wordsOf(buffer).setUint32(printHead.capacity, (buffer.length - printHead.bytes) >>> 2, true);
}

/** Records for which there was no room. */
export const lostRecords = (buffer: Uint8Array): number => wordsOf(buffer).getUint32(printHead.lost, true);

const wordsOf = (buffer: Uint8Array): DataView => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

/** Hands over what was printed, in the order of the records and in pieces of some size. */
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

/** Bytes at which a piece is handed over: what records print may be far larger than they are. */
const pieceBytes = 65536;

/** The bytes of a text of which each character is one. */
const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** A format as records number it. */
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
    // A thread that was stopped has not written what it took.
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

/** The arguments of a record, and where the next one starts; nothing for one that does not end before the buffer does. */
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
