/** The PTX of fat binaries in the memory of a program. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { CudaOptions, HostMemory } from '../program/index.ts';
import { chooseImage, imageText, isContainer, readContainer } from '../ptx/container/index.ts';

/** Bytes of the header of a fat binary, and where it has the size of what follows it. */
const [headerBytes, sizeAt] = [16, 8];
/** The largest fat binary that is read. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * What only NVIDIA's device runtime names, which nvcc links to every program: functions of its driver. Kernels that launch kernels need none of it
 * here.
 */
const deviceRuntime = /^\.extern \.func .*\b(?:cnp[A-Z]\w+|__cuda_syscall_\w+)/m;

/** The fat binaries of one program. What is wrong with one is said when its code is used first: most are never used. */
export class Images {
  readonly #faults = new Map<string, Diagnostics>();
  readonly #link: CudaOptions['link'];

  /** `link` is for programs of `nvcc -rdc=true`. */
  constructor(link?: CudaOptions['link']) {
    this.#link = link;
  }

  /**
   * The PTX at a pointer: of a fat binary, or text with a zero byte behind it. What nvcc has linked is machine code only, so that its parts are
   * linked here. Undefined if the program has no such memory.
   */
  read(memory: HostMemory, pointer: bigint, parts: readonly bigint[] = []): string | undefined {
    if (parts.length === 0) return this.#read(memory, pointer);
    const all = parts.map((part) => this.#read(memory, part));
    const texts = all.filter((text) => text === undefined || !deviceRuntime.test(text));
    const isFault = (text: string | undefined): boolean => text === undefined || this.#faults.has(text);
    const fault = texts.find(isFault);
    if (texts.some(isFault)) return fault;
    if (texts.length === 1) return texts[0];
    const diagnostics = new Diagnostics();
    const linked = this.#link?.(texts as string[]);
    if (linked !== undefined) return linked;
    diagnostics.report('CM4061', { what: 'it contains modules that do not link' });
    return this.#standInFor(diagnostics);
  }

  #read(memory: HostMemory, pointer: bigint): string | undefined {
    const header = memory.slice(pointer, headerBytes);
    if (!header) return undefined;
    if (!isContainer(header)) return memory.cString(pointer);
    const size = new DataView(header.buffer, header.byteOffset).getBigUint64(sizeAt, true);
    const bytes = size <= maxBytes ? memory.slice(pointer, headerBytes + Number(size)) : undefined;
    return bytes && this.#textOf(bytes);
  }

  #textOf(bytes: Uint8Array): string {
    const diagnostics = new Diagnostics();
    const container = readContainer(bytes, diagnostics);
    const image = diagnostics.hasErrors ? undefined : chooseImage(container, undefined, diagnostics);
    const text = image && imageText(image, diagnostics);
    if (text !== undefined) return text;
    return this.#standInFor(diagnostics);
  }

  #standInFor(diagnostics: Diagnostics): string {
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
