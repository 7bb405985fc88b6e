/** The log that `shim/driver-record.c` writes: launches on an NVIDIA GPU, as recorded launches. */
import { ByteReader, OutOfBytes } from '../../base/bytes.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { DeviceModule } from '../../device/index.ts';
import { type Image, imageEntries, imageText, isContainer, readContainer } from '../../ptx/container/index.ts';
import type { RecordedLaunch } from './recorded.ts';

const kinds = { device: 1, image: 2, launch: 3, object: 4 } as const;

/** A launch without what only its PTX says. */
interface LoggedLaunch {
  readonly number: number;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly params: readonly Uint8Array[];
  readonly memory: RecordedLaunch['memory'];
  readonly variables: RecordedLaunch['symbols'];
}

export interface DriverLog {
  /** The name of the GPU. */
  readonly device: string;
  /** Code that the program made while it ran. */
  readonly images: readonly Uint8Array[];
  /** Paths of the program and its libraries. */
  readonly objects: readonly string[];
  readonly launches: readonly LoggedLaunch[];
}

/** Reads a log, up to where it ends: a program may have been killed while it wrote. */
export function readDriverLog(bytes: Uint8Array): DriverLog {
  const [images, launches]: [Uint8Array[], LoggedLaunch[]] = [[], []];
  const objects: string[] = [];
  let device = 'an NVIDIA GPU';
  const r = new ByteReader(bytes);
  try {
    while (r.remaining > 0) {
      const kind = Number(r.u64());
      const payload = r.take(Number(r.u64()));
      if (kind === kinds.device) device = new TextDecoder().decode(payload);
      else if (kind === kinds.image) images.push(payload);
      else if (kind === kinds.object) objects.push(new TextDecoder().decode(payload));
      else if (kind === kinds.launch) launches.push(readLaunch(new ByteReader(payload)));
    }
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
  }
  return { device, images, objects, launches };
}

const dims = (r: ByteReader): Dim3 => [r.u32(), r.u32(), r.u32()];

function readLaunch(r: ByteReader): LoggedLaunch {
  const number = Number(r.u64());
  const [grid, block] = [dims(r), dims(r)];
  const [sharedBytes, nameBytes, paramCount, memoryCount, variableCount, hasFailed] = Array.from({ length: 6 }, () => r.u32());
  const text = (size: number): string => new TextDecoder().decode(r.take(size));
  const kernel = text(nameBytes!);
  const params = Array.from({ length: paramCount! }, () => r.take(r.u32()).slice());
  const memory = Array.from({ length: memoryCount! }, () => {
    const [address, size] = [r.u64(), Number(r.u64())];
    return { address, before: r.take(size), after: hasFailed ? undefined : r.take(size) };
  });
  const variables = Array.from({ length: variableCount! }, () => {
    const [nameSize, size] = [r.u32(), r.u32()];
    return { name: text(nameSize), bytes: r.take(size) };
  });
  return { number, kernel, grid, block, sharedBytes: sharedBytes!, params, memory, variables };
}

/** PTX of a program: of its file, and what it made. */
export class ProgramCode {
  readonly #texts: string[] = [];

  /** Adds the PTX of a file, a fat binary or a text; a file without any adds nothing. */
  add(bytes: Uint8Array): void {
    if (!isContainer(bytes)) {
      const end = bytes.indexOf(0);
      const text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
      if (text.includes('.entry')) this.#texts.push(text);
      return;
    }
    const { images } = readContainer(bytes, new Diagnostics());
    const number = ({ arch }: Image): number => Number.parseInt(arch.slice(3), 10);
    // Of several architectures the highest is what a driver takes.
    for (const image of images.filter(({ kind }) => kind === 'ptx').sort((a, b) => number(b) - number(a))) {
      if (!imageEntries(image)?.length) continue;
      const text = imageText(image, new Diagnostics());
      if (text !== undefined) this.#texts.push(text);
    }
  }

  /** The texts that have a kernel. */
  with(kernel: string): string[] {
    const pattern = new RegExp(`\\.entry\\s+${kernel.replaceAll('$', '\\$')}\\s*[({]`);
    return this.#texts.filter((text) => pattern.test(text));
  }

  /** Names of variables that a host can write. */
  variables(): string[] {
    const pattern = /^\s*(?:\.(?:visible|weak|common)\s+)?\.(?:global|const)\s[^;={]*?([\w$%]+)\s*(?:\[[^\]]*\]\s*)*[;=]/gm;
    return [...new Set(this.#texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!)))];
  }
}

/** Loads the PTX of one kernel, to see its parameters and variables; undefined if it cannot be compiled. */
export type LoadKernel = (ptx: string, kernel: string) => DeviceModule | undefined;

/** The launch with the names and types of its PTX; or the reason why there is none. */
export function completeLaunch(logged: LoggedLaunch, code: ProgramCode, load: LoadKernel): RecordedLaunch | string {
  const { kernel, params, variables, ...launch } = logged;
  const texts = code.with(kernel);
  if (texts.length === 0) return `no PTX of the program has the kernel \`${kernel}\``;
  for (const ptx of texts) {
    const module = load(ptx, kernel);
    const found = module?.kernels.find(({ name }) => name === kernel);
    if (!module || !found) continue;
    const names = new Set(module.symbols.map(({ name }) => name));
    module.close();
    if (found.params.length !== params.length) return `its PTX has ${found.params.length} parameters, and the launch ${params.length}`;
    return {
      ...launch,
      kernel,
      ptx,
      params: found.params.map(({ name, kind, element }, i) => ({ name, kind, element, bytes: params[i]! })),
      symbols: variables.filter(({ name }) => names.has(name)),
    };
  }
  return `the PTX of \`${kernel}\` does not compile`;
}
