/** Records the launches of a device of this package. */
import type { DeviceBuffer, DeviceModule, LaunchArgument, LaunchRequest } from '../../device/index.ts';
import type { ElementType } from '../../runtime/index.ts';
import { eachWord, loadsWideWords, mayHoldAddresses, pointerBytes, type RecordedLaunch, type RecordedParam } from './recorded.ts';

/** Memory of the device by address. */
export type FindMemory = (address: bigint) => { readonly address: bigint; readonly buffer: DeviceBuffer } | undefined;

export interface RecordOptions {
  /** The most launches that are recorded. */
  readonly limit: number;
  /** Only launches of this kernel, if it is given. */
  readonly kernel: string | undefined;
  write(launch: RecordedLaunch, number: number): void;
}

interface Reached {
  readonly buffer: DeviceBuffer;
  readonly address: bigint;
  readonly before: Uint8Array;
}

export class Recorder {
  readonly #options: RecordOptions;
  #launches = 0;
  #recorded = 0;
  /** Where addresses are looked up; set when a session begins. */
  find: FindMemory = () => undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
  }

  /** The module, with launches that are recorded. */
  watch(module: DeviceModule, ptx: string): DeviceModule {
    return {
      ...module,
      launch: (request, diagnostics) => {
        const number = this.#launches++;
        const { limit, kernel } = this.#options;
        if (this.#recorded >= limit || (kernel !== undefined && kernel !== request.kernel)) return module.launch(request, diagnostics);
        const begun = this.#begin(module, ptx, request);
        const result = module.launch(request, diagnostics);
        // What a device refuses before it runs is no launch.
        if (!result && diagnostics.list.some(({ code }) => code.startsWith('CM50'))) return result;
        this.#recorded++;
        const memory = begun.memory.map(({ address, before, buffer }) => ({ address, before, after: result && buffer.read() }));
        this.#options.write({ ...begun, ptx, memory }, number);
        return result;
      },
    };
  }

  #begin(module: DeviceModule, ptx: string, { kernel, grid, block, dynamicSharedBytes, args }: LaunchRequest) {
    const { params, memory: variables } = module.kernels.find(({ name }) => name === kernel)!;
    const recorded = params.map(({ name, kind, element }, i): RecordedParam => ({ name, kind, element, bytes: bytesOf(args[i]!) }));
    const memory = this.#reached(recorded, loadsWideWords(ptx, kernel));
    const symbols = variables ? module.symbols.map(({ name, read }) => ({ name, bytes: read() })) : [];
    return { kernel, grid, block, sharedBytes: dynamicSharedBytes, params: recorded, memory, symbols };
  }

  /** The memory that parameters point into, and what that leads to. */
  #reached(params: readonly RecordedParam[], isFollowing: boolean): Reached[] {
    const found = new Map<DeviceBuffer, Reached>();
    const follow = (bytes: Uint8Array, element?: ElementType): void =>
      eachWord(bytes, (word) => {
        const memory = this.find(word);
        if (!memory || found.has(memory.buffer)) return;
        const before = memory.buffer.read();
        found.set(memory.buffer, { ...memory, before });
        if (isFollowing && mayHoldAddresses(element)) follow(before);
      });
    for (const { bytes, element, kind } of params) follow(bytes, kind === 'buffer' ? element : undefined);
    return [...found.values()];
  }
}

/** What a launch passes: the address of a buffer, or the bytes. */
function bytesOf(argument: LaunchArgument): Uint8Array {
  if (argument.kind === 'bytes') return argument.bytes;
  const bytes = new Uint8Array(pointerBytes);
  const address = argument.kind === 'buffer' ? argument.buffer.deviceAddress() + BigInt(argument.offset ?? 0) : 0n;
  new DataView(bytes.buffer).setBigUint64(0, address, true);
  return bytes;
}
