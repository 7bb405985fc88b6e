/** The process that compiles a share: a job on standard input, entries on standard output; nothing where the share is to be compiled with the others. */
import { SourceFile } from '../../base/source.ts';
import { compileShare } from '../../compile/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { packedAnswer, unpackedJob } from './protocol.ts';

/** Compiles the share; the exit code is 0 if the entries were written. */
export async function serveShare(): Promise<ExitCode> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const job = unpackedJob(Buffer.concat(chunks));
  if (!job) return exit.failed;
  const source = new SourceFile(job.path, job.text);
  const made = compileShare(source, job.options, job.share);
  if (!made) return exit.doesNotCompile;
  const bytes = packedAnswer(made);
  await new Promise<void>((resolve) => void process.stdout.write(bytes, () => resolve()));
  return exit.ok;
}
