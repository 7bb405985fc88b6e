/** Names of mangled names: nested, local, unnamed, operators, and the encoding of a function. Source: Itanium C++ ABI, 5.1.2 to 5.1.4. */
import { type Cursor, type NameFacts, newFacts } from './cursor.ts';
import { baseOf, list, type Node, parts, text } from './nodes.ts';
import { readIdentifier, readSubstitution, readTemplateParam } from './references.ts';
import { operators } from './tables.ts';
import { readParams, readQualifiers, withoutVoid } from './types.ts';

/** `<encoding>`: a function with its parameters, a variable, or a special name. */
export function readEncoding(at: Cursor): Node {
  return at.nested(() => {
    if (at.peek() === 'T' || at.starts('G')) return readSpecial(at);
    const facts = newFacts();
    const name = at.grammar.name(at, facts);
    const isData = at.isAtEnd || at.peek() === 'E' || at.peek() === '.';
    return isData ? name : readSignature(at, name, facts);
  });
}

function readSignature(at: Cursor, name: Node, { isTemplate, hasNoReturn, suffix }: NameFacts): Node {
  const returns = isTemplate && !hasNoReturn ? at.grammar.type(at) : undefined;
  return { kind: 'encoding', name, returns, params: readParams(at), suffix };
}

const specials: Readonly<Record<string, string>> = {
  TV: 'vtable for ',
  TT: 'VTT for ',
  TI: 'typeinfo for ',
  TS: 'typeinfo name for ',
};

function readSpecial(at: Cursor): Node {
  const word = at.text.slice(at.at, at.at + 2);
  at.at += 2;
  const prefix = specials[word];
  if (prefix !== undefined) return parts(prefix, at.grammar.type(at));
  if (word === 'GV') return parts('guard variable for ', at.grammar.name(at, newFacts()));
  if (word === 'TH' || word === 'TW')
    return parts(`TLS ${word === 'TH' ? 'init' : 'wrapper'} function for `, at.grammar.name(at, newFacts()));
  if (word === 'GT') return parts(at.take('t') ? 'transaction clone for ' : at.fail(), readEncoding(at));
  if (word === 'Th' || word === 'Tv') {
    readOffset(at);
    if (word === 'Tv') readOffset(at);
    return parts(word === 'Th' ? 'non-virtual thunk to ' : 'virtual thunk to ', readEncoding(at));
  }
  return at.fail();
}

/** A number of a thunk, which is not printed. */
function readOffset(at: Cursor): void {
  at.take('n');
  at.number();
  at.expect('_');
}

/** `<name>`. */
export function readName(at: Cursor, facts: NameFacts): Node {
  return at.nested(() => {
    if (at.peek() === 'N') return readNested(at, facts);
    if (at.peek() === 'Z') return readLocal(at, facts);
    const isSubstitution = at.peek() === 'S' && at.peek(1) !== 't';
    const name = isSubstitution ? readSubstitution(at) : readUnscoped(at, facts);
    if (at.peek() !== 'I') return name;
    if (!isSubstitution) at.remember(name);
    return withArgs(at, name, facts);
  });
}

function readUnscoped(at: Cursor, facts: NameFacts): Node {
  const isStandard = at.take('St');
  const name = readUnqualified(at, undefined, facts);
  return isStandard ? { kind: 'qualified', scope: text('std'), name } : name;
}

function withArgs(at: Cursor, name: Node, facts: NameFacts): Node {
  const args = at.grammar.templateArgs(at);
  facts.isTemplate = true;
  return { kind: 'template', name, args };
}

/** `<nested-name>`: components up to `E`, of which each prefix can be substituted. */
function readNested(at: Cursor, facts: NameFacts): Node {
  at.expect('N');
  const words = readQualifiers(at);
  const reference = at.take('R') ? ' &' : at.take('O') ? ' &&' : '';
  facts.suffix = `${words.map((word) => ` ${word}`).join('')}${reference}`;
  let scope: Node | undefined;
  while (!at.take('E')) {
    if (at.peek() === 'M') {
      at.at++;
      continue;
    }
    const { node, isKnown } = readComponent(at, scope, facts);
    scope = node;
    if (!isKnown && at.peek() !== 'E') at.remember(scope);
  }
  return scope ?? at.fail();
}

