/**
 * The tree of a kernel as C has it: which scopes need a construct of their own, and how each jump leaves the constructs around it. C has
 * `break` and `continue` for the innermost construct; a jump over several sets a variable, which each construct on its way tests behind it.
 */
import type { Block, Edge, Value } from '../ir/index.ts';
import { isLoopLabel, type Label, type Statement } from './structure.ts';
import { cSyntax, type Syntax } from './syntax.ts';

/** How a jump is written. */
export type Exit = 'fall' | 'break' | 'continue' | 'far';

interface Construct {
  readonly label: Label;
  readonly kind: 'loop' | 'scope' | 'switch';
  /** The labels that leaving it by `break` reaches. */
  readonly behind: ReadonlySet<Label>;
  /** The labels of jumps from within it to constructs further out. */
  readonly crossing: Set<Label>;
  /** Whether something leaves it. */
  hasExit?: true;
}

/** What writes the tree. */
export interface FlowWriter {
  body(block: Block): void;
  declare(block: Block): void;
  transfer(edge: Edge): void;
  /** The text of a condition, negated or not. */
  condition(value: Value, isNegated: boolean): string;
  returns(): void;
  /** Sets what follows the region; the jump to its end comes behind. */
  leave(block: Block, edge: Edge | undefined): void;
  add(line: string): void;
  indent(write: () => void): void;
  capture(write: () => void): string[];
  append(lines: readonly string[]): void;
  readonly syntax: Syntax;
  /** The name of the variable of far jumps, and of that of a dispatch. */
  far(): string;
  next(): string;
}

/** The label of the end of a region, to which `leave` jumps. */
export const regionEnd: Label = -2;

interface Frame {
  readonly writer: FlowWriter;
  readonly real: ReadonlySet<Label>;
  /** Labels of scopes that have to become constructs. */
  readonly wanted: Set<Label>;
  readonly stack: Construct[];
}

/** The scopes that need a construct, found by trial. */
export function realScopes(tree: readonly Statement[], isRegion: boolean): Set<Label> {
  const real = new Set<Label>();
  for (let known = -1; known < real.size; ) {
    known = real.size;
    const wanted = new Set<Label>();
    const writer: FlowWriter = silent;
    writeList({ writer, real, wanted, stack: stackOf(isRegion) }, tree, new Set(), isRegion);
    for (const label of wanted) real.add(label);
  }
  return real;
}

const nothing = (): void => undefined;
const silent: FlowWriter = {
  body: nothing,
  declare: nothing,
  transfer: nothing,
  condition: () => '',
  returns: nothing,
  leave: nothing,
  add: nothing,
  indent: (write) => write(),
  capture(write) {
    write();
    return [''];
  },
  append: nothing,
  syntax: cSyntax,
  far: () => '',
  next: () => '',
};

/** A region is a case of a switch, which a `break` leaves. */
const stackOf = (isRegion: boolean): Construct[] =>
  isRegion ? [{ label: regionEnd, kind: 'scope', behind: new Set([regionEnd]), crossing: new Set() }] : [];

/** Writes a tree; that of a region as a case of a switch. */
export function writeTree(writer: FlowWriter, tree: readonly Statement[], real: ReadonlySet<Label>, isRegion: boolean): void {
  writeList({ writer, real, wanted: new Set(), stack: stackOf(isRegion) }, tree, new Set(), isRegion);
}

/** Whether lines declare a variable of a condition, which is then not seen behind them. */
function declaresAny(lines: readonly string[], condition: string): boolean {
  const names = new Set(condition.match(/[A-Za-z_]\w*/g));
  return lines.some((line) => {
    const declared = /^\s*(?:const )?[A-Za-z_][\w ]*?[ *]([A-Za-z_]\w*)(?: = .*)?;$/.exec(line)?.[1];
    return declared !== undefined && names.has(declared);
  });
}

function writeList(f: Frame, list: readonly Statement[], falls: ReadonlySet<Label>, isRegion: boolean): void {
  list.forEach((statement, i) => {
    const rest = list.slice(i + 1);
    const here = rest.length === 0 ? falls : fallsInto(rest, falls);
    writeStatement(f, statement, here, isRegion);
  });
}

/** The labels that running into a rest of a list reaches: those of a jump that it starts with. */
function fallsInto([first]: readonly Statement[], _falls: ReadonlySet<Label>): ReadonlySet<Label> {
  return first?.kind === 'jump' ? new Set([first.label]) : new Set();
}

