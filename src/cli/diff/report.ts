/** The report of `diff`: the details of one launch, or one line per launch of a folder; or one JSON object. */
import { readableName } from '../../base/demangle/index.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import type { DeviceInfo, Writer } from '../../device/device.ts';
import { type Difference, describe, formatValue, type LaunchOutcome, type Tolerance } from '../../runtime/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { diagnosticJson } from '../terminal/formats.ts';
import { jsonDocument, numberJson } from '../terminal/json.ts';
import { median, shortNumber } from '../terminal/numbers.ts';

/** A launch on one device. */
export interface Ran {
  /** The text of the device on the command line: `cpu:lane`. */
  readonly spec: string;
  readonly info: DeviceInfo;
  readonly outcome: LaunchOutcome;
}

/** One launch on every device. */
export interface Compared {
  readonly path: string;
  readonly code: ExitCode;
  readonly notes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** In the order of the devices; shorter if the launch failed on one. */
  readonly ran: readonly Ran[];
  /** Every other device compared with the first. */
  readonly pairs: readonly { readonly other: Ran; readonly differences: readonly Difference[] }[];
  /** The writer of the first mismatch. */
  readonly writer?: Writer | undefined;
}

export interface DiffReport {
  readonly devices: readonly { readonly spec: string; readonly device: { readonly info: DeviceInfo } }[];
  readonly launches: Compared[];
  /** Whether the launches come from a folder. */
  readonly isFolder: boolean;
}

type State = 'same' | 'differs' | 'failed';

const stateOf = ({ code, pairs }: Compared): State => {
  if (code === exit.ok) return 'same';
  return pairs.some(({ differences }) => differences.some(({ pass }) => !pass)) ? 'differs' : 'failed';
};

/** The text for people. */
export function diffText(report: DiffReport): string {
  const devices = report.devices.map(({ spec, device }) => `${spec} is ${device.info.name}`).join(', ');
  if (!report.isFolder) return report.launches.map((one) => launchText(one, devices)).join('');
  const count = (state: State): number => report.launches.filter((one) => stateOf(one) === state).length;
  const sums = `${report.launches.length} launches: ${count('same')} same, ${count('differs')} differ, ${count('failed')} failed`;
  return `${[devices, ...report.launches.flatMap(summaryLines), sums].map(printable).join('\n')}\n`;
}

function launchText(one: Compared, devices: string): string {
  const [reference] = one.ran;
  if (!reference || one.pairs.length === 0) return '';
  const { kernel, grid, block } = reference.outcome.plan;
  const lines = [
    `${readableName(kernel)}: ${devices}`,
    `  grid ${grid.join(' x ')}, block ${block.join(' x ')}`,
    ...one.notes.map((note) => `  ${note}`),
  ];
  const times = one.ran.map(({ spec, outcome }) => `${spec} ${median(outcome.durationsMs).toFixed(3)} ms`);
  return `${[...lines, `  ran in ${times.join(', ')}`, '', ...pairLines(one, true)].map(printable).join('\n')}\n`;
}

function summaryLines(one: Compared): string[] {
  const [reference] = one.ran;
  const buffers = one.pairs[0]?.differences.length ?? 0;
  const what = reference ? ` ${readableName(reference.outcome.plan.kernel)}` : '';
  const count = one.pairs.length > 0 ? `, ${buffers} buffer${buffers === 1 ? '' : 's'}` : '';
  return [`${stateOf(one).padEnd(7)} ${one.path}${what}${count}`, ...pairLines(one, false).map((line) => `        ${line}`)];
}

/** One line per buffer and device; in a folder only for buffers that are not bit-identical. */
function pairLines({ ran, pairs, writer }: Compared, isWhole: boolean): string[] {
  let isFirst = true;
  return pairs.flatMap(({ other, differences }) =>
    differences.flatMap((difference) => {
      if (!isWhole && difference.pass && difference.maxUlp === 0) return [];
      const by = difference.mismatch && isFirst ? writer : undefined;
      if (difference.mismatch) isFirst = false;
      const to = pairs.length > 1 ? `${other.spec}: ` : '';
      return [`${to}${bufferLine(difference, ran[0]!.spec, other.spec, by)}`];
    }),
  );
}

