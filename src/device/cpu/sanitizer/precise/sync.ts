/** Checks of synchronization: barriers that only some threads of a block reach, and masks that do not name the lanes that take part. */

import { atBarrier, exited } from '../../../../engine/codegen/kernel-code.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { continuation, syncPointsOf } from '../../../../engine/codegen/split-at-sync-points.ts';
import type { Site } from '../../observe/sites.ts';
import { type AboutLaunch, describeOther, type FaultyThread, type Findings } from './findings.ts';

export interface SyncMemory {
  /** By thread: the region that it executes next. */
  readonly states: Int32Array;
  /** By thread: the mask that it named, and the number of the site; 0 if none. */
  readonly members: Int32Array;
}

export interface SyncCheck {
  /** Checks the barriers at which threads wait, when every thread of the block waits or has returned. */
  released(threads: number): void;
  /** Checks the masks of the lanes that take part in a warp collective, in the warp of the threads from `base` to `last`. */
  meet(base: number, last: number, mask: number): void;
}

interface SyncInputs {
  readonly plan: Plan;
  readonly memory: SyncMemory;
  readonly findings: Findings;
  readonly about: AboutLaunch;
  threadOf(thread: number): FaultyThread;
  /** The site of a number, from 1 on. */
  site(number: number): Site | undefined;
  /** The site of an instruction. */
  siteOf(value: number): Site | undefined;
}

/** The checks of one launch. */
export function newSyncCheck(inputs: SyncInputs): SyncCheck {
  const barriers = barriersOf(inputs.plan);
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
    meet: (base, last, mask) => checkMembers(inputs, base, last, mask),
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

function checkMembers(inputs: SyncInputs, base: number, last: number, participants: number): void {
  const members = inputs.memory.members;
  const states = inputs.plan.regions.schedule === 'warp' ? inputs.memory.states : undefined;
  const takesPart = (lane: number): boolean => ((participants >>> lane) & 1) === 1;
  /** Lanes behind the last thread of the block count as returned. */
  const hasLeft = (lane: number): boolean => base + lane >= last || (states !== undefined && states[base + lane] === exited);
  const maskOf = (lane: number): number => members[2 * (base + lane)]!;
  const siteNumber = (lane: number): number => members[2 * (base + lane) + 1]!;
  for (let lane = 0; lane < last - base; lane++) {
    if (!takesPart(lane) || siteNumber(lane) === 0) continue;
    checkMask(inputs, { lane, base, participants, hasLeft, maskOf, siteNumber });
  }
  // The next collective of the warp without a mask belongs to the same instruction.
  for (let lane = 0; lane < last - base; lane++) if (takesPart(lane)) members[2 * (base + lane) + 1] = 0;
}

interface Lane {
  readonly lane: number;
  readonly base: number;
  readonly participants: number;
  hasLeft(lane: number): boolean;
  maskOf(lane: number): number;
  siteNumber(lane: number): number;
}

function checkMask(inputs: SyncInputs, { lane, base, participants, hasLeft, maskOf, siteNumber }: Lane): void {
  const mask = maskOf(lane);
  const number = siteNumber(lane);
  const site = inputs.site(number);
  const common = { site, by: inputs.threadOf(base + lane) };
  const what = opcodeOf(site, inputs.about);
  const names = (other: number): boolean => ((mask >>> other) & 1) === 1;
  const add = (code: 'CM6132' | 'CM6133' | 'CM6134', holes: Record<string, string | number>): void =>
    inputs.findings.add(`${code} ${number}`, () => ({ code, holes: { what, mask: mask32(mask), ...holes }, ...common }));
  if (!names(lane)) return add('CM6132', {});
  const lanes = Array.from({ length: 32 }, (_, i) => i).filter(names);
  const missing = lanes.filter((other) => ((participants >>> other) & 1) === 0 && !hasLeft(other));
  if (missing.length > 0) return add('CM6133', { lanes: describeLanes(missing) });
  const other = lanes.find((each) => ((participants >>> each) & 1) === 1 && siteNumber(each) !== 0 && maskOf(each) !== mask);
  if (other !== undefined) add('CM6134', { lane: other, other: mask32(maskOf(other)) });
}

const describeLanes = (lanes: readonly number[]): string =>
  lanes.length === 1 ? `lane ${lanes[0]}` : `lanes ${lanes.slice(0, -1).join(', ')} and ${lanes.at(-1)}`;

/** The opcode of the instruction, as the source spells it. */
function opcodeOf(site: Site | undefined, { source }: AboutLaunch): string {
  const line = site?.line;
  const text = line && source ? source.line(line.line).slice(Math.max(0, line.column - 1)) : '';
  return /^(?:@!?\S+\s+)?([\w.]+)/.exec(text)?.[1] ?? 'an instruction of the warp';
}
