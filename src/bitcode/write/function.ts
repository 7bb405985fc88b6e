/** A function block: its constants, then the records of its instructions, then names and what hangs on them. */

import type { Attachment, Function as LlvmFunction } from '../model.ts';
import { writeConstants } from './constants.ts';
import { type FunctionNumbers, type ModuleNumbers, numberFunction } from './enumerate.ts';
import { attachmentWords } from './metadata.ts';
import type { StreamWriter } from './stream-writer.ts';
import { fillIn } from './tape.ts';
import type { FunctionScan, Numbered } from './walk.ts';

/** Writes a function's body; gives the word at which its block starts. */
export function writeFunction(out: StreamWriter, fn: LlvmFunction, module: ModuleNumbers): number {
  const scan = module.scanOf(fn);
  const { tape, tapeNumbers, types } = module;
  const numbers = numberFunction(scan, module);
  fillIn(tape, ...scan.places, { ...tapeNumbers, ids: numbers.ids, first: numbers.firstInstruction });
  return out.block('function', () => {
    out.record('function', 'declareBlocks', [fn.blocks.length]);
    writeConstants(out, numbers.constants, types, numbers.valueId);
    if (scan.locals.length > 0) writeLocalMetadata(out, scan, numbers, module);
    out.records(tape.words, ...scan.words);
    writeNames(out, fn, scan, numbers);
    writeAttachments(out, fn, scan.attached, module);
  });
}

function writeLocalMetadata(out: StreamWriter, { locals }: FunctionScan, numbers: FunctionNumbers, { types }: ModuleNumbers): void {
  out.block('metadata', () => {
    for (const [number, value] of locals) {
      const id = number + (value.kind === 'argument' ? numbers.firstArgument : numbers.firstInstruction);
      out.record('metadata', 'value', [types.idOf(value.type), id]);
    }
  });
}

/** Names of arguments, instructions and basic blocks; Apple's compilers keep none. */
function writeNames(out: StreamWriter, fn: LlvmFunction, { names }: FunctionScan, numbers: FunctionNumbers): void {
  const chars = (name: string): number[] => [...new TextEncoder().encode(name)];
  const records = fn.args.flatMap(({ name }, i) => (name === undefined ? [] : [[numbers.firstArgument + i, ...chars(name)]]));
  for (const [number, name] of names) records.push([numbers.firstInstruction + number, ...chars(name)]);
  const named = fn.blocks.flatMap(({ name }, i) => (name === undefined ? [] : [[i, ...chars(name)]]));
  if (records.length + named.length === 0) return;
  out.block('valueSymtab', () => {
    for (const record of records) out.record('valueSymtab', 'entry', record);
    for (const record of named) out.record('valueSymtab', 'bbEntry', record);
  });
}

/** Metadata hung on the function and on its instructions. */
function writeAttachments(
  out: StreamWriter,
  fn: LlvmFunction,
  all: readonly Numbered<readonly Attachment[]>[],
  { metadata }: ModuleNumbers,
): void {
  const words = (list: readonly Attachment[]): number[] => attachmentWords(list, metadata);
  const attached = all.filter(([, list]) => list.length > 0);
  if (fn.metadata.length === 0 && attached.length === 0) return;
  out.block('metadataAttachment', () => {
    if (fn.metadata.length > 0) out.record('metadataAttachment', 'attachment', words(fn.metadata));
    for (const [at, list] of attached) out.record('metadataAttachment', 'attachment', [at, ...words(list)]);
  });
}
