/** Errors in bitcode that is read. */

/** Thrown inside this room and caught by `readModule`, which reports it as CM4002. */
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

/** Decodes UTF-8. Other bytes are refused, because they could not be written back unchanged. */
export function decoded(bytes: Uint8Array, bit: number, block: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Malformed(bit, block, 'text that is not UTF-8');
  }
}
