/**
 * Atomic operations and fences. Operations without an instruction are loops of compare and swap.
 * Source: PTX ISA 9.0, 9.7.13.4 (`fence`), 9.7.13.5 (`atom`); LLVM's NVPTX usage guide; the order of `seq_cst` is a fence in front.
 */
import type { Atomicity, InstructionOf } from '../../bitcode/index.ts';
import { spell } from '../../bitcode/index.ts';
import { bytesOf, type Part, partsOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { spaceWords } from '../spaces.ts';
import { emit, type FunctionState, into, newLabel, newRegister, type Place, place } from '../state.ts';
import { addressText, genericAddress, inRegister, operand, placeOf } from '../values.ts';
import { type FloatName, floatBinary, floatOperation } from './floats.ts';
import { compareIntegers, integerBinary, intPrefix, resized, selected } from './integers.ts';
import { fromBits, isUnordered, loadParts, scopeOf, storeParts, toBits } from './memory.ts';

const orderWords = {
  unordered: 'relaxed',
  monotonic: 'relaxed',
  acquire: 'acquire',
  release: 'release',
  acq_rel: 'acq_rel',
  seq_cst: 'acq_rel',
} as const;

/** The words behind `atom`: order, scope and space. */
function atomWords(s: FunctionState, atomic: Atomicity, at: Place): string {
  if (atomic.order === 'seq_cst') emit(s, `fence.sc${scopeOf(atomic)}`);
  return `.${orderWords[atomic.order]}${scopeOf(atomic)}${spaceWords[at.space] ?? refuse(`an atomic access to state space ${at.space}`)}`;
}

/** A fence. One of a single thread is an order of the compiler alone. */
export function selectFence(s: FunctionState, { atomic }: InstructionOf<'fence'>): void {
  if (atomic.scope === 'singlethread') return;
  emit(s, `fence.${atomic.order === 'seq_cst' ? 'sc' : 'acq_rel'}${scopeOf(atomic)}`);
}

type Update = InstructionOf<'atomicrmw'>;

/** Operations with an instruction, by the type of the value. */
const direct: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  xchg: { i32: 'exch.b32', i64: 'exch.b64', float: 'exch.b32', double: 'exch.b64', pointer: 'exch.b64' },
  add: { i32: 'add.u32', i64: 'add.u64' },
  and: { i32: 'and.b32', i64: 'and.b64' },
  or: { i32: 'or.b32', i64: 'or.b64' },
  xor: { i32: 'xor.b32', i64: 'xor.b64' },
  max: { i32: 'max.s32', i64: 'max.s64' },
  min: { i32: 'min.s32', i64: 'min.s64' },
  umax: { i32: 'max.u32', i64: 'max.u64' },
  umin: { i32: 'min.u32', i64: 'min.u64' },
  uinc_wrap: { i32: 'inc.u32' },
  udec_wrap: { i32: 'dec.u32' },
  fadd: { float: 'add.f32', double: 'add.f64', half: 'add.noftz.f16' },
};

/** A read, a computation and a write as one step. The result is the old value. */
export function selectUpdate(s: FunctionState, inst: Update): readonly string[] {
  const { type } = inst;
  const [only, more] = partsOf(type);
  if (!only || more) return refuse(`an atomic ${inst.operation} of ${spell(type)}`);
  const at = placeOf(s, inst.pointer);
  const value = inRegister(s, operand(s, inst.value), only.part);
  if (isUnordered(at)) return [updateAlone(s, inst, only.part, at, value)];
  const key = type.kind === 'int' ? `i${type.bits}` : type.kind === 'float' ? type.name : 'pointer';
  const mnemonic = direct[inst.operation]?.[key];
  if (mnemonic) return [into(s, registerClass(only.part), `atom${atomWords(s, inst.atomic, at)}.${mnemonic}`, addressText(s, at), value)];
  if (inst.operation === 'sub' && (key === 'i32' || key === 'i64')) {
    const bits = key === 'i32' ? 32 : 64;
    const negative = into(s, intPrefix(bits), `neg.s${bits}`, value);
    return [into(s, intPrefix(bits), `atom${atomWords(s, inst.atomic, at)}.add.u${bits}`, addressText(s, at), negative)];
  }
  return [replaced(s, inst.atomic, at, only.part, (old) => ({ next: computed(s, inst, only.part, old, value) })).old];
}

