/** `cumetal build --emit wat` and `wat:simd`: the WebAssembly modules of the CPU device as text. Loaded on demand, with the engine. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { beyondTarget } from '../compile/about-targets.ts';
import { type CompileOptions, compile } from '../compile/index.ts';
import { moduleBytes } from '../device/cpu/launch/module-bytes.ts';
import type { Dim3 } from '../device/device.ts';
import { moduleText } from '../wasm/index.ts';
import { run } from './run/command.ts';
import { readOwnLaunch } from './run/own-launch.ts';

/** The block of `wat:simd` for a file without launch lines. */
const defaultBlock: Dim3 = [256, 1, 1];

/** The module of each kernel, by the scalar or the SIMD compiler; undefined after reporting errors. */
export function watOf(source: SourceFile, isSimd: boolean, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const block = isSimd ? blockOf(source, diagnostics) : undefined;
  const metallib = diagnostics.hasErrors ? undefined : metallibFor(source, options, diagnostics);
  const modules = metallib && moduleBytes(metallib, diagnostics, block);
  return modules?.map(({ name, bytes }) => moduleText(bytes, name)).join('\n');
}

/** The block of the file's launch lines; other files that they name do not matter here. */
function blockOf(source: SourceFile, diagnostics: Diagnostics): Dim3 {
  return readOwnLaunch(source, run, { allowsOutside: true }, diagnostics)?.plan.block ?? defaultBlock;
}

/** The metallib that `cumetal run` compiles for the CPU device: for `cpu` if no target is named and the default one lacks a feature. */
function metallibFor(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Uint8Array | undefined {
  const first = new Diagnostics(source);
  const compiled = compile(source, options, first);
  const isForCpu = !compiled && options.target === undefined && beyondTarget(first) !== undefined;
  const own = isForCpu ? new Diagnostics(source) : first;
  const result = isForCpu ? compile(source, { ...options, target: 'cpu' }, own) : compiled;
  diagnostics.addAll((result ? own : first).list);
  return result?.metallib;
}
