/**
 * Writes the statements of a kernel: which values have variables, where these are declared, and the assignments of edges. A value that is used
 * once, in its own block, is written where it is used; one that reads memory only if nothing writes in between.
 */
import type { SourceFile } from '../base/source.ts';
import { type Block, type Edge, type Kernel, specOf, terminatorOperands, type Value } from '../ir/index.ts';
import { atom, type Expression, made, negated } from './expression.ts';
import { type FlowWriter, realScopes, writeTree } from './flow.ts';
import type { Printer } from './language.ts';
import type { Lines } from './lines.ts';
import { type LocLines, locLines } from './loc-lines.ts';
import type { Label, Statement } from './structure.ts';

/** A list of statements and its tree. */
export interface Part {
  readonly tree: readonly Statement[];
  /** The number of the region, for parts that a scheduler runs. */
  readonly isRegion: boolean;
}

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

interface Uses {
  readonly count: Int32Array;
  /** The block of the one use, where all uses are in one block; -2 for several. */
  readonly block: Int32Array;
}

/** Uses of each value as instructions are printed; what is only used by values that are not printed has none. */
function usesOf(kernel: Kernel, operandsOf: (value: Value) => readonly Value[], result: Value | undefined): Uses {
  const count = new Int32Array(kernel.insts.length);
  const block = new Int32Array(kernel.insts.length).fill(-1);
  const seen = new Uint8Array(kernel.insts.length);
  const home = new Int32Array(kernel.insts.length).fill(-1);
  for (const { id, body, params } of kernel.blocks) for (const value of [...params, ...body]) home[value] = id;
  const work: { value: Value; at: number }[] = [];
  const visit = (value: Value, at: number): void => {
    count[value]!++;
    block[value] = block[value] === -1 || block[value] === at ? at : -2;
    if (seen[value]) return;
    seen[value] = 1;
    work.push({ value, at: home[value]! });
  };
  for (const each of kernel.blocks) {
    for (const value of each.body)
      if (specOf(kernel.insts[value]!.op).effect !== 'pure' && specOf(kernel.insts[value]!.op).effect !== 'reads') {
        if (!seen[value]) work.push({ value, at: each.id });
        seen[value] = 1;
      } else if (kernel.insts[value]!.op === 'load' && (kernel.insts[value] as { volatile: boolean }).volatile && !seen[value]) {
        seen[value] = 1;
        work.push({ value, at: each.id });
      }
    for (const value of terminatorOperands(each.end)) visit(value, each.id);
  }
  if (result !== undefined) visit(result, 0);
  for (let next = work.pop(); next; next = work.pop()) for (const operand of operandsOf(next.value)) visit(operand, next.at);
  return { count, block };
}

/** By block: the braces it is in, from the outermost one in. */
function scopePaths(parts: readonly Part[], real: ReadonlyMap<Part, ReadonlySet<Label>>): Map<number, readonly number[]> {
  const paths = new Map<number, readonly number[]>();
  let next = 0;
  const visit = (list: readonly Statement[], path: readonly number[], labels: ReadonlySet<Label>): void => {
    for (const s of list) {
      if (s.kind === 'body') paths.set(s.block.id, paths.has(s.block.id) ? [] : path);
      else if (s.kind === 'if') {
        visit(s.then, [...path, next++], labels);
        visit(s.else, [...path, next++], labels);
      } else if (s.kind === 'scope') visit(s.body, labels.has(s.label) ? [...path, next++] : path, labels);
      else if (s.kind === 'loop') visit(s.body, [...path, next++], labels);
      else if (s.kind === 'dispatch') for (const { body } of s.cases) visit(body, [...path, next++], labels);
    }
  };
  for (const part of parts) visit(part.tree, [next++], real.get(part)!);
  return paths;
}

