/** The machine of a program in a page: files in memory, standard input that is given at once, and output that is bounded. */
import type { ProgramHost } from '../program/wasi/host.ts';
import { MemoryFiles } from './memory-folder.ts';
import type { NamedFile, RunOrder, RunReport } from './messages.ts';

/** Bytes of output that are sent as they come, and bytes of what follows that are sent at the end. */
const shownBytes = 1 << 20;
const lastBytes = 1 << 15;
/** Milliseconds between two reports of what is not sent. */
const reportMs = 250;

export interface PageHost {
  readonly host: ProgramHost;
  /** Sends what is left of the output. */
  finish(): void;
  changed(): readonly NamedFile[];
}

/** The machine of one run; `send` takes its output. */
export function pageHost({ args, files, input }: RunOrder, send: (report: RunReport) => void): PageHost {
  const memory = new MemoryFiles();
  for (const { name, bytes } of files) memory.put(name, bytes);
  const output = new BoundedOutput(send);
  let read = 0;
  const host: ProgramHost = {
    args,
    env: {},
    folders: [memory.folder('/')],
    readInput(into) {
      const part = input.subarray(read, read + into.length);
      into.set(part);
      read += part.length;
      return part.length;
    },
    writeOutput(stream, bytes) {
      output.write(stream, bytes);
      return undefined;
    },
    // What a program prints is seen line by line.
    isTerminal: (stream) => stream !== 0,
    realTime: () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n,
    monotonicTime: () => BigInt(Math.round(performance.now() * 1000)) * 1000n,
    cpuTime: () => BigInt(Math.round(performance.now() * 1000)) * 1000n,
    fillRandom(bytes) {
      // Most that one call gives, into memory that is not shared.
      for (let at = 0; at < bytes.length; at += 65_536) {
        const part = new Uint8Array(Math.min(65_536, bytes.length - at));
        bytes.set(crypto.getRandomValues(part), at);
      }
    },
    sleep,
  };
  return { host, finish: () => output.finish(), changed: () => memory.changed() };
}

/** Memory to wait at. Pages that are not isolated have no other memory that is shared. */
const newWaitingPlace = (): Int32Array => new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
let waitingPlace: Int32Array | undefined;

function sleep(milliseconds: number): void {
  waitingPlace ??= newWaitingPlace();
  Atomics.wait(waitingPlace, 0, 0, milliseconds);
}

interface Piece {
  readonly stream: 1 | 2;
  readonly bytes: Uint8Array;
  length: number;
}
/** Programs write few bytes at once. */
const pieceBytes = 4096;

/** Output that is sent up to a limit; of what follows, only the end. */
class BoundedOutput {
  readonly #send: (report: RunReport) => void;
  #sent = 0;
  #dropped = 0;
  #reported = 0;
  /** The end of the output that is not sent, in pieces of one stream each, and its bytes. */
  #last: Piece[] = [];
  #lastBytes = 0;

  constructor(send: (report: RunReport) => void) {
    this.#send = send;
  }

  write(stream: 1 | 2, bytes: Uint8Array): void {
    const now = Math.min(bytes.length, shownBytes - this.#sent);
    if (now > 0) this.#send({ kind: 'output', stream, bytes: bytes.slice(0, now) });
    this.#sent += now;
    if (now < bytes.length) this.#keep(stream, bytes.subarray(Math.max(now, bytes.length - lastBytes)), bytes.length - now);
  }

  #keep(stream: 1 | 2, bytes: Uint8Array, count: number): void {
    let piece = this.#last.at(-1);
    if (piece?.stream !== stream || piece.length + bytes.length > piece.bytes.length) {
      piece = { stream, bytes: new Uint8Array(Math.max(pieceBytes, bytes.length)), length: 0 };
      this.#last.push(piece);
    }
    piece.bytes.set(bytes, piece.length);
    piece.length += bytes.length;
    this.#lastBytes += bytes.length;
    while (this.#lastBytes - this.#last[0]!.length >= lastBytes) this.#lastBytes -= this.#last.shift()!.length;
    this.#dropped += count;
    if (performance.now() - this.#reported < reportMs) return;
    this.#reported = performance.now();
    this.#send({ kind: 'dropped', bytes: this.#dropped });
  }

  finish(): void {
    if (this.#dropped === 0) return;
    this.#send({ kind: 'dropped', bytes: this.#dropped - this.#lastBytes });
    for (const { stream, bytes, length } of this.#last) this.#send({ kind: 'output', stream, bytes: bytes.slice(0, length) });
  }
}
