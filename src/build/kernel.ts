/** Kernels: a body that is traced once, its PTX, and launches with the types of its parameters. */
import {
  type Device,
  type Extent,
  extent,
  type KernelArgument,
  type LaunchOptions,
  type LaunchReport,
  type Kernel as Loaded,
  type Module as LoadedModule,
  type ModuleOptions,
  type Work,
} from '../api/index.ts';
import { bf16Bits, f16Bits } from '../base/float.ts';
import type { Module, SourceFile } from '../ptx/index.ts';
import { assemble } from './assemble.ts';
import { assertBlock, type BlockSize } from './block.ts';
import { fail } from './fail.ts';
import { nameNode } from './nodes.ts';
import type { Arguments, Inside, Parameters, ParameterType } from './parameters.ts';
import { bracketed, Pointer, VectorPointer } from './pointer.ts';
import type { Block } from './shape.ts';
import type { Target } from './targets.ts';
import { Trace, tracing } from './trace.ts';
import type { MemoryName, TypeName } from './types.ts';
import { Value } from './value.ts';

/** The options of a launch: those of the API, with arguments by name. */
export interface KernelLaunch<P extends Parameters, B extends Extent>
  extends Omit<LaunchOptions<readonly KernelArgument[]>, 'args' | 'block' | 'grid'> {
  /** The number of blocks. */
  readonly grid: Extent;
  /** The threads of a block: at most 1024. */
  readonly block: B & Block<B>;
  readonly args: Arguments<P>;
}

/** The options of a kernel. */
export interface KernelOptions<B extends Extent = Extent, M extends number = number> {
  /** The threads of every block, which a launch then has to have (`.reqntid`): at most 1024. */
  readonly block?: B & Block<B>;
  /** The largest number of threads of a block (`.maxntid`), for which registers are shared out: at most 1024. */
  readonly maxThreads?: M & Block<M>;
  /** The least number of blocks of a multiprocessor at a time (`.minnctapersm`). */
  readonly minBlocks?: number;
  /** The newest architecture that the kernel may need; without it, it may need any, and states the least that it does need. */
  readonly target?: Target;
  /** Whether the PTX names lines of TypeScript (`.loc`); true by default. Text without them does not depend on where the program is. */
  readonly locations?: boolean;
}

/** A kernel: its PTX, and launches on any device. */
export class TypedKernel<P extends Parameters = Parameters> {
  /** The name of the entry. */
  readonly name: string;
  /** The types of the parameters. */
  readonly parameters: P;
  /** The PTX, with the least `.version` and `.target` that its instructions need. */
  readonly ptx: string;
  /** The PTX as a source of the compiler. */
  readonly source: SourceFile;
  /** The syntax tree, as the parser gives it. */
  readonly ast: Module;
  /** The architecture that the PTX names. */
  readonly target: string;
  readonly #modules = new WeakMap<Device, LoadedModule>();
  readonly #block: BlockSize;
  #hasDoubles: boolean | undefined;

  /** @internal */
  constructor(
    name: string,
    parameters: P,
    { source, ast, block }: { readonly source: SourceFile; readonly ast: Module; readonly block: BlockSize },
  ) {
    this.#block = block;
    this.name = name;
    this.parameters = parameters;
    this.ptx = source.text;
    this.source = source;
    this.ast = ast;
    this.target = ast.targets[0]!.name;
  }

  /**
   * The kernel on a device, which compiles it at the first call: its module has the variables (`symbol`). With options it is compiled anew, and later
   * launches use that: `{ compile: { marks: true } }` for profiles and traces. Throws as `Device.load`.
   */
  module(device: Device, options?: ModuleOptions): LoadedModule {
    const known = this.#modules.get(device);
    if (known && isUsable(known) && !options) return known;
    const module = device.load(this.source, options ?? this.#optionsOn(device));
    this.#modules.set(device, module);
    return module;
  }

  /** On the CPU device doubles are compiled for that device, which has them: for Apple's GPUs each operation, with the same bits, is a function of integers. */
  #optionsOn({ info }: Device): ModuleOptions | undefined {
    this.#hasDoubles ??= /\.f64\b/.test(this.ptx);
    return info.kind === 'cpu' && this.#hasDoubles ? { compile: { target: 'cpu' } } : undefined;
  }