/** The body of a kernel that is written in these parts. */
export function newBody(printer: () => Printer, parts: readonly Part[], options: BodyOptions): Body {
  const { kernel, lines, source, isApart } = options;
  const p = printer();
  const { insts } = kernel;
  const uses = usesOf(kernel, (value) => p.addresses.operands(value), options.result);
  const real = new Map(parts.map((part) => [part, realScopes(part.tree, part.isRegion)]));
  const paths = scopePaths(parts, real);
  const many = parts.length > 1;
  const home = new Map<Value, Block>();
  for (const block of kernel.blocks) for (const value of [...block.params, ...block.body]) home.set(value, block);
  const hoisted = hoistedValues(kernel, { paths, home, operandsOf: (value) => p.addresses.operands(value), many });
  const locs: LocLines | undefined = source && locLines(source);
  const declared: string[] = [];
  const isDeclared = new Set<Value>();
  /** Values of the current block that are written where they are used, and those that edges pass. */
  const pending = new Map<Value, Expression>();
  const passed = new Map<Value, Expression>();
  const ready = new Map<Value, Expression>();
  const params = new Set(kernel.blocks.flatMap((block) => block.params));
  let lastLoc = '';
  let far: string | undefined;
  let next: string | undefined;

  const nameOf = (value: Value): Expression => {
    const name = p.names.of(value);
    return params.has(value) ? { text: name, strength: 16, reads: false, mutable: new Set([name]) } : atom(name);
  };
  const declareTop = (value: Value): void => {
    if (isDeclared.has(value)) return;
    isDeclared.add(value);
    declared.push(`${typeNameOf(p, value)} ${p.names.of(value)};`);
  };
  const variable = (value: Value): string => {
    if (hoisted.has(value)) declareTop(value);
    else if (!isDeclared.has(value)) {
      isDeclared.add(value);
      lines.add(`${typeNameOf(p, value)} ${p.names.of(value)};`);
    }
    return p.names.of(value);
  };
  const define = (value: Value, expression: Expression): void => {
    const name = p.names.of(value);
    if (hoisted.has(value) || isDeclared.has(value)) {
      if (hoisted.has(value)) declareTop(value);
      lines.add(`${name} = ${expression.text};`);
      return;
    }
    isDeclared.add(value);
    lines.add(`${typeNameOf(p, value)} ${name} = ${expression.text};`);
  };
  const use = (value: Value): Expression => {
    const waiting = pending.get(value) ?? passed.get(value);
    if (waiting) {
      pending.delete(value);
      passed.delete(value);
      ready.set(value, waiting);
      return waiting;
    }
    const again = ready.get(value);
    if (again) return again;
    const inst = insts[value]!;
    if (isLeaf(inst.op))
      return (p.language.rules[inst.op] as (p: Printer, inst: never, value: Value) => Expression)(p, inst as never, value);
    return nameOf(value);
  };
  const flush = (): void => {
    for (const [value, expression] of pending) {
      if (!expression.reads) continue;
      pending.delete(value);
      define(value, expression);
    }
  };
  const comment = (value: Value): void => {
    const at = locs?.(kernel.locs[value]);
    if (at === undefined || at === lastLoc) return;
    lastLoc = at;
    lines.add(`// ${at}`);
  };
  const writeInst = (value: Value, block: Block): void => {
    const inst = insts[value]!;
    const { effect } = specOf(inst.op);
    if (isLeaf(inst.op) || isApart(value)) return;
    const isVolatile = inst.op === 'load' && inst.volatile;
    const isQuiet = (effect === 'pure' || effect === 'reads') && !isVolatile;
    if (isQuiet && uses.count[value] === 0) return;
    let result: Expression | undefined;
    const rule = p.language.rules[inst.op] as (p: Printer, inst: never, value: Value) => Expression | undefined;
    const own = lines.capture(() => {
      result = rule(p, inst as never, value);
    });
    if (!isQuiet) flush();
    if (own.length > 0 || !isQuiet) comment(value);
    lines.append(own);
    if (!result) return;
    const isOnce = uses.count[value] === 1 && uses.block[value] === block.id && !hoisted.has(value);
    const isShort = result.text.length <= maxInline;
    if (isQuiet && isOnce && isShort) {
      pending.set(value, result);
      return;
    }
    // A name or a number needs no variable of its own.
    comment(value);
    if (!isQuiet && uses.count[value] === 0) lines.add(`${result.text};`);
    else define(value, result);
  };
  const transfer = ({ block, args }: Edge): void => {
    const moves = args.flatMap((arg, i) => {
      const param = block.params[i]!;
      if (uses.count[param] === 0) return [];
      return arg === param ? [] : [{ param, name: p.names.of(param), expression: use(arg) }];
    });
    writeMoves(p, lines, moves, (param) => void (isDeclared.has(param) || declareTop(param)));
  };
  const writer: FlowWriter = {
    body(block) {
      ready.clear();
      for (const value of block.body) writeInst(value, block);
      // What an edge passes is read before control goes on.
      const { end } = block;
      const kept = new Set(terminatorOperands(end));
      for (const [value, expression] of [...pending]) {
        pending.delete(value);
        if (kept.has(value)) passed.set(value, expression);
        else define(value, expression);
      }
    },
    declare(block) {
      for (const param of block.params) {
        if (uses.count[param] === 0 || isDeclared.has(param)) continue;
        if (hoisted.has(param) || many) declareTop(param);
        else {
          isDeclared.add(param);
          lines.add(`${typeNameOf(p, param)} ${p.names.of(param)};`);
        }
      }
    },
    transfer,
    condition: (value, isNegated) => (isNegated ? negated(use(value)) : use(value)).text,
    returns: options.returns,
    leave: options.leave,
    add: (line) => lines.add(line),
    indent: (write) => lines.indent(write),
    capture: (write) => lines.capture(write),
    append: (list) => lines.append(list),
    far() {
      if (far === undefined) {
        far = p.names.unique('leaving');
        declared.push(`uint ${far} = 0;`);
      }
      return far;
    },
    next() {
      if (next === undefined) {
        next = p.names.unique('next');
        declared.push(`uint ${next};`);
      }
      return next;
    },
  };
  return {
    use,
    define,
    variable,
    transfer,
    writeStraight(block, result, end) {
      for (const param of block.params) isDeclared.add(param);
      for (const value of block.body) writeInst(value, block);
      const last = use(result);
      for (const [value, expression] of pending) define(value, expression);
      end(last.text);
    },
    write: (part) => writeTree(writer, part.tree, real.get(part)!, part.isRegion),
    declarations: () => declared,
  };
}

