/**
 * Operations on bits. AVX-512 computes any function of three vectors by one instruction (`vpternlogd`), so operations that nothing else uses are joined
 * with their user, as long as these have at most three operands together. It also has rotates, which are two shifts and an `or` in WebAssembly.
 */
import type { Inst, Value } from '../../ssa/types.ts';
import type { Rule, Selection } from '../types.ts';
import {
  commuted,
  copyTo,
  defineConstant,
  isOnes,
  isZeros,
  lastSourceOf,
  ones,
  ownedBy,
  patternOfValue,
  resultOf,
  sourcesOf,
  step,
  stepTo,
  widthOf,
  zeros,
} from './steps.ts';
import { addTernary, inputs } from './ternary.ts';

/** What operations do to truth tables: bit i is the result for the operands' values in i. */
const operations: Readonly<Record<string, (...tables: number[]) => number>> = {
  'v128.not': (a) => ~a!,
  'v128.and': (a, b) => a! & b!,
  'v128.or': (a, b) => a! | b!,
  'v128.xor': (a, b) => a! ^ b!,
  'v128.andnot': (a, b) => a! & ~b!,
  'v128.bitselect': (a, b, mask) => (a! & mask!) | (b! & ~mask!),
};

/** A tree of operations: its leaves are values. */
type Tree = Value | { readonly op: string; readonly args: readonly Tree[] };

const leavesOf = (tree: Tree): Value[] => (typeof tree === 'number' ? [tree] : tree.args.flatMap(leavesOf));

/** A rotate by a constant: the value, and the count to the left. */
export interface Rotate {
  readonly value: Value;
  readonly count: number;
  readonly lane: 32 | 64;
}

const shiftName = /^i(32|64)x\d\.(shl|shr_u)$/;

/** The rotate that an `or`, `xor` or `add` of two shifts is. */
function rotateOf(s: Selection, inst: Inst): Rotate | undefined {
  if (!/^v128\.x?or$/.test(inst.op)) return undefined;
  const shifts = inst.args.map((arg) => ownedBy(s, arg));
  const [a, b] = shifts.map((shift) => (shift ? shiftName.exec(shift.op) : null));
  if (!a || !b || a[1] !== b[1] || a[2] === b[2]) return undefined;
  const lane = Number(a[1]) as 32 | 64;
  const counts = shifts.map((shift) => s.constant(shift!.args[1]!));
  if (shifts[0]!.args[0] !== shifts[1]!.args[0] || counts[0] === undefined || counts[1] === undefined) return undefined;
  const [first, second] = counts.map((count) => Number(count! & BigInt(lane - 1))) as [number, number];
  if (first + second !== lane || !(s.features.avx512 || first % 8 === 0)) return undefined;
  return { value: shifts[0]!.args[0]!, count: a[2] === 'shl' ? first : second, lane };
}

/** Whether a value is all zeros or all ones. */
function isConstantBit(s: Selection, value: Value): boolean {
  const pattern = patternOfValue(s, value);
  return pattern !== undefined && (isZeros(pattern) || isOnes(pattern));
}

/** How deep a tree may be. */
const maxDepth = 4;

/**
 * The tree of an instruction, as large as three operands allow. An operand is a leaf, or the operation that defines it with its operands as leaves, or the
 * largest tree of it: the operands of an operation may need more leaves than all of it.
 */
function treeOf(s: Selection, inst: Inst, depth = maxDepth): Tree {
  const options = inst.args.map((arg): Tree[] => {
    const inner = depth > 0 ? ownedBy(s, arg) : undefined;
    if (!inner || !(inner.op in operations) || rotateOf(s, inner)) return [arg];
    return [treeOf(s, inner, depth - 1), { op: inner.op, args: inner.args }, arg];
  });
  if (options.every(({ length }) => length === 1)) return { op: inst.op, args: inst.args };
  const fits = (args: readonly Tree[]): boolean =>
    new Set(args.flatMap(leavesOf).filter((leaf) => !isConstantBit(s, leaf))).size <= inputs.length;
  const args = combinations(options).find(fits);
  return { op: inst.op, args: args ?? inst.args };
}

/** One of each list, the first ones first. */
const combinations = (lists: readonly (readonly Tree[])[]): Tree[][] =>
  lists.reduce<Tree[][]>((made, list) => made.flatMap((each) => list.map((one) => [...each, one])), [[]]);

