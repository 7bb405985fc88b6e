/** Finds the instruction behind an access outside of memory, by a second run of the launch under the sanitizer on the CPU device. */
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import type { Dim3 } from '../../device/device.ts';
import { openCpuDevice } from '../../device/index.ts';
import { launch } from '../../runtime/index.ts';
import type { Terminal } from '../terminal/index.ts';
import { loadTask } from './load-task.ts';
import type { Task } from './task.ts';

/** Faults of accesses, which name at most a thread. */
const faults: ReadonlySet<string> = new Set(['CM6011', 'CM6019', 'CM6021']);
/** Findings of the sanitizer about the address of an access. */
const findings: ReadonlySet<string> = new Set(['CM6101', 'CM6102', 'CM6103', 'CM6104']);

/** The time limit of the second run in milliseconds. */
const maxMs = 10_000;

/** Adds line, address, buffer and offset to the reported faults of accesses. A fault that does not occur in the second run stays as it is. */
export async function addFaultPlace(task: Task, diagnostics: Diagnostics, io: Terminal): Promise<void> {
  if (task.input.kind === 'ptx') addStopPlaces(task.input.source, diagnostics);
  const at = diagnostics.list.findIndex(({ code }) => faults.has(code));
  if (at < 0 || task.request.sanitize) return;
  addPlace(diagnostics, at, await runSanitized(task, io));
}

function addPlace({ list }: Diagnostics, at: number, { found, block }: Sanitized): void {
  const finding = chosenFinding(list[at]!, found, block);
  if (finding) list[at] = withPlace(list[at]!, finding);
}

/** The same for a launch of a whole program: `again` runs it under the sanitizer. */
export function addProgramFaultPlace(diagnostics: Diagnostics, again: (how: AgainUnderSanitizer) => Sanitized | undefined): void {
  const at = diagnostics.list.findIndex(({ code }) => faults.has(code));
  const sanitized = at < 0 ? undefined : again({ timeoutMs: maxMs, sanitize: { kinds: new Set(['memory']) } });
  if (sanitized) addPlace(diagnostics, at, { ...sanitized, found: sanitized.found.filter(({ code }) => findings.has(code)) });
}

/** How a launch is run once more. */
export interface AgainUnderSanitizer {
  readonly timeoutMs: number;
  readonly sanitize: { readonly kinds: ReadonlySet<'memory'> };
}

/** Shows the line that a kernel which stopped itself names: of a `trap` in the PTX, or of an assertion in the file that it was compiled from. */
function addStopPlaces(source: SourceFile, { list }: Diagnostics): void {
  list.forEach((each, i) => {
    const [, path = '', number = ''] = /\((.*):(\d+)\)$/.exec(each.message) ?? [];
    const file = each.file ? undefined : [source, source.origin].find((one) => one?.path === path);
    const text = file && Number(number) <= file.lineStarts.length ? file.line(Number(number)) : '';
    if (each.code !== 'CM6014' || !file || text.trim() === '') return;
    const start = file.lineStarts[Number(number) - 1]! + text.search(/\S/);
    list[i] = { ...each, file, labels: [{ span: { start, end: start + text.trim().length }, text: '' }] };
  });
}

/** What a run under the sanitizer finds, and the shape of its blocks. */
export interface Sanitized {
  readonly found: readonly Diagnostic[];
  readonly block: Dim3;
}

async function runSanitized({ input, request, plan }: Task, io: Terminal): Promise<Sanitized> {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ engine: 'lane', threads: 1 });
  const instrumented = { ...request, compile: { ...request.compile, sanitize: true } };
  const module = await loadTask(device, { input, request: instrumented, plan }, { diagnostics, notes: [] });
  const block = plan.block ?? [Number.MAX_SAFE_INTEGER, 1, 1];
  if (typeof module === 'number') return { found: [], block };
  const timeoutMs = Math.min(request.timeoutMs || maxMs, maxMs);
  const sanitize = { kinds: new Set(['memory'] as const), ...(input.kind === 'ptx' ? { source: input.source } : {}) };
  launch(device, module, plan, { repeat: 1, timeoutMs, observe: { sanitize } }, { io, diagnostics });
  device.close();
  return { found: diagnostics.list.filter(({ code }) => findings.has(code)), block };
}

/** The finding of the faulting threads, otherwise one of their block, otherwise one far from every buffer, otherwise the first. */
function chosenFinding({ message, code }: Diagnostic, found: readonly Diagnostic[], block: Dim3): Diagnostic | undefined {
  const alike = found.filter((each) => (code === 'CM6019') === (each.code === 'CM6102'));
  const [, where, thread = '', next = '0'] =
    /in block (\([^)]*\)) at thread \(([^)]*)\)(?: or one of the next (\d+) threads)?/.exec(message) ?? [];
  const [x = 0, y = 0, z = 0] = thread.split(', ').map(Number);
  const first = x + block[0] * (y + block[1] * z);
  const ofBlock = alike.filter(({ notes }) => notes[0]?.includes(` of block ${where}:`));
  const ofThreads = ofBlock.find(({ notes }) => {
    const [, lane = '', warp = ''] = /: lane (\d+) of warp (\d+)$/.exec(notes[0]!) ?? [];
    const number = 32 * Number(warp) + Number(lane);
    return number >= first && number <= first + Number(next);
  });
  return ofThreads ?? ofBlock[0] ?? alike.find((each) => each.message.includes('far from every buffer')) ?? alike[0];
}

/** The fault with the instruction of a finding, and what that does: `writes 4 bytes at 0x…, 16 bytes behind the end of …`. */
function withPlace(fault: Diagnostic, { message, file, labels, notes }: Diagnostic): Diagnostic {
  const does = message.replace(/^kernel `[^`]*` /, '');
  const [main, ...more] = labels;
  const place = main && file ? { file, labels: [{ ...main, text: does }, ...more] } : {};
  return { ...fault, ...place, notes: [...fault.notes, ...(main ? [] : [does]), ...notes] };
}
