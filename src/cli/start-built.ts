/**
 * Starts the built files of the package, which `bin/cumetal` calls. Under Bun the program runs from bytecode if there is some; otherwise a
 * background process makes it for the next run.
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytecodeProgram, wantsBytecode } from './startup/bytecode-place.ts';

/** Of `program.ts`. */
type Program = typeof import('./program.ts');

const dist = dirname(dirname(fileURLToPath(import.meta.url)));
const isBun = typeof Bun !== 'undefined';
const fast = isBun ? bytecodeProgram(dist) : undefined;
const { run }: Program = fast ? await import(fast) : await import('./program.ts');
await run();
if (isBun && !fast && wantsBytecode(dist)) await startMaking();

/** Starts `make-bytecode.ts` as a process that outlives this one and writes to no stream of it. */
async function startMaking(): Promise<void> {
  const { spawn } = await import('node:child_process');
  const maker = fileURLToPath(new URL('./startup/make-bytecode.js', import.meta.url));
  spawn(process.execPath, [maker, dist], { detached: true, stdio: 'ignore', cwd: dist }).unref();
}