/** Adds `vpternlogd` for a tree. */
function ternary(s: Selection, inst: Inst, tree: Tree): void {
  const bytes = widthOf(s, inst.result!);
  const tables = new Map<Value, number>();
  const leaves: Value[] = [];
  for (const leaf of new Set(leavesOf(tree))) {
    const pattern = patternOfValue(s, leaf);
    if (pattern && isConstantBit(s, leaf)) tables.set(leaf, isOnes(pattern) ? 0xff : 0);
    else leaves.push(leaf);
  }
  // A constant is read from memory, or what is loaded.
  const rank = (leaf: Value): number => (patternOfValue(s, leaf) ? 2 : s.definition(leaf)?.op.startsWith('v128.load') ? 1 : 0);
  leaves.sort((a, b) => rank(a) - rank(b));
  const positions = leaves.length === 3 ? [0, 1, 2] : leaves.length === 2 ? [1, 2] : [2];
  for (const [i, leaf] of leaves.entries()) tables.set(leaf, inputs[positions[i]!]!);
  const value = (each: Tree): number => (typeof each === 'number' ? tables.get(each)! : operations[each.op]!(...each.args.map(value)));
  const table = value(tree) & 0xff;
  if (leaves.length === 0 || table === 0 || table === 0xff) return defineConstant(s, resultOf(s, inst), bytes, table ? ones : zeros);
  const same = leaves.find((_, i) => table === inputs[positions[i]!]);
  if (same !== undefined) return copyTo(s, resultOf(s, inst), bytes, s.register(same));
  addTernary(s, resultOf(s, inst), bytes, sourcesOf(s, leaves, 'vpternlogd'), table);
}

const plain: Readonly<Record<string, readonly [avx2: string, avx512: string]>> = {
  'v128.and': ['vpand', 'vpandd'],
  'v128.or': ['vpor', 'vpord'],
  'v128.xor': ['vpxor', 'vpxord'],
  // The instruction complements its first operand, WebAssembly's the second.
  'v128.andnot': ['vpandn', 'vpandnd'],
};

/** The mnemonic of an operation for a target. */
export const logic = (s: Selection, op: 'and' | 'or' | 'xor' | 'andnot'): string => plain[`v128.${op}`]![s.features.avx512 ? 1 : 0];

function addPlain(s: Selection, inst: Inst): void {
  const mnemonic = plain[inst.op]![s.features.avx512 ? 1 : 0];
  const args = inst.op === 'v128.andnot' ? [inst.args[1]!, inst.args[0]!] : commuted(s, inst.args, mnemonic);
  stepTo(s, resultOf(s, inst), mnemonic, widthOf(s, inst.result!), sourcesOf(s, args, mnemonic));
}

/** AVX2 rotates whole bytes only, by a shuffle. */
function addRotate(s: Selection, inst: Inst, { value, count, lane }: Rotate): void {
  const [to, bytes] = [resultOf(s, inst), widthOf(s, inst.result!)];
  if (s.features.avx512) return stepTo(s, to, lane === 32 ? 'vprold' : 'vprolq', bytes, [s.register(value)], { immediate: count });
  const size = lane / 8;
  const order = Array.from({ length: 16 }, (_, i) => (i & ~(size - 1)) + ((i - count / 8 + size) & (size - 1)));
  stepTo(s, to, 'vpshufb', bytes, [s.register(value), { pattern: order }]);
}

/** A binary operation, or all the operations that end in it. */
export const binaryLogic: Rule = (s, inst) => {
  const rotate = rotateOf(s, inst);
  if (rotate) return addRotate(s, inst, rotate);
  if (!s.features.avx512) return addPlain(s, inst);
  const tree = treeOf(s, inst);
  const isPlain = leavesOf(tree).length === 2 && inst.args[0] !== inst.args[1] && !inst.args.some((arg) => isConstantBit(s, arg));
  return isPlain && leavesOf(tree).join() === inst.args.join() ? addPlain(s, inst) : ternary(s, inst, tree);
};

export const not: Rule = (s, inst) =>
  s.features.avx512
    ? ternary(s, inst, treeOf(s, inst))
    : stepTo(s, resultOf(s, inst), 'vpxor', widthOf(s, inst.result!), [s.register(inst.args[0]!), ones]);

/** The bits of `a` where the mask is 1, else those of `b`. */
export const bitselect: Rule = (s, inst) => {
  if (s.features.avx512) return ternary(s, inst, treeOf(s, inst));
  const [a, b, mask] = inst.args as [Value, Value, Value];
  const bytes = widthOf(s, inst.result!);
  const selector = s.register(mask);
  const taken = step(s, 'vpand', bytes, [selector, lastSourceOf(s, a, 'vpand')]);
  const other = step(s, 'vpandn', bytes, [selector, lastSourceOf(s, b, 'vpandn')]);
  stepTo(s, resultOf(s, inst), 'vpor', bytes, [taken, other]);
};
