/**
 * The host interface of a kernel's WebAssembly module: imported JavaScript functions, and globals that a launch sets. The imports implement
 * operations that WebAssembly lacks. They favor correctness over speed, and kernels rarely call them.
 */

import { bf16Bits, bf16Value, f16Bits, f16Value, f64Bits, f64Value } from '../../base/float.ts';
import { floatFormats, floatOfInteger, fmaFloat } from '../../base/float-exact.ts';
import type { Signature, ValueType, WasmModule } from '../../wasm/index.ts';
import type { Target } from './target.ts';

const signature = (params: string, result: ValueType | ''): Signature => ({
  params: params.split(' ').filter((word) => word !== '') as ValueType[],
  results: result === '' ? [] : [result],
});

const narrowFma = (format: 'f16' | 'bf16') => (a: number, b: number, c: number) =>
  Number(fmaFloat(floatFormats[format], BigInt(a), BigInt(b), BigInt(c)));

/** Nanoseconds since 1970 by a monotonic clock. `timeOrigin` makes it the same clock in all workers, each of which starts at another time. */
const nanoseconds = (): bigint => BigInt(Math.round(performance.timeOrigin * 1e3)) * 1000n + BigInt(Math.floor(performance.now() * 1e6));

/** The imported functions except `tick`, which belongs to a launch. f16 and bf16 values are passed as their bits. */
const hostRows = {
  f16Value: { signature: signature('i32', 'f32'), run: f16Value },
  bf16Value: { signature: signature('i32', 'f32'), run: bf16Value },
  f16Bits: { signature: signature('f64', 'i32'), run: f16Bits },
  bf16Bits: { signature: signature('f64', 'i32'), run: bf16Bits },
  f16OfSigned: { signature: signature('i64', 'i32'), run: (x: bigint) => Number(floatOfInteger(floatFormats.f16, x)) },
  f16OfUnsigned: {
    signature: signature('i64', 'i32'),
    run: (x: bigint) => Number(floatOfInteger(floatFormats.f16, BigInt.asUintN(64, x))),
  },
  bf16OfSigned: { signature: signature('i64', 'i32'), run: (x: bigint) => Number(floatOfInteger(floatFormats.bf16, x)) },
  bf16OfUnsigned: {
    signature: signature('i64', 'i32'),
    run: (x: bigint) => Number(floatOfInteger(floatFormats.bf16, BigInt.asUintN(64, x))),
  },
  fmaF16: { signature: signature('i32 i32 i32', 'i32'), run: narrowFma('f16') },
  fmaBf16: { signature: signature('i32 i32 i32', 'i32'), run: narrowFma('bf16') },
  fmaF64: {
    signature: signature('f64 f64 f64', 'f64'),
    run: (a: number, b: number, c: number) => f64Value(fmaFloat(floatFormats.f64, f64Bits(a), f64Bits(b), f64Bits(c))),
  },
  exp2: { signature: signature('f64', 'f64'), run: (x: number) => 2 ** x },
  log2: { signature: signature('f64', 'f64'), run: Math.log2 },
  sin: { signature: signature('f64', 'f64'), run: Math.sin },
  cos: { signature: signature('f64', 'f64'), run: Math.cos },
  tanh: { signature: signature('f64', 'f64'), run: Math.tanh },
  counter: { signature: signature('', 'i64'), run: nanoseconds },
  time: { signature: signature('', 'i64'), run: nanoseconds },
  rsqrt: { signature: signature('f64', 'f64'), run: (x: number) => 1 / Math.sqrt(x) },
} satisfies Record<string, { signature: Signature; run: (...x: never[]) => unknown }>;

export type HostFunction = keyof typeof hostRows;

/**
 * What a turn of a block results in: all threads have ended, those that are left have done nothing but wait for a whole round, or the turn has
 * had its rounds.
 */
export const turns = { ended: 0, waits: 1, runs: 2 } as const;

/** Thrown where threads of a warp wait for each other, and none of them can ever continue. */
export class Stuck extends Error {}

const stuck = (): never => {
  throw new Stuck();
};

/** The imports of a kernel's module. The kernel calls `tick` whenever its fuel is used up; `tick` may throw to stop the kernel. */
export function hostImports(memory: WebAssembly.Memory, tick: () => void): WebAssembly.Imports {
  const functions = Object.fromEntries(Object.entries(hostRows).map(([name, row]) => [name, row.run]));
  return { env: { memory, tick, stuck, ...functions } } as unknown as WebAssembly.Imports;
}

/** i32 globals that a launch sets or reads: shapes, addresses of windows, and the current block and thread. */
export const wordGlobals = [
  'ntid.x',
  'ntid.y',
  'ntid.z',
  'nctaid.x',
  'nctaid.y',
  'nctaid.z',
  'ctaid.x',
  'ctaid.y',
  'ctaid.z',
  'threads',
  'shared',
  'constant',
  'local',
  'records',
  'states',
  'thread',
] as const;
export type WordGlobal = (typeof wordGlobals)[number];

/** Indices of imports and globals in the module. */
export interface Host {
  /** Whether several workers share the memory (a SharedArrayBuffer), so that atomics need WebAssembly's atomic instructions. */
  readonly isShared: boolean;
  /** What compiles the module further. */
  readonly target: Target;
  readonly tick: number;
  /** Of a kernel whose threads wait for the threads of a member mask: stops the launch. */
  readonly stuck: number | undefined;
  readonly functions: Readonly<Record<HostFunction, number>>;
  readonly globals: Readonly<Record<WordGlobal, number>>;
  /** By parameter: the i64 global that holds its address. */
  readonly params: readonly number[];
}

/** Name under which the address of a parameter is exported. */
export const paramGlobal = (index: number): string => `param.${index}`;

interface HostChoice {
  /** For memory that several workers share. */
  readonly isShared?: boolean | undefined;
  /** Whether threads may be stuck. */
  readonly hasMasks?: boolean;
  readonly target?: Target;
}

/** Declares imports and globals in an empty module. */
export function declareHost(module: WasmModule, paramCount: number, { isShared = false, hasMasks = false, target }: HostChoice = {}): Host {
  module.importMemory('memory', 1, 65536, isShared);
  const tick = module.importFunction('tick', signature('', ''));
  const stuck = hasMasks ? module.importFunction('stuck', signature('', '')) : undefined;
  const functions = Object.fromEntries(Object.entries(hostRows).map(([name, row]) => [name, module.importFunction(name, row.signature)]));
  const globals = Object.fromEntries(wordGlobals.map((name) => [name, module.global('i32', name)]));
  const params = Array.from({ length: paramCount }, (_, i) => module.global('i64', paramGlobal(i)));
  return { isShared, target, tick, stuck, functions: functions as Host['functions'], globals: globals as Host['globals'], params };
}
