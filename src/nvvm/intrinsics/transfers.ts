/** `llvm.memcpy`, `llvm.memmove` and `llvm.memset`. Source: LLVM Language Reference, "Standard C/C++ Library Intrinsics". */
import type { InstructionOf, Value } from '../../bitcode/index.ts';
import { refuse } from '../refused.ts';
import { integerBinary, intPrefix, resized } from '../select/integers.ts';
import { spaceWords } from '../spaces.ts';
import { emit, type FunctionState, into, newLabel, newRegister, type Place, place } from '../state.ts';
import { addressIn, addressText, genericAddress, inRegister, materialize, operand, placeOf } from '../values.ts';

type Call = InstructionOf<'call'>;

/** Bytes that are copied without a loop. */
const maxUnrolled = 256;

/** The attribute `align`. */
const alignAttribute = 1;

function alignOfArgument(inst: Call, index: number): number {
  const found = inst.attributes.params[index]?.find((each) => each.form === 'int' && each.kind === alignAttribute);
  return found?.form === 'int' ? Number(found.value) : 1;
}

const constantLength = (value: Value): number | undefined =>
  value.kind === 'constant' && value.form === 'int' ? Number(value.value) : undefined;

const length64 = (s: FunctionState, value: Value): string => {
  const bits = value.type.kind === 'int' ? value.type.bits : refuse('a length that is no integer');
  const text = inRegister(s, operand(s, value), { kind: 'int', bits });
  return bits === 64 ? text : resized(s, text, bits, 64);
};

/** Access sizes that cover `bytes` bytes at an alignment, the largest first. */
function* chunks(bytes: number, align: number): Generator<{ at: number; size: number }> {
  let at = 0;
  for (const size of [8, 4, 2, 1]) {
    if (align % size !== 0) continue;
    for (; bytes - at >= size; at += size) yield { at, size };
  }
}

const words = (at: Place): string => spaceWords[at.space] ?? refuse(`state space ${at.space}`);
const argumentAt = (inst: Call, index: number): Value => {
  const arg = inst.args[index];
  return arg && arg.kind !== 'metadata' ? arg : refuse('an argument that is no value');
};

/** A copy. All bytes are read before one is written where the ranges may overlap. */
export function copyMemory(s: FunctionState, inst: Call, mayOverlap: boolean): void {
  const [to, from] = [placeOf(s, argumentAt(inst, 0)), placeOf(s, argumentAt(inst, 1))];
  const align = Math.min(8, alignOfArgument(inst, 0), alignOfArgument(inst, 1));
  const length = constantLength(argumentAt(inst, 2));
  if (length !== undefined && length <= maxUnrolled) {
    const stores: (() => void)[] = [];
    for (const { at, size } of chunks(length, align)) {
      const piece = into(s, intPrefix(8 * size), `ld${words(from)}.u${8 * size}`, addressText(s, from, at));
      const store = (): void => emit(s, `st${words(to)}.u${8 * size} ${addressText(s, to, at)}, ${piece}`);
      if (mayOverlap) stores.push(store);
      else store();
    }
    for (const store of stores) store();
    return;
  }
  const size = length !== undefined && length % align === 0 ? align : 1;
  const bytes = length64(s, argumentAt(inst, 2));
  if (!mayOverlap) return loop(s, bytes, size, (offset) => copyOne(s, to, from, size, offset));
  copyEitherWay(s, { to, from, size, bytes });
}

function copyOne(s: FunctionState, to: Place, from: Place, size: number, offset: string): void {
  const source = into(s, 'rd', 'add.s64', base(s, from), offset);
  const piece = into(s, intPrefix(8 * size), `ld${words(from)}.u${8 * size}`, `[${source}]`);
  const target = into(s, 'rd', 'add.s64', base(s, to), offset);
  emit(s, `st${words(to)}.u${8 * size} [${target}], ${piece}`);
}

const base = (s: FunctionState, at: Place): string => inRegister(s, materialize(s, at), { kind: 'pointer', space: 0 });

interface Copy {
  readonly to: Place;
  readonly from: Place;
  readonly size: number;
  readonly bytes: string;
}

/** From the end if the target is behind the source, else from the start. */
function copyEitherWay(s: FunctionState, { to, from, size, bytes }: Copy): void {
  const generic = { kind: 'pointer', space: 0 } as const;
  const [a, b] = [inRegister(s, genericAddress(s, to), generic), inRegister(s, genericAddress(s, from), generic)];
  const [down, end] = [newLabel(s), newLabel(s)];
  emit(s, `@${into(s, 'p', 'setp.gt.u64', a, b)} bra ${down}`);
  loop(s, bytes, size, (offset) => copyOne(s, to, from, size, offset));
  emit(s, `bra.uni ${end}`);
  place(s, down);
  loop(s, bytes, size, (offset) => {
    const left = into(s, 'rd', 'sub.s64', bytes, offset);
    copyOne(s, to, from, size, into(s, 'rd', 'sub.s64', left, size));
  });
  place(s, end);
}

/** A loop over offsets from 0 to `bytes` in steps. */
function loop(s: FunctionState, bytes: string, step: number, body: (offset: string) => void): void {
  const offset = newRegister(s, 'rd');
  const [again, end] = [newLabel(s), newLabel(s)];
  emit(s, `mov.b64 ${offset}, 0`);
  place(s, again);
  emit(s, `@${into(s, 'p', 'setp.ge.u64', offset, bytes)} bra ${end}`);
  body(offset);
  emit(s, `add.s64 ${offset}, ${offset}, ${step}`);
  emit(s, `bra.uni ${again}`);
  place(s, end);
}

/** Fills memory with a byte. */
export function fillMemory(s: FunctionState, inst: Call): void {
  const to = placeOf(s, argumentAt(inst, 0));
  const value = argumentAt(inst, 1);
  const align = Math.min(8, alignOfArgument(inst, 0));
  const length = constantLength(argumentAt(inst, 2));
  const byte = inRegister(s, operand(s, value), { kind: 'int', bits: 8 });
  const known = constantLength(value);
  if (length !== undefined && length <= maxUnrolled) {
    for (const { at, size } of chunks(length, known === undefined ? 1 : align))
      emit(s, `st${words(to)}.u${8 * size} ${addressText(s, to, at)}, ${known === undefined ? byte : repeated(s, known, size)}`);
    return;
  }
  const size = known !== undefined && length !== undefined && length % align === 0 ? align : 1;
  const stored = known === undefined ? byte : repeated(s, known, size);
  const start = addressIn(s, to, to.space);
  loop(s, length64(s, argumentAt(inst, 2)), size, (offset) => {
    emit(
      s,
      `st${words(to)}.u${8 * size} [${integerBinary(s, 'add', 64, inRegister(s, start, { kind: 'pointer', space: 0 }), offset)}], ${stored}`,
    );
  });
}

/** A byte in all bytes of a register. */
function repeated(s: FunctionState, byte: number, size: number): string {
  const bits = Math.max(16, 8 * size);
  const all = BigInt(`0x${byte.toString(16).padStart(2, '0').repeat(size)}`);
  return into(s, intPrefix(bits), `mov.b${bits}`, String(size === 1 ? BigInt(byte) : BigInt.asIntN(bits, all)));
}
