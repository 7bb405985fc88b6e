/** The ways to Metal in their order: the shim that is part of the program, messages without C, the shim compiled here. */
import { bunFfi } from '../bun.ts';
import type { MetalBinding } from './binding.ts';
import { openMessages } from './messages.ts';
import { compileShim, openShim, unpackShim } from './shim.ts';
import { macLibraries } from './system.ts';

export interface OpenedMetal {
  readonly binding: MetalBinding | undefined;
  /** What of the ways before it did not work, or of all. */
  readonly failures: readonly string[];
}

/** A way to Metal; `open` throws where it is none. */
export interface WayToMetal {
  readonly name: string;
  open(): MetalBinding;
}

/** Those of macOS. */
export const macWays: readonly WayToMetal[] = [
  { name: 'the shim', open: () => openShim(unpackShim()) },
  { name: 'without the shim', open: () => openMessages(macLibraries) },
  { name: 'the shim compiled here', open: () => compileShim(macLibraries) },
];

/** The first way that there is on this machine; none, and no failures, where there is no Metal to look for. */
export function openMetal(): OpenedMetal {
  if (process.platform !== 'darwin') return { binding: undefined, failures: [] };
  if (!bunFfi()) return { binding: undefined, failures: ['the GPU is reached through Bun, and this is another runtime'] };
  return firstOf(macWays);
}

/** The first way that opens, with what is said of those before it. */
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
