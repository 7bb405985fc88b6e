/** The completion of a launch: lines that the kernel printed, and why it stopped itself. */
import type { KernelReflection } from '../air/abi.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { LaunchRequest } from './device.ts';
import { lostRecords, readPrinted } from './printed.ts';

/** Passes what the kernel printed to the request; reports CM6015 if lines are lost. */
export function reportPrinted(buffer: Uint8Array, kernel: KernelReflection, { print }: LaunchRequest, diagnostics: Diagnostics): void {
  if (!kernel.printf) return;
  if (print) readPrinted(buffer, kernel.printf.formats, print);
  const count = lostRecords(buffer);
  if (count > 0) diagnostics.report('CM6015', { kernel: kernel.name, count });
}

/** Whether the kernel stopped itself, by its fault word; reports CM6014 if so. */
export function reportStop(word: Uint8Array, { name, faults }: KernelReflection, diagnostics: Diagnostics): boolean {
  const number = new DataView(word.buffer, word.byteOffset, 4).getInt32(0, true);
  if (number === 0 || !faults) return false;
  diagnostics.report('CM6014', { kernel: name, why: faults.texts[number - 1] ?? `fault ${number}` });
  return true;
}
