/** Expressions of mangled names: literals, and what templates depend on. Source: Itanium C++ ABI, 5.1.6. */
import { type Cursor, newFacts } from './cursor.ts';
import { list, type Node, parts, text } from './nodes.ts';
import { readIdentifier, readTemplateParam } from './references.ts';
import { literalSuffixes, operators } from './tables.ts';

/** `<expression>`. */
export function readExpression(at: Cursor): Node {
  return at.nested(() => {
    if (at.peek() === 'L') return readLiteral(at);
    if (at.peek() === 'T') return readTemplateParam(at);
    if (at.starts('fp') || at.starts('fL')) return readFunctionParam(at);
    const word = at.text.slice(at.at, at.at + 2);
    const rule = Object.hasOwn(rules, word) ? rules[word] : undefined;
    if (rule) {
      at.at += 2;
      return rule(at);
    }
    const operator = Object.hasOwn(operators, word) ? operators[word] : undefined;
    if (operator && word !== 'nw' && word !== 'na') {
      at.at += 2;
      return readOperation(at, operator[0], operator[1]);
    }
    return readUnresolved(at);
  });
}

const rules: Readonly<Record<string, (at: Cursor) => Node>> = {
  sp: (at) => ({ kind: 'expansion', of: readExpression(at) }),
  sZ: (at) => ({ kind: 'count', of: readExpression(at) }),
  st: (at) => parts('sizeof (', at.grammar.type(at), ')'),
  sz: (at) => parts('sizeof (', readExpression(at), ')'),
  at: (at) => parts('alignof (', at.grammar.type(at), ')'),
  az: (at) => parts('alignof (', readExpression(at), ')'),
  nx: (at) => parts('noexcept(', readExpression(at), ')'),
  cl: readCall,
  cp: readCall,
  cv: readConversion,
  tl: (at) => ({ kind: 'braces', type: at.grammar.type(at), items: at.untilEnd(() => readExpression(at)) }),
  il: (at) => ({ kind: 'braces', type: undefined, items: at.untilEnd(() => readExpression(at)) }),
  dt: (at) => parts(readExpression(at), '.', readMember(at)),
  pt: (at) => parts(readExpression(at), '->', readMember(at)),
  sc: (at) => readCast(at, 'static_cast'),
  cc: (at) => readCast(at, 'const_cast'),
  rc: (at) => readCast(at, 'reinterpret_cast'),
  dc: (at) => readCast(at, 'dynamic_cast'),
  sr: readScoped,
  gs: (at) => parts('::', readExpression(at)),
  on: (at) => readUnresolved(at),
  ix: (at) => parts(grouped(readExpression(at)), '[', readExpression(at), ']'),
  pp: (at) => readStep(at, '++'),
  mm: (at) => readStep(at, '--'),
};

const readCast = (at: Cursor, word: string): Node => parts(`${word}<`, at.grammar.type(at), '>(', readExpression(at), ')');

/** The prefix form has an underscore, the postfix form has none. */
function readStep(at: Cursor, word: string): Node {
  return at.take('_') ? parts(word, grouped(readExpression(at))) : parts(grouped(readExpression(at)), word);
}

function readCall(at: Cursor): Node {
  const [called, ...args] = at.untilEnd(() => readExpression(at));
  return parts(grouped(called ?? at.fail()), '(', list(args), ')');
}

function readConversion(at: Cursor): Node {
  const type = at.grammar.type(at);
  if (at.take('_')) return parts('(', type, ')(', list(at.untilEnd(() => readExpression(at))), ')');
  return parts('(', type, ')', grouped(readExpression(at)));
}

/** A part that needs parentheses around it, except for a name. */
const grouped = (node: Node): Node => (isSimple(node) ? node : parts('(', node, ')'));

const isSimple = (node: Node): boolean =>
  node.kind === 'text' || node.kind === 'braces' || (node.kind === 'qualified' && node.name.kind !== 'template');

function readOperation(at: Cursor, spelling: string, operands: number): Node {
  if (operands === 1) return readUnary(at, spelling);
  const first = readExpression(at);
  const second = readExpression(at);
  if (operands === 3) return parts(grouped(first), '?', grouped(second), ' : ', grouped(readExpression(at)));
  const both = parts(grouped(first), spelling, grouped(second));
  // A comparison by > would end the list of arguments.
  return spelling === '>' ? parts('(', both, ')') : both;
}

function readUnary(at: Cursor, spelling: string): Node {
  const of = readExpression(at);
  // The address of a member function has no parameters.
  if (spelling === '&' && of.kind === 'encoding' && of.name.kind === 'qualified' && of.suffix === '') return parts('&', of.name);
  return parts(spelling, grouped(of));
}

function readFunctionParam(at: Cursor): Node {
  at.expect('f');
  if (at.take('L')) {
    at.number();
    at.expect('p');
  } else at.expect('p');
  if (at.take('T')) return text('this');
  while (/[rVK]/.test(at.peek())) at.at++;
  return text(`{parm#${at.sequence(10) + 1}}`);
}

function readLiteral(at: Cursor): Node {
  at.expect('L');
  if (at.take('_Z')) {
    const found = at.grammar.encoding(at);
    at.expect('E');
    return found;
  }
  const letter = at.peek();
  const type = at.grammar.type(at);
  const isNegative = at.take('n');
  const end = at.text.indexOf('E', at.at);
  if (end < 0) at.fail();
  const digits = at.text.slice(at.at, end);
  at.at = end + 1;
  const value = `${isNegative ? '-' : ''}${digits}`;
  if (letter === 'b' && (digits === '0' || digits === '1')) return parts(digits === '1' ? 'true' : 'false');
  const suffix = Object.hasOwn(literalSuffixes, letter) ? literalSuffixes[letter] : undefined;
  if (suffix !== undefined) return parts(`${value}${suffix}`);
  if (letter === 'D') return digits === '' ? type : parts('(', type, `)${value}`);
  return /^[fdeg]$/.test(letter) ? parts('(', type, `)[${value}]`) : parts('(', type, `)${value}`);
}

function readMember(at: Cursor): Node {
  return at.starts('sr') || /\d/.test(at.peek()) ? readUnresolved(at) : readExpression(at);
}

/** A name of a type that is not known before the template has its arguments. */
function readScoped(at: Cursor): Node {
  if (at.take('N')) {
    let scope = at.grammar.type(at);
    for (const level of at.untilEnd(() => readSimple(at))) scope = { kind: 'qualified', scope, name: level };
    return { kind: 'qualified', scope, name: readBase(at) };
  }
  if (!/\d/.test(at.peek())) return { kind: 'qualified', scope: at.grammar.type(at), name: readBase(at) };
  const [first, ...rest] = at.untilEnd(() => readSimple(at));
  const scope = rest.reduce<Node>((outer, name) => ({ kind: 'qualified', scope: outer, name }), first ?? at.fail());
  return { kind: 'qualified', scope, name: readBase(at) };
}

function readBase(at: Cursor): Node {
  at.take('on');
  return readSimple(at);
}

function readSimple(at: Cursor): Node {
  const name = /\d/.test(at.peek()) ? text(readIdentifier(at)) : at.grammar.unqualified(at, undefined, newFacts());
  return at.peek() === 'I' ? { kind: 'template', name, args: at.grammar.templateArgs(at) } : name;
}

const readUnresolved = (at: Cursor): Node => (at.take('sr') ? readScoped(at) : readSimple(at));