  /** The kernel of the API, for occupancy and reflection. */
  on(device: Device): Loaded {
    return this.module(device).kernel(this.name);
  }

  /**
   * Enqueues a launch on a device. The arguments have the names and types of the parameters. Throws CM5020 for a block that `blockReduce` or
   * `loadTile` of the kernel were not made for, and throws and reports as a launch of the API does.
   */
  launch<const B extends Extent>(device: Device, options: KernelLaunch<P, B>): Work<LaunchReport> {
    const { args, ...others } = options;
    assertBlock(this.name, this.#block, extent(options.block));
    const list = Object.entries(this.parameters).map(([name, type]) => argumentOf(type, args[name] as KernelArgument));
    return this.on(device).launch({ ...others, args: list } as LaunchOptions<readonly KernelArgument[]>);
  }
}

/** Whether the device of a module was not reset, and the module not closed. */
function isUsable(module: LoadedModule): boolean {
  try {
    module.assertUsable();
    return true;
  } catch {
    return false;
  }
}

/** Halves are numbers in the program and bits in the parameter. */
function argumentOf(type: ParameterType, value: KernelArgument): KernelArgument {
  if (type.kind !== 'scalar' || typeof value !== 'number') return value;
  if (type.name === 'f16') return f16Bits(value);
  return type.name === 'bf16' ? bf16Bits(value) : value;
}

/** What a body is called with: the parameters by name. */
export type Body<P extends Parameters> = (parameters: InBody<P>) => void;

/**
 * Makes a kernel. The body is called once, with the parameters as values and pointers; the operations that it calls become the
 * instructions of the kernel. Throws CM5084 to CM5089 and what the checker reports, at lines of TypeScript.
 * @example
 * const scale = kernel('scale', { factor: f32, x: ptr(f32), n: u32 }, ({ factor, x, n }) => {
 *   const i = globalIndex();
 *   when(i.lt(n), () => x.at(i).set(factor.mul(x.at(i))));
 * });
 */
export function kernel<P extends Parameters, const B extends Extent = Extent, const M extends number = number>(
  name: string,
  parameters: P,
  body: Body<P>,
  options: KernelOptions<B, M> = {},
): TypedKernel<P> {
  if (!/^[A-Za-z_][\w$]*$/.test(name)) fail('CM5088', { what: `the name \`${name}\``, why: 'it is not an identifier of PTX' });
  const sm = options.target === undefined ? undefined : Number(/\d+/.exec(options.target)![0]);
  const made = new Trace(name, { sm, locations: options.locations ?? true });
  tracing(made, () => {
    const inside = Object.fromEntries(Object.entries(parameters).map(([word, type]) => [word, parameterIn(made, word, type)]));
    body(inside as InBody<P>);
    made.emit('ret');
  });
  const block = options.block === undefined ? undefined : extent(options.block);
  if (block) assertBlock(name, made.block, block);
  return new TypedKernel(name, parameters, { ...assemble(made, parameters, { ...options, block }), block: made.block });
}

type InBody<P extends Parameters> = { readonly [N in keyof P]: Inside<P[N]> };

/** Loads a parameter at the start of the kernel. */
function parameterIn(made: Trace, name: string, type: ParameterType): unknown {
  const from = bracketed({ base: name, isSymbol: true, offset: 0 });
  const load = (as: TypeName, word: string): string => {
    const register = made.fresh(as);
    made.emit(`ld.param.${word}`, [nameNode(register), from]);
    return register;
  };
  if (type.kind === 'scalar') return new Value(type.name, load(type.name, paramType(type.name)));
  let base = load('u64', 'u64');
  if (type.space !== 'generic') {
    const given = nameNode(base);
    base = made.fresh('u64');
    made.emit(`cvta.to.${type.space}.u64`, [nameNode(base), given]);
  }
  const origin = { base, isSymbol: false, offset: 0 };
  return type.kind === 'pointer'
    ? new Pointer(type.name, type.space, origin)
    : new VectorPointer(type.name, type.count, type.space, origin);
}

const paramType = (name: MemoryName): string => (name === 'f16' || name === 'bf16' ? 'b16' : name.endsWith('x2') ? 'b32' : name);
