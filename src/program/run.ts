/** Runs the host half of a CUDA program: lowers its memory, gives it WASI and the CUDA runtime, and calls its start. */
import { closest } from '../base/closest.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { type CudaOptions, CudaState, cudaFunctions, cudaImports, linkedBinary, managedPointer, sharing } from './cudart/index.ts';
import { deviceCodes } from './device-code.ts';
import { deepError, framesOf, notesOf } from './frames.ts';
import { lowerMemory } from './lower/index.ts';
import { ProgramMemory, programWindow } from './memory.ts';
import type { ProgramHost } from './wasi/host.ts';
import { newWasi, type WasiState, wasiImports } from './wasi/index.ts';

/** Exit codes besides a program's own, as a shell reports them: of a program that stopped itself, and of one that a signal ended. */
export const stoppedCode = 134;

export interface RunOptions extends CudaOptions {
  readonly host: ProgramHost;
}

/** Thrown through the program to stop it, after its reason has been reported. */
class Stopped extends Error {}

/** A program that already has this much probably asked for more than there is. */
const muchMemory = 2 ** 30;
const nullHelp = (bytes: number): string =>
  bytes < muchMemory
    ? 'the pointer was never set, or comes from a function that failed'
    : `allocations give null where memory is used up: this program has ${(bytes / 2 ** 30).toFixed(1)} of at most 4 GiB of host memory`;
const elsewhereHelp = 'the pointer was freed, or never set';

/** What a module must export to be a program. */
interface Exports {
  readonly memory?: WebAssembly.Memory;
  readonly _start?: () => void;
  readonly malloc?: (bytes: bigint) => bigint;
  readonly free?: (pointer: bigint) => void;
  readonly __indirect_function_table?: WebAssembly.Table;
  /** Of C++ programs: what takes an exception, and what then ends the program with the exception's message. */
  readonly __cxa_begin_catch?: (exception: bigint) => bigint;
  readonly _ZSt9terminatev?: () => void;
}

/**
 * Runs a linked program: `wasm64`, its data linked into the window of `programWindow`. Returns its exit code. Undefined after reporting CM4090
 * to CM4092 for what is no such program; a program that stops in the middle is reported (CM5080, CM5081) and gives `stoppedCode`.
 */
export function runProgram(bytes: Uint8Array, options: RunOptions): number | undefined {
  const diagnostics = new Diagnostics();
  const lowered = lowerMemory(bytes, diagnostics, { window: programWindow, sharing });
  const module = lowered && compiled(lowered, diagnostics);
  if (!module) {
    options.report(diagnostics);
    return undefined;
  }
  return new Program(module, { readImage: imageReader(bytes), ...options }).run();
}

/** Reads device code: a text in memory, or what the text stands for. */
function imageReader(bytes: Uint8Array): NonNullable<CudaOptions['readImage']> {
  const codes = deviceCodes(bytes);
  return (memory, pointer) => {
    const text = memory.cString(pointer);
    return text === undefined ? undefined : (codes.get(text) ?? text);
  };
}

