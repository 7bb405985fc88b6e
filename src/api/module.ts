/** Modules: a library on a device, with its kernels and its variables. */
import { closest } from '../base/closest.ts';
import type { DeviceModule, DeviceSymbol } from '../device/device.ts';
import { chooseKernel } from '../runtime/index.ts';
import { bytesIn } from './arrays.ts';
import { type StreamOption, transfer } from './buffer.ts';
import { assertUsable, type Context, errorWith, type Owned, orThrow } from './context.ts';
import { Kernel, type KernelModule } from './kernel.ts';
import { assertWithin, whenIdle } from './memory.ts';
import type { KernelArgument } from './pack.ts';
import { type ArgumentsOf, assertMatches, type Signature } from './signature.ts';
import type { InStream, Work } from './work.ts';

/** A loaded library. */
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

  /** The names of the kernels. */
  get kernels(): readonly string[] {
    return this.low.kernels.map(({ name }) => name);
  }

  /** The names of the variables that the host can write. */
  get symbols(): readonly string[] {
    return this.low.symbols.map(({ name }) => name);
  }

  /** A kernel by name, or the only one. A signature gives its arguments types and must match the kernel (CM5071). */
  kernel(name?: string): Kernel<readonly KernelArgument[]>;
  kernel<const S extends Signature>(name: string, signature: S): Kernel<ArgumentsOf<S>>;
  kernel(name?: string, signature?: Signature): unknown {
    this.assertUsable();
    const refused = name === undefined ? undefined : this.low.refused?.get(name);
    const reflection = orThrow((diagnostics) => {
      if (!refused) return chooseKernel(this.low.kernels, name, diagnostics);
      diagnostics.addAll(refused.list);
      return undefined;
    });
    if (signature) assertMatches(reflection, signature);
    return new Kernel(this, reflection);
  }

  /** A `.global` or `.const` variable. Throws CM5023 if the module has none of that name. */
  symbol(name: string): ModuleSymbol {
    this.assertUsable();
    const { symbols } = this.low;
    const found = symbols.find((symbol) => symbol.name === name);
    if (found) return new ModuleSymbol(this, found);
    const near = closest(
      name,
      symbols.map((symbol) => symbol.name),
    );
    throw errorWith('CM5023', { name }, near ? { help: `did you mean \`${near}\`?` } : {});
  }

  /** Accepts no more launches. Its memory is released when the pending work has finished. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.age === this.context.age) whenIdle(this.context, () => this.low.close());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  assertUsable(): void {
    assertUsable(this.context, this, 'module');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'module', ended: 'closed' });
  }
}

/** The stream and the place of an access to a variable. */
export interface SymbolOptions extends StreamOption {
  /** The offset in the variable in bytes. */
  readonly offset?: number;
}

/** A variable of a module, read and written in stream order. */
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

  /** The size in bytes. */
  get byteLength(): number {
    return this.#low.size;
  }

  /** Writes data in stream order. The data is read immediately. */
  write(data: ArrayBufferView, { stream = this.#module.defaultStream, offset = 0 }: SymbolOptions = {}): Work<undefined> {
    this.#module.assertUsable();
    const bytes = bytesIn(data).slice();
    assertWithin(this.byteLength, offset, bytes.length);
    return this.move(stream, () => this.#low.write(bytes, offset));
  }

  /** Copies the variable to a typed array in stream order; the array is valid when the work has finished. */
  fetch(into: ArrayBufferView, { stream = this.#module.defaultStream, offset = 0 }: SymbolOptions = {}): Work<undefined> {
    this.#module.assertUsable();
    const bytes = bytesIn(into);
    assertWithin(this.byteLength, offset, bytes.length);
    return this.move(stream, () => bytes.set(this.#low.read().subarray(offset, offset + bytes.length)));
  }

  /** A copy of its contents, in stream order. */
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
