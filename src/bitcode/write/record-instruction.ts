/**
 * Instructions as records. Operands are distances back to their definitions; an operand that is defined later is a large unsigned
 * distance with its type behind it; phis use signed distances instead.
 */
import type { Block, Instruction, InstructionOf, Metadata, Value } from '../model.ts';
import { isLocal } from '../operands.ts';
import { allocaExplicitType, binaryCodes, blocks, callFlags, castCodes, predicateCodes } from '../records.ts';
import type { Type } from '../types.ts';
import { fail } from './numbering.ts';
import { endRecord, put, refer, references } from './tape.ts';
import { typeIndex, valueIndex, type Walk } from './walk.ts';

const codes = blocks.function.records;

/** Alignments are written as log2 + 1, 0 for none. */
export const alignCode = (bytes: number): number => (bytes < 2 ** 32 ? 32 - Math.clz32(bytes) : Math.log2(bytes) + 1);

/** Whether an operand is an instruction that was met; its number is that of its value then. Numbers may be of another time. */
const isMet = ({ instructions }: Walk, of: Value): of is Instruction & { readonly number: number } => {
  const { number } = of as Instruction;
  return number !== undefined && instructions[number] === of;
};

/** Puts the distance back to an operand; gives whether it is defined later. */
function value(w: Walk, of: Value): boolean {
  const { tape, instructions } = w;
  const from = instructions.length;
  if (isMet(w, of)) {
    put(tape, from - of.number);
    return false;
  }
  const at = put(tape, from);
  if (of.kind === 'instruction') w.forward.push({ at, from, to: of, isSigned: false });
  else refer(tape, at, references.value, valueIndex(w, of));
  return of.kind === 'instruction';
}

/** The same, with the type where the operand is defined later. */
function typed(w: Walk, of: Value): void {
  if (value(w, of)) lateType(w, of.type);
}

/** The same with a sign. */
function signed(w: Walk, of: Value): void {
  const { tape, instructions } = w;
  const from = instructions.length;
  if (isMet(w, of)) return void put(tape, 2 * (from - of.number));
  const at = put(tape, from);
  if (of.kind === 'instruction') w.forward.push({ at, from, to: of, isSigned: true });
  else refer(tape, at, references.signedValue, valueIndex(w, of));
}

/** Puts the id of a value. */
function id(w: Walk, of: Value): void {
  if (isMet(w, of)) return refer(w.tape, put(w.tape, of.number), references.instruction, 0);
  if (of.kind === 'instruction') return fail(of);
  refer(w.tape, put(w.tape, 0), references.id, valueIndex(w, of));
}

/** Counts an operand as used before those in front of it in the record. */
function meet(w: Walk, of: Value): void {
  if (of.kind !== 'instruction') valueIndex(w, of);
}

const type = (w: Walk, of: Type, at = put(w.tape, 0)): void => refer(w.tape, at, references.type, typeIndex(w, of));
const lateType = (w: Walk, of: Type): unknown => w.lateTypes.push([put(w.tape, 0), of]);
const block = (w: Walk, of: Block): unknown => put(w.tape, w.blocks.get(of) ?? fail('a block of another function'));

/** Flags of 32 bits where there are any; a file may hold more bits, which mean nothing. */
function flagged(w: Walk, flags: number): void {
  if ((flags | 0) !== 0) put(w.tape, flags);
}

/** Puts the record of an instruction on the tape. */
export function recordInstruction(w: Walk, inst: Instruction): void {
  const { tape } = w;
  typeIndex(w, inst.type);
  switch (inst.op) {
    case 'binary':
      typed(w, inst.a);
      value(w, inst.b);
      put(tape, binaryCodes[inst.opcode]);
      flagged(w, inst.flags);
      return endRecord(tape, codes.binop);
    case 'fneg':
      typed(w, inst.value);
      put(tape, 0);
      flagged(w, inst.flags);
      return endRecord(tape, codes.unop);
    case 'cast':
      typed(w, inst.value);
      type(w, inst.type);
      put(tape, castCodes[inst.opcode]);
      return endRecord(tape, codes.cast);
    case 'icmp':
    case 'fcmp':
      typed(w, inst.a);
      value(w, inst.b);
      put(tape, predicateCodes[inst.predicate]);
      flagged(w, inst.flags);
      return endRecord(tape, codes.cmp2);
    case 'select':
      meet(w, inst.condition);
      typed(w, inst.a);
      value(w, inst.b);
      typed(w, inst.condition);
      flagged(w, inst.flags);
      return endRecord(tape, codes.select);
    case 'phi':
      return recordPhi(w, inst);
    case 'call':
      return recordCall(w, inst);
    case 'alloca':
    case 'load':
    case 'store':
    case 'gep':
      return recordAccess(w, inst);
    case 'extractvalue':
    case 'insertvalue':
    case 'extractelement':
    case 'insertelement':
    case 'shufflevector':
      return recordParts(w, inst);
    case 'freeze':
      typed(w, inst.value);
      return endRecord(tape, codes.freeze);
    default:
      return recordTerminator(w, inst);
  }
}