/** One component of a nested name with what precedes it. `isKnown`: it is a substitution already. */
function readComponent(at: Cursor, scope: Node | undefined, facts: NameFacts): { readonly node: Node; readonly isKnown: boolean } {
  if (at.peek() === 'I') return { node: withArgs(at, scope ?? at.fail(), facts), isKnown: false };
  facts.isTemplate = false;
  if (at.peek() === 'S' && at.peek(1) !== 't') {
    if (scope) at.fail();
    return { node: readSubstitution(at), isKnown: true };
  }
  if (at.peek() === 'S') {
    at.at += 2;
    return { node: { kind: 'qualified', scope: text('std'), name: readUnqualified(at, undefined, facts) }, isKnown: false };
  }
  if (at.peek() === 'T' && !scope) return { node: readTemplateParam(at), isKnown: false };
  if (at.starts('Dt') || at.starts('DT')) return { node: at.grammar.type(at), isKnown: true };
  const name = readUnqualified(at, scope, facts);
  return { node: scope ? { kind: 'qualified', scope, name } : name, isKnown: false };
}

/** `<unqualified-name>` with its ABI tags. `scope`: the class of a constructor. */
export function readUnqualified(at: Cursor, scope: Node | undefined, facts: NameFacts): Node {
  let name = readPlain(at, scope, facts);
  while (at.peek() === 'B') {
    at.at++;
    name = { kind: 'tagged', of: name, tag: readIdentifier(at) };
  }
  return name;
}

function readPlain(at: Cursor, scope: Node | undefined, facts: NameFacts): Node {
  facts.hasNoReturn = false;
  at.take('L');
  if (/\d/.test(at.peek())) return text(namespaceOr(readIdentifier(at)));
  if (at.starts('Ut') || at.starts('Ul')) return readUnnamed(at);
  if (at.take('DC')) {
    const names = at.untilEnd(() => text(readIdentifier(at)));
    return parts('[', list(names), ']');
  }
  if (/^[CD]/.test(at.peek()) && scope && /^(C[I1-5]|D[0-5])/.test(at.text.slice(at.at, at.at + 2))) return readStructor(at, scope, facts);
  return readOperator(at, facts);
}

/** The identifiers of unnamed namespaces of g++, clang and nvcc. */
const namespaceOr = (word: string): string => (/^_GLOBAL_[._$]N/.test(word) ? '(anonymous namespace)' : word);

function readStructor(at: Cursor, scope: Node, facts: NameFacts): Node {
  facts.hasNoReturn = true;
  const isDestructor = at.peek() === 'D';
  at.at += 2;
  const base = baseOf(scope);
  // An abbreviation is a name with its arguments.
  const known = base.kind === 'text' ? text(base.text.replace(/<.*$/, '').replace(/^std::/, '')) : base;
  return parts(isDestructor ? '~' : '', known);
}

/** `{unnamed type#1}` and `{lambda(int)#1}`. */
function readUnnamed(at: Cursor): Node {
  if (at.take('Ut')) return text(`{unnamed type#${at.sequence(10) + 1}}`);
  at.expect('Ul');
  const params = at.untilEnd(() => at.grammar.type(at));
  return { kind: 'lambda', params: withoutVoid(params), number: at.sequence(10) + 1 };
}

function readOperator(at: Cursor, facts: NameFacts): Node {
  const word = at.text.slice(at.at, at.at + 2);
  if (word === 'cv') {
    at.at += 2;
    const type = at.grammar.type(at);
    facts.hasNoReturn = true;
    return parts('operator ', type);
  }
  if (word === 'li') {
    at.at += 2;
    return parts('operator"" ', readIdentifier(at));
  }
  const found = Object.hasOwn(operators, word) ? operators[word] : undefined;
  if (!found) return at.fail();
  at.at += 2;
  return text(`operator${/^[a-z]/.test(found[0]) ? ' ' : ''}${found[0]}`);
}

/** `<local-name>`: something inside a function. */
function readLocal(at: Cursor, facts: NameFacts): Node {
  at.expect('Z');
  const encoding = at.grammar.encoding(at);
  at.expect('E');
  // The return type of the function is not printed.
  const scope: Node = encoding.kind === 'encoding' ? { ...encoding, returns: undefined } : encoding;
  if (at.take('s')) {
    readDiscriminator(at);
    return { kind: 'qualified', scope, name: text('string literal') };
  }
  if (at.take('d')) {
    const number = at.sequence(10) + 1;
    return { kind: 'qualified', scope: parts(scope, `::{default arg#${number}}`), name: readName(at, facts) };
  }
  const name = readName(at, facts);
  readDiscriminator(at);
  return { kind: 'qualified', scope, name };
}

function readDiscriminator(at: Cursor): void {
  if (at.take('__')) {
    at.number();
    at.expect('_');
  } else if (/^_\d/.test(at.text.slice(at.at, at.at + 2))) at.at += 2;
}
