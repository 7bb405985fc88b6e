/**
 * Comparisons. AVX2 has signed `gt` and `eq` of integers, and all comparisons of floats, as vectors of masks. AVX-512 compares into mask registers; where
 * a comparison, or `and`, `or`, `xor` of several, has one user that works under a mask, no vector of it is made (`planMask`).
 */
import type { Register } from '../../machine/types.ts';
import type { Inst, Value } from '../../ssa/types.ts';
import { type Assembler, immediate, mask, type Operand, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import {
  custom,
  isPattern,
  isVex,
  isZeros,
  ones,
  ownedBy,
  type Pattern,
  patternOfValue,
  patternOperand,
  repeated,
  resultOf,
  type Source,
  sourceOf,
  step,
  stepTo,
  type Width,
  widthOf,
} from './steps.ts';

/** Bytes of a lane. */
export type Lane = 1 | 2 | 4 | 8;

export interface Comparison {
  readonly relation: 'eq' | 'ne' | 'lt' | 'gt' | 'le' | 'ge';
  readonly kind: 'signed' | 'unsigned' | 'float';
  readonly lane: Lane;
}

const comparisonName = /^([if])(8|16|32|64)x\d+\.(eq|ne|lt|gt|le|ge)(?:_s|(_u))?$/;

/** The comparison that an operation is. */
export function comparisonOf(op: string): Comparison | undefined {
  const [, type, bits, relation, unsigned] = comparisonName.exec(op) ?? [];
  if (!type) return undefined;
  return {
    relation: relation as Comparison['relation'],
    kind: type === 'f' ? 'float' : unsigned ? 'unsigned' : 'signed',
    lane: (Number(bits) / 8) as Lane,
  };
}

const integerPredicates = { eq: 0, lt: 1, le: 2, ne: 4, ge: 5, gt: 6 } as const;
/** Quiet forms; each is false for NaNs, but for `ne`. Bit 2 inverts a predicate, of integers as well. */
const floatPredicates = { eq: 0, lt: 0x11, le: 0x12, ne: 4, ge: 0x1d, gt: 0x1e } as const;
const swapped = { eq: 'eq', ne: 'ne', lt: 'gt', gt: 'lt', le: 'ge', ge: 'le' } as const;
const laneSuffix = { 1: 'b', 2: 'w', 4: 'd', 8: 'q' } as const;
export const suffixOf = (lane: Lane): string => laneSuffix[lane];
const floatSuffix = (lane: Lane): string => (lane === 4 ? 'ps' : 'pd');

/** A function of comparisons. */
type MaskTree =
  | { readonly mnemonic: string; readonly predicate: number | undefined; readonly a: Value; readonly b: Value | Pattern }
  | { readonly op: 'kandq' | 'korq' | 'kxorq'; readonly args: readonly [MaskTree, MaskTree] };

/** A mask that an instruction computes itself: from registers `uses`, into a mask register, with those after it as temporary ones. */
export interface MaskPlan {
  readonly lane: Lane;
  readonly uses: readonly Register[];
  /** The number in `uses` of an operand that may be in memory. */
  readonly inMemory: number | undefined;
  /** `operand` gives the place of the register of a number in `uses`. */
  emit(out: Assembler, to: number, operand: (index: number) => Operand): void;
}

/** The comparison of an instruction as one into a mask register; `mayJoin` includes an `and` before it. */
function leafOf(s: Selection, inst: Inst, { relation, kind, lane }: Comparison, isInverted: boolean, mayJoin: boolean): MaskTree {
  const [first, second] = inst.args as [Value, Value];
  const isSwapped = patternOfValue(s, first) !== undefined && patternOfValue(s, second) === undefined;
  const [a, b] = isSwapped ? [second, first] : [first, second];
  const shown = isSwapped ? swapped[relation] : relation;
  const constant = patternOfValue(s, b);
  if (kind !== 'float' && constant && isZeros(constant) && (shown === 'eq' || shown === 'ne')) {
    const isTest = (shown === 'ne') !== isInverted;
    const and = mayJoin ? ownedBy(s, a) : undefined;
    const [x, y] = and?.op === 'v128.and' ? (and.args as [Value, Value]) : [a, a];
    return { mnemonic: `vptest${isTest ? '' : 'n'}m${suffixOf(lane)}`, predicate: undefined, a: x, b: y };
  }
  const predicate = (kind === 'float' ? floatPredicates : integerPredicates)[shown] ^ (isInverted ? 4 : 0);
  const mnemonic = kind === 'float' ? `vcmp${floatSuffix(lane)}` : `vpcmp${kind === 'unsigned' ? 'u' : ''}${suffixOf(lane)}`;
  return { mnemonic, predicate, a, b: constant ?? b };
}

const treeOps: Readonly<Record<string, 'kandq' | 'korq' | 'kxorq'>> = {
  'v128.and': 'kandq',
  'v128.andnot': 'kandq',
  'v128.or': 'korq',
  'v128.xor': 'kxorq',
};

/** The tree of a definition, all of whose leaves are comparisons of lanes of the same size. */
function treeOf(s: Selection, inst: Inst | undefined, isInverted: boolean, lane?: Lane): { tree: MaskTree; lane: Lane } | undefined {
  if (!inst) return undefined;
  const comparison = comparisonOf(inst.op);
  if (comparison) {
    if (lane !== undefined && comparison.lane !== lane) return undefined;
    return { tree: leafOf(s, inst, comparison, isInverted, true), lane: comparison.lane };
  }
  if (inst.op === 'v128.not') return treeOf(s, ownedBy(s, inst.args[0]!), !isInverted, lane);
  const op = treeOps[inst.op];
  if (!op) return undefined;
  // Inverted comparisons take the place of inverted masks, whose bits beyond the lanes would not be 0.
  const inverted = op === 'kxorq' ? [isInverted, false] : [isInverted, (inst.op === 'v128.andnot') !== isInverted];
  const first = treeOf(s, ownedBy(s, inst.args[0]!), inverted[0]!, lane);
  const second = first && treeOf(s, ownedBy(s, inst.args[1]!), inverted[1]!, first.lane);
  if (!second) return undefined;
  const shown = op === 'kxorq' || !isInverted ? op : op === 'kandq' ? 'korq' : 'kandq';
  return { tree: { op: shown, args: [first.tree, second.tree] }, lane: first.lane };
}

const depthOf = (tree: MaskTree): number => ('op' in tree ? Math.max(depthOf(tree.args[0]), depthOf(tree.args[1]) + 1) : 1);

/** Emits a tree into the mask register `to`, or the lanes of `under` of it. */
function emitTree(out: Assembler, tree: MaskTree, to: number, bytes: Width, place: (leaf: Value) => Operand, under?: number): void {
  if ('op' in tree) {
    const [first, second] = tree.args;
    emitTree(out, first, to, bytes, place, under);
    if (tree.op === 'kandq' && !('op' in second)) return emitTree(out, second, to, bytes, place, to);
    emitTree(out, second, to + 1, bytes, place, under);
    return out.emit(tree.op, mask(to), mask(to), mask(to + 1));
  }
  const { mnemonic, predicate, a, b } = tree;
  const last = typeof b === 'object' ? patternOperand(out, mnemonic, b, bytes) : place(b);
  const operands = [mask(to), place(a), last, ...(predicate === undefined ? [] : [immediate(predicate)])];
  if (under === undefined) out.emit(mnemonic, ...operands);
  else out.emitMasked(mnemonic, mask(under), false, ...operands);
}

const leavesOf = (tree: MaskTree): Value[] =>
  'op' in tree ? tree.args.flatMap(leavesOf) : [tree.a, ...(typeof tree.b === 'object' ? [] : [tree.b])];

function planOf(s: Selection, { tree, lane }: { tree: MaskTree; lane: Lane }, bytes: Width): MaskPlan {
  const leaves = [...new Set(leavesOf(tree))];
  const uses = leaves.map((leaf) => s.register(leaf));
  const isOne = !('op' in tree) && leaves.length === 2;
  return {
    lane,
    uses,
    inMemory: isOne ? 1 : undefined,
    emit: (out, to, operand) => emitTree(out, tree, to, bytes, (leaf) => operand(leaves.indexOf(leaf))),
  };
}

/** Mask registers that one instruction may use, k1 to k6. */
const maxDepth = 6;

/**
 * A plan for an operand whose lanes are all ones or all zeros, if nothing else needs it as a vector (AVX-512). Its lanes may have to be of so many
 * bytes.
 */
export function planMask(s: Selection, value: Value, isInverted = false, lane?: Lane): MaskPlan | undefined {
  if (!s.features.avx512) return undefined;
  const found = treeOf(s, ownedBy(s, value), isInverted, lane);
  return found && depthOf(found.tree) <= maxDepth ? planOf(s, found, widthOf(s, value)) : undefined;
}

/** A plan for an instruction itself. */
function planOwn(s: Selection, inst: Inst): MaskPlan | undefined {
  const comparison = comparisonOf(inst.op);
  const bytes = widthOf(s, inst.result!);
  if (comparison) return planOf(s, { tree: leafOf(s, inst, comparison, false, bytes === 64), lane: comparison.lane }, bytes);
  const found = treeOf(s, inst, false);
  return found && depthOf(found.tree) <= maxDepth ? planOf(s, found, bytes) : undefined;
}

const minMax = { eq: '', ne: '', lt: 'vpmaxX', ge: 'vpmaxX', gt: 'vpminX', le: 'vpminX' } as const;

/** A comparison of integers with AVX2. */
function compareAvx2(
  s: Selection,
  to: Register,
  { relation, kind, lane }: Comparison,
  [a, b]: readonly [Source, Source],
  bytes: Width,
): void {
  const suffix = suffixOf(lane);
  /** Complements what `compute` writes. */
  const inverted = (compute: (result: Register) => void): void => {
    const equal = s.fresh('vector', bytes);
    compute(equal);
    stepTo(s, to, 'vpxor', bytes, [equal, ones]);
  };
  const greater = (result: Register, x: Source, y: Source): void => stepTo(s, result, `vpcmpgt${suffix}`, bytes, [x, y]);
  const equal = (result: Register, x: Source, y: Source): void =>
    stepTo(s, result, `vpcmpeq${suffix}`, bytes, isPattern(x) ? [y, x] : [x, y]);
  if (relation === 'eq') return equal(to, a, b);
  if (relation === 'ne') return inverted((result) => equal(result, a, b));
  if (kind === 'signed' && (relation === 'gt' || relation === 'lt')) return relation === 'gt' ? greater(to, a, b) : greater(to, b, a);
  if (lane === 8) return inverted((result) => (relation === 'le' ? greater(result, a, b) : greater(result, b, a)));
  const mnemonic = minMax[relation].replace('X', (kind === 'signed' ? 's' : 'u') + suffix);
  const bound = (): Register => step(s, mnemonic, bytes, isPattern(a) ? [b, a] : [a, b]);
  if (relation === 'ge' || relation === 'le') return equal(to, bound(), a);
  inverted((result) => equal(result, bound(), a));
}

const inverse = { eq: 'ne', ne: 'eq', lt: 'ge', ge: 'lt', gt: 'le', le: 'gt' } as const;

/**
 * The complement of an operand with AVX2, if that takes fewer instructions than the operand itself and nothing else uses it: of a complement, and of
 * comparisons of integers that are complements of others.
 */
export function complementOf(s: Selection, value: Value): Register | undefined {
  const inst = s.features.avx512 ? undefined : ownedBy(s, value);
  if (!inst) return undefined;
  if (inst.op === 'v128.not') return s.register(inst.args[0]!);
  const comparison = comparisonOf(inst.op);
  if (!comparison || comparison.kind === 'float') return undefined;
  const { relation, kind, lane } = comparison;
  const isUnsignedOrder = kind === 'unsigned' && (relation === 'gt' || relation === 'lt');
  const isLongOrder = lane === 8 && (relation === 'le' || relation === 'ge');
  if (relation !== 'ne' && !isUnsignedOrder && !isLongOrder) return undefined;
  const bytes = widthOf(s, value);
  const to = s.fresh('vector', bytes);
  const sources = inst.args.map((arg) => sourceOf(s, arg)) as [Source, Source];
  compareAvx2(s, to, { ...comparison, relation: inverse[relation] }, sources, bytes);
  return to;
}

/** The instruction of VEX that is a comparison of vectors, or the complement of it, if VEX has one. */
function vexForm({ relation, kind, lane }: Comparison): { mnemonic: string; isSwapped: boolean; isInverted: boolean } | undefined {
  if (relation === 'eq' || relation === 'ne')
    return { mnemonic: `vpcmpeq${suffixOf(lane)}`, isSwapped: false, isInverted: relation === 'ne' };
  if (kind === 'unsigned') return undefined;
  return {
    mnemonic: `vpcmpgt${suffixOf(lane)}`,
    isSwapped: relation === 'lt' || relation === 'ge',
    isInverted: relation === 'le' || relation === 'ge',
  };
}

/** A comparison with AVX-512 as a vector: by VEX where the registers allow that, else by a mask register. */
function compareAvx512(s: Selection, inst: Inst, comparison: Comparison): void {
  const { kind, lane, relation } = comparison;
  const bytes = widthOf(s, inst.result!);
  const plan = planOwn(s, inst)!;
  const form = kind === 'float' ? { mnemonic: `vcmp${floatSuffix(lane)}`, isSwapped: false, isInverted: false } : vexForm(comparison);
  const args = form?.isSwapped ? [...inst.args].reverse() : inst.args;
  const [first, second] = args.map((arg) => patternOfValue(s, arg) ?? arg) as [Value | Pattern, Value | Pattern];
  const indexOf = (value: Value): number => plan.uses.indexOf(s.register(value));
  const mayBeVex = form && bytes < 64 && typeof first !== 'object';
  const [a, b] = mayBeVex ? [indexOf(first), typeof second === 'object' ? 0 : indexOf(second)] : [0, 0];
  custom(s, { def: resultOf(s, inst), uses: plan.uses }, (out, { def, uses }) => {
    const to = vector(def, bytes);
    if (mayBeVex && isVex(def, ...uses)) {
      const last = typeof second === 'object' ? out.constant(repeated(second, bytes)) : vector(uses[b]!, bytes);
      out.emit(form.mnemonic, to, vector(uses[a]!, bytes), last, ...(kind === 'float' ? [immediate(floatPredicates[relation])] : []));
      if (form.isInverted) out.emit('vpternlogd', to, to, to, immediate(0x55));
      return;
    }
    plan.emit(out, 1, (index) => vector(uses[index]!, bytes));
    out.emit(`vpmovm2${suffixOf(lane)}`, to, mask(1));
  });
}

/** Whether an instruction is `x < 0` of signed lanes, which the shift of the sign through the lane computes. */
function signTest(s: Selection, inst: Inst, { relation, kind, lane }: Comparison): Value | undefined {
  if (kind !== 'signed' || lane === 1 || (lane === 8 && !s.features.avx512)) return undefined;
  const [a, b] = inst.args as [Value, Value];
  const zero = relation === 'lt' ? b : relation === 'gt' ? a : undefined;
  const pattern = zero === undefined ? undefined : patternOfValue(s, zero);
  return pattern && isZeros(pattern) ? (zero === a ? b : a) : undefined;
}

/** Every comparison. */
export const compare: Rule = (s, inst) => {
  const comparison = comparisonOf(inst.op)!;
  const { kind, lane, relation } = comparison;
  const bytes = widthOf(s, inst.result!);
  const signed = signTest(s, inst, comparison);
  if (signed !== undefined)
    return stepTo(s, resultOf(s, inst), `vpsra${suffixOf(lane)}`, bytes, [s.register(signed)], { immediate: 8 * lane - 1 });
  if (s.features.avx512) return compareAvx512(s, inst, comparison);
  const sources = inst.args.map((arg) => sourceOf(s, arg)) as [Source, Source];
  if (kind === 'float')
    return stepTo(s, resultOf(s, inst), `vcmp${floatSuffix(lane)}`, bytes, sources, { immediate: floatPredicates[relation] });
  compareAvx2(s, resultOf(s, inst), comparison, sources, bytes);
};

/** `and`, `or` and the like of comparisons at 512 bits, where vectors of masks cost an instruction each. */
export function combinedMasks(s: Selection, inst: Inst): boolean {
  if (!s.features.avx512 || widthOf(s, inst.result!) !== 64) return false;
  const plan = planOwn(s, inst);
  if (!plan) return false;
  custom(s, { def: resultOf(s, inst), uses: plan.uses }, (out, { def, uses }) => {
    plan.emit(out, 1, (index) => vector(uses[index]!, 64));
    out.emit(`vpmovm2${suffixOf(plan.lane)}`, vector(def, 64), mask(1));
  });
  return true;
}
