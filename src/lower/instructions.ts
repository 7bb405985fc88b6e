/**
 * One instruction: operands in, the row's ops, results out. Under a guard, an instruction that only computes is speculated and
 * its results are selected; one that accesses memory or waits is put in a block of its own.
 */
import { addressOf, instOf, type Value } from '../ir/index.ts';
import { type CheckedInstruction, integerConstant, isSignedType, type Match, type MatchedOperand } from '../ptx/index.ts';
import { type Context, lowerWhen, mark, readRegister } from './context.ts';
import { barrierKind, lowerNamedBarrier } from './named-barriers.ts';
import { lowerKept } from './native-code.ts';
import { nativeValue } from './native-forms.ts';
import { readIndex, readSources, writeResults } from './operands.ts';
import { refuseBarrier } from './passes/barrier-numbers.ts';
import { valueByFunction } from './product-functions.ts';

/** Lowers an instruction that ends no block. */
export function lowerInstruction(c: Context, item: CheckedInstruction): void {
  c.scope = item.scope;
  mark(c, item.match.instruction.span);
  const guard = item.guard && guardValue(c, item.guard);
  if (guard === undefined) return lowerPlain(c, item.match);
  // Where instructions are counted, they are by the threads that carry them out.
  // The sanitizer wants to know who executes a fence.
  const isSeen = c.isSanitized && !item.match.row.operands.some((slot) => slot.isDestination);
  if (c.hasMarks || isSeen || hasEffect(item.match) || c.natives?.keeps(item.match)) return lowerBranched(c, item.match, guard);
  c.guard = guard;
  lowerPlain(c, item.match);
  c.guard = undefined;
}

/** The condition under which a guarded instruction is carried out. */
export function guardValue(c: Context, { register, negated }: NonNullable<CheckedInstruction['guard']>): Value {
  const value = readRegister(c, register);
  return negated ? c.ir.xor(value, c.ir.const('i1', 1)) : value;
}

const hasEffect = ({ row }: Match): boolean => row.control !== undefined || row.isCollective || row.operands.some((slot) => slot.isAddress);

function lowerBranched(c: Context, match: Match, guard: Value): void {
  lowerWhen(c, guard, () => lowerPlain(c, match));
}

function lowerPlain(c: Context, match: Match): void {
  if (c.natives?.keeps(match) && !isBlockBarrier(match)) return lowerKept(c, c.natives, match);
  if (match.row.control === 'barrier') {
    if (isNamed(match)) return lowerNamed(c, match);
    const number = match.row.lower ? undefined : numberInRegister(match);
    if (!isOfWholeBlock(c, match, number)) return;
    // Only when all calls are in place is it known which barrier that is.
    if (number) c.evidence.barriers.set(c.rows.barrier(), { value: readIndex(c, number), node: number.node });
    else if (!match.row.lower) c.rows.barrier();
    if (!match.row.lower) return;
  }
  if (isAligned(match)) c.ir.warpsync(c.ir.const('i32', -1), { isFence: false });
  const before = c.ir.block.body.length;
  const destination = match.operands[0];
  c.rows.lanes = destination?.slot.isDestination ? destination.lanes : undefined;
  c.rows.operands = match.operands;
  const sources = readSources(c, match);
  const native = c.natives ? nativeValue(c, c.natives, match, sources) : valueByFunction(c, match, sources);
  const result = native ?? match.row.lower?.(sources, match.modifiers, c.rows);
  noteSigns(c, match, before);
  writeResults(c, match, result);
}

/** Whether an instruction is the barrier of the whole block, for which the IR has an op. */
const isBlockBarrier = ({ row, operands }: Match): boolean =>
  row.control === 'barrier' && !row.lower && operands.length === 1 && integerConstant(operands[0]!.node) === 0n;

/** Whether a barrier is not that of the whole block: it has a number or a count. Whether 0 in a register is known only with all calls in place. */
function isNamed({ operands, row }: Match): boolean {
  const [number, count] = ['a', 'b'].map((name) => operands.find(({ slot }) => slot.name === name));
  const known = integerConstant(number!.node);
  if (known === 0n) return false;
  return known !== undefined || count !== undefined || row.lower !== undefined;
}

function lowerNamed(c: Context, match: Match): void {
  const { a, b, c: predicate } = readSources(c, match) as Partial<Record<'a' | 'b' | 'c', Value>>;
  writeResults(c, match, lowerNamedBarrier(c, { number: a!, count: b, kind: barrierKind(match), predicate }));
}

/** Whether all threads of the warp execute a collective together, as `.aligned` says. */
const isAligned = ({ row }: Match): boolean => row.isCollective && row.slots.some(({ name, isLiteral }) => isLiteral && name === 'aligned');

/** Accesses of signed types decide how a buffer is displayed. */
function noteSigns(c: Context, match: Match, from: number): void {
  if (!isSignedType(String(match.modifiers.type))) return;
  const { body } = c.ir.block;
  for (let at = from; at < body.length; at++) {
    const value = body[at]!;
    if (addressOf(instOf(c.kernel, value)) !== undefined) c.evidence.signed.add(value);
  }
}

/** The number of a barrier, where it is not written in the instruction. */
const numberInRegister = ({ operands }: Match): MatchedOperand | undefined =>
  operands.find(({ slot, node }) => slot.name === 'a' && integerConstant(node) === undefined);

/** Whether a barrier is number 0 as far as can be seen here, for all threads; the others are refused. */
function isOfWholeBlock(c: Context, { operands }: Match, inRegister: MatchedOperand | undefined): boolean {
  const [number, count] = ['a', 'b'].map((name) => operands.find(({ slot }) => slot.name === name));
  const refused = inRegister || integerConstant(number!.node) === 0n ? count : number;
  if (refused === undefined) return true;
  refuseBarrier(refused.node, refused === count ? 'a barrier for some of the threads' : undefined, c.diagnostics);
  return false;
}
