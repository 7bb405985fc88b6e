/** The packages that compile whole programs, and what to do where they are not installed. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printable } from '../../base/printable.ts';
import {
  findPackage,
  findSysroot,
  programPackageName,
  programPackageSize,
  type Sysroot,
  type ToolchainPackage,
} from '../../toolchain/index.ts';
import { exists, type Terminal } from '../terminal/index.ts';

/** What compiles both halves of a program. */
export interface ProgramToolchain {
  readonly clang: ToolchainPackage;
  readonly sysroot: Sysroot;
}

/** The packages, in the project of the current folder or beside this program; undefined after a message. */
export function findProgramToolchain(terminal: Terminal, what: string): ProgramToolchain | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  const starts = [process.cwd(), here];
  const { CUMETAL_CLANG, CUMETAL_SYSROOT } = terminal.env;
  const clang = findPackage(starts, CUMETAL_CLANG);
  const sysroot = findSysroot(starts, CUMETAL_SYSROOT);
  if (clang && sysroot) return { clang, sysroot };
  const isCheckout = exists(`${here}/../../../scripts/toolchain/sysroot.ts`) || exists(`${here}/../../scripts/toolchain/sysroot.ts`);
  terminal.err(
    `error: ${printable(what)} is a whole CUDA program, and the package \`${programPackageName}\`, which compiles host code, is not installed\n`,
  );
  terminal.err(
    isCheckout
      ? '  = help: `npm run sysroot` builds it in a checkout: it downloads 170 MB of sources, and takes some minutes\n'
      : `  = help: \`npm install ${programPackageName}\` in this folder (${programPackageSize}) compiles it without any other installation\n`,
  );
  return undefined;
}
