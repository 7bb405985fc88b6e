/** Vectors as one scalar: `any_true`, `all_true`, `bitmask`; the first two as flags, too, for branches. */
import type { Places, Register, RegisterClass } from '../../machine/types.ts';
import type { Inst } from '../../ssa/types.ts';
import { type Assembler, type Condition, general, immediate, mask, vector } from '../../x64/types.ts';
import type { Rule, Selection, Test, TestRule } from '../types.ts';
import { type Lane, type MaskPlan, planMask, suffixOf } from './masks.ts';
import { custom, isVex, patternOperand, resultOf, type Width, widthOf, zeros } from './steps.ts';

/** Flags that a test of a vector sets, and the condition under which it holds. */
interface Flags {
  readonly uses: readonly Register[];
  readonly temps: readonly RegisterClass[];
  readonly holds: Condition;
  set(out: Assembler, places: Places, first: number): void;
}

/** Bytes of the lanes of an operation. */
const laneOf = ({ op }: Inst): Lane => (Number(/^i(\d+)/.exec(op)![1]) / 8) as Lane;

/** `kortest` of so many lanes: its zero flag says that all of them are 0. */
const kortest = (lanes: number): string => (lanes <= 8 ? 'kortestb' : lanes === 16 ? 'kortestw' : lanes === 32 ? 'kortestd' : 'kortestq');

/** Whether a mask of comparisons has a lane that is set. */
const anyOfPlan = (plan: MaskPlan, bytes: Width, holds: Condition): Flags => ({
  uses: plan.uses,
  temps: [],
  holds,
  set(out, { uses }, first) {
    plan.emit(out, 1, (index) => vector(uses[first + index]!, bytes));
    // Lanes of a vector narrower than the mask register are 0 in it.
    out.emit(kortest(bytes / plan.lane), mask(1), mask(1));
  },
});

function anyTrue(s: Selection, inst: Inst): Flags {
  const bytes = widthOf(s, inst.args[0]!);
  const plan = planMask(s, inst.args[0]!);
  if (plan) return anyOfPlan(plan, bytes, 'ne');
  return {
    uses: [s.register(inst.args[0]!)],
    temps: [],
    holds: 'ne',
    set(out, { uses }, first) {
      const value = vector(uses[first]!, bytes);
      if (bytes < 64 && isVex(uses[first]!)) return out.emit('vptest', value, value);
      out.emit('vptestmd', mask(1), value, value);
      out.emit(kortest(bytes / 4), mask(1), mask(1));
    },
  };
}

function allTrue(s: Selection, inst: Inst): Flags {
  const bytes = widthOf(s, inst.args[0]!);
  const lane = laneOf(inst);
  // All lanes are set where none of the complement is. Lanes of other sizes are no masks of these.
  const plan = planMask(s, inst.args[0]!, true, lane);
  return plan ? anyOfPlan(plan, bytes, 'e') : vectorAllTrue(s, inst, bytes, lane);
}

const vectorAllTrue = (s: Selection, inst: Inst, bytes: Width, lane: Lane): Flags => ({
  uses: [s.register(inst.args[0]!)],
  temps: s.features.avx512 ? [] : ['vector'],
  holds: 'e',
  set(out, { uses, temps }, first) {
    const value = vector(uses[first]!, bytes);
    if (s.features.avx512) {
      out.emit(`vptestnm${suffixOf(lane)}`, mask(1), value, value);
      return out.emit(kortest(bytes / lane), mask(1), mask(1));
    }
    const isZero = vector(temps[0]!, bytes);
    out.emit(`vpcmpeq${suffixOf(lane)}`, isZero, value, patternOperand(out, 'vpcmpeq', zeros, bytes));
    out.emit('vptest', isZero, isZero);
  },
});

