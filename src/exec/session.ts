/** Serves a program: the CUDA runtime of `src/program`, with a process of the machine as the program. */
import { readFileSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { Diagnostics } from '../base/diagnostic.ts';
import type { Device } from '../device/index.ts';
import { CudaFailure, type CudaOptions, CudaState, importOf } from '../program/index.ts';
import { Images } from './fatbinary.ts';
import { endOfLowMemory, NativeMemory } from './native-memory.ts';
import { Ended, kind, Link, type Message } from './protocol.ts';
import type { Recorder } from './record/recorder.ts';
import { nativeFunctions } from './shim/functions.ts';

export interface SessionOptions extends Omit<CudaOptions, 'print' | 'readImage' | 'readFile'> {
  /** The folder of the pipes. */
  readonly folder: string;
  readonly pid: number;
  /** Records launches. */
  readonly recorder?: Recorder;
}

/** The bytes of a file by a path of the program, which starts in its current folder. */
export function fileOf(pid: number, path: string): Uint8Array | undefined {
  try {
    return readFileSync(resolve(readlinkSync(`/proc/${pid}/cwd`), path));
  } catch {
    return undefined;
  }
}

/** Serves a program to its end. Reports CM6080 if its memory cannot be reached. */
export function serveProgram(options: SessionOptions): void {
  const link = new Link(options.folder, options.pid);
  try {
    new Session(options, link).run();
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
  } finally {
    link.close();
  }
}

/** Bytes for the heap of a program at fixed addresses to grow, behind which its pages cannot be taken for device memory. */
const heapBytes = 64 * 1024 * 1024;
const pageBytes = 4096;
/** Protection of pages: `PROT_READ | PROT_WRITE`. */
const readAndWrite = 3n;

class Session {
  readonly #link: Link;
  readonly #pid: number;
  readonly #images: Images;
  #memory: NativeMemory | undefined;
  readonly #state: CudaState;
  readonly #calls: ((...args: (bigint | number)[]) => bigint | number | undefined)[];

  constructor(options: SessionOptions, link: Link) {
    this.#link = link;
    this.#pid = options.pid;
    this.#images = new Images(options.link);
    this.#state = new CudaState({
      ...options,
      print: (text) => void this.#ask(kind.print, text),
      readImage: (memory, pointer, parts) => this.#images.read(memory, pointer, parts),
      readFile: (path) => fileOf(options.pid, path),
      load: (ptx, diagnostics) => {
        const module = this.#images.check(ptx, diagnostics) && options.load(ptx, diagnostics);
        return module && options.recorder ? options.recorder.watch(module, ptx) : module;
      },
    });
    if (options.recorder) options.recorder.find = (address) => this.#state.allocations.find(address)?.allocation;
    this.#calls = Object.values(nativeFunctions).map((row) => importOf(this.#state, row));
    this.#state.exports = {
      malloc: (bytes) => this.#askWords(kind.malloc, [bytes]),
      free: (pointer) => void this.#askWords(kind.free, [pointer]),
      function: (pointer) => (pointer === 0n ? undefined : (...args) => this.#askWords(kind.callback, [pointer, ...args.map(BigInt)])),
      share: (address, bytes) => this.#askWords(kind.share, [address, BigInt(bytes), readAndWrite]) === 1n,
      unshare: (address, bytes) => void this.#askWords(kind.unshare, [address, BigInt(bytes)]),
    };
  }

  /** Serves calls until the program ends. */
  run(): never {
    const { options } = this.#state;
    const own = new Uint8Array(new Uint32Array([process.pid]).buffer);
    this.#link.send(kind.hello, own);
    const hello = this.#link.read();
    try {
      this.#memory = new NativeMemory(this.#pid, (pointer) => this.#state.allocations.find(pointer) !== undefined);
      this.#state.memory = this.#memory;
    } catch (error) {
      const diagnostics = new Diagnostics();
      diagnostics.report('CM6080', { why: error instanceof Error ? error.message : String(error) });
      options.report(diagnostics);
      throw new Ended();
    }
    this.#state.version = Number(hello.bytes.getBigUint64(8, true)) || undefined;
    this.#keepApart(endOfLowMemory(this.#pid), options.device);
    this.#link.sendWords(kind.return, [0n, 0n]);
    for (;;) this.#serve(this.#link.read());
  }

  /** A program at fixed addresses has memory where the device has its own. What is allocated from now on lies behind it. */
  #keepApart(end: number, device: Device): void {
    if (end === 0) return;
    const last = end + heapBytes;
    // Ends the heap of the program there; its allocator takes memory elsewhere then.
    this.#askWords(kind.share, [BigInt(last), BigInt(pageBytes), 0n]);
    for (let at = 0; at < last; ) {
      const diagnostics = new Diagnostics();
      const first = device.allocate(1, diagnostics);
      if (!first) return;
      at = Number(first.deviceAddress());
      if (at >= last) return first.free();
      const more = device.allocate(Math.min(last - at, device.info.limits.maxBufferBytes), diagnostics);
      if (!more) return;
    }
  }

  #serve({ kind: what, bytes }: Message): void {
    this.#memory?.forget();
    if (what !== kind.call) throw new Ended();
    const count = bytes.getUint32(4, true);
    const args = Array.from({ length: count }, (_, i) => bytes.getBigUint64(8 + 8 * i, true));
    const value = this.#called(bytes.getUint32(0, true), args);
    const { sticky } = this.#state;
    this.#link.sendWords(kind.return, [value, BigInt(sticky ? this.#state.note(sticky) : 0)]);
  }

  #called(number: number, args: readonly bigint[]): bigint {
    try {
      return BigInt(this.#calls[number]!(...args) ?? 0);
    } catch (error) {
      // A function that returns no error has failed; a later one says what is missing.
      if (error instanceof CudaFailure) return 0n;
      throw error;
    }
  }

  #askWords(what: number, words: readonly bigint[]): bigint {
    return this.#ask(what, new Uint8Array(BigUint64Array.from(words, (word) => BigInt.asUintN(64, word)).buffer));
  }

  /** Asks the program for something while a call of it is under way, and serves what it calls meanwhile. */
  #ask(what: number, bytes: Uint8Array): bigint {
    this.#link.send(what, bytes);
    for (;;) {
      const message = this.#link.read();
      this.#memory?.forget();
      if (message.kind === kind.result) return message.bytes.getBigUint64(0, true);
      this.#serve(message);
    }
  }
}
