/** The process beside a program: it has the device, and answers the program's calls of CUDA. */
import { readSync, writeSync } from 'node:fs';
import { Diagnostics } from '../../base/diagnostic.ts';
import { printableText } from '../../base/printable.ts';
import { openDevice } from '../../device/index.ts';
import { noteFindings, Recorder, serveProgram, writeLaunch } from '../../exec/index.ts';
import { type Context, has, lastValue } from '../command/command.ts';
import { readRequest } from '../run/options.ts';
import { deviceHalf } from '../run/program-device.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { renderAll } from '../terminal/render.ts';

/** Serves the program that standard input names, by the folder of its pipes and its process number. */
export function serve({ parsed, terminal }: Context): ExitCode {
  const [folder = '', pid = ''] = readLines();
  if (folder === '') return exit.ok;
  const opening = new Diagnostics();
  const request = readRequest(parsed, opening);
  const device = typeof request === 'string' ? undefined : openDevice('cpu', opening, request.engine);
  if (!device || typeof request === 'string') {
    write(opening);
    return exit.noDevice;
  }
  const recorder = recorderOf(parsed, device.info.name);
  const { hasFindings, report, ...half } = deviceHalf(device, request, { terminal, isCached: !has(parsed, 'no-cache'), write });
  serveProgram({
    ...half,
    ...(recorder ? { recorder } : {}),
    folder,
    pid: Number(pid),
    report(diagnostics) {
      report(diagnostics);
      if (hasFindings()) noteFindings(folder);
    },
    now: () => performance.now(),
  });
  // Nothing that the device still does is of use to anybody.
  process.exit(exit.ok);
}

/** The recorder of `cumetal record`. Launches are numbered by process, of which most programs have one. */
function recorderOf(parsed: Context['parsed'], device: string): Recorder | undefined {
  const path = lastValue(parsed, 'output');
  if (path === undefined) return undefined;
  return new Recorder({
    limit: Number(lastValue(parsed, 'limit')),
    kernel: lastValue(parsed, 'kernel'),
    write(launch, number) {
      try {
        writeLaunch({ path, device }, launch, number);
      } catch (error) {
        writeSync(2, `cumetal record: launch ${number} is not recorded: ${error instanceof Error ? error.message : error}\n`);
      }
    },
  });
}

/** Whole standard input, in lines. */
function readLines(): string[] {
  const bytes = new Uint8Array(4096);
  let at = 0;
  for (;;) {
    const done = readSync(0, bytes, at, bytes.length - at, null);
    if (done === 0) return new TextDecoder().decode(bytes.subarray(0, at)).split('\n');
    at += done;
  }
}

/** Reports that were written: a program that goes on after an error meets it again with every launch. */
const written = new Set<string>();

/** Writes at once, and each text once: this process may be ended at any time. */
function write({ list }: Diagnostics): void {
  const errors = list.filter(({ severity }) => severity === 'error');
  const text = errors.length > 0 ? printableText(renderAll(errors)) : '';
  if (text === '' || written.has(text)) return;
  written.add(text);
  writeSync(2, text);
}
