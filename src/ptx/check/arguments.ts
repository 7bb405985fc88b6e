/**
 * Checks one argument or result of a call against the prototype. Source: PTX ISA 9.0, 7.1; ptxas 13.0 where the manual leaves a rule open.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { bitsOfType, isCompatible, isFloatType, lanesOfVariable } from '../model/types.ts';
import type { Operand, Variable } from '../syntax/ast.ts';
import { constantValue } from '../syntax/constant.ts';
import { printOperand } from '../syntax/print.ts';
import { reportUndeclared, sink, symbolWords } from './operands.ts';
import { lookUp, type Named, type Scope } from './scope.ts';

/** The context of an argument or result. */
export interface ArgumentContext {
  /** The name of the function or prototype. */
  readonly name: string;
  readonly kind: 'results' | 'parameters';
  readonly scope: Scope;
  readonly diagnostics: Diagnostics;
}

export const elementsOf = ({ dims }: Variable): number => dims.reduce<number>((all, dim) => all * (dim ?? 0), 1);

/** The size of one element in bits, with all lanes of a vector. */
export const bitsOf = (variable: Variable): number => bitsOfType(variable.type) * lanesOfVariable(variable);

/** In bytes. */
export const alignOf = (variable: Variable): number => variable.align ?? bitsOf(variable) / 8;

/** Reports CM1101, CM1106 and CM1112. The sink `_` matches every result. */
export function checkArgument(passing: ArgumentContext, operand: Operand, formal: Variable): void {
  const { scope, diagnostics, kind } = passing;
  if (operand.kind !== 'name') {
    if (kind === 'parameters' && constantValue(operand)) checkConstant(passing, operand, formal);
    else mismatch(passing, operand, 'something else');
    return;
  }
  if (operand.name === sink && kind === 'results') return;
  const symbol = lookUp(scope, operand.name);
  if (!symbol) reportUndeclared(operand.name, operand.span, scope, diagnostics);
  else if (symbol.kind === 'variable' && symbol.variable.space === 'param') {
    if (!hasSameLayout(symbol.variable, formal)) reportDifference(passing, operand, sizeWords(symbol.variable), formal);
  } else if (symbol.kind === 'register' || symbol.kind === 'vector') {
    const lanes = symbol.kind === 'vector' ? symbol.lanes : [symbol.register];
    const { declared } = lanes[0]!;
    const isValid = formal.space === 'reg' ? isCompatible(declared, formal.type, false) : bitsOfType(declared) === bitsOfType(formal.type);
    if (!isValid || lanes.length !== lanesOfVariable(formal) || formal.dims.length > 0)
      reportDifference(passing, operand, registerWords(symbol), formal);
  } else mismatch(passing, operand, symbolWords(symbol));
}

function checkConstant(passing: ArgumentContext, operand: Operand, formal: Variable): void {
  const isFloat = constantValue(operand)?.type === 'f64';
  const isFine = formal.dims.length === 0 && !formal.vector && formal.type !== 'pred' && (isFloat || !isFloatType(formal.type));
  if (!isFine) reportDifference(passing, operand, isFloat ? 'a float constant' : 'an integer constant', formal);
}

function mismatch({ kind, diagnostics }: ArgumentContext, operand: Operand, given: string): void {
  const wanted = `a register${kind === 'parameters' ? ', a constant' : ''} or a \`.param\` variable of the body`;
  diagnostics.report('CM1106', { operand: printOperand(operand), wanted, given }, { span: operand.span });
}

function reportDifference({ name, diagnostics }: ArgumentContext, operand: Operand, have: string, formal: Variable): void {
  const holes = { what: `\`${name}\``, operand: printOperand(operand), have, want: sizeWords(formal) };
  diagnostics.report('CM1112', holes, { span: operand.span });
}

const hasSameLayout = (have: Variable, want: Variable): boolean =>
  bitsOf(have) === bitsOf(want) && elementsOf(have) === elementsOf(want) && alignOf(have) === alignOf(want);

const registerWords = (symbol: Named & { kind: 'register' | 'vector' }): string =>
  symbol.kind === 'register' ? `type .${symbol.register.declared}` : `type .v${symbol.lanes.length}.${symbol.lanes[0]!.declared}`;

const sizeWords = (variable: Variable): string => {
  const dims = variable.dims.map((dim) => `[${dim ?? ''}]`).join('');
  return `type .${variable.type}${dims} aligned to ${alignOf(variable)}`;
};
