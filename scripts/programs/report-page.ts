/** The page of results of HeCBench: counts, and a row for each program. */
import type { Row } from './rows.ts';
import { runOptions } from './sizes.ts';

/** Where a program ends, as the page says it. */
const stages: Readonly<Record<string, string>> = {
  pass: 'passes its own check',
  twin: 'prints what its OpenMP version prints',
  silent: 'runs to the end, and says nothing of its results',
  wrong: 'its own check fails',
  run: 'stops with an error',
  time: 'takes too long',
  memory: 'needs too much memory',
  'no data': 'has no input',
  'missing function': 'calls a function that is not there',
  'device compile': 'does not compile',
  'host compile': 'does not compile',
  translation: 'does not compile',
  link: 'does not link',
  make: 'cannot be built by make',
};

const countOf = (results: readonly Row[], ...names: readonly string[]): number =>
  results.filter(({ stage }) => names.includes(stage)).length;

/** Programs that check themselves and use no library, texture or grid synchronisation. */
const isPlain = ({ checks, needs }: Row): boolean => checks && needs.length === 0;

const listOf = (names: readonly string[]): string => new Intl.ListFormat('en').format(names.map((name) => `\`${name}\``));

/** Why programs end on a GPU as they do not on the CPU device. */
const reasonsOnGpu: Readonly<Record<string, string>> = {
  bscan: 'votes whose masks lack the thread that votes; compiled by nvcc, it fails as well',
  threadcpy: 'an access behind the end of its memory',
  atomicCost: 'one allocation of more than 4 GiB',
};

/** Markdown. `elsewhere` says how programs end on an H200; those that it lacks were not run there. */
export function reportOf(results: readonly Row[], elsewhere: Readonly<Record<string, string>>): string {
  const plain = results.filter(isPlain);
  const onMore = results.filter(({ cores }) => cores !== undefined);
  const ends = ['pass', 'twin', 'silent'];
  const names = [...new Set(results.map(({ stage }) => stage))].sort((a, b) => countOf(results, b) - countOf(results, a));
  const onGpu = (list: readonly Row[], ...stages: readonly string[]): Row[] =>
    list.filter(({ name }) => stages.includes(elsewhere[name] ?? ''));
  const either = (list: readonly Row[], ...stages: readonly string[]): number =>
    list.filter(({ name, stage }) => [stage, elsewhere[name]].some((each) => stages.includes(each ?? ''))).length;
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const rows = results.map((row) => {
    const { name, needs, stage, reason, args = [], options = [], seconds, cores } = row;
    const where = cores === undefined ? '' : ` (${cores} cores)`;
    const time = seconds === undefined ? '' : `${seconds.toFixed(1)}${where}`;
    const list = [...options, ...(options.length > 0 ? ['--'] : []), ...args].join(' ');
    const there = [elsewhere[name], elsewhere[name] === 'pass' ? undefined : reasonsOnGpu[name]].filter(Boolean).join(': ');
    return `| ${[name, needs.join(', '), stage, reason, list === '' ? '' : `\`${list}\``, time, there].map(cell).join(' | ')} |`;
  });
  return `# HeCBench

[HeCBench](https://github.com/zjin-lcf/HeCBench) is a collection of ${results.length} CUDA programs of others. This page says how each ends with
\`cumetal cc\` and \`cumetal run\` on the CPU device, with one thread, on a machine with two cores that other work shared.
\`scripts/programs/judge.ts\` builds and runs them, and \`scripts/programs/report.ts\` writes this page.

- **${countOf(results, ...ends)} of ${results.length}** compile, run to the end and report no failure: ${countOf(results, 'pass')} pass their own check,
  ${countOf(results, 'twin')} print what the same benchmark for OpenMP prints, compiled by g++, and ${countOf(results, 'silent')} print no verdict, which is no statement
  that their results are right.
- **${countOf(plain, 'pass')} of the ${plain.length}** that check themselves and use no library, texture or grid synchronisation pass.

The same programs, with \`--device cuda\` on an NVIDIA H200: the device code is the same PTX, and the host code runs as WebAssembly.

- **${onGpu(results, 'pass', 'silent').length} of the ${Object.keys(elsewhere).length}** that were run there end and report no failure; ${onGpu(results, 'pass').length} pass their own check, ${onGpu(plain, 'pass').length} of them
  without library, texture or grid synchronisation. Arguments are those of the makefile with one repetition where that ends in 90 seconds, and else those below.
- On one device or the other, ${either(results, ...ends)} of ${results.length} end and report no failure, and ${either(plain, 'pass')} of the ${plain.length} pass.

What was cut down:

- *Arguments.* One repetition where a program counts them, and sizes that two cores compute in about a minute, by its usage text:
  \`scripts/programs/arguments.ts\` has the rules, and \`scripts/programs/sizes.ts\` the exceptions. Sizes that are constants of a source stay
  as they are, because no program is changed.
- *Lockstep.* ${listOf(Object.keys(runOptions))} count on the threads of a warp in lockstep, which \`--lanes 32\` gives them: a race on GPUs since Volta, which
  \`--sanitize\` names.
- *Headers.* Users bring those of CUB and Thrust, Boost, stb and bitmap_image.hpp; the last two have to lie beside the sources.
  The header that the makefile of \`miniFE\` has a script write was written so.
- *Inputs.* Files that the repository names without having them (\`.dvc\`) are made by \`scripts/programs/inputs.ts\`, in the format that the
  program reads. Where that would be a guess, the result is *no data*.
- *Time.* The limit is 40 to 100 seconds of CPU time. ${onMore.length} programs that take longer were run with one to four threads on a machine with 16 cores,
  six to fifteen programs at a time, for 90 to 120 seconds, and some of them for 430 to 560 seconds; ${countOf(onMore, ...ends)} of them end there, ${countOf(onMore.filter(isPlain), 'pass')} of which are among the ${plain.length}.
- *One run.* Programs that passed were not run again, so that not all results are of the same commit.

| result | meaning | programs |
| --- | --- | ---: |
${names.map((name) => `| ${name} | ${stages[name] ?? ''} | ${countOf(results, name)} |`).join('\n')}

The time is CPU time of the whole process on the CPU device, in seconds; the last column is the result on the H200.

| program | needs | result | reason | arguments | time | H200 |
| --- | --- | --- | --- | --- | ---: | --- |
${rows.join('\n')}
`;
}
