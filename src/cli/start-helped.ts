/** As `start-fast.ts`, where a helper may do the work: the program is loaded only if none does. */
import { mayCount } from './helper/automatic.ts';
import { bytecodeName } from './startup/bytecode-name.ts';

if (process.argv[1]!.includes(`/${bytecodeName()}/`)) void run();
else void import(process.argv[1]!.replace(/\/bytecode\/[^/]+\/cli\/start-helped\.js$/, '/cli/start-built.js'));

async function run(): Promise<void> {
  const words = process.argv.slice(2);
  const code = await (await import('./helper/client.ts')).askHelper(words);
  if (code !== undefined) process.exitCode = code;
  else {
    await (await import('./program.ts')).run();
    if (mayCount(words)) (await import('./helper/habit.ts')).noteOwnCommand(words);
  }
}
