/** A recorded launch as a launch file: addresses become pointers to the buffers of the file. */
import { type ElementType, elements } from '../../runtime/index.ts';
import { eachWord, loadsWideWords, mayHoldAddresses, type RecordedLaunch, type RecordedMemory, type RecordedParam } from './recorded.ts';

/** Puts bytes into a file and gives its name, the same one for the same bytes. */
export type KeepFile = (bytes: Uint8Array, extension: string) => string;

/** Puts an array into a file. */
export type KeepArray = (element: ElementType, bytes: Uint8Array) => string;

interface Files {
  readonly file: KeepFile;
  readonly array: KeepArray;
  readonly device: string;
}

type Json = Record<string, unknown>;

/** The launch file, without its last newline. */
export function launchJson(launch: RecordedLaunch, files: Files): string {
  const { params, symbols } = launch;
  const writer = new ArgumentWriter(launch, files);
  const args = params.map((param, index) => writer.argument(param, index));
  const more = writer.rest();
  const description = writer.notes();
  const json = {
    $schema: 'urn:cumetal:schema:launch:1',
    ...(description === '' ? {} : { description }),
    module: files.file(new TextEncoder().encode(launch.ptx), 'ptx'),
    kernel: launch.kernel,
    grid: launch.grid,
    block: launch.block,
    sharedBytes: launch.sharedBytes,
    ...(symbols.length > 0 ? { constants: Object.fromEntries(symbols.map(({ name, bytes }) => [name, files.file(bytes, 'bin')])) } : {}),
    args: [...args, ...more],
  };
  return JSON.stringify(json, undefined, 2);
}

interface Place {
  readonly memory: RecordedMemory;
  readonly offset: number;
}

class ArgumentWriter {
  readonly #launch: RecordedLaunch;
  readonly #files: Files;
  readonly #isFollowing: boolean;
  /** The index of the argument that has a memory. */
  readonly #indices = new Map<RecordedMemory, number>();
  /** Memory without a parameter of its own, in the order of its arguments, with the type of what points to it. */
  readonly #rest: [memory: RecordedMemory, element: ElementType | undefined][] = [];
  /** Words of memory that are taken for addresses, and pointers that point to nothing of the device. */
  readonly #found = { addresses: 0, strangers: 0 };

  constructor(launch: RecordedLaunch, files: Files) {
    this.#launch = launch;
    this.#files = files;
    this.#isFollowing = loadsWideWords(launch.ptx, launch.kernel);
    // A parameter that points to the start of memory is its argument; other pointers lie within that.
    for (const [index, param] of launch.params.entries()) {
      const place = this.#pointed(param);
      if (place?.offset === 0 && !this.#indices.has(place.memory)) this.#indices.set(place.memory, index);
    }
  }

  #place(address: bigint): Place | undefined {
    const memory = this.#launch.memory.find(
      (each) => address >= each.address && address < each.address + BigInt(Math.max(1, each.before.length)),
    );
    return memory && { memory, offset: Number(address - memory.address) };
  }

  #pointed({ kind, bytes }: RecordedParam): Place | undefined {
    return kind === 'buffer' ? this.#place(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) : undefined;
  }

  #indexOf(memory: RecordedMemory, element?: ElementType): number {
    const known = this.#indices.get(memory);
    if (known !== undefined) return known;
    const index = this.#launch.params.length + this.#rest.length;
    this.#indices.set(memory, index);
    this.#rest.push([memory, element]);
    return index;
  }

  argument(param: RecordedParam, index: number): Json {
    const { name, kind, bytes, element } = param;
    if (kind === 'bytes') return this.#value(param);
    const place = this.#pointed(param);
    if (place && this.#indices.get(place.memory) === index) return this.#buffer(name, place.memory, element);
    if (place) return { name, within: this.#indexOf(place.memory, element), offset: place.offset };
    if (bytes.every((byte) => byte === 0)) return { name, null: true };
    // A kernel that follows it fails here as there.
    this.#found.strangers++;
    return { name, null: true };
  }

  /** Buffers that no parameter is, and those that they lead to. */
  rest(): Json[] {
    const made: Json[] = [];
    // The list grows while it is walked.
    for (const [i, [memory, element]] of this.#rest.entries()) made.push(this.#buffer(`memory${i}`, memory, element));
    return made;
  }

  notes(): string {
    const { addresses, strangers } = this.#found;
    return [
      ...(addresses > 0
        ? [`${addresses} words of memory are taken for addresses, and buffers with such words have no expected results`]
        : []),
      ...(strangers > 0 ? [`${strangers} pointers that are none of the device are null`] : []),
    ].join('; ');
  }

  #buffer(name: string, memory: RecordedMemory, element: ElementType | undefined): Json {
    const type = element !== undefined && memory.before.length % elements[element].size === 0 ? element : 'u8';
    const pointers = this.#isFollowing && mayHoldAddresses(element) ? this.#pointersIn(memory.before) : [];
    this.#found.addresses += pointers.length;
    const { after } = memory;
    return {
      name,
      buffer: type,
      shape: [memory.before.length / elements[type].size],
      init: memory.before.every((byte) => byte === 0) ? 'zeros' : { file: this.#files.array(type, memory.before) },
      ...(pointers.length > 0 ? { pointers } : {}),
      // Addresses differ where the launch runs again.
      ...(after && pointers.length === 0 ? { expect: { file: this.#files.array(type, after), recordedOn: this.#files.device } } : {}),
    };
  }

  #value({ name, bytes, element }: RecordedParam): Json {
    if (element !== undefined && elements[element].size === bytes.length && bytes.length < 8) {
      const value = numberOf(element, bytes);
      if (value !== undefined) return { name, type: element, value };
    }
    const pointers = this.#pointersIn(bytes);
    return { name, bytes: this.#files.file(bytes, 'bin'), ...(pointers.length > 0 ? { pointers } : {}) };
  }

  #pointersIn(bytes: Uint8Array): Json[] {
    const pointers: Json[] = [];
    eachWord(bytes, (word, offset) => {
      const place = this.#place(word);
      if (place) pointers.push({ offset, argument: this.#indexOf(place.memory), ...(place.offset > 0 ? { at: place.offset } : {}) });
    });
    return pointers;
  }
}

/** An integer as it is in JSON; undefined for floats, whose bits a decimal number may not have. */
function numberOf(element: ElementType, bytes: Uint8Array): number | undefined {
  const { kind, size } = elements[element];
  if (kind === 'float') return undefined;
  const unsigned = bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
  return kind === 'signed' && unsigned >= 2 ** (8 * size - 1) ? unsigned - 2 ** (8 * size) : unsigned;
}
