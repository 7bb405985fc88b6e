/**
 * Reads the text form that `print.ts` writes. Faults become CM3002, and reading resumes at the next line. The result is not verified:
 * `verify` does that.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import { addBlock, emptyKernel } from './build.ts';
import {
  type Block,
  clusterNumberCounts,
  clusterOf,
  type Edge,
  type Inst,
  type Kernel,
  type KernelParam,
  type Module,
  type ModuleMemory,
  type ModuleSymbol,
  type Terminator,
  type Value,
  type Variable,
} from './kernel.ts';
import { argsOf, attrsOf, mapOperands, mapTerminator } from './operands.ts';
import { type Op, ops } from './ops.ts';
import {
  bytes,
  expect,
  expectKind,
  expectWord,
  fail,
  guarded,
  isAt,
  list,
  location,
  next,
  number,
  numberAfter,
  oneOf,
  peek,
  type Reader,
  report,
  scalar,
  string,
  takeWord,
  type,
} from './text-reader.ts';
import { type Token, tokensOf } from './text-tokens.ts';
import { bitsOf, type Type } from './types.ts';

interface KernelReader extends Reader {
  readonly kernel: Kernel;
  /** Values by their number in the text. */
  readonly values: Map<string, Value>;
  /** Values used, by temporary index: an operand holds its index here until every value is known. */
  readonly uses: Token[];
  readonly blocks: Map<string, Block>;
  readonly defined: Set<Block>;
  /** Uses of blocks that may be defined later. */
  readonly jumps: Token[];
  /** The pointers that are marked `wide`. */
  readonly wide: Set<Value>;
  block: Block | undefined;
}

/** The kernels of a text; where errors were reported, as much of them as could be read. */
export function parseModule(file: SourceFile, diagnostics: Diagnostics): Module {
  const r: Reader = { file, tokens: tokensOf(file), at: 0, diagnostics };
  const kernels: Kernel[] = [];
  while (peek(r).kind !== 'end') {
    const kernel = guarded(r, () => parseKernel(r));
    if (kernel) kernels.push(kernel);
  }
  return { kernels };
}

function parseKernel(r: Reader): Kernel {
  expectWord(r, 'kernel');
  const kernel = emptyKernel(string(r));
  expect(r, '{');
  const k: KernelReader = {
    ...r,
    kernel,
    values: new Map(),
    uses: [],
    blocks: new Map(),
    defined: new Set(),
    jumps: [],
    wide: new Set(),
    block: undefined,
  };
  while (!isAt(k, '}') && peek(k).kind !== 'end') guarded(k, () => parseLine(k));
  closeBlock(k);
  r.at = k.at;
  resolve(k);
  expect(r, '}');
  return kernel;
}

// ── lines ──

const headerRules: Record<string, (k: KernelReader) => void> = {
  dialect: (k) => {
    oneOf(k, ['narrow']);
    k.kernel.widePointers = k.wide;
  },
  maxthreads: (k) => {
    k.kernel.maxThreads = number(k);
  },
  threads: (k) => {
    k.kernel.requiredThreads = [number(k), number(k), number(k)];
  },
  cluster: (k) => {
    const numbers = Array.from({ length: clusterNumberCounts.plain }, () => number(k));
    while (peek(k).kind === 'number') numbers.push(number(k));
    k.kernel.cluster = clusterOf(numbers);
  },
  param: (k) => void k.kernel.params.push(parseParam(k)),
  variable: (k) => void k.kernel.variables.push(parseVariable(k)),
};

function parseLine(k: KernelReader): void {
  const token = peek(k);
  if (token.kind === 'value') return parseDefinition(k);
  if (token.kind !== 'word') fail(k, token, 'a line starts with a value, an op or a block');
  if (/^b\d+$/.test(token.text)) return parseBlock(k);
  k.at++;
  const header = Object.hasOwn(headerRules, token.text) ? headerRules[token.text] : undefined;
  if (header) return header(k);
  if (token.text === 'br' || token.text === 'condbr' || token.text === 'ret') return parseEnd(k, token);
  place(k, token, parseInst(k, token, 'void'));
}

