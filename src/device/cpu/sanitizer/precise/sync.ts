/** What is wrong where threads wait for each other: barriers that part of them is at, masks that do not name who comes. */

import { gone, waiting } from '../../../../engine/codegen/kernel-code.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { continuation, syncPointsOf } from '../../../../engine/codegen/split-at-sync-points.ts';
import type { Site } from '../../observe/sites.ts';
import { type AboutLaunch, describeOther, type Findings, type Who } from './findings.ts';

export interface SyncMemory {
  /** By thread: what it does next. */
  readonly states: Int32Array;
  /** By thread: the mask that it named, and the site that did; 0 where none has. */
  readonly members: Int32Array;
}

export interface SyncWatch {
  /** Every thread of the block waits or is gone. */
  released(threads: number): void;
  /** The lanes of a mask, of the warp from `base` to `last`, have come to a meeting. */
  meet(base: number, last: number, mask: number): void;
}

interface Around {
  readonly plan: Plan;
  readonly memory: SyncMemory;
  readonly findings: Findings;
  readonly about: AboutLaunch;
  who(thread: number): Who;
  /** Of a site by number, from 1 on. */
  site(number: number): Site | undefined;
  /** Of an instruction that no access is. */
  siteOf(value: number): Site | undefined;
}

/** Watches one launch. */
export function watchSync(around: Around): SyncWatch {
  const barriers = barriersOf(around.plan);
  return {
    released(threads) {
      const { states } = around.memory;
      let [first, isOne] = [gone, true];
      for (let thread = 0; thread < threads && isOne; thread++) {
        const state = states[thread]!;
        if (first === gone) first = state;
        isOne = state === gone || state === first;
      }
      if (isOne) return;
      const parted = partedThreads(states);
      if (parted) reportParted(around, barriers, states, parted);
    },
    meet: (base, last, mask) => checkMembers(around, base, last, mask),
  };
}

/** By number of the region behind it: the barrier. */
function barriersOf({ kernel, regions }: Plan): Map<number, number> {
  const found = new Map<number, number>();
  for (const block of kernel.blocks) {
    const [stop] = syncPointsOf(kernel, block);
    if (stop === undefined || kernel.insts[stop]!.op !== 'barrier') continue;
    found.set(regions.byEntry.get(continuation(block).id)!.id, stop);
  }
  return found;
}

interface Parted {
  readonly here: number;
  readonly there: number;
  readonly isInWarp: boolean;
}

/** Two threads that wait at different barriers, of one warp where there are such. */
function partedThreads(states: Int32Array): Parted | undefined {
  const waits = (thread: number): boolean => states[thread] !== gone;
  const lanes = Array.from(states.keys()).filter(waits);
  const differs = (a: number, b: number): boolean => states[a] !== states[b];
  for (const [i, there] of lanes.entries()) {
    const here = lanes[i - 1];
    if (here !== undefined && here >> 5 === there >> 5 && differs(here, there)) return { here, there, isInWarp: true };
  }
  const there = lanes.find((thread) => differs(thread, lanes[0]!));
  return there === undefined ? undefined : { here: lanes[0]!, there, isInWarp: false };
}

function reportParted(around: Around, barriers: ReadonlyMap<number, number>, states: Int32Array, { here, there, isInWarp }: Parted): void {
  const siteAt = (thread: number): Site | undefined => around.siteOf(barriers.get(states[thread]! & ~waiting)!);
  const [first, second] = [siteAt(here), siteAt(there)];
  const count = (thread: number): number => states.filter((state) => state === states[thread]).length;
  const say = (thread: number): string => `${count(thread)} at one, ${describeOther(thread, around.about.blockShape)} among them`;
  around.findings.add(`parted ${isInWarp} ${first?.value} ${second?.value}`, () => ({
    code: isInWarp ? 'CM6130' : 'CM6131',
    holes: { here: say(here), there: say(there) },
    site: first,
    who: around.who(here),
    other: { site: second, text: `${describeOther(there, around.about.blockShape)} waits here` },
  }));
}

// ── masks ──

const mask32 = (mask: number): string => `0x${(mask >>> 0).toString(16).padStart(8, '0')}`;

function checkMembers(around: Around, base: number, last: number, taking: number): void {
  const members = around.memory.members;
  const states = around.plan.regions.schedule === 'warp' ? around.memory.states : undefined;
  const isThere = (lane: number): boolean => ((taking >>> lane) & 1) === 1;
  /** Threads that are not in the block have left it as those have that returned. */
  const hasLeft = (lane: number): boolean => base + lane >= last || (states !== undefined && states[base + lane] === gone);
  const maskOf = (lane: number): number => members[2 * (base + lane)]!;
  const siteNumber = (lane: number): number => members[2 * (base + lane) + 1]!;
  for (let lane = 0; lane < last - base; lane++) {
    if (!isThere(lane) || siteNumber(lane) === 0) continue;
    checkMask(around, { lane, base, taking, hasLeft, maskOf, siteNumber });
  }
  // What a warp does next without a mask of its own is of the same instruction.
  for (let lane = 0; lane < last - base; lane++) if (isThere(lane)) members[2 * (base + lane) + 1] = 0;
}

interface Lane {
  readonly lane: number;
  readonly base: number;
  readonly taking: number;
  hasLeft(lane: number): boolean;
  maskOf(lane: number): number;
  siteNumber(lane: number): number;
}

function checkMask(around: Around, { lane, base, taking, hasLeft, maskOf, siteNumber }: Lane): void {
  const mask = maskOf(lane);
  const number = siteNumber(lane);
  const site = around.site(number);
  const common = { site, who: around.who(base + lane) };
  const what = wordsOf(site, around.about);
  const names = (other: number): boolean => ((mask >>> other) & 1) === 1;
  const add = (code: 'CM6132' | 'CM6133' | 'CM6134', holes: Record<string, string | number>): void =>
    around.findings.add(`${code} ${number}`, () => ({ code, holes: { what, mask: mask32(mask), ...holes }, ...common }));
  if (!names(lane)) return add('CM6132', {});
  const lanes = Array.from({ length: 32 }, (_, i) => i).filter(names);
  const missing = lanes.filter((other) => ((taking >>> other) & 1) === 0 && !hasLeft(other));
  if (missing.length > 0) return add('CM6133', { lanes: describeLanes(missing) });
  const other = lanes.find((each) => ((taking >>> each) & 1) === 1 && siteNumber(each) !== 0 && maskOf(each) !== mask);
  if (other !== undefined) add('CM6134', { lane: other, other: mask32(maskOf(other)) });
}

const describeLanes = (lanes: readonly number[]): string =>
  lanes.length === 1 ? `lane ${lanes[0]}` : `lanes ${lanes.slice(0, -1).join(', ')} and ${lanes.at(-1)}`;

/** The words of the instruction, as the source has them. */
function wordsOf(site: Site | undefined, { source }: AboutLaunch): string {
  const line = site?.line;
  const text = line && source ? source.line(line.line).slice(Math.max(0, line.column - 1)) : '';
  return /^(?:@!?\S+\s+)?([\w.]+)/.exec(text)?.[1] ?? 'an instruction of the warp';
}
