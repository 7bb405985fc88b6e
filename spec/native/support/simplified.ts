/** Functions that a spec writes, as the passes of SSA form leave them. */
import * as assert from 'uvu/assert';
import { buildSsa } from '../../../src/native/ssa/build.ts';
import { inlineCalls } from '../../../src/native/ssa/inline.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { newModule, readWasm, type WasmModule } from '../../../src/wasm/index.ts';

/** All functions of a module by number, with calls inlined; each is well formed. */
export function simplifiedModule(write: (module: WasmModule) => void): Map<number, SsaFunction> {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  write(module);
  const bytes = module.finish();
  assert.ok(WebAssembly.validate(bytes as BufferSource), 'the module is valid');
  const read = readWasm(bytes);
  const functions = new Map<number, SsaFunction>();
  for (let i = read.importedFunctions; i < read.functions.length; i++) functions.set(i, buildSsa(read, i) as SsaFunction);
  inlineCalls(functions, read);
  for (const fn of functions.values()) assert.equal(verifySsa(fn, read), []);
  return functions;
}

/** The instructions of a function in their order, without constants. */
export const opsOf = (fn: SsaFunction): string[] =>
  fn.blocks.flatMap(({ insts }) => insts.map(({ op }) => op)).filter((op) => !op.endsWith('.const'));
