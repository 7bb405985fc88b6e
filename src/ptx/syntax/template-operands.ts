/** Templates of operands and expressions: the construction of the subtree for each rule from tokens. */
import { f64Bits } from '../../base/float.ts';
import type { Span } from '../../base/source.ts';
import type { Address, BinaryOperator, Element, Float, Integer, Name, Operand } from './ast.ts';
import { integerConstant } from './constant.ts';
import { type Cursor, innerText, integerOf, type Make, spanOf, textOf } from './cursor.ts';
import { type Actions, itemsOf, literal, make, type Node } from './nodes.ts';

/** The templates of the elements of a comma-separated list. */
export const makeList = <T>(list: Node): Make<T>[] => itemsOf(list).map((child) => make<T>(child));

/** Builds all parts in order. */
export function buildAll<T>(parts: readonly Make<T>[], c: Cursor): T[] {
  const built: T[] = [];
  for (const part of parts) built.push(part(c));
  return built;
}

/** A template of a part, and the tokens it covers. */
interface Part {
  readonly make: Make<Operand>;
  readonly first: number;
  readonly last: number;
}

const partOf = (node: Node): Part => ({
  make: make(node),
  first: node.first,
  last: node.last,
});

const name =
  (token: number): Make<Name> =>
  (c) => ({ kind: 'name', name: textOf(c, token), span: spanOf(c, token, token) });

/** Precedence of binary operators. Source: PTX ISA 9.0, 4.5.3, table of operator precedence. */
const precedence: Record<BinaryOperator, number> = {
  '*': 10,
  '/': 10,
  '%': 10,
  '+': 9,
  '-': 9,
  '<<': 8,
  '>>': 8,
  '<': 7,
  '<=': 7,
  '>': 7,
  '>=': 7,
  '==': 6,
  '!=': 6,
  '&': 5,
  '^': 4,
  '|': 3,
  '&&': 2,
  '||': 1,
};

function binaryPart(operator: BinaryOperator, left: Part, right: Part): Part {
  const { first } = left;
  const { last } = right;
  const make: Make<Operand> = (c) => ({
    kind: 'binary',
    operator,
    left: left.make(c),
    right: right.make(c),
    span: spanOf(c, first, last),
  });
  return { make, first, last };
}

/** Applies precedence to `first op term op term ...`; operators of equal precedence are left-associative. */
function applyPrecedence(first: Part, operators: readonly BinaryOperator[], terms: readonly Part[]): Part {
  const pending: Part[] = [first];
  const pendingOperators: BinaryOperator[] = [];
  const reduce = () => {
    const right = pending.pop()!;
    pending.push(binaryPart(pendingOperators.pop()!, pending.pop()!, right));
  };
  operators.forEach((operator, i) => {
    while (pendingOperators.length > 0 && precedence[pendingOperators.at(-1)!] >= precedence[operator]) reduce();
    pendingOperators.push(operator);
    pending.push(terms[i]!);
  });
  while (pendingOperators.length > 0) reduce();
  return pending[0]!;
}

/** A prefix operator on an operand; the sign of a literal becomes part of the literal. */
function prefixed(operator: string, operand: Operand, span: Span): Operand {
  if (operator === '!') return { kind: 'not', operand, span };
  if (operator === '~') return { kind: 'unary', operator, operand, span };
  if (operator !== '+' && operator !== '-') return { kind: 'cast', type: operator === '.s64' ? 's64' : 'u64', operand, span };
  const negate = operator === '-';
  if (operand.kind === 'integer') return { ...operand, value: negate ? -operand.value : operand.value, span };
  if (operand.kind === 'float') return { ...operand, bits: negate ? operand.bits ^ signBit(operand) : operand.bits, span };
  return { kind: 'unary', operator, operand, span };
}

const signBit = (float: Float): bigint => (float.format === 'f32' ? 1n << 31n : 1n << 63n);

/** Separates constants from an address: `a+4` is the base `a` and the offset 4. */
export function addressOf([target, ...rest]: readonly Operand[], span: Span): Address {
  let base = target!;
  let offset = 0n;
  for (;;) {
    if (base.kind !== 'binary' || (base.operator !== '+' && base.operator !== '-')) break;
    const constant = integerConstant(base.right);
    if (constant === undefined || integerConstant(base.left) !== undefined) break;
    offset += base.operator === '+' ? constant : -constant;
    base = base.left;
  }
  const value = base.kind === 'integer' ? undefined : integerConstant(base);
  if (value !== undefined) base = { kind: 'integer', value, isUnsigned: false, span: base.span };
  return { kind: 'address', base, offset: BigInt.asIntN(64, offset), rest, span };
}

const integer =
  (token: number): Make<Integer> =>
  (c) => {
    const isUnsigned = c.tokens.text[c.tokens.ends[c.index[token]!]! - 1] === 'U';
    return { kind: 'integer', value: integerOf(c, token), isUnsigned, span: spanOf(c, token, token) };
  };

/** `0f` and 8 digits, or `0d` and 16. */
const hexFloat =
  (token: number): Make<Float> =>
  (c) => {
    const digits = textOf(c, token).slice(2);
    return { kind: 'float', format: digits.length === 8 ? 'f32' : 'f64', bits: BigInt(`0x${digits}`), span: spanOf(c, token, token) };
  };

