/** The compilation target of the system that this process runs on. */
import { type TargetName, targetOfMacos } from '../air/targets.ts';

/** A system, as `process.platform` and `os.release()` name it. */
export interface HostSystem {
  readonly platform: string;
  readonly release: string;
}

/** This system; undefined in a page. */
function thisSystem(): HostSystem | undefined {
  const { process } = globalThis as { readonly process?: NodeJS.Process };
  const os = process?.getBuiltinModule?.('node:os');
  return process && os && { platform: process.platform, release: os.release() };
}

/**
 * The target of a Mac's system; undefined on other systems. The release is that of the Darwin kernel, which needs no other process, as
 * `sw_vers` would: Darwin 20 to 24 are macOS 11 to 15, and Darwin 25 is macOS 26.
 */
export function hostTarget(system: HostSystem | undefined = thisSystem()): TargetName | undefined {
  if (system?.platform !== 'darwin') return undefined;
  const darwin = Number.parseInt(system.release, 10);
  return Number.isNaN(darwin) ? undefined : targetOfMacos(darwin < 25 ? darwin - 9 : darwin + 1);
}
