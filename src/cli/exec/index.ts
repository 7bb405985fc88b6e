/** `cumetal exec` and `cumetal record`: run a program of the machine, whose calls of CUDA a second process of this command line serves. */
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { machine, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { Diagnostics } from '../../base/diagnostic.ts';
import { buildShim, countLaunches, programFacts, removeAbandoned, type Shim, shimSource, superviseProgram } from '../../exec/index.ts';
import { type Context, lastValue } from '../command/command.ts';
import { storeOf } from '../command/compile-cache.ts';
import { usageError } from '../command/usage-error.ts';
import type { ExitCode } from '../terminal/exit.ts';
import { writeDiagnostics } from '../terminal/render.ts';

/** Set for the process that serves. */
const serving = 'CUMETAL_EXEC_SERVE';

/** Exit codes of programs that cannot be run. Source: POSIX, Shell Command Language, 2.8.2. */
const [cannotRun, notFound] = [126, 127];

/** Runs the command. The result is the program's exit code. */
export async function execute(context: Context): Promise<ExitCode> {
  const { parsed, terminal } = context;
  const threads = lastValue(parsed, 'threads');
  if (threads !== undefined && !/^[1-9]\d{0,2}$/.test(threads))
    return usageError(
      `invalid value \`${threads}\` for \`--threads\`: expected 1 to 999`,
      `cumetal ${context.command.name} --help`,
      terminal,
    );
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
  const code = await supervise({ ...context, parsed: { ...parsed, options } });
  const count = countLaunches(folder);
  terminal.err(`note: ${count} ${count === 1 ? 'launch' : 'launches'} recorded in ${folder}\n`);
  return code as ExitCode;
}

async function supervise({ parsed, terminal, command }: Context): Promise<number> {
  const diagnostics = new Diagnostics();
  const [name = ''] = parsed.positionals;
  const path = findProgram(name, terminal.env.PATH ?? '');
  if (typeof path === 'number') {
    terminal.err(`cumetal ${command.name}: ${name}: ${path === notFound ? 'not found' : 'permission denied'}\n`);
    return path;
  }
  const wanted = checkProgram(path, diagnostics);
  const place = shimPlace(terminal.env);
  try {
    const shim = wanted && buildShim(shimSource(wanted), place.folder, terminal.env.CC || 'cc');
    if (shim && !('why' in shim)) return await start({ shim, path }, { parsed, terminal, command });
    if (shim) diagnostics.report('CM4094', shim);
    writeDiagnostics(diagnostics.list, terminal);
    return cannotRun;
  } finally {
    place.remove();
  }
}

/** Starts a program, and waits for its end. */
async function start(
  { shim, path }: { readonly shim: Shim; readonly path: string },
  { parsed, terminal, command }: Context,
): Promise<number> {
  const [name = '', ...args] = parsed.positionals;
  removeAbandoned(tmpdir());
  const result = await superviseProgram({
    path,
    args: [name, ...args],
    env: terminal.env,
    shim,
    temporary: tmpdir(),
    server: [...ownWords(), command.name, ...optionsOf(parsed.options), '--', name],
    serverEnv: { ...terminal.env, [serving]: '1' },
  });
  if (typeof result === 'number') return result;
  terminal.err(`cumetal ${command.name}: ${name}: ${result.message}\n`);
  return cannotRun;
}

const optionsOf = (options: Context['parsed']['options']): string[] =>
  [...options].flatMap(([name, values]) => values.map((value) => (value === true ? `--${name}` : `--${name}=${value}`)));

/** The words that start this command line. A single-file program has no file of its own to name. */
function ownWords(): string[] {
  const [, main = ''] = process.argv;
  return main.startsWith('/$bunfs/') ? [process.execPath] : [process.execPath, main];
}

/** The path of a program as `execvp` finds it; the exit code if there is none. */
function findProgram(name: string, path: string): string | number {
  const places = name.includes('/') ? [name] : path.split(delimiter).map((folder) => join(folder || '.', name));
  let result = notFound;
  for (const place of places) {
    if (!statSync(place, { throwIfNoEntry: false })?.isFile()) continue;
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      result = cannotRun;
    }
  }
  return result;
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

/** The cache; a folder for this run alone if there is none, because what lies in a folder of others would run with the rights of the user. */
function shimPlace(env: Context['terminal']['env']): { readonly folder: string; remove(): void } {
  const found = storeOf({ env });
  if ('folder' in found) return { folder: found.folder, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-shim-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
