/** Operands and parts of types, constants, instructions and metadata. */
import type { Argument, Block, Constant, Instruction, Metadata, Value } from './model.ts';
import type { Type } from './types.ts';

/** The component types of a type. */
export function typeParts(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'pointer':
      return [type.pointee];
    case 'array':
    case 'vector':
      return [type.element];
    case 'struct':
      return type.fields ?? [];
    case 'function':
      return [type.result, ...type.params];
    default:
      return [];
  }
}

/** The operands of a constant. */
export function partsOf(constant: Extract<Constant, { kind: 'constant' }>): readonly Constant[] {
  switch (constant.form) {
    case 'aggregate':
      return isData(constant) ? [] : constant.elements;
    case 'cast':
      return [constant.value];
    case 'gep':
      return [constant.base, ...constant.indices];
    case 'binary':
      return [constant.a, constant.b];
    default:
      return [];
  }
}

/** Whether a constant is an array or vector of plain numbers, which has a compact record. */
export function isData(constant: Extract<Constant, { form: 'aggregate' }>): boolean {
  const { type } = constant;
  if (type.kind !== 'array' && type.kind !== 'vector') return false;
  const { element } = type;
  const plain = element.kind === 'float' || (element.kind === 'int' && [8, 16, 32, 64].includes(element.bits));
  return plain && constant.elements.every((e) => e.kind === 'constant' && (e.form === 'int' || e.form === 'float'));
}

/** The values that an instruction uses, without blocks. */
export function operandsOf(inst: Instruction): Value[] {
  const found: Value[] = [];
  eachOperand(inst, (value) => void found.push(value));
  return found;
}

/** Whether a test holds for a value that an instruction uses. */
export function someOperand(inst: Instruction, test: (value: Value) => boolean): boolean {
  let holds = false;
  eachOperand(inst, (value) => {
    holds ||= test(value);
  });
  return holds;
}

/** Visits the values that an instruction uses, without a list of them. */
export function eachOperand(inst: Instruction, visit: (value: Value) => void): void {
  switch (inst.op) {
    case 'phi':
      for (const each of inst.incoming) visit(each.value);
      return;
    case 'call':
      visit(inst.callee);
      for (const arg of inst.args) if (arg.kind !== 'metadata') visit(arg);
      return;
    case 'gep':
      visit(inst.base);
      for (const index of inst.indices) visit(index);
      return;
    case 'switch':
      visit(inst.condition);
      for (const each of inst.cases) visit(each.value);
      return;
    case 'alloca':
      return visit(inst.count);
    case 'ret':
      if (inst.value) visit(inst.value);
      return;
    case 'binary':
    case 'icmp':
    case 'fcmp':
      visit(inst.a);
      return visit(inst.b);
    case 'fneg':
    case 'cast':
    case 'freeze':
      return visit(inst.value);
    case 'select':
      visit(inst.condition);
      visit(inst.a);
      return visit(inst.b);
    case 'load':
      return visit(inst.pointer);
    case 'cmpxchg':
      visit(inst.pointer);
      visit(inst.expected);
      return visit(inst.value);
    case 'atomicrmw':
    case 'store':
      visit(inst.pointer);
      return visit(inst.value);
    case 'condbr':
      return visit(inst.condition);
    case 'br':
    case 'fence':
    case 'unreachable':
      return;
    default:
      return eachPart(inst, visit);
  }
}

type PartOp = 'extractvalue' | 'insertvalue' | 'extractelement' | 'insertelement' | 'shufflevector';

function eachPart(inst: Extract<Instruction, { op: PartOp }>, visit: (value: Value) => void): void {
  switch (inst.op) {
    case 'extractvalue':
      return visit(inst.aggregate);
    case 'insertvalue':
      visit(inst.aggregate);
      return visit(inst.value);
    case 'extractelement':
      visit(inst.vector);
      return visit(inst.index);
    case 'insertelement':
      visit(inst.vector);
      visit(inst.value);
      return visit(inst.index);
    case 'shufflevector':
      visit(inst.a);
      visit(inst.b);
      return visit(inst.mask);
  }
}

/** The blocks that a terminator leads to, the default one of a switch first; none for other instructions. */
export function successorsOf(end: Instruction): Block[] {
  if (end.op === 'br') return [end.target];
  if (end.op === 'condbr') return [end.ifTrue, end.ifFalse];
  return end.op === 'switch' ? [end.defaultBlock, ...end.cases.map(({ block }) => block)] : [];
}

/** Metadata local to a function: one of its values. */
export type LocalMetadata = { readonly kind: 'value'; readonly value: Argument | Instruction };

/** Whether metadata is local to a function. */
export const isLocal = (metadata: Metadata): metadata is LocalMetadata =>
  metadata.kind === 'value' && (metadata.value.kind === 'argument' || metadata.value.kind === 'instruction');