const registerClass = (part: Part): string =>
  part.kind === 'float'
    ? part.name === 'float'
      ? 'f'
      : part.name === 'double'
        ? 'fd'
        : 'rs'
    : intPrefix(part.kind === 'int' ? Math.max(part.bits, 2) : 64);

/** An update of memory that only this thread sees. */
function updateAlone(s: FunctionState, inst: Update, part: Part, at: Place, value: string): string {
  const access = { at, align: inst.align, order: '' };
  const old = loadParts(s, inst.type, access)[0]!;
  storeParts(s, inst.type, [computed(s, inst, part, old, value)], access);
  return old;
}

/** The new value of an operation. */
function computed(s: FunctionState, inst: Update, part: Part, old: string, value: string): string {
  const { operation } = inst;
  if (operation === 'xchg') return value;
  if (part.kind === 'float') return computedFloat(s, operation, part.name, old, value);
  const bits = part.kind === 'int' ? part.bits : 64;
  switch (operation) {
    case 'add':
    case 'sub':
    case 'and':
    case 'or':
    case 'xor':
      return integerBinary(s, operation, bits, old, value);
    case 'nand':
      return integerBinary(s, 'xor', bits, integerBinary(s, 'and', bits, old, value), String((1n << BigInt(bits)) - 1n));
    case 'max':
    case 'min':
    case 'umax':
    case 'umin': {
      const keeps = compareIntegers(s, ({ max: 'sgt', min: 'slt', umax: 'ugt', umin: 'ult' } as const)[operation], bits, old, value);
      return selected(s, intPrefix(bits), `b${intPrefix(bits) === 'rs' ? 16 : intPrefix(bits) === 'r' ? 32 : 64}`, keeps, old, value);
    }
    case 'uinc_wrap': {
      const next = integerBinary(s, 'add', bits, old, '1');
      return selected(s, intPrefix(bits), `b${bits}`, compareIntegers(s, 'uge', bits, old, value), '0', next);
    }
    case 'udec_wrap': {
      const isReset = into(s, 'p', 'or.pred', compareIntegers(s, 'eq', bits, old, '0'), compareIntegers(s, 'ugt', bits, old, value));
      return selected(s, intPrefix(bits), `b${bits}`, isReset, value, integerBinary(s, 'sub', bits, old, '1'));
    }
    default:
      return refuse(`an atomic ${operation} of integers`);
  }
}

function computedFloat(s: FunctionState, operation: Update['operation'], name: FloatName, old: string, value: string): string {
  switch (operation) {
    case 'fadd':
    case 'fsub':
      return floatBinary(s, operation, name, 0, [old, value]);
    case 'fmax':
    case 'fmin':
      return floatOperation(s, operation === 'fmax' ? 'max' : 'min', name, [old, value]);
    default:
      return refuse(`an atomic ${operation} of floats`);
  }
}

interface Replaced {
  readonly old: string;
  /** Whether the value was replaced. */
  readonly isDone: string;
}

