/** What is said of a launch that is not specified, before and after its results are judged. */
import { readableName } from '../../base/demangle/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import type { Device, DeviceModule } from '../../device/device.ts';
import { chooseKernel, fillPlan, type LaunchPlan } from '../../runtime/index.ts';
import type { Terminal } from '../terminal/index.ts';

/** A launch whose results are judged. */
export interface Judged {
  readonly plan: LaunchPlan;
  readonly module: DeviceModule;
  readonly device: Pick<Device, 'info'>;
  /** What is judged, as a noun in the plural: `findings`. */
  readonly what: string;
}

/** The parts of a launch that are not specified, one description each; empty for a whole launch, or if the kernel cannot be chosen. */
export function inventedParts({ plan, module, device }: Omit<Judged, 'what'>): readonly string[] {
  const kernel = chooseKernel(module.kernels, plan.kernel, new Diagnostics());
  return kernel ? fillPlan(plan, kernel, device.info.limits).defaults : [];
}

/** What is said after a launch that failed on the device; undefined for a specified launch. */
export const inventedFault = (parts: readonly string[]): string | undefined =>
  parts.length === 0
    ? undefined
    : `warning: the launch above is invented (${listOf(parts)}); its fault says nothing about a real launch; specify yours with \`--grid\`, \`--block\` and \`--arg\`, or with \`--launch FILE\`\n`;

const listOf = (parts: readonly string[]): string => printable(parts.map((part) => part.replace(/^_Z[\w$.]+/, readableName)).join(', '));

/** Says before the results that the launch is invented. Returns what is said after them; undefined for a specified launch. */
export function noteInvented(judged: Judged, terminal: Pick<Terminal, 'err'>): string | undefined {
  const parts = inventedParts(judged);
  if (parts.length === 0) return undefined;
  const { what } = judged;
  terminal.err(
    `warning: the launch is invented, because neither the command line nor the file specifies it (${listOf(parts)}); its ${what} say nothing about a real launch\n`,
  );
  return `warning: the ${what} above are those of an invented launch; specify yours with \`--grid\`, \`--block\` and \`--arg\`, or with \`--launch FILE\`\n`;
}
