/**
 * Programs made at random, on the CPU device and on an NVIDIA GPU:
 *
 *   bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM]     the programs and their input, for `scripts/record/digests.py`
 *   bun scripts/fuzz.ts check RECORDED.json                what the CPU device gives, against what the GPU gave
 *   bun scripts/fuzz.ts show NUMBER                        one program
 *
 * A recording has a digest of what each program leaves. `check` names the programs that differ, and exits 1 where any does;
 * programs are compiled in turns for macOS 15, and for `cpu` with doubles of its own.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fuzzDigest, fuzzForms, readRecording } from '../spec/support/fuzz.ts';
import { bytesOfThread, randomInput, randomProgram, threads } from '../spec/support/random-ptx.ts';

const [command, ...words] = process.argv.slice(2);
const forms = fuzzForms();

function write(path: string, count: number, from: number): void {
  const programs = Array.from({ length: count }, (_, i) => randomProgram(from + i, forms));
  const input = Buffer.from(randomInput().buffer).toString('hex');
  writeFileSync(path, gzipSync(JSON.stringify({ kernel: 'fuzz', from, threads, bytesOfThread, input, programs })));
  console.log(`${count} programs, ${(programs.reduce((sum, each) => sum + each.length, 0) / 1e6).toFixed(1)} MB of PTX`);
}

function check(path: string): number {
  const { from, digests } = readRecording(path);
  const wrong: string[] = [];
  digests.forEach((digest, i) => {
    const got = fuzzDigest(randomProgram(from + i, forms), i);
    if (got !== digest) wrong.push(`${from + i}: ${got}, not ${digest}`);
    if ((i + 1) % 500 === 0) console.error(`${i + 1} of ${digests.length}, ${wrong.length} differ`);
  });
  console.log(wrong.join('\n'));
  console.log(`${digests.length} programs, ${wrong.length} differ`);
  return wrong.length > 0 ? 1 : 0;
}

if (command === 'write') write(words[0]!, Number(words[1]), Number(words[2] ?? 0));
else if (command === 'check') process.exitCode = check(words[0]!);
else if (command === 'show') console.log(randomProgram(Number(words[0]), forms));
else console.error('usage: bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM] | check RECORDED.json | show NUMBER');
