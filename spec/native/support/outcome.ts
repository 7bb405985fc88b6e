/** What the exported function of a random module does: by WebAssembly, and by the interpreter after passes. */
import { buildSsa } from '../../../src/native/ssa/build.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { readWasm, type WasmModuleRead } from '../../../src/wasm/index.ts';
import { randomFractions } from '../../support/lcg.ts';
import { type Datum, interpret, Trap } from './interpret.ts';

export interface Outcome {
  /** The result; undefined after a trap. */
  readonly result: number | undefined;
  readonly trap: string | undefined;
  readonly total: number;
  /** What `note` was called with. */
  readonly notes: readonly number[];
  readonly memory: Uint8Array;
}

/** What `note` answers. */
const answerTo = (value: number): number => (Math.imul(value, 3) + 1) | 0;

/** The first bytes of memory before a run. */
export function initialMemory(seed: number, bytes = 1024): Uint8Array {
  const random = randomFractions(seed);
  return Uint8Array.from({ length: bytes }, () => (random() < 0.3 ? 0 : Math.floor(random() * 256)));
}

/** Traps by words that both have. */
const trapWords = ['', 'unreachable', 'memory', 'zero', 'overflow', 'conversion'] as const;

/** A trap of WebAssembly in Bun by its message. Conversions of numbers that are too large and of NaN have one message. */
function trapOfError(error: unknown): string {
  if (error instanceof Trap) return trapWords[error.code]!.replace('conversion', 'overflow');
  const { message } = error as Error;
  if (/division by zero/i.test(message)) return 'zero';
  if (/unreachable/i.test(message)) return 'unreachable';
  if (/trunc|overflow/i.test(message)) return 'overflow';
  if (/out of bounds/i.test(message)) return 'memory';
  throw error;
}

/** What a random module imports: a page of memory with its first bytes, and `note`, whose calls are noted. */
export function newImports(start: Uint8Array): { memory: WebAssembly.Memory; note(value: number): number; readonly notes: number[] } {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  new Uint8Array(memory.buffer).set(start);
  const notes: number[] = [];
  const note = (value: number): number => {
    notes.push(value);
    return answerTo(value);
  };
  return { memory, note, notes };
}

/** Runs the module by WebAssembly. */
export function runWasm(bytes: Uint8Array, args: readonly [number, number], start: Uint8Array): Outcome {
  const { memory, note, notes } = newImports(start);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes as BufferSource), { env: { memory, note } });
  const done = attempt(() => (exports.run as (a: number, b: number) => number)(...args));
  return { ...done, total: (exports.total as WebAssembly.Global).value as number, notes, memory: new Uint8Array(memory.buffer) };
}

/** The result of a run, or how it trapped. */
export function attempt(run: () => number): { result: number | undefined; trap: string | undefined } {
  try {
    return { result: run(), trap: undefined };
  } catch (error) {
    return { result: undefined, trap: trapOfError(error) };
  }
}

/** Runs the module by the interpreter, with its functions as `change` makes them. */
export const runSsa = (
  bytes: Uint8Array,
  args: readonly [number, number],
  start: Uint8Array,
  change: (fn: SsaFunction, module: WasmModuleRead) => SsaFunction = (fn) => fn,
): Outcome =>
  runSsaModule(bytes, args, start, (functions, module) => {
    for (const [index, fn] of functions) functions.set(index, change(fn, module));
  });

/** The same, where `change` has all functions by number. */
export function runSsaModule(
  bytes: Uint8Array,
  args: readonly [number, number],
  start: Uint8Array,
  change: (functions: Map<number, SsaFunction>, module: WasmModuleRead) => void,
): Outcome {
  const module = readWasm(bytes);
  const functions = new Map<number, SsaFunction>();
  for (let i = module.importedFunctions; i < module.functions.length; i++) functions.set(i, buildSsa(module, i) as SsaFunction);
  change(functions, module);
  const notes: number[] = [];
  const memory = new Uint8Array(65536);
  memory.set(start);
  const world = {
    memory,
    globals: module.globals.map(() => 0n),
    call(index: number, given: readonly Datum[]): Datum | undefined {
      if (index >= module.importedFunctions) return interpret(functions.get(index)!, given, world);
      const value = Number(BigInt.asIntN(32, given[0] as bigint));
      notes.push(value);
      return BigInt.asUintN(32, BigInt(answerTo(value)));
    },
  };
  const run = module.exports.find(({ name }) => name === 'run')!.index;
  const done = attempt(() =>
    Number(
      BigInt.asIntN(
        32,
        world.call(
          run,
          args.map((arg) => BigInt.asUintN(32, BigInt(arg))),
        ) as bigint,
      ),
    ),
  );
  return { ...done, total: Number(BigInt.asIntN(32, world.globals[0]!)), notes, memory };
}

/** How two outcomes differ; undefined where they do not. */
export function differenceOf(a: Outcome, b: Outcome): string | undefined {
  if (a.trap !== b.trap) return `trap ${a.trap} and ${b.trap}`;
  if (a.result !== b.result) return `result ${a.result} and ${b.result}`;
  if (a.total !== b.total) return `total ${a.total} and ${b.total}`;
  if (a.notes.join() !== b.notes.join()) return `notes ${a.notes.join()} and ${b.notes.join()}`;
  const at = a.memory.findIndex((byte, i) => byte !== b.memory[i]);
  return at < 0 ? undefined : `byte ${at} is ${a.memory[at]} and ${b.memory[at]}`;
}
