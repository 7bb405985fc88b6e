/** Routines of the library: a kernel that is made once for a type and options, and launches that choose the grid for the sizes given. */
import { type Device, type Extent, type LaunchOptions, type LaunchReport, partOf, type Stream, type Work } from '../api/index.ts';
import { type Arguments, bf16, f16, f32, type Parameters, type Type, type TypedKernel } from '../build/index.ts';
import { refuse } from './refuse.ts';

/** The types of elements that most kernels take. They compute with f32. */
export type Floating = 'f32' | 'f16' | 'bf16';

/** The option that most kernels have. */
export interface TypeOption<T extends Floating> {
  /** The type of the elements in memory; f32 by default. */
  readonly type?: Type<T>;
}

const floating = { f32, f16, bf16 } as const;

/** The type of an option, f32 by default. */
export const typeOf = <T extends Floating>({ type }: TypeOption<T>): Type<T> => type ?? (floating.f32 as unknown as Type<T>);

/** How a launch runs: the grid, and the number of elements that each buffer has to have. */
export interface Plan<P extends Parameters> {
  readonly grid: Extent;
  readonly block: Extent;
  readonly args: Arguments<P>;
  /** The bytes of dynamic shared memory. */
  readonly shared?: number;
  /** The elements that the kernel reads or writes, by parameter. */
  readonly needs?: { readonly [N in keyof P]?: number };
  /** What has to be a whole number from 0 (or from 1) to 2^32 - 1. */
  readonly sizes?: Readonly<Record<string, number>>;
}

/** Options of the launch of a routine. */
export interface RoutineLaunch {
  /** The stream; the default stream if omitted. */
  readonly stream?: Stream;
  /** The instruments of the launch, on the CPU device. */
  readonly watch?: LaunchOptions<readonly unknown[]>['watch'];
}

/** Which other routine a launch runs; undefined for the routine itself. */
export type Choose<P extends Parameters, G> = (device: Device, given: G) => Routine<P, G> | undefined;

/**
 * A kernel of the library. Its PTX is the same for every size, and a launch takes sizes of any kind: elements are aligned to their own size and to
 * nothing more, unless the routine says so.
 */
export class Routine<P extends Parameters = Parameters, G = Arguments<P>> {
  /** The name of the entry. */
  readonly name: string;
  readonly #make: () => TypedKernel<P>;
  readonly #plan: (given: G) => Plan<P>;
  readonly #choose: Choose<P, G> | undefined;
  #kernel: TypedKernel<P> | undefined;
  readonly #compiled = new WeakSet<Device>();

  /** @internal */
  constructor(name: string, make: (name: string) => TypedKernel<P>, plan: (given: G) => Plan<P>, choose?: Choose<P, G>) {
    this.name = name;
    this.#choose = choose;
    this.#make = () => make(name);
    this.#plan = plan;
  }

  /** The kernel, made when it is first asked for. */
  get kernel(): TypedKernel<P> {
    this.#kernel ??= this.#make();
    return this.#kernel;
  }

  /** The grid and the block of a launch. Throws CM5093 for sizes that are not whole, or too large for a buffer. */
  plan(given: G): Plan<P> {
    const plan = this.#plan(given);
    for (const [name, size] of Object.entries(plan.sizes ?? {}))
      if (!Number.isInteger(size) || size < 0 || size > 0xffff_ffff)
        refuse(this.name, `\`${name}\` is ${size}, and has to be a whole number from 0 to 4294967295`);
    for (const [name, count] of Object.entries(plan.needs ?? {})) this.#assertHolds(name, plan.args[name], count as number);
    return plan;
  }

  /** Enqueues a launch; of no elements, nothing. Throws CM5093 as `plan`, and what a launch of the API throws. */
  launch(device: Device, given: G, options: RoutineLaunch = {}): Work<LaunchReport> | undefined {
    const chosen = this.variant(device, given);
    if (chosen !== this) return chosen.launch(device, given, options);
    const { stream, watch } = options;
    const { grid, block, args, shared } = this.plan(given);
    if ([grid].flat().some((each) => each === 0)) return undefined;
    // The CPU device has more shared memory than Apple's GPUs, for kernels that are compiled for it alone.
    if (shared && device.info.kind === 'cpu' && !this.#compiled.has(device)) {
      this.kernel.module(device, { compile: { target: 'cpu' } });
      this.#compiled.add(device);
    }
    const others = { ...(shared ? { shared } : {}), ...(stream ? { stream } : {}), ...(watch ? { watch } : {}) };
    return this.kernel.launch(device, { grid, block: block as number, args, ...others });
  }

  /** The routine that a launch on a device runs: this one, or another with the same result that is faster there. */
  variant(device: Device, given: G): Routine<P, G> {
    return this.#choose?.(device, given) ?? this;
  }

  #assertHolds(name: string, value: unknown, count: number): void {
    const part = partOf(value);
    if (part && part.length < count) refuse(this.name, `\`${name}\` has ${part.length} elements, and ${count} are needed`);
  }
}

const made = new Map<string, Routine<Parameters, never>>();

/** The routine of a name, which says its type and options: one for all callers. */
export function routine<P extends Parameters, G>(
  name: string,
  make: (name: string) => TypedKernel<P>,
  plan: (given: G) => Plan<P>,
  choose?: Choose<P, G>,
): Routine<P, G> {
  const known = made.get(name);
  if (known) return known as unknown as Routine<P, G>;
  const created = new Routine<P, G>(name, make, plan, choose);
  made.set(name, created as unknown as Routine<Parameters, never>);
  return created;
}

/** The text of a library kernel does not say where the library is. */
export const portable = { locations: false } as const;

/** The name of a routine: parts that are false or empty are left out. */
export const named = (...parts: readonly (string | number | false | undefined)[]): string =>
  parts.filter((part) => part !== false && part !== undefined && part !== '').join('_');

/** The blocks that cover a number of elements. */
export const blocksFor = (count: number, each: number): number => Math.ceil(count / each);
