/**
 * Superword-level packing: groups of isomorphic instructions on vectors of 128 bits become instructions on vectors of 256 or 512 bits. The engine writes
 * each operation of a lane group for one vector after the other, so that most instructions have such a group.
 *
 * The steps: `gathers.ts` makes one instruction of loads of single lanes, `discover.ts` grows groups from accesses at consecutive addresses, `schedule.ts` dissolves those that would change an order that matters,
 * `profit.ts` those that do not win, and `rewrite.ts` writes the rest.
 * Source: Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000; LLVM's SLPVectorizer.
 */
import type { SsaFunction } from '../ssa/types.ts';
import { discover } from './discover.ts';
import { formGathers } from './gathers.ts';
import { numberNodes } from './numbering.ts';
import { livePacks, type Packs } from './packs.ts';
import { keepProfitable } from './profit.ts';
import { rewrite } from './rewrite.ts';
import { scheduleAll } from './schedule.ts';
import { separateLoads } from './separate.ts';

/** Packs a function into vectors of up to `widest` bytes, with gathers where these are wanted. It computes the same as before, but for the contents of memory after a trap. */
export function pack(fn: SsaFunction, widest: 32 | 64, hasGathers = false): void {
  if (hasGathers) formGathers(fn);
  if (widest === 64) packGroups(fn, 4);
  packGroups(fn, 2);
}

function packGroups(fn: SsaFunction, width: 2 | 4): void {
  const packs = groupsOf(fn, width);
  if (packs.list.length === 0) return;
  const schedules = scheduleAll(packs);
  keepProfitable(packs);
  if (livePacks(packs).length > 0) rewrite(packs, scheduleAll(packs, schedules).blocks);
}

function groupsOf(fn: SsaFunction, width: 2 | 4): Packs {
  const found = discover(numberNodes(fn), width);
  if (found.overlaps.length === 0) return found.packs;
  separateLoads(found);
  return discover(numberNodes(fn), width).packs;
}
