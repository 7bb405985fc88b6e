/**
 * `cumetal run` of a whole program: `.cu`, C++ and C files, which are compiled and linked, or a file that `cumetal cc` linked. Its streams and
 * its exit code are those of this process.
 */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Device } from '../../device/device.ts';
import { openDevice } from '../../device/index.ts';
import { machineHost, runProgram } from '../../program/index.ts';
import { allValues, type Context, has, lastValue } from '../command/command.ts';
import { modeNames } from '../command/options.ts';
import { usageError } from '../command/usage-error.ts';
import { knownProgram, linkWordsOf } from '../cuda/build.ts';
import { compileInstead } from '../cuda/children.ts';
import { Compilations, wordsOf } from '../cuda/compile.ts';
import { findProgramToolchain } from '../cuda/find.ts';
import { moduleIn } from '../cuda/program-file.ts';
import { exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { type RunRequest, readRequest } from './options.ts';
import { deviceHalf } from './program-device.ts';
import { ProgramInstruments } from './program-instruments.ts';
import { compileAtRunTime } from './run-time-compiler.ts';

/** Options that say how a program is compiled and how its kernels run. Others are of one launch. */
const allowed = new Set([
  ...['device', 'engine', 'fma', 'denormals', 'lanes', 'threads', 'timeout', 'no-cache', 'schedule', 'sanitize', 'quiet'],
  ...['include', 'define', 'std', 'library', 'library-folder', 'rdc', 'optimize', 'compiler', 'target', ...modeNames],
  ...['profile', 'roofline', 'trace-thread', 'trace-launch', 'trace-limit', 'trace-out'],
]);

/** The exit code of a program whose output has no reader: that which a shell reports where SIGPIPE ended it. */
const closedOutputCode = 141;

/** Runs the program of `files`, or the linked module. Returns its exit code, or one of `exit` where it did not start. */
export function runWhole(context: Context, files: readonly string[], module?: Uint8Array): number {
  const { terminal, parsed } = context;
  const diagnostics = new Diagnostics();
  const request = requestOf(context, diagnostics);
  if (typeof request === 'string') return usageError(request, 'cumetal run --help', terminal);
  const linked = module ?? built(context, files);
  writeDiagnostics(diagnostics.sorted(), terminal);
  if (typeof linked === 'number') return linked;
  const opening = new Diagnostics();
  const device = openDevice(request.device, opening, request.engine);
  writeDiagnostics(opening.list, terminal);
  if (!device) return exit.noDevice;
  try {
    return runOn(device, linked, request, {
      terminal,
      args: [files[0]!, ...(parsed.rest ?? [])],
      isCached: !has(parsed, 'no-cache'),
      traceOut: lastValue(parsed, 'trace-out'),
    });
  } finally {
    device.close();
  }
}

function requestOf({ parsed }: Context, diagnostics: Diagnostics): RunRequest | string {
  const wrong = [...parsed.options.keys()].find((name) => !allowed.has(name));
  if (wrong !== undefined) return `\`--${wrong}\` is for one launch of a kernel, and this is a whole program`;
  const compiler = lastValue(parsed, 'compiler');
  if (compiler === 'nvcc') return '`--compiler nvcc` compiles kernels, and a whole program is compiled by `clang` or `wasm`';
  const profile = lastValue(parsed, 'profile');
  if (profile?.endsWith('.html')) return `\`--profile=${profile}\` is for one kernel: a whole program has a table, or a \`.json\` file`;
  return readRequest(parsed, diagnostics);
}

/** The program from the cache, or from a process that compiles it. */
function built({ terminal, parsed }: Context, files: readonly string[]): Uint8Array | number {
  const toolchain = findProgramToolchain(terminal, files[0]!, lastValue(parsed, 'compiler'));
  if (!toolchain) return exit.usage;
  const words = {
    files: files.map((path) => ({ path })),
    folders: allValues(parsed, 'include'),
    defines: allValues(parsed, 'define'),
    undefines: [],
    standard: lastValue(parsed, 'std'),
    isRelocatable: has(parsed, 'rdc'),
    libraryFolders: allValues(parsed, 'library-folder'),
    libraries: allValues(parsed, 'library'),
  };
  const isCached = !has(parsed, 'no-cache');
  const known = isCached ? knownProgram(new Compilations(toolchain, terminal), words) : undefined;
  if (known) return known;
  const env = { ...terminal.env, CUMETAL_COMPILER: toolchain.installed?.command };
  const made = compileInstead([...wordsOf(words), ...linkWordsOf(words), ...files], { env }, isCached);
  return typeof made === 'number' ? made : (moduleIn(made) ?? exit.failed);
}

interface Surroundings {
  readonly terminal: Terminal;
  /** The name of the program, then its arguments. */
  readonly args: readonly string[];
  readonly isCached: boolean;
  /** The file of the trace. */
  readonly traceOut: string | undefined;
}

/** The environment without the settings of the engine, which `bin/cumetal` makes and a program has no use for. */
const withoutSettings = (env: Terminal['env']): Terminal['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BUN_JSC_')));

function runOn(device: Device, module: Uint8Array, request: RunRequest, { terminal, args, isCached, traceOut }: Surroundings): number {
  const host = machineHost({ args, env: withoutSettings(terminal.env), folders: ['/'], closed: () => process.exit(closedOutputCode) });
  const observed = request.profile || request.trace ? new ProgramInstruments(request) : undefined;
  const half = deviceHalf(device, request, { terminal, isCached, observed, write: ({ list }) => writeDiagnostics(list, terminal) });
  const { hasFindings, ...hooks } = half;
  const code = runProgram(module, {
    ...hooks,
    host,
    print: (text) => void host.writeOutput(1, text),
    compile: (source) => compileAtRunTime(source, terminal),
    now: () => performance.now(),
  });
  const isWritten = observed?.finish(terminal, traceOut) ?? true;
  if (code === undefined || (code === 0 && !isWritten)) return exit.failed;
  return code === 0 && hasFindings() ? exit.failed : code;
}
