/** Messages between a program and the process of its device: a word of kind, a word of size, and as many bytes. `shim/shim.c` is the other side. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Kinds of messages. The first three come from the program. */
export const kind = {
  hello: 1,
  call: 2,
  result: 3,
  return: 16,
  malloc: 17,
  free: 18,
  callback: 19,
  print: 20,
  share: 21,
  unshare: 22,
  failed: 23,
} as const;

export interface Message {
  readonly kind: number;
  readonly bytes: DataView;
}

/** The program has ended. */
export class Ended extends Error {}

const headBytes = 8;

/** The two pipes of a program. Reading waits; nothing else runs meanwhile. */
export class Link {
  readonly #requests: number;
  readonly #replies: number;

  /** Opens the pipes that the program has made. Throws if they are not there. */
  constructor(folder: string, pid: number) {
    this.#requests = openSync(`${folder}/${pid}.requests`, 'r');
    this.#replies = openSync(`${folder}/${pid}.replies`, 'w');
  }

  /** The next message; throws `Ended`. */
  read(): Message {
    const head = this.#take(headBytes);
    return { kind: head.getUint32(0, true), bytes: this.#take(head.getUint32(4, true)) };
  }

  #take(size: number): DataView {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; ) {
      const done = readSync(this.#requests, bytes, at, size - at, null);
      if (done === 0) throw new Ended();
      at += done;
    }
    return new DataView(bytes.buffer);
  }

  send(kindOf: number, bytes: Uint8Array): void {
    const message = new Uint8Array(headBytes + bytes.length);
    const view = new DataView(message.buffer);
    view.setUint32(0, kindOf, true);
    view.setUint32(4, bytes.length, true);
    message.set(bytes, headBytes);
    try {
      for (let at = 0; at < message.length; ) at += writeSync(this.#replies, message, at, message.length - at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') throw new Ended();
      throw error;
    }
  }

  sendWords(kindOf: number, words: readonly bigint[]): void {
    this.send(kindOf, new Uint8Array(BigUint64Array.from(words, (word) => BigInt.asUintN(64, word)).buffer));
  }

  close(): void {
    closeSync(this.#requests);
    closeSync(this.#replies);
  }
}
