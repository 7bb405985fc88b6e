/** The error of the readers in this folder. Their entry points catch it and report a diagnostic. */
import { OutOfBytes } from '../../base/bytes.ts';

/** Throws for bytes that violate the format; `offset` is relative to the input of the reader. */
export function malformed(offset: number, why: string): never {
  throw new OutOfBytes(offset, why);
}
