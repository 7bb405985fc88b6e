/** AIR modules as input: bitcode (`.air`, `.bc`) and its text (`.ll`) become a metallib again. Loaded on demand, with the compiler. */

import { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import { parseModules, tripleOf } from '../../bitcode/index.ts';
import { metallibOfBitcode, metallibOfModules } from '../../compile/index.ts';
import { ptxOfBitcode } from '../../nvvm/index.ts';
import { hostHash } from '../command/host-hash.ts';
import { binaryDiagnostics } from './binary.ts';

/** The PTX of a module of LLVM's NVPTX target; `refused` after reporting CM4002 or CM4080, undefined for modules of other targets. */
export function readNvvm(path: string, bytes: Uint8Array, diagnostics: Diagnostics): SourceFile | 'refused' | undefined {
  if (!tripleOf(bytes)?.startsWith('nvptx')) return undefined;
  const own = binaryDiagnostics(path);
  const ptx = ptxOfBitcode(bytes, own);
  diagnostics.addAll(own.list);
  return ptx === undefined ? 'refused' : new SourceFile(`${path} (PTX)`, ptx);
}

/** The metallib of an AIR module; undefined after reporting CM40xx. */
export function readAir(path: string, bytes: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined {
  const own = binaryDiagnostics(path);
  const made = metallibOfBitcode(bytes, hostHash, own);
  diagnostics.addAll(own.list);
  return made;
}

/** The metallib of the text of AIR modules; undefined after reporting CM40xx. */
export function readAirText(path: string, text: string, diagnostics: Diagnostics): Uint8Array | undefined {
  const own = new Diagnostics(new SourceFile(path, text));
  const modules = parseModules(text, own);
  const made = modules && metallibOfModules(modules, hostHash, own);
  diagnostics.addAll(own.list);
  return made;
}