function recordPhi(w: Walk, inst: InstructionOf<'phi'>): void {
  type(w, inst.type);
  for (const incoming of inst.incoming) {
    signed(w, incoming.value);
    block(w, incoming.block);
  }
  flagged(w, inst.flags);
  endRecord(w.tape, codes.phi);
}

function recordAccess(w: Walk, inst: InstructionOf<'alloca' | 'load' | 'store' | 'gep'>): void {
  const { tape } = w;
  switch (inst.op) {
    case 'alloca':
      meet(w, inst.count);
      type(w, inst.allocated);
      type(w, inst.count.type);
      id(w, inst.count);
      put(tape, alignCode(inst.align) | allocaExplicitType);
      return endRecord(tape, codes.alloca);
    case 'load':
      typed(w, inst.pointer);
      type(w, inst.type);
      put(tape, alignCode(inst.align));
      put(tape, inst.isVolatile ? 1 : 0);
      return endRecord(tape, codes.load);
    case 'store':
      typed(w, inst.pointer);
      typed(w, inst.value);
      put(tape, alignCode(inst.align));
      put(tape, inst.isVolatile ? 1 : 0);
      return endRecord(tape, codes.store);
    case 'gep': {
      put(tape, inst.inbounds ? 1 : 0);
      // The type counts as used behind the operands.
      const sourceType = put(tape, 0);
      typed(w, inst.base);
      for (const index of inst.indices) typed(w, index);
      type(w, inst.sourceType, sourceType);
      return endRecord(tape, codes.gep);
    }
  }
}

type Parts = InstructionOf<'extractvalue' | 'insertvalue' | 'extractelement' | 'insertelement' | 'shufflevector'>;

function recordParts(w: Walk, inst: Parts): void {
  const { tape } = w;
  switch (inst.op) {
    case 'extractvalue':
      typed(w, inst.aggregate);
      for (const at of inst.path) put(tape, at);
      return endRecord(tape, codes.extractValue);
    case 'insertvalue':
      typed(w, inst.aggregate);
      typed(w, inst.value);
      for (const at of inst.path) put(tape, at);
      return endRecord(tape, codes.insertValue);
    case 'extractelement':
      typed(w, inst.vector);
      typed(w, inst.index);
      return endRecord(tape, codes.extractElement);
    case 'insertelement':
      typed(w, inst.vector);
      value(w, inst.value);
      typed(w, inst.index);
      return endRecord(tape, codes.insertElement);
    case 'shufflevector':
      typed(w, inst.a);
      value(w, inst.b);
      typed(w, inst.mask);
      return endRecord(tape, codes.shuffleVector);
  }
}

function recordTerminator(w: Walk, inst: InstructionOf<'br' | 'condbr' | 'switch' | 'ret' | 'unreachable'>): void {
  const { tape } = w;
  switch (inst.op) {
    case 'br':
      block(w, inst.target);
      return endRecord(tape, codes.br);
    case 'condbr':
      block(w, inst.ifTrue);
      block(w, inst.ifFalse);
      value(w, inst.condition);
      return endRecord(tape, codes.br);
    case 'switch':
      lateType(w, inst.condition.type);
      value(w, inst.condition);
      block(w, inst.defaultBlock);
      for (const each of inst.cases) {
        id(w, each.value);
        block(w, each.block);
      }
      return endRecord(tape, codes.switch);
    case 'ret':
      if (inst.value) typed(w, inst.value);
      return endRecord(tape, codes.ret);
    case 'unreachable':
      return endRecord(tape, codes.unreachable);
  }
}

const tailFlags = { none: 0, tail: callFlags.tail, musttail: callFlags.tail | callFlags.mustTail, notail: callFlags.noTail } as const;

function recordCall(w: Walk, inst: InstructionOf<'call'>): void {
  const { tape } = w;
  const { functionType, args } = inst;
  const fast = inst.flags | 0;
  attributes(w, inst);
  put(
    tape,
    tailFlags[inst.tail] | ((inst.convention ?? 0) << callFlags.conventionShift) | callFlags.explicitType | (fast ? callFlags.fastMath : 0),
  );
  flagged(w, fast);
  // The type counts as used behind the operands.
  const typeAt = put(tape, 0);
  typed(w, inst.callee);
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg.kind === 'metadata') metadata(w, arg.metadata);
    else if (i < functionType.params.length) value(w, arg);
    else typed(w, arg);
  }
  type(w, functionType, typeAt);
  endRecord(tape, codes.call);
}

function attributes(w: Walk, { attributes: list }: InstructionOf<'call'>): void {
  let index = w.attributes.get(list);
  if (index === undefined) {
    index = w.attributes.size;
    w.attributes.set(list, index);
    w.lists.push(list);
  }
  refer(w.tape, put(w.tape, 0), references.attributes, index);
}

/** Puts the distance back to metadata, whose ids start with those of the module. */
function metadata(w: Walk, of: Metadata): void {
  const at = put(w.tape, w.instructions.length);
  if (!isLocal(of)) return refer(w.tape, at, references.metadata, w.metadata.push(of) - 1);
  const index = w.locals.get(of.value) ?? w.locals.size;
  w.locals.set(of.value, index);
  refer(w.tape, at, references.localMetadata, index);
}
