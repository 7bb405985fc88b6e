/** What the driver reports of a launch, as diagnostics. A result that stays with the context is a row of `stickyResults`. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { CudaFault } from '../../ffi/index.ts';

type Code = 'CM6014' | 'CM6021' | 'CM6042';

/**
 * Results after which every call of the context gives the same: by number, with the diagnostic of each.
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

/** Whether a result stays: with the context, and as drivers of today have it with the process. */
export const isSticky = ({ result }: CudaFault): boolean => stickyResults[result] !== undefined;

/** Reports CM6029 for a kernel that is not launched, or a module that is not loaded for it. */
export function reportLost(kernel: string, why: string, diagnostics: Diagnostics): void {
  diagnostics.report(
    'CM6029',
    { kernel, why },
    { help: 'start a new process: the CUDA driver serves none in which a kernel has failed or never ended' },
  );
}

/** `text (CUDA_ERROR_…)`. */
export const faultText = ({ text, name }: CudaFault): string => `${text} (${name})`;

/** `CUDA_ERROR_LAUNCH_FAILED`, which is also what `trap` comes to. */
const launchFailed = 719;

/** What is known of a kernel that failed. */
interface Failed {
  readonly kernel: string;
  /** What it wrote to the standard error. */
  readonly said: string;
  /** Where it may stop itself, in words. */
  readonly stops: readonly string[];
}

/** Reports why a kernel failed on the GPU; whether the context is lost with it. */
export function reportFault({ kernel, said, stops }: Failed, fault: CudaFault, diagnostics: Diagnostics): boolean {
  const code = stickyResults[fault.result];
  const own = said === '' ? [] : said.split('\n');
  const stop = fault.result === launchFailed ? stops.map((why) => `a kernel that stops itself ends so: perhaps ${why}`) : [];
  const notes = [...own, ...stop];
  const what = `the launch of kernel \`${kernel}\``;
  if (code === undefined) diagnostics.report('CM6043', { what, call: fault.call, why: faultText(fault) }, { notes });
  else diagnostics.report(code, { kernel, why: code === 'CM6014' ? assertionIn(said, fault) : faultText(fault) }, { notes });
  return code !== undefined;
}

/** The assertion that failed, as the other devices tell it. */
function assertionIn(said: string, fault: CudaFault): string {
  const [, file, line, text] = /^(.*?):(\d+): .*Assertion `(.*)` failed/.exec(said) ?? [];
  return text === undefined ? `assertion failed: ${faultText(fault)}` : `assertion \`${text}\` failed (${file}:${line})`;
}
