/** Which rows of the instruction table occur in kernels that were recorded on an NVIDIA H200. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { check, parse } from '../../../src/ptx/index.ts';
import { type Row, refusalOf } from '../../../src/ptx/model/row.ts';
import { allRows } from '../../../src/ptx/table/index.ts';
import { fuzzForms } from '../fuzz.ts';
import { type Kind, kernelOf } from '../one-instruction.ts';
import { randomProgram } from '../random-ptx.ts';
import { randomWarps } from '../random-warps.ts';
import { sweepForms } from './forms.ts';
import { readSweep } from './run.ts';
import { sampledKernels } from './samples.ts';

const folder = join(import.meta.dirname, '../../../fixtures/h200');

/** The coverage of recordings that include the PTX of their kernels. */
interface Recording {
  readonly head?: string;
  readonly tail?: string;
  /** Heads and tails by the names that forms have for them. */
  readonly frames?: Readonly<Record<string, readonly [head: string, tail: string]>>;
  readonly ptx?: readonly string[];
  readonly forms?: readonly Form[];
}

/** One instruction, the lines between a head and a tail, or a whole module. */
interface Form {
  readonly form: string;
  readonly operands?: readonly Kind[];
  readonly result?: Kind;
  readonly code?: readonly string[];
  readonly frame?: string;
  readonly ptx?: string;
}

/** The PTX of every kernel that was recorded; of the random programs those that `fuzz.spec.ts` and `warps.spec.ts` run. */
function* recordedKernels(): Generator<string> {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const recording = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording;
    if (recording.ptx) yield recording.ptx.join('\n');
    for (const form of recording.forms ?? []) {
      const ptx = kernelOfForm(recording, form);
      if (ptx !== undefined) yield ptx;
    }
  }
  const forms = fuzzForms();
  for (let i = 0; i < 10_000; i += 40) yield randomProgram(i + ((i / 40) % 2), forms);
  for (let i = 0; i < 5000; i += 44) yield randomWarps(i).ptx;
  yield* sampledKernels();
  const recorded = readSweep();
  for (const { name, ptx } of sweepForms()) if (recorded.has(name)) yield ptx;
}

function kernelOfForm({ frames, ...ends }: Recording, { form, operands, result, code, frame, ptx }: Form): string | undefined {
  if (operands && result)
    return kernelOf({
      text: form,
      sources: operands.map((kind, i) => ({ name: 'abce'[i]!, kind })),
      results: [{ name: 'd', kind: result }],
    });
  const [head, tail] = frame === undefined ? [ends.head, ends.tail] : frames![frame]!;
  return code ? `${head}${code.join('\n')}\n${tail}` : ptx;
}

/** The rows of the instructions in all recorded kernels, each with the modifiers that occurred, such as `type=u32`. */
export function recordedRows(): Map<Row, Set<string>> {
  const rows = new Map<Row, Set<string>>();
  for (const ptx of recordedKernels()) {
    const diagnostics = new Diagnostics(new SourceFile('recorded.ptx', ptx));
    const { entries, functions } = check(parse(diagnostics.file!, diagnostics), {}, diagnostics);
    // Forms for the first architectures that came with the second are warned of.
    if (diagnostics.hasErrors) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
    for (const { items } of [...entries, ...functions.values()])
      for (const item of items) {
        if (item.kind !== 'instruction') continue;
        const { row, modifiers } = item.match;
        const words = rows.get(row) ?? new Set();
        for (const [slot, word] of Object.entries(modifiers)) words.add(`${slot}=${word}`);
        rows.set(row, words);
      }
  }
  return rows;
}

/** How many rows there are of each kind, and how many of them were recorded. */
export function countedRows(recorded: ReadonlyMap<Row, unknown>): string {
  const compiled = allRows().filter((row) => !refusalOf(row));
  const refused = allRows().length - compiled.length;
  const others = compiled.filter((row) => !recorded.has(row));
  const judged = count(compiled.filter((row) => recorded.has(row)));
  return `rows: ${count(compiled)}, ${refused} refused; recorded on an H200: ${judged}; judged otherwise: ${others.length}`;
}

function count(rows: readonly Row[]): string {
  const exact = rows.filter(({ status }) => status === 'exact').length;
  return `${exact} exact, ${rows.length - exact} bounded`;
}
