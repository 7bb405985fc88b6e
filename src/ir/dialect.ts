/**
 * The two dialects of the IR. In the standard dialect an address has 64 bits. In the narrowed dialect, which the vectorizer works on, a pointer
 * has 32 bits unless `Kernel.widePointers` names it: the CPU device's memory is below 4 GiB, and vector lanes of 32 bits are half as wide.
 * An integer's width is its type in both. `docs/ir.md` describes the dialects, and the verifier checks a kernel by the rules of its own.
 */
import type { Kernel, Value } from './kernel.ts';
import { isPointer } from './types.ts';

/** Whether a kernel is in the narrowed dialect. */
export const isNarrowed = ({ widePointers }: Kernel): boolean => widePointers !== undefined;

/** Whether a value is an integer of 64 bits, or a pointer that has 64 bits. */
export function isWide({ insts, widePointers }: Kernel, value: Value): boolean {
  const { type } = insts[value]!;
  return type === 'i64' || (isPointer(type) && (widePointers?.has(value) ?? true));
}

/** `isWide` of every value: 1 or 0. */
export const wideFlags = (kernel: Kernel): Uint8Array =>
  Uint8Array.from(kernel.insts, (_, value) => (isWide(kernel, value as Value) ? 1 : 0));
