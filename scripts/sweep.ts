/**
 * The forms of the instruction table, on the CPU device and on an NVIDIA GPU:
 *
 *   bun scripts/sweep.ts write OUT.json.gz                 their kernels and input, for `scripts/record/digests.py`
 *   bun scripts/sweep.ts check RECORDED.json [PART]        compares the CPU device's results with those of the GPU
 *   bun scripts/sweep.ts divergent RECORDED.json [PART]    the same for forms without memory accesses in divergent code
 *   bun scripts/sweep.ts bytes RECORDED.json               the same for a recording of bytes by `digests.py`
 *   bun scripts/sweep.ts show NAME                         the kernel of a form, and its number
 *
 * A recording has a digest of the results of each form. `check` compiles each form for macOS 15 and for `cpu` with native doubles,
 * names the forms that differ, and exits 1 if any does; with PART only forms whose names contain it. Its last line counts the
 * rows of the table.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { countedRows, recordedRows } from '../spec/support/sweep/coverage.ts';
import { type SweepForm, sweepForms } from '../spec/support/sweep/forms.ts';
import { hasMemory } from '../spec/support/sweep/judge.ts';
import { bytesOfThread, inDivergentCode } from '../spec/support/sweep/kernel.ts';
import { readSweep, sweepDigest, sweepResult } from '../spec/support/sweep/run.ts';
import { parameterBytes, sweepInput, threads } from '../spec/support/sweep/values.ts';

const [command, ...args] = process.argv.slice(2);
const forms = sweepForms();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function write(path: string): void {
  const input = { input: hex(sweepInput()), values: [hex(parameterBytes())] };
  const programs = { names: forms.map(({ name }) => name), programs: forms.map(({ ptx }) => ptx) };
  writeFileSync(path, gzipSync(JSON.stringify({ kernel: 'form', from: 0, threads, bytesOfThread, ...input, ...programs })));
  console.log(`${forms.length} forms`);
}

/** With `change` the forms are in another kernel with the same results. */
function check(
  path: string,
  part: string,
  isChosen = (_: SweepForm): boolean => true,
  change = (form: SweepForm): SweepForm => form,
): number {
  const recorded = readSweep(path);
  const different: string[] = [];
  const named = forms.filter((form) => form.name.includes(part) && isChosen(form));
  const chosen = named.filter(({ name }) => recorded.has(name));
  chosen.forEach((form, i) => {
    const want = recorded.get(form.name);
    for (const target of ['macos15', 'cpu'] as const) {
      const got = sweepDigest(change(form), target);
      if (got !== want) different.push(`${forms.indexOf(form)} ${form.name} for ${target}: ${got}, not ${want}`);
    }
    if ((i + 1) % 500 === 0) console.error(`${i + 1} of ${chosen.length}, ${different.length} differ`);
  });
  console.log(different.join('\n'));
  console.log(`${chosen.length} forms, ${different.length} differ; ${named.length - chosen.length} others are not recorded`);
  console.log(countedRows(recordedRows()));
  return different.length > 0 ? 1 : 0;
}

/** The first threads of each form with different results, as 32 bytes each. */
function bytes(path: string): void {
  for (const [number, text] of Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>)) {
    const got = sweepResult(forms[Number(number)]!, 'cpu');
    const mine = typeof got === 'string' ? got : hex(got);
    const each = 2 * bytesOfThread;
    const differing = Array.from({ length: threads }, (_, t) => t).filter(
      (t) => text.slice(t * each, (t + 1) * each) !== mine.slice(t * each, (t + 1) * each),
    );
    console.log(`${number} ${forms[Number(number)]!.name}: ${differing.length} threads differ`);
    for (const t of differing.slice(0, 4))
      console.log(`  ${t}: ${mine.slice(t * each, (t + 1) * each)}\n  not ${text.slice(t * each, (t + 1) * each)}`);
  }
}

if (command === 'write') write(args[0]!);
else if (command === 'check') process.exitCode = check(args[0]!, args[1] ?? '');
else if (command === 'divergent') {
  const isPure = ({ row }: SweepForm): boolean => !hasMemory(row) && !row.isCollective && row.control === undefined;
  process.exitCode = check(args[0]!, args[1] ?? '', isPure, (form) => ({ ...form, ptx: inDivergentCode(form.ptx) }));
} else if (command === 'bytes') bytes(args[0]!);
else if (command === 'show') console.log(forms.flatMap((form, i) => (form.name === args[0] ? [`// ${i}\n${form.ptx}`] : [])).join('\n'));
else
  console.error(
    'usage: bun scripts/sweep.ts write OUT.json.gz | check RECORDED.json [PART] | divergent RECORDED.json [PART] | bytes RECORDED.json | show NAME',
  );
