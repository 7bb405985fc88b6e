/** What is wrong with bitcode that is read. */

/** Raised inside this room and caught at its border, where it becomes CM4002. */
export class Malformed extends Error {
  readonly bit: number;
  readonly block: string;
  constructor(bit: number, block: string, why: string) {
    super(why);
    this.bit = bit;
    this.block = block;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-8 as text. What is no UTF-8 is refused: it could not be written again as it was. */
export function decoded(bytes: Uint8Array, bit: number, block: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Malformed(bit, block, 'a text that is no UTF-8');
  }
}
