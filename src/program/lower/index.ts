/** The lowering of programs with 64-bit memory: `module.ts` has the sections, `code.ts` the instructions, `opcodes.ts` the table. */
import { OutOfBytes } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { lowerModule } from './module.ts';
import { Unfit } from './reader.ts';

export interface LowerOptions {
  /**
   * The upper 32 bits of the addresses of the memory, for a program that was linked with its data there; 0 by default. Addresses outside go to
   * the function `cumetal.outside`, from an address to an index, where the module imports it.
   */
  readonly window?: number;
  /**
   * Imports, as `module.name`, that give the program addresses outside the window, such as those of managed memory. For a program with none of
   * them, `cumetal.outside` reports the address and does not return.
   */
  readonly sharing?: ReadonlySet<string>;
}

/**
 * Lowers a linked module with 64-bit memory to one with 32-bit memory whose pointers keep 64 bits, which every engine runs. A module with
 * 32-bit memory comes out with the same instructions. Undefined after reporting CM4090 for anything that is not such a module.
 */
export function lowerMemory(
  bytes: Uint8Array,
  diagnostics: Diagnostics,
  { window = 0, sharing = new Set() }: LowerOptions = {},
): Uint8Array | undefined {
  try {
    return lowerModule(bytes, window, sharing);
  } catch (error) {
    if (!(error instanceof Unfit || error instanceof OutOfBytes)) throw error;
    diagnostics.report('CM4090', { offset: error.offset, why: error.message });
    return undefined;
  }
}
