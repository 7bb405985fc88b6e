/**
 * Writes the statements of a kernel: which values have variables, where these are declared, and the assignments of edges. A value that is used
 * once, in its own block, is written where it is used; one that reads memory only if nothing writes in between.
 */
import type { SourceFile } from '../base/source.ts';
import { type Block, type Edge, type Kernel, terminatorOperands, type Value } from '../ir/index.ts';
import { atom, type Expression, made, negated } from './expression.ts';
import { type FlowWriter, realScopes, writeTree } from './flow.ts';
import type { Printer } from './language.ts';
import type { Lines } from './lines.ts';
import { type LocLines, locLines } from './loc-lines.ts';
import { hoistedValues, isKept, type Part, scopePaths, type Uses, usesOf } from './uses.ts';

export type { Part } from './uses.ts';

/** What a body is written with. */
export interface BodyOptions {
  readonly kernel: Kernel;
  readonly source: SourceFile | undefined;
  readonly lines: Lines;
  /** Sets what follows a region, where threads leave it. */
  leave(block: Block, edge: Edge | undefined): void;
  returns(): void;
  /** Of a function: what it returns. */
  readonly result?: Value | undefined;
  /** Values that are written by the code around the parts. */
  readonly isApart: (value: Value) => boolean;
}

export interface Body {
  use(value: Value): Expression;
  define(value: Value, expression: Expression): void;
  variable(value: Value): string;
  /** Writes a part. */
  write(part: Part): void;
  transfer(edge: Edge): void;
  /** Writes the one block of a function, and its end with the result. */
  writeStraight(block: Block, result: Value, end: (text: string) => void): void;
  /** Declarations that precede all parts: `type name;`. */
  declarations(): readonly string[];
}

/** Longest expression that is written in place. */
const maxInline = 100;

const isLeaf = (op: string): boolean => op === 'const' || op === 'param' || op === 'sreg' || op === 'variable';

/** The state while a body is written. */
interface State {
  readonly p: Printer;
  readonly options: BodyOptions;
  readonly uses: Uses;
  readonly hoisted: ReadonlySet<Value>;
  readonly isScheduled: boolean;
  readonly params: ReadonlySet<Value>;
  readonly locs: LocLines | undefined;
  lastLoc: string;
  /** Lines before everything. */
  readonly declared: string[];
  readonly isDeclared: Set<Value>;
  /** Values of the current block that are written where they are used, those that edges pass, and those that were used. */
  readonly pending: Map<Value, Expression>;
  readonly passed: Map<Value, Expression>;
  readonly ready: Map<Value, Expression>;
}

/** The body of a kernel that is written in these parts. */
export function newBody(p: Printer, parts: readonly Part[], options: BodyOptions): Body {
  const { kernel, source } = options;
  const operandsOf = (value: Value): readonly Value[] => p.addresses.operands(value);
  const real = new Map(parts.map((part) => [part, realScopes(part.tree, part.isRegion)]));
  const home = new Map<Value, Block>();
  for (const block of kernel.blocks) for (const value of [...block.params, ...block.body]) home.set(value, block);
  const isScheduled = parts.length > 1;
  const state: State = {
    p,
    options,
    uses: usesOf(kernel, operandsOf, options.result),
    hoisted: hoistedValues(kernel, { paths: scopePaths(parts, real), home, operandsOf, isApart: options.isApart, many: isScheduled }),
    isScheduled,
    params: new Set(kernel.blocks.flatMap((block) => block.params)),
    locs: source && locLines(source),
    lastLoc: '',
    declared: [],
    isDeclared: new Set(),
    pending: new Map(),
    passed: new Map(),
    ready: new Map(),
  };
  const writer = flowWriter(state);
  return {
    use: (value) => use(state, value),
    define: (value, expression) => define(state, value, expression),
    variable: (value) => variable(state, value),
    transfer: (edge) => transfer(state, edge),
    writeStraight(block, result, end) {
      for (const param of block.params) state.isDeclared.add(param);
      for (const value of block.body) writeInst(state, value, block);
      const last = use(state, result);
      for (const [value, expression] of state.pending) define(state, value, expression);
      end(last.text);
    },
    write: (part) => writeTree(writer, part.tree, real.get(part)!, part.isRegion),
    declarations: () => state.declared,
  };
}

/** Declares a variable before everything. */
function declareTop({ p, declared, isDeclared }: State, value: Value): void {
  if (isDeclared.has(value)) return;
  isDeclared.add(value);
  declared.push(p.language.syntax.declaration(typeNameOf(p, value), p.names.of(value)));
}

/** Declares a variable here, unless it is. */
function declareHere(state: State, value: Value): void {
  const { p, hoisted, isDeclared, options } = state;
  if (hoisted.has(value)) return declareTop(state, value);
  if (isDeclared.has(value)) return;
  isDeclared.add(value);
  options.lines.add(p.language.syntax.declaration(typeNameOf(p, value), p.names.of(value)));
}

function variable(state: State, value: Value): string {
  declareHere(state, value);
  return state.p.names.of(value);
}

function define(state: State, value: Value, expression: Expression): void {
  const { p, hoisted, isDeclared, options } = state;
  if (hoisted.has(value)) declareTop(state, value);
  const name = p.names.of(value);
  const isNew = !isDeclared.has(value);
  isDeclared.add(value);
  options.lines.add(isNew ? p.language.syntax.definition(typeNameOf(p, value), name, expression.text) : `${name} = ${expression.text};`);
}

type AnyRule = (p: Printer, inst: never, value: Value) => Expression | undefined;

