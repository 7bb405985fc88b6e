/** `docs/advice.md`: the advice of `cumetal analyze`, and the codes of other tools beside ours. */

import type { Entry } from '../../src/base/catalogue/entry.ts';
import { type Code, catalogue } from '../../src/base/catalogue/index.ts';

/** A code of another tool: what it is about, and ours, or why there is none. */
type Foreign = readonly [code: string, about: string, ours: readonly Code[] | string];

/**
 * Clause 21 of the Cursive language, "Heterogeneous Execution": rules for kernels and launches. `E` is an error, `W` a warning, `P` a failure at
 * run time. Source: the diagnostic tables of 21.2 to 21.10.
 */
const cursive: readonly Foreign[] = [
  ['E-GPU-4001', 'device memory used by the host, or the reverse', ['CM5081', 'CM6011', 'CM6101']],
  ['E-GPU-4005', 'element type with pointers or padding', 'buffers hold bytes; arguments have their sizes checked (CM5013)'],
  ['E-GPU-4006', 'staging memory used by a kernel', ['CM5060', 'CM5062']],
  ['E-GPU-4010', 'recursion in device code', 'supported, with the size of a stack as a limit'],
  ['E-GPU-4011', 'dynamic dispatch in device code', 'a call by a register is compiled where its callees are known, otherwise CM1113'],
  ['E-GPU-4012', 'stack of a thread too large', ['CM2314']],
  ['E-GPU-4013', 'kernel with a result', ['CM1117']],
  ['E-GPU-4014', 'heap allocation in device code', '`malloc` in kernels is supported on the CPU device'],
  ['E-GPU-4016', 'unwinding in device code', 'PTX has none; a failed assertion is CM6014'],
  ['E-GPU-4017', 'function that device code cannot have', ['CM2040', 'CM2090']],
  ['E-GPU-4020', 'launch shape that is no number', ['CM5024']],
  ['E-GPU-4021', 'argument that kernels cannot have', ['CM5012']],
  ['E-GPU-4022', 'thread numbers outside of a kernel', 'PTX has special registers in functions of the device alone'],
  ['E-GPU-4030', 'shared memory declared in divergent code', 'a declaration of PTX has no place in the flow of a kernel'],
  ['E-GPU-4031', 'several dynamic shared arrays', ['CM2313']],
  ['E-GPU-4032', 'too much static shared memory', ['CM2093', 'CM5022']],
  ['W-GPU-4033', 'shared memory read behind a write without a barrier', ['CM2308', 'CM6120']],
  ['W-GPU-4040', 'barrier in divergent control flow', ['CM2210', 'CM6130', 'CM6131']],
  ['E-GPU-4041', 'atomic on a type without atomics', ['CM1103']],
  ['E-GPU-4050', 'shuffle of a type that no register has', ['CM1103', 'CM1107']],
  ['W-GPU-4051', 'shuffle from a lane of run time', ['CM2310', 'CM2311', 'CM6132']],
  ['E-GPU-4060', 'atomic in local or constant memory', ['CM1103', 'CM1118']],
  ['E-GPU-4061', 'atomic on 8 or 16 bits', ['CM1103']],
  ['W-GPU-4062', 'atomic of system scope', ['CM2312']],
  ['W-GPU-4070', 'endless loop in divergent code', ['CM2306', 'CM2307', 'CM6010', 'CM6031']],
  ['P-GPU-5001', 'fault of the device', ['CM6014', 'CM6017', 'CM6025', 'CM6042']],
  ['P-GPU-5002', 'out of device memory', ['CM6012', 'CM6023']],
  ['P-GPU-5003', 'launch beyond the limits of the device', ['CM5021', 'CM5022', 'CM5024']],
  ['P-GPU-5004', 'event of another device', ['CM5062']],
];

/** The bug classes of trueno-explain 0.2, which finds them by patterns of the text. Source: its `PtxBugClass`. */
const trueno: readonly Foreign[] = [
  ['SHARED_U64', '64-bit register as a shared address', 'PTX allows it; the address is checked by its value (CM6101)'],
  ['LOOP_BRANCH_END', 'loop that jumps to its end', ['CM2203', 'CM2306']],
  ['MISSING_BARRIER', 'shared load behind a store without a barrier', ['CM2308', 'CM6120']],
  ['EARLY_EXIT_BARRIER', 'threads that leave before a barrier of a loop', ['CM2210', 'CM6131']],
  ['NON_INPLACE_ACCUM', 'accumulator in another register', 'registers of PTX are virtual, and the compiler assigns them'],
  ['REG_SPILLS', 'use of local memory', ['CM2314']],
  ['HIGH_REG_PRESSURE', 'many declared registers', 'declarations say nothing of the registers of the GPU'],
  ['PRED_OVERFLOW', 'many declared predicates', 'declarations say nothing of the registers of the GPU'],
  ['PLACEHOLDER_CODE', 'comments such as “omitted”', 'comments are not judged'],
  ['EMPTY_LOOP', 'loop without computation', ['CM2306', 'CM2307']],
  ['NO_BOUNDS_CHECK', 'no comparison of the thread number', 'a bound is a matter of the launch: `--sanitize` reports CM6101'],
  ['REDUNDANT_MOV', 'chains of moves', 'the compiler removes them'],
  ['UNOPT_MEM', 'separate or strided accesses', ['CM2301', 'CM2302']],
  ['DEAD_CODE', 'code behind a return or a jump', ['CM2203']],
  ['INVALID_SYNTAX', 'text that is no PTX', ['CM1001']],
  ['NO_ENTRY', 'module without a kernel', ['CM5092']],
];