function bufferLine(difference: Difference, reference: string, other: string, writer: Writer | undefined): string {
  const { index, name, element, shape, pass, maxUlp, mismatches, count, mismatch, tolerance } = difference;
  const title = `${index} ${readableName(name)}: ${describe(element, shape)}`;
  if (pass && maxUlp === 0) return `${title} same`;
  const sizes = `max abs ${shortNumber(difference.maxAbs)}, rel ${shortNumber(difference.maxRel)}, ulp ${shortNumber(maxUlp)}`;
  if (pass || !mismatch) return `${title} same within ${toleranceText(tolerance)} (${sizes})`;
  const values = `${reference} ${formatValue(element, mismatch.reference)}, ${other} ${formatValue(element, mismatch.other)}`;
  const distance = Number.isFinite(mismatch.ulp) ? `, ${mismatch.ulp} ulp apart` : '';
  const first = `first at ${mismatch.at}: ${values}${distance}${writer ? `, written by ${writerText(writer)}` : ''}`;
  return `${title} DIFFERS in ${mismatches} of ${count} elements, ${first} (${sizes})`;
}

const writerText = ({ thread, block, line }: Writer): string =>
  `thread (${thread.join(', ')}) of block (${block.join(', ')})${line === undefined ? '' : ` at line ${line}`}`;

function toleranceText(tolerance: Tolerance): string {
  const parts = (['rtol', 'atol', 'ulp'] as const).filter((name) => tolerance[name] > 0).map((name) => `${name} ${tolerance[name]}`);
  return parts.join(', ') || 'bit equality';
}

/** The object of `--json`. */
export function diffJson({ devices, launches }: DiffReport): string {
  const states = launches.map(stateOf);
  return jsonDocument({
    status: states.every((state) => state === 'same') ? 'same' : states.includes('failed') ? 'failed' : 'differs',
    devices: devices.map(({ spec, device }) => ({ device: spec, kind: device.info.kind, device_name: device.info.name })),
    launches: launches.map((one) => launchJson(one)),
  });
}

function launchJson(one: Compared): object {
  const plan = one.ran[0]?.outcome.plan;
  let { writer } = one;
  return {
    file: one.path,
    status: stateOf(one),
    kernel: plan?.kernel ?? null,
    grid: plan?.grid ?? null,
    block: plan?.block ?? null,
    made_up: plan?.defaults ?? [],
    notes: one.notes,
    runs: one.ran.map(({ spec, outcome }) => ({ device: spec, duration_ms: median(outcome.durationsMs) })),
    outputs: one.pairs.flatMap(({ other, differences }) =>
      differences.map((difference) => {
        const by = difference.mismatch ? writer : undefined;
        if (by) writer = undefined;
        return outputJson(difference, other.spec, by);
      }),
    ),
    diagnostics: one.diagnostics.map(diagnosticJson),
  };
}

const outputJson = (
  { index, name, element, shape, mismatch, ...difference }: Difference,
  device: string,
  writer: Writer | undefined,
): object => ({
  device,
  index,
  name,
  dtype: element,
  shape,
  pass: difference.pass,
  rtol: difference.tolerance.rtol,
  atol: difference.tolerance.atol,
  ulp: difference.tolerance.ulp,
  max_abs: numberJson(difference.maxAbs),
  max_rel: numberJson(difference.maxRel),
  max_ulp: numberJson(difference.maxUlp),
  mismatches: difference.mismatches,
  count: difference.count,
  first_mismatch: mismatch
    ? {
        index: mismatch.at,
        reference: numberJson(mismatch.reference),
        value: numberJson(mismatch.other),
        ulp: numberJson(mismatch.ulp),
        writer: writer ? { thread: writer.thread, block: writer.block, line: writer.line ?? null } : null,
      }
    : null,
});
