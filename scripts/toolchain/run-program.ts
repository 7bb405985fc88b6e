/**
 * Runs a program of `build-program.ts` on the CPU device, in Bun or, bundled, in Node:
 *
 *     bun scripts/toolchain/run-program.ts PROGRAM.wasm ARGUMENT…
 *     bun build --target node --outfile out/run.mjs scripts/toolchain/run-program.ts && node out/run.mjs PROGRAM.wasm ARGUMENT…
 */
import { readFileSync, writeSync } from 'node:fs';
import { loadSource, warpSynchronous } from '../../src/api/load.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openDevice } from '../../src/device/index.ts';
import { machineHost, runProgram } from '../../src/program/index.ts';

const [file = '', ...args] = process.argv.slice(2);
const opening = new Diagnostics();
const device = openDevice('cpu', opening);
if (!device) throw new Error(opening.list.map(({ message }) => message).join('\n'));
const host = machineHost({ args: [file, ...args], folders: process.env.CUMETAL_FOLDERS?.split(':') ?? ['.'] });
const code = runProgram(new Uint8Array(readFileSync(file)), {
  device,
  host,
  load: (ptx, diagnostics) => loadSource(device, ptx, { compile: { target: 'cpu' }, ...warpSynchronous(ptx) }, diagnostics),
  report({ list }) {
    for (const { severity, code, message, help, notes } of list)
      if (severity === 'error')
        writeSync(2, [`error[${code}]: ${message}`, ...notes, ...(help ? [`help: ${help}`] : [])].join('\n  ').concat('\n'));
  },
  print: (text) => host.writeOutput(1, text),
  now: () => performance.now(),
});
process.exit(code ?? 70);
