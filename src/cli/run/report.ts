/** The report of `run` after a launch: text, or one JSON object. */
import { readableName } from '../../base/demangle/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import type { DeviceInfo } from '../../device/device.ts';
import {
  type Check,
  checkOutput,
  decodeElements,
  describe,
  formatValue,
  type Io,
  type LaunchOutcome,
  lengthOf,
  type Output,
  writeContents,
} from '../../runtime/index.ts';
import { diagnosticJson } from '../terminal/formats.ts';
import { jsonDocument, numberJson } from '../terminal/json.ts';
import { elementLines, median, shortNumber } from '../terminal/numbers.ts';
import type { RunRequest } from './options.ts';

/** The state of a run at any point. */
export interface Report {
  readonly diagnostics: Diagnostics;
  /** Notes for the reader, one sentence each. */
  readonly notes: string[];
  /** The output of the kernel, in order; text mode prints it immediately. */
  readonly printed: Uint8Array[];
  device?: DeviceInfo;
  compileMs?: number;
  launched?: Launched;
  /** The parts of a failed launch that are not specified. */
  defaults?: readonly string[];
  /** What is said after everything else. */
  lastNote?: string | undefined;
  /** The profile or trace for the object of `--json`. */
  observed?: Readonly<Record<string, object>>;
}

/** A finished launch, with its printed, saved and checked buffers. */
export interface Launched {
  readonly outcome: LaunchOutcome;
  readonly device: DeviceInfo;
  readonly compileMs: number;
  readonly shown: readonly { readonly output: Output; readonly count: number | undefined; readonly isPreview: boolean }[];
  readonly saved: readonly { readonly output: Output; readonly path: string; readonly format: string }[];
  readonly checks: readonly Check[];
}

interface World {
  readonly device: DeviceInfo;
  readonly compileMs: number;
  readonly io: Io;
  readonly diagnostics: Diagnostics;
}

/** What a request wants of the buffers. */
type Wanted = Pick<RunRequest, 'prints' | 'outs' | 'checks' | 'isRecording'>;

/** The largest number of elements of a buffer that are printed. */
const maxPrinted = 2 ** 24;
/** The number of elements in a preview, which is shown when no buffer was requested. */
const previewCount = 16;

/** Saves and checks buffers. An error is reported, and the remaining buffers are still processed. */
export function finishLaunch(outcome: LaunchOutcome, request: Wanted, { device, compileMs, io, diagnostics }: World): Launched {
  const find = (option: string, index: number): Output[] => findOutput(outcome, option, index, diagnostics);
  const asked = request.prints.flatMap(({ index, count }) =>
    find('print', index).flatMap((output) => {
      const shown = Math.min(count ?? lengthOf(output), lengthOf(output));
      if (shown <= maxPrinted) return [{ output, count, isPreview: false }];
      diagnostics.report('CM5046', { index, count: shown, limit: maxPrinted });
      return [];
    }),
  );
  const save = (output: Output, path: string, more = ''): Launched['saved'] => {
    const format = writeContents(io, path, output.index, output, diagnostics);
    return format === undefined ? [] : [{ output, path, format: `${format}${more}` }];
  };
  const expected = outcome.outputs.flatMap((output) => (output.expect ? [{ output, expect: output.expect }] : []));
  const recorded = request.isRecording ? expected : [];
  const saved = [
    ...request.outs.flatMap(({ index, path }) => find('out', index).flatMap((output) => save(output, path))),
    ...recorded.flatMap(({ output, expect }) => save(output, expect.path, `, recorded on ${device.name}`)),
  ];
  const wanted = [
    ...(request.isRecording ? [] : expected),
    ...request.checks.flatMap(({ index, expect }) => find('check', index).map((output) => ({ output, expect }))),
  ];
  const checks = wanted.flatMap(({ output, expect }) => checkOutput(output, expect, io, diagnostics) ?? []);
  const isSilent = request.prints.length === 0 && request.outs.length === 0 && !request.isRecording;
  const preview = outcome.outputs.filter((output) => output.isWritten).map((output) => ({ output, count: previewCount, isPreview: true }));
  return { outcome, device, compileMs, shown: isSilent ? preview : asked, saved, checks };
}

function findOutput({ outputs, plan }: LaunchOutcome, option: string, index: number, diagnostics: Diagnostics): Output[] {
  const found = outputs.find((output) => output.index === index);
  if (found) return [found];
  const buffers = outputs.map((output) => `${output.index} \`${output.name}\``).join(', ');
  const why =
    index < plan.args.length
      ? `argument ${index} of \`${plan.kernel}\` is a value`
      : `\`${plan.kernel}\` has ${plan.args.length} arguments`;
  diagnostics.report('CM5050', { option, index, why }, buffers === '' ? {} : { help: `the buffers are ${buffers}` });
  return [];
}

