/** As `start-fast.ts`, where `CUMETAL_HELPER=1`: the program is loaded only if no helper does the work. */
import { bytecodeName } from './startup/bytecode-name.ts';

if (process.argv[1]!.includes(`/${bytecodeName()}/`)) void run();
else void import(process.argv[1]!.replace(/\/bytecode\/[^/]+\/cli\/start-helped\.js$/, '/cli/start-built.js'));

async function run(): Promise<void> {
  const code = await (await import('./helper/client.ts')).askHelper(process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
  else await (await import('./program.ts')).run();
}
