/** Faults of the driver as diagnostics. Sticky results, which stay with the context, are rows of `stickyResults`. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { CudaFault } from '../../ffi/index.ts';

type Code = 'CM6014' | 'CM6021' | 'CM6042';

/**
 * Sticky results, after which every call of the context returns the same result: the diagnostic of each, by number.
 *
 * Source: NVIDIA, CUDA Driver API, `CUresult`, those that leave the process in an inconsistent state.
 */
const stickyResults: Readonly<Record<number, Code>> = {
  214: 'CM6042',
  700: 'CM6021',
  702: 'CM6042',
  710: 'CM6014',
  714: 'CM6042',
  715: 'CM6042',
  716: 'CM6042',
  717: 'CM6042',
  718: 'CM6042',
  719: 'CM6042',
};

/** Whether a result is sticky: for the context, and with current drivers for the process. */
export const isSticky = ({ result }: CudaFault): boolean => stickyResults[result] !== undefined;

/** Reports CM6029 for a kernel that is not launched, or for the module of one. */
export function reportLost(kernel: string, why: string, diagnostics: Diagnostics): void {
  diagnostics.report(
    'CM6029',
    { kernel, why },
    { help: 'start a new process: the CUDA driver serves none in which a kernel has failed or never ended' },
  );
}

/** `text (CUDA_ERROR_…)`. */
export const faultText = ({ text, name }: CudaFault): string => `${text} (${name})`;

/** `CUDA_ERROR_LAUNCH_FAILED`, which `trap` causes as well. */
const launchFailed = 719;

/** A failed kernel. */
interface Failed {
  readonly kernel: string;
  /** Its output to standard error. */
  readonly output: string;
  /** The reasons for which it may stop itself, as text. */
  readonly stops: readonly string[];
}

/** Reports why a kernel failed on the GPU; returns whether the context is lost. */
export function reportFault({ kernel, output, stops }: Failed, fault: CudaFault, diagnostics: Diagnostics): boolean {
  const code = stickyResults[fault.result];
  const own = output === '' ? [] : output.split('\n');
  const stop = fault.result === launchFailed ? stops.map((why) => `a kernel that stops itself ends so: perhaps ${why}`) : [];
  const notes = [...own, ...stop];
  const what = `the launch of kernel \`${kernel}\``;
  if (code === undefined) diagnostics.report('CM6043', { what, call: fault.call, why: faultText(fault) }, { notes });
  else diagnostics.report(code, { kernel, why: code === 'CM6014' ? assertionIn(output, fault) : faultText(fault) }, { notes });
  return code !== undefined;
}

/** The failed assertion, in the words of the other devices. */
function assertionIn(output: string, fault: CudaFault): string {
  const [, file, line, text] = /^(.*?):(\d+): .*Assertion `(.*)` failed/.exec(output) ?? [];
  return text === undefined ? `assertion failed: ${faultText(fault)}` : `assertion \`${text}\` failed (${file}:${line})`;
}
