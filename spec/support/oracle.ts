/** Runs of the independent AIR oracle, which shares no code with the product. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { oracleFolder } from './need.ts';

/** The programs that the oracle is made of and calls. */
export const oracleTools = ['oracle', 'python3', 'gcc', 'llvm-dis-14', 'llvm-as-14', 'llvm-link-14', 'opt-14', 'llc-14'];

export interface OracleLaunch {
  readonly kernel: string;
  readonly grid: readonly number[];
  readonly block: readonly number[];
  /** By parameter: the bytes of a buffer or of a value. */
  readonly args: readonly Uint8Array[];
  /** Dynamic threadgroup memory, where the kernel takes any. */
  readonly sharedBytes: number | undefined;
  /** The order of the lanes: `fwd`, `rev`. */
  readonly order: string;
}

/** What one run of the oracle said and left. */
export interface OracleRun {
  readonly status: number | null;
  readonly complaints: string;
  /** What each argument holds afterwards, where the run ended well. */
  readonly after: readonly Uint8Array[];
}

/** Launches a kernel of a metallib; files are kept in `folder`. Element types are but words there: `u8` says bytes. */
export function launchOracle(
  folder: string,
  metallib: Uint8Array,
  { kernel, grid, block, args, sharedBytes, order }: OracleLaunch,
): OracleRun {
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('kernel.metallib'), metallib);
  const words = [at('kernel.metallib'), kernel, '--grid', grid.join(','), '--block', block.join(',')];
  for (const [index, bytes] of args.entries()) {
    writeFileSync(at(`in${index}`), bytes);
    words.push('--arg', `buf:u8:${at(`in${index}`)}`, '--out', `${index}=${at(`out${index}`)}`);
  }
  if (sharedBytes !== undefined) words.push('--arg', `tg:${sharedBytes}`);
  const { status, stderr } = spawnSync('python3', [join(oracleFolder, 'air_cpu.py'), ...words, '--order', order, '--limit', '30'], {
    encoding: 'utf8',
    env: { ...process.env, AIR_ORACLE_CACHE: at('cache'), PYTHONDONTWRITEBYTECODE: '1' },
    timeout: 60_000,
  });
  const after = status === 0 ? args.map((_, index) => new Uint8Array(readFileSync(at(`out${index}`)))) : [];
  return { status, complaints: stderr.replace(/^threadgroups .*\n/gm, ''), after };
}
