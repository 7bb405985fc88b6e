/** The packages that compile whole programs, and what to do where they are not installed. */
import { printable } from '../../base/printable.ts';
import {
  findPackage,
  findSysroot,
  type InstalledClang,
  installedClang,
  programPackageName,
  programPackageSize,
  type Sysroot,
  type ToolchainPackage,
} from '../../toolchain/index.ts';
import { ownFolder } from '../command/own-place.ts';
import { exists, type Terminal } from '../terminal/index.ts';

/** What compiles both halves of a program. */
export interface ProgramToolchain {
  readonly clang: ToolchainPackage;
  readonly sysroot: Sysroot;
  /** The clang that `CUMETAL_COMPILER` names, which is used in place of the package's. */
  readonly installed?: InstalledClang;
}

/** The packages, in the project of the current folder or beside this program. */
export function locateProgramToolchain({ env }: Pick<Terminal, 'env'>): ProgramToolchain | undefined {
  const starts = [process.cwd(), ownFolder()];
  const clang = findPackage(starts, env.CUMETAL_CLANG);
  const sysroot = findSysroot(starts, env.CUMETAL_SYSROOT);
  return clang && sysroot ? { clang, sysroot } : undefined;
}

/** How to get them. */
export function installationHelp(): string {
  const isCheckout = ['..', '../..'].some((up) => exists(`${ownFolder()}/${up}/scripts/toolchain/sysroot.ts`));
  return isCheckout
    ? '`npm run sysroot` builds it in a checkout: it downloads 170 MB of sources, and takes some minutes'
    : `\`npm install ${programPackageName}\` in this folder (${programPackageSize}) compiles it without any other installation`;
}

/** The packages, and the installed compiler that is named; undefined after a message that names the program. */
export function findProgramToolchain(
  terminal: Terminal,
  what: string,
  compiler = terminal.env.CUMETAL_COMPILER,
): ProgramToolchain | undefined {
  const found = locateProgramToolchain(terminal);
  if (found && (compiler === undefined || compiler === '' || compiler === 'wasm')) return found;
  if (found) {
    const installed = installedClang(compiler!);
    if (!('why' in installed)) return { ...found, installed };
    terminal.err(`error: \`${printable(compiler!)}\` cannot compile ${printable(what)}: ${installed.why}\n`);
    return undefined;
  }
  terminal.err(
    `error: ${printable(what)} is a whole CUDA program, and the package \`${programPackageName}\`, which compiles host code, is not installed\n`,
  );
  terminal.err(`  = help: ${installationHelp()}\n`);
  return undefined;
}
