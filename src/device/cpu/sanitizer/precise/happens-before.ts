/**
 * The order of accesses by barriers in memory (mbarrier, barriers for some of the threads) and of asynchronous operations, which the stamps of
 * accesses alone do not show. Each thread has a clock: up to which time the accesses of each other thread are before its own ones. Arrivals add the
 * clock of their thread to the phase of their barrier, and waits take the clocks of the phases that are complete. An asynchronous operation is known
 * by its time: it is complete for a thread that has learned of the phase at which it arrives, or behind a wait for its group.
 *
 * The device performs such operations where they are asked for, so that only clocks say whether another order was possible.
 * Source: PTX ISA 9.0, 8.6, 8.10, 9.7.9.25, 9.7.13.15.
 */
import { barrierState } from '../../../../ir/index.ts';
import type { Site } from '../../observe/sites.ts';
import { fieldOf, maxSites, oneOf, stampFields } from './stamp.ts';
import { threadTimes, threadTimesBytes } from './state.ts';
import { type Group, isHiddenBarrier, type Role } from './sync-roles.ts';

/** What two accesses are to each other; `unfenced` if there is no fence between proxies. */
export type Verdict = 'ordered' | 'race' | 'unfenced';

/** The order of one launch. Threads run one after the other, and the one that runs is that of `thread`. */
export interface Order {
  /** A block starts. */
  began(): void;
  /** Nothing is known any longer. */
  forget(): void;
  /** All threads of the block are at its barrier. */
  crossed(): void;
  /** The lanes of a mask have synchronized, of the warp that starts at a thread. */
  together(base: number, mask: number): void;
  /** An access of a barrier in memory, before it is performed. */
  synced(address: bigint, site: number): void;
  /** A place where a group is closed or waited for, or a fence between proxies. */
  fenced(site: number): void;
  judge(before: bigint, now: bigint): Verdict;
}

export interface OrderInputs {
  readonly memory: WebAssembly.Memory;
  /** Threads of a block, or of a cluster whose blocks run by turns. */
  readonly threads: number;
  /** The threads of the block that runs, by their numbers. */
  readonly block: () => { readonly first: number; readonly count: number };
  /** Whether barriers of a block are known by clocks alone. */
  readonly isClustered: boolean;
  /** The address of the times of the first thread. */
  readonly times: () => number;
  readonly siteOf: (number: number) => Site | undefined;
  readonly roleOf: ((line: NonNullable<Site['line']>) => Role | undefined) | undefined;
  readonly global: (name: string) => WebAssembly.Global;
}

/** Threads share clocks, which are never changed but by the barrier that collects one. */
type Clock = Uint32Array;
/** By barrier: phases that are known to be complete. */
type Phases = ReadonlyMap<Word, number>;

/** A barrier in memory: what is known to those that have arrived in this phase, and in those before. */
interface Word {
  phase: number;
  /** Phases that are complete. */
  count: number;
  arrived: Clock;
  passed: Clock;
  /** The clock that was added last. */
  added: Clock | undefined;
  arrivedPhases: Phases;
  passedPhases: Phases;
}

/** The groups of a thread: the times at which they were closed, and which of them were waited for, when. */
interface Groups {
  readonly closed: number[];
  readonly waits: { readonly upTo: number; readonly at: number }[];
}

const none: Phases = new Map();

function join(into: Clock, from: Clock): void {
  for (let i = 0; i < into.length; i++) if (from[i]! > into[i]!) into[i] = from[i]!;
}

const isWithin = (a: Clock, b: Clock): boolean => a.every((time, i) => time <= b[i]!);

/** The later times of two clocks; one of them, if it has all. Threads that wait together ask for the same. */
function newJoin(): (a: Clock | undefined, b: Clock) => Clock {
  let last: { readonly a: Clock; readonly b: Clock; readonly both: Clock } | undefined;
  return (a, b) => {
    if (a === undefined || a === b) return b;
    if (last?.a === a && last.b === b) return last.both;
    let both = a;
    if (isWithin(a, b)) both = b;
    else if (!isWithin(b, a)) {
      both = a.slice();
      join(both, b);
    }
    last = { a, b, both };
    return both;
  };
}

function joined(a: Phases, b: Phases): Phases {
  if (a === b || b.size === 0) return a;
  if (a.size === 0) return b;
  if ([...b].every(([word, count]) => (a.get(word) ?? 0) >= count)) return a;
  const all = new Map(a);
  for (const [word, count] of b) all.set(word, Math.max(count, all.get(word) ?? 0));
  return all;
}

/** The phases of mbarriers, of barriers for some of the threads, and of those of clusters, by their words (`src/lower/named-barriers.ts` and others). */
const barrierPhase = (bits: bigint): number | undefined => barrierState(bits)?.parity;
const hiddenPhase = (bits: bigint): number => Number((bits >> 16n) & 0xffffn);
const clusterPhase = (bits: bigint): number => Number(bits >> 40n);

