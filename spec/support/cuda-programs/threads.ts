/** Random programs of threads that do not know of each other: values of all types, branches, loops, switches, local arrays and functions. */
import { type CudaProgram, inputWords } from './program.ts';
import { allTypes, type Draw, newDraw, newScope, type Type, times, types } from './scope.ts';
import { bitsOf, someFunctions, statements } from './statements.ts';

const [blocks, threads] = [4, 64];

const inputWord = (draw: Draw): string => `in[(tid * ${draw.of([1, 3, 5, 7])} + ${draw.below(61)}) & ${inputWords - 1}]`;

/** A value of a type made of the input. */
function inputOf(draw: Draw, type: Type): string {
  const low = inputWord(draw);
  const wide = types[type].bits === 64 ? `((u64)${inputWord(draw)} << 32 | ${low})` : low;
  return types[type].isFloat ? `as_${type}(${wide})` : `(${type})${wide}`;
}

/** The program of a number. A thread leaves a digest of its variables and arrays. */
export function threadProgram(seed: number): CudaProgram {
  const draw = newDraw(seed);
  const { callees, lines } = someFunctions(draw);
  const scope = newScope(
    draw,
    times(6, (i) => ({ name: `a${i}`, type: draw.of(allTypes) })),
    callees,
  );
  const inputs = scope.variables.map(({ name, type }) => `  ${type} ${name} = ${inputOf(draw, type)};`);
  for (let i = draw.below(3); i > 0; i--) scope.arrays.push({ name: `array${i}`, length: draw.of([4, 8, 16]) });
  const arrays = scope.arrays.flatMap(({ name, length }) => [
    `  u32 ${name}[${length}];`,
    `  for (u32 q = 0; q < ${length}; q++) ${name}[q] = in[(tid + q * ${draw.between(1, 9)}) & ${inputWords - 1}];`,
  ]);
  const inside = statements(scope, draw.between(6, 18), 3).map((line) => `  ${line}`);
  const source = [
    '#include "prelude.h"',
    ...lines,
    'SHARED_CODE void run(u32 tid, const u32 *in, u32 *out) {',
    ...[...inputs, ...arrays, ...inside],
    '  u64 result = 1469598103934665603ull;',
    ...scope.variables.map(({ name, type }) => `  result = digest(result, ${bitsOf(type, name)});`),
    ...scope.arrays.map(({ name, length }) => `  for (u32 q = 0; q < ${length}; q++) result = digest(result, ${name}[q]);`),
    '  out[tid * 2] = (u32)result;',
    '  out[tid * 2 + 1] = (u32)(result >> 32);',
    '}',
    '#ifdef __CUDACC__',
    `extern "C" __global__ void k(u32 *data) { run(blockIdx.x * ${threads} + threadIdx.x, data, data + ${inputWords}); }`,
    '#else',
    'static void run_all(u32 *data) {',
    `  for (u32 tid = 0; tid < ${blocks * threads}; tid++) run(tid, data, data + ${inputWords});`,
    '}',
    '#include "host.h"',
    '#endif',
  ].join('\n');
  return { source, blocks, threads, outputWords: 2 * blocks * threads };
}