/** A loop that replaces a value by a function of it. `unless` is the predicate to leave without a write. */
function replaced(
  s: FunctionState,
  atomic: Atomicity,
  at: Place,
  part: Part,
  compute: (old: string) => { readonly next: string; readonly unless?: string },
): Replaced {
  const bytes = bytesOf(part);
  const word = bytes < 4 ? wordAround(s, at, bytes) : { at, shift: undefined };
  const bits = bytes < 4 ? 32 : 8 * bytes;
  const prefix = intPrefix(bits);
  const words = atomWords(s, atomic, word.at);
  const before = newRegister(s, prefix);
  emit(s, `ld.relaxed${scopeOf(atomic)}${spaceWords[word.at.space]}.u${bits} ${before}, ${addressText(s, word.at)}`);
  const [again, end] = [newLabel(s), newLabel(s)];
  place(s, again);
  const inWord = word.shift === undefined ? before : partOfWord(s, before, word.shift, bytes);
  const old = fromBits(s, inWord, bytes, part);
  const { next, unless } = compute(old);
  const isDone = newRegister(s, 'p');
  emit(s, `mov.pred ${isDone}, 0`);
  if (unless) emit(s, `@${unless} bra ${end}`);
  const nextBits = toBits(s, next, part);
  const whole = word.shift === undefined ? nextBits : wordWith(s, before, nextBits, word.shift, bytes);
  const found = into(s, prefix, `atom${words}.cas.b${bits}`, addressText(s, word.at), before, whole);
  emit(s, `setp.eq.u${bits} ${isDone}, ${found}, ${before}`);
  emit(s, `mov.b${bits} ${before}, ${found}`);
  emit(s, `@!${isDone} bra ${again}`);
  place(s, end);
  return { old, isDone };
}

interface Word {
  readonly at: Place;
  /** The bit of the word where the value starts, i32. */
  readonly shift: string;
}

/** The aligned 32-bit word that holds a value of 1 or 2 bytes. */
function wordAround(s: FunctionState, at: Place, bytes: number): Word {
  const address = inRegister(s, genericAddress(s, at), { kind: 'pointer', space: 0 });
  const aligned = into(s, 'rd', 'and.b64', address, -4);
  const low = into(s, 'r', 'and.b32', into(s, 'r', 'cvt.u32.u64', address), bytes === 1 ? 3 : 2);
  return { at: { base: aligned, offset: 0, space: 0 }, shift: into(s, 'r', 'shl.b32', low, 3) };
}

const maskOf = (bytes: number): number => 2 ** (8 * bytes) - 1;

function partOfWord(s: FunctionState, word: string, shift: string, bytes: number): string {
  const low = into(s, 'r', 'and.b32', into(s, 'r', 'shr.u32', word, shift), maskOf(bytes));
  return resized(s, low, 32, 16);
}

function wordWith(s: FunctionState, word: string, value: string, shift: string, bytes: number): string {
  const mask = into(s, 'r', 'shl.b32', into(s, 'r', 'mov.b32', maskOf(bytes)), shift);
  const kept = into(s, 'r', 'and.b32', word, into(s, 'r', 'not.b32', mask));
  return into(s, 'r', 'or.b32', kept, into(s, 'r', 'shl.b32', resized(s, value, 16, 32), shift));
}

/** Compare and swap: the old value, and whether it was the expected one. */
export function selectCompareAndSwap(s: FunctionState, inst: InstructionOf<'cmpxchg'>): readonly string[] {
  const { type } = inst.expected;
  const [only, more] = partsOf(type);
  if (!only || more) return refuse(`cmpxchg of ${spell(type)}`);
  const at = placeOf(s, inst.pointer);
  const expected = toBits(s, operand(s, inst.expected), only.part);
  const value = inRegister(s, operand(s, inst.value), only.part);
  const bytes = bytesOf(only.part);
  const bits = 8 * bytes;
  if (isUnordered(at)) return refuse('cmpxchg of memory of one thread');
  if (bytes >= 4) {
    const old = into(
      s,
      intPrefix(bits),
      `atom${atomWords(s, inst.atomic, at)}.cas.b${bits}`,
      addressText(s, at),
      expected,
      toBits(s, value, only.part),
    );
    return [fromBits(s, old, bytes, only.part), into(s, 'p', `setp.eq.u${bits}`, old, expected)];
  }
  const { old, isDone } = replaced(s, inst.atomic, at, only.part, (found) => ({
    next: value,
    unless: compareIntegers(s, 'ne', 16, toBits(s, found, only.part), expected),
  }));
  return [old, isDone];
}
