/**
 * A function block: its constants, then instructions whose operands are distances back to their definitions. An operand that
 * is defined later is a large unsigned distance with its type behind it; phis use signed distances instead.
 */
import { type FunctionNumbers, type ModuleNumbers, numberFunction } from './enumerate.ts';
import { placeOf } from './locations.ts';
import type { Attachment, Block, Instruction, InstructionOf, Function as LlvmFunction, MetadataNode, Value } from './model.ts';
import { allocaExplicitType, binaryCodes, blocks, callFlags, castCodes, predicateCodes } from './records.ts';
import type { StreamWriter } from './stream-writer.ts';
import { type Type, types } from './types.ts';
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
    const writer: InstructionWriter = { out, module, numbers, next: numbers.firstInstruction };
    const scan = module.scanOf(fn);
    const attached: Attached[] = [];
    let place: MetadataNode | undefined;
    let number = 0;
    for (const block of fn.blocks)
      for (const inst of block.body) {
        writeInstruction(writer, inst);
        if (inst.type !== types.void) writer.next++;
        if (scan.hasAttached && inst.metadata?.length) {
          place = writePlace(out, inst, place, module) ?? place;
          attached.push([number, placeOf(inst).others]);
        }
        number++;
      }
    writeNames(out, fn, scan.named, numbers);
    writeAttachments(out, fn, attached, module);
  });
}

/** The number of an instruction and what hangs on it. */
type Attached = readonly [number: number, list: readonly Attachment[]];

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
}

const codes = blocks.function.records;

/** Puts the distance back to an operand. */
const value = (w: InstructionWriter, of: Value): void => w.out.put((w.next - w.numbers.valueId(of)) >>> 0);

/** The same, with the type where the operand is defined later. */
function typed(w: InstructionWriter, of: Value): void {
  const back = w.next - w.numbers.valueId(of);
  w.out.put(back >>> 0);
  if (back <= 0) type(w, of.type);
}

/** The same with a sign. */
function signed(w: InstructionWriter, of: Value): void {
  const back = w.next - w.numbers.valueId(of);
  w.out.put(back >= 0 ? 2 * back : -2 * back + 1);
}

const type = (w: InstructionWriter, of: Type): void => w.out.put(w.module.types.idOf(of));
const block = (w: InstructionWriter, of: Block): void => w.out.put(w.numbers.blockId(of));

function flagged(w: InstructionWriter, flags: number): void {
  if (flags !== 0) w.out.put(flags);
}

function writeInstruction(w: InstructionWriter, inst: Instruction): void {
  const { out } = w;
  switch (inst.op) {
    case 'binary':
      typed(w, inst.a);
      value(w, inst.b);
      out.put(binaryCodes[inst.opcode]);
      flagged(w, inst.flags);
      return out.end(codes.binop);
    case 'fneg':
      typed(w, inst.value);
      out.put(0);
      flagged(w, inst.flags);
      return out.end(codes.unop);
    case 'cast':
      typed(w, inst.value);
      type(w, inst.type);
      out.put(castCodes[inst.opcode]);
      return out.end(codes.cast);
    case 'icmp':
    case 'fcmp':
      typed(w, inst.a);
      value(w, inst.b);
      out.put(predicateCodes[inst.predicate]);
      flagged(w, inst.flags);
      return out.end(codes.cmp2);
    case 'select':
      typed(w, inst.a);
      value(w, inst.b);
      typed(w, inst.condition);
      flagged(w, inst.flags);
      return out.end(codes.select);
    case 'phi':
      return writePhi(w, inst);
    case 'call':
      return writeCall(w, inst);
    case 'alloca':
    case 'load':
    case 'store':
    case 'gep':
      return writeAccess(w, inst);
    case 'extractvalue':
    case 'insertvalue':
    case 'extractelement':
    case 'insertelement':
    case 'shufflevector':
      return writeParts(w, inst);
    case 'freeze':
      typed(w, inst.value);
      return out.end(codes.freeze);
    default:
      return writeTerminator(w, inst);
  }
}

function writePhi(w: InstructionWriter, inst: InstructionOf<'phi'>): void {
  type(w, inst.type);
  for (const incoming of inst.incoming) {
    signed(w, incoming.value);
    block(w, incoming.block);
  }
  flagged(w, inst.flags);
  w.out.end(codes.phi);
}

function writeAccess(w: InstructionWriter, inst: InstructionOf<'alloca' | 'load' | 'store' | 'gep'>): void {
  const { out } = w;
  switch (inst.op) {
    case 'alloca':
      type(w, inst.allocated);
      type(w, inst.count.type);
      out.put(w.numbers.valueId(inst.count));
      out.put(alignCode(inst.align) | allocaExplicitType);
      return out.end(codes.alloca);
    case 'load':
      typed(w, inst.pointer);
      type(w, inst.type);
      out.put(alignCode(inst.align));
      out.put(inst.isVolatile ? 1 : 0);
      return out.end(codes.load);
    case 'store':
      typed(w, inst.pointer);
      typed(w, inst.value);
      out.put(alignCode(inst.align));
      out.put(inst.isVolatile ? 1 : 0);
      return out.end(codes.store);
    case 'gep':
      out.put(inst.inbounds ? 1 : 0);
      type(w, inst.sourceType);
      typed(w, inst.base);
      for (const index of inst.indices) typed(w, index);
      return out.end(codes.gep);
  }
}