const adviceCodes = (Object.keys(catalogue) as Code[]).filter((code) => code.startsWith('CM23')).sort();

const adviceRow = (code: Code): string => {
  const entry: Entry = catalogue[code];
  return `| [${code}](diagnostics.md) | ${entry.severity} | ${entry.title} | ${entry.alias ?? ''} |`;
};

const oursText = (ours: Foreign[2]): string =>
  typeof ours === 'string' ? ours : ours.map((code) => `${code} (${(catalogue[code] as Entry).title})`).join(', ');
const foreignRow = ([code, about, ours]: Foreign): string => `| \`${code}\` | ${about} | ${oursText(ours)} |`;

export const advicePage = {
  path: 'docs/advice.md',
  text: (): string => `# Advice before a launch

Generated by \`npm run generate\` from \`src/base/catalogue/advice.ts\` and \`scripts/docs/advice.ts\`.

\`\`\`sh
cumetal analyze kernel.ptx                                    # the launch that the file carries, or none
cumetal analyze kernel.ptx --grid 64 --block 256 --arg f32:1024 --arg u32=1024
cumetal analyze kernel.ptx --launch launch.json --json
cumetal analyze kernels/*.ptx --sarif > advice.sarif
cumetal check kernel.ptx --advise                             # with everything else that is wrong
\`\`\`

Nothing is executed.
An editor that uses \`cumetal lsp\` shows the advice as hints, for a launch that is not known.
\`// cumetal: allow CM2301\` in the text suppresses one, as of every warning.

| code | | title | alias |
| --- | --- | --- | --- |
${adviceCodes.map(adviceRow).join('\n')}

## Numbers

For each access to global or shared memory, a table shows the sectors or wavefronts of a request, by the model of [the profiler](profiler.md).

| | |
| --- | --- |
| \`4 sectors\` | exact: \`cumetal run --profile\` counts this number for each request of the launch, or as the mean of all of them |
| \`at most 4 sectors\` | of a warp with all of its threads; a request of fewer threads may need less |
| \`about 4 sectors\` | for a launch that is not known, or arithmetic that may wrap around: 32 threads that follow one another along x |
| \`?\` | the addresses are not known |

A pointer argument is a multiple of 256 bytes, as memory from \`cudaMalloc\` is.
The analysis follows every value through the kernel as a number for each thread of a warp, plus multiples of unknown numbers that all threads share.
Values that were loaded are not known. A branch on them leaves \`at most\`, and an address that depends on them leaves \`?\`.

| addresses | |
| --- | --- |
| all threads have one address | uniform |
| neighboring threads have neighboring elements | unit stride |
| neighboring threads are N bytes apart | strided |
| several threads share each address | broadcast |
| the addresses follow from the thread numbers | any other known pattern |
| the addresses depend on loaded values | gather |
| a stride of run time | the thread number times a value of the launch |

For a bank conflict, paddings and XOR exchanges of columns are tried. One is suggested if, by the same model, the access has no conflict with it and
no other access of the variable has more than before.

A race (CM2308) is reported where the addresses of two accesses follow from the thread numbers alone, threads of different warps access the same bytes,
both accesses are executed for certain, and no barrier, atomic or volatile access is between them. \`cumetal run --sanitize=race\` finds the others.

Occupancy counts threads, blocks and shared memory of a multiprocessor, and no registers.

## Codes of other tools

### Cursive, clause 21

| code | about | here |
| --- | --- | --- |
${cursive.map(foreignRow).join('\n')}

\`cumetal explain\` takes the codes that are an alias in the table above.

### trueno-explain

| class | about | here |
| --- | --- | --- |
${trueno.map(foreignRow).join('\n')}

The same project's contracts FALSIFY-DIM-001 to 006 and its tasks TG-001 to 007 are about a library of kernels and a builder, and no codes of an analysis.
`,
};
