/** Procedures of the library: several launches in the order of one stream, with memory between them that is freed when they have ended. */
import { type Arrays, type Device, type KernelBuffer, type LaunchReport, partOf, type Work } from '../api/index.ts';
import type { Parameters, TypedKernel, TypeName } from '../build/index.ts';
import { refuse } from './refuse.ts';
import type { Routine, RoutineLaunch } from './routine.ts';
import { giveScratch, takeScratch } from './scratch.ts';

/** The names of the API's elements, by the types of the builder. */
export const elements = {
  ...{ f32: 'f32', f64: 'f64', f16: 'f16', bf16: 'bf16', s32: 'i32', u32: 'u32', s64: 'i64', u64: 'u64', u8: 'u8', s8: 'i8' },
} as const satisfies Partial<Record<TypeName, keyof Arrays>>;

/** A launch of a procedure on its way: what its steps need. */
export class Steps {
  /** The launches so far. */
  readonly works: Work<LaunchReport>[] = [];
  readonly #device: Device;
  readonly #options: RoutineLaunch;
  readonly #buffers: KernelBuffer[] = [];

  /** @internal */
  constructor(device: Device, options: RoutineLaunch) {
    this.#device = device;
    this.#options = options;
  }

  /** Whether kernels run on a processor. */
  get isProcessor(): boolean {
    return this.#device.info.kind === 'cpu';
  }

  /** Whether the device has fused multiply-adds; others are several times as fast where a product and a sum are rounded each. */
  get isFusing(): boolean {
    return !this.#device.info.emulatesFma;
  }

  /** Enqueues a launch. */
  launch<P extends Parameters, G>(routine: Routine<P, G>, given: G): void {
    const work = routine.launch(this.#device, given, this.#options);
    if (work) this.works.push(work);
  }

  /** Enqueues the launches of another procedure. */
  run<G>(procedure: Procedure<G>, given: G): void {
    this.works.push(...procedure.launch(this.#device, given, this.#options));
  }

  /** Memory of some elements, until the procedure has ended. Its contents are not defined. */
  scratch<T extends keyof typeof elements>(type: T, length: number): KernelBuffer<(typeof elements)[T]> {
    const buffer = takeScratch(this.#device, this.#options.stream, elements[type], length);
    this.#buffers.push(buffer as KernelBuffer);
    return buffer;
  }

  /** Sets all elements of a buffer to 0. */
  clear(buffer: unknown, count: number): void {
    const part = partOf(buffer);
    if (!part) refuse('a procedure', 'what is written has to be a buffer');
    if (count > 0) part.part(0, count).fill(0, this.#options.stream ? { stream: this.#options.stream } : {});
  }

  /** @internal */
  end(): void {
    for (const buffer of this.#buffers) giveScratch(this.#device, this.#options.stream, buffer);
  }
}

/** What runs a procedure: its launches are those of the steps. */
type Run<G> = (steps: Steps, given: G) => void;

/** Several kernels of the library that are launched one after another for one result. */
export class Procedure<G> {
  /** The name. */
  readonly name: string;
  readonly #parts: () => readonly (Routine | Procedure<unknown>)[];
  readonly #run: Run<G>;

  /** @internal */
  constructor(name: string, parts: () => readonly unknown[], run: Run<G>) {
    this.name = name;
    this.#parts = parts as () => readonly (Routine | Procedure<unknown>)[];
    this.#run = run;
  }

  /** The kernels that it may launch, each with its PTX. */
  get kernels(): readonly TypedKernel[] {
    return this.#parts().flatMap((part) => ('kernels' in part ? part.kernels : [part.kernel]));
  }

  /**
   * Enqueues the launches, in the default stream or in `stream`. Gives them in their order: the last one ends with the result. Throws CM5093 for sizes
   * that are not whole, or too large for a buffer, and what a launch of the API throws.
   */
  launch(device: Device, given: G, options: RoutineLaunch = {}): readonly Work<LaunchReport>[] {
    const steps = new Steps(device, options);
    try {
      this.#run(steps, given);
    } finally {
      steps.end();
    }
    return steps.works;
  }
}

/** Refuses what is no whole number from `least` to `most`. */
export function assertSize(name: string, what: string, size: number, most = 0xffff_ffff, least = 0): void {
  if (!Number.isInteger(size) || size < least || size > most)
    refuse(name, `\`${what}\` is ${size}, and has to be a whole number from ${least} to ${most}`);
}

/** Refuses a buffer of fewer elements. */
export function assertHolds(name: string, what: string, buffer: unknown, count: number): void {
  const part = partOf(buffer);
  if (part && part.length < count) refuse(name, `\`${what}\` has ${part.length} elements, and ${count} are needed`);
}
