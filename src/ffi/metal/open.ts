/** The ways to Metal, in order: the shim in the program, messages without C, the shim compiled at run time. */
import { bunFfi } from '../bun.ts';
import type { MetalBinding } from './binding.ts';
import { compileShim, openShim, unpackShim } from './shim.ts';
import { macLibraries } from './system.ts';
import { openMessages } from './without-shim.ts';

export interface OpenedMetal {
  readonly binding: MetalBinding | undefined;
  /** The reasons why earlier ways failed, or all of them. */
  readonly failures: readonly string[];
}

/** A way to Metal; `open` throws if it does not work. */
export interface WayToMetal {
  readonly name: string;
  open(): MetalBinding;
}

/** The ways of macOS. */
export const macWays: readonly WayToMetal[] = [
  { name: 'the shim', open: () => openShim(unpackShim()) },
  { name: 'without the shim', open: () => openMessages(macLibraries) },
  { name: 'the shim, compiled at run time', open: () => compileShim(macLibraries) },
];

/** The first way that works on this machine. Neither a binding nor failures are returned on a system without Metal. */
export function openMetal(): OpenedMetal {
  if (process.platform !== 'darwin') return { binding: undefined, failures: [] };
  if (!bunFfi()) return { binding: undefined, failures: ['the GPU needs Bun, and this is another runtime'] };
  return firstOf(macWays);
}

/** The first way that opens, with the failures of the earlier ones. */
export function firstOf(list: readonly WayToMetal[]): OpenedMetal {
  const failures: string[] = [];
  for (const { name, open } of list) {
    try {
      return { binding: open(), failures };
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { binding: undefined, failures };
}