function use(state: State, value: Value): Expression {
  const { p, pending, passed, ready, params } = state;
  const waiting = pending.get(value) ?? passed.get(value);
  if (waiting) {
    pending.delete(value);
    passed.delete(value);
    ready.set(value, waiting);
    return waiting;
  }
  const again = ready.get(value);
  if (again) return again;
  const inst = p.kernel.insts[value]!;
  if (isLeaf(inst.op)) return (p.language.rules[inst.op] as AnyRule)(p, inst as never, value)!;
  const name = p.names.of(value);
  return params.has(value) ? { ...atom(name), mutable: new Set([name]) } : atom(name);
}

/** Gives the values that read memory their variables, before something writes it. */
function flush(state: State): void {
  for (const [value, expression] of state.pending) {
    if (!expression.reads) continue;
    state.pending.delete(value);
    define(state, value, expression);
  }
}

/** Adds the line of the source, where it is another one. */
function comment(state: State, value: Value): void {
  const at = state.locs?.(state.p.kernel.locs[value]);
  if (at === undefined || at === state.lastLoc) return;
  state.lastLoc = at;
  state.options.lines.add(`// ${at}`);
}

function writeInst(state: State, value: Value, block: Block): void {
  const { p, options, uses, hoisted, pending } = state;
  const { lines, kernel, isApart } = options;
  const inst = kernel.insts[value]!;
  if (isLeaf(inst.op) || isApart(value)) return;
  const isQuiet = !isKept(inst);
  if (isQuiet && uses.count[value] === 0) return;
  let result: Expression | undefined;
  const own = lines.capture(() => {
    result = (p.language.rules[inst.op] as AnyRule)(p, inst as never, value);
  });
  if (!isQuiet) flush(state);
  if (own.length > 0 || !isQuiet) comment(state, value);
  lines.append(own);
  if (!result) return;
  const isOnce = uses.count[value] === 1 && uses.block[value] === block.id && !hoisted.has(value);
  if (isQuiet && isOnce && result.text.length <= maxInline) {
    pending.set(value, result);
    return;
  }
  comment(state, value);
  if (!isQuiet && uses.count[value] === 0) lines.add(p.language.syntax.statement(result.text));
  else define(state, value, result);
}

/** Assigns what an edge passes. */
function transfer(state: State, { block, args }: Edge): void {
  const { p, uses, options } = state;
  const moves = args.flatMap((arg, i) => {
    const param = block.params[i]!;
    return uses.count[param] === 0 || arg === param ? [] : [{ param, name: p.names.of(param), expression: use(state, arg) }];
  });
  writeMoves(p, options.lines, moves, (param) => declareTop(state, param));
}

function writeBlock(state: State, block: Block): void {
  const { pending, passed, ready } = state;
  ready.clear();
  for (const value of block.body) writeInst(state, value, block);
  // What an edge passes is read before control goes on.
  const kept = new Set(terminatorOperands(block.end));
  for (const [value, expression] of [...pending]) {
    pending.delete(value);
    if (kept.has(value)) passed.set(value, expression);
    else define(state, value, expression);
  }
}

function flowWriter(state: State): FlowWriter {
  const { p, uses, declared, isScheduled, options } = state;
  const { lines } = options;
  const own = new Map<string, string>();
  const { syntax } = p.language;
  const word = (wanted: string, start: string | undefined): string => {
    const known = own.get(wanted);
    if (known !== undefined) return known;
    const name = p.names.unique(wanted);
    own.set(wanted, name);
    declared.push(start === undefined ? syntax.declaration(syntax.word, name) : syntax.variable(syntax.word, name, start));
    return name;
  };
  return {
    body: (block) => writeBlock(state, block),
    declare(block) {
      for (const param of block.params)
        if (uses.count[param]! > 0) {
          if (isScheduled) declareTop(state, param);
          else declareHere(state, param);
        }
    },
    transfer: (edge) => transfer(state, edge),
    condition: (value, isNegated) => (isNegated ? negated(use(state, value)) : use(state, value)).text,
    returns: options.returns,
    leave: options.leave,
    add: (line) => lines.add(line),
    indent: (write) => lines.indent(write),
    capture: (write) => lines.capture(write),
    append: (list) => lines.append(list),
    syntax,
    far: () => word('leaving', '0'),
    next: () => word('next', undefined),
  };
}

/** The type of a value's variable. */
const typeNameOf = (p: Printer, value: Value): string => {
  const type = p.kernel.insts[value]!.type;
  return p.addresses.isOffset(type, value) ? p.language.syntax.offset : p.language.typeName(type);
};

interface Move {
  readonly param: Value;
  readonly name: string;
  readonly expression: Expression;
}

/** Writes assignments that happen at once: one whose variable another one still reads comes behind it, and a cycle goes through a copy. */
function writeMoves(p: Printer, lines: Lines, all: readonly Move[], declare: (param: Value) => void): void {
  let moves = all.filter(({ name, expression }) => expression.text !== name);
  for (const { param } of moves) declare(param);
  while (moves.length > 0) {
    const free = moves.filter(({ name }) => !moves.some((other) => other.name !== name && other.expression.mutable.has(name)));
    for (const { name, expression } of free) lines.add(`${name} = ${expression.text};`);
    moves = moves.filter((move) => !free.includes(move));
    if (free.length > 0 || moves.length === 0) continue;
    const [first, ...rest] = moves;
    const copy = p.names.unique(`${first!.name}_next`);
    lines.add(p.language.syntax.definition(typeNameOf(p, first!.param), copy, first!.expression.text));
    moves = [...rest, { ...first!, expression: made(copy, 16, []) }];
  }
}
