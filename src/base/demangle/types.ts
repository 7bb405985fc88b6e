/** Types and template arguments of mangled names. Source: Itanium C++ ABI, 5.1.5 and 5.1.6. */
import { type Cursor, newFacts } from './cursor.ts';
import { type Node, parts, text } from './nodes.ts';
import { readSubstitution, readTemplateParam } from './references.ts';
import { builtins } from './tables.ts';

/** `<type>`. */
export function readType(at: Cursor): Node {
  return at.nested(() => {
    const builtin = readBuiltin(at);
    if (builtin) return builtin;
    if (at.starts('S')) {
      const found = readSubstituted(at);
      if (found) return found;
    }
    return at.remember(readCompound(at));
  });
}

function readBuiltin(at: Cursor): Node | undefined {
  const two = at.text.slice(at.at, at.at + 2);
  const word = Object.hasOwn(builtins, two) ? two : at.peek();
  if (Object.hasOwn(builtins, word)) {
    at.at += word.length;
    return text(builtins[word]!);
  }
  if (!at.take('DF')) return undefined;
  const bits = at.number() ?? at.fail();
  if (at.take('b')) return text(bits === 16 ? 'std::bfloat16_t' : at.fail());
  if (at.take('x')) return text(`_Float${bits}x`);
  at.expect('_');
  return text(`_Float${bits}`);
}

/** A substitution as a type; undefined for `St`, with which a name starts. */
function readSubstituted(at: Cursor): Node | undefined {
  if (at.peek(1) === 't') return undefined;
  const found = readSubstitution(at);
  if (at.peek() !== 'I') return found;
  return at.remember({ kind: 'template', name: found, args: at.grammar.templateArgs(at) });
}

function readCompound(at: Cursor): Node {
  switch (at.peek()) {
    case 'P':
    case 'R':
    case 'O':
      return readPointer(at);
    case 'r':
    case 'V':
    case 'K':
      return readQualified(at);
    case 'U':
      return readVendorQualified(at);
    case 'F':
      return readFunction(at, '');
    case 'A':
      return readArray(at);
    case 'M':
      return readMemberPointer(at);
    case 'T':
      return readTemplateType(at);
    case 'C':
      at.at++;
      return parts(readType(at), ' _Complex');
    case 'G':
      at.at++;
      return parts(readType(at), ' _Imaginary');
    case 'D':
      return readD(at);
    case 'u':
      at.at++;
      return at.grammar.unqualified(at, undefined, newFacts());
    default:
      return at.grammar.name(at, newFacts());
  }
}

function readPointer(at: Cursor): Node {
  const letter = at.peek();
  at.at++;
  return { kind: 'pointer', mark: letter === 'P' ? '*' : letter === 'R' ? '&' : '&&', of: readType(at) };
}

/** `restrict`, `volatile` and `const`, in this order; they are qualifiers of a member function before `F`. */
function readQualified(at: Cursor): Node {
  const words = readQualifiers(at);
  if (at.peek() === 'F' || at.starts('Do') || at.starts('DO')) {
    const suffix = words.map((word) => ` ${word}`).join('');
    return readFunction(at, suffix);
  }
  const of = readType(at);
  return { kind: 'qualifiers', of, words };
}

/** `<CV-qualifiers>`, in the order in which they are printed. */
export function readQualifiers(at: Cursor): string[] {
  const words: string[] = [];
  if (at.take('r')) words.unshift('restrict');
  if (at.take('V')) words.unshift('volatile');
  if (at.take('K')) words.unshift('const');
  return words;
}

function readVendorQualified(at: Cursor): Node {
  at.expect('U');
  const length = at.number() ?? at.fail();
  const word = at.text.slice(at.at, at.at + length);
  if (word.length < length) at.fail();
  at.at += length;
  const args = at.peek() === 'I' ? at.grammar.templateArgs(at) : undefined;
  const of = readType(at);
  return args ? parts(of, ' ', { kind: 'template', name: text(word), args }) : { kind: 'qualifiers', of, words: [word] };
}

/** `<function-type>`: the return type, then the parameters. */
function readFunction(at: Cursor, qualifiers: string): Node {
  let thrown = '';
  if (at.take('Do')) thrown = ' noexcept';
  at.expect('F');
  at.take('Y');
  const returns = readType(at);
  const params: Node[] = [];
  let reference = '';
  for (;;) {
    if (at.take('E')) break;
    if (at.starts('RE') || at.starts('OE')) {
      reference = at.take('R') ? ' &' : at.take('O') ? ' &&' : '';
      continue;
    }
    params.push(readType(at));
  }
  return { kind: 'function', returns, params: withoutVoid(params), suffix: `${qualifiers}${reference}${thrown}` };
}

/** A single `void` is an empty list of parameters. */
export const withoutVoid = (params: readonly Node[]): readonly Node[] =>
  params.length === 1 && params[0]!.kind === 'text' && params[0]!.text === 'void' ? [] : params;

function readArray(at: Cursor): Node {
  at.expect('A');
  const count = at.number();
  const size = count !== undefined ? text(String(count)) : at.peek() === '_' ? undefined : at.grammar.expression(at);
  at.expect('_');
  return { kind: 'array', of: readType(at), size };
}

function readMemberPointer(at: Cursor): Node {
  at.expect('M');
  const owner = readType(at);
  return { kind: 'member-pointer', owner, of: readType(at) };
}

/** A template parameter, or a template template parameter with its arguments; or an elaborated type: `Ts`, `Tu`, `Te`. */
function readTemplateType(at: Cursor): Node {
  if (/^T[sue]/.test(at.text.slice(at.at, at.at + 2))) {
    at.at += 2;
    return at.grammar.name(at, newFacts());
  }
  const param = readTemplateParam(at);
  if (at.peek() !== 'I') return param;
  at.remember(param);
  return { kind: 'template', name: param, args: at.grammar.templateArgs(at) };
}

function readD(at: Cursor): Node {
  if (at.starts('Do')) return readFunction(at, '');
  if (at.take('Dp')) return { kind: 'expansion', of: readType(at) };
  if (at.take('Dt') || at.take('DT')) {
    const expression = at.grammar.expression(at);
    at.expect('E');
    return parts('decltype (', expression, ')');
  }
  if (at.take('Dv')) {
    const count = at.number();
    const size = count !== undefined ? text(String(count)) : at.grammar.expression(at);
    at.expect('_');
    return parts(readType(at), ' __vector(', size, ')');
  }
  return at.fail();
}

/** `<template-args>`. */
export function readTemplateArgs(at: Cursor): Node[] {
  at.expect('I');
  return at.untilEnd(() => readTemplateArg(at));
}

function readTemplateArg(at: Cursor): Node {
  return at.nested(() => {
    switch (at.peek()) {
      case 'X': {
        at.at++;
        const found = at.grammar.expression(at);
        at.expect('E');
        return found;
      }
      case 'J':
      case 'I':
        at.at++;
        return { kind: 'pack', items: at.untilEnd(() => readTemplateArg(at)) };
      case 'L':
        return at.grammar.expression(at);
      default:
        return readType(at);
    }
  });
}

/** Types up to the end of an encoding, or up to `E`. */
export function readParams(at: Cursor): readonly Node[] {
  const params: Node[] = [];
  while (!at.isAtEnd && at.peek() !== 'E' && at.peek() !== '.') params.push(readType(at));
  return withoutVoid(params);
}
