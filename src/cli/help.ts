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
    'Color is used only on a terminal, and never with `NO_COLOR`.',
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
