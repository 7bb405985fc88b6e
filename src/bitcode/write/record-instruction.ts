/** Instructions as records of the function block. */
import { bug } from '../../base/bug.ts';
import { allocaExplicitType, binaryCodes, callFlags, castCodes, predicateCodes } from '../codes.ts';
import type { Instruction, InstructionOf } from '../model.ts';
import * as put from './record-fields.ts';
import { bodyRecords as records } from './record-fields.ts';
import { typeIndex, valueIndex, type Walk } from './walk.ts';

/** Alignments are written as log2 + 1, 0 for none. */
export const alignCode = (bytes: number): number => (bytes < 2 ** 32 ? 32 - Math.clz32(bytes) : Math.log2(bytes) + 1);

/** Puts the record of an instruction on the tape. */
export function recordInstruction(w: Walk, inst: Instruction): void {
  typeIndex(w, inst.type);
  switch (inst.op) {
    case 'binary':
    case 'icmp':
    case 'fcmp':
    case 'fneg':
    case 'cast':
    case 'select':
    case 'freeze':
      return recordArithmetic(w, inst);
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
      return recordElementAccess(w, inst);
    case 'fence':
    case 'cmpxchg':
    case 'atomicrmw':
      return bug(`bitcode: ${inst.op} is written by no user of this room`);
    default:
      return recordTerminator(w, inst);
  }
}

function recordArithmetic(w: Walk, inst: InstructionOf<'binary' | 'icmp' | 'fcmp' | 'fneg' | 'cast' | 'select' | 'freeze'>): void {
  switch (inst.op) {
    case 'binary': {
      const { f } = records.binop;
      put.typed(w, f.a, inst.a);
      put.value(w, f.b, inst.b);
      put.word(w, f.opcode, binaryCodes[inst.opcode]);
      put.flags(w, f.flags, inst.flags);
      return put.endRecord(w, records.binop);
    }
    case 'icmp':
    case 'fcmp': {
      const { f } = records.cmp2;
      put.typed(w, f.a, inst.a);
      put.value(w, f.b, inst.b);
      put.word(w, f.predicate, predicateCodes[inst.predicate]);
      put.flags(w, f.flags, inst.flags);
      return put.endRecord(w, records.cmp2);
    }
    case 'fneg': {
      const { f } = records.unop;
      put.typed(w, f.value, inst.value);
      put.word(w, f.opcode, 0);
      put.flags(w, f.flags, inst.flags);
      return put.endRecord(w, records.unop);
    }
    case 'cast': {
      const { f } = records.cast;
      put.typed(w, f.value, inst.value);
      put.type(w, f.type, inst.type);
      put.word(w, f.opcode, castCodes[inst.opcode]);
      return put.endRecord(w, records.cast);
    }
    case 'select': {
      const { f } = records.select;
      // LLVM enumerates the condition first, though it is written last.
      if (inst.condition.kind !== 'instruction') valueIndex(w, inst.condition);
      put.typed(w, f.true, inst.a);
      put.value(w, f.false, inst.b);
      put.typed(w, f.condition, inst.condition);
      put.flags(w, f.flags, inst.flags);
      return put.endRecord(w, records.select);
    }
    case 'freeze':
      put.typed(w, records.freeze.f.value, inst.value);
      return put.endRecord(w, records.freeze);
  }
}

function recordPhi(w: Walk, inst: InstructionOf<'phi'>): void {
  const { f } = records.phi;
  put.type(w, f.type, inst.type);
  put.incoming(w, f.incoming, inst.incoming);
  put.flags(w, f.flags, inst.flags);
  put.endRecord(w, records.phi);
}

