/**
 * Data-flow lints: uninitialized registers and unreachable code. A guarded write counts as a write, because guards of a write and a read
 * cannot be compared here.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { MatchedOperand } from '../model/row.ts';
import type { Register } from '../model/types.ts';
import type { Guard, Operand } from '../syntax/ast.ts';
import { partsOf } from '../syntax/operand-parts.ts';
import type { CheckedFunction, CheckedInstruction, CheckedItem } from './checked.ts';
import { laneOf } from './operands.ts';
import { type LabelPlace, labelsOfList, lookUp, type Scope } from './scope.ts';

/** Reports CM2201 to CM2203 for an entry. Every instruction must have been matched. */
export function lintFlow(fn: CheckedFunction, diagnostics: Diagnostics): void {
  const graph = graphOf(fn.items);
  const reachable = reachableFrom(graph);
  reportUnreachable(graph, reachable, diagnostics);
  reportUnwritten(graph, reachable, diagnostics);
}

/** A basic block. */
export interface Block {
  readonly code: CheckedInstruction[];
  readonly next: number[];
  /** Whether control falls through to the next block. */
  falls: boolean;
}

/** The basic blocks of a function, in the order of the source. */
export function graphOf(items: readonly CheckedItem[]): readonly Block[] {
  const blocks: Block[] = [newBlock()];
  const places = new Map<LabelPlace, number>();
  for (const item of items) {
    if (item.kind === 'label') {
      if (blocks.at(-1)!.code.length > 0) blocks.push(newBlock());
      places.set(item.label, blocks.length - 1);
      continue;
    }
    const block = blocks.at(-1)!;
    block.code.push(item);
    if (endsBlock(item)) {
      block.falls = item.guard !== undefined;
      blocks.push(newBlock());
    }
  }
  for (const [i, block] of blocks.entries()) link(block, i, blocks.length, places);
  return blocks;
}

const newBlock = (): Block => ({ code: [], next: [], falls: true });

const endsBlock = ({ match }: CheckedInstruction): boolean => {
  const { control } = match.row;
  return control === 'branch' || control === 'return' || control === 'exit' || match.instruction.opcode === 'trap';
};

function link(block: Block, index: number, count: number, places: ReadonlyMap<LabelPlace, number>): void {
  if (block.falls && index + 1 < count) block.next.push(index + 1);
  const last = block.code.at(-1);
  if (last?.match.row.control !== 'branch') return;
  for (const { name } of last.match.instruction.operands.filter((operand) => operand.kind === 'name')) {
    const symbol = lookUp(last.scope, name);
    if (symbol?.kind !== 'label') continue;
    for (const label of symbol.label.list ? labelsOfList(last.scope, name) : [symbol.label]) {
      const to = places.get(label);
      if (to !== undefined) block.next.push(to);
    }
  }
}

function reachableFrom(graph: readonly Block[]): Uint8Array {
  const seen = new Uint8Array(graph.length);
  const work = [0];
  seen[0] = 1;
  for (let at = work.pop(); at !== undefined; at = work.pop())
    for (const to of graph[at]!.next)
      if (!seen[to]) {
        seen[to] = 1;
        work.push(to);
      }
  return seen;
}

/** Reported once for each run of blocks. A `ret` after an endless loop or a trap is typical compiler output and is not reported. */
function reportUnreachable(graph: readonly Block[], reachable: Uint8Array, diagnostics: Diagnostics): void {
  let isReported = false;
  graph.forEach(({ code }, i) => {
    if (code.length === 0) return;
    const first = code.find((item) => !endsBlock(item));
    if (reachable[i]) isReported = false;
    else if (!isReported && first) {
      diagnostics.report('CM2203', {}, { span: first.match.instruction.span });
      isReported = true;
    }
  });
}

/** Called with each register that is read or written, and its span. */
export type Note = (register: Register, span: Span) => void;

/** The registers that an instruction reads, with its guard. */
export function noteReads({ match, guard, scope, call }: CheckedInstruction, note: Note): void {
  if (guard) note(guard.register, guardSpan(match.instruction.guard!));
  for (const operand of match.operands) if (!isWritten(operand)) noteOperand(operand, scope, note);
  for (const arg of call?.args ?? []) visitRegisters(arg, scope, note);
}

/** The registers that an instruction writes. */
export function noteWrites({ match, scope, call }: CheckedInstruction, note: Note): void {
  for (const operand of match.operands) if (isWritten(operand)) noteOperand(operand, scope, note);
  for (const result of call?.results ?? []) visitRegisters(result, scope, note);
}

const isWritten = ({ slot, node }: MatchedOperand): boolean => slot.isDestination && node.kind !== 'address';

/** The register of `@!p`. */
const guardSpan = ({ register, span }: Guard): Span => ({ start: span.end - register.length, end: span.end });

