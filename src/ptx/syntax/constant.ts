/**
 * Evaluates constant expressions: 64-bit integers, signed or unsigned, and f64.
 * Source: PTX ISA 9.0, 4.5.4 to 4.5.6 (expressions, their evaluation, and the summary table of operators). ptxas decides if the table and
 * the text of 4.5.5 disagree (the type of `& | ^`), or the table and ptxas (the types of `%` and `?:`).
 */
import { type Binary, floatValue, type Integer, type Operand } from './ast.ts';

/** An integer wrapped to 64 bits (negative only when signed), or an f64. */
export type Constant = { readonly type: 's64' | 'u64'; readonly value: bigint } | { readonly type: 'f64'; readonly value: number };

const wrap = (type: 's64' | 'u64', value: bigint): Constant => ({
  type,
  value: type === 's64' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value),
});

const truth = (value: boolean): Constant => ({ type: 's64', value: value ? 1n : 0n });
const isTrue = (constant: Constant): boolean => constant.type !== 'f64' && constant.value !== 0n;

/**
 * The value of an expression of literals and operators. Undefined if it names a symbol, divides by zero, mixes integers and floats, or
 * shifts by 64 or more.
 */
export function constantValue(operand: Operand): Constant | undefined {
  switch (operand.kind) {
    case 'integer':
      return wrap(isSigned(operand) ? 's64' : 'u64', operand.value);
    case 'float':
      return { type: 'f64', value: floatValue(operand) };
    case 'name':
      return operand.name === 'WARP_SZ' ? wrap('s64', 32n) : undefined;
    case 'list':
      return operand.elements.length === 1 ? constantValue(operand.elements[0]!) : undefined;
    case 'unary':
      return unary(operand.operator, constantValue(operand.operand));
    case 'not':
      return not(constantValue(operand.operand));
    case 'cast': {
      const value = constantValue(operand.operand);
      return value && value.type !== 'f64' ? wrap(operand.type, value.value) : undefined;
    }
    case 'binary':
      return binary(operand);
    case 'conditional':
      return conditional(constantValue(operand.condition), constantValue(operand.whenTrue), constantValue(operand.whenFalse));
    default:
      return undefined;
  }
}

/** A sign does not change the type of the digits after it: `-0xfabc123400000000` is unsigned. */
const isSigned = ({ isUnsigned, value }: Integer): boolean => !isUnsigned && value < signBit && value > -signBit;
const signBit = 2n ** 63n;

/** The value of an integer expression as a signed 64-bit number. */
export function integerConstant(operand: Operand): bigint | undefined {
  const constant = constantValue(operand);
  return constant && constant.type !== 'f64' ? BigInt.asIntN(64, constant.value) : undefined;
}

function unary(operator: '+' | '-' | '~', operand: Constant | undefined): Constant | undefined {
  if (!operand || operator === '+') return operand;
  if (operand.type === 'f64') return operator === '-' ? { type: 'f64', value: -operand.value } : undefined;
  return operator === '-' ? wrap(operand.type, -operand.value) : wrap('u64', ~operand.value);
}

const not = (operand: Constant | undefined): Constant | undefined =>
  operand && operand.type !== 'f64' ? truth(operand.value === 0n) : undefined;

/** The operand that is selected, of its own type: ptxas converts it to no common type, although the manual does. */
function conditional(condition?: Constant, whenTrue?: Constant, whenFalse?: Constant): Constant | undefined {
  if (!condition || condition.type === 'f64' || !whenTrue || !whenFalse) return undefined;
  if ((whenTrue.type === 'f64') !== (whenFalse.type === 'f64')) return undefined;
  return isTrue(condition) ? whenTrue : whenFalse;
}

/** The usual conversions: signed if both are. */
const common = (a: 's64' | 'u64', b: 's64' | 'u64'): 's64' | 'u64' => (a === 's64' && b === 's64' ? 's64' : 'u64');

function binary(operand: Binary): Constant | undefined {
  const left = constantValue(operand.left);
  const right = constantValue(operand.right);
  if (!left || !right) return undefined;
  if (left.type === 'f64' || right.type === 'f64') {
    return left.type === 'f64' && right.type === 'f64' ? onDoubles(operand.operator, left.value, right.value) : undefined;
  }
  return onIntegers(operand.operator, left.type, left.value, right.type, right.value);
}

function onDoubles(operator: Binary['operator'], a: number, b: number): Constant | undefined {
  if (operator === '/' && b === 0) return undefined;
  const arithmetic: Partial<Record<Binary['operator'], number>> = { '+': a + b, '-': a - b, '*': a * b, '/': a / b };
  const value = arithmetic[operator];
  if (value !== undefined) return { type: 'f64', value };
  const order = compare(operator, a < b, a > b, a === b);
  return order === undefined ? undefined : truth(order);
}

function compare(operator: Binary['operator'], less: boolean, greater: boolean, equal: boolean): boolean | undefined {
  const answers: Partial<Record<Binary['operator'], boolean>> = {
    '<': less,
    '>': greater,
    '<=': less || equal,
    '>=': greater || equal,
    '==': equal,
    '!=': !equal,
  };
  return answers[operator];
}

function onIntegers(
  operator: Binary['operator'],
  leftType: 's64' | 'u64',
  left: bigint,
  rightType: 's64' | 'u64',
  right: bigint,
): Constant | undefined {
  const type = common(leftType, rightType);
  const wrapped = type === 's64' ? BigInt.asIntN : BigInt.asUintN;
  const a = wrapped(64, left);
  const b = wrapped(64, right);
  switch (operator) {
    case '+':
      return wrap(type, a + b);
    case '-':
      return wrap(type, a - b);
    case '*':
      return wrap(type, a * b);
    case '/':
      return b === 0n ? undefined : wrap(type, a / b);
    case '%':
      return b === 0n ? undefined : wrap('u64', BigInt.asUintN(64, left) % BigInt.asUintN(64, right));
    case '<<':
    case '>>':
      return shift(operator, leftType, left, BigInt.asUintN(64, right));
    case '&':
      return wrap(type, a & b);
    case '|':
      return wrap(type, a | b);
    case '^':
      return wrap(type, a ^ b);
    case '&&':
      return truth(left !== 0n && right !== 0n);
    case '||':
      return truth(left !== 0n || right !== 0n);
    default:
      return truth(compare(operator, a < b, a > b, a === b)!);
  }
}

/** The manual leaves shifts by 64 and more undefined. */
function shift(operator: '<<' | '>>', type: 's64' | 'u64', value: bigint, count: bigint): Constant | undefined {
  if (count > 63n) return undefined;
  return wrap(type, operator === '<<' ? value << count : value >> count);
}
