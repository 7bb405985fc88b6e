/**
 * Initial values against the variables they are for. Lists nest just as the dimensions do, the elements of a vector in a list
 * of their own. Source: PTX ISA 9.0, 5.4.4; ptxas 13.0 where the manual leaves it open.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import { bitsOfType, isFloatType, kindOfType } from '../model/types.ts';
import type { Initialiser, Name, Operand, Variable } from '../syntax/ast.ts';
import { constantValue } from '../syntax/constant.ts';
import { reportUndeclared } from './operands.ts';
import { lookUp, type Scope } from './scope.ts';

interface Place {
  readonly variable: Variable;
  /** Where names are looked up; absent in bodies, whose names are known only one after the other. */
  readonly scope: Scope | undefined;
  readonly diagnostics: Diagnostics;
}

/** Reports CM1101 and CM1116, the latter once for a variable. */
export function checkInitialiser(variable: Variable, scope: Scope | undefined, diagnostics: Diagnostics): void {
  const { init, type, dims, vector } = variable;
  if (!init || isOpaque(type)) return;
  const place: Place = { variable, scope, diagnostics };
  if (isNotInitialised(type)) return void misfit(place, init.span, `variables of type .${type} have none`);
  checkLevel(place, init, vector === undefined ? dims : [...dims, Number(vector[1])], 0);
}

const isOpaque = (type: string): boolean => type.endsWith('ref');

/** Of the floats, only those of 32 and 64 bits. */
const isNotInitialised = (type: string): boolean => isFloatType(type) && bitsOfType(type) < 32;

/** One level of nesting; gives whether it fits. */
function checkLevel(place: Place, init: Initialiser, dims: readonly (number | undefined)[], depth: number): boolean {
  if (depth === dims.length) return checkValue(place, init);
  if (init.kind !== 'vector') return misfit(place, init.span, 'a list in braces is wanted');
  // An extent of 0 is one left open.
  const most = dims[depth] || Number.POSITIVE_INFINITY;
  const { elements } = init;
  const isVector = place.variable.vector !== undefined && depth === dims.length - 1;
  if (elements.length > most || (isVector && elements.length !== most)) {
    const span = elements[Math.min(elements.length, most)]?.span ?? init.span;
    return misfit(place, span, `${elements.length} values for ${most} element${most === 1 ? '' : 's'}`);
  }
  return elements.every((element) => checkLevel(place, element, dims, depth + 1));
}

function misfit({ variable, diagnostics }: Place, span: Span, why: string): false {
  diagnostics.report('CM1116', { name: variable.name, why }, { span });
  return false;
}

function checkValue(place: Place, init: Initialiser): boolean {
  const { type } = place.variable;
  if (init.kind === 'vector') return misfit(place, init.span, 'its lists are nested deeper than its dimensions');
  const symbol = symbolOf(init);
  if (symbol) return checkSymbol(place, init, symbol);
  const constant = constantValue(init);
  // An expression that has no value for us may have one for others.
  if (!constant) return !dividesByZero(init) || misfit(place, init.span, 'it divides by zero');
  if (constant.type !== 'f64') return !isFloatType(type) || misfit(place, init.span, 'a float constant is wanted');
  return isFloatType(type) || kindOfType(type) === 'b' || misfit(place, init.span, 'an integer constant is wanted');
}

/** An address of 32 bits is cut short by the assembler, a smaller one refused; a mask takes one byte of it. */
function checkSymbol(place: Place, init: Initialiser, symbol: Name): boolean {
  const { scope, diagnostics, variable } = place;
  if (scope && lookUp(scope, symbol.name) === undefined) {
    reportUndeclared(symbol.name, symbol.span, scope, diagnostics);
    return false;
  }
  const isMasked = init.kind === 'apply' && init.operator.kind === 'integer';
  const isWide = bitsOfType(variable.type) >= 32 && !isFloatType(variable.type);
  return isMasked || isWide || misfit(place, init.span, `an address does not fit in .${variable.type}`);
}

/** The name in `a`, `a+4`, `generic(a)+4`, `0xff(a)`. */
function symbolOf(init: Operand): Name | undefined {
  if (init.kind === 'name') return init.name === 'WARP_SZ' ? undefined : init;
  if (init.kind === 'apply') return symbolOf(init.operand);
  if (init.kind === 'binary') return symbolOf(init.left) ?? symbolOf(init.right);
  return init.kind === 'list' && init.elements.length === 1 ? symbolOf(init.elements[0]!) : undefined;
}

function dividesByZero(init: Operand): boolean {
  if (init.kind !== 'binary') return false;
  const divisor = init.operator === '/' || init.operator === '%' ? constantValue(init.right) : undefined;
  return divisor !== undefined && divisor.type !== 'f64' && divisor.value === 0n;
}
