/** What the driver reports of a launch, as diagnostics. A result that stays with the context is a row of `stickyResults`. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { CudaFault } from '../../ffi/index.ts';

type Code = 'CM6014' | 'CM6021' | 'CM6042';

/**
 * Results after which every call of the context gives the same: by number, with the diagnostic of each.
 *
 * Source: NVIDIA, CUDA Driver API, `CUresult`, those that leave the process in an inconsistent state.
 */
export const stickyResults: Readonly<Record<number, Code>> = {
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

/** `text (CUDA_ERROR_…)`. */
export const faultText = ({ text, name }: CudaFault): string => `${text} (${name})`;

/** Reports why a kernel failed on the GPU, with what it said itself; whether the context is lost with it. */
export function reportFault(kernel: string, fault: CudaFault, said: string, diagnostics: Diagnostics): boolean {
  const code = stickyResults[fault.result];
  const notes = said === '' ? [] : said.split('\n');
  if (code === undefined)
    diagnostics.report('CM6043', { what: `the launch of kernel \`${kernel}\``, call: fault.call, why: faultText(fault) }, { notes });
  else diagnostics.report(code, { kernel, why: faultText(fault) }, { notes });
  return code !== undefined;
}
