/**
 * Removes checks of addresses that cannot fail. The code of a kernel checks of each access that the high half of its address, of 64 bits, is 0, and that
 * the address is aligned, and traps if not.
 *
 * If an access at an address has been done, that is below `maxMemoryBytes` of native code: then the address that is some bytes higher has no high half,
 * either; and one that is lower by the constant offset of the access at most. What differs by a multiple from an aligned address is aligned. An
 * unrolled loop has one check for each array then instead of one for each access, and packing sees its blocks as one.
 */
import { maxMemoryBytes } from '../context.ts';
import { removeDead } from '../ssa/dead.ts';
import { dominatorsOf, orderBlocks, predecessors } from '../ssa/flow.ts';
import { effectOf } from '../ssa/signature.ts';
import { tidyFlow } from '../ssa/tidy.ts';
import type { Block, Inst, SsaFunction, Value } from '../ssa/types.ts';
import { type Definition, newSums, type Sums, type WideSum } from './sums.ts';

/**
 * An address that is so many bytes above one in memory has less than 33 bits: no memory of native code has the last bytes of 4 GiB, which are more than
 * these (`maxMemoryBytes`).
 */
export const maxDistance = 2 ** 32 - maxMemoryBytes;

/** What is known of an address of 64 bits: its high half is 0. */
interface Fact {
  readonly wide: WideSum;
  /** The constant of its sum modulo 2^32. */
  readonly low: number;
  /** If an access at it has been done, so that it is in memory, the constant offset of that: the address is not below. */
  readonly offset: number | undefined;
}

/** What is known of an address modulo a power of two: the sum with a constant has none of the bits of the mask. */
interface Alignment {
  readonly constant: number;
  readonly mask: number;
}

interface Walk {
  readonly fn: SsaFunction;
  readonly definition: Definition;
  readonly sums: Sums;
  /** The blocks before each one from which it can be reached. */
  readonly before: readonly (readonly number[])[];
  /** Facts by the key of the sum modulo 2^32, the latest last. */
  readonly facts: Map<string, Fact[]>;
  /** The same for alignments. */
  readonly alignments: Map<string, Alignment[]>;
  isChanged: boolean;
}

/** Removes checks that cannot fail, and says whether there were any. The function is as well formed as before. */
export function removeChecks(fn: SsaFunction): boolean {
  const definitions: (Inst | undefined)[] = [];
  for (const { insts } of fn.blocks) for (const inst of insts) if (inst.result !== undefined) definitions[inst.result] = inst;
  const definition: Definition = (value) => definitions[value];
  const before = predecessors(fn.blocks);
  const walk: Walk = {
    fn,
    definition,
    sums: newSums(definition),
    before: before.map((blocks) => blocks.filter((block) => !alwaysTraps(fn.blocks[block]!, definition))),
    facts: new Map(),
    alignments: new Map(),
    isChanged: false,
  };
  const children: number[][] = fn.blocks.map(() => []);
  dominatorsOf(fn.blocks, undefined, before).immediate.forEach((above, block) => {
    if (block !== 0 && above >= 0) children[above]!.push(block);
  });
  const pending: (number | readonly unknown[][])[] = [0];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (typeof item !== 'number') for (const list of item) list.pop();
    else pending.push(visit(walk, item), ...children[item]!);
  }
  if (!walk.isChanged) return false;
  tidyFlow(fn);
  removeDead(fn);
  orderBlocks(fn);
  return true;
}

/** Whether an atomic access at a constant address that is not aligned, which is how kernels report such an address, leaves a block before its end. */
const alwaysTraps = ({ insts }: Block, definition: Definition): boolean =>
  insts.some(({ op, args, offset = 0 }) => {
    const bits = op === 'i32.atomic.load' ? definition(args[0]!)?.bits : undefined;
    return bits !== undefined && (Number(bits) + offset) % 4 !== 0;
  });

/** Visits a block. The lists with a fact more, which holds in the blocks that it dominates. */
function visit(walk: Walk, number: number): unknown[][] {
  const { fn, before, sums } = walk;
  const block = fn.blocks[number]!;
  const added: unknown[][] = [];
  const add = <T>(lists: Map<string, T[]>, key: string, fact: T): void => {
    const list = lists.get(key) ?? [];
    if (list.length === 0) lists.set(key, list);
    list.push(fact);
    added.push(list);
  };
  const [above, ...others] = before[number]!;
  const passed = above === undefined || others.length > 0 ? undefined : passedCheck(walk, fn.blocks[above]!, number);
  for (const address of passed?.addresses ?? []) {
    const { key, constant } = sums.low(address);
    add(walk.facts, key, { wide: sums.wide(address), low: constant, offset: undefined });
  }
  if (passed?.aligned !== undefined) {
    const { key, constant } = sums.low(passed.aligned);
    add(walk.alignments, key, { constant, mask: passed.mask });
  }
  for (const { op, args, offset = 0 } of block.insts) {
    if (!isAccess(op) || walk.facts.size === 0) continue;
    const { key, constant } = sums.low(args[0]!);
    const place = (constant + offset) % 2 ** 32;
    const here = walk.facts.get(key)?.filter(({ low }) => low === place) ?? [];
    if (!here.some((fact) => fact.offset !== undefined && fact.offset >= offset))
      for (const fact of here) add(walk.facts, key, { ...fact, offset });
  }
  removeCheck(walk, block);
  return added;
}

