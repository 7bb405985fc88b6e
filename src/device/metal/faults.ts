/**
 * Faults of Metal as diagnostics. Each code of `MTLCommandBufferErrorDomain` has a row with its name and kind; other faults are reported with
 * domain, number and text.
 *
 * Source: the public headers (MTLCommandBufferError, as in JuliaGPU/Metal.jl's libmtl.jl); 14 is in no header, and macOS
 * reports it if a kernel delays the display (tracel-ai/cubecl issue 1523).
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { MetalFault } from '../../ffi/index.ts';

type Code = 'CM6021' | 'CM6022' | 'CM6023' | 'CM6024' | 'CM6025';

export interface CommandError {
  readonly name: string;
  readonly code: Code;
  /** Whether the device is lost after it. */
  readonly isLost?: boolean;
}

/** By number. */
export const commandErrors: Readonly<Record<number, CommandError>> = {
  1: { name: 'Internal', code: 'CM6025' },
  2: { name: 'Timeout', code: 'CM6022' },
  3: { name: 'PageFault', code: 'CM6021' },
  4: { name: 'AccessRevoked', code: 'CM6024', isLost: true },
  7: { name: 'NotPermitted', code: 'CM6024', isLost: true },
  8: { name: 'OutOfMemory', code: 'CM6023' },
  9: { name: 'InvalidResource', code: 'CM6025' },
  10: { name: 'Memoryless', code: 'CM6025' },
  11: { name: 'DeviceRemoved', code: 'CM6024', isLost: true },
  12: { name: 'StackOverflow', code: 'CM6025' },
  14: { name: 'ImpactingInteractivity', code: 'CM6022' },
};

const domain = 'MTLCommandBufferErrorDomain';

/** The row of a fault of a command buffer. */
export function commandErrorOf(fault: MetalFault): CommandError {
  // After repeated faults the system accepts no more work of the process, whatever the code.
  if (/SubmissionsIgnored|Ignored \(for causing prior/i.test(fault.text))
    return { name: 'SubmissionsIgnored', code: 'CM6024', isLost: true };
  const row = fault.domain === domain ? commandErrors[fault.code] : undefined;
  return row ?? { name: 'unknown', code: 'CM6025' };
}

/** Reports why a kernel failed on the GPU; returns whether the device is lost. */
export function reportCommandFault(kernel: string, fault: MetalFault, diagnostics: Diagnostics): boolean {
  const { name, code, isLost } = commandErrorOf(fault);
  diagnostics.report(code, { kernel, name, why: faultText(fault) });
  return isLost === true;
}

/** `text (domain, number)`. */
export const faultText = ({ domain: from, code, text }: MetalFault): string => (from === 'cumetal' ? text : `${text} (${from} ${code})`);
