/**
 * What `bin/cumetal` starts once there is bytecode. The folder of this file is named after a version of Bun; under another one the built files
 * run, which have new bytecode made.
 */
import { bytecodeName } from './startup/bytecode-name.ts';

if (process.argv[1]!.includes(`/${bytecodeName()}/`)) void run();
else void import(process.argv[1]!.replace(/\/bytecode\/[^/]+\/cli\/start-fast\.js$/, '/cli/start-built.js'));

async function run(): Promise<void> {
  const code = process.env.CUMETAL_HELPER === '1' ? await (await import('./helper/client.ts')).askHelper(process.argv.slice(2)) : undefined;
  if (code !== undefined) process.exitCode = code;
  else await (await import('./program.ts')).run();
}