function writeStatement(f: Frame, s: Statement, falls: ReadonlySet<Label>, isRegion: boolean): void {
  const { writer } = f;
  switch (s.kind) {
    case 'body':
      return writer.body(s.block);
    case 'declare':
      return writer.declare(s.block);
    case 'transfer':
      return writer.transfer(s.edge);
    case 'return':
      writer.returns();
      for (const construct of f.stack) construct.hasExit = true;
      return isRegion ? writeJump(f, regionEnd, falls) : writer.add('return;');
    case 'leave':
      writer.leave(s.block, s.edge);
      return writeJump(f, regionEnd, falls);
    case 'jump':
      return writeJump(f, s.label, falls);
    case 'next':
      writer.add(`${writer.next()} = ${s.id};`);
      // Within the switch of the dispatch there is no other construct.
      return;
    case 'if':
      return writeIf(f, s, falls, isRegion);
    case 'scope':
      return writeScope(f, s, falls, isRegion);
    case 'loop':
      return writeLoop(f, s, falls, isRegion);
    case 'dispatch':
      return writeDispatch(f, s, falls, isRegion);
  }
}

/** Whether nothing behind a line is reached. */
const isJump = (line = ''): boolean => /^\s*(break|continue|return);$/.test(line);

function writeIf(f: Frame, s: Extract<Statement, { kind: 'if' }>, falls: ReadonlySet<Label>, isRegion: boolean): void {
  const { writer } = f;
  const condition = { plain: writer.condition(s.cond, false), negated: writer.condition(s.cond, true) };
  const then = writer.capture(() => writer.indent(() => writeList(f, s.then, falls, isRegion)));
  const otherwise = writer.capture(() => writer.indent(() => writeList(f, s.else, falls, isRegion)));
  const isEnd = (lines: readonly string[]): boolean => isJump(lines.at(-1));
  const outdent = (lines: readonly string[]): string[] => lines.map((line) => (line.startsWith('  ') ? line.slice(2) : line));
  const block = (test: string, lines: readonly string[]): void => {
    const [only] = lines;
    if (lines.length === 1 && isEnd(lines)) return writer.add(writer.syntax.jumpIf(test, only!.trim()));
    writer.add(`if (${test}) {`);
    writer.append(lines);
    writer.add('}');
  };
  if (then.length === 0 && otherwise.length === 0) return;
  if (then.length === 0) return block(condition.negated, otherwise);
  if (otherwise.length === 0) return block(condition.plain, then);
  if (isEnd(then) && then.length <= 4) {
    block(condition.plain, then);
    return writer.append(outdent(otherwise));
  }
  if (isEnd(otherwise) && otherwise.length <= 4) {
    block(condition.negated, otherwise);
    return writer.append(outdent(then));
  }
  if (isEnd(then)) {
    block(condition.plain, then);
    return writer.append(outdent(otherwise));
  }
  writer.add(`if (${condition.plain}) {`);
  writer.append(then);
  writer.add('} else {');
  writer.append(otherwise);
  writer.add('}');
}

function writeScope(f: Frame, s: Extract<Statement, { kind: 'scope' }>, falls: ReadonlySet<Label>, isRegion: boolean): void {
  const inner = new Set([...falls, s.label]);
  if (!f.real.has(s.label)) return writeList(f, s.body, inner, isRegion);
  const construct: Construct = { label: s.label, kind: 'scope', behind: inner, crossing: new Set() };
  const { syntax } = f.writer;
  f.writer.add(syntax.scope);
  f.stack.push(construct);
  const lines = f.writer.capture(() => f.writer.indent(() => writeList(f, s.body, inner, isRegion)));
  f.writer.append(lines);
  f.stack.pop();
  for (const line of syntax.scopeEnd(isJump(lines.at(-1)))) f.writer.add(line);
  writeCrossings(f, construct, falls);
}

function writeLoop(f: Frame, s: Extract<Statement, { kind: 'loop' }>, falls: ReadonlySet<Label>, isRegion: boolean): void {
  const { writer } = f;
  const construct: Construct = { label: s.label, kind: 'loop', behind: falls, crossing: new Set() };
  f.stack.push(construct);
  const lines = writer.capture(() => writer.indent(() => writeList(f, s.body, new Set([s.label]), isRegion)));
  f.stack.pop();
  const { wayOut } = writer.syntax;
  if (!construct.hasExit && wayOut !== undefined) lines.push(...writer.capture(() => writer.indent(() => writer.add(wayOut))));
  writeLoopLines(writer, lines);
  writeCrossings(f, construct, falls);
}

/** `while` where a loop starts with its only way out, `do` where it ends with it. */
function writeLoopLines(writer: FlowWriter, lines: readonly string[]): void {
  const { syntax } = writer;
  const head = syntax.jumpPattern.exec(lines[0] ?? '');
  const continues = lines.some((line) => /\bcontinue;/.test(line));
  const tail = syntax.hasDoWhile ? syntax.jumpPattern.exec(lines.at(-1) ?? '') : undefined;
  if (head) {
    writer.add(`while (${negatedText(head[1]!)}) {`);
    writer.append(lines.slice(1));
    writer.add('}');
  } else if (tail && !continues && !declaresAny(lines, tail[1]!)) {
    writer.add('do {');
    writer.append(lines.slice(0, -1));
    writer.add(`} while (${negatedText(tail[1]!)});`);
  } else {
    writer.add(syntax.forever);
    writer.append(lines);
    writer.add('}');
  }
}

