/** A launch as it was seen, wherever it ran: addresses are those of the device that ran it. */
import type { Dim3 } from '../../base/dim3.ts';
import type { ElementType } from '../../runtime/index.ts';

/** A parameter, and the bytes that the launch gave it. */
export interface RecordedParam {
  readonly name: string;
  readonly kind: 'buffer' | 'bytes';
  readonly bytes: Uint8Array;
  /** The type of accesses to a buffer, or of a scalar. */
  readonly element: ElementType | undefined;
}

/** Memory of the device. */
export interface RecordedMemory {
  readonly address: bigint;
  readonly before: Uint8Array;
  /** Undefined if the launch has failed. */
  readonly after: Uint8Array | undefined;
}

export interface RecordedLaunch {
  readonly ptx: string;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly params: readonly RecordedParam[];
  /** The memory that parameters point into, each once. */
  readonly memory: readonly RecordedMemory[];
  /** The module's variables before the launch. */
  readonly symbols: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** Bytes of an address. */
export const pointerBytes = 8;

/** Whether memory whose accesses have a type may hold addresses. */
export const mayHoldAddresses = (element: ElementType | undefined): boolean => element === undefined || /^[ui](32|64)$/.test(element);

/**
 * Whether a kernel loads words of 64 bits from global or generic memory, as it must to follow an address that lies there. A texture or surface
 * instruction does: the descriptor that it is given has the address of the texels.
 */
export function loadsWideWords(ptx: string, kernel: string): boolean {
  const start = ptx.search(new RegExp(`\\.entry\\s+${kernel.replaceAll('$', '\\$')}[\\s(]`));
  const next = ptx.indexOf('.entry', start + 6);
  const own = start < 0 ? ptx : ptx.slice(start, next < 0 ? undefined : next);
  const text = /\bcall\b/.test(own) ? ptx : own;
  if (/\b(?:tex|tld4|suld|sust|sured)\./.test(text)) return true;
  return [...text.matchAll(/\bldu?((?:[.:]\w+)*)[.][bus]64\b/g)].some(([, words]) => !/\.(param|shared|local|const)\b/.test(words!));
}

/** Calls a function with each aligned word of eight bytes. */
export function eachWord(bytes: Uint8Array, visit: (word: bigint, offset: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = 0; offset + pointerBytes <= bytes.length; offset += pointerBytes) {
    const word = view.getBigUint64(offset, true);
    if (word !== 0n) visit(word, offset);
  }
}
