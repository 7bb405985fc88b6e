/** Integer arithmetic, shifts, bit counts and extensions. */
import type { Places } from '../machine/types.ts';
import type { Inst, Value } from '../ssa/types.ts';
import { type Assembler, general, immediate, memory } from '../x64/types.ts';
import { generalOrSlot, generalUse, immediateOf, sourceOf, widthOf } from './operands.ts';
import { upperShift } from './test.ts';
import type { Rule, Selection } from './types.ts';

/** The operands of a commutative instruction: a constant is the second one. */
function commuted(s: Selection, inst: Inst): readonly [Value, Value] {
  const [a, b] = inst.args as [Value, Value];
  return s.constant(a) !== undefined && s.constant(b) === undefined ? [b, a] : [a, b];
}

/** Two-address arithmetic: the first operand becomes the result, or either of two that can be exchanged. */
function addTied(s: Selection, inst: Inst, mnemonic: string, a: Value, b: Value, isCommutative: boolean): void {
  const bytes = widthOf(s.typeOf(a));
  const source = sourceOf(s, b, bytes);
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(a), ...source.uses],
    tied: 0,
    ...(source.isRegister ? { inMemory: 1 } : {}),
    ...(source.isRegister && isCommutative ? { tiedChoices: [1] } : {}),
    emit(out, places) {
      const isFirst = !source.isRegister || places.slot !== undefined || places.def === places.uses[0];
      out.emit(mnemonic, general(places.def, bytes), isFirst ? source.operand(places, 1) : generalUse(places, 0, bytes));
    },
  });
}

const commutative =
  (mnemonic: string): Rule =>
  (s, inst) =>
    addTied(s, inst, mnemonic, ...commuted(s, inst), true);

/** A sum: `lea` where neither operand's register becomes the result. */
const add: Rule = (s, inst) => {
  const [a, b] = commuted(s, inst);
  const bytes = widthOf(s.typeOf(a));
  const constant = immediateOf(s, b, bytes);
  if (constant !== undefined) return addConstant(s, inst, a, constant);
  const scaled = scaledOf(s, a, b) ?? scaledOf(s, b, a);
  const def = s.register(inst.result!);
  if (scaled) {
    const uses = [s.register(scaled.base), s.register(scaled.index)];
    s.add({
      def,
      uses,
      emit: (out, places) => out.emit('lea', general(places.def, bytes), memory(places.uses[0]!, 0, places.uses[1]!, scaled.scale)),
    });
    return;
  }
  s.add({ def, uses: [s.register(a), s.register(b)], emit: (out, places) => emitSum(out, places, bytes) });
};

function emitSum(out: Assembler, places: Places, bytes: 4 | 8): void {
  const [a, b] = [places.uses[0]!, places.uses[1]!];
  if (places.def === a) out.emit('add', general(a, bytes), general(b, bytes));
  else if (places.def === b) out.emit('add', general(b, bytes), general(a, bytes));
  else out.emit('lea', general(places.def, bytes), memory(a, 0, b));
}

/** `index` shifted by up to 3 plus `base`, if `shifted` is such a shift in the same block. */
function scaledOf(s: Selection, shifted: Value, base: Value): { base: Value; index: Value; scale: 2 | 4 | 8 } | undefined {
  const inst = s.definition(shifted);
  if (!inst || !/^i(32|64)\.shl$/.test(inst.op) || !s.isInBlock(shifted) || s.useCount(shifted) > 1) return undefined;
  const count = s.constant(inst.args[1]!);
  if (count === undefined || count < 1n || count > 3n || s.constant(inst.args[0]!) !== undefined) return undefined;
  return { base, index: inst.args[0]!, scale: (1 << Number(count)) as 2 | 4 | 8 };
}

function addConstant(s: Selection, inst: Inst, a: Value, constant: bigint): void {
  const bytes = widthOf(s.typeOf(a));
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(a)],
    emit(out, places) {
      if (places.def === places.uses[0]) out.emit('add', general(places.def, bytes), immediate(constant));
      else out.emit('lea', general(places.def, bytes), memory(places.uses[0]!, Number(constant)));
    },
  });
}

const sub: Rule = (s, inst) => {
  const [a, b] = inst.args as [Value, Value];
  const bytes = widthOf(s.typeOf(a));
  const constant = immediateOf(s, b, bytes);
  const negated = constant === undefined ? undefined : BigInt.asIntN(bytes * 8, -constant);
  if (negated !== undefined && BigInt.asIntN(32, negated) === negated) return addConstant(s, inst, a, negated);
  if (s.constant(a) !== 0n) return addTied(s, inst, 'sub', a, b, false);
  const def = s.register(inst.result!);
  s.add({ def, uses: [s.register(b)], tied: 0, emit: (out, places) => out.emit('neg', general(places.def, bytes)) });
};