/** The negation of a condition in text. */
export function negatedText(text: string): string {
  const inverse = /^!(\w+)$/.exec(text) ?? /^!\(([^()]*)\)$/.exec(text);
  if (inverse) return inverse[1]!;
  const equality = /^([\w.]+) (==|!=) ([\w.]+)$/.exec(text);
  if (equality) return `${equality[1]} ${equality[2] === '==' ? '!=' : '=='} ${equality[3]}`;
  return /^\w+(\([^()]*\))?$/.test(text) ? `!${text}` : `!(${text})`;
}

function writeDispatch(f: Frame, s: Extract<Statement, { kind: 'dispatch' }>, falls: ReadonlySet<Label>, isRegion: boolean): void {
  const { writer } = f;
  const name = writer.next();
  writer.add(`${name} = ${s.first};`);
  const construct: Construct = { label: regionEnd - 1, kind: 'loop', behind: falls, crossing: new Set() };
  const inner: Construct = { label: regionEnd - 2, kind: 'switch', behind: new Set(), crossing: new Set() };
  f.stack.push(construct, inner);
  writer.add(writer.syntax.forever);
  writer.indent(() => {
    writer.add(`switch (${name}) {`);
    for (const { id, body } of s.cases) {
      writer.add(writer.syntax.case(id));
      writer.indent(() => {
        writeList(f, body, new Set(), isRegion);
        writer.add('break;');
      });
      writer.add('}');
    }
    for (const line of writer.syntax.otherwise) writer.add(line);
    writer.add('}');
  });
  f.stack.pop();
  f.stack.pop();
  writer.indent(() => writeCrossingsOf(f, inner, new Set(), construct));
  writer.add('}');
  writeCrossings(f, construct, falls);
}

/** How a jump from within the constructs reaches its label. */
function exitOf(stack: readonly Construct[], label: Label, falls: ReadonlySet<Label>): Exit {
  if (falls.has(label)) return 'fall';
  const innermost = stack.at(-1);
  if (innermost?.kind === 'loop' && innermost.label === label) return 'continue';
  if (innermost && innermost.kind !== 'switch' && innermost.behind.has(label)) return 'break';
  return 'far';
}

function writeJump(f: Frame, label: Label, falls: ReadonlySet<Label>): void {
  const { writer, stack } = f;
  const exit = exitOf(stack, label, falls);
  if (exit === 'fall') return;
  if (exit !== 'continue' && stack.length > 0) stack.at(-1)!.hasExit = true;
  if (exit !== 'far') return writer.add(`${exit};`);
  if (!isLoopLabel(label) && label !== regionEnd && !f.real.has(label)) f.wanted.add(label);
  // A scope that is wanted is a construct at the next trial.
  if (stack.length === 0) return;
  stack.at(-1)!.crossing.add(label);
  writer.add(`${writer.far()} = ${farCode(label)};`);
  writer.add('break;');
}

/** The number of a label in the variable of far jumps, which is 0 for none. */
const farCode = (label: Label): number => (label === regionEnd ? 1 : label + 2);

/** Behind a construct: jumps that have left it go on. */
function writeCrossings(f: Frame, { crossing }: Construct, falls: ReadonlySet<Label>): void {
  for (const label of crossing) writeOnwards(f, label, falls);
}

/** The same within a loop whose innermost construct has ended. */
function writeCrossingsOf(f: Frame, { crossing }: Construct, falls: ReadonlySet<Label>, around: Construct): void {
  f.stack.push(around);
  for (const label of crossing) writeOnwards(f, label, falls);
  f.stack.pop();
}

function writeOnwards(f: Frame, label: Label, falls: ReadonlySet<Label>): void {
  const { writer, stack } = f;
  const far = writer.far();
  const exit = exitOf(stack, label, falls);
  if ((exit === 'break' || exit === 'far') && stack.length > 0) stack.at(-1)!.hasExit = true;
  const isHere = `${far} == ${farCode(label)}`;
  if (exit === 'far') {
    if (!isLoopLabel(label) && label !== regionEnd && !f.real.has(label)) f.wanted.add(label);
    if (stack.length === 0) return;
    stack.at(-1)!.crossing.add(label);
    return writer.add(writer.syntax.jumpIf(isHere, 'break;'));
  }
  if (exit === 'fall') return writer.add(writer.syntax.jumpIf(isHere, `${far} = 0;`));
  writer.add(`if (${isHere}) {`);
  writer.indent(() => {
    writer.add(`${far} = 0;`);
    writer.add(`${exit};`);
  });
  writer.add('}');
}
