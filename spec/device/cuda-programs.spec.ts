/**
 * Random CUDA C++ programs (`spec/support/cuda-programs`) as nvcc compiled them, on the CPU device: the results that g++ computed from the same code, as
 * WebAssembly and as native code of both widths. The shortest programs run by default, and `CUMETAL_PROGRAMS=all` runs all for both kinds of target.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { processorFeatures } from '../../src/ffi/native/processor.ts';
import {
  digestOf,
  type Form,
  nameOf,
  type ProgramKind,
  programKinds,
  type RecordedProgram,
  recordedPrograms,
} from '../support/cuda-programs/run.ts';

const test = suite('device/cuda-programs');
const programs = recordedPrograms();
const isWhole = process.env.CUMETAL_PROGRAMS === 'all';

const { hasBaseline, hasAvx512 } = processorFeatures();
const widths: readonly Form['native'][] = [...(hasBaseline ? ([256] as const) : []), ...(hasAvx512 ? ([512] as const) : [])];

/** All forms of a program; by default, WebAssembly and one width of native code, which is another for the other kind of programs. */
function formsOf(kind: ProgramKind): Form[] {
  if (!isWhole)
    return [0 as const, widths[kind === 'threads' ? 0 : widths.length - 1] ?? 0].map((native) => ({
      target: 'cpu',
      engine: 'simd',
      native,
    }));
  return (['cpu', 'macos15'] as const).flatMap((target) => [
    { target, engine: 'lane', native: 0 } as const,
    ...[0 as const, ...widths].map((native): Form => ({ target, engine: 'simd', native })),
  ]);
}

/** What differs from g++'s result, by the program and the form. */
function differencesOf({ kind, number, ptx, digest }: RecordedProgram): string[] {
  const program = programKinds[kind].program(number);
  const forms = formsOf(kind);
  return forms.flatMap((form) => {
    const got = digestOf(ptx, program, form);
    return got === digest ? [] : `${kind} ${number}, ${nameOf(form)}: ${got}, not ${digest}`;
  });
}

test('programs of both kinds are recorded', () => {
  for (const kind of Object.keys(programKinds)) assert.ok(programs.filter((each) => each.kind === kind).length >= 5, kind);
});

for (const kind of ['threads', 'warps'] as const)
  test(`programs of ${kind} give what g++ computes`, () => {
    const some = programs.filter((each) => each.kind === kind).sort((a, b) => a.ptx.length - b.ptx.length);
    assert.equal((isWhole ? some : some.slice(0, 1)).flatMap(differencesOf), []);
  });

test.run();
