/** Modules as machine code of this process, with the interface of instances of WebAssembly. */
import { placeModule } from '../../../src/device/cpu/native/compile.ts';
import { instantiate } from '../../../src/device/cpu/native/instantiate.ts';
import type { NativeModule } from '../../../src/device/cpu/native/module.ts';
import { nativeCalls } from '../../../src/ffi/native/calls.ts';
import { processorFeatures } from '../../../src/ffi/native/processor.ts';
import { compileNative, type Features, type NativeCode } from '../../../src/native/index.ts';

/** What native code can be made for and run here, by names; none elsewhere. */
export function runnableFeatures(): readonly (readonly [name: string, features: Features])[] {
  const { hasBaseline, hasAvx512 } = processorFeatures();
  if (!hasBaseline || !nativeCalls()) return [];
  if (!hasAvx512) return [['AVX2', { avx512: false }]];
  return [
    ['AVX2', { avx512: false }],
    ['AVX-512', { avx512: true }],
    ['AVX-512 with gathers', { avx512: true, fastGathers: true }],
  ];
}

/** Code that lives as long as the spec. */
const modules: NativeModule[] = [];

export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Exports: functions of up to four i32, and globals as cells. */
export type Exports = Readonly<Record<string, ((...args: number[]) => number) & { value: number | bigint }>>;

/** An instance of native code of a module. */
export function nativeExports(bytes: Uint8Array, memory: WebAssembly.Memory, imports: Functions, features: Features): Exports {
  const made = compileNative(bytes, features);
  if ('why' in made) throw new Error(made.why);
  return instantiate(placed(made), memory, imports) as unknown as Exports;
}

/** Code in memory. */
export function placed(made: NativeCode): NativeModule {
  const module = placeModule(made)!;
  modules.push(module);
  return module;
}

/** An instance of WebAssembly. */
export function wasmExports(bytes: Uint8Array, memory: WebAssembly.Memory, imports: Functions): Exports {
  const module = new WebAssembly.Module(bytes as BufferSource);
  return new WebAssembly.Instance(module, { env: { memory, ...imports } } as never).exports as unknown as Exports;
}

/** What a call results in: its value, or the message of what it throws. */
export function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as Error).message.replace(/ \(evaluating.*/s, '');
  }
}
