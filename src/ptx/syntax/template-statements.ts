/** Templates of whole lines: declarations, function heads, instructions. */
import type { Span } from '../../base/source.ts';
import type {
  Attribute,
  Directive,
  FunctionDirective,
  Guard,
  Instruction,
  Label,
  Linkage,
  Operand,
  Pointer,
  PtxFunction,
  StateSpace,
  Variable,
} from './ast.ts';
import { type Cursor, integerOf, type Make, numberOf, spanOf, textOf } from './cursor.ts';
import { limits } from './limits.ts';
import { type Actions, itemsOf, literal, make, type Node } from './nodes.ts';
import { directiveActions, dotted, optional, strings, wholeSpan, words } from './template-directives.ts';
import { buildAll, makeList } from './template-operands.ts';

/** The word of an optional node, without its dot. */
const optionalDotted = <T extends string>(node: Node): T | undefined => (node.children[0] ? (dotted(node.children[0]) as T) : undefined);

// ---- declarations

/** One qualifier of a declaration: exactly one of the fields. */
interface Qualifier {
  readonly align?: number;
  readonly vector?: 'v2' | 'v4' | 'v8';
  readonly attributes?: readonly Attribute[];
  readonly span: Span;
}

type Qualified = Pick<Variable, 'align' | 'vector' | 'attributes'>;

/** Merges qualifiers; reports CM1010 for a duplicate. */
function join(qualifiers: readonly Qualifier[], c: Cursor): Qualified {
  let joined: Partial<Qualified> = {};
  for (const { span, ...one } of qualifiers) {
    const field = Object.keys(one)[0] as keyof Qualified;
    if (joined[field] !== undefined) c.report('CM1010', { name: c.tokens.text.slice(span.start, span.end) }, span);
    joined = { ...joined, ...one };
  }
  return { align: joined.align, vector: joined.vector, attributes: joined.attributes ?? noAttributes };
}

const noAttributes: readonly Attribute[] = Object.freeze([]);
const unqualified: Qualified = Object.freeze({ align: undefined, vector: undefined, attributes: noAttributes });

const qualified = (node: Node): Make<Qualified> => {
  const parts = node.children.map((child): Make<Qualifier> => make(child));
  return parts.length === 0 ? () => unqualified : (c) => join(buildAll(parts, c), c);
};

/** The fields of a declarator: the name and the parts after it. */
type Declared = Pick<Variable, 'name' | 'nameSpan' | 'regCount' | 'dims' | 'init'>;

const noDims: readonly number[] = Object.freeze([]);

function declared(word: Node, count: Node, dimensions: Node, initial: Node | undefined): Make<Declared> {
  const token = word.first;
  const regCount = optional<number>(count);
  const dims = dimensions.children.map((child): Make<number | undefined> => make(child));
  const init = initial && optional<Operand>(initial);
  return (c) => ({
    name: textOf(c, token),
    nameSpan: spanOf(c, token, token),
    regCount: regCount?.(c),
    dims: dims.length > 0 ? buildAll(dims, c) : noDims,
    init: init?.(c),
  });
}

const variable = (base: Omit<Variable, keyof Declared>, d: Declared): Variable => ({ ...base, ...d });

/** What `.param .u64 %P<2>` declares, in every state space but that of registers: `%P0` and `%P1`. Other counts are faults that the checker reports. */
function namesOf(declared: Variable): readonly Variable[] {
  const { space, name, regCount: count, dims, init } = declared;
  if (space === 'reg' || count === undefined || count > limits.names || dims.length > 0 || init) return [declared];
  return Array.from({ length: count }, (_, i) => ({ ...declared, name: `${name}${i}`, regCount: undefined }));
}

