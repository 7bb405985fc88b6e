/** `cumetal exec` and `cumetal record`: run a program of the machine, whose calls of CUDA a second process of this command line serves. */
import { existsSync, readFileSync } from 'node:fs';
import { machine } from 'node:os';
import { resolve } from 'node:path';
import { Diagnostics } from '../../base/diagnostic.ts';
import { buildShim, countLaunches, programFacts, type Supervision, shimSource } from '../../exec/index.ts';
import { type Context, lastValue } from '../command/command.ts';
import { isSingleFile } from '../command/own-place.ts';
import { usageError } from '../command/usage-error.ts';
import { readRequest } from '../run/options.ts';
import type { ExitCode } from '../terminal/exit.ts';
import { runProgram } from './program.ts';

/** Set for the process that serves. */
const serving = 'CUMETAL_EXEC_SERVE';

/** Runs the command. The result is the program's exit code. */
export async function execute(context: Context): Promise<ExitCode> {
  const { parsed, terminal } = context;
  const request = readRequest(parsed, new Diagnostics());
  if (typeof request === 'string') return usageError(request, `cumetal ${context.command.name} --help`, terminal);
  const isRecording = context.command.name === 'record';
  const limit = lastValue(parsed, 'limit') ?? '100';
  if (!/^[1-9]\d{0,8}$/.test(limit))
    return usageError(`invalid value \`${limit}\` for \`--limit\`: expected 1 or more`, 'cumetal record --help', terminal);
  if (terminal.env[serving] !== undefined) return (await import('./serve.ts')).serve(context);
  if (!isRecording) return (await supervise(context)) as ExitCode;
  const folder = resolve(lastValue(parsed, 'output') ?? 'launches');
  const before = countLaunches(folder);
  if (before > 0) return usageError(`\`${folder}\` has launches already`, 'cumetal record --help', terminal);
  const options = new Map([...parsed.options, ['output', [folder]] as const, ['limit', [limit]] as const]);
  const isOnGpu = lastValue(parsed, 'device') !== 'cpu' && existsSync('/dev/nvidiactl');
  const run = isOnGpu || lastValue(parsed, 'device') === 'cuda' ? (await import('./record-gpu.ts')).recordOnGpu : supervise;
  const code = await run({ ...context, parsed: { ...parsed, options } });
  const count = countLaunches(folder);
  terminal.err(`note: ${count} ${count === 1 ? 'launch' : 'launches'} recorded in ${folder}\n`);
  return code as ExitCode;
}

const supervise = (context: Context): Promise<number> =>
  runProgram(context, {
    shim({ path, folder, compiler }, diagnostics) {
      const wanted = checkProgram(path, diagnostics);
      return wanted && buildShim(shimSource(wanted), folder, compiler);
    },
    more: { server: serverOf(context) },
  });

/** The process that serves: this command line again. */
const serverOf = ({ parsed, terminal, command }: Context): Supervision['server'] => ({
  words: [...ownWords(), command.name, ...optionsOf(parsed.options), '--', parsed.positionals[0]!],
  env: { ...terminal.env, [serving]: '1' },
});

const optionsOf = (options: Context['parsed']['options']): string[] =>
  [...options].flatMap(([name, values]) => values.map((value) => (value === true ? `--${name}` : `--${name}=${value}`)));

/** The words that start this command line. A single-file program has no file of its own to name. */
function ownWords(): string[] {
  const [, main = ''] = process.argv;
  return isSingleFile() ? [process.execPath] : [process.execPath, main];
}

/** e_machine by the machine's name. */
const machines: Readonly<Record<string, number>> = { x86_64: 62, aarch64: 183 };

/** The functions of CUDA that a program takes from libraries; undefined after reporting CM4093. */
function checkProgram(path: string, diagnostics: Diagnostics): readonly string[] | undefined {
  const refuse = (why: string, help?: string): undefined => void diagnostics.report('CM4093', { path, why }, help ? { help } : {});
  if (process.platform !== 'linux') return refuse('this needs Linux');
  const facts = programFacts(new Uint8Array(readFileSync(path)));
  if (facts.kind === 'script') return [];
  if (facts.kind === 'other') return refuse('it is neither a 64-bit ELF program nor a script');
  if (facts.machine !== machines[machine()]) return refuse('it is for another processor');
  if (!facts.isDynamic) return refuse('it is linked statically, so that no library can be loaded with it', 'link it without `-static`');
  const isServed = facts.hasRuntime || facts.wanted.length > 0 || !facts.hasDeviceCode;
  if (isServed) return facts.wanted;
  return refuse(
    'it has NVIDIA’s runtime inside, and no symbols by which it could be replaced',
    'relink with `-cudart shared`, or leave the symbols in it',
  );
}
