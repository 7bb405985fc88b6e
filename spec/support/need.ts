/**
 * Tests that need something which the product does not: a tool that checks it. Where that is absent the test is a skip that is
 * counted and named; in CI, where `.ci/run` installs the tools, it fails instead.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import { findPackage } from '../../src/toolchain/index.ts';

/**
 * What a test needs: a program on the PATH, `oracle`, the folder with the independent AIR oracle, `arm64-bun`, `fake-metal`, `linux-cc`,
 * `full-device`, a file that takes nothing, `sysroot`, the libraries of host code, `cuda-libraries`, those of CUDA, `wasm-clang`, the compiler of CUDA programs, or `cccl`, the headers of NVIDIA's CUB and Thrust.
 */
export type Need = string;

/** What CI may lack: NVIDIA's tools, a second browser, an emulator with an arm64 Bun to run in it, and a fake Metal on a Mac, which has a real one. */
const optional = new Set(['nvcc', 'ptxas', 'firefox-esr', 'qemu-aarch64-static', 'aarch64-linux-gnu-gcc', 'arm64-bun']);
if (process.platform !== 'linux') for (const name of ['fake-metal', 'full-device', 'linux-cc']) optional.add(name);

/** The folder of the AIR oracle; `CUMETAL_ORACLE` names another. */
export const oracleFolder = process.env.CUMETAL_ORACLE || join(import.meta.dirname, '../oracle/air');

// Files of other people are only where somebody has some, and the libraries of host code where `npm run sysroot` has built them.
for (const name of ['real-metallibs', 'sysroot', 'cuda-libraries', 'cccl', 'wasm-clang']) optional.add(name);

/** The libraries of host code; `CUMETAL_SYSROOT` names others. */
export const sysroot = process.env.CUMETAL_SYSROOT || join(import.meta.dirname, '../../packages/cumetal-cuda/sysroot');

/** Bun for Linux on arm64, to be emulated: the one `CUMETAL_ARM64_BUN` names, else where `scripts/other-bun.ts` puts it. */
export function arm64Bun(): string | undefined {
  const path = process.env.CUMETAL_ARM64_BUN || join(homedir(), '.cache/cumetal/bun-linux-aarch64/bin/bun');
  return existsSync(path) ? path : undefined;
}

/** Whether a need is met on this machine. */
export function has(need: Need): boolean {
  if (need === 'oracle') return existsSync(join(oracleFolder, 'air_cpu.py'));
  if (need === 'cccl') return existsSync(join(process.env.CUMETAL_CCCL ?? '', 'cub/cub.cuh'));
  if (need === 'wasm-clang') return findPackage([import.meta.dirname], process.env.CUMETAL_CLANG) !== undefined;
  if (need === 'sysroot') return existsSync(join(sysroot, 'lib/libc.a'));
  if (need === 'cuda-libraries') return existsSync(join(sysroot, '../libraries/libcublas.a'));
  // `real.ts` reads them.
  if (need === 'real-metallibs') return Boolean(process.env.CUMETAL_REAL_METALLIBS);
  if (need === 'full-device') return existsSync('/dev/full');
  // Programs of the machine, with libraries that are loaded before them.
  if (need === 'linux-cc') return process.platform === 'linux' && process.arch === 'x64' && Bun.which('cc') !== null;
  // Its messages are written in the assembler of Linux.
  if (need === 'fake-metal') return process.platform === 'linux' && Bun.which('cc') !== null;
  return need === 'arm64-bun' ? arm64Bun() !== undefined : Bun.which(need) !== null;
}

/** Registers a test of a suite. */
export type Register = (name: string, run: () => void | Promise<void>) => void;

/** Registers tests that all need the same tools. */
export const needing =
  <T>(test: Test<T>, needs: readonly Need[]): Register =>
  (name, run) =>
    need(test, needs, name, run);

/** Registers a test that needs tools: as it is where all are there, as a named skip where one is not, as a failure in CI. */
export function need<T>(test: Test<T>, needs: readonly Need[], name: string, run: () => void | Promise<void>): void {
  const missing = needs.filter((one) => !has(one));
  if (missing.length === 0) return test(name, run);
  if (process.env.CI && missing.some((one) => !optional.has(one)))
    return test(name, () => {
      throw new Error(`CI must have ${missing.join(', ')}`);
    });
  console.log(`skipped: ${name} (needs ${missing.join(', ')})`);
  test.skip(name, run);
}
