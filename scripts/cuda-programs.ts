/**
 * Random CUDA C++ programs (`spec/support/cuda-programs`), for machines that have nvcc and g++. nvcc compiles the device code to PTX, and what the same code gives
 * as host code of g++ is what the CPU device has to give:
 *
 *   bun scripts/cuda-programs.ts show KIND NUMBER             one program
 *   bun scripts/cuda-programs.ts check KIND COUNT [FROM]      compares the CPU device's results with those of the host code
 *   bun scripts/cuda-programs.ts write COUNT                  records the first short programs of each kind, with the PTX of nvcc
 *
 * KIND is `threads` (of all types, with control flow, arrays and functions) or `warps` (collectives in divergent code, barriers and atomics). `check` runs each
 * program for both kinds of target and in each way of `--forms`, names what differs, and exits 1 if anything does. `--forms` is a list of `lane`, `simd`,
 * `native256` and `native512`; all of them that this machine runs by default.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  digestOf,
  type Form,
  fixturePath,
  nameOf,
  type ProgramKind,
  programKinds,
  type RecordedProgram,
} from '../spec/support/cuda-programs/run.ts';
import { processorFeatures } from '../src/ffi/native/processor.ts';
import { buildProgram } from './cuda-programs/build.ts';

const usage = `usage: bun scripts/cuda-programs.ts show KIND NUMBER | check KIND COUNT [FROM] [--forms=lane,simd,native256,native512] | write COUNT
KIND is one of ${Object.keys(programKinds).join(', ')}`;

const ways: Readonly<Record<string, Omit<Form, 'target'>>> = {
  lane: { engine: 'lane', native: 0 },
  simd: { engine: 'simd', native: 0 },
  native256: { engine: 'simd', native: 256 },
  native512: { engine: 'simd', native: 512 },
};

const canRun = (native: number): boolean =>
  native === 0 || (native === 512 ? processorFeatures().hasAvx512 : processorFeatures().hasBaseline);

function check(kind: ProgramKind, count: number, from: number, names: readonly string[]): number {
  const chosen = names.map((name) => ways[name]!).filter(({ native }) => canRun(native));
  const forms = chosen.flatMap((way) => (['cpu', 'macos15'] as const).map((target): Form => ({ target, ...way })));
  const differing = new Map(forms.map((form) => [nameOf(form), 0]));
  let unbuilt = 0;
  for (let number = from; number < from + count; number++) {
    try {
      const { program, ptx, digest } = buildProgram(kind, number);
      for (const form of forms) {
        const got = digestOf(ptx, program, form);
        if (got === digest) continue;
        differing.set(nameOf(form), differing.get(nameOf(form))! + 1);
        console.log(`${kind} ${number}, ${nameOf(form)}: ${got}, not ${digest}`);
      }
    } catch (error) {
      unbuilt++;
      console.log(`${kind} ${number}: ${(error as Error).message}`);
    }
    if ((number - from + 1) % 20 === 0) console.error(`${number - from + 1} of ${count}`);
  }
  console.log(`${count} programs, ${unbuilt} not built`);
  for (const [name, bad] of differing) console.log(`  ${name}: ${bad} differ`);
  return unbuilt + Math.max(0, ...differing.values()) > 0 ? 1 : 0;
}

/** Characters of source that a recorded program has at most, beside its headers: a spec compiles some of them to native code. */
const maxSource = 4500;

function write(count: number): void {
  const kinds = Object.keys(programKinds) as ProgramKind[];
  const recorded = kinds.flatMap((kind) => {
    const found: RecordedProgram[] = [];
    for (let number = 0; found.length < count; number++) {
      if (programKinds[kind].program(number).source.length > maxSource) continue;
      const { ptx, digest } = buildProgram(kind, number);
      // Comments of nvcc name its version and the files of this machine.
      found.push({ kind, number, ptx: ptx.replace(/^\/\/.*\n/gm, ''), digest });
    }
    return found;
  });
  const bytes = gzipSync(JSON.stringify(recorded), { level: 9 });
  mkdirSync(dirname(fixturePath), { recursive: true });
  writeFileSync(fixturePath, bytes);
  console.log(`${recorded.length} programs, ${bytes.length} bytes`);
}

const isKind = (word: string | undefined): word is ProgramKind => word !== undefined && Object.hasOwn(programKinds, word);
const isWhole = (word: string | undefined): word is string => /^\d+$/.test(word ?? '');

function main(): number {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { forms: { type: 'string', default: Object.keys(ways).join() } },
  });
  const [command, first, second, third = '0'] = positionals;
  const names = values.forms.split(',');
  if (names.every((name) => Object.hasOwn(ways, name))) {
    if (command === 'check' && isKind(first) && isWhole(second) && isWhole(third))
      return check(first, Number(second), Number(third), names);
    if (command === 'show' && isKind(first) && isWhole(second)) {
      console.log(programKinds[first].program(Number(second)).source);
      return 0;
    }
    if (command === 'write' && isWhole(first)) {
      write(Number(first));
      return 0;
    }
  }
  console.error(usage);
  return 2;
}

process.exitCode = main();