function noteOperand({ node, register }: MatchedOperand, scope: Scope, note: Note): void {
  if (register) note(register, node.kind === 'address' ? node.base.span : node.span);
  else if (node.kind !== 'integer' && node.kind !== 'float') visitRegisters(node, scope, note);
}

function visitRegisters(node: Operand, scope: Scope, note: Note): void {
  if (node.kind === 'name') {
    const symbol = lookUp(scope, node.name);
    if (symbol?.kind === 'register') note(symbol.register, node.span);
    else if (symbol?.kind === 'vector') for (const register of symbol.lanes) note(register, node.span);
  } else if (node.kind === 'element') {
    const register = laneOf(node, scope);
    if (register) note(register, node.span);
  } else for (const part of partsOf(node)) visitRegisters(part, scope, note);
}

/** The effect of a block on registers that are uninitialized at its start. */
interface Summary {
  /** The first read of each register that no write in the block precedes (upward-exposed uses). */
  readonly exposed: ReadonlyMap<Register, Span>;
  readonly written: ReadonlySet<Register>;
}

function summaryOf({ code }: Block): Summary {
  const exposed = new Map<Register, Span>();
  const written = new Set<Register>();
  const read: Note = (register, span) => {
    if (!written.has(register) && !exposed.has(register)) exposed.set(register, span);
  };
  const write: Note = (register) => void written.add(register);
  for (const item of code) {
    noteReads(item, read);
    noteWrites(item, write);
  }
  return { exposed, written };
}

/** Registers per pass of the data-flow analysis, which bounds the memory for large kernels. */
const registersPerPass = 1024;

function reportUnwritten(graph: readonly Block[], reachable: Uint8Array, diagnostics: Diagnostics): void {
  const summaries = graph.map((block, i) => (reachable[i] ? summaryOf(block) : undefined));
  const exposed = new Set<Register>();
  for (const summary of summaries) for (const register of summary?.exposed.keys() ?? []) exposed.add(register);
  const all = [...exposed];
  for (let from = 0; from < all.length; from += registersPerPass)
    reportSome(graph, summaries, all.slice(from, from + registersPerPass), diagnostics);
}

function reportSome(
  graph: readonly Block[],
  summaries: readonly (Summary | undefined)[],
  registers: readonly Register[],
  diagnostics: Diagnostics,
): void {
  const bitOf = new Map(registers.map((register, i) => [register, i]));
  const wordCount = (registers.length + 31) >> 5;
  const written = summaries.map((summary) => bits(wordCount, summary?.written ?? [], bitOf));
  // A register is uninitialized on some path if the entry reaches the block without a write.
  const unwritten = propagate(graph, written, wordCount, true);
  const reached = propagate(graph, written, wordCount, false);
  const reported = new Set<Register>();
  summaries.forEach((summary, block) => {
    for (const [register, span] of summary?.exposed ?? []) {
      const bit = bitOf.get(register);
      if (bit === undefined || reported.has(register) || !hasBit(unwritten[block]!, bit)) continue;
      reported.add(register);
      diagnostics.report(hasBit(reached[block]!, bit) ? 'CM2202' : 'CM2201', { name: register.name }, { span });
    }
  });
}

function bits(words: number, members: Iterable<Register>, bitOf: ReadonlyMap<Register, number>): Int32Array {
  const set = new Int32Array(words);
  for (const member of members) {
    const bit = bitOf.get(member);
    if (bit !== undefined) set[bit >> 5]! |= 1 << (bit & 31);
  }
  return set;
}

const hasBit = (set: Int32Array, bit: number): boolean => ((set[bit >> 5]! >> (bit & 31)) & 1) === 1;

/**
 * The data-flow state at the start of each block: registers that are uninitialized on some path (`isUnwritten`), or written on some path.
 */
function propagate(graph: readonly Block[], written: readonly Int32Array[], words: number, isUnwritten: boolean): Int32Array[] {
  const sets = graph.map(() => new Int32Array(words));
  if (isUnwritten) sets[0]!.fill(-1);
  const work = [0];
  const isQueued = new Uint8Array(graph.length);
  const isSeen = new Uint8Array(graph.length);
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    isQueued[at] = 0;
    isSeen[at] = 1;
    const out = sets[at]!.map((set, i) => (isUnwritten ? set & ~written[at]![i]! : set | written[at]![i]!));
    for (const to of graph[at]!.next) {
      if (!join(sets[to]!, out) && isSeen[to]) continue;
      if (!isQueued[to]) work.push(to);
      isQueued[to] = 1;
    }
  }
  return sets;
}

/** Adds one set to another. Returns whether it grew. */
function join(into: Int32Array, from: Int32Array): boolean {
  let grew = false;
  for (let i = 0; i < into.length; i++) {
    const sum = into[i]! | from[i]!;
    if (sum !== into[i]) grew = true;
    into[i] = sum;
  }
  return grew;
}