const variableActions: Actions = {
  Variable(linkage: Node, space: Node, qualifiers: Node, type: Node, list: Node, _end: Node) {
    const fixed = {
      kind: 'variable' as const,
      linkage: optionalDotted<Linkage>(linkage),
      space: dotted(space) as StateSpace,
      type: dotted(type),
      ptr: undefined,
    };
    const quality = qualified(qualifiers);
    const parts = makeList<Declared>(list);
    const span = wholeSpan(this);
    return (c): Variable[] => {
      const base = { ...fixed, ...quality(c), span: span(c) };
      return buildAll(parts, c).flatMap((d) => namesOf(variable(base, d)));
    };
  },

  Parameter(space: Node, qualifiers: Node, type: Node, pointer: Node, word: Node, count: Node, dimensions: Node) {
    const fixed = { kind: 'variable' as const, linkage: undefined, space: dotted(space) as StateSpace, type: dotted(type) };
    const quality = qualified(qualifiers);
    const ptr = optional<Pointer>(pointer);
    const name = declared(word, count, dimensions, undefined);
    const span = wholeSpan(this);
    return (c): Variable => variable({ ...fixed, ...quality(c), ptr: ptr?.(c), span: span(c) }, name(c));
  },

  Declarator(word: Node, count: Node, dimensions: Node, initial: Node) {
    return declared(word, count, dimensions, initial);
  },

  RegCount(_open: Node, count: Node, _close: Node) {
    const token = count.first;
    return (c) => numberOf(c, token);
  },

  Dimension(_open: Node, extent: Node, _close: Node) {
    const node = extent.children[0];
    if (!node) return () => undefined;
    const token = node.first;
    if (node.rule === 'integer') return (c) => numberOf(c, token);
    return (c) => warpSize(c, token);
  },

  Initial(_equals: Node, initializer: Node) {
    return make(initializer);
  },

  Pointer(_ptr: Node, space: Node, align: Node) {
    const inner = optional<number>(align);
    const to = optionalDotted<StateSpace>(space);
    return (c): Pointer => ({ space: to, align: inner?.(c) });
  },

  PointerAlign(_align: Node, count: Node) {
    const token = count.first;
    return (c) => numberOf(c, token);
  },

  Qualifier_align(_align: Node, count: Node) {
    const [token, span] = [count.first, wholeSpan(this)];
    return (c): Qualifier => ({ align: numberOf(c, token), span: span(c) });
  },

  Qualifier_vector(size: Node) {
    const span = wholeSpan(this);
    const vector = dotted(size) as 'v2' | 'v4' | 'v8';
    return (c): Qualifier => ({ vector, span: span(c) });
  },

  Qualifier_attributes(list: Node) {
    const [inner, span] = [make(list) as Make<Attribute[]>, wholeSpan(this)];
    return (c): Qualifier => ({ attributes: inner(c), span: span(c) });
  },

  Attributes(_attribute: Node, _open: Node, list: Node, _close: Node) {
    const parts = makeList<Attribute>(list);
    return (c) => buildAll(parts, c);
  },

  Attribute(word: Node, values: Node) {
    const inner = optional<bigint[]>(values);
    const name = dotted(word);
    return (c): Attribute => ({ name, values: inner?.(c) ?? [] });
  },

  AttributeValues(_open: Node, list: Node, _close: Node) {
    const tokens = itemsOf(list).map((child) => child.first);
    return (c) => tokens.map((token) => integerOf(c, token));
  },
};

/** The only name allowed as an extent is `WARP_SZ`, 32. */
function warpSize(c: Cursor, token: number): number {
  const name = textOf(c, token);
  if (name !== 'WARP_SZ') c.report('CM1001', { expected: 'an integer', found: `\`${name}\`` }, spanOf(c, token, token));
  return 32;
}

// ---- functions

const functionActions: Actions = {
  FunctionStart_ended(head: Node, end: Node) {
    const start: Make<PtxFunction> = make(head);
    const span = wholeSpan(this);
    const body = literal(end) === '{' ? [] : undefined;
    return (c): PtxFunction => ({ ...start(c), body, span: span(c) });
  },

  DeclaredHead(_declared: Node, head: Node) {
    return make(head);
  },

  FunctionHead(linkage: Node, kind: Node, attributes: Node, results: Node, word: Node, parameters: Node, directives: Node) {
    const fixed = { kind: 'function' as const, isEntry: literal(kind) === '.entry', linkage: optionalDotted<Linkage>(linkage) };
    const [name, span] = [word.first, wholeSpan(this)];
    const quality = optional<Attribute[]>(attributes);
    const [before, after] = [optional<Variable[]>(results), optional<Variable[]>(parameters)];
    const tail = directives.children.map((child): Make<FunctionDirective> => make(child));
    return (c): PtxFunction => ({
      ...fixed,
      name: textOf(c, name),
      nameSpan: spanOf(c, name, name),
      results: before?.(c) ?? [],
      params: after?.(c) ?? [],
      directives: buildAll(tail, c),
      attributes: quality?.(c) ?? noAttributes,
      body: undefined,
      span: span(c),
    });
  },

  Parameters(_open: Node, list: Node, _close: Node) {
    const parts = makeList<Variable>(list);
    const { first } = this;
    return (c) => c.elided.get(c.index[first]!) ?? buildAll(parts, c);
  },

  FunctionDirective_pragma(pragma: Node) {
    const values = strings(pragma.children[1]!);
    const span = wholeSpan(this);
    return (c): FunctionDirective => ({ name: 'pragma', values: buildAll(values, c), span: span(c) });
  },

  FunctionDirective_numbers(performance: Node, list: Node) {
    const name = dotted(performance);
    const tokens = itemsOf(list).map((child) => child.first);
    const span = wholeSpan(this);
    return (c): FunctionDirective => ({ name, values: tokens.map((token) => numberOf(c, token)), span: span(c) });
  },
};

