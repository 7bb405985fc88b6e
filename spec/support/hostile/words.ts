/** Command lines with wrong words, and everything that reads words before a command starts. */
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { namedFiles } from '../../../src/cli/check/files.ts';
import { parseArguments, positionalCountProblem } from '../../../src/cli/command/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { readDevices, readTolerance } from '../../../src/cli/diff/options.ts';
import { readRequest } from '../../../src/cli/run/options.ts';
import { readOwnLaunch } from '../../../src/cli/run/own-launch.ts';
import { renderDiagnostic } from '../../../src/cli/terminal/render.ts';
import { imageWords } from '../../../src/ptx/container/index.ts';
import { explainForms } from '../../../src/ptx/index.ts';
import { below, pick, type Random } from './ptx.ts';

/** The words of a line are separated by NUL, which no word has. */
const separator = '\0';

/** The examples of all commands, and lines with every option. */
export function exampleLines(): string[] {
  const examples = commands.flatMap(({ examples: own }) => own.map(({ line }) => line.split(' ').slice(1).join(separator)));
  const options = commands.map(({ name, options: own }) =>
    [
      name,
      'k.ptx',
      ...own.flatMap((option) => [`--${option.name}`, ...(option.value && !option.isBare ? [option.choices?.[0] ?? '1'] : [])]),
    ].join(separator),
  );
  return [...examples, ...options];
}

const values = [
  '',
  '-',
  '--',
  '---',
  '=',
  '-1',
  '0',
  '1e99',
  '99999999999999999999',
  '0x',
  'nan',
  'NaN,,',
  ',',
  ',,,',
  '1,2,3,4',
  'f32:',
  'f32:0',
  'f32:1x',
  `f32:${'9x'.repeat(200)}9`,
  'f32:4=rand(',
  'f32@',
  'bytes@',
  `bytes@a${'+1=&1'.repeat(2000)}x`,
  '0=',
  '0=a:b:c:',
  '0=a:1:1:1',
  'rand:99999999999',
  '0,0',
  '0.0.0,1.1.1',
  '0=true,false',
  'a=1'.repeat(50),
  '[z-a]*',
  '{a,{b',
  '**/**/**',
  '\\',
  '(?',
  '\u001b[2J',
  '\ud800',
  'x'.repeat(3000),
  'CM',
  'fma.',
  '.',
  '..',
  '__proto__',
  'constructor',
  'toString',
  '--constructor',
  '--__proto__=1',
  'cpu:threads=0',
  'cpu:::',
  'sm_',
  '\u202e',
];

/** A line with one to four wrong words. */
export function damagedWords(line: string, next: Random): string {
  let words = line.split(separator);
  for (let times = 1 + below(next, 4); times > 0; times--) {
    const at = below(next, words.length + 1);
    const kind = next();
    if (kind < 0.3) words = [...words.slice(0, at), pick(next, values), ...words.slice(at)];
    else if (kind < 0.6) words = words.map((word, i) => (i === at ? pick(next, values) : word));
    else if (kind < 0.75) words = words.filter((_, i) => i !== at);
    else if (kind < 0.85) words = [...words, ...words.slice(at)];
    else words = words.map((word, i) => (i === at ? word.slice(0, below(next, word.length + 1)) + pick(next, values) : word));
  }
  return words.slice(0, 400).join(separator);
}

/** Reads a line as the command and its parts do, without running it; how far it came. */
export function readWords(line: string): string {
  const [name, ...argv] = line.split(separator);
  const command = commands.find((each) => each.name === name) ?? commands[0]!;
  readLines(argv);
  const parsed = parseArguments(command, argv);
  if (typeof parsed === 'string' || positionalCountProblem(command, parsed) !== undefined) return 'refused';
  const diagnostics = new Diagnostics();
  const request = readRequest(parsed, diagnostics);
  readDevices(parsed);
  readTolerance(parsed);
  for (const word of parsed.positionals) {
    imageWords(word);
    explainForms(word);
  }
  // Names of no folder, so that nothing is read from the disk.
  if (command.name === 'check') namedFiles(parsed.positionals.map((word) => `/nonexistent-folder/${word}`));
  return typeof request === 'string' || diagnostics.hasErrors ? 'refused' : 'read';
}

/** The same words as launch lines of a file. */
function readLines(argv: readonly string[]): void {
  const quoted = argv.map((word) => `'${word.replaceAll(/['\n\r]/g, '')}'`).join(' ');
  const diagnostics = new Diagnostics();
  const launch = readOwnLaunch(
    new SourceFile('case/k.ptx', `//! cumetal: ${quoted}\n`),
    commands.find((each) => each.name === 'run')!,
    {},
    diagnostics,
  );
  if (!launch && !diagnostics.hasErrors) throw new Error('launch lines were refused without a diagnostic');
  for (const arg of launch?.plan.args ?? []) if ('path' in arg && !arg.path.startsWith('case/')) throw new Error(`reaches ${arg.path}`);
  for (const each of diagnostics.list) renderDiagnostic(each, true);
}
