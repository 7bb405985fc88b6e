/** The machine under Bun and Node: its streams, clocks and random numbers, and the folders that a program is granted. */
import * as fs from 'node:fs';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { type Fault, isFault, type ProgramHost } from '../wasi/host.ts';
import { faultOf, grantedFolder } from './files.ts';

export interface HostOptions {
  /** The name of the program, then its arguments. */
  readonly args: readonly string[];
  /** The environment; that of this process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folders that the program may use, with everything below them; the current one by default. */
  readonly folders?: readonly string[];
  /** Called when the reader of an output stream has closed it, which ends a program of the machine; without it, output is lost from then on. */
  closed?(): void;
}

const zero = new Int32Array(new SharedArrayBuffer(4));
const wait = (milliseconds: number): void => void Atomics.wait(zero, 0, 0, milliseconds);

/** Runs a call on a stream that may not be ready, as pipes of parents that do not block are. Undefined at the end of the stream. */
function whenReady<T>(run: () => T): T | Fault | undefined {
  for (let pause = 1; ; pause = Math.min(50, pause * 2)) {
    try {
      return run();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF' || code === 'EPIPE') return undefined;
      if (code !== 'EAGAIN') return faultOf(error);
      wait(pause);
    }
  }
}

/** The machine for a program. Throws if a folder is not there. */
export function machineHost({ args, env = process.env, folders = ['.'], closed }: HostOptions): ProgramHost {
  return {
    args,
    env: {
      ...Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
      // What relative paths begin at. The start of a program reads it, since WASI names folders and knows no current one.
      PWD: process.cwd(),
    },
    folders: folders.map((folder) => grantedFolder(resolve(folder), resolve(folder))),
    readInput: (into) => whenReady(() => fs.readSync(0, into, 0, into.length, null)) ?? 0,
    writeOutput(stream, bytes) {
      for (let at = 0; at < bytes.length; ) {
        const written = whenReady(() => fs.writeSync(stream, bytes, at, bytes.length - at));
        if (written === undefined) {
          closed?.();
          return undefined;
        }
        if (isFault(written)) return written;
        at += written;
      }
      return undefined;
    },
    isTerminal: (stream) => isatty(stream),
    realTime: () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n,
    monotonicTime: () => process.hrtime.bigint(),
    cpuTime() {
      const { user, system } = process.cpuUsage();
      return BigInt(user + system) * 1000n;
    },
    fillRandom(bytes) {
      // Most that one call gives.
      for (let at = 0; at < bytes.length; at += 65_536) {
        const part = new Uint8Array(Math.min(65_536, bytes.length - at));
        bytes.set(crypto.getRandomValues(part), at);
      }
    },
    sleep: wait,
  };
}
