/** The functions of the host that an instrumented module calls where an access or a barrier is wrong. */
import { product } from '../../../../base/dim3.ts';
import { sharedParts } from '../../../launch-shape.ts';
import type { DeviceMemory } from '../../memory.ts';
import { bytesAt, hex, type Places, placeIn, placeOf, regionAt } from '../../observe/describe-address.ts';
import type { SanitizedLaunch } from '../../observe/observer.ts';
import type { Site } from '../../observe/sites.ts';
import { type AboutLaunch, describeOther, type FaultyThread, type Findings } from './findings.ts';
import type { Order } from './happens-before.ts';
import { renewStamps, type Shadow, sinkBytes } from './shadow.ts';
import { fieldOf, maxSites, oneOf, stampFields } from './stamp.ts';
import { type SanitizerImport, threadTimes, threadTimesBytes } from './state.ts';
import { newSyncCheck, type SyncCheck } from './sync.ts';

/** A sanitized launch while it runs. */
export interface Run {
  readonly launch: SanitizedLaunch;
  readonly shadow: Shadow;
  readonly places: Places;
  readonly findings: Findings;
  /** The order of threads by barriers in memory, and of asynchronous operations. */
  readonly order: Order;
  /** The block that runs, among those of its cluster, and where its area is. */
  block: { readonly rank: number; readonly start: number };
  /** Turns of the blocks of clusters so far. */
  turns: number;
  /** By the ranks of blocks that do not run: `time.reads`. */
  readonly reads: bigint[];
  /** The globals of the instance, once it has begun. */
  global: ((name: string) => WebAssembly.Global) | undefined;
}

/** The i32 global of a name. */
export const wordOf = ({ global }: Run, name: string): number => global!(name).value as number;

/** The thread that runs, or another one of its block. */
export const threadOf = (run: Run, thread = wordOf(run, 'thread')): FaultyThread => ({
  thread,
  block: [wordOf(run, 'ctaid.x'), wordOf(run, 'ctaid.y'), wordOf(run, 'ctaid.z')],
});

/** The site of a number, of which the low bits count from 1 on. */
export const siteOf = ({ launch }: Run, number: number): Site | undefined => launch.compiled.instrumented?.sites[(number & maxSites) - 1];

type Imports = Omit<Record<SanitizerImport, (...args: never[]) => unknown>, 'wrote'>;

/** All but `wrote`. */
export const importsOf = (run: Run, about: AboutLaunch): Imports => ({
  ...accessImports(run),
  ...syncImports(run, about),
  ...orderImports(run),
});

/** Notes which block of a cluster runs. */
function choose(run: Run): void {
  const { turns, request } = run.launch;
  if (!turns) return;
  const [x, y, z] = (['x', 'y', 'z'] as const).map((axis, i) => wordOf(run, `ctaid.${axis}`) % turns.cluster[i]!) as [
    number,
    number,
    number,
  ];
  const rank = x + turns.cluster[0] * (y + turns.cluster[1] * z);
  const reads = run.global!('time.reads');
  run.reads[run.block.rank] = reads.value as bigint;
  reads.value = run.reads[rank] ?? 0n;
  run.block = { rank, start: turns.start + rank * turns.bytes };
  run.global!('thread.base').value = rank * product(request.block);
  run.turns++;
}

/** Lets the time begin anew. A fence so far is taken to be behind all accesses so far: what it orders is not reported. */
function renew(run: Run): void {
  renewStamps(run.launch, run.shadow);
  const fence = run.global!('time.lastFence');
  fence.value = fence.value === 0n ? 0n : 2n * oneOf('time');
  run.global!('time.now').value = 2n * oneOf('time');
}

/** Half of the times, after which a block that still runs loses what is known of its accesses: the rest is for events until then. */
const spentTime = oneOf('time') << 24n;

/** Forgets all accesses of a block with so many events that their times are spent. */
export function forgetIfSpent(run: Run): void {
  const now = run.global!('time.now');
  if (BigInt.asUintN(64, now.value as bigint) < spentTime) return;
  const { launch, shadow, order } = run;
  launch.memory.view(shadow.cells, shadow.exits - shadow.cells).fill(0);
  order.forget();
  run.reads.length = 0;
  for (const name of ['lastFence', 'fencesBefore', 'acquired', 'span'] as const) run.global!(`time.${name}`).value = 0n;
  for (const name of ['now', 'block', 'barrier', 'reads'] as const) run.global!(`time.${name}`).value = 2n * oneOf('time');
  const thread = BigInt(wordOf(run, 'thread') + wordOf(run, 'thread.base'));
  run.global!('time.stamp').value = 2n * oneOf('time') + (thread << BigInt(stampFields.thread.at));
}

