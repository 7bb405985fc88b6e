/**
 * A function block: its constants, then instructions whose operands are distances back to their definitions. An operand that
 * is defined later is a large unsigned distance with its type behind it; phis use signed distances instead.
 */
import { type FunctionNumbers, type ModuleNumbers, numberFunction } from './enumerate.ts';
import { placeOf } from './locations.ts';
import type { Argument, Attachment, Instruction, InstructionOf, Function as LlvmFunction, Metadata, MetadataNode, Value } from './model.ts';
import { allocaExplicitType, binaryCodes, callFlags, castCodes, predicateCodes } from './records.ts';
import type { Operand, StreamWriter } from './stream-writer.ts';
import { types } from './types.ts';
import { writeConstants } from './write-constants.ts';
import { attachmentWords } from './write-metadata.ts';

/** Alignments are written as log2 + 1, 0 for none. */
export const alignCode = (bytes: number): number => (bytes === 0 ? 0 : Math.log2(bytes) + 1);

/** Writes a function's body; gives the word at which its block starts. */
export function writeFunction(out: StreamWriter, fn: LlvmFunction, module: ModuleNumbers): number {
  const numbers = numberFunction(fn, module);
  return out.block('function', () => {
    out.record('function', 'declareBlocks', [fn.blocks.length]);
    writeConstants(out, numbers.constants, module.types, numbers.valueId);
    if (numbers.metadata.length > 0) writeLocalMetadata(out, numbers, module);
    const writer = instructionWriter(out, module, numbers);
    let place: MetadataNode | undefined;
    for (const block of fn.blocks)
      for (const inst of block.body) {
        writeInstruction(writer, inst);
        if (inst.type !== types.void) writer.next++;
        if (inst.metadata?.length) place = writePlace(out, inst, place, module) ?? place;
      }
    writeNames(out, fn, numbers);
    writeAttachments(out, fn, module);
  });
}

function writeLocalMetadata(out: StreamWriter, numbers: FunctionNumbers, { types: typeNumbers }: ModuleNumbers): void {
  out.block('metadata', () => {
    for (const value of numbers.metadata) out.record('metadata', 'value', [typeNumbers.idOf(value.type), numbers.valueId(value)]);
  });
}

/** The place of an instruction in the source, if it has one; gives what was written. */
function writePlace(
  out: StreamWriter,
  inst: Instruction,
  last: MetadataNode | undefined,
  { metadata }: ModuleNumbers,
): MetadataNode | undefined {
  const { place } = placeOf(inst);
  if (!place) return undefined;
  const [, line = 0, column = 0, , , implicit = 0] = place.debug?.values ?? [];
  const ids = place.operands.map((operand) => (operand ? metadata.idOf(operand) + 1 : 0));
  if (place === last) out.record('function', 'debugLocAgain', []);
  else out.record('function', 'debugLoc', [line, column, ids[0] ?? 0, ids[1] ?? 0, implicit]);
  return place;
}

interface InstructionWriter {
  readonly out: StreamWriter;
  readonly module: ModuleNumbers;
  readonly numbers: FunctionNumbers;
  /** The number that the next value will have; distances are counted from it. */
  next: number;
  /** Distance back to an operand. */
  value(value: Value): Operand;
  /** The same, with the type where the operand is defined later. */
  typed(value: Value): Operand[];
  signed(value: Value): number;
  metadata(metadata: Metadata): Operand;
}

function instructionWriter(out: StreamWriter, module: ModuleNumbers, numbers: FunctionNumbers): InstructionWriter {
  const distance = (value: Value): number => writer.next - numbers.valueId(value);
  const writer: InstructionWriter = {
    out,
    module,
    numbers,
    next: numbers.firstInstruction,
    value: (value) => distance(value) >>> 0,
    typed: (value) => {
      const back = distance(value);
      return back > 0 ? [back] : [back >>> 0, module.types.idOf(value.type)];
    },
    signed: (value) => {
      const back = distance(value);
      return back >= 0 ? 2 * back : -2 * back + 1;
    },
    metadata: (metadata) => (writer.next - numbers.metadataId(metadata)) >>> 0,
  };
  return writer;
}

const flagged = (flags: number): Operand[] => (flags === 0 ? [] : [flags]);

