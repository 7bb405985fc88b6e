/** A function block: its constants, then the records of its instructions, then names and attached metadata. */

import type { Attachment, Function as LlvmFunction } from '../model.ts';
import { writeConstants } from './constants.ts';
import { type FunctionNumbers, type ModuleNumbers, numberFunction } from './enumerate.ts';
import { attachmentWords } from './metadata.ts';
import type { StreamWriter } from './stream-writer.ts';
import { fillIn } from './tape.ts';
import type { FunctionScan, Numbered } from './walk.ts';

/** Writes a function's body; returns the word at which its block starts. */
export function writeFunction(out: StreamWriter, fn: LlvmFunction, module: ModuleNumbers): number {
  const scan = module.scanOf(fn);
  const { tape, tapeNumbers, types } = module;
  const numbers = numberFunction(scan, module);
  fillIn(tape, ...scan.fixups, { ...tapeNumbers, ids: numbers.ids, first: numbers.firstInstruction });
  return out.block('function', () => {
    out.record('function', 'declareBlocks', { count: fn.blocks.length });
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
      out.record('metadata', 'value', { type: types.idOf(value.type), value: id });
    }
  });
}

/** Names of arguments, instructions and basic blocks; Apple's compilers keep none. */
function writeNames(out: StreamWriter, fn: LlvmFunction, { names }: FunctionScan, numbers: FunctionNumbers): void {
  const values = fn.args.flatMap(({ name }, i) => (name === undefined ? [] : [{ value: numbers.firstArgument + i, name }]));
  for (const [number, name] of names) values.push({ value: numbers.firstInstruction + number, name });
  const blocks = fn.blocks.flatMap(({ name }, block) => (name === undefined ? [] : [{ block, name }]));
  if (values.length + blocks.length === 0) return;
  out.block('valueSymtab', () => {
    for (const entry of values) out.record('valueSymtab', 'entry', entry);
    for (const entry of blocks) out.record('valueSymtab', 'bbEntry', entry);
  });
}

/** Metadata attached to the function and to its instructions. */
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
    if (fn.metadata.length > 0) out.record('metadataAttachment', 'attachment', { attachments: words(fn.metadata) });
    for (const [instruction, list] of attached) out.record('metadataAttachment', 'attachment', { instruction, attachments: words(list) });
  });
}