// ---- code

const codeActions: Actions = {
  Label(word: Node, _colon: Node) {
    const [token, span] = [word.first, wholeSpan(this)];
    return (c): Label => ({ kind: 'label', name: textOf(c, token), span: span(c) });
  },

  Instruction(guard: Node, opcode: Node, _modifiers: Node, list: Node, end: Node) {
    const before = optional<Guard>(guard);
    const operands = makeList<Operand>(list);
    const [first, token, last] = [this.first, opcode.first, end.first];
    return (c): Instruction => {
      const start = c.index[token]!;
      const opcodeSpan = { start: c.tokens.starts[start]!, end: c.tokens.ends[c.index[token + 1]! - 1]! };
      const { opcode, modifiers } = wordsOf(c, opcodeSpan, start, c.index[token + 1]!);
      const guard = before?.(c);
      return { kind: 'instruction', guard, opcode, modifiers, operands: buildAll(operands, c), span: spanOf(c, first, last), opcodeSpan };
    };
  },

  Guard(at: Node, not: Node, word: Node) {
    const [first, token] = [at.first, word.first];
    const negated = not.children.length > 0;
    return (c): Guard => ({ register: textOf(c, token), negated, span: spanOf(c, first, token) });
  },

  CodeDirective_branchTargets(_word: Node, list: Node, _end: Node) {
    return targets(this, list, 'branchtargets');
  },

  CodeDirective_callTargets(_word: Node, list: Node, _end: Node) {
    return targets(this, list, 'calltargets');
  },

  CodeDirective_callPrototype(_word: Node, results: Node, _sink: Node, parameters: Node, directives: Node, _end: Node) {
    const [before, after] = [optional<Variable[]>(results), optional<Variable[]>(parameters)];
    const tail = directives.children.map((child): Make<FunctionDirective> => make(child));
    const span = wholeSpan(this);
    return (c): Directive => ({
      kind: 'directive',
      name: 'callprototype',
      results: before?.(c) ?? [],
      params: after?.(c) ?? [],
      directives: buildAll(tail, c),
      span: span(c),
    });
  },
};

type InstructionWords = Pick<Instruction, 'opcode' | 'modifiers'>;

/** Opcodes with their modifiers, by text. A file has few distinct ones, so that equal ones share one list. */
const instructionWords = new Map<string, InstructionWords>();
const maxWords = 20_000;

/** The words of the tokens from `first` up to `end`, which make up `span`. */
function wordsOf({ tokens }: Cursor, span: Span, first: number, end: number): InstructionWords {
  const written = tokens.text.slice(span.start, span.end);
  const known = instructionWords.get(written);
  if (known) return known;
  const modifiers: string[] = [];
  for (let at = first + 1; at < end; at++) modifiers.push(tokens.text.slice(tokens.starts[at]! + 1, tokens.ends[at]));
  const made = { opcode: tokens.text.slice(tokens.starts[first], tokens.ends[first]), modifiers: Object.freeze(modifiers) };
  if (instructionWords.size >= maxWords) instructionWords.clear();
  instructionWords.set(written, made);
  return made;
}

function targets(node: Node, list: Node, name: 'branchtargets' | 'calltargets'): Make<Directive> {
  const [parts, span] = [words(list), wholeSpan(node)];
  return (c) => ({ kind: 'directive', name, targets: buildAll(parts, c), span: span(c) });
}

/** The actions for the rules above `Operand`. */
export const statementActions: Actions = {
  ...variableActions,
  ...functionActions,
  ...codeActions,
  ...directiveActions,
};
