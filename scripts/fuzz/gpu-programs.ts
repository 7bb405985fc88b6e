/**
 * Random programs on the CPU device and on an NVIDIA GPU:
 *
 *   bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM [KIND]]  the programs and their input, for `scripts/record/digests.py`
 *   bun scripts/fuzz.ts check RECORDED.json                    compares the CPU device's results with those of the GPU
 *   bun scripts/fuzz.ts show NUMBER [KIND]                     one program
 *
 * KIND is `loaded` (the default: operands are loaded, with all kinds of control flow and collectives) or `narrow` (of operands much is known). A recording of
 * narrow programs says so: `"kind": "narrow"`.
 *
 * A recording has a digest of the results of each program. `check` names the programs that differ, and exits 1 if any does;
 * programs are compiled alternately for macOS 15, and for `cpu` with native doubles.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fuzzDigest, fuzzForms, programKinds, readRecording } from '../../spec/support/fuzz.ts';
import { randomInput, threads } from '../../spec/support/random-ptx.ts';

const kindOf = (name = 'loaded') => programKinds[name as keyof typeof programKinds];

function write(path: string, count: number, from: number, kind: string | undefined): number {
  const forms = fuzzForms();
  const { bytesOfThread, program, values: bigints } = kindOf(kind);
  const programs = Array.from({ length: count }, (_, i) => program(from + i, forms));
  const input = Buffer.from(randomInput().buffer).toString('hex');
  const values = bigints.map((value) => Buffer.from(BigUint64Array.of(value).buffer).toString('hex'));
  writeFileSync(path, gzipSync(JSON.stringify({ kernel: 'fuzz', from, threads, bytesOfThread, input, values, programs })));
  console.log(`${count} programs, ${(programs.reduce((sum, each) => sum + each.length, 0) / 1e6).toFixed(1)} MB of PTX`);
  return 0;
}

function check(path: string): number {
  const forms = fuzzForms();
  const { kind, from, digests } = readRecording(path);
  const different: string[] = [];
  digests.forEach((digest, i) => {
    const got = fuzzDigest(kind.program(from + i, forms), i, kind);
    if (got !== digest) different.push(`${from + i}: ${got}, not ${digest}`);
    if ((i + 1) % 500 === 0) console.error(`${i + 1} of ${digests.length}, ${different.length} differ`);
  });
  console.log(different.join('\n'));
  console.log(`${digests.length} programs, ${different.length} differ`);
  return different.length > 0 ? 1 : 0;
}

interface GpuCommand {
  /** The words behind the command's own, one a line. */
  readonly words: RegExp;
  readonly run: (args: readonly string[]) => number;
}

/** The commands, by their first word. */
export const gpuCommands: Readonly<Record<string, GpuCommand>> = {
  write: {
    words: /^[^\n]+\n\d+(\n\d+(\n(loaded|narrow))?)?$/,
    run: (args) => write(args[0]!, Number(args[1]), Number(args[2] ?? 0), args[3]),
  },
  check: { words: /^[^\n]+$/, run: (args) => check(args[0]!) },
  show: {
    words: /^\d+(\n(loaded|narrow))?$/,
    run([number, kind]) {
      console.log(kindOf(kind).program(Number(number), fuzzForms()));
      return 0;
    },
  },
};