function orderImports(run: Run): Pick<Imports, 'synced' | 'fenced' | 'together' | 'crossed' | 'began' | 'chosen' | 'renewed'> {
  const { order } = run;
  return {
    chosen: (): void => choose(run),
    renewed: (): void => renew(run),
    synced: (address: bigint, site: number): void => order.synced(BigInt.asUintN(64, address), site),
    fenced: (site: number): void => order.fenced(site),
    together: (base: number, mask: number): void => order.together(base, mask),
    crossed: (): void => order.crossed(),
    began: (): void => order.began(),
  };
}

type AccessImport = 'outside' | 'misaligned' | 'unwritten' | 'race';

function accessImports(run: Run): Record<AccessImport, (...args: never[]) => unknown> {
  const { launch, places, findings } = run;
  const { memory, request } = launch;
  const { kinds } = request.sanitize;
  return {
    outside(address: bigint, number: number): number {
      const at = BigInt.asUintN(64, address);
      if (!kinds.has('memory')) return plainIndex(at);
      const site = siteOf(run, number);
      reportOutside(run, site, number, at);
      return site?.isWrite ? run.shadow.sink + sinkBytes : clearedSink(memory, run.shadow);
    },
    misaligned(address: bigint, number: number): void {
      if (!kinds.has('memory')) return;
      const site = siteOf(run, number);
      const align = site?.access?.align ?? 0;
      const holes = { ...accessHoles(site, address), align, place: placeOf(places, BigInt.asUintN(64, address)) };
      findings.add(`misaligned ${number}`, () => ({ code: 'CM6102', holes, site, by: threadOf(run) }));
    },
    unwritten(address: bigint, number: number): void {
      const site = siteOf(run, number);
      findings.add(`unwritten ${number} ${regionAt(places, address)?.start}`, () => ({
        code: 'CM6110',
        holes: { ...accessHoles(site, address), place: placeOf(places, address) },
        site,
        by: threadOf(run),
        notes: [contentsNote(run, site, address)],
      }));
    },
    race: (before: bigint, address: bigint, now: bigint): void => reportRace(run, before, address, now),
  };
}

function reportOutside(run: Run, site: Site | undefined, number: number, at: bigint): void {
  const { places, findings } = run;
  const code = at < 65536n ? 'CM6104' : regionAt(places, at)?.isFree ? 'CM6103' : 'CM6101';
  const bounds = site?.access?.bounds;
  const region = bounds && places.ofBounds(bounds);
  const place = code === 'CM6101' && region ? placeIn(region, at) : placeOutside(bounds, places, at);
  findings.add(`${code} ${number}`, () => ({ code, holes: { ...accessHoles(site, at), place }, site, by: threadOf(run) }));
}

function reportRace(run: Run, before: bigint, address: bigint, now: bigint): void {
  const { launch, places, findings } = run;
  const [site, other] = [siteOf(run, fieldOf(now, 'site')), siteOf(run, fieldOf(before, 'site'))];
  const isInBlock = isOfBlock(run, before) && fieldOf(before, 'manyBlocks') === 0;
  if (isOfService(run, address)) return;
  const verdict = isInBlock ? run.order.judge(BigInt.asUintN(64, before), BigInt.asUintN(64, now)) : 'race';
  if (verdict === 'ordered' || (verdict === 'race' && isPublished(run, before))) return;
  const isFenceMissing = verdict === 'unfenced';
  const threads = product(launch.request.block);
  const isNear = isInBlock && Math.floor(fieldOf(before, 'thread') / threads) === run.block.rank;
  const code = !isNear ? 'CM6121' : fieldOf(before, 'async') ? 'CM6122' : isFenceMissing ? 'CM6123' : 'CM6120';
  findings.add(`${code} ${site?.value} ${other?.value} ${regionAt(places, address)?.start}`, () => {
    const thread = fieldOf(before, 'thread') % threads;
    const isOwn = isNear && thread === wordOf(run, 'thread');
    const name =
      code === 'CM6122'
        ? 'a copy'
        : isOwn && isFenceMissing
          ? 'the same thread'
          : isOwn
            ? 'another thread'
            : isNear
              ? describeOther(thread, launch.request.block)
              : 'a thread of another block';
    return {
      code,
      holes: { ...accessHoles(site, address), place: placeOf(places, address), other: name, did: `${verbOf(other)} it` },
      site,
      by: threadOf(run),
      other: { site: other, text: `${name} ${verbOf(other)} it here` },
      notes: [contentsNote(run, site, address)],
    };
  });
}

