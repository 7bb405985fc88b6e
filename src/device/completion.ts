/** What a kernel leaves in the memory that only it and the device know of, told to the caller: lines it printed, and why it stopped. */
import type { KernelReflection } from '../air/abi.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { LaunchRequest } from './device.ts';
import { lostRecords, readPrinted } from './printed.ts';

/** Hands over what the kernel printed; reports CM6015 where that is not all. */
export function handPrinted(buffer: Uint8Array, kernel: KernelReflection, { print }: LaunchRequest, diagnostics: Diagnostics): void {
  if (!kernel.printf) return;
  if (print) readPrinted(buffer, kernel.printf.formats, print);
  const count = lostRecords(buffer);
  if (count > 0) diagnostics.report('CM6015', { kernel: kernel.name, count });
}

/** Whether the kernel stopped itself, by its word; CM6014 is reported where it did. */
export function reportStop(word: Uint8Array, { name, faults }: KernelReflection, diagnostics: Diagnostics): boolean {
  const number = new DataView(word.buffer, word.byteOffset, 4).getInt32(0, true);
  if (number === 0 || !faults) return false;
  diagnostics.report('CM6014', { kernel: name, why: faults.texts[number - 1] ?? `fault ${number}` });
  return true;
}
