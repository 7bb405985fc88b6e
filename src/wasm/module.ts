/** A module: imports, functions, globals, exports. Source: WebAssembly Core Specification 2.0, 5.5 (modules). */
import { ByteWriter } from '../base/bytes.ts';
import { type Code, newCode } from './code.ts';
import { signed, unsigned } from './leb.ts';
import { type NumberType, type ValueType, valueTypes } from './opcodes.ts';

export interface Signature {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
}

export interface WasmModule {
  /** Index of a function imported from `env`; all imports come before the first `fn`. */
  importFunction(name: string, signature: Signature): number;
  /** Imports the one memory from `env`, which threads may share. */
  importMemory(name: string, minPages: number, maxPages: number, isShared?: boolean): void;
  /** Index of a new mutable global, 0 at first; exported where it has a name. */
  global(type: NumberType, exportName?: string): number;
  /** Index of a new function whose body is to be written to `code` before `finish`. */
  fn(signature: Signature, exportName?: string): { readonly index: number; readonly code: Code };
  /** The encoded module. */
  finish(): Uint8Array;
}

const kinds = { function: 0, memory: 2, global: 3 } as const;

interface Parts {
  readonly types: Signature[];
  readonly imports: { readonly name: string; readonly encoded: readonly number[] | Uint8Array }[];
  readonly functions: { readonly type: number; readonly code: Code }[];
  readonly globals: NumberType[];
  readonly exports: { readonly name: string; readonly kind: number; readonly index: number }[];
}

/** An empty module. */
export function newModule(): WasmModule {
  const parts: Parts = { types: [], imports: [], functions: [], globals: [], exports: [] };
  let importedFunctions = 0;
  return {
    importFunction(name, signature) {
      const out = new ByteWriter();
      out.u8(kinds.function);
      unsigned(out, typeIndex(parts.types, signature));
      parts.imports.push({ name, encoded: out.finish() });
      return importedFunctions++;
    },
    importMemory(name, minPages, maxPages, isShared = false) {
      const out = new ByteWriter();
      // Bit 0: there is a maximum. Bit 1: threads share it. Source: the threads proposal, binary format of limits.
      out.bytes([kinds.memory, isShared ? 3 : 1]);
      unsigned(out, minPages);
      unsigned(out, maxPages);
      parts.imports.push({ name, encoded: out.finish() });
    },
    global(type, exportName) {
      const index = parts.globals.push(type) - 1;
      if (exportName !== undefined) parts.exports.push({ name: exportName, kind: kinds.global, index });
      return index;
    },
    fn(signature, exportName) {
      const code = newCode(signature.params);
      const index = importedFunctions + parts.functions.push({ type: typeIndex(parts.types, signature), code }) - 1;
      if (exportName !== undefined) parts.exports.push({ name: exportName, kind: kinds.function, index });
      return { index, code };
    },
    finish: () => encode(parts, importedFunctions),
  };
}

function typeIndex(types: Signature[], wanted: Signature): number {
  const same = (a: readonly ValueType[], b: readonly ValueType[]): boolean => a.join() === b.join();
  const found = types.findIndex((type) => same(type.params, wanted.params) && same(type.results, wanted.results));
  return found >= 0 ? found : types.push(wanted) - 1;
}

function encode({ types, imports, functions, globals, exports }: Parts, importedFunctions: number): Uint8Array {
  const out = new ByteWriter();
  out.bytes([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  section(out, 1, types, (to, type) => {
    to.u8(0x60);
    vector(to, type.params, (t, each) => t.u8(valueTypes[each]));
    vector(to, type.results, (t, each) => t.u8(valueTypes[each]));
  });
  section(out, 2, imports, (to, { name, encoded }) => {
    text(to, 'env');
    text(to, name);
    to.bytes(encoded);
  });
  section(out, 3, functions, (to, { type }) => unsigned(to, type));
  section(out, 6, globals, (to, type) => {
    to.bytes([valueTypes[type], 1]);
    zero(to, type);
    to.u8(0x0b);
  });
  section(out, 7, exports, (to, each) => {
    text(to, each.name);
    to.u8(each.kind);
    unsigned(to, each.index);
  });
  branchHints(out, functions, importedFunctions);
  section(out, 10, functions, (to, { code }) => {
    const body = code.finish();
    unsigned(to, body.length);
    to.bytes(body);
  });
  return out.finish();
}

/** Says which branches are seldom taken. Source: the proposal "Branch Hinting", custom section. */
function branchHints(out: ByteWriter, functions: Parts['functions'], importedFunctions: number): void {
  const hinted = functions.flatMap(({ code }, i) => {
    const branches = code.rareBranches();
    return branches.length > 0 ? [{ index: importedFunctions + i, branches }] : [];
  });
  if (hinted.length === 0) return;
  const body = new ByteWriter();
  text(body, 'metadata.code.branch_hint');
  vector(body, hinted, (to, { index, branches }) => {
    unsigned(to, index);
    vector(to, branches, (t, at) => {
      unsigned(t, at);
      t.bytes([1, 0]);
    });
  });
  out.u8(0);
  unsigned(out, body.length);
  out.bytes(body.finish());
}

function zero(out: ByteWriter, type: NumberType): void {
  out.u8({ i32: 0x41, i64: 0x42, f32: 0x43, f64: 0x44 }[type]);
  if (type === 'f32' || type === 'f64') out.zeros(type === 'f32' ? 4 : 8);
  else signed(out, 0n);
}

function vector<T>(out: ByteWriter, items: readonly T[], write: (out: ByteWriter, item: T) => void): void {
  unsigned(out, items.length);
  for (const item of items) write(out, item);
}

function section<T>(out: ByteWriter, id: number, items: readonly T[], write: (out: ByteWriter, item: T) => void): void {
  if (items.length === 0) return;
  const body = new ByteWriter();
  vector(body, items, write);
  out.u8(id);
  unsigned(out, body.length);
  out.bytes(body.finish());
}

function text(out: ByteWriter, value: string): void {
  const bytes = new TextEncoder().encode(value);
  unsigned(out, bytes.length);
  out.bytes(bytes);
}
