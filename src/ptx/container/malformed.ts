/** What stops a reader of this folder; caught at its border, where it becomes a diagnostic. */
import { OutOfBytes } from '../../base/bytes.ts';

/** Stops reading bytes that do not follow the format; `offset` counts from the start of what is being read. */
export function malformed(offset: number, why: string): never {
  throw new OutOfBytes(offset, why);
}
