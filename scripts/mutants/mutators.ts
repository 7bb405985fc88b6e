/**
 * Mutants of a source file: small faults, each in one line, made from its syntax tree. Types, imports, and what only speaks of our own mistakes
 * (`throw`, `bug`) have none.
 */
import {
  type BinaryExpression,
  type CallExpression,
  type ConditionalExpression,
  type IfStatement,
  type LiteralExpression,
  type Node,
  type PrefixUnaryExpression,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTypeNode } from 'typescript/unstable/ast/is';

export const mutatorNames = ['operator', 'comparison', 'constant', 'word', 'condition', 'not', 'dropped', 'branches', 'arguments'] as const;
export type MutatorName = (typeof mutatorNames)[number];

/** A stretch of a file, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Mutation extends Span {
  readonly mutator: MutatorName;
  /** What stands in place of the stretch. */
  readonly text: string;
  /** The expression or the statement that runs where the mutant does. */
  readonly probe: Span & { readonly isStatement: boolean };
  /** Whether it runs when the module is loaded, not in a function of it. */
  readonly isOuter: boolean;
}

/** A file with its mutations, and the bodies of its functions. */
export interface Mutable {
  readonly mutations: readonly Mutation[];
  readonly bodies: readonly (Span & { readonly isBlock: boolean })[];
}

type Change = Omit<Mutation, 'isOuter'>;
type Mutator = (node: Node, source: SourceFile) => readonly Change[];

const spanOf = (node: Node, source: SourceFile): Span => ({ start: node.getStart(source), end: node.getEnd() });
const textOf = (node: Node, source: SourceFile): string => source.text.slice(node.getStart(source), node.getEnd());

/** A node in whose place something else stands, within an expression that runs with it. */
function replaced(mutator: MutatorName, source: SourceFile, node: Node, text: string, probe: Node = node): Change {
  return { mutator, text, ...spanOf(node, source), probe: { ...spanOf(probe, source), isStatement: false } };
}

// ── operators ──

const operators: Partial<Record<SyntaxKind, string>> = {
  [SyntaxKind.PlusToken]: '-',
  [SyntaxKind.MinusToken]: '+',
  [SyntaxKind.AsteriskToken]: '+',
  [SyntaxKind.AsteriskAsteriskToken]: '*',
  [SyntaxKind.SlashToken]: '*',
  [SyntaxKind.PercentToken]: '*',
  [SyntaxKind.LessThanLessThanToken]: '>>',
  [SyntaxKind.GreaterThanGreaterThanToken]: '<<',
  [SyntaxKind.GreaterThanGreaterThanGreaterThanToken]: '>>',
  [SyntaxKind.AmpersandToken]: '|',
  [SyntaxKind.BarToken]: '&',
  [SyntaxKind.CaretToken]: '|',
  [SyntaxKind.AmpersandAmpersandToken]: '||',
  [SyntaxKind.BarBarToken]: '&&',
  [SyntaxKind.PlusEqualsToken]: '-=',
  [SyntaxKind.MinusEqualsToken]: '+=',
};

