/**
 * Makes the programs that need nothing installed, one file for each system, and tries what can be tried here:
 * `npm run ship -- [SYSTEM]… [-o FOLDER]`. Systems are darwin-arm64, linux-x64 and linux-arm64, all of them where none is named.
 * What is for this machine is run; Linux on arm64 where QEMU's emulator of programs is; of a program for macOS the signature is checked.
 * The last line counts what failed, and the exit code is 1 where anything did.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { embeddedHeaders } from './embedded-headers.ts';
import { signatureFault } from './macho-signature.ts';
import { isSystem, otherBun, type System, systems } from './other-bun.ts';
import { hashOf, sourcesOf } from './sources.ts';
import { embeddedWorker } from './worker.ts';

const root = join(import.meta.dirname, '..');
const main = 'src/cli/start.ts';

/** Builds the program of a system at a path; throws with what the bundler says. */
async function build(system: System, outfile: string): Promise<void> {
  const id = hashOf(['package.json', ...sourcesOf(main), ...sourcesOf('src/device/cpu/workers/worker.ts')]);
  const { success, logs } = await Bun.build({
    entrypoints: [join(root, main)],
    target: 'bun',
    minify: true,
    bytecode: true,
    // Modules have no place on the user's machine: the bundler would write where they are on this one.
    define: { CUMETAL_BUILD: JSON.stringify(id), 'import.meta.url': 'process.execPath', __filename: 'process.execPath' },
    plugins: [embeddedHeaders, await embeddedWorker()],
    compile: { outfile, executablePath: otherBun(system), target: `bun-${system}` as never },
  });
  if (!success) throw new Error(logs.map(String).join('\n'));
}

/** The words before a program that have it run here; nothing where it cannot. */
function runnerOf(system: System): readonly string[] | undefined {
  if (system === `${process.platform}-${process.arch}`) return [];
  if (system !== 'linux-arm64' || process.platform !== 'linux' || !Bun.which('qemu-aarch64-static')) return undefined;
  // The loader and libraries of Debian's cross compiler.
  return ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'];
}

/** Runs the program in an empty folder without a home, as the first user would; gives what is wrong, and start-up in milliseconds. */
function tried(words: readonly string[], program: string): { readonly fault?: string; readonly startMs?: number } {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-ship-'));
  try {
    const run = (...given: string[]) => {
      const [command, ...rest] = [...words, program, ...given];
      const start = performance.now();
      const { status, stdout, stderr } = spawnSync(command!, rest, { cwd: folder, encoding: 'utf8', env: { CUMETAL_CACHE_DISABLE: '1' } });
      return { status, said: stdout + stderr, ms: performance.now() - start };
    };
    const version = run('--version');
    if (version.status !== 0) return { fault: `--version: ${version.said}` };
    const kernel = run('run', join(root, 'examples/vector_add.ptx'));
    if (kernel.status !== 0 || !kernel.said.includes('0.5 1.5 2.5 3.5')) return { fault: `run: ${kernel.said}` };
    const doctor = run('doctor');
    if (doctor.status !== 0) return { fault: `doctor: ${doctor.said}` };
    return { startMs: Math.min(...Array.from({ length: 5 }, () => run('--version').ms)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A line for people, and whether the program is sound as far as can be seen here. */
async function ship(system: System, folder: string): Promise<boolean> {
  const program = join(folder, `cumetal-${system}`);
  try {
    await build(system, program);
  } catch (error) {
    console.log(`${system}: not built: ${error instanceof Error ? error.message : error}`);
    return false;
  }
  const size = `${(statSync(program).size / 1e6).toFixed(1)} MB`;
  const runner = runnerOf(system);
  const { fault, startMs } = runner ? tried(runner, program) : { fault: staticFault(system, program), startMs: undefined };
  const how = runner === undefined ? 'not run here' : runner.length === 0 ? 'run' : 'run under emulation';
  const start = startMs === undefined ? '' : `, --version in ${startMs.toFixed(1)} ms`;
  console.log(`${system}: ${program}, ${size}${start}; ${fault ?? `${how}, sound`}`);
  return fault === undefined;
}

const staticFault = (system: System, program: string): string | undefined =>
  system.startsWith('darwin') ? signatureFault(new Uint8Array(readFileSync(program))) : undefined;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { output: { type: 'string', short: 'o', default: 'ship' } } });
const wrong = positionals.find((word) => !isSystem(word));
if (wrong !== undefined) {
  console.error(`ship: ${wrong} is none of ${Object.keys(systems).join(', ')}`);
  process.exit(2);
}
const folder = resolve(values.output);
mkdirSync(folder, { recursive: true });
process.chdir(root);
const chosen = (positionals.length > 0 ? positionals : Object.keys(systems)) as System[];
let failed = 0;
for (const system of chosen) if (!(await ship(system, folder))) failed++;
console.log(`${chosen.length - failed} built, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
