/** Help on the terminal and `docs/cli.md`, both derived from the list of commands. */
import type { Command, Option } from './command/command.ts';
import { commonOptions } from './command/command.ts';
import { commands } from './commands.ts';

const firstExample = 'cumetal run examples/vector_add.ptx';
const purpose = 'Compiles NVIDIA PTX to Apple metallibs and runs them, on the GPU of a Mac or on the CPU of any machine.';

const exitCodes: readonly (readonly [code: number, when: string])[] = [
  [0, 'success, and every check passed'],
  [1, 'the launch failed, a check failed, devices disagree, or a file is invalid'],
  [2, 'invalid command-line usage'],
  [3, 'the input does not compile'],
  [4, 'the requested device is not available on this machine'],
  [70, 'internal error in cumetal'],
];

/** The output of `cumetal --help`. */
export function generalHelp(): string {
  const width = Math.max(...commands.map((c) => c.name.length));
  const line = (c: Command) => `  ${c.name.padEnd(width)}  ${c.summary}`;
  return [
    firstExample,
    '',
    purpose,
    '',
    'Commands:',
    ...commands.map(line),
    '',
    '`cumetal COMMAND --help` prints the options and examples of a command; `cumetal --version` prints the version.',
    '',
    'Exit codes:',
    ...exitCodes.map(([code, when]) => `  ${String(code).padStart(2)}  ${when}`),
    '',
  ].join('\n');
}

/** The output of `cumetal COMMAND --help`. */
export function commandHelp(command: Command): string {
  const lines = [command.examples[0]!.line, '', `${capital(command.summary)}.`];
  lines.push('', 'Usage:', ...command.usage.map((u) => `  cumetal ${command.name} ${u}`), '', 'Options:', ...optionLines(command));
  if (command.details) lines.push('', command.details);
  lines.push('', 'Examples:', ...command.examples.flatMap((e) => [`  ${e.line}`, `      ${e.does}`]), '');
  return lines.join('\n');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const spelling = ({ name, short, value, isBare }: Option): string =>
  `${short ? `-${short}, ` : ''}--${name}${isBare ? `[=${value}]` : value ? ` ${value}` : ''}`;

const optionText = (o: Option): string => `${o.doc}${o.choices ? ` One of: ${o.choices.join(', ')}.` : ''}`;

function optionLines(command: Command): string[] {
  const options = [...command.options, ...commonOptions];
  const width = Math.max(...options.map((o) => spelling(o).length));
  return options.flatMap((o) => {
    const lines = wrap(optionText(o).replaceAll('`', ''), 110 - width);
    return lines.map((text, i) => `  ${(i === 0 ? spelling(o) : '').padEnd(width)}  ${text}`);
  });
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The text of the manual page `cumetal(1)`, in the macros of man(7). */
export function manualPage(version: string): string {
  const sections = commands.flatMap((command) => [
    `.SH CUMETAL ${command.name.toUpperCase()}`,
    `${roff(capital(command.summary))}.`,
    ...command.usage.flatMap((usage) => ['.PP', `.B cumetal ${command.name}`, roff(usage)]),
    ...[...command.options, ...commonOptions].flatMap((o) => ['.TP', `.B ${roff(spelling(o))}`, roff(optionText(o))]),
    ...(command.details ? ['.PP', '.nf', ...command.details.split('\n').map(roff), '.fi'] : []),
    ...command.examples.flatMap((e) => ['.PP', `${roff(capital(e.does))}:`, '.PP', '.RS', '.nf', roff(e.line), '.fi', '.RE']),
  ]);
  return `${[
    `.TH CUMETAL 1 "" "cumetal ${version}" "User Commands"`,
    '.SH NAME',
    'cumetal \\- compile NVIDIA PTX to Apple metallibs and run them',
    '.SH SYNOPSIS',
    '.B cumetal',
    '.I COMMAND',
    '[\\fIOPTION\\fR]...',
    '.SH DESCRIPTION',
    roff(purpose),
    '.SH COMMANDS',
    ...commands.flatMap((c) => ['.TP', `.B ${c.name}`, roff(c.summary)]),
    ...sections,
    '.SH EXIT STATUS',
    ...exitCodes.flatMap(([code, when]) => ['.TP', `.B ${code}`, roff(when)]),
    '.SH ENVIRONMENT',
    ...environment.flatMap(([name, does]) => ['.TP', `.B ${name}`, roff(does)]),
  ].join('\n')}\n`;
}

const environment: readonly (readonly [name: string, does: string])[] = [
  ['NO_COLOR', 'Disables color, if it is not empty.'],
  ['FORCE_COLOR', 'Enables color without a terminal; 0 disables it. NO_COLOR goes first.'],
  ['CUMETAL_CACHE_PATH, CUMETAL_CACHE_MAXSIZE, CUMETAL_CACHE_DISABLE', 'The compile cache; see cumetal cache.'],
  ['CUMETAL_HELPER', 'The process that compiles short files: 0 turns it off, 1 starts it at once; see cumetal helper.'],
  [
    'CUMETAL_NATIVE',
    'Whether the CPU device runs kernels as machine code: never, always, or auto, where launches take long; see docs/native.md.',
  ],
  ['CUMETAL_NATIVE_BITS', '256 keeps machine code to vectors of 256 bits and AVX2, on processors with AVX-512, too.'],
  ['CUMETAL_RUNTIME', 'node starts the built files under Node, whose engine may fuse multiply-adds; see docs/engine.md.'],
  ['CUMETAL_TUNING', 'The file of speeds that cumetal tune has measured.'],
  ['CUMETAL_TRACE', 'Prints the stack trace of an internal error.'],
];

/** A line of text in roff: no macro at its start, plain quotes and dashes. */
const roff = (text: string): string =>
  text
    .replace(/\\/g, '\\e')
    .replace(/`/g, '')
    .replace(/-/g, '\\-')
    .replace(/^([.'])/, '\\&$1');

/** The text of `docs/cli.md`. */
export function cliMarkdown(): string {
  return [
    '# The command line',
    '',
    '<!-- Derived from src/cli/commands.ts by `npm run generate`; a spec keeps it equal. -->',
    '',
    purpose,
    '',
    '| command | does |',
    '| --- | --- |',
    ...commands.map((c) => `| [\`${c.name}\`](#${c.name}) | ${c.summary} |`),
    '',
    'Results go to standard output, everything else to standard error.',
    'Color is used only on a terminal or with `FORCE_COLOR`, and never with `NO_COLOR`.',
    'The schemas of all outputs of `--json` are in the package, under `schemas/`.',
    '',
    '| exit code | when |',
    '| --- | --- |',
    ...exitCodes.map(([code, when]) => `| ${code} | ${when} |`),
    '',
    ...commands.flatMap(commandMarkdown),
  ].join('\n');
}

function commandMarkdown(command: Command): string[] {
  const fence = '```';
  const lines = [`## ${command.name}`, '', `${capital(command.summary)}.`, ''];
  lines.push(fence, ...command.usage.map((u) => `cumetal ${command.name} ${u}`), fence, '', '| option | meaning |', '| --- | --- |');
  for (const o of [...command.options, ...commonOptions]) lines.push(`| \`${cell(spelling(o))}\` | ${cell(optionText(o))} |`);
  if (command.details) lines.push('', fence, command.details, fence);
  lines.push('', ...command.examples.flatMap((e) => [`${capital(e.does)}:`, '', `${fence}sh`, e.line, fence, '']));
  return lines;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
