/** A module of WebAssembly as machine code of x86-64, through all steps. */
import { readWasm, type ValueType, type WasmModuleRead } from '../wasm/index.ts';
import { calleesOf, callOrder } from './call-order.ts';
import { removeChecks } from './checks/index.ts';
import { contextOffsets, traps } from './context.ts';
import { emitEntry, emitExits, isEnterable } from './entry.ts';
import { allocate, emitFunction } from './machine/index.ts';
import { pack } from './pack/index.ts';
import { select, unsupported } from './select/index.ts';
import type { GlobalLayout, ImportLayout, LocalLayout, ModuleLayout } from './select/layout.ts';
import { buildSsa } from './ssa/build.ts';
import { inlineCalls } from './ssa/inline.ts';
import { simplify } from './ssa/simplify.ts';
import type { SsaFunction } from './ssa/types.ts';
import { type Assembler, type Features, type Label, newAssembler } from './x64/index.ts';

/** The registers that the allocator has. */
const generalRegisters = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12];

/** Bytes of stack that a module may need at most, beside those of the functions that it imports. */
const maxStackBytes = 256 * 1024;

export interface NativeEntry {
  /** Where it starts in the code. */
  readonly offset: number;
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
}

export interface NativeImport {
  readonly name: string;
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  /** Whether the code calls it. */
  readonly isUsed: boolean;
}

export interface NativeGlobal {
  /** The name that it is exported by. */
  readonly name: string | undefined;
  readonly type: ValueType;
  /** Where it is in the context: 8 bytes, of which an i32 or an f32 has the lower 4. */
  readonly offset: number;
  /** Its bits at first. */
  readonly initial: bigint;
}

/**
 * The code of a module. It is called with the address of a context in rdi and the parameters of the function in the further registers of the System V
 * ABI; it returns a trap code in eax (`traps`), and the function's result in the context (`contextOffsets.result`).
 */
export interface NativeCode {
  /** Machine code that runs at any address that is a multiple of 64. */
  readonly code: Uint8Array;
  readonly contextBytes: number;
  /** Exported functions by name. */
  readonly entries: Readonly<Record<string, NativeEntry>>;
  /** Imported functions; the context has the address of number i at `contextOffsets.imports + 8 * i`. */
  readonly imports: readonly NativeImport[];
  readonly globals: readonly NativeGlobal[];
  /** Bytes of stack that the deepest chain of calls needs, without imported functions. */
  readonly stackBytes: number;
}

/** Why a module has no native code. */
export interface NoCode {
  readonly why: string;
}

/** Compiles a module that `src/wasm` encoded. A module with anything unsupported has no code. */
export function compileNative(bytes: Uint8Array, features: Features): NativeCode | NoCode {
  const module = readWasm(bytes);
  const functions = functionsOf(module, features);
  if ('why' in functions) return functions;
  const out = newAssembler(features);
  const layout = layoutOf(module, out);
  for (const fn of functions) {
    const why = unsupported(fn, layout);
    if (why !== undefined) return { why };
  }
  const entries = emitEntries(out, module, layout);
  if ('why' in entries) return entries;
  const stackBytes = emitFunctions(out, functions, layout, features);
  if (stackBytes > maxStackBytes) return { why: `${stackBytes} bytes of stack` };
  const code = out.finish();
  return {
    code,
    contextBytes: contextOffsets.imports + 8 * (module.importedFunctions + module.globals.length),
    entries: Object.fromEntries([...entries].map(([name, { label, ...entry }]) => [name, { offset: out.offsetOf(label), ...entry }])),
    imports: importsOf(module, functions),
    globals: module.globals.map(({ type, init }, i) => ({
      name: module.exports.find(({ kind, index }) => kind === 'global' && index === i)?.name,
      type,
      offset: layout.globals[i]!.offset,
      initial: init.bits ?? 0n,
    })),
    stackBytes,
  };
}

const exportedFunctions = (module: WasmModuleRead) => module.exports.filter(({ kind }) => kind === 'func');

/** The functions of a module that exports reach, optimized, each behind those that it calls. */
function functionsOf(module: WasmModuleRead, features: Features): SsaFunction[] | NoCode {
  const functions = new Map<number, SsaFunction>();
  const roots = exportedFunctions(module).map(({ index }) => index);
  const pending = [...roots];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    if (index < module.importedFunctions || functions.has(index)) continue;
    const built = buildSsa(module, index);
    if ('why' in built) return built;
    functions.set(index, built);
    pending.push(...calleesOf(built));
  }
  if (!callOrder(functions, roots)) return { why: 'a function that calls itself' };
  inlineCalls(functions, module);
  const order = callOrder(functions, roots)!.map((index) => functions.get(index)!);
  for (const fn of order) {
    const isChanged = removeChecks(fn);
    const hasVectors = fn.types.includes('v128');
    if (hasVectors) pack(fn, features.avx512 ? 64 : 32, features.fastGathers);
    if (hasVectors || isChanged) simplify(fn);
  }
  return order;
}

function layoutOf(module: WasmModuleRead, out: Assembler): ModuleLayout {
  const globalsAt = contextOffsets.imports + 8 * module.importedFunctions;
  return {
    functions: module.functions.map((signature, i): ImportLayout | LocalLayout =>
      i < module.importedFunctions ? { signature, offset: contextOffsets.imports + 8 * i } : { signature, label: out.newLabel() },
    ),
    globals: module.globals.map(({ type }, i) => ({ type: type as GlobalLayout['type'], offset: globalsAt + 8 * i })),
    traps: Array.from({ length: Object.keys(traps).length + 1 }, () => out.newLabel()),
    leave: out.newLabel(),
  };
}

type LabeledEntry = Omit<NativeEntry, 'offset'> & { readonly label: Label };

function emitEntries(out: Assembler, module: WasmModuleRead, layout: ModuleLayout): Map<string, LabeledEntry> | NoCode {
  const entries = new Map<string, LabeledEntry>();
  for (const { name, index } of exportedFunctions(module)) {
    const callee = layout.functions[index]!;
    if (!('label' in callee) || !isEnterable(callee.signature)) return { why: `the exported function ${name}` };
    entries.set(name, { label: emitEntry(out, callee, layout), ...callee.signature });
  }
  emitExits(out, layout);
  return entries;
}

/** Emits functions, each behind those that it calls; the most bytes of stack that one of them needs with those. */
function emitFunctions(out: Assembler, functions: readonly SsaFunction[], layout: ModuleLayout, features: Features): number {
  const depths = new Map<number, number>();
  const vector = Array.from({ length: features.avx512 ? 32 : 16 }, (_, i) => i);
  for (const fn of functions) {
    const allocated = allocate(select(fn, layout, features), { general: generalRegisters, vector });
    out.align(32);
    out.bind((layout.functions[fn.index] as LocalLayout).label);
    emitFunction(out, allocated);
    const below = [...calleesOf(fn)].map((index) => depths.get(index) ?? 0);
    // The return address is on the stack, too.
    depths.set(fn.index, allocated.frameBytes + 8 + Math.max(0, ...below));
  }
  return Math.max(0, ...depths.values());
}

function importsOf(module: WasmModuleRead, functions: readonly SsaFunction[]): NativeImport[] {
  const used = new Set(functions.flatMap((fn) => [...calleesOf(fn)]));
  return module.imports
    .filter(({ kind }) => kind === 'func')
    .map(({ name }, i) => ({ name, ...module.functions[i]!, isUsed: used.has(i) }));
}
