/** Nodes of PTX's syntax tree that the builder makes. They have no places: the printed text is parsed, and gives the tree that has them. */
import type { Address, Instruction, Operand, Span, Statement, Variable } from '../ptx/index.ts';

const span: Span = { start: 0, end: 0 };

/** A register, a variable or a label. */
export const nameNode = (name: string): Operand => ({ kind: 'name', name, span });

/** `%tid.x`: a name with a dot is a register and its element. */
export function registerNode(name: string): Operand {
  const [first, element] = name.split('.');
  return element === undefined ? nameNode(name) : { kind: 'element', name: first!, element, span };
}

/** An integer constant. */
export const integerNode = (value: bigint | number): Operand => ({
  kind: 'integer',
  value: BigInt(value),
  isUnsigned: BigInt(value) >= 2n ** 63n,
  span,
});

/** A float constant by its bits. */
export const floatNode = (format: 'f32' | 'f64', bits: bigint): Operand => ({ kind: 'float', format, bits, span });

/** `[base+offset]`, with other operands in the brackets. */
export const addressNode = (base: Operand, offset = 0, rest: readonly Operand[] = []): Address => ({
  kind: 'address',
  base,
  offset: BigInt(offset),
  rest,
  span,
});

/** `{a, b}` */
export const vectorNode = (elements: readonly Operand[]): Operand => ({ kind: 'vector', elements, span });

/** `(a, b)` */
export const listNode = (elements: readonly Operand[]): Operand => ({ kind: 'list', elements, span });

/** `p|q` */
export const pairNode = (first: Operand, second: Operand): Operand => ({ kind: 'pair', first, second, span });

/** A predicate before an instruction: `@p` or `@!p`. */
export interface Condition {
  readonly register: string;
  readonly negated: boolean;
}

/** An instruction by its dotted name. */
export function instructionNode(name: string, operands: readonly Operand[], guard?: Condition): Instruction {
  const [opcode = '', ...modifiers] = name.split('.');
  return { kind: 'instruction', guard: guard && { ...guard, span }, opcode, modifiers, operands, span, opcodeSpan: span };
}

/** A label. */
export const labelNode = (name: string): Statement => ({ kind: 'label', name, span });

/** `.loc file line column` */
export const locNode = (index: number, line: number, column: number): Statement => ({
  kind: 'directive',
  name: 'loc',
  index,
  line,
  column,
  inlined: undefined,
  span,
});

/** A declaration; what is not given is absent. */
export const variableNode = (given: Pick<Variable, 'space' | 'type' | 'name'> & Partial<Variable>): Variable => ({
  kind: 'variable',
  linkage: undefined,
  align: undefined,
  vector: undefined,
  regCount: undefined,
  dims: [],
  init: undefined,
  attributes: [],
  ptr: undefined,
  span,
  nameSpan: span,
  ...given,
});
