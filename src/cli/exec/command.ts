/** `cumetal exec` as a value. */
import type { Command, Option } from '../command/command.ts';
import { run } from '../run/command.ts';

/** How kernels run, in the words of `run`. */
const ofKernels = new Set(['engine', 'fma', 'denormals', 'lanes', 'threads', 'timeout', 'no-cache', 'schedule', 'sanitize']);
const shared: readonly Option[] = run.options.filter(({ name }) => ofKernels.has(name));

export const exec: Command = {
  name: 'exec',
  summary: 'run a program that nvcc built on the CPU device',
  usage: ['[options] PROGRAM [ARGUMENT…]'],
  positionals: [1, Number.POSITIVE_INFINITY],
  endsAtFirst: true,
  options: shared,
  examples: [
    { line: 'cumetal exec ./a.out 1000', does: 'run a program of CUDA without an NVIDIA GPU' },
    {
      line: 'cumetal exec --sanitize ./a.out 1000',
      does: 'the same under the sanitizer, which names lines of the PTX; faults make the exit code 1',
    },
  ],
  details: `Linux only. Standard streams, arguments, environment and exit code are the program's own; signals reach it. 127 is a program that is not
found, 126 one that cannot be run, and 128 and the signal's number one that a signal ended.

The PTX in the program is compiled when a kernel of it is first used; a program with machine code alone is refused at its first kernel:
build it with \`-gencode arch=compute_80,code=compute_80\`. NVIDIA's runtime may be a shared library (\`nvcc -cudart shared\`) or inside
the program, as by default, if the program has its symbols. The library that serves the program is compiled once, by \`cc\` or \`$CC\`.
Libraries such as cuBLAS are not served.`,
  run: async (context) => (await import('./index.ts')).execute(context),
};

export const record: Command = {
  name: 'record',
  summary: 'run a program that nvcc built, and write each launch as a launch file',
  usage: ['[options] PROGRAM [ARGUMENT…]'],
  positionals: [1, Number.POSITIVE_INFINITY],
  endsAtFirst: true,
  options: [
    { name: 'output', short: 'o', value: 'FOLDER', doc: 'The folder of the launch files, `launches` by default; a new or empty one.' },
    {
      name: 'device',
      value: 'DEVICE',
      choices: ['auto', 'cpu', 'cuda'],
      doc: 'Where the program runs: on the NVIDIA GPU of this machine (`cuda`), on the CPU device, or on the first of them that is there (`auto`, the default).',
    },
    { name: 'limit', value: 'N', doc: 'The most launches that are recorded, 100 by default; later ones run and are not written.' },
    { name: 'kernel', value: 'NAME', doc: 'Only launches of this kernel, by its name in the PTX.' },
    ...shared,
  ],
  examples: [{ line: 'cumetal record -o launches ./a.out 1000', does: 'record the first 100 launches' }],
  details: `On the CPU device, the program runs as under \`cumetal exec\`. On an NVIDIA GPU, it runs on NVIDIA's driver (12.4 or later), which may be
its own runtime, shared or not, or the driver itself; each launch waits for the GPU. A launch file names the PTX, the arguments, and the contents of memory and variables before
the launch; what memory holds after it is the expected result of a later run. Pointers into one allocation stay pointers into one.
Equal contents are one file. \`cumetal run --launch FILE\` runs one again, and \`cumetal diff FOLDER\` all of them.`,
  run: async (context) => (await import('./index.ts')).execute(context),
};
