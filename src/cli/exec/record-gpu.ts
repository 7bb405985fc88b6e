/** `cumetal record` on an NVIDIA GPU: the program runs on its driver, and a log of it becomes launch files. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSource } from '../../api/load.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { type Device, openDevice } from '../../device/index.ts';
import { buildRecorder, completeLaunch, type LoadKernel, ProgramCode, readDriverLog, writeLaunch } from '../../exec/index.ts';
import { type Context, lastValue } from '../command/command.ts';
import { findProgram, runProgram } from './program.ts';

/** Runs the program, and writes the launches of it and of the processes that it starts. */
export async function recordOnGpu(context: Context): Promise<number> {
  const { parsed, terminal } = context;
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-record-'));
  try {
    const path = findProgram(parsed.positionals[0]!, terminal.env.PATH ?? '');
    const code = new ProgramCode();
    const program = typeof path === 'string' ? realpathSync(path) : '';
    addFile(program, code);
    writeFileSync(join(folder, 'variables'), `${code.variables().join('\0')}\0`);
    const kernel = lastValue(parsed, 'kernel');
    const result = await runProgram(context, {
      shim: ({ folder: kept, compiler }) => buildRecorder(kept, compiler),
      more: {
        env: {
          ...terminal.env,
          CUMETAL_RECORD: join(folder, 'log'),
          CUMETAL_RECORD_LIMIT: lastValue(parsed, 'limit')!,
          CUMETAL_RECORD_VARIABLES: join(folder, 'variables'),
          ...(kernel === undefined ? {} : { CUMETAL_RECORD_KERNEL: kernel }),
        },
      },
    });
    for (const name of readdirSync(folder).filter((each) => each.startsWith('log.')))
      convert(join(folder, name), { code, program }, context);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The largest file whose code is read: NVIDIA's own libraries have gigabytes of it, and hardly any PTX. */
const maxFileBytes = 256 * 1024 * 1024;

/** Adds the code of a file, if there is such a file. */
function addFile(path: string, code: ProgramCode): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY;
  if (size <= maxFileBytes) code.add(new Uint8Array(readFileSync(path)));
}

interface Code {
  readonly code: ProgramCode;
  /** The path of the program that was started. */
  readonly program: string;
}

/** Writes the launches of a log. */
function convert(path: string, { code, program }: Code, { parsed, terminal }: Context): void {
  const log = readDriverLog(new Uint8Array(readFileSync(path)));
  for (const image of log.images) code.add(image);
  for (const object of log.objects) if (object !== program) addFile(object, code);
  const opened = openDevice('cpu', new Diagnostics(), { threads: 1 });
  if (!opened) return;
  const target = { path: lastValue(parsed, 'output')!, device: log.device };
  const load = loaderOf(opened);
  for (const launch of log.launches) {
    const complete = completeLaunch(launch, code, load);
    if (typeof complete === 'string') terminal.err(`cumetal record: launch ${launch.number} is not recorded: ${complete}\n`);
    else writeLaunch(target, complete, launch.number);
  }
  opened.close();
}

const loaderOf =
  (device: Device): LoadKernel =>
  (ptx, kernel) =>
    loadSource(device, ptx, { kernels: [kernel] }, new Diagnostics());