/** Between blocks of a grid with barriers: whether a thread of the first one has released since, and one of the second acquired. */
function isPublished(run: Run, before: bigint): boolean {
  const { memory, request, turns } = run.launch;
  const threads = product(request.block);
  const first = Math.floor(fieldOf(before, 'thread') / threads);
  if (!turns || turns.service.bytes > 0 || first === run.block.rank) return false;
  // The time is in the upper half of a stamp.
  const [words, since] = [new Uint32Array(memory.memory.buffer, run.shadow.times), fieldOf(before, 'time')];
  const hasSince = (block: number, offset: number): boolean => {
    const [step, from] = [threadTimesBytes / 4, (block * threads * threadTimesBytes + offset) / 4 + 1];
    for (let at = from; at < from + threads * step; at += step) if (words[at]! >>> (stampFields.time.at - 32) > since) return true;
    return false;
  };
  return hasSince(first, threadTimes.release) && hasSince(run.block.rank, threadTimes.acquire);
}

function syncImports(run: Run, about: AboutLaunch): Pick<Imports, 'left' | 'stuck' | 'released' | 'emptied'> {
  const { launch, shadow, findings } = run;
  const { memory, request, compiled, area, turns } = launch;
  const { kinds } = request.sanitize;
  const threads = product(request.block);
  // The area of the launch, or those of the blocks of a cluster.
  const own = turns?.area ?? area;
  const newSync = (): SyncCheck =>
    newSyncCheck({
      plan: compiled.instrumented!.plan,
      findings,
      about,
      threadOf: (thread) => threadOf(run, thread),
      siteOf: (value) => compiled.instrumented?.sites.find((each) => each.value === value),
      memory: {
        states: new Int32Array(memory.memory.buffer, run.block.start + own.states, threads),
        exits: new Int32Array(memory.memory.buffer, shadow.exits + 4 * run.block.rank * threads, threads),
        records: new Int32Array(
          memory.memory.buffer,
          run.block.start + own.records,
          (compiled.instrumented!.plan.recordBytes * threads) / 4,
        ),
      },
    });
  const syncs: SyncCheck[] = [];
  const sync = (): SyncCheck => {
    syncs[run.block.rank] ??= newSync();
    return syncs[run.block.rank]!;
  };
  return {
    left: (base: number, last: number, mask: number, members: number): void => sync().left({ base, last, mask, members }),
    stuck: (): void => sync().stuck(threads, kinds.has('sync')),
    released: (): void => sync().released(threads),
    emptied(): void {
      const from = run.block.start + own.shared;
      const bytes = compiled.windows.shared + sharedParts(request).size;
      // Windows start at multiples of 16, so their bits are whole bytes.
      memory.view(shadow.written + from / 8, Math.ceil(bytes / 8)).fill(0);
    },
  };
}

/** Whether an address is of what a launch has for clusters, which the source does not know. */
const isOfService = ({ launch: { turns } }: Run, address: bigint): boolean =>
  turns !== undefined && address >= BigInt(turns.service.address) && address < BigInt(turns.service.address + turns.service.bytes);

const verbOf = (site: Site | undefined): string =>
  !site?.isWrite ? 'reads' : site.what.startsWith('store') ? 'writes' : 'changes (atomically)';

/** The parts of a message that every access has. */
const accessHoles = (site: Site | undefined, address: bigint) => ({ does: verbOf(site), size: laneBytes(site), address: hex(address) });

const contentsNote = ({ launch: { memory } }: Run, site: Site | undefined, address: bigint): string =>
  `memory holds ${bytesAt(memory.memory, address, laneBytes(site))} there`;

/** Bytes that one lane accesses. */
const laneBytes = (site: Site | undefined): number => site?.size ?? 0;

/** Whether a stamp is of the block that runs. Its time is a global of the module. */
const isOfBlock = ({ global }: Run, stamp: bigint): boolean =>
  BigInt.asUintN(64, stamp) >= BigInt.asUintN(64, global!('time.block').value as bigint);

const placeOutside = (bounds: { readonly kind: string } | undefined, places: Places, address: bigint): string =>
  bounds ? 'outside of the local memory of the thread' : placeOf(places, address);

/** The index of an access in a launch without sanitizer: addresses outside of all memory trap. */
const plainIndex = (address: bigint): number => (address >= 65536n && address < 0xffff0000n ? Number(BigInt.asIntN(32, address)) : -1);

function clearedSink(memory: DeviceMemory, { sink }: Shadow): number {
  memory.view(sink, sinkBytes).fill(0);
  return sink;
}
