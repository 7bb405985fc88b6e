/** Conditions as flags: comparisons of integers and floats, for branches, selects and numbers that are 0 or 1. */
import type { MachineInst, RegisterClass } from '../machine/types.ts';
import type { Inst, Value } from '../ssa/types.ts';
import { type Assembler, type Condition, conditions, general, immediate, type Label } from '../x64/types.ts';
import { generalUse, sourceOf, vectorUse, widthOf } from './operands.ts';
import type { Rule, Selection, Test, TestRule } from './types.ts';
import { vectorTests } from './vector/index.ts';

const names = Object.keys(conditions) as Condition[];

/** The condition that holds where another one does not. */
export const opposite = (condition: Condition): Condition => names[conditions[condition] ^ 1]!;

/** The conditions for `b ? a` where those for `a ? b` are given. */
const swapped: Partial<Record<Condition, Condition>> = { l: 'g', g: 'l', le: 'ge', ge: 'le', b: 'a', a: 'b', be: 'ae', ae: 'be' };

const integerConditions = {
  eq: 'e',
  ne: 'ne',
  lt_s: 'l',
  lt_u: 'b',
  gt_s: 'g',
  gt_u: 'a',
  le_s: 'le',
  le_u: 'be',
  ge_s: 'ge',
  ge_u: 'ae',
} as const;

/** A comparison of integers. One with 0 for equality tests the bits of an `and`. */
const compareIntegers =
  (condition: Condition): TestRule =>
  (s, inst) => {
    const [a, b] = inst.args as [Value, Value];
    if (s.constant(a) !== undefined && s.constant(b) === undefined) return comparison(s, b, a, swapped[condition] ?? condition);
    return comparison(s, a, b, condition);
  };

function comparison(s: Selection, a: Value, b: Value, condition: Condition): Test {
  if (s.constant(b) === 0n) {
    if (condition === 'e' || condition === 'ne') return nonZero(s, a, condition);
    return { uses: [s.register(a)], compare: testItself(widthOf(s.typeOf(a))), holds: { some: [condition] } };
  }
  const bytes = widthOf(s.typeOf(a));
  const source = sourceOf(s, b, bytes);
  return {
    uses: [s.register(a), ...source.uses],
    compare: (out, places, first) => out.emit('cmp', generalUse(places, first, bytes), source.operand(places, first + 1)),
    holds: { some: [condition] },
  };
}

const testItself =
  (bytes: 4 | 8): Test['compare'] =>
  (out, places, first) => {
    const operand = generalUse(places, first, bytes);
    out.emit('test', operand, operand);
  };

/** Whether an integer is 0 (`e`) or not (`ne`). */
function nonZero(s: Selection, value: Value, condition: Condition): Test {
  const bytes = widthOf(s.typeOf(value));
  const inst = s.definition(value);
  if (inst && isAnd.test(inst.op) && s.isInBlock(value) && s.useCount(value) === 1) {
    const [a, b] = s.constant(inst.args[0]!) === undefined ? inst.args : [inst.args[1]!, inst.args[0]!];
    const source = sourceOf(s, b!, bytes);
    return {
      uses: [s.register(a!), ...source.uses],
      compare(out, places, first) {
        const [register, other] = [generalUse(places, first, bytes), source.operand(places, first + 1)];
        // Memory comes first, an immediate last.
        if (other.kind === 'memory') out.emit('test', other, register);
        else out.emit('test', register, other);
      },
      holds: { some: [condition] },
    };
  }
  return { uses: [s.register(value)], compare: testItself(bytes), holds: { some: [condition] } };
}

const isAnd = /^i(32|64)\.and$/;

/**
 * Whether the lower half of an integer of 64 bits is not 0. If it is the upper half of another one, as in checks of addresses, a shift of that one leaves
 * the flags.
 */
const wrapped: TestRule = (s, inst) => {
  const value = inst.args[0]!;
  const shift = s.isInBlock(value) ? upperShift(s, value) : undefined;
  if (!shift) return { uses: [s.register(value)], compare: testItself(4), holds: { some: ['ne'] } };
  const union = unionOf(s, shift.of);
  const uses = union ? [s.register(union[0]), s.register(union[1])] : [s.register(shift.of)];
  return {
    uses,
    temps: ['general'],
    compare(out, places, first) {
      const temp = general(places.temps[0]!);
      out.emit('mov', temp, generalUse(places, first, 8));
      if (union) out.emit('or', temp, generalUse(places, first + 1, 8));
      out.emit('shr', temp, immediate(shift.count));
    },
    holds: { some: ['ne'] },
  };
};

/** What is shifted right to have no more than its upper half, or a part of that; `count` is at least 32. */
export function upperShift(s: Selection, value: Value): { readonly of: Value; readonly count: bigint } | undefined {
  const inst = s.definition(value);
  const count = inst?.op === 'i64.shr_u' ? s.constant(inst.args[1]!) : undefined;
  return count !== undefined && count % 64n >= 32n ? { of: inst!.args[0]!, count: count % 64n } : undefined;
}

