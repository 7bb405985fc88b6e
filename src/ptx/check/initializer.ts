/**
 * Checks initial values against their variables. The nesting of lists matches the dimensions, and the elements of a vector have a list of
 * their own. Source: PTX ISA 9.0, 5.4.4; ptxas 13.0 where the manual leaves a rule open.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import { bitsOfType, isFloatType, kindOfType } from '../model/types.ts';
import type { Initializer, Name, Operand, Variable } from '../syntax/ast.ts';
import { constantValue } from '../syntax/constant.ts';
import { reportUndeclared } from './operands.ts';
import { lookUp, type Scope } from './scope.ts';

interface Place {
  readonly variable: Variable;
  /** The scope for names. Absent in bodies, because their names are declared one after the other. */
  readonly scope: Scope | undefined;
  readonly diagnostics: Diagnostics;
}

/** Reports CM1101, and CM1116 at most once for a variable. */
export function checkInitializer(variable: Variable, scope: Scope | undefined, diagnostics: Diagnostics): void {
  const { init, type, dims, vector } = variable;
  if (!init || isOpaque(type)) return;
  const place: Place = { variable, scope, diagnostics };
  if (cannotBeInitialized(type)) return void reportMismatch(place, init.span, `variables of type .${type} have none`);
  checkLevel(place, init, vector === undefined ? dims : [...dims, Number(vector[1])], 0);
}

const isOpaque = (type: string): boolean => type.endsWith('ref');

/** Only f32 and f64 variables can be initialized among floats. */
const cannotBeInitialized = (type: string): boolean => isFloatType(type) && bitsOfType(type) < 32;

/** Checks one level of nesting. Returns whether it fits. */
function checkLevel(place: Place, init: Initializer, dims: readonly (number | undefined)[], depth: number): boolean {
  if (depth === dims.length) return checkValue(place, init);
  if (init.kind !== 'vector') return reportMismatch(place, init.span, 'a list in braces is expected');
  // An extent of 0 is an empty extent.
  const maxElements = dims[depth] || Number.POSITIVE_INFINITY;
  const { elements } = init;
  const isVector = place.variable.vector !== undefined && depth === dims.length - 1;
  if (elements.length > maxElements || (isVector && elements.length !== maxElements)) {
    const span = elements[Math.min(elements.length, maxElements)]?.span ?? init.span;
    return reportMismatch(place, span, `${elements.length} values for ${maxElements} element${maxElements === 1 ? '' : 's'}`);
  }
  return elements.every((element) => checkLevel(place, element, dims, depth + 1));
}

function reportMismatch({ variable, diagnostics }: Place, span: Span, why: string): false {
  diagnostics.report('CM1116', { name: variable.name, why }, { span });
  return false;
}

function checkValue(place: Place, init: Initializer): boolean {
  const { type } = place.variable;
  if (init.kind === 'vector') return reportMismatch(place, init.span, 'its lists are nested deeper than its dimensions');
  const symbol = symbolOf(init);
  if (symbol) return checkSymbol(place, init, symbol);
  const constant = constantValue(init);
  // An expression without a value here may have one in other assemblers.
  if (!constant) return !dividesByZero(init) || reportMismatch(place, init.span, 'it divides by zero');
  if (constant.type !== 'f64') return !isFloatType(type) || reportMismatch(place, init.span, 'a float constant is expected');
  return isFloatType(type) || kindOfType(type) === 'b' || reportMismatch(place, init.span, 'an integer constant is expected');
}

/** The assembler truncates an address to 32 bits and rejects smaller types. A mask selects one byte of it. */
function checkSymbol(place: Place, init: Initializer, symbol: Name): boolean {
  const { scope, diagnostics, variable } = place;
  if (scope && lookUp(scope, symbol.name) === undefined) {
    reportUndeclared(symbol.name, symbol.span, scope, diagnostics);
    return false;
  }
  const isMasked = init.kind === 'apply' && init.operator.kind === 'integer';
  const isWide = bitsOfType(variable.type) >= 32 && !isFloatType(variable.type);
  return isMasked || isWide || reportMismatch(place, init.span, `an address does not fit in .${variable.type}`);
}

/** The symbol in `a`, `a+4`, `generic(a)+4`, `0xff(a)`. */
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
