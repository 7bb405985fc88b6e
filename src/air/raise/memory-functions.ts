/** Raises `llvm.memcpy`, `memmove` and `memset`: short ones as single accesses, others as loops. */
import type { InstructionOf } from '../../bitcode/model.ts';
import { spell } from '../../bitcode/types.ts';
import { addBlock, addBlockParam, type Builder, type IntType, type Value } from '../../ir/index.ts';
import { Refused } from '../types.ts';
import type { RaiseState } from './state.ts';

/** The largest length in bytes without a loop. */
const maxInlineBytes = 128;

interface Call {
  /** The destination, and the source or the value. */
  readonly operands: readonly [Value, Value];
  readonly length: Value;
  /** The length in bytes, if constant. */
  readonly known: number | undefined;
  readonly volatile: boolean;
}

function readCall({ scalar, b }: RaiseState, { args, callee, functionType }: InstructionOf<'call'>): Call {
  const given = args.map((arg) => (arg.kind === 'metadata' ? undefined : arg));
  // Up to LLVM 6 the alignment precedes the last operand.
  const [to, from, length, isVolatile] = given.length === 5 ? [...given.slice(0, 3), given[4]] : given;
  if (
    !to ||
    !from ||
    !length ||
    !isVolatile ||
    given.length < 4 ||
    given.length > 5 ||
    to.type.kind !== 'pointer' ||
    length.type.kind !== 'int'
  )
    throw new Refused(`the function \`${callee.kind === 'function' ? callee.name : ''}\` of type ${spell(functionType)}`);
  const count = scalar(length);
  return {
    operands: [scalar(to), scalar(from)],
    length: b.typeOf(count) === 'i64' ? count : b.zext('i64', count),
    known: length.kind === 'constant' && length.form === 'int' ? Number(length.value) : undefined,
    volatile: isVolatile.kind === 'constant' && isVolatile.form === 'int' && isVolatile.value === 1n,
  };
}

/** Splits a length into the largest accesses: offset and type of each. */
function piecesOf(length: number): { offset: number; type: IntType }[] {
  const pieces: { offset: number; type: IntType }[] = [];
  for (let offset = 0; offset < length; ) {
    const size = [8, 4, 2, 1].find((bytes) => bytes <= length - offset)!;
    pieces.push({ offset, type: `i${8 * size}` as IntType });
    offset += size;
  }
  return pieces;
}

const at = (b: Builder, pointer: Value, offset: number): Value => (offset === 0 ? pointer : b.ptradd(pointer, b.const('i64', offset)));

/** Copies bytes; `overlaps` selects a direction that is safe for overlapping ranges. */
export function copyMemory(state: RaiseState, inst: InstructionOf<'call'>, overlaps: boolean): void {
  const { b } = state;
  const { operands, length, known, volatile } = readCall(state, inst);
  const [to, from] = operands;
  const access = { align: 1, volatile };
  if (known !== undefined && known <= maxInlineBytes) {
    // All loads precede all stores.
    const read = piecesOf(known).map(({ offset, type }) => ({ offset, value: b.load(type, at(b, from, offset), access) }));
    for (const { offset, value } of read) b.store(at(b, to, offset), value, access);
    return;
  }
  const move = (offset: Value): void => void b.store(b.ptradd(to, offset), b.load('i8', b.ptradd(from, offset), access), access);
  const mayOverlap = overlaps && b.typeOf(to) === b.typeOf(from);
  if (!mayOverlap) return forEachByte(state, length, move);
  const isUp = b.icmp(b.ptrtoint('i64', to), b.ptrtoint('i64', from), { pred: 'ugt' });
  forEachByte(state, length, (step) => {
    const fromEnd = b.sub(b.sub(length, step), b.const('i64', 1));
    move(b.select(isUp, fromEnd, step));
  });
}

/** Fills memory with a byte. */
export function fillMemory(state: RaiseState, inst: InstructionOf<'call'>): void {
  const { b } = state;
  const { operands, length, known, volatile } = readCall(state, inst);
  const [to, byte] = operands;
  if (b.typeOf(byte) !== 'i8') throw new Refused('memory filled with a value wider than a byte');
  const access = { align: 1, volatile };
  if (known === undefined || known > maxInlineBytes)
    return forEachByte(state, length, (step) => void b.store(b.ptradd(to, step), byte, access));
  const all = b.mul(b.zext('i64', byte), b.const('i64', 0x0101_0101_0101_0101n));
  for (const { offset, type } of piecesOf(known)) b.store(at(b, to, offset), type === 'i64' ? all : b.trunc(type, all), access);
}

/** Emits a loop from 0 to below `count`. The builder continues after it. */
export function forEachByte({ kernel, b }: Pick<RaiseState, 'kernel' | 'b'>, count: Value, body: (step: Value) => void): void {
  const [head, inner, rest] = [addBlock(kernel), addBlock(kernel), addBlock(kernel)];
  const step = addBlockParam(kernel, head, 'i64');
  b.block.end = { op: 'br', to: { block: head, args: [b.const('i64', 0n)] } };
  b.block = head;
  const continues = b.icmp(step, count, { pred: 'ult' });
  head.end = { op: 'condbr', cond: continues, then: { block: inner, args: [] }, else: { block: rest, args: [] } };
  b.block = inner;
  body(step);
  b.block.end = { op: 'br', to: { block: head, args: [b.add(step, b.const('i64', 1))] } };
  b.block = rest;
}