/** The operands of an `or` that nothing else uses. */
function unionOf(s: Selection, value: Value): readonly [Value, Value] | undefined {
  const inst = s.definition(value);
  if (inst?.op !== 'i64.or' || !s.isInBlock(value) || s.useCount(value) > 1) return undefined;
  return inst.args as [Value, Value];
}

/** `eqz`: the opposite of a condition, if its operand is one. */
const isZero: TestRule = (s, inst) => {
  const value = inst.args[0]!;
  return s.typeOf(value) === 'i32' ? negated(testOf(s, value)) : nonZero(s, value, 'e');
};

function negated(test: Test): Test {
  const { holds } = test;
  if ('every' in holds) return { ...test, holds: { some: holds.every.map(opposite) } };
  if (holds.some.length === 1) return { ...test, holds: { some: [opposite(holds.some[0]!)] } };
  return { ...test, holds: { every: holds.some.map(opposite) } };
}

/** Comparisons of floats by `ucomis`, which says "below" and "equal" of unordered operands: only "above" is false of them. */
const floatConditions: Readonly<Record<string, { readonly isSwapped: boolean; readonly holds: Test['holds'] }>> = {
  eq: { isSwapped: false, holds: { every: ['np', 'e'] } },
  ne: { isSwapped: false, holds: { some: ['p', 'ne'] } },
  lt: { isSwapped: true, holds: { some: ['a'] } },
  gt: { isSwapped: false, holds: { some: ['a'] } },
  le: { isSwapped: true, holds: { some: ['ae'] } },
  ge: { isSwapped: false, holds: { some: ['ae'] } },
};

const compareFloats =
  (mnemonic: string, { isSwapped, holds }: { readonly isSwapped: boolean; readonly holds: Test['holds'] }): TestRule =>
  (s, inst) => {
    const [a, b] = inst.args as [Value, Value];
    const uses = (isSwapped ? [b, a] : [a, b]).map((value) => s.register(value));
    return { uses, compare: (out, places, first) => out.emit(mnemonic, vectorUse(places, first), vectorUse(places, first + 1)), holds };
  };

const scalarTests: Readonly<Record<string, TestRule>> = {
  'i32.eqz': isZero,
  'i64.eqz': isZero,
  'i32.wrap_i64': wrapped,
  ...Object.fromEntries(
    Object.entries(integerConditions).flatMap(([name, condition]) => [
      [`i32.${name}`, compareIntegers(condition)],
      [`i64.${name}`, compareIntegers(condition)],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(floatConditions).flatMap(([name, how]) => [
      [`f32.${name}`, compareFloats('vucomiss', how)],
      [`f64.${name}`, compareFloats('vucomisd', how)],
    ]),
  ),
};

/** The conditions that instructions compute. */
export const tests: Readonly<Record<string, TestRule>> = { ...scalarTests, ...vectorTests };

/** The condition that an i32 is not 0: by what computes it, if that is a comparison in the same block, else by its register. */
export function testOf(s: Selection, value: Value): Test {
  const inst = s.definition(value);
  const rule = inst === undefined || !s.isInBlock(value) ? undefined : tests[inst.op];
  return rule ? rule(s, inst!) : nonZero(s, value, 'ne');
}

/** The rule that makes a number, 0 or 1, of a condition. */
export const numberOf =
  (rule: TestRule): Rule =>
  (s, inst) => {
    const test = rule(s, inst);
    s.add(setInst(s, inst, test));
  };

function setInst(s: Selection, inst: Inst, test: Test): MachineInst {
  const temps: RegisterClass[] = [...(test.temps ?? [])];
  const last = temps.length;
  if (!isSingle(test)) temps.push('general');
  return {
    def: s.register(inst.result!),
    uses: test.uses,
    temps,
    emit(out, places) {
      test.compare(out, places, 0);
      emitNumber(out, test, places.def, places.temps[last] ?? 0);
    },
  };
}

/** Whether a test is one condition of the flags. */
export const isSingle = ({ holds }: Test): boolean => ('some' in holds ? holds.some : holds.every).length === 1;

/** Sets a general register to 0 or 1 by the flags, which it changes; `temp` is changed where the test has two conditions. */
export function emitNumber(out: Assembler, { holds }: Test, to: number, temp: number): void {
  const [first, second] = 'some' in holds ? holds.some : holds.every;
  out.setIf(first!, to);
  if (second !== undefined) {
    out.setIf(second, temp);
    out.emit('some' in holds ? 'or' : 'and', general(to, 1), general(temp, 1));
  }
  out.emit('movzx', general(to, 4), general(to, 1));
}

/** Jumps by flags to `yes` where the condition holds, else to `no`. The code of one of them may follow, which `next` names. */
export function emitJumps(out: Assembler, { holds }: Test, yes: Label, no: Label, next: Label | undefined): void {
  const isSome = 'some' in holds;
  const list = isSome ? holds.some : holds.every;
  const last = list.at(-1)!;
  // All but the last condition decide alone where they hold (some) or do not (every).
  for (const each of list.slice(0, -1)) out.jumpIf(isSome ? each : opposite(each), isSome ? yes : no);
  if (next === yes) out.jumpIf(opposite(last), no);
  else {
    out.jumpIf(last, yes);
    if (next !== no) out.jump(no);
  }
}