function writeInstruction(w: InstructionWriter, inst: Instruction): void {
  const { out, module } = w;
  const type = module.types.idOf;
  switch (inst.op) {
    case 'binary':
      return out.record('function', 'binop', [...w.typed(inst.a), w.value(inst.b), binaryCodes[inst.opcode], ...flagged(inst.flags)]);
    case 'fneg':
      return out.record('function', 'unop', [...w.typed(inst.value), 0, ...flagged(inst.flags)]);
    case 'cast':
      return out.record('function', 'cast', [...w.typed(inst.value), type(inst.type), castCodes[inst.opcode]]);
    case 'icmp':
    case 'fcmp':
      return out.record('function', 'cmp2', [...w.typed(inst.a), w.value(inst.b), predicateCodes[inst.predicate], ...flagged(inst.flags)]);
    case 'select':
      return out.record('function', 'select', [...w.typed(inst.a), w.value(inst.b), ...w.typed(inst.condition), ...flagged(inst.flags)]);
    case 'phi':
      return out.record('function', 'phi', [
        type(inst.type),
        ...inst.incoming.flatMap(({ value, block }) => [w.signed(value), w.numbers.blockId(block)]),
        ...flagged(inst.flags),
      ]);
    case 'call':
      return writeCall(w, inst);
    case 'alloca':
      return out.record('function', 'alloca', [
        type(inst.allocated),
        type(inst.count.type),
        w.numbers.valueId(inst.count),
        alignCode(inst.align) | allocaExplicitType,
      ]);
    case 'load':
      return out.record('function', 'load', [...w.typed(inst.pointer), type(inst.type), alignCode(inst.align), inst.isVolatile ? 1 : 0]);
    case 'store':
      return out.record('function', 'store', [
        ...w.typed(inst.pointer),
        ...w.typed(inst.value),
        alignCode(inst.align),
        inst.isVolatile ? 1 : 0,
      ]);
    case 'gep':
      return out.record('function', 'gep', [
        inst.inbounds ? 1 : 0,
        type(inst.sourceType),
        ...w.typed(inst.base),
        ...inst.indices.flatMap(w.typed),
      ]);
    case 'extractvalue':
      return out.record('function', 'extractValue', [...w.typed(inst.aggregate), ...inst.path]);
    case 'insertvalue':
      return out.record('function', 'insertValue', [...w.typed(inst.aggregate), ...w.typed(inst.value), ...inst.path]);
    case 'extractelement':
      return out.record('function', 'extractElement', [...w.typed(inst.vector), ...w.typed(inst.index)]);
    case 'insertelement':
      return out.record('function', 'insertElement', [...w.typed(inst.vector), w.value(inst.value), ...w.typed(inst.index)]);
    case 'shufflevector':
      return out.record('function', 'shuffleVector', [...w.typed(inst.a), w.value(inst.b), ...w.typed(inst.mask)]);
    case 'freeze':
      return out.record('function', 'freeze', w.typed(inst.value));
    default:
      return writeTerminator(w, inst);
  }
}

function writeTerminator(w: InstructionWriter, inst: InstructionOf<'br' | 'condbr' | 'switch' | 'ret' | 'unreachable'>): void {
  const { out, numbers } = w;
  switch (inst.op) {
    case 'br':
      return out.record('function', 'br', [numbers.blockId(inst.target)]);
    case 'condbr':
      return out.record('function', 'br', [numbers.blockId(inst.ifTrue), numbers.blockId(inst.ifFalse), w.value(inst.condition)]);
    case 'switch':
      return out.record('function', 'switch', [
        w.module.types.idOf(inst.condition.type),
        w.value(inst.condition),
        numbers.blockId(inst.defaultBlock),
        ...inst.cases.flatMap(({ value, block }) => [numbers.valueId(value), numbers.blockId(block)]),
      ]);
    case 'ret':
      return out.record('function', 'ret', inst.value ? w.typed(inst.value) : []);
    case 'unreachable':
      return out.record('function', 'unreachable', []);
  }
}

function writeCall(w: InstructionWriter, inst: InstructionOf<'call'>): void {
  const tail = { none: 0, tail: callFlags.tail, musttail: callFlags.tail | callFlags.mustTail, notail: callFlags.noTail }[inst.tail];
  const flags =
    tail | ((inst.convention ?? 0) << callFlags.conventionShift) | callFlags.explicitType | (inst.flags ? callFlags.fastMath : 0);
  const args = inst.args.flatMap((arg, i) =>
    arg.kind === 'metadata' ? [w.metadata(arg.metadata)] : i < inst.functionType.params.length ? [w.value(arg)] : w.typed(arg),
  );
  w.out.record('function', 'call', [
    w.module.attributes.idOf(inst.attributes),
    flags,
    ...flagged(inst.flags),
    w.module.types.idOf(inst.functionType),
    ...w.typed(inst.callee),
    ...args,
  ]);
}

/** Names of arguments, instructions and basic blocks; Apple's compilers keep none. */
function writeNames(out: StreamWriter, fn: LlvmFunction, numbers: FunctionNumbers): void {
  const values: (Argument | Instruction)[] = fn.args.filter((arg) => arg.name !== undefined);
  for (const { body } of fn.blocks) for (const inst of body) if (inst.name !== undefined) values.push(inst);
  const named = fn.blocks.filter((block) => block.name !== undefined);
  if (values.length + named.length === 0) return;
  const chars = (name: string | undefined): number[] => [...new TextEncoder().encode(name ?? '')];
  out.block('valueSymtab', () => {
    for (const value of values) out.record('valueSymtab', 'entry', [numbers.valueId(value), ...chars(value.name)]);
    for (const block of named) out.record('valueSymtab', 'bbEntry', [numbers.blockId(block), ...chars(block.name)]);
  });
}

/** Metadata hung on the function and on its instructions. */
function writeAttachments(out: StreamWriter, fn: LlvmFunction, { metadata }: ModuleNumbers): void {
  const words = (list: readonly Attachment[]): number[] => attachmentWords(list, metadata);
  const attached: [number: number, list: readonly Attachment[]][] = [];
  let number = 0;
  for (const { body } of fn.blocks)
    for (const inst of body) {
      const others = inst.metadata?.length ? placeOf(inst).others : [];
      if (others.length > 0) attached.push([number, others]);
      number++;
    }
  if (fn.metadata.length === 0 && attached.length === 0) return;
  out.block('metadataAttachment', () => {
    if (fn.metadata.length > 0) out.record('metadataAttachment', 'attachment', words(fn.metadata));
    for (const [at, list] of attached) out.record('metadataAttachment', 'attachment', [at, ...words(list)]);
  });
}
