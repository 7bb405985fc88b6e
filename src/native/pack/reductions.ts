/**
 * Scalars computed of all members of a group: whether any or all lanes of some masks are set, and the bits of their lanes side by side. The engine
 * combines the vectors one after the other; with a group, one instruction does it.
 */
import type { Inst, Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';

/** A vector whose bits of lanes are a part of a number, from bit `shift` on. */
export interface LaneBits {
  readonly vector: Value;
  readonly shift: number;
  /** The number that has these bits and no others. */
  readonly number: Value;
}

export interface Reduction {
  /** The instruction that has the result: what is computed before for it alone is left out. */
  readonly root: Node;
  /**
   * `any`: a number that is 0 if the bits of all lanes are; `all`: whether all bits are set; `bits`: all bits, and with them other numbers, by `or`.
   */
  readonly kind: 'any' | 'all' | 'bits';
  /** The instruction that takes the bits of the lanes, or `v128.any_true`. */
  readonly bitmask: string;
  readonly vectors: readonly LaneBits[];
  readonly others: readonly Value[];
}

export interface Reductions {
  readonly byRoot: ReadonlyMap<Node, Reduction>;
  /** By node: whether a reduction stands for it. */
  readonly absorbed: Uint8Array;
}

/** Terms of a sum; what has more is left as it is, so that sums of sums take linear time. */
const maxTerms = 64;

/** Bits for each vector in the result of an instruction that takes those of lanes, or that tests all. */
export const lanesOf = (bitmask: string): number => (bitmask === 'v128.any_true' ? 1 : Number(/x(\d+)/.exec(bitmask)![1]));

/** Finds the reductions of a function. */
export function reductionsOf(numbering: Numbering): Reductions {
  const byRoot = new Map<Node, Reduction>();
  const absorbed = new Uint8Array(numbering.count);
  const isOr = (value: Value): boolean => numbering.insts[numbering.nodeOf[value]!]?.op === 'i32.or';
  for (const [node, inst] of numbering.insts.entries()) {
    if (!inst) continue;
    if (inst.op.endsWith('.bitmask') || inst.op === 'v128.any_true') addTest(numbering, node, inst, byRoot, absorbed);
    else if (inst.op === 'i32.or' && numbering.usesOf(inst.result!).every((use) => use.node < 0 || !isOr(numbering.values[use.node]!)))
      addBits(numbering, node, inst, byRoot, absorbed);
  }
  return { byRoot, absorbed };
}

/** The terms of a tree of one operation, in order, and its nodes. A vector that is used elsewhere, too, is a term. */
function termsOf(
  { insts, nodeOf, usesOf }: Numbering,
  root: Value,
  op: string,
): { readonly terms: Value[]; readonly nodes: Node[] } | undefined {
  const terms: Value[] = [];
  const nodes: Node[] = [];
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const inst = insts[nodeOf[value]!];
    if (inst?.op === op && (value === root || op === 'i32.or' || usesOf(value).length === 1)) {
      nodes.push(nodeOf[value]!);
      open.push(inst.args[1]!, inst.args[0]!);
    } else terms.push(value);
    if (terms.length + open.length > maxTerms) return undefined;
  }
  return { terms, nodes };
}

function addTest(
  numbering: Numbering,
  node: Node,
  { op: bitmask, args, result }: Inst,
  byRoot: Map<Node, Reduction>,
  absorbed: Uint8Array,
): void {
  const { insts, nodeOf, usesOf } = numbering;
  const combined = insts[nodeOf[args[0]!]!]?.op;
  if (combined !== 'v128.or' && combined !== 'v128.and') return;
  const tree = termsOf(numbering, args[0]!, combined);
  if (!tree) return;
  const vectors = tree.terms.map((vector) => ({ vector, shift: 0, number: result! }));
  const absorb = (nodes: readonly Node[]): void => {
    for (const each of nodes) absorbed[each] = 1;
  };
  if (combined === 'v128.or') {
    if (bitmask !== 'v128.any_true' && !usesOf(result!).every((use) => isTruth(numbering, result!, use.node))) return;
    byRoot.set(node, { root: node, kind: 'any', bitmask, vectors, others: [] });
    return absorb([...tree.nodes, node]);
  }
  if (bitmask === 'v128.any_true') return;
  const all = BigInt(2 ** lanesOf(bitmask) - 1);
  for (const use of usesOf(result!)) {
    const user = insts[use.node];
    if (user?.op !== 'i32.eq' || insts[nodeOf[user.args[1 - use.operand]!]!]?.bits !== all) continue;
    byRoot.set(use.node, { root: use.node, kind: 'all', bitmask, vectors, others: [] });
    absorb([...tree.nodes, node]);
  }
}

/** Whether a use of a number by a node depends only on whether it is 0; as the condition of a branch it has no use by a node. */
function isTruth({ insts, nodeOf, switched }: Numbering, value: Value, node: Node): boolean {
  if (switched.has(value)) return false;
  const user = insts[node];
  if (!user) return false;
  if (user.op === 'i32.eqz') return true;
  if (user.op === 'select') return user.args[2] === value && user.args[0] !== value && user.args[1] !== value;
  return (user.op === 'i32.ne' || user.op === 'i32.eq') && user.args.some((arg) => insts[nodeOf[arg]!]?.bits === 0n);
}

function addBits(numbering: Numbering, root: Node, { result }: Inst, byRoot: Map<Node, Reduction>, absorbed: Uint8Array): void {
  const { insts, nodeOf } = numbering;
  const tree = termsOf(numbering, result!, 'i32.or');
  if (!tree) return;
  const vectors: LaneBits[] = [];
  const others: Value[] = [];
  let bitmask: string | undefined;
  for (const term of tree.terms) {
    const inst = insts[nodeOf[term]!];
    const amount = inst?.op === 'i32.shl' ? insts[nodeOf[inst.args[1]!]!]?.bits : 0n;
    const bits = inst?.op === 'i32.shl' ? insts[nodeOf[inst.args[0]!]!] : inst;
    bitmask ??= bits?.op.endsWith('.bitmask') ? bits.op : undefined;
    if (amount === undefined || bitmask === undefined || bits?.op !== bitmask) {
      others.push(term);
      continue;
    }
    vectors.push({ vector: bits.args[0]!, shift: Number(amount & 31n), number: term });
    for (const value of [term, bits.result!]) absorbed[nodeOf[value]!] = 1;
  }
  if (bitmask === undefined || vectors.length < 2) return;
  for (const node of tree.nodes) absorbed[node] = 1;
  vectors.sort((a, b) => a.shift - b.shift);
  byRoot.set(root, { root, kind: 'bits', bitmask, vectors, others });
}
