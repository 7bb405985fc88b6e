/**
 * Compiles a large module with several processes. Each reads the module, and checks and compiles its share of the entries, this one too. A share with
 * findings, or a process that ends otherwise, is no error: the module is then compiled by this process alone, which reports them in order, or checked
 * where the check alone has findings.
 */
import { spawn } from 'node:child_process';
import { availableParallelism, freemem } from 'node:os';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { type Compiled, type CompileOptions, checkSource, compile, compiledOfShares, compileShare, joined } from '../../compile/index.ts';
import { packedJob, type ShareAnswer, shareWord, unpackedAnswer } from './protocol.ts';

/** Memory that a process may take: most of what the largest modules of real programs take. */
const bytesOfProcess = 600 * 1024 * 1024;

/** Each process reads the whole module, so that more of them gain little. */
const maxDefault = 4;

/**
 * The number of processes for a large module: one for two cores, as far as there is memory. A process has threads of its own for compiling its
 * code, so that two of them on two cores take longer than one.
 */
export function defaultJobs(cores = availableParallelism(), free = freemem()): number {
  return Math.max(1, Math.min(Math.floor(cores / 2), maxDefault, Math.floor(free / bytesOfProcess)));
}

/** `compile` by so many processes. */
export async function compileInJobs(
  source: SourceFile,
  options: CompileOptions,
  diagnostics: Diagnostics,
  jobs: number,
): Promise<Compiled | undefined> {
  if (!programWords()) return compile(source, options, diagnostics);
  const others = Array.from({ length: jobs - 1 }, (_, i) => startShare(source, options, { number: i + 1, count: jobs }));
  const mine = compileShare(source, options, { number: 0, count: jobs });
  if (!mine) for (const { kill } of others) kill();
  const parts = [mine, ...(await Promise.all(others.map(({ share }) => share)))];
  const known = parts.filter((part) => part !== undefined);
  const all = known.length === jobs ? joined(known, mine!.of) : undefined;
  if (!all || all.length === 0) return compile(source, options, diagnostics);
  if (!known.every(({ isSilent }) => isSilent)) checkSource(source, options, diagnostics);
  return compiledOfShares(all, options);
}

/** The words behind the runtime that start this program again; undefined where another program uses it. */
function programWords(): string[] | undefined {
  const main = process.argv[1] ?? '';
  // A single-file program is its own main file.
  if (/^(\/\$bunfs|[A-Z]:\/~BUN)\//.test(main)) return [];
  return /(^|\/)cli\/(start\.ts|start-(built|fast|helped)\.js)$/.test(main.replaceAll('\\', '/')) ? [main] : undefined;
}

interface StartedShare {
  /** Undefined where the share is to be compiled with the others, and where the process failed. */
  readonly share: Promise<ShareAnswer | undefined>;
  readonly kill: () => void;
}

function startShare({ path, text }: SourceFile, options: CompileOptions, share: { number: number; count: number }): StartedShare {
  const child = spawn(process.execPath, [...process.execArgv, ...programWords()!, shareWord], { stdio: ['pipe', 'pipe', 'ignore'] });
  const { sha256: _, afterPass: __, ...plain } = options;
  const answer = new Promise<ShareAnswer | undefined>((resolve) => {
    const chunks: Uint8Array[] = [];
    child.stdout.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => resolve(code === 0 ? unpackedAnswer(Buffer.concat(chunks)) : undefined));
    // A process that has ended does not read.
    child.stdin.on('error', () => {});
    child.stdin.end(packedJob({ path, text, options: plain, share }));
  });
  return { share: answer, kill: () => void child.kill() };
}