type Parts = InstructionOf<'extractvalue' | 'insertvalue' | 'extractelement' | 'insertelement' | 'shufflevector'>;

function writeParts(w: InstructionWriter, inst: Parts): void {
  const { out } = w;
  switch (inst.op) {
    case 'extractvalue':
      typed(w, inst.aggregate);
      for (const at of inst.path) out.put(at);
      return out.end(codes.extractValue);
    case 'insertvalue':
      typed(w, inst.aggregate);
      typed(w, inst.value);
      for (const at of inst.path) out.put(at);
      return out.end(codes.insertValue);
    case 'extractelement':
      typed(w, inst.vector);
      typed(w, inst.index);
      return out.end(codes.extractElement);
    case 'insertelement':
      typed(w, inst.vector);
      value(w, inst.value);
      typed(w, inst.index);
      return out.end(codes.insertElement);
    case 'shufflevector':
      typed(w, inst.a);
      value(w, inst.b);
      typed(w, inst.mask);
      return out.end(codes.shuffleVector);
  }
}

function writeTerminator(w: InstructionWriter, inst: InstructionOf<'br' | 'condbr' | 'switch' | 'ret' | 'unreachable'>): void {
  const { out } = w;
  switch (inst.op) {
    case 'br':
      block(w, inst.target);
      return out.end(codes.br);
    case 'condbr':
      block(w, inst.ifTrue);
      block(w, inst.ifFalse);
      value(w, inst.condition);
      return out.end(codes.br);
    case 'switch':
      type(w, inst.condition.type);
      value(w, inst.condition);
      block(w, inst.defaultBlock);
      for (const each of inst.cases) {
        out.put(w.numbers.valueId(each.value));
        block(w, each.block);
      }
      return out.end(codes.switch);
    case 'ret':
      if (inst.value) typed(w, inst.value);
      return out.end(codes.ret);
    case 'unreachable':
      return out.end(codes.unreachable);
  }
}

const tailFlags = { none: 0, tail: callFlags.tail, musttail: callFlags.tail | callFlags.mustTail, notail: callFlags.noTail } as const;

function writeCall(w: InstructionWriter, inst: InstructionOf<'call'>): void {
  const { out, module } = w;
  const { functionType, args } = inst;
  out.put(module.attributes.idOf(inst.attributes));
  out.put(
    tailFlags[inst.tail] |
      ((inst.convention ?? 0) << callFlags.conventionShift) |
      callFlags.explicitType |
      (inst.flags ? callFlags.fastMath : 0),
  );
  flagged(w, inst.flags);
  type(w, functionType);
  typed(w, inst.callee);
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg.kind === 'metadata') out.put((w.next - w.numbers.metadataId(arg.metadata)) >>> 0);
    else if (i < functionType.params.length) value(w, arg);
    else typed(w, arg);
  }
  out.end(codes.call);
}

/** Names of arguments, instructions and basic blocks; Apple's compilers keep none. */
function writeNames(out: StreamWriter, fn: LlvmFunction, instructions: readonly Instruction[], numbers: FunctionNumbers): void {
  const values = [...fn.args.filter((arg) => arg.name !== undefined), ...instructions];
  const named = fn.blocks.filter((block) => block.name !== undefined);
  if (values.length + named.length === 0) return;
  const chars = (name: string | undefined): number[] => [...new TextEncoder().encode(name ?? '')];
  out.block('valueSymtab', () => {
    for (const value of values) out.record('valueSymtab', 'entry', [numbers.valueId(value), ...chars(value.name)]);
    for (const block of named) out.record('valueSymtab', 'bbEntry', [numbers.blockId(block), ...chars(block.name)]);
  });
}

/** Metadata hung on the function and on its instructions. */
function writeAttachments(out: StreamWriter, fn: LlvmFunction, all: readonly Attached[], { metadata }: ModuleNumbers): void {
  const words = (list: readonly Attachment[]): number[] => attachmentWords(list, metadata);
  const attached = all.filter(([, list]) => list.length > 0);
  if (fn.metadata.length === 0 && attached.length === 0) return;
  out.block('metadataAttachment', () => {
    if (fn.metadata.length > 0) out.record('metadataAttachment', 'attachment', words(fn.metadata));
    for (const [at, list] of attached) out.record('metadataAttachment', 'attachment', [at, ...words(list)]);
  });
}