/** The type of a value's variable. */
const typeNameOf = (p: Printer, value: Value): string => {
  const type = p.kernel.insts[value]!.type;
  return p.addresses.isOffset(type, value) ? 'ulong' : p.language.typeName(type);
};

interface Homes {
  readonly paths: ReadonlyMap<number, readonly number[]>;
  readonly home: ReadonlyMap<Value, Block>;
  operandsOf(value: Value): readonly Value[];
  /** Whether there are several parts. */
  readonly many: boolean;
}

/** Values that are used outside the braces of their definition, whose variables are declared before everything. */
function hoistedValues(kernel: Kernel, { paths, home, operandsOf, many }: Homes): Set<Value> {
  const hoisted = new Set<Value>();
  const use = (value: Value, block: Block): void => {
    const from = home.get(value);
    if (!from || from === block || hoisted.has(value)) return;
    const [outer, inner] = [paths.get(from.id), paths.get(block.id)];
    const isSeen = outer !== undefined && inner !== undefined && outer.length > 0 && outer.every((each, i) => inner[i] === each);
    if (!isSeen) hoisted.add(value);
  };
  for (const block of kernel.blocks) {
    for (const value of block.body) for (const operand of operandsOf(value)) use(operand, block);
    for (const value of terminatorOperands(block.end)) use(value, block);
    // The code of a block may be in several parts, and its parameters are assigned elsewhere.
    if (many) for (const param of block.params) hoisted.add(param);
  }
  return hoisted;
}

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
    lines.add(`${typeNameOf(p, first!.param)} ${copy} = ${first!.expression.text};`);
    moves = [...rest, { ...first!, expression: made(copy, 16, []) }];
  }
}