/** Whether a lane is negative: what `bitmask` is for in a branch. */
function anyNegative(s: Selection, inst: Inst): Flags {
  const bytes = widthOf(s, inst.args[0]!);
  const lane = laneOf(inst);
  const plan = planMask(s, inst.args[0]!, false, lane);
  if (plan) return anyOfPlan(plan, bytes, 'ne');
  return {
    uses: [s.register(inst.args[0]!)],
    temps: s.features.avx512 ? [] : ['general', 'vector'],
    holds: 'ne',
    set(out, { uses, temps }, first) {
      if (s.features.avx512) {
        out.emit(`vpmov${suffixOf(lane)}2m`, mask(1), vector(uses[first]!, bytes));
        return out.emit(kortest(bytes / lane), mask(1), mask(1));
      }
      const bits = temps[0]!;
      if (lane === 2) bitmaskOfWords(out, bits, uses[first]!, temps[1]!, bytes);
      else out.emit(signBits[lane], general(bits, 4), vector(uses[first]!, bytes));
      out.emit('test', general(bits, 4), general(bits, 4));
    },
  };
}

/** Instructions of VEX that gather the signs of lanes. */
const signBits = { 1: 'vpmovmskb', 4: 'vmovmskps', 8: 'vmovmskpd' } as const;

function flagsOf(s: Selection, inst: Inst): Flags {
  if (inst.op.endsWith('bitmask')) return anyNegative(s, inst);
  return (inst.op === 'v128.any_true' ? anyTrue : allTrue)(s, inst);
}

/** `any_true` and `all_true` as i32. */
export const testAsNumber: Rule = (s, inst) => {
  const flags = flagsOf(s, inst);
  custom(s, { def: resultOf(s, inst), uses: flags.uses, temps: flags.temps }, (out, places) => {
    flags.set(out, places, 0);
    out.setIf(flags.holds, places.def);
    out.emit('movzx', general(places.def, 4), general(places.def, 1));
  });
};

/** `any_true`, `all_true` and whether a `bitmask` is not 0 as flags. */
export const testAsFlags: TestRule = (s, inst): Test => {
  const { uses, temps, holds, set } = flagsOf(s, inst);
  return { uses, temps, compare: set, holds: { some: [holds] } };
};

/** The sign of every lane as a bit of an i32. */
export const bitmask: Rule = (s, inst) => {
  const bytes = widthOf(s, inst.args[0]!);
  const lane = laneOf(inst);
  const lanes = bytes / lane;
  const def = resultOf(s, inst);
  const plan = planMask(s, inst.args[0]!, false, lane);
  if (plan)
    return custom(s, { def, uses: plan.uses }, (out, places) => {
      plan.emit(out, 1, (index) => vector(places.uses[index]!, bytes));
      moveMask(out, lanes, places.def);
    });
  const narrow = s.features.avx512 || lane !== 2 ? [] : (['vector'] as const);
  custom(s, { def, uses: [s.register(inst.args[0]!)], temps: narrow }, (out, places) => {
    const value = places.uses[0]!;
    const to = general(places.def, 4);
    if (lane !== 2 && bytes < 64 && isVex(value)) {
      return out.emit(signBits[lane], to, vector(value, bytes));
    }
    if (!s.features.avx512) return bitmaskOfWords(out, places.def, value, places.temps[0]!, bytes);
    out.emit(`vpmov${suffixOf(lane)}2m`, mask(1), vector(value, bytes));
    moveMask(out, lanes, places.def);
  });
};

/** The bits of so many lanes, of which fewer than 8 leave others in the byte that the instruction reads 0. */
function moveMask(out: Assembler, lanes: number, to: number): void {
  if (lanes <= 8) out.emit('kmovb', general(to, 4), mask(1));
  else out.emit(lanes === 16 ? 'kmovw' : 'kmovd', general(to, 4), mask(1));
}

/** AVX2 has signs of bytes only: words are narrowed to those, the parts one behind the other. */
function bitmaskOfWords(out: Assembler, def: number, value: number, temp: number, bytes: Width): void {
  const to = general(def, 4);
  if (bytes === 32) {
    out.emit('vextracti128', vector(temp), vector(value, 32), immediate(1));
    out.emit('vpacksswb', vector(temp), vector(value), vector(temp));
    return out.emit('vpmovmskb', to, vector(temp));
  }
  out.emit('vpacksswb', vector(temp), vector(value), vector(value));
  out.emit('vpmovmskb', to, vector(temp));
  out.emit('movzx', to, general(def, 1));
}
