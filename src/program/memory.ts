/** The memory of a running program, and its pointers: numbers of 64 bits in a window of 4 GiB. */

/** Where the memory is put among the numbers of 64 bits: behind every address of the CPU device, and of null. */
export const programWindow = 1;
const windowStart = BigInt(programWindow) << 32n;
/** Where the data of a program begin: behind its null pointer. */
export const programBase = programWindow * 2 ** 32 + 65_536;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Memory of a program as the CUDA runtime uses it. Reads give undefined and writes false where the program has no such memory.
 */
export interface HostMemory {
  /** Whether a number is a pointer to the program's own memory, and to none of a device. */
  isOwn(pointer: bigint): boolean;
  /** Whether all of the bytes may be there; false only where that is certainly not so. */
  has(pointer: bigint, bytes: number): boolean;
  /** The bytes at a pointer, to be read at once. */
  slice(pointer: bigint, bytes: number): Uint8Array | undefined;
  /** Reads bytes to where they are wanted; what is there is unknown where the program has no such memory. */
  read(pointer: bigint, to: Uint8Array): boolean;
  /** Text up to a zero byte. */
  cString(pointer: bigint): string | undefined;
  put(pointer: bigint, bytes: Uint8Array): boolean;
  putU32(pointer: bigint, value: number): boolean;
  putU64(pointer: bigint, value: bigint | number): boolean;
  putF32(pointer: bigint, value: number): boolean;
  u32(pointer: bigint): number | undefined;
  u64(pointer: bigint): bigint | undefined;
}

/** The memory of a WebAssembly program. */
export class ProgramMemory implements HostMemory {
  readonly #memory: WebAssembly.Memory;
  /** Bytes of managed memory at an address outside the window, if there are as many. */
  managed: (address: bigint, bytes: number) => number | undefined = () => undefined;
  #view: DataView;
  #bytes: Uint8Array;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#view = new DataView(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer);
  }

  isOwn(pointer: bigint): boolean {
    return isHostPointer(pointer);
  }

  has(pointer: bigint, bytes: number): boolean {
    return this.index(pointer, bytes) !== undefined;
  }

  /** The index of `bytes` bytes at a pointer; undefined if they are not all in memory. */
  index(pointer: bigint, bytes: number): number | undefined {
    // No bytes are everywhere, also at null.
    if (bytes === 0) return 0;
    const unsigned = BigInt.asUintN(64, pointer);
    if (!isHostPointer(unsigned)) return this.managed(unsigned, bytes);
    const index = Number(unsigned - windowStart);
    return bytes >= 0 && index + bytes <= this.bytes.length ? index : undefined;
  }

  /** The pointer to an index. */
  pointerTo(index: number): bigint {
    return windowStart + BigInt(index);
  }

  /** All bytes, until the memory grows. */
  get bytes(): Uint8Array {
    if (this.#bytes.buffer !== this.#memory.buffer || this.#bytes.length !== this.#memory.buffer.byteLength) {
      this.#bytes = new Uint8Array(this.#memory.buffer);
      this.#view = new DataView(this.#memory.buffer);
    }
    return this.#bytes;
  }

  get view(): DataView {
    void this.bytes;
    return this.#view;
  }

  /** The bytes at a pointer; undefined if they are not all in memory. */
  slice(pointer: bigint, bytes: number): Uint8Array | undefined {
    const index = this.index(pointer, bytes);
    return index === undefined ? undefined : this.bytes.subarray(index, index + bytes);
  }

  read(pointer: bigint, to: Uint8Array): boolean {
    const bytes = this.slice(pointer, to.length);
    if (bytes) to.set(bytes);
    return bytes !== undefined;
  }

  /** UTF-8 text of a length at a pointer. */
  text(pointer: bigint, bytes: number): string | undefined {
    const slice = this.slice(pointer, bytes);
    // A page's decoder does not take shared or growing memory.
    return slice && decoder.decode(slice.slice());
  }

  /** Text up to a zero byte. */
  cString(pointer: bigint): string | undefined {
    const start = this.index(pointer, 1);
    if (start === undefined) return undefined;
    const end = this.bytes.indexOf(0, start);
    return end < 0 ? undefined : decoder.decode(this.bytes.slice(start, end));
  }

  /** Writes bytes at a pointer; false if they do not fit. */
  put(pointer: bigint, bytes: Uint8Array): boolean {
    const index = this.index(pointer, bytes.length);
    if (index === undefined) return false;
    this.bytes.set(bytes, index);
    return true;
  }

  putU32(pointer: bigint, value: number): boolean {
    const index = this.index(pointer, 4);
    if (index === undefined) return false;
    this.view.setUint32(index, value, true);
    return true;
  }

  putU64(pointer: bigint, value: bigint | number): boolean {
    const index = this.index(pointer, 8);
    if (index === undefined) return false;
    this.view.setBigUint64(index, BigInt.asUintN(64, BigInt(value)), true);
    return true;
  }

  putF32(pointer: bigint, value: number): boolean {
    const index = this.index(pointer, 4);
    if (index === undefined) return false;
    this.view.setFloat32(index, value, true);
    return true;
  }

  u32(pointer: bigint): number | undefined {
    const index = this.index(pointer, 4);
    return index === undefined ? undefined : this.view.getUint32(index, true);
  }

  u64(pointer: bigint): bigint | undefined {
    const index = this.index(pointer, 8);
    return index === undefined ? undefined : this.view.getBigUint64(index, true);
  }
}

/** Whether a number is a pointer into the window of the program. */
const isHostPointer = (pointer: bigint): boolean => pointer >> 32n === BigInt(programWindow);

/** Text with a zero byte behind it. */
export const cBytes = (text: string): Uint8Array => encoder.encode(`${text}\0`);
