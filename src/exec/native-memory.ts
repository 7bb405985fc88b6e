/** The memory of a running process, as the CUDA runtime uses it: read and written through Linux's `/proc/PID/mem`, each copy in one call. */
import { openSync, readFileSync, readSync, writeSync } from 'node:fs';
import type { HostMemory } from '../program/index.ts';

/** No program has memory below this address. */
const lowest = 65_536n;
/** Bytes that are read around a small thing, how many of them before it, and what is small. */
const [nearBytes, nearBefore, smallBytes] = [1024, 256, 64];
/** The longest text that is read, and the bytes that are read of it at once. */
const [maxText, textStep] = [1_048_576, 256];

const decoder = new TextDecoder();

export class NativeMemory implements HostMemory {
  readonly #file: number;
  readonly #isOfDevice: (pointer: bigint) => boolean;
  readonly #word = new DataView(new ArrayBuffer(8));
  /** What was read around a small thing: what a call needs lies together on the program's stack. Forgotten when the program may have run. */
  readonly #near = { start: 0, count: 0, bytes: new Uint8Array(nearBytes) };

  /** Opens the memory of a process. Throws if this process may not. `isOfDevice`: whether an address is one of device memory. */
  constructor(pid: number, isOfDevice: (pointer: bigint) => boolean) {
    this.#file = openSync(`/proc/${pid}/mem`, 'r+');
    this.#isOfDevice = isOfDevice;
  }

  /** Forgets what was read: the program runs, or has run. */
  forget(): void {
    this.#near.count = 0;
  }

  isOwn(pointer: bigint): boolean {
    return pointer >= lowest && !this.#isOfDevice(pointer);
  }

  has(pointer: bigint): boolean {
    return pointer >= lowest;
  }

  slice(pointer: bigint, bytes: number): Uint8Array | undefined {
    const all = new Uint8Array(bytes);
    return this.read(pointer, all) ? all : undefined;
  }

  read(pointer: bigint, to: Uint8Array): boolean {
    return this.#readSome(pointer, to) === to.length;
  }

  cString(pointer: bigint): string | undefined {
    const parts: Uint8Array[] = [];
    for (let at = 0; at < maxText; at += textStep) {
      const part = new Uint8Array(textStep);
      const read = this.#readSome(pointer + BigInt(at), part);
      const end = part.subarray(0, read).indexOf(0);
      parts.push(part.subarray(0, end < 0 ? read : end));
      if (end >= 0) return decoder.decode(Buffer.concat(parts));
      if (read < textStep) return undefined;
    }
    return undefined;
  }

  put(pointer: bigint, bytes: Uint8Array): boolean {
    if (!this.has(pointer) && bytes.length > 0) return false;
    this.forget();
    try {
      for (let at = 0; at < bytes.length; ) {
        const done = writeSync(this.#file, bytes, at, bytes.length - at, Number(pointer) + at);
        if (done === 0) return false;
        at += done;
      }
      return true;
    } catch {
      return false;
    }
  }

  putU32(pointer: bigint, value: number): boolean {
    this.#word.setUint32(0, value, true);
    return this.#putWord(pointer, 4);
  }

  putU64(pointer: bigint, value: bigint | number): boolean {
    this.#word.setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
    return this.#putWord(pointer, 8);
  }

  putF32(pointer: bigint, value: number): boolean {
    this.#word.setFloat32(0, value, true);
    return this.#putWord(pointer, 4);
  }

  u32(pointer: bigint): number | undefined {
    return this.#getWord(pointer, 4)?.getUint32(0, true);
  }

  u64(pointer: bigint): bigint | undefined {
    return this.#getWord(pointer, 8)?.getBigUint64(0, true);
  }

  #putWord(pointer: bigint, bytes: number): boolean {
    return this.put(pointer, new Uint8Array(this.#word.buffer, 0, bytes));
  }

  #getWord(pointer: bigint, bytes: number): DataView | undefined {
    return this.#readSome(pointer, new Uint8Array(this.#word.buffer, 0, bytes)) === bytes ? this.#word : undefined;
  }

  /** Reads up to where the process has no memory; the count of bytes. */
  #readSome(pointer: bigint, into: Uint8Array): number {
    if (!this.has(pointer)) return 0;
    return into.length <= smallBytes ? this.#readSmall(Number(pointer), into) : this.#readAt(Number(pointer), into);
  }

  #readSmall(address: number, into: Uint8Array): number {
    const near = this.#near;
    const isNear = address >= near.start && address + into.length <= near.start + near.count;
    if (!isNear) {
      near.start = Math.max(Number(lowest), address - nearBefore);
      near.count = this.#readAt(near.start, near.bytes);
    }
    const offset = address - near.start;
    // Memory may begin behind the start of what was read.
    if (offset + into.length > near.count) return this.#readAt(address, into);
    into.set(near.bytes.subarray(offset, offset + into.length));
    return into.length;
  }

  #readAt(address: number, into: Uint8Array): number {
    let at = 0;
    try {
      while (at < into.length) {
        const done = readSync(this.#file, into, at, into.length - at, address + at);
        if (done === 0) break;
        at += done;
      }
    } catch {
      // What lies behind is not there.
    }
    return at;
  }
}

/** Where the memory of a process ends that lies below 4 GiB; 0 if there is none. A program that is linked to fixed addresses is there. */
export function endOfLowMemory(pid: number): number {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  const ends = lines.map((line) => Number.parseInt(/^[0-9a-f]+-([0-9a-f]+)/.exec(line)?.[1] ?? '0', 16));
  return Math.max(0, ...ends.filter((end) => end < 2 ** 32));
}