function recordAccess(w: Walk, inst: InstructionOf<'alloca' | 'load' | 'store' | 'gep'>): void {
  switch (inst.op) {
    case 'alloca': {
      const { f } = records.alloca;
      put.type(w, f.type, inst.allocated);
      put.operandType(w, f.sizeType, inst.count.type);
      put.id(w, f.size, inst.count);
      put.word(w, f.align, alignCode(inst.align) | allocaExplicitType);
      return put.endRecord(w, records.alloca);
    }
    case 'load': {
      const { f } = records.load;
      put.typed(w, f.pointer, inst.pointer);
      put.type(w, f.type, inst.type);
      put.word(w, f.align, alignCode(inst.align));
      put.word(w, f.volatile, inst.isVolatile ? 1 : 0);
      return put.endRecord(w, records.load);
    }
    case 'store': {
      const { f } = records.store;
      put.typed(w, f.pointer, inst.pointer);
      put.typed(w, f.value, inst.value);
      put.word(w, f.align, alignCode(inst.align));
      put.word(w, f.volatile, inst.isVolatile ? 1 : 0);
      return put.endRecord(w, records.store);
    }
    case 'gep': {
      const { f } = records.gep;
      put.word(w, f.inbounds, inst.inbounds ? 1 : 0);
      put.type(w, f.type, inst.sourceType);
      put.typed(w, f.base, inst.base);
      put.typedList(w, f.indices, inst.indices);
      return put.endRecord(w, records.gep);
    }
  }
}

type ElementAccess = InstructionOf<'extractvalue' | 'insertvalue' | 'extractelement' | 'insertelement' | 'shufflevector'>;

function recordElementAccess(w: Walk, inst: ElementAccess): void {
  switch (inst.op) {
    case 'extractvalue':
      put.typed(w, records.extractValue.f.aggregate, inst.aggregate);
      put.words(w, records.extractValue.f.path, inst.path);
      return put.endRecord(w, records.extractValue);
    case 'insertvalue': {
      const { f } = records.insertValue;
      put.typed(w, f.aggregate, inst.aggregate);
      put.typed(w, f.value, inst.value);
      put.words(w, f.path, inst.path);
      return put.endRecord(w, records.insertValue);
    }
    case 'extractelement':
      put.typed(w, records.extractElement.f.vector, inst.vector);
      put.typed(w, records.extractElement.f.index, inst.index);
      return put.endRecord(w, records.extractElement);
    case 'insertelement': {
      const { f } = records.insertElement;
      put.typed(w, f.vector, inst.vector);
      put.value(w, f.value, inst.value);
      put.typed(w, f.index, inst.index);
      return put.endRecord(w, records.insertElement);
    }
    case 'shufflevector': {
      const { f } = records.shuffleVector;
      put.typed(w, f.a, inst.a);
      put.value(w, f.b, inst.b);
      put.typed(w, f.mask, inst.mask);
      return put.endRecord(w, records.shuffleVector);
    }
  }
}

function recordTerminator(w: Walk, inst: InstructionOf<'br' | 'condbr' | 'switch' | 'ret' | 'unreachable'>): void {
  switch (inst.op) {
    case 'br':
      put.block(w, records.br.f.then, inst.target);
      return put.endRecord(w, records.br);
    case 'condbr': {
      const { f } = records.br;
      put.block(w, f.then, inst.ifTrue);
      put.block(w, f.else, inst.ifFalse);
      put.value(w, f.condition, inst.condition);
      return put.endRecord(w, records.br);
    }
    case 'switch': {
      const { f } = records.switch;
      put.operandType(w, f.type, inst.condition.type);
      put.value(w, f.condition, inst.condition);
      put.block(w, f.default, inst.defaultBlock);
      put.cases(w, f.cases, inst.cases);
      return put.endRecord(w, records.switch);
    }
    case 'ret':
      if (inst.value) put.typed(w, records.ret.f.value, inst.value);
      return put.endRecord(w, records.ret);
    case 'unreachable':
      return put.endRecord(w, records.unreachable);
  }
}

const tailFlags = { none: 0, tail: callFlags.tail, musttail: callFlags.tail | callFlags.mustTail, notail: callFlags.noTail } as const;

function recordCall(w: Walk, inst: InstructionOf<'call'>): void {
  const { f } = records.call;
  const flags = inst.flags | 0;
  const convention = (inst.convention ?? 0) << callFlags.conventionShift;
  put.attributes(w, f.attributes, inst.attributes);
  put.word(w, f.cc, tailFlags[inst.tail] | convention | callFlags.explicitType | (flags ? callFlags.fastMath : 0));
  put.flags(w, f.flags, flags);
  put.type(w, f.type, inst.functionType);
  put.typed(w, f.callee, inst.callee);
  put.callArguments(w, f.args, inst);
  put.endRecord(w, records.call);
}