function compiled(bytes: Uint8Array, diagnostics: Diagnostics): WebAssembly.Module | undefined {
  try {
    return new WebAssembly.Module(bytes as Uint8Array<ArrayBuffer>);
  } catch (error) {
    diagnostics.report('CM4091', { why: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Bytes below the memory of a program that a stack without end reaches. */
const belowStack = 1n << 24n;

/** What is at an address outside of the memory of a program, and what to do. */
function whatIs(address: bigint, isDevice: boolean, bytes: number): { readonly what: string; readonly help?: string } {
  const start = BigInt(programWindow) << 32n;
  if (address < 65_536n) return { what: 'a null pointer', help: nullHelp(bytes) };
  if (isDevice) return { what: 'device memory, which only kernels and copies can access' };
  if (address >= start - belowStack && address < start + 65_536n)
    return { what: 'below the stack, which is used up', help: 'the stack has 8 MiB: allocate large arrays, and end recursion earlier' };
  return { what: 'no memory', help: elsewhereHelp };
}

/** Reasons of traps, by what the engines say. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/unreachable/i, 'it reached code without defined behavior, such as an access through a pointer that is always null'],
  [/call stack|stack size/i, 'it has used up its stack'],
  [/divi.* by zero/i, 'it divided an integer by zero'],
  [/call_indirect|indirect call|null function|table index|signature/i, 'it called through a pointer that is no function of this type'],
  [/out of bounds memory|memory access out of bounds/i, 'it accessed memory that it does not have'],
];

const reasonOf = (message: string): string => reasons.find(([pattern]) => pattern.test(message))?.[1] ?? message;

/** A kind of exception with a pointer, where the engine has them. */
const newTag = (): WebAssembly.Tag | undefined =>
  typeof WebAssembly.Tag === 'function' ? new WebAssembly.Tag({ parameters: ['i64'] }) : undefined;

class Program {
  readonly #module: WebAssembly.Module;
  readonly #options: RunOptions;
  readonly #cuda: CudaState;
  readonly #wasi: WasiState;
  #memory: ProgramMemory | undefined;
  /** What C++ throws: the pointer to the exception. */
  readonly #tag = newTag();
  /** Whether the reason of the end has been reported. */
  #isReported = false;

  constructor(module: WebAssembly.Module, options: RunOptions) {
    this.#module = module;
    this.#options = options;
    this.#cuda = new CudaState(options);
    this.#wasi = newWasi(options.host) as WasiState;
  }

  run(): number | undefined {
    const diagnostics = new Diagnostics();
    const exports = this.#instantiate(diagnostics);
    if (!exports) {
      this.#options.report(diagnostics);
      return undefined;
    }
    try {
      exports._start!();
      return this.#wasi.exitCode ?? 0;
    } catch (error) {
      return this.#codeOf(this.#uncaught(error, exports));
    } finally {
      this.#wasi.descriptors.closeAll();
    }
  }

  #instantiate(diagnostics: Diagnostics): Exports | undefined {
    let exports: Exports;
    try {
      exports = new WebAssembly.Instance(this.#module, this.#imports()).exports as Exports;
    } catch (error) {
      diagnostics.report('CM4091', { why: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
    const { memory, malloc, free, __indirect_function_table: table } = exports;
    if (!(memory && malloc && free && exports._start)) {
      diagnostics.report('CM4092', { names: ['memory', '_start', 'malloc', 'free'].filter((name) => !(name in exports)).join(', ') });
      return undefined;
    }
    const own = new ProgramMemory(memory);
    own.managed = (address, count) => {
      const pointer = managedPointer(this.#cuda, address, count);
      return pointer === undefined ? undefined : own.index(pointer, count);
    };
    this.#memory = own;
    this.#wasi.memory = own;
    this.#cuda.memory = own;
    this.#cuda.exports = {
      malloc,
      free,
      function: (pointer) => (table && pointer < BigInt(table.length) ? (table.get(Number(pointer)) ?? undefined) : undefined),
    };
    return exports;
  }

  #imports(): WebAssembly.Imports {
    const cuda: Record<string, WebAssembly.ImportValue> = cudaImports(this.#cuda);
    const env = Object.fromEntries(
      WebAssembly.Module.imports(this.#module)
        .filter(({ module, kind }) => module === 'env' && kind === 'function')
        .map(({ name }) => [
          name,
          cuda[name] ?? (name.startsWith(linkedBinary) ? cuda[linkedBinary]! : undefined) ?? ((): never => this.#stop('CM5080', name)),
        ]),
    );
    // A jump takes the pointer to the buffer and the value.
    if (this.#tag) Object.assign(env, { __cpp_exception: this.#tag, __c_longjmp: newTag() });
    return {
      env,
      wasi_snapshot_preview1: wasiImports(this.#wasi),
      cumetal: { outside: (address: bigint) => this.#outside(BigInt.asUintN(64, address)) },
    };
  }

  /** The index of managed memory. An access at -1 stops the program, as one at any address that is not there. */
  #outside(address: bigint): number {
    const index = this.#memory?.managed(address, 1);
    if (index !== undefined) return index;
    const shown = `0x${address.toString(16)}`;
    const isDevice = this.#cuda.allocations.find(address) !== undefined;
    this.#report('CM5081', { address: shown, ...whatIs(address, isDevice, this.#memory?.bytes.length ?? 0) });
    return -1;
  }

  #report(code: 'CM5081', { help, ...holes }: { address: string; what: string; help?: string }): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const diagnostics = new Diagnostics();
    diagnostics.report(code, holes, { notes: notesOf(framesOf(deepError())), ...(help === undefined ? {} : { help }) });
    this.#options.report(diagnostics);
  }

  #stop(code: 'CM5080', name: string): never {
    if (!this.#isReported) {
      this.#isReported = true;
      const diagnostics = new Diagnostics();
      const near = closest(name, Object.keys(cudaFunctions));
      diagnostics.report(code, { name }, near ? { help: `\`${near}\` is there` } : {});
      this.#options.report(diagnostics);
    }
    throw new Stopped(name);
  }

  /** Has C++ end the program with the message of an exception that nothing caught. Returns what that threw. */
  #uncaught(error: unknown, exports: Exports): unknown {
    const { __cxa_begin_catch: take, _ZSt9terminatev: terminate } = exports;
    const isOfProgram = this.#tag && typeof WebAssembly.Exception === 'function' && error instanceof WebAssembly.Exception;
    if (!isOfProgram || !error.is(this.#tag!) || !take || !terminate || this.#wasi.exitCode !== undefined) return error;
    try {
      take(error.getArg(this.#tag!, 0) as bigint);
      terminate();
    } catch (end) {
      return end;
    }
    return error;
  }

  /** How a program ended that did not return. */
  #codeOf(error: unknown): number {
    if (this.#wasi.exitCode !== undefined) return this.#wasi.exitCode;
    if (this.#isReported) return stoppedCode;
    const isTrap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    const isThrown = typeof WebAssembly.Exception === 'function' && error instanceof WebAssembly.Exception;
    if (!isTrap && !isThrown) throw error;
    this.#isReported = true;
    const diagnostics = new Diagnostics();
    const notes = isTrap ? notesOf(framesOf(error)) : [];
    diagnostics.report('CM5082', { why: isThrown ? 'an exception that nothing caught' : reasonOf((error as Error).message) }, { notes });
    this.#options.report(diagnostics);
    return stoppedCode;
  }
}
