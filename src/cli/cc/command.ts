/** `cumetal cc` as a value. */
import type { Command } from '../command/command.ts';
import { words } from './options.ts';

const lines = words.map(({ names, value, doc }) => `  ${names.join(' ')}${value ? ` ${value}` : ''}\n      ${doc.replaceAll('`', '')}`);

export const cc: Command = {
  name: 'cc',
  summary: 'compile and link a whole CUDA program; takes the words of nvcc',
  usage: ['FILE… [words of nvcc]'],
  positionals: [0, Number.POSITIVE_INFINITY],
  isRaw: true,
  options: [],
  examples: [
    { line: 'cumetal cc vector_add.cu -o vector_add', does: 'make a program; `./vector_add` and `cumetal run vector_add` run it' },
    { line: 'cumetal cc -c -std=c++20 -Iinclude kernels.cu main.cpp', does: 'make an object of each source' },
    { line: 'cumetal cc main.o kernels.o -o app', does: 'link objects' },
  ],
  details: `FILE is a .cu, .cpp, .cc, .cxx or .c file, an object (.o) or an archive (.a) of this compiler. A program is a file that a shell
starts with cumetal. \`make NVCC="cumetal cc"\` builds with a makefile that is written for nvcc.

Words:
${lines.join('\n')}`,
  run: async (context) => (await import('./index.ts')).compilerDriver(context),
};
