/**
 * What `bin/cumetal` starts once there is bytecode. The folder of this file is named after a version of Bun; under another one the built files
 * run, which have new bytecode made.
 */
import { mayCount } from './helper/automatic.ts';
import { run } from './program.ts';
import { bytecodeName } from './startup/bytecode-name.ts';

if (process.argv[1]!.includes(`/${bytecodeName()}/`)) void runAndNote();
else void import(process.argv[1]!.replace(/\/bytecode\/[^/]+\/cli\/start-fast\.js$/, '/cli/start-built.js'));

async function runAndNote(): Promise<void> {
  await run();
  const words = process.argv.slice(2);
  if (mayCount(words)) (await import('./helper/habit.ts')).noteOwnCommand(words);
}
