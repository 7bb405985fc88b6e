/** The PTX of fat binaries in the memory of a program. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { HostMemory } from '../program/index.ts';
import { chooseImage, imageText, isContainer, readContainer } from '../ptx/container/index.ts';

/** Bytes of the header of a fat binary, and where it has the size of what follows it. */
const [headerBytes, sizeAt] = [16, 8];
/** The largest fat binary that is read. */
const maxBytes = 1024 * 1024 * 1024;

/** The fat binaries of one program. What is wrong with one is said when its code is used first: most are never used. */
export class Images {
  readonly #faults = new Map<string, Diagnostics>();

  /** The PTX at a pointer: of a fat binary, or text with a zero byte behind it. Undefined if the program has no such memory. */
  read(memory: HostMemory, pointer: bigint): string | undefined {
    const header = memory.slice(pointer, headerBytes);
    if (!header) return undefined;
    if (!isContainer(header)) return memory.cString(pointer);
    const size = new DataView(header.buffer).getBigUint64(sizeAt, true);
    const bytes = size <= maxBytes ? memory.slice(pointer, headerBytes + Number(size)) : undefined;
    return bytes && this.#textOf(bytes);
  }

  #textOf(bytes: Uint8Array): string {
    const diagnostics = new Diagnostics();
    const container = readContainer(bytes, diagnostics);
    const image = diagnostics.hasErrors ? undefined : chooseImage(container, undefined, diagnostics);
    const text = image && imageText(image, diagnostics);
    if (text !== undefined) return text;
    const standIn = `// fat binary ${this.#faults.size} has no PTX`;
    this.#faults.set(standIn, diagnostics);
    return standIn;
  }

  /** True for PTX; false after reporting CM4060 to CM4065 for what stands for a fat binary that has none. */
  check(text: string, diagnostics: Diagnostics): true | undefined {
    const faults = this.#faults.get(text);
    if (!faults) return true;
    diagnostics.addAll(faults.list);
    return undefined;
  }
}