/** A product: by a constant as an immediate, by a power of two as a shift. */
const mul: Rule = (s, inst) => {
  const [a, b] = commuted(s, inst);
  const bytes = widthOf(s.typeOf(a));
  const bits = s.constant(b);
  if (bits !== undefined && bits > 1n && (bits & (bits - 1n)) === 0n) return addLeftShift(s, inst, a, bits.toString(2).length - 1);
  const constant = immediateOf(s, b, bytes);
  const def = s.register(inst.result!);
  if (constant === undefined) return addTied(s, inst, 'imul', a, b, true);
  s.add({
    def,
    uses: [s.register(a)],
    emit: (out, places) => out.emit('imul', general(places.def, bytes), generalUse(places, 0, bytes), immediate(constant)),
  });
};

function addLeftShift(s: Selection, inst: Inst, a: Value, count: number): void {
  const bytes = widthOf(s.typeOf(a));
  const isTied = count > 3 || s.isLast(a);
  const def = s.register(inst.result!);
  const uses = [s.register(a)];
  if (isTied) s.add({ def, uses, tied: 0, emit: (out, places) => out.emit('shl', general(places.def, bytes), immediate(count)) });
  else
    s.add({
      def,
      uses,
      emit(out, places) {
        const from = places.uses[0]!;
        const operand =
          count === 1 ? memory(from, 0, from) : { kind: 'memory' as const, index: from, scale: (1 << count) as 4 | 8, displacement: 0 };
        out.emit('lea', general(places.def, bytes), operand);
      },
    });
}

/** A shift, by an immediate or by the BMI2 instruction that takes its count from any register, modulo the width. */
const shift =
  (mnemonic: 'shl' | 'sar' | 'shr'): Rule =>
  (s, inst) => {
    const [a, b] = inst.args as [Value, Value];
    const bytes = widthOf(s.typeOf(a));
    const bits = s.constant(b);
    const def = s.register(inst.result!);
    if (bits === undefined) {
      const uses = [s.register(a), s.register(b)];
      const [operation, inMemory] = [`${mnemonic}x`, { inMemory: 0 }];
      s.add({
        def,
        uses,
        ...inMemory,
        emit: (out, places) =>
          out.emit(operation, general(places.def, bytes), generalOrSlot(places, 0, bytes), generalUse(places, 1, bytes)),
      });
      return;
    }
    const count = Number(bits % BigInt(bytes * 8));
    if (count === 0) return addCopy(s, inst, a);
    if (mnemonic === 'shl') return addLeftShift(s, inst, a, count);
    s.add({
      def,
      uses: [s.register(a)],
      tied: 0,
      emit: (out, places) => out.emit(mnemonic, general(places.def, bytes), immediate(count)),
    });
  };

/** The result is the operand, whose upper half is 0 if it has 32 bits. */
function addCopy(s: Selection, inst: Inst, a: Value): void {
  const def = s.register(inst.result!);
  const bytes = widthOf(s.typeOf(a));
  s.add({
    def,
    uses: [s.register(a)],
    isMove: true,
    emit(out, places) {
      if (places.def !== places.uses[0]) out.emit('mov', general(places.def, bytes), generalUse(places, 0, bytes));
    },
  });
}

/** A rotation: `rorx` by a constant, else by the count in cl. */
const rotate =
  (mnemonic: 'rol' | 'ror'): Rule =>
  (s, inst) => {
    const [a, b] = inst.args as [Value, Value];
    const bytes = widthOf(s.typeOf(a));
    const bits = s.constant(b);
    const def = s.register(inst.result!);
    if (bits === undefined) {
      s.add({
        def,
        uses: [s.register(a), s.register(b)],
        tied: 0,
        fixedUses: [undefined, 1],
        isEarly: true,
        emit: (out, places) => out.emit(mnemonic, general(places.def, bytes), general(1, 1)),
      });
      return;
    }
    const width = bytes * 8;
    const count = Number(BigInt.asUintN(bytes === 8 ? 6 : 5, mnemonic === 'ror' ? bits : -bits)) % width;
    s.add({
      def,
      uses: [s.register(a)],
      inMemory: 0,
      emit: (out, places) => out.emit('rorx', general(places.def, bytes), generalOrSlot(places, 0, bytes), immediate(count)),
    });
  };

