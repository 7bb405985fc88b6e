/** Expressions of C as text, with what decides about parentheses and about the places where they may stand. */

/** Binding strengths, as in C. */
export const strength = {
  conditional: 3,
  orElse: 4,
  andAlso: 5,
  or: 6,
  xor: 7,
  and: 8,
  equal: 9,
  less: 10,
  shift: 11,
  sum: 12,
  product: 13,
  unary: 14,
  primary: 16,
} as const;

export interface Expression {
  readonly text: string;
  readonly strength: number;
  /** Whether it reads memory that is written while a kernel runs. */
  readonly reads: boolean;
  /** The text of its negation, where that is known, of the strength of a comparison. */
  readonly inverse?: string;
  /** The variables in it that are assigned more than once. */
  readonly mutable: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/** A name, a number or a call without operands. */
export const atom = (text: string): Expression => ({ text, strength: strength.primary, reads: false, mutable: none });

/** An expression of parts. */
export function made(text: string, binding: number, parts: readonly Expression[], reads = false): Expression {
  const variables = parts.filter(({ mutable }) => mutable.size > 0);
  const mutable = variables.length === 0 ? none : new Set(variables.flatMap((part) => [...part.mutable]));
  return { text, strength: binding, reads: reads || parts.some((part) => part.reads), mutable };
}

/** The text of an expression as an operand that must bind at least as strongly as `least`. */
export const operand = ({ text, strength: own }: Expression, least: number): string => (own < least ? `(${text})` : text);

/** How strongly each operator binds. */
export const operators: Readonly<Record<string, number>> = {
  '*': strength.product,
  '/': strength.product,
  '%': strength.product,
  '+': strength.sum,
  '-': strength.sum,
  '<<': strength.shift,
  '>>': strength.shift,
  '<': strength.less,
  '<=': strength.less,
  '>': strength.less,
  '>=': strength.less,
  '==': strength.equal,
  '!=': strength.equal,
  '&': strength.and,
  '^': strength.xor,
  '|': strength.or,
  '&&': strength.andAlso,
  '||': strength.orElse,
};

/** Operators whose mixture compilers warn of, or readers misread: their operands are atoms, sums or products. */
const isBitwise = (operator: string): boolean => ['&', '|', '^', '<<', '>>'].includes(operator);

/** `a operator b`. A chain of one associative operator needs no parentheses on its left. */
export function binary(operator: string, a: Expression, b: Expression): Expression {
  const own = operators[operator]!;
  const least = isBitwise(operator) ? strength.unary : own;
  const left = a.strength === own && !isBitwise(operator) ? own : Math.max(least, own === strength.equal ? strength.shift : own);
  const right = Math.max(least, own + 1);
  return made(`${operand(a, left)} ${operator} ${operand(b, right)}`, own, [a, b]);
}

/** `!a`, `-a`, `~a`. */
export const unary = (operator: string, a: Expression): Expression =>
  made(`${operator}${operand(a, operator === '-' ? strength.primary : strength.unary)}`, strength.unary, [a]);

/** `(type)a`. */
export const cast = (type: string, a: Expression): Expression => made(`(${type})${operand(a, strength.unary)}`, strength.unary, [a]);

/** `name(a, b)`. */
export const call = (name: string, ...parts: Expression[]): Expression =>
  made(`${name}(${parts.map(({ text }) => text).join(', ')})`, strength.primary, parts);

/** `a ? b : c`. */
export const choice = (a: Expression, b: Expression, c: Expression): Expression =>
  made(`${operand(a, strength.orElse)} ? ${operand(b, strength.orElse)} : ${operand(c, strength.conditional)}`, strength.conditional, [
    a,
    b,
    c,
  ]);

/** `array[index]`. */
export const index = (array: string, at: Expression, reads: boolean): Expression =>
  made(`${array}[${at.text}]`, strength.primary, [at], reads);

const opposite: Readonly<Record<string, string>> = { '==': '!=', '!=': '==' };

/** The negation of a condition, which is no float comparison where it is simplified. */
export function negated(a: Expression): Expression {
  if (a.inverse !== undefined) return { ...a, text: a.inverse, inverse: a.text };
  const inverse = /^!(\w+|\([^()]*\)|\w+\([^()]*\))$/.exec(a.text);
  if (inverse)
    return {
      ...a,
      text: inverse[1]!.replace(/^\((.*)\)$/, '$1'),
      strength: inverse[1]!.startsWith('(') ? strength.conditional : strength.primary,
    };
  const equality = /^([\w.[\]]+) (==|!=) ([\w.[\]]+)$/.exec(a.text);
  if (equality) return { ...a, text: `${equality[1]} ${opposite[equality[2]!]} ${equality[3]}` };
  return unary('!', a);
}
