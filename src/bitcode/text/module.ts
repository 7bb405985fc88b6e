/**
 * A module as text: what `llvm-dis` of LLVM 14 prints for the same bitcode, without its first line.
 * Source: `llvm/lib/IR/AsmWriter.cpp` of LLVM 14, as seen in its output.
 */
import type { GlobalVariable, Module } from '../model.ts';
import { spell, spellBody, spellName } from '../types.ts';
import { attributeGroups } from './attributes.ts';
import { quoted, typedConstant } from './constants.ts';
import { functionLines } from './function.ts';
import { metadataText } from './metadata.ts';
import { usedStructs } from './struct-order.ts';

/** LLVM text of a module. */
export function disassemble(module: Module): string {
  const groups = attributeGroups();
  const metadata = metadataText(module);
  // Functions take the first group numbers, the calls in them the next.
  for (const fn of module.functions) groups.reference(fn.attributes.function);
  const functions = module.functions.map((fn) => functionLines(fn, { groups, metadata }));
  const parts = [
    headerLines(module),
    usedStructs(module).map((struct) => `${spell(struct)} = type ${spellBody(struct)}`),
    module.globals.map((global) => `${globalLine(global)}${metadata.attachments(global.metadata, ', ')}`),
    ...functions,
    groups.lines(),
    metadata.namedLines(),
    metadata.nodeLines(),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

function headerLines(module: Module): string[] {
  const lines = [`source_filename = ${quoted(module.sourceFilename)}`];
  if (module.dataLayout) lines.push(`target datalayout = "${module.dataLayout}"`);
  if (module.triple) lines.push(`target triple = "${module.triple}"`);
  return lines;
}

function globalLine(global: GlobalVariable): string {
  const linkage = global.linkage === 'external' ? (global.init ? '' : 'external ') : `${global.linkage} `;
  const words = [
    global.dsoLocal ? 'dso_local ' : '',
    global.visibility ? `${global.visibility} ` : '',
    global.unnamedAddr === 'none' ? '' : `${global.unnamedAddr} `,
    global.type.space === 0 ? '' : `addrspace(${global.type.space}) `,
    global.externallyInitialized ? 'externally_initialized ' : '',
    global.isConstant ? 'constant ' : 'global ',
  ];
  const value = global.init ? typedConstant(global.init) : spell(global.valueType);
  const section = global.section === undefined ? '' : `, section ${quoted(global.section)}`;
  return `@${spellName(global.name)} = ${linkage}${words.join('')}${value}${section}${global.align ? `, align ${global.align}` : ''}`;
}
