/** Modules: a library on a device, with its kernels and the variables that hosts write. */
import { closest } from '../base/closest.ts';
import type { DeviceModule, DeviceSymbol } from '../device/device.ts';
import { chooseKernel } from '../runtime/index.ts';
import { bytesIn } from './arrays.ts';
import { type StreamOption, transfer } from './buffer.ts';
import { type Context, errorWith, mayUse, must, type Owned } from './context.ts';
import { Kernel, type KernelModule } from './kernel.ts';
import { mustHold } from './memory.ts';
import type { KernelArgument } from './pack.ts';
import { type ArgumentsOf, mustAgree, type Signature } from './signature.ts';
import type { InStream, Work } from './work.ts';

/** A library that is ready to launch. */
export class Module implements KernelModule, Owned {
  /** @internal */
  readonly context: Context;
  /** @internal */
  readonly age: number;
  /** @internal */
  readonly low: DeviceModule;
  /** @internal */
  readonly defaultStream: InStream;
  #isClosed = false;

  /** @internal */
  constructor(low: DeviceModule, defaultStream: InStream) {
    this.context = defaultStream.context;
    this.age = defaultStream.age;
    this.low = low;
    this.defaultStream = defaultStream;
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Names of the kernels that can be launched. */
  get kernels(): readonly string[] {
    return this.low.kernels.map(({ name }) => name);
  }

  /** Names of the variables that a host can write. */
  get symbols(): readonly string[] {
    return this.low.symbols.map(({ name }) => name);
  }

  /** A kernel by name, or the only one. With a signature its arguments have types; it has to agree with the kernel (CM5071). */
  kernel(name?: string): Kernel<readonly KernelArgument[]>;
  kernel<const S extends Signature>(name: string, signature: S): Kernel<ArgumentsOf<S>>;
  kernel(name?: string, signature?: Signature): unknown {
    this.mayUse();
    const refused = name === undefined ? undefined : this.low.refused?.get(name);
    const reflection = must((diagnostics) => {
      if (!refused) return chooseKernel(this.low.kernels, name, diagnostics);
      diagnostics.addAll(refused.list);
      return undefined;
    });
    if (signature) mustAgree(reflection, signature);
    return new Kernel(this, reflection);
  }

  /** A `.global` or `.const` variable. Throws CM5023 where the module has none of that name. */
  symbol(name: string): ModuleSymbol {
    this.mayUse();
    const { symbols } = this.low;
    const found = symbols.find((symbol) => symbol.name === name);
    if (found) return new ModuleSymbol(this, found);
    const near = closest(
      name,
      symbols.map((symbol) => symbol.name),
    );
    throw errorWith('CM5023', { name }, near ? { help: `did you mean \`${near}\`?` } : {});
  }

  /** Takes no more launches. */
  close(): void {
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  mayUse(): void {
    mayUse(this.context, this, 'module');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'module', ended: 'closed' });
  }
}

export interface SymbolOptions extends StreamOption {
  /** Bytes from the start of the variable. */
  readonly offset?: number;
}

/** A variable of a module, which is read and written in the order of streams. */
export class ModuleSymbol {
  readonly #module: Module;
  readonly #low: DeviceSymbol;

  /** @internal */
  constructor(module: Module, low: DeviceSymbol) {
    this.#module = module;
    this.#low = low;
  }

  get name(): string {
    return this.#low.name;
  }

  /** Bytes. */
  get byteLength(): number {
    return this.#low.size;
  }

  /** Writes data, which is taken at once, when the stream comes to it. */
  write(data: ArrayBufferView, { stream = this.#module.defaultStream, offset = 0 }: SymbolOptions = {}): Work<undefined> {
    this.#module.mayUse();
    const bytes = bytesIn(data).slice();
    mustHold(this.byteLength, offset, bytes.length);
    return this.move(stream, () => this.#low.write(bytes, offset));
  }

  /** Fills a typed array, or as much as is left, when the stream comes to it; to be looked at when the work has ended. */
  fetch(into: ArrayBufferView, { stream = this.#module.defaultStream, offset = 0 }: SymbolOptions = {}): Work<undefined> {
    this.#module.mayUse();
    const bytes = bytesIn(into);
    mustHold(this.byteLength, offset, bytes.length);
    return this.move(stream, () => bytes.set(this.#low.read().subarray(offset, offset + bytes.length)));
  }

  /** What it holds when the stream comes to it. */
  async read({ offset = 0, ...options }: SymbolOptions = {}): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.max(0, this.byteLength - offset));
    await this.fetch(bytes, { offset, ...options }).ended();
    return bytes;
  }

  private move(stream: InStream, run: () => void): Work<undefined> {
    if (stream.context !== this.#module.context) throw errorWith('CM5062', { what: 'stream' });
    return transfer(stream, [], run);
  }
}