const element =
  (first: number, last: number): Make<Element> =>
  (c) => ({ kind: 'element', name: textOf(c, first), element: innerText(c, last, 0), span: spanOf(c, first, last) });

const indexed =
  (first: number, at: Part, last: number): Make<Operand> =>
  (c) => ({ kind: 'index', name: textOf(c, first), index: at.make(c), span: spanOf(c, first, last) });

/** A name or integer, applied to an argument. */
function applied(operator: Part, argument: Node): Make<Operand> {
  const inner = partOf(argument.children[1]!);
  const last = argument.last;
  return (c) => ({
    kind: 'apply',
    operator: operator.make(c) as Name | Integer,
    operand: inner.make(c),
    span: spanOf(c, operator.first, last),
  });
}

/** The actions for the rules from `Operand` down. */
export const operandActions: Actions = {
  Operand_address(_open: Node, list: Node, _close: Node, unified: Node) {
    const parts = makeList<Operand>(list);
    const [first, last] = [this.first, this.last];
    if (unified.children.length > 0) return (c): Address => ({ ...addressOf(buildAll(parts, c), spanOf(c, first, last)), isUnified: true });
    return (c): Address => addressOf(buildAll(parts, c), spanOf(c, first, last));
  },

  Operand_pair(left: Node, _bar: Node, right: Node) {
    const [a, b] = [partOf(left), partOf(right)];
    return (c): Operand => ({ kind: 'pair', first: a.make(c), second: b.make(c), span: spanOf(c, a.first, b.last) });
  },

  Operand_list(list: Node) {
    return make(list);
  },

  Vector(_open: Node, list: Node, _close: Node) {
    return group(this, list, 'vector');
  },

  List(_open: Node, list: Node, _close: Node) {
    return group(this, list, 'list');
  },

  Initializer_list(_open: Node, list: Node, _close: Node) {
    const first = this.first;
    const plain = group(this, list, 'vector');
    const last = this.last;
    return (c): Operand => {
      const elements = c.elided.get(c.index[first]!) as readonly Operand[] | undefined;
      return elements ? { kind: 'vector', elements, span: spanOf(c, first, last) } : plain(c);
    };
  },

  Initializer_field(word: Node, _equals: Node, expression: Node) {
    const [field, value] = [word.first, partOf(expression)];
    return (c): Operand => ({ kind: 'field', name: textOf(c, field), value: value.make(c), span: spanOf(c, field, value.last) });
  },

  Expression(term: Node, tails: Node, conditional: Node) {
    const operators = tails.children.map((tail) => literal(tail.children[0]!) as BinaryOperator);
    const terms = tails.children.map((tail) => partOf(tail.children[1]!));
    const condition = applyPrecedence(partOf(term), operators, terms);
    const choice = conditional.children[0];
    if (!choice) return condition.make;
    const whenTrue = partOf(choice.children[1]!);
    const whenFalse = partOf(choice.children[3]!);
    return (c): Operand => ({
      kind: 'conditional',
      condition: condition.make(c),
      whenTrue: whenTrue.make(c),
      whenFalse: whenFalse.make(c),
      span: spanOf(c, condition.first, whenFalse.last),
    });
  },

  Term_prefixed(prefixes: Node, primary: Node) {
    const inner = partOf(primary);
    return prefixes.children.reduceRight<Make<Operand>>((operand, prefix) => {
      const operator = literal(prefix.rule === 'Prefix_cast' ? prefix.children[1]! : prefix);
      const first = prefix.first;
      return (c) => prefixed(operator, operand(c), spanOf(c, first, inner.last));
    }, inner.make);
  },

  Primary_name(word: Node, tail: Node) {
    const [first, after] = [word.first, tail.children[0]];
    if (after?.rule === 'dotWord') return element(first, after.first);
    if (after?.rule === 'NameTail_index') return indexed(first, partOf(after.children[1]!), after.last);
    return after ? applied(partOf(word), after) : make(word);
  },

  Primary_masked(mask: Node, argument: Node) {
    return applied(partOf(mask), argument);
  },

  Primary_parenthesized(_open: Node, expression: Node, _close: Node) {
    return make(expression);
  },

  SectionValue_section(dotted: Node, offset: Node) {
    const base: Part = { make: name(dotted.first), first: dotted.first, last: dotted.first };
    const tail = offset.children[0];
    if (!tail) return base.make;
    return binaryPart(literal(tail.children[0]!) as BinaryOperator, base, partOf(tail.children[1]!)).make;
  },

  word(_: Node) {
    return name(this.first);
  },

  integer(_: Node) {
    return integer(this.first);
  },

  hexFloat(_: Node) {
    return hexFloat(this.first);
  },

  decimalFloat(_: Node) {
    const token = this.first;
    return (c): Float => ({ kind: 'float', format: 'decimal', bits: f64Bits(Number(textOf(c, token))), span: spanOf(c, token, token) });
  },
};

function group(node: Node, list: Node, kind: 'vector' | 'list'): Make<Operand> {
  const parts = makeList<Operand>(list);
  const [first, last] = [node.first, node.last];
  return (c) => ({ kind, elements: buildAll(parts, c), span: spanOf(c, first, last) });
}