/** An instruction from an operand of `from` bytes to a result of `to` bytes. */
const unary =
  (mnemonic: string, to: 4 | 8, from: 1 | 2 | 4 | 8): Rule =>
  (s, inst) => {
    const def = s.register(inst.result!);
    s.add({
      def,
      uses: [s.register(inst.args[0]!)],
      ...(from >= 4 ? { inMemory: 0 } : {}),
      emit: (out, places) => out.emit(mnemonic, general(places.def, to), generalOrSlot(places, 0, from)),
    });
  };

/** An `and` with one operand negated by `xor` with -1. */
const and: Rule = (s, inst) => {
  const [a, b] = inst.args as [Value, Value];
  const kept = [b, a].find((other, i) => negatedOf(s, inst.args[i]!) !== undefined && s.constant(other) === undefined);
  if (kept === undefined) return addTied(s, inst, 'and', ...commuted(s, inst), true);
  const bytes = widthOf(s.typeOf(a));
  const negated = negatedOf(s, kept === b ? a : b)!;
  const def = s.register(inst.result!);
  s.add({
    def,
    uses: [s.register(negated), s.register(kept)],
    inMemory: 1,
    emit: (out, places) => out.emit('andn', general(places.def, bytes), generalUse(places, 0, bytes), generalOrSlot(places, 1, bytes)),
  });
};

function negatedOf(s: Selection, value: Value): Value | undefined {
  const inst = s.definition(value);
  if (!inst || !/^i(32|64)\.xor$/.test(inst.op) || !s.isInBlock(value)) return undefined;
  const bytes = widthOf(s.typeOf(value));
  return immediateOf(s, inst.args[1]!, bytes) === -1n && s.constant(inst.args[0]!) === undefined ? inst.args[0]! : undefined;
}

/** `xor`, which with -1 is `not`. */
const xor: Rule = (s, inst) => {
  const [a, b] = commuted(s, inst);
  const bytes = widthOf(s.typeOf(a));
  if (immediateOf(s, b, bytes) !== -1n) return addTied(s, inst, 'xor', a, b, true);
  const def = s.register(inst.result!);
  s.add({ def, uses: [s.register(a)], tied: 0, emit: (out, places) => out.emit('not', general(places.def, bytes)) });
};

const wrap: Rule = (s, inst) => {
  const value = inst.args[0]!;
  const def = s.register(inst.result!);
  const shift = s.isInBlock(value) && s.useCount(value) === 1 ? upperShift(s, value) : undefined;
  if (shift) {
    const uses = [s.register(shift.of)];
    s.add({ def, uses, tied: 0, emit: (out, places) => out.emit('shr', general(places.def), immediate(shift.count)) });
    return;
  }
  // The move clears the upper half.
  s.add({
    def,
    uses: [s.register(value)],
    inMemory: 0,
    emit: (out, places) => out.emit('mov', general(places.def, 4), generalOrSlot(places, 0, 4)),
  });
};

const ofType = (type: 'i32' | 'i64'): Readonly<Record<string, Rule>> => {
  const bytes = type === 'i32' ? 4 : 8;
  return {
    [`${type}.add`]: add,
    [`${type}.sub`]: sub,
    [`${type}.mul`]: mul,
    [`${type}.and`]: and,
    [`${type}.or`]: commutative('or'),
    [`${type}.xor`]: xor,
    [`${type}.shl`]: shift('shl'),
    [`${type}.shr_s`]: shift('sar'),
    [`${type}.shr_u`]: shift('shr'),
    [`${type}.rotl`]: rotate('rol'),
    [`${type}.rotr`]: rotate('ror'),
    [`${type}.clz`]: unary('lzcnt', bytes, bytes),
    [`${type}.ctz`]: unary('tzcnt', bytes, bytes),
    [`${type}.popcnt`]: unary('popcnt', bytes, bytes),
    [`${type}.extend8_s`]: unary('movsx', bytes, 1),
    [`${type}.extend16_s`]: unary('movsx', bytes, 2),
  };
};

export const integerRules: Readonly<Record<string, Rule>> = {
  ...ofType('i32'),
  ...ofType('i64'),
  'i64.extend32_s': unary('movsxd', 8, 4),
  'i64.extend_i32_s': unary('movsxd', 8, 4),
  'i64.extend_i32_u': (s, inst) => addCopy(s, inst, inst.args[0]!),
  'i32.wrap_i64': wrap,
};