/** The bound off by one, and the opposite. */
const comparisons: Partial<Record<SyntaxKind, readonly string[]>> = {
  [SyntaxKind.LessThanToken]: ['<=', '>='],
  [SyntaxKind.LessThanEqualsToken]: ['<', '>'],
  [SyntaxKind.GreaterThanToken]: ['>=', '<='],
  [SyntaxKind.GreaterThanEqualsToken]: ['>', '<'],
  [SyntaxKind.EqualsEqualsEqualsToken]: ['!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken]: ['==='],
};

const ofOperator: Mutator = (node, source) => {
  if (node.kind !== SyntaxKind.BinaryExpression) return [];
  const { operatorToken } = node as BinaryExpression;
  const text = operators[operatorToken.kind];
  const opposite = comparisons[operatorToken.kind] ?? [];
  return [
    ...(text === undefined ? [] : [replaced('operator', source, operatorToken, text, node)]),
    ...opposite.map((each) => replaced('comparison', source, operatorToken, each, node)),
  ];
};

// ── constants and words ──

const ofConstant: Mutator = (node, source) => {
  const to = (...texts: string[]): Change[] => texts.map((text) => replaced('constant', source, node, text));
  if (node.kind === SyntaxKind.TrueKeyword) return to('false');
  if (node.kind === SyntaxKind.FalseKeyword) return to('true');
  const isBig = node.kind === SyntaxKind.BigIntLiteral;
  if (!isBig && node.kind !== SyntaxKind.NumericLiteral) return [];
  const written = textOf(node, source).replaceAll('_', '');
  const value = isBig ? BigInt(written.slice(0, -1)) : Number(written);
  const next = isBig ? `${(value as bigint) + 1n}n` : String((value as number) + 1);
  return Number(value) === 0 ? to(next) : to(next, isBig ? '0n' : '0');
};

/** Parts of the names of instructions, of WebAssembly, of the IR and of LLVM, and others that are as good there. */
const words: Readonly<Record<string, string>> = Object.fromEntries(
  ['add sub', 'and or', 'eq ne', 'lt le', 'gt ge', 'min max', 'shl shr', 'slt sle', 'sgt sge', 'ult ule', 'ugt uge', 's u', 'low high']
    .map((pair) => pair.split(' ') as [string, string])
    .flatMap(([one, other]) => [
      [one, other],
      [other, one],
    ]),
);

/** An instruction's name with its last part changed that has another one. */
function otherWord(name: string): string | undefined {
  if (!/^[a-z0-9_.]*$/.test(name)) return undefined;
  const parts = name.split(/([._])/);
  const at = parts.map((part) => Object.hasOwn(words, part)).lastIndexOf(true);
  if (at < 0 || name.length < 2) return undefined;
  return parts.map((part, i) => (i === at ? words[part]! : part)).join('');
}

const ofWord: Mutator = (node, source) => {
  const text = textOf(node, source);
  if (node.kind === SyntaxKind.StringLiteral) {
    const other = otherWord(text.slice(1, -1));
    return other === undefined ? [] : [replaced('word', source, node, `'${other}'`)];
  }
  if (node.kind !== SyntaxKind.TemplateHead && node.kind !== SyntaxKind.TemplateMiddle && node.kind !== SyntaxKind.TemplateTail) return [];
  const [, open, name, close] = /^(`|\})([\s\S]*?)(`|\$\{)$/.exec(text)!;
  const other = otherWord(name!);
  const whole = node.kind === SyntaxKind.TemplateHead ? node.parent : node.parent.parent;
  return other === undefined ? [] : [replaced('word', source, node, open + other + close, whole)];
};

// ── conditions and branches ──

const isCompared = (node: Node): boolean =>
  node.kind === SyntaxKind.BinaryExpression && comparisons[(node as BinaryExpression).operatorToken.kind] !== undefined;
const isNegated = (node: Node): boolean =>
  node.kind === SyntaxKind.PrefixUnaryExpression && (node as PrefixUnaryExpression).operator === SyntaxKind.ExclamationToken;

/** What a statement or an expression asks. */
function conditionOf(node: Node): Node | undefined {
  if (node.kind === SyntaxKind.IfStatement) return (node as IfStatement).expression;
  if (node.kind === SyntaxKind.ConditionalExpression) return (node as ConditionalExpression).condition;
  return undefined;
}

/** A condition that always holds, or never does; the opposite where no comparison and no `!` is changed for that. */
const ofCondition: Mutator = (node, source) => {
  const condition = conditionOf(node);
  if (!condition) return [];
  const texts = ['true', 'false', ...(isCompared(condition) || isNegated(condition) ? [] : [`!(${textOf(condition, source)})`])];
  return texts.map((text) => replaced('condition', source, condition, text));
};

const ofNot: Mutator = (node, source) =>
  isNegated(node) ? [replaced('not', source, node, textOf((node as PrefixUnaryExpression).operand, source))] : [];

const ofBranches: Mutator = (node, source) => {
  if (node.kind !== SyntaxKind.ConditionalExpression) return [];
  const { condition, whenTrue, whenFalse } = node as ConditionalExpression;
  const [question, yes, no] = [condition, whenTrue, whenFalse].map((each) => textOf(each, source));
  return [replaced('branches', source, node, `${question} ? ${no} : ${yes}`)];
};

// ── statements and calls ──

const jumps: ReadonlySet<SyntaxKind> = new Set([SyntaxKind.ReturnStatement, SyntaxKind.ContinueStatement, SyntaxKind.BreakStatement]);

const ofStatement: Mutator = (node, source) => {
  const isJump = jumps.has(node.kind) && /^\w+;?$/.test(textOf(node, source));
  if (!isJump && node.kind !== SyntaxKind.ExpressionStatement) return [];
  const span = spanOf(node, source);
  return [{ mutator: 'dropped', text: '{}', ...span, probe: { ...span, isStatement: true } }];
};

/** Calls whose result does not know the order of what they are given. */
const commutative = /(^|\.)(add|mul|and|or|xor|any|all|min|max|eq|ne|fadd|fmul|is|equal)$/;

const ofArguments: Mutator = (node, source) => {
  if (node.kind !== SyntaxKind.CallExpression) return [];
  const call = node as CallExpression;
  const [first, second] = call.arguments.slice(0, 2).map((each) => textOf(each, source));
  if (first === undefined || second === undefined || first === second || commutative.test(textOf(call.expression, source))) return [];
  if (`${first}${second}`.includes('=>')) return [];
  const { start } = spanOf(call.arguments[0]!, source);
  const end = call.arguments[1]!.getEnd();
  return [{ mutator: 'arguments', text: `${second}, ${first}`, start, end, probe: { ...spanOf(node, source), isStatement: false } }];
};

const mutators: readonly Mutator[] = [ofOperator, ofConstant, ofWord, ofCondition, ofNot, ofBranches, ofStatement, ofArguments];

// ── the walk ──

const skipped: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.ThrowStatement,
]);