/** The text for people. `isQuiet`: only what is asked for, which may be nothing. */
export function reportHuman(launched: Launched, notes: readonly string[], isQuiet = false): string {
  const { outcome, shown, saved, checks } = launched;
  const parts = isQuiet ? [] : [headLines(launched, notes)];
  for (const { output, count, isPreview } of shown)
    if (!isQuiet || !isPreview) parts.push([titleOf(output), ...elementLines(output, count, isPreview)]);
  if (!isQuiet) parts.push(saved.map(({ output, path, format }) => `${titleOf(output)} saved to ${path} (${format})`));
  parts.push(checks.map((check) => checkLine(check, outcome)));
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(printable).join('\n')}\n`)
    .join('\n');
}

/** Kernel, device, shape and times. */
function headLines({ outcome, device, compileMs }: Launched, notes: readonly string[]): string[] {
  const { plan, durationsMs } = outcome;
  const times = durationsMs.length === 1 ? '' : ` (median of ${durationsMs.length})`;
  return [
    `${readableName(plan.kernel)} on ${device.name}`,
    `  grid ${plan.grid.join(' x ')}, block ${plan.block.join(' x ')}${plan.sharedBytes > 0 ? `, ${plan.sharedBytes} bytes of shared memory` : ''}`,
    `  compiled in ${formatMs(compileMs)}, ran in ${formatMs(median(durationsMs))}${times}`,
    ...notes.map((note) => `  ${note}`),
    ...(plan.defaults.length > 0
      ? [
          '  default launch, because neither the command line nor the file specifies one:',
          ...plan.defaults.map((m) => `    ${readablePart(m)}`),
        ]
      : []),
  ];
}

/** A part of an invented launch, which starts with the name of a parameter. */
const readablePart = (part: string): string => part.replace(/^_Z[\w$.]+/, readableName);

const titleOf = (output: Output): string => `${output.index} ${readableName(output.name)}: ${describe(output.element, output.shape)}`;

function checkLine(check: Check, { outputs }: LaunchOutcome): string {
  const { index, name, pass, count, mismatches, firstMismatch, want } = check;
  const sizes = `max abs ${shortNumber(check.maxAbs)}, rel ${shortNumber(check.maxRel)}, ulp ${shortNumber(check.maxUlp)}`;
  if (pass || firstMismatch === undefined) return `check ${index} ${readableName(name)}: pass, ${count} elements (${sizes})`;
  const got = outputs.find((output) => output.index === index)!;
  const at = (bytes: Uint8Array) => formatValue(want.element, decodeElements(want.element, bytes, firstMismatch + 1)[firstMismatch]!);
  const first = `first at ${firstMismatch}: got ${at(got.bytes)}, expected ${at(want.bytes)}`;
  return `check ${index} ${readableName(name)}: FAIL, ${mismatches} of ${count} elements differ, ${first} (${sizes})`;
}

const formatMs = (ms: number): string => `${ms < 10 ? ms.toFixed(3) : ms.toFixed(1)} ms`;

/** The object of `--json`; fields of a stage that was not reached are null or empty. `isFull`: buffers have all elements. */
export function reportJson(report: Report, isFull = false): string {
  const { diagnostics, notes, printed, device, compileMs, launched, observed } = report;
  const plan = launched?.outcome.plan;
  return jsonDocument({
    kernel: plan?.kernel ?? null,
    kernel_name: plan ? readableName(plan.kernel) : null,
    device: device?.kind ?? null,
    device_name: device?.name ?? null,
    grid: plan?.grid ?? null,
    block: plan?.block ?? null,
    status: launched && !diagnostics.hasErrors ? 'ok' : 'error',
    compile_ms: compileMs ?? null,
    duration_ms: launched ? median(launched.outcome.durationsMs) : null,
    durations_ms: launched?.outcome.durationsMs ?? [],
    made_up: plan?.defaults ?? report.defaults ?? [],
    notes,
    printed: textOf(printed),
    outputs: launched ? outputsJson(launched, isFull) : [],
    checks: launched?.checks.map(checkJson) ?? [],
    ...observed,
    diagnostics: diagnostics.list.map(diagnosticJson),
  });
}

/** Printed bytes as text; invalid UTF-8 becomes U+FFFD. */
function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
}

function outputsJson({ shown, saved }: Launched, isFull: boolean): object[] {
  const common = ({ index, name, element, shape }: Output) => ({ index, name, dtype: element, shape });
  return [
    ...shown.map(({ output, count }) => {
      const [length, wanted] = [lengthOf(output), isFull ? undefined : count];
      const data = decodeElements(output.element, output.bytes, wanted ?? length).map(numberJson);
      return { ...common(output), count: length, truncated: data.length < length, data };
    }),
    ...saved.map(({ output, path }) => ({ ...common(output), file: path })),
  ];
}

const checkJson = ({ index, name, pass, maxAbs, maxRel, maxUlp, firstMismatch, mismatches, count }: Check): object => ({
  index,
  name,
  pass,
  max_abs: numberJson(maxAbs),
  max_rel: numberJson(maxRel),
  max_ulp: numberJson(maxUlp),
  first_mismatch: firstMismatch ?? null,
  mismatches,
  count,
});
