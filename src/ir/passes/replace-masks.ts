/**
 * Replaces collectives by member masks with collectives of the threads that reach them together, where the threads of each mask are among
 * these. A mask then only selects among them.
 */
import { type Convergence, type Convergences, convergencesOf } from '../analysis/convergence.ts';
import { type Builder, builder } from '../build.ts';
import { neutralOf } from '../folds.ts';
import { type Block, constantOf, type Inst, type InstOf, type Kernel, type Value } from '../kernel.ts';
import type { Fold } from '../ops.ts';

export interface MaskOptions {
  /** Whether the lanes of a warp have consecutive `tid.x`. */
  readonly areRowsAligned: boolean;
  /** Whether a `members` with the mask precedes what replaces a collective, for the fast sanitizer. */
  readonly keepsMembers?: boolean;
  /** Of the kernel, where others ask for it as well. */
  readonly convergences?: Convergences;
}

/** A collective by a member mask. */
export type MaskedInst = InstOf<'shufflesync'> | InstOf<'ballotsync'> | InstOf<'reducesync'> | InstOf<'warpsync'>;

/** Whether an instruction is a collective by a member mask. */
export const isMasked = (inst: Inst): inst is MaskedInst =>
  inst.op === 'shufflesync' || inst.op === 'ballotsync' || inst.op === 'reducesync' || inst.op === 'warpsync';

/** Whether a kernel has collectives by masks. */
export const hasMasks = (kernel: Kernel): boolean => kernel.blocks.some(({ body }) => body.some((value) => isMasked(kernel.insts[value]!)));

/** The collectives by masks whose lanes are not known to be together. */
export function divergentMasks(kernel: Kernel, { areTogether }: Convergence): Value[] {
  return kernel.blocks.flatMap(({ id, body }) =>
    body.filter((value) => {
      const inst = kernel.insts[value]!;
      return isMasked(inst) && !areTogether(inst.members, id);
    }),
  );
}

/** Replaces all collectives by masks if the lanes of each are together, in place. Returns whether there were any and they are replaced. */
export function replaceMasks(kernel: Kernel, options: MaskOptions): boolean {
  if (!hasMasks(kernel)) return false;
  const convergence = (options.convergences ?? convergencesOf(kernel))(options.areRowsAligned);
  if (divergentMasks(kernel, convergence).length > 0) return false;
  replaceAllMasks(kernel, convergence.variance, options.keepsMembers);
  return true;
}

/** Replaces all collectives by masks. `variance` is that of values in a warp, which decides the form of a reduction. */
export function replaceAllMasks(kernel: Kernel, variance: Uint8Array, keepsMembers = false): void {
  for (const block of kernel.blocks) replaceIn(kernel, block, variance, keepsMembers);
}

function replaceIn(kernel: Kernel, block: Block, variance: Uint8Array, keepsMembers: boolean): void {
  if (!block.body.some((value) => isMasked(kernel.insts[value]!))) return;
  const b = builder(kernel, { ...block, body: [] });
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    b.loc = kernel.locs[value];
    if (isMasked(inst)) {
      if (keepsMembers) b.members(inst.members);
      const by = replacement(b, inst, (mask) => (variance[mask] ?? 2) < 2);
      if (by === undefined) continue;
      kernel.insts[value] = by;
    }
    b.block.body.push(value);
  }
  block.body = b.block.body;
}

/** The instruction in place of a collective; undefined if nothing is left. */
function replacement(b: Builder, inst: MaskedInst, isUniform: (mask: Value) => boolean): Inst | undefined {
  switch (inst.op) {
    case 'shufflesync':
      return { op: 'shuffle', type: inst.type, a: inst.a, b: inst.b };
    case 'warpsync':
      return inst.isFence ? { op: 'syncwarp', type: 'void' } : undefined;
    case 'ballotsync':
      return { op: 'and', type: 'i32', a: b.ballot('i32', inst.a), b: inst.members };
    case 'reducesync':
      return reduction(b, inst, isUniform);
  }
}

const word = (b: Builder, value: number): Value => b.const('i32', value);

const isFull = (kernel: Kernel, mask: Value): boolean => BigInt.asIntN(32, constantOf(kernel, mask) ?? 0n) === -1n;

/** A reduction of the lanes of each mask: at once where all lanes have one mask, or else by a segmented scan. */
function reduction(b: Builder, { a, members, fold, type }: InstOf<'reducesync'>, isUniform: (mask: Value) => boolean): Inst {
  if (isFull(b.kernel, members)) return { op: 'reduce', type, a, fold };
  if (!isUniform(members)) return segmentedReduction(b, a, members, fold);
  const isMember = b.icmp(b.and(b.lshr(members, b.sreg('i32', { name: 'laneid' })), word(b, 1)), word(b, 0), { pred: 'ne' });
  return { op: 'reduce', type, a: b.select(isMember, a, word(b, neutralOf[fold])), fold };
}

const combine = {
  add: (b: Builder, x: Value, y: Value) => b.add(x, y),
  and: (b: Builder, x: Value, y: Value) => b.and(x, y),
  or: (b: Builder, x: Value, y: Value) => b.or(x, y),
  xor: (b: Builder, x: Value, y: Value) => b.xor(x, y),
  smin: (b: Builder, x: Value, y: Value) => b.smin(x, y),
  smax: (b: Builder, x: Value, y: Value) => b.smax(x, y),
  umin: (b: Builder, x: Value, y: Value) => b.umin(x, y),
  umax: (b: Builder, x: Value, y: Value) => b.umax(x, y),
} as const satisfies Record<Fold, (b: Builder, x: Value, y: Value) => Value>;

/** Steps of pointer doubling over 32 lanes. */
const steps = 5;

/**
 * Each lane adds the sum of the next lower lane of its mask, twice as far at each step; the highest lane of a mask then has the sum of all.
 * Lanes of a mask have the same mask. Source: Hillis and Steele, "Data Parallel Algorithms" (1986), pointer doubling on linked lists.
 */
function segmentedReduction(b: Builder, a: Value, members: Value, fold: Fold): Inst {
  const lane = b.sreg('i32', { name: 'laneid' });
  const live = b.and(members, b.ballot('i32', b.const('i1', 1)));
  const highest = (mask: Value): Value => b.sub(word(b, 31), b.clz(mask));
  let [sum, next] = [a, highest(b.and(live, b.sub(b.shl(word(b, 1), lane), word(b, 1))))];
  for (let step = 0; step < steps; step++) {
    const hasNext = b.icmp(next, word(b, 32), { pred: 'ult' });
    const from = b.select(hasNext, next, lane);
    const [other, further] = [b.shuffle(sum, from), b.shuffle(next, from)];
    sum = b.select(hasNext, combine[fold](b, other, sum), sum);
    next = b.select(hasNext, further, next);
  }
  return { op: 'shuffle', type: 'i32', a: sum, b: highest(live) };
}
