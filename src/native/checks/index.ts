/**
 * Removes checks of addresses that cannot fail. The code of a kernel checks of each access that the high half of its address, of 64 bits, is 0, and traps if
 * it is not. If an access at an address has been done, that is below `maxMemoryBytes` of native code: then the address that is some bytes
 * higher has no high half, either; and one that is lower by the constant offset of the access at most. An unrolled loop has one check for each array then instead of one for each access, and packing sees its blocks as one.
 */
import { removeDead } from '../ssa/dead.ts';
import { dominatorsOf, orderBlocks, predecessors } from '../ssa/flow.ts';
import { effectOf } from '../ssa/signature.ts';
import { tidyFlow } from '../ssa/tidy.ts';
import type { Block, Inst, SsaFunction, Value } from '../ssa/types.ts';
import { type Definition, newSums, type Sums, type WideSum } from './sums.ts';

/**
 * An address that is so many bytes above one in memory has less than 33 bits: no memory of native code has the last bytes of 4 GiB, which are more than
 * these (`maxMemoryBytes` of the selection).
 */
export const maxDistance = 2 ** 24;

/** What is known of an address of 64 bits: its high half is 0. */
interface Fact {
  readonly wide: WideSum;
  /** The constant of its sum modulo 2^32. */
  readonly low: number;
  /** If an access at it has been done, so that it is in memory, the constant offset of that: the address is not below. */
  readonly offset: number | undefined;
}

interface Walk {
  readonly fn: SsaFunction;
  readonly definition: Definition;
  readonly sums: Sums;
  readonly before: readonly (readonly number[])[];
  /** Facts by the key of the sum modulo 2^32, the latest last. */
  readonly facts: Map<string, Fact[]>;
  isChanged: boolean;
}

/** Removes checks that cannot fail, and says whether there were any. The function is as well formed as before. */
export function removeChecks(fn: SsaFunction): boolean {
  const definitions: (Inst | undefined)[] = [];
  for (const { insts } of fn.blocks) for (const inst of insts) if (inst.result !== undefined) definitions[inst.result] = inst;
  const definition: Definition = (value) => definitions[value];
  const before = predecessors(fn.blocks);
  const walk: Walk = { fn, definition, sums: newSums(definition), before, facts: new Map(), isChanged: false };
  const children: number[][] = fn.blocks.map(() => []);
  dominatorsOf(fn.blocks, undefined, before).immediate.forEach((above, block) => {
    if (block !== 0 && above >= 0) children[above]!.push(block);
  });
  const pending: (number | readonly string[])[] = [0];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (typeof item !== 'number') for (const key of item) walk.facts.get(key)!.pop();
    else pending.push(visit(walk, item), ...children[item]!);
  }
  if (!walk.isChanged) return false;
  tidyFlow(fn);
  removeDead(fn);
  orderBlocks(fn);
  return true;
}

/** Visits a block. The keys of the facts that it adds, which hold in the blocks that it dominates. */
function visit(walk: Walk, number: number): string[] {
  const { fn, before, sums } = walk;
  const block = fn.blocks[number]!;
  const added: string[] = [];
  const add = (key: string, fact: Fact): void => {
    const facts = walk.facts.get(key);
    if (facts) facts.push(fact);
    else walk.facts.set(key, [fact]);
    added.push(key);
  };
  const [above, ...others] = before[number]!;
  if (above !== undefined && others.length === 0) {
    for (const address of passedChecks(walk, fn.blocks[above]!, number)) {
      const { key, constant } = sums.low(address);
      add(key, { wide: sums.wide(address), low: constant, offset: undefined });
    }
  }
  for (const { op, args, offset = 0 } of block.insts) {
    if (!isAccess(op) || walk.facts.size === 0) continue;
    const { key, constant } = sums.low(args[0]!);
    const place = (constant + offset) % 2 ** 32;
    const here = walk.facts.get(key)?.filter(({ low }) => low === place) ?? [];
    if (!here.some((fact) => fact.offset !== undefined && fact.offset >= offset)) for (const fact of here) add(key, { ...fact, offset });
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

/** The addresses whose high halves are 0 where an edge from one block to another has been taken. */
function passedChecks(walk: Walk, { end }: Block, to: number): readonly Value[] {
  if (end.op !== 'branch' || end.else.block !== to || end.then.block === to) return [];
  return checkedBy(walk.definition, end.cond);
}

/** The addresses whose high halves are 0 if and only if a condition is; none for a condition of another kind. */
function checkedBy(definition: Definition, cond: Value): readonly Value[] {
  const wrap = definition(cond);
  const shift = wrap?.op === 'i32.wrap_i64' ? definition(wrap.args[0]!) : undefined;
  if (shift?.op !== 'i64.shr_u' || definition(shift.args[1]!)?.bits !== 32n) return [];
  const either = definition(shift.args[0]!);
  return either?.op === 'i64.or' ? either.args : [shift.args[0]!];
}

/** Makes a jump of a check that cannot fail. */
function removeCheck(walk: Walk, block: Block): void {
  const { end } = block;
  if (end.op !== 'branch') return;
  const addresses = checkedBy(walk.definition, end.cond);
  if (addresses.length === 0 || !addresses.every((address) => isBelow(walk, address))) return;
  block.end = { op: 'jump', to: end.else };
  walk.isChanged = true;
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
