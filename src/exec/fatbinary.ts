/** The PTX of a fat binary in the memory of a program. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { HostMemory } from '../program/index.ts';
import { chooseImage, imageText, isContainer, readContainer } from '../ptx/container/index.ts';

/** Bytes of the header of a fat binary, and where it has the size of what follows it. */
const [headerBytes, sizeAt] = [16, 8];
/** The largest fat binary that is read. */
const maxBytes = 1024 * 1024 * 1024;

/** The PTX at a pointer: of a fat binary, or text with a zero byte behind it. Undefined after reporting CM4060 to CM4064. */
export function readFatbinary(memory: HostMemory, pointer: bigint, report: (diagnostics: Diagnostics) => void): string | undefined {
  const header = memory.slice(pointer, headerBytes);
  if (!header) return undefined;
  if (!isContainer(header)) return memory.cString(pointer);
  const size = new DataView(header.buffer).getBigUint64(sizeAt, true);
  const bytes = size <= maxBytes ? memory.slice(pointer, headerBytes + Number(size)) : undefined;
  if (!bytes) return undefined;
  const diagnostics = new Diagnostics();
  const container = readContainer(bytes, diagnostics);
  const image = diagnostics.hasErrors ? undefined : chooseImage(container, undefined, diagnostics);
  const text = image && imageText(image, diagnostics);
  if (text === undefined) report(diagnostics);
  return text;
}