function parseParam(k: KernelReader): KernelParam {
  const name = string(k);
  const kind = oneOf(k, ['value', 'pointer', 'threadgroup'] as const);
  const space = oneOf(k, ['global', 'constant', 'shared', 'param'] as const);
  const size = numberAfter(k, 'size');
  const align = numberAfter(k, 'align');
  const slot = numberAfter(k, 'slot');
  const element = takeWord(k, 'element') ? scalar(k) : undefined;
  const signed = takeWord(k, 'signed');
  const access = takeWord(k, 'access') ? oneOf(k, ['read', 'write', 'read_write'] as const) : undefined;
  const memory = takeWord(k, 'memory') ? { memory: parseMemory(k) } : {};
  const [faultTexts, formatTexts] = [strings(k, 'fault'), strings(k, 'format')];
  const faults = faultTexts.length > 0 ? { faults: faultTexts } : {};
  const formats = formatTexts.length > 0 ? { formats: formatTexts } : {};
  const span = location(k);
  return { name, kind, space, size, align, slot, element, signed, access, ...memory, ...faults, ...formats, ...(span ? { span } : {}) };
}

/** The strings that follow each repetition of a word. */
function strings(k: KernelReader, word: string): string[] {
  const found: string[] = [];
  while (takeWord(k, word)) found.push(string(k));
  return found;
}

function parseMemory(k: KernelReader): ModuleMemory {
  const [size, align] = [number(k), numberAfter(k, 'align')];
  const symbols: ModuleSymbol[] = [];
  while (takeWord(k, 'symbol')) {
    const name = string(k);
    const offset = numberAfter(k, 'at');
    const bytesOfIt = numberAfter(k, 'size');
    symbols.push({ name, offset, size: bytesOfIt, init: takeWord(k, 'init') ? bytes(k) : undefined });
  }
  return { size, align, symbols };
}

function parseVariable(k: KernelReader): Variable {
  const name = string(k);
  const space = oneOf(k, ['shared', 'constant', 'local'] as const);
  const size = numberAfter(k, 'size');
  const align = numberAfter(k, 'align');
  const isDynamic = takeWord(k, 'dynamic');
  const element = takeWord(k, 'element') ? scalar(k) : undefined;
  return { name, space, size, align, isDynamic, init: takeWord(k, 'init') ? bytes(k) : undefined, element };
}

/** A block that ends without a terminator is a fault, not a return. */
function closeBlock(k: KernelReader): void {
  if (k.block) report(k, peek(k), `the block b${k.block.id} has no terminator`);
  k.block = undefined;
}

function parseBlock(k: KernelReader): void {
  closeBlock(k);
  const token = next(k);
  const block = blockNamed(k, token.text);
  if (k.defined.has(block)) fail(k, token, `the block ${token.text} is already there`);
  k.defined.add(block);
  // Blocks are in the order of their definitions, whatever jumps lead forwards.
  k.kernel.blocks.push(block);
  block.id = k.kernel.blocks.length - 1;
  k.block = block;
  if (peek(k).kind === 'string') block.label = string(k);
  if (isAt(k, '(')) list(k, () => parseBlockParam(k, block));
  expect(k, ':');
}

function parseBlockParam(k: KernelReader, block: Block): void {
  const token = expectKind(k, 'value', 'a value');
  expect(k, ':');
  const [inst, isWide] = [{ op: 'arg', type: type(k) } as const, takeWidth(k)];
  block.params.push(mark(k, define(k, token, inst, location(k)), isWide));
}

function parseDefinition(k: KernelReader): void {
  const token = next(k);
  expect(k, '=');
  const op = expectKind(k, 'word', 'an op');
  const [result, isWide] = [type(k), takeWidth(k)];
  place(k, token, parseInst(k, op, result), isWide);
}

/** Whether `wide` follows, as it does behind the type of a pointer that has 64 bits in the narrowed dialect. */
function takeWidth(k: KernelReader): boolean {
  const token = peek(k);
  const isMarked = takeWord(k, 'wide');
  if (isMarked && k.kernel.widePointers === undefined) fail(k, token, '`wide` belongs to the narrowed dialect: `dialect narrow`');
  return isMarked;
}

