/**
 * Files of linked programs: a WebAssembly module, behind a line that makes a shell start it with the program that compiled it. So a build
 * script can run what it built.
 */

/** The first bytes of a WebAssembly module. */
const magic = [0x00, 0x61, 0x73, 0x6d];
const start = '#!/bin/sh\n# cumetal program\n';
/** The start of a program file is shorter. */
const maxStart = 4096;

/** The module of a program file; undefined for any other file. */
export function moduleIn(bytes: Uint8Array): Uint8Array | undefined {
  if (isModule(bytes, 0)) return bytes;
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, maxStart));
  const at = head.startsWith(start) ? head.indexOf('\n\n') + 2 : 0;
  return at > 1 && isModule(bytes, at) ? bytes.subarray(at) : undefined;
}

const isModule = (bytes: Uint8Array, at: number): boolean => magic.every((byte, i) => bytes[at + i] === byte);

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** A program file that a shell can run. `command`: the absolute path of this program; the one on the PATH runs it where that is not there. */
export function programFile(module: Uint8Array, command: string): Uint8Array {
  const script = `${start}c=${quoted(command)}; [ -x "$c" ] || c=cumetal\nexec "$c" run "$0" -- "$@"\n\n`;
  const head = new TextEncoder().encode(script);
  const file = new Uint8Array(head.length + module.length);
  file.set(head);
  file.set(module, head.length);
  return file;
}