const functions: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
  SyntaxKind.Constructor,
]);

const isBug = (node: Node, source: SourceFile): boolean =>
  node.kind === SyntaxKind.CallExpression && textOf((node as CallExpression).expression, source) === 'bug';

/** Whether a node is the alignment of an access of WebAssembly, which is a hint. */
function isHint(node: Node, source: SourceFile): boolean {
  const call = node.parent as CallExpression | undefined;
  if (call?.kind !== SyntaxKind.CallExpression || call.arguments[1] !== node) return false;
  return /\.access(Lane)?$/.test(textOf(call.expression, source));
}

/** Whether a node is no expression where one could stand: the key of a property, the path of an import, the text behind a tag. */
function isName(node: Node): boolean {
  const { parent } = node as LiteralExpression;
  if (parent === undefined) return false;
  if (parent.kind === SyntaxKind.TaggedTemplateExpression) return true;
  if (parent.kind === SyntaxKind.CallExpression) return (parent as CallExpression).expression.kind === SyntaxKind.ImportKeyword;
  return (parent as { name?: Node }).name === node || parent.kind === SyntaxKind.EnumMember;
}

/** All mutations of a file that change one line, in the order of their places. */
export function mutableOf(source: SourceFile): Mutable {
  const mutations: Mutation[] = [];
  const bodies: Mutable['bodies'][number][] = [];
  const visit = (node: Node, depth: number): void => {
    if (skipped.has(node.kind) || isTypeNode(node) || isName(node) || isHint(node, source) || isBug(node, source)) return;
    for (const mutator of mutators)
      for (const change of mutator(node, source)) if (isOneLine(source, change)) mutations.push({ ...change, isOuter: depth === 0 });
    const body = functions.has(node.kind) ? (node as { body?: Node }).body : undefined;
    if (body) bodies.push({ ...spanOf(body, source), isBlock: body.kind === SyntaxKind.Block });
    node.forEachChild((child) => visit(child, depth + (child === body ? 1 : 0)));
  };
  visit(source, 0);
  mutations.sort((a, b) => a.start - b.start || a.end - b.end);
  return { mutations, bodies };
}

const isOneLine = ({ text }: SourceFile, change: Change): boolean =>
  !text.slice(change.start, change.end).includes('\n') && !change.text.includes('\n');