const timeOf = (stamp: bigint): number => fieldOf(stamp, 'time');

export function newOrder(inputs: OrderInputs): Order {
  const order = new ClockOrder(inputs);
  return order;
}

class ClockOrder implements Order {
  readonly #in: OrderInputs;
  readonly #clocks: (Clock | undefined)[] = [];
  #phases: Phases[] = [];
  readonly #joined = newJoin();
  readonly #words = new Map<bigint, Word>();
  /** By the time of a copy: the barrier at which it arrives, and in which phase. */
  readonly #arrivals = new Map<number, { readonly word: Word; readonly phase: number }>();
  /** By thread: up to which time its short copies arrive at a barrier. */
  readonly #notes = new Map<number, { readonly upTo: number; readonly word: Word; readonly phase: number }[]>();
  readonly #groups: Record<Group, Map<number, Groups>> = { bulk: new Map(), cp: new Map(), wgmma: new Map() };
  /** By thread: its last fence between proxies. */
  readonly #proxies = new Map<number, number>();

  constructor(inputs: OrderInputs) {
    this.#in = inputs;
  }

  began(): void {
    // The blocks of a cluster begin together.
    if (this.#in.block().first === 0) this.forget();
  }

  forget(): void {
    this.#clocks.length = 0;
    this.#phases = [];
    for (const each of [this.#words, this.#arrivals, this.#notes, this.#proxies, ...Object.values(this.#groups)]) each.clear();
  }

  crossed(): void {
    const { first, count } = this.#in.block();
    if (this.#in.isClustered) return this.#meet(Array.from({ length: count }, (_, i) => first + i));
    let all = none;
    for (const each of this.#phases) if (each) all = joined(all, each);
    if (all.size > 0) this.#phases = Array.from({ length: this.#in.threads }, () => all);
  }

  together(base: number, mask: number): void {
    const first = this.#in.block().first + base;
    this.#meet(Array.from({ length: 32 }, (_, lane) => first + lane).filter((_, lane) => (mask >>> lane) & 1));
  }

  /** Threads learn what each of them knows. */
  #meet(threads: readonly number[]): void {
    const [clock, now] = [new Uint32Array(this.#in.threads), this.#now()];
    for (const known of new Set(threads.map((thread) => this.#clocks[thread]))) if (known) join(clock, known);
    let phases = none;
    for (const known of new Set(threads.map((thread) => this.#phases[thread] ?? none))) phases = joined(phases, known);
    for (const thread of threads) clock[thread] = Math.max(0, now - 1);
    for (const thread of threads) {
      this.#clocks[thread] = clock;
      this.#phases[thread] = phases;
    }
  }

  synced(address: bigint, number: number): void {
    const site = this.#in.siteOf(number & maxSites);
    const role = site?.line && this.#in.roleOf?.(site.line);
    const isOfCluster = role?.does === 'cluster';
    const isHidden = isOfCluster || isHiddenBarrier(site?.line);
    const thread = this.#thread();
    if (role?.does === 'init' && !isHidden) {
      if (site!.isWrite) this.#words.delete(address);
      return;
    }
    const word = this.#wordAt(address, isOfCluster ? clusterPhase : isHidden ? hiddenPhase : barrierPhase);
    if (!word) return;
    if (isHidden ? !site!.isWrite : role?.does === 'test') return this.#take(word, thread);
    if (role?.does === 'note' && !isHidden) this.#note(word, thread);
    if (!site?.isWrite) return;
    if (role?.does === 'fill' && !isHidden) this.#arrivals.set(this.#now(), { word, phase: word.count });
    this.#give(word, thread);
  }

  fenced(number: number): void {
    const line = this.#in.siteOf(number & maxSites)?.line;
    const role = line && this.#in.roleOf?.(line);
    const [thread, now] = [this.#thread(), this.#now()];
    if (role?.does === 'proxy') this.#proxies.set(thread, now);
    if (role?.does === 'commit') this.#groupsOf(role.group, thread).closed.push(now);
    if (role?.does === 'wait') {
      const { closed, waits } = this.#groupsOf(role.group, thread);
      const upTo = role.isAll ? now : closed[closed.length - 1 - role.but];
      if (upTo !== undefined && upTo > (waits.at(-1)?.upTo ?? 0)) waits.push({ upTo, at: now });
    }
    if (role) this.#advance();
  }

  judge(before: bigint, now: bigint): Verdict {
    const [other, own, time] = [fieldOf(before, 'thread'), this.#thread(), timeOf(before)];
    if (fieldOf(before, 'async') === 1) return this.#isComplete(before, other, own, time) ? 'ordered' : 'race';
    const isDrain = fieldOf(now, 'async') === 1 && fieldOf(now, 'strong') === 1;
    if (isDrain && Math.max(this.#proxies.get(other) ?? 0, this.#proxies.get(own) ?? 0) < time) return 'unfenced';
    if (isDrain && (other === own || this.#barrier() > time)) return 'ordered';
    if (isDrain && this.#isReleased(other, own, time)) return 'ordered';
    return this.#knows(own, other, time) ? 'ordered' : 'race';
  }

  /** Whether the asynchronous operation of a stamp is complete for a thread. */
  #isComplete(before: bigint, other: number, own: number, time: number): boolean {
    const line = this.#in.siteOf(fieldOf(before, 'site'))?.line;
    const role = line && this.#in.roleOf?.(line);
    if (role?.does !== 'fill' && role?.does !== 'drain') return true;
    const { group } = role;
    if (group === undefined) {
      // A copy reads what it writes where it rounds; its arrival makes the time later.
      if (other === own && time === this.#now()) return true;
      const arrival = this.#arrivals.get(time);
      return arrival !== undefined && this.#hasPassed(own, arrival);
    }
    const at = this.#groups[group].get(other)?.waits.find(({ upTo }) => upTo >= time)?.at;
    if (at !== undefined && (other === own || this.#barrier() > at || this.#knows(own, other, at))) return true;
    return group === 'cp' && (this.#notes.get(other) ?? []).some((note) => note.upTo >= time && this.#hasPassed(own, note));
  }

  #hasPassed(thread: number, { word, phase }: { readonly word: Word; readonly phase: number }): boolean {
    return (this.#phases[thread]?.get(word) ?? 0) > phase;
  }

  #knows(own: number, other: number, time: number): boolean {
    return (this.#clocks[own]?.[other] ?? 0) >= time && time > 0;
  }

  /** Whether a thread has released by a fence since, and the other has acquired. */
  #isReleased(other: number, own: number, time: number): boolean {
    const view = new DataView(this.#in.memory.buffer, this.#in.times());
    const of = (thread: number, offset: number): number => timeOf(view.getBigUint64(thread * threadTimesBytes + offset, true));
    return of(other, threadTimes.release) > time && of(own, threadTimes.acquire) > time;
  }

  #thread(): number {
    return this.#in.block().first + (this.#in.global('thread').value as number);
  }

  #now(): number {
    return timeOf(BigInt.asUintN(64, this.#in.global('time.now').value as bigint));
  }

  #barrier(): number {
    return timeOf(BigInt.asUintN(64, this.#in.global('time.barrier').value as bigint));
  }

  /** Makes what the thread does from here on later than what it has done. */
  #advance(): void {
    const now = BigInt.asUintN(64, this.#in.global('time.now').value as bigint) + oneOf('time');
    this.#in.global('time.now').value = BigInt.asIntN(64, now);
    this.#in.global('time.stamp').value = BigInt.asIntN(64, now | (BigInt(this.#thread()) << BigInt(stampFields.thread.at)));
  }

  #groupsOf(group: Group, thread: number): Groups {
    const found = this.#groups[group].get(thread) ?? { closed: [], waits: [] };
    this.#groups[group].set(thread, found);
    return found;
  }

  /** The barrier at an address, with the phases that have ended since it was used. */
  #wordAt(address: bigint, phaseOf: (bits: bigint) => number | undefined): Word | undefined {
    const phase = phaseOf(new DataView(this.#in.memory.buffer).getBigUint64(Number(address), true));
    if (phase === undefined) return undefined;
    const known = this.#words.get(address);
    const word = known ?? {
      phase,
      count: 0,
      arrived: new Uint32Array(this.#in.threads),
      passed: new Uint32Array(this.#in.threads),
      added: undefined,
      arrivedPhases: none,
      passedPhases: none,
    };
    if (!known) this.#words.set(address, word);
    if (word.phase !== phase) {
      word.phase = phase;
      word.count++;
      word.passed = word.arrived;
      word.arrived = word.arrived.slice();
      word.passedPhases = word.arrivedPhases;
    }
    return word;
  }

  /** A thread learns what those know that have arrived in phases that are complete. */
  #take(word: Word, thread: number): void {
    const known = this.#phases[thread] ?? none;
    if (known.get(word) === word.count) return;
    this.#clocks[thread] = this.#joined(this.#clocks[thread], word.passed);
    const phases = new Map(joined(known, word.passedPhases));
    this.#phases[thread] = phases.set(word, word.count);
  }

  #give(word: Word, thread: number): void {
    const known = this.#clocks[thread];
    if (known && known !== word.added) join(word.arrived, known);
    word.added = known;
    word.arrived[thread] = this.#now();
    word.arrivedPhases = joined(word.arrivedPhases, this.#phases[thread] ?? none);
    this.#advance();
  }

  #note(word: Word, thread: number): void {
    const notes = this.#notes.get(thread) ?? [];
    notes.push({ upTo: this.#now(), word, phase: word.count });
    this.#notes.set(thread, notes);
  }
}
