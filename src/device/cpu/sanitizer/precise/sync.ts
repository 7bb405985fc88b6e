/** Checks of synchronization: barriers that only some threads of a block reach, and masks of threads that never come. */

import { atBarrier, atRendezvous, exited } from '../../../../engine/codegen/kernel-code.ts';
import { exchangeFields, type Plan } from '../../../../engine/codegen/plan.ts';
import type { Rendezvous } from '../../../../engine/codegen/regions.ts';
import { continuation, syncPointsOf } from '../../../../engine/codegen/split-at-sync-points.ts';
import { cfgOf, postDominatorsOf } from '../../../../ir/index.ts';
import type { Site } from '../../observe/sites.ts';
import { type AboutLaunch, describeOther, type FaultyThread, type Findings } from './findings.ts';

export interface SyncMemory {
  /** By thread: the region that it executes next. */
  readonly states: Int32Array;
  /** By thread: the block in which it has exited. */
  readonly exits: Int32Array;
  /** The records of the threads, as words. */
  readonly records: Int32Array;
}

export interface SyncCheck {
  /** Checks the barriers at which threads wait, when every thread of the block waits or has returned. */
  released(threads: number): void;
  /** Reports threads that have exited without a collective, although the mask of those that meet there names them. */
  left(rendezvous: { readonly base: number; readonly last: number; readonly mask: number; readonly members: number }): void;
  /** Reports the threads that wait for others of their masks, and lets those go on that have arrived. */
  stuck(threads: number, isReported: boolean): void;
}

interface SyncInputs {
  readonly plan: Plan;
  readonly memory: SyncMemory;
  readonly findings: Findings;
  readonly about: AboutLaunch;
  threadOf(thread: number): FaultyThread;
  /** The site of an instruction. */
  siteOf(value: number): Site | undefined;
}

/** The checks of one launch. */
export function newSyncCheck(inputs: SyncInputs): SyncCheck {
  const barriers = barriersOf(inputs.plan);
  const bypasses = newBypasses(inputs.plan);
  return {
    released(threads) {
      const { states } = inputs.memory;
      let [first, isOne] = [exited, true];
      for (let thread = 0; thread < threads && isOne; thread++) {
        const state = states[thread]!;
        if (first === exited) first = state;
        isOne = state === exited || state === first;
      }
      if (isOne) return;
      const diverged = divergedThreads(states);
      if (diverged) reportDivergence(inputs, barriers, states, diverged);
    },
    left: (rendezvous) => reportLeft(inputs, rendezvous, bypasses),
    stuck: (threads, isReported) => releaseStuck(inputs, threads, isReported),
  };
}

/** Barriers by the number of the region behind them. */
function barriersOf({ kernel, regions }: Plan): Map<number, number> {
  const found = new Map<number, number>();
  for (const block of kernel.blocks) {
    const [stop] = syncPointsOf(kernel, block);
    if (stop === undefined || kernel.insts[stop]!.op !== 'barrier') continue;
    found.set(regions.byEntry.get(continuation(block).id)!.id, stop);
  }
  return found;
}

interface Diverged {
  readonly here: number;
  readonly there: number;
  readonly isInWarp: boolean;
}

/** Two threads that wait at different barriers, preferably of one warp. */
function divergedThreads(states: Int32Array): Diverged | undefined {
  const waits = (thread: number): boolean => states[thread] !== exited;
  const lanes = Array.from(states.keys()).filter(waits);
  const differs = (a: number, b: number): boolean => states[a] !== states[b];
  for (const [i, there] of lanes.entries()) {
    const here = lanes[i - 1];
    if (here !== undefined && here >> 5 === there >> 5 && differs(here, there)) return { here, there, isInWarp: true };
  }
  const there = lanes.find((thread) => differs(thread, lanes[0]!));
  return there === undefined ? undefined : { here: lanes[0]!, there, isInWarp: false };
}

function reportDivergence(
  inputs: SyncInputs,
  barriers: ReadonlyMap<number, number>,
  states: Int32Array,
  { here, there, isInWarp }: Diverged,
): void {
  const siteAt = (thread: number): Site | undefined => inputs.siteOf(barriers.get(states[thread]! & ~atBarrier)!);
  const [first, second] = [siteAt(here), siteAt(there)];
  const count = (thread: number): number => states.filter((state) => state === states[thread]).length;
  const describe = (thread: number): string => `${count(thread)} at one, ${describeOther(thread, inputs.about.blockShape)} among them`;
  inputs.findings.add(`diverged ${isInWarp} ${first?.value} ${second?.value}`, () => ({
    code: isInWarp ? 'CM6130' : 'CM6131',
    holes: { here: describe(here), there: describe(there) },
    site: first,
    by: inputs.threadOf(here),
    other: { site: second, text: `${describeOther(there, inputs.about.blockShape)} waits here` },
  }));
}

// ── masks ──

const mask32 = (mask: number): string => `0x${(mask >>> 0).toString(16).padStart(8, '0')}`;

/** A thread that waits for the threads of its mask. */
interface Waiting {
  readonly thread: number;
  readonly members: number;
  readonly kind: number;
  readonly rendezvous: Rendezvous;
}

