/**
 * A function block: its constants, then instructions whose operands are distances back to their definitions. An operand that
 * is defined later is a large unsigned distance with its type behind it; phis use signed distances instead.
 */
import { type FunctionNumbers, type ModuleNumbers, numberFunction } from './enumerate.ts';
import type { Instruction, InstructionOf, Function as LlvmFunction, Metadata, Value } from './model.ts';
import { allocaExplicitType, binaryCodes, callFlags, castCodes, predicateCodes } from './records.ts';
import type { Operand, StreamWriter } from './stream-writer.ts';
import { types } from './types.ts';
import { signedVbr, writeConstants } from './write-constants.ts';

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
    for (const block of fn.blocks)
      for (const inst of block.body) {
        writeInstruction(writer, inst);
        if (inst.type !== types.void) writer.next++;
      }
    writeAttachments(out, fn, module);
  });
}

function writeLocalMetadata(out: StreamWriter, numbers: FunctionNumbers, { types: typeNumbers }: ModuleNumbers): void {
  out.block('metadata', () => {
    for (const value of numbers.metadata) out.record('metadata', 'value', [typeNumbers.idOf(value.type), numbers.valueId(value)]);
  });
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
  signed(value: Value): bigint;
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
    signed: (value) => signedVbr(BigInt(distance(value))),
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

/** Metadata hung on the function and on its instructions. */
function writeAttachments(out: StreamWriter, fn: LlvmFunction, { metadata }: ModuleNumbers): void {
  const kindId = (kind: string): number => metadata.kinds.indexOf(kind);
  const words = (list: LlvmFunction['metadata']): number[] => list.flatMap(({ kind, node }) => [kindId(kind), metadata.idOf(node)]);
  const instructions = fn.blocks.flatMap((block) => block.body);
  if (fn.metadata.length === 0 && instructions.every((inst) => !inst.metadata?.length)) return;
  out.block('metadataAttachment', () => {
    if (fn.metadata.length > 0) out.record('metadataAttachment', 'attachment', words(fn.metadata));
    instructions.forEach((inst, i) => {
      if (inst.metadata?.length) out.record('metadataAttachment', 'attachment', [i, ...words(inst.metadata)]);
    });
  });
}