function mark(k: KernelReader, value: Value, isWide: boolean): Value {
  if (isWide) k.wide.add(value);
  return value;
}

function place(k: KernelReader, token: Token, inst: Inst, isWide = false): void {
  if (!k.block) fail(k, token, 'an instruction belongs to a block');
  k.block.body.push(mark(k, define(k, token, inst, location(k)), isWide));
}

function define(k: KernelReader, token: Token, inst: Inst, loc: Span | undefined): Value {
  if (k.values.has(token.text)) fail(k, token, `${token.text} is already defined`);
  k.kernel.locs.push(loc);
  const value = (k.kernel.insts.push(inst) - 1) as Value;
  if (token.kind === 'value') k.values.set(token.text, value);
  return value;
}

function parseInst(k: KernelReader, token: Token, type: Type): Inst {
  if (!Object.hasOwn(ops, token.text)) fail(k, token, `there is no op ${token.text}`);
  const op = token.text as Op;
  const inst: Record<string, unknown> = { op, type };
  if (op === 'const') inst.bits = BigInt.asUintN(bitsOf(type), BigInt(expectKind(k, 'number', 'a number').text));
  else {
    argsOf(op).forEach((name, i) => {
      if (i > 0) expect(k, ',');
      inst[name] = use(k);
    });
    if (attrsOf(op).length > 0) parseAttrs(k, op, inst);
  }
  return inst as unknown as Inst;
}

function parseAttrs(k: KernelReader, op: Op, inst: Record<string, unknown>): void {
  const examples = (ops[op] as unknown as { attrs: Record<string, unknown> }).attrs;
  expect(k, '{');
  attrsOf(op).forEach((name, i) => {
    if (i > 0) expect(k, ',');
    expectWord(k, name);
    expect(k, ':');
    inst[name] = attribute(k, typeof examples[name]);
  });
  expect(k, '}');
}

function attribute(k: KernelReader, kind: string): unknown {
  if (kind === 'number') return number(k);
  if (kind === 'boolean') return oneOf(k, ['true', 'false']) === 'true';
  return peek(k).kind === 'word' ? next(k).text : string(k);
}

function parseEnd(k: KernelReader, token: Token): void {
  if (!k.block) fail(k, token, 'a terminator ends a block');
  const end = terminator(k, token.text);
  k.block.end = end;
  const loc = location(k);
  if (loc) k.block.endLoc = loc;
  k.block = undefined;
}

function terminator(k: KernelReader, op: string): Terminator {
  if (op === 'ret') return { op };
  if (op === 'br') return { op, to: edge(k) };
  const cond = use(k);
  expect(k, ',');
  const then = edge(k);
  expect(k, ',');
  return { op: 'condbr', cond, then, else: edge(k) };
}

function edge(k: KernelReader): Edge {
  const token = expectKind(k, 'word', 'a block');
  if (!/^b\d+$/.test(token.text)) fail(k, token, 'a block is wanted');
  k.jumps.push(token);
  const args: Value[] = [];
  if (isAt(k, '(')) list(k, () => args.push(use(k)));
  return { block: blockNamed(k, token.text), args };
}

function blockNamed(k: KernelReader, text: string): Block {
  const known = k.blocks.get(text);
  if (known) return known;
  const block = addBlock(emptyKernel(''));
  k.blocks.set(text, block);
  return block;
}

/** A use of a value, resolved once the kernel is read. */
function use(k: KernelReader): Value {
  return (k.uses.push(expectKind(k, 'value', 'a value')) - 1) as Value;
}

function resolve(k: KernelReader): void {
  const found = k.uses.map((token) => {
    const value = k.values.get(token.text);
    if (value === undefined) report(k, token, `${token.text} is not defined`);
    return value ?? (0 as Value);
  });
  for (const token of k.jumps) if (!k.defined.has(blockNamed(k, token.text))) report(k, token, `there is no block ${token.text}`);
  for (const inst of k.kernel.insts) mapOperands(inst, (index) => found[index]!);
  for (const block of k.kernel.blocks) mapTerminator(block.end, (index) => found[index]!);
}