/** By thread: what it waits for; undefined for the others. */
function waitingThreads({ plan, memory: { states, records } }: SyncInputs, threads: number): (Waiting | undefined)[] {
  const byId = new Map(plan.regions.rendezvous.map((rendezvous) => [rendezvous.id, rendezvous]));
  return Array.from({ length: threads }, (_, thread) => {
    const state = states[thread]!;
    const rendezvous =
      state >= 0 && (state & atRendezvous) !== 0 && (state & atBarrier) === 0 ? byId.get(state & ~atRendezvous) : undefined;
    const field = (name: 'members' | 'kind'): number => records[fieldIndex(plan, thread, name)]!;
    return rendezvous && { thread, members: field('members'), kind: field('kind'), rendezvous };
  });
}

const fieldIndex = ({ recordBytes, exchange }: Plan, thread: number, name: 'members' | 'kind' | 'next'): number =>
  (recordBytes * thread + exchange! + exchangeFields[name]) / 4;

/** Reports threads that wait for others, and gives each of them the mask of those that wait with it. */
function releaseStuck(inputs: SyncInputs, threads: number, isReported: boolean): void {
  const { plan, memory } = inputs;
  const waiting = waitingThreads(inputs, threads);
  const isWith = (a: Waiting, b: Waiting | undefined): boolean => b !== undefined && a.members === b.members && a.kind === b.kind;
  for (const each of waiting) if (each && isReported) reportMask(inputs, each, waiting);
  for (const each of waiting) {
    if (!each) continue;
    const base = each.thread & ~31;
    const together = waiting.slice(base, base + 32).reduce((mask, other, lane) => (isWith(each, other) ? mask | (1 << lane) : mask), 0);
    memory.records[fieldIndex(plan, each.thread, 'members')] = together;
  }
}

function reportMask(inputs: SyncInputs, own: Waiting, waiting: readonly (Waiting | undefined)[]): void {
  const { states } = inputs.memory;
  const { thread, members, rendezvous } = own;
  const base = thread & ~31;
  const names = (other: number): boolean => ((members >>> other) & 1) === 1;
  if (!names(thread & 31)) return addMask(inputs, own, 'CM6132', {});
  const hasLeft = (lane: number): boolean => base + lane >= waiting.length || states[base + lane] === exited;
  const isHere = (lane: number): boolean => waiting[base + lane]?.members === members && waiting[base + lane]?.rendezvous === rendezvous;
  const late = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => names(lane) && !hasLeft(lane) && !isHere(lane));
  const other = late.find((lane) => waiting[base + lane]?.rendezvous === rendezvous);
  if (other !== undefined) addMask(inputs, own, 'CM6134', { lane: other, other: mask32(waiting[base + other]!.members) });
  else if (late.length > 0) addMask(inputs, own, 'CM6133', { lanes: describeLanes(late) });
}

function addMask(
  inputs: SyncInputs,
  { thread, members, rendezvous }: Waiting,
  code: 'CM6132' | 'CM6133' | 'CM6134',
  holes: Record<string, string | number>,
): void {
  const site = inputs.siteOf(rendezvous.value);
  const what = opcodeOf(site, inputs.about);
  const place = site?.line ? `${site.line.line}:${site.line.column}` : rendezvous.id;
  inputs.findings.add(`${code} ${place}`, () => ({
    code,
    holes: { what, mask: mask32(members), ...holes },
    site,
    by: inputs.threadOf(thread),
  }));
}

/** Whether a thread that has exited in a block went past a rendezvous: every way on from the rendezvous comes there, and something is done there. */
type Bypasses = (rendezvous: Rendezvous, exit: number) => boolean;

function newBypasses({ kernel }: Plan): Bypasses {
  const post = postDominatorsOf(cfgOf(kernel));
  return ({ block }, exit) => kernel.blocks[exit]!.body.length > 0 && post.dominates(exit, block);
}

/** An early exit is not a fault: only threads that exit where those of the collective will were to execute it. */
function reportLeft(inputs: SyncInputs, { base, last, mask, members }: Parameters<SyncCheck['left']>[0], bypasses: Bypasses): void {
  const { exits, records } = inputs.memory;
  const first = base + 31 - Math.clz32(mask & -mask);
  const own = waitingThreads(inputs, last)[first];
  if (!own) return;
  const late = Array.from({ length: Math.min(32, last - base) }, (_, lane) => lane).filter(
    (lane) => ((members & ~mask) >>> lane) & 1 && bypasses(own.rendezvous, exits[base + lane]!),
  );
  const field = (thread: number, name: 'members' | 'next'): number => records[fieldIndex(inputs.plan, thread, name)]!;
  const wasHere = (lane: number): boolean =>
    field(base + lane, 'next') === field(first, 'next') && field(base + lane, 'members') !== members;
  const other = late.find(wasHere);
  if (other !== undefined) return addMask(inputs, own, 'CM6134', { lane: other, other: mask32(field(base + other, 'members')) });
  if (late.length > 0) addMask(inputs, own, 'CM6133', { lanes: describeLanes(late) });
}

const describeLanes = (lanes: readonly number[]): string =>
  lanes.length === 1 ? `lane ${lanes[0]}` : `lanes ${lanes.slice(0, -1).join(', ')} and ${lanes.at(-1)}`;

/** The opcode of the instruction, as the source spells it. */
function opcodeOf(site: Site | undefined, { source }: AboutLaunch): string {
  const line = site?.line;
  const text = line && source ? source.line(line.line).slice(Math.max(0, line.column - 1)) : '';
  return /^(?:@!?\S+\s+)?([\w.]+)/.exec(text)?.[1] ?? 'an instruction of the warp';
}
