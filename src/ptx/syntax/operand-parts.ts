/** Traversal of nested operands, for checks and lints. */
import type { Operand } from './ast.ts';

const none: readonly Operand[] = [];

/** The direct children of an operand. */
export function partsOf(operand: Operand): readonly Operand[] {
  switch (operand.kind) {
    case 'vector':
    case 'list':
      return operand.elements;
    case 'address':
      return [operand.base, ...operand.rest];
    case 'pair':
      return [operand.first, operand.second];
    case 'not':
    case 'unary':
    case 'cast':
      return [operand.operand];
    case 'binary':
      return [operand.left, operand.right];
    case 'conditional':
      return [operand.condition, operand.whenTrue, operand.whenFalse];
    case 'apply':
      return [operand.operator, operand.operand];
    case 'index':
      return [operand.index];
    case 'field':
      return [operand.value];
    default:
      return none;
  }
}

/** A selector of parts after an operand, behind the sign before it (`-a.h1`), and the operand without them. */
export function selectedPart(parts: RegExp, node: Operand): { readonly part: string; readonly node: Operand } | undefined {
  const isNegated = node.kind === 'unary' && node.operator === '-';
  const inner = isNegated ? node.operand : node;
  const part = `${isNegated ? '-' : ''}${inner.kind === 'element' ? inner.element : ''}`;
  if (part === '' || !parts.test(part)) return undefined;
  return { part, node: inner.kind === 'element' ? { kind: 'name', name: inner.name, span: inner.span } : inner };
}