const accesses = new Map<string, boolean>();

function isAccess(op: string): boolean {
  let known = accesses.get(op);
  if (known === undefined) {
    known = /\.(load|store|atomic\.)/.test(op) && /^(load|store)$/.test(effectOf(op));
    accesses.set(op, known);
  }
  return known;
}

/** A condition that is 0 if and only if the high halves of some addresses are, or the bits of a mask of one. */
interface Check {
  readonly addresses: readonly Value[];
  readonly aligned?: Value;
  readonly mask: number;
}

/** The check that has been passed if an edge from one block to another has been taken. */
const passedCheck = (walk: Walk, { end }: Block, to: number): Check | undefined =>
  end.op === 'branch' && end.else.block === to && end.then.block !== to ? checkOf(walk.definition, end.cond) : undefined;

function checkOf(definition: Definition, cond: Value): Check | undefined {
  const inst = definition(cond);
  if (inst?.op === 'i32.and') {
    const mask = definition(inst.args[1]!)?.bits;
    return mask !== undefined && (mask & (mask + 1n)) === 0n ? { addresses: [], aligned: inst.args[0]!, mask: Number(mask) } : undefined;
  }
  const shift = inst?.op === 'i32.wrap_i64' ? definition(inst.args[0]!) : undefined;
  if (shift?.op !== 'i64.shr_u' || definition(shift.args[1]!)?.bits !== 32n) return undefined;
  const either = definition(shift.args[0]!);
  return { addresses: either?.op === 'i64.or' ? either.args : [shift.args[0]!], mask: 0 };
}

/** Makes a jump of a check that cannot fail. */
function removeCheck(walk: Walk, block: Block): void {
  const { end } = block;
  const check = end.op === 'branch' ? checkOf(walk.definition, end.cond) : undefined;
  if (end.op !== 'branch' || check === undefined) return;
  const { addresses, aligned } = check;
  if (aligned === undefined ? !addresses.every((address) => isBelow(walk, address)) : !isAligned(walk, aligned, check.mask)) return;
  block.end = { op: 'jump', to: end.else };
  walk.isChanged = true;
}

/** Whether an address differs from one that is aligned by a multiple. */
function isAligned({ sums, alignments }: Walk, address: Value, mask: number): boolean {
  const { key, constant } = sums.low(address);
  const known = alignments.get(key);
  return known?.some((one) => one.mask >= mask && ((constant - one.constant) & mask) === 0) ?? false;
}

/** Whether an address is known to have no high half. */
function isBelow({ sums, facts }: Walk, address: Value): boolean {
  const known = facts.get(sums.low(address).key);
  if (!known) return false;
  const wide = sums.wide(address);
  return known.some((fact) => isSame(fact.wide, wide) || (fact.offset !== undefined && isNear(fact.wide, fact.offset, wide)));
}

const isSame = (a: WideSum, b: WideSum): boolean =>
  a.key === b.key && a.constant === b.constant && a.inner.every((inner, i) => inner === b.inner[i]);

/**
 * Whether a sum is that of an address in memory, which is not below `offset`, and less than `maxDistance` bytes, or at most `offset` bytes less. A constant inside an unsigned number that grows by that much does not
 * wrap around, as long as the number itself is not above the address: it is one of several that are not negative, or the constant beside them is
 * negative and counts, too.
 */
function isNear(known: WideSum, offset: number, wide: WideSum): boolean {
  if (known.key !== wide.key) return false;
  const outer = wide.constant - known.constant;
  if (outer < -offset) return false;
  let inner = 0;
  for (let i = 0; i < wide.inner.length; i++) inner += (wide.inner[i]! - known.inner[i]!) >>> 0;
  if (inner + Number(outer) >= maxDistance) return false;
  const below = known.constant < 0n ? Number(-known.constant) : 0;
  return inner === 0 || (wide.isUnsigned && inner + below < maxDistance);
}
