/** Requirements of all format readers for arbitrary bytes: a result or a diagnostic, and the guarantees of a result. */
import { raiseModule, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, readModule, writeModule } from '../../src/bitcode/index.ts';
import { describeTag, readMetallib, validateMetallib, writeMetallib } from '../../src/metallib/index.ts';

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** How far a library gets; throws where a guarantee is violated. */
export function surviveLibrary(bytes: Uint8Array): 'refused' | 'read' | 'valid' {
  const diagnostics = new Diagnostics();
  const library = readMetallib(bytes, diagnostics);
  if (!library) {
    if (!diagnostics.hasErrors) throw new Error('refused without a diagnostic');
    return 'refused';
  }
  for (const fn of library.functions) for (const tag of [...(fn.publicTags ?? []), ...(fn.privateTags ?? [])]) describeTag(tag);
  const again = writeMetallib(library);
  if (!validateMetallib(bytes, new Diagnostics())) return 'read';
  if (!isSame(again, bytes)) throw new Error('valid, but written with other bytes');
  return 'valid';
}

/** The same for raw bitcode. */
export function surviveModule(bytes: Uint8Array): 'refused' | 'read' | 'raised' {
  const diagnostics = new Diagnostics();
  const module = readModule(bytes, diagnostics);
  if (!module) {
    if (!diagnostics.hasErrors) throw new Error('refused without a diagnostic');
    return 'refused';
  }
  const text = disassemble(module);
  const again = writeModule(module);
  const reread = readModule(again, diagnostics);
  if (!reread) throw new Error(`what was written is not read: ${diagnostics.list[0]?.message}`);
  if (!isSame(writeModule(reread), again)) throw new Error('what was written is written with other bytes');
  if (disassemble(reread) !== text) throw new Error('what was written has another text');
  validateAir(module, new Diagnostics());
  return raiseModule(module, new Diagnostics()).length > 0 ? 'raised' : 'read';
}
