/** A watched launch: the shadow of memory, what an instrumented module imports, and what was found when it has ended. */
import type { Diagnostics } from '../../../../base/diagnostic.ts';
import { product } from '../../../../base/dim3.ts';
import { printBufferBytes } from '../../../../ir/index.ts';
import type { LaunchRequest, SanitizeRequest } from '../../../device.ts';
import { bufferOfSlot } from '../../../launch-arguments.ts';
import { sharedParts } from '../../../validate-launch.ts';
import type { DeviceMemory } from '../../memory.ts';
import { type Allocations, setBits } from '../../observe/allocations.ts';
import { bytesAt, hex, type Places, placeIn, placeOf, regionAt } from '../../observe/describe-address.ts';
import { placesOf } from '../../observe/launch-variables.ts';
import type { Observed } from '../../observe/observer.ts';
import type { Site } from '../../observe/sites.ts';
import { describeOther, type Findings, newFindings, type Who } from './findings.ts';
import { watchWriter } from './last-writer.ts';
import { cellBytes, fieldOf } from './stamp.ts';
import { paramBytesGlobal, type SanitizerGlobal, type SanitizerImport, threadTimesBytes } from './state.ts';
import { watchSync } from './sync.ts';

/** Thrown to stop a launch in which a thread waits for ever. */
export class Deadlock extends Error {}

export interface Watch {
  readonly imports: Readonly<Record<SanitizerImport, (...args: never[]) => unknown>>;
  /** Sets the globals of the instance. */
  begin(global: (name: string) => WebAssembly.Global): void;
  /** Looked at now and then; throws `Deadlock`. */
  tick(): void;
  /** Gives the shadow back, and reports. */
  end(diagnostics: Diagnostics): void;
}

export type Watched = Omit<Observed, 'request'> & { readonly request: LaunchRequest & { readonly sanitize: SanitizeRequest } };

interface Shadow {
  readonly at: number;
  readonly allowed: number;
  readonly written: number;
  readonly cells: number;
  readonly times: number;
  readonly members: number;
  readonly sink: number;
  readonly end: number;
}

/** Bytes of what takes the place of a wrong access, twice: what is read, zeros, and what is written. */
const sinkBytes = 64;

/** Makes the shadow; nothing after reporting CM6012. */
export function startWatch(watched: Watched, diagnostics: Diagnostics): Watch | undefined {
  const { memory, request, kernel } = watched;
  watched.allocations.keepFreed();
  const shadow = makeShadow(watched);
  if (typeof shadow === 'number') {
    diagnostics.report('CM6012', { bytes: shadow, what: `watching a launch of \`${request.kernel}\`` });
    return undefined;
  }
  const places = placesOf(watched);
  const { limit = 20, source } = request.sanitize;
  const about = { kernel: request.kernel, blockShape: request.block, source, limit };
  const findings = newFindings(about);
  const run: Run = { watched, shadow, places, findings, global: undefined };
  const writer = watchWriter(watched);
  return {
    imports: { ...importsOf(run, about), wrote: (site: number): void => writer.wrote(site, run.global!) },
    begin(global) {
      run.global = global;
      for (const [name, value] of Object.entries({ ...globalsOf(watched, shadow), ...writer.globals })) global(name).value = value;
      kernel.params.forEach((param, i) => {
        global(paramBytesGlobal(i)).value = BigInt(bytesOfParam(watched, param.slot, i));
      });
    },
    tick: deadlockWatch(run),
    end(to) {
      writer.end();
      keepWritten(watched, shadow);
      memory.give(shadow.at);
      findings.report(to);
    },
  };
}

interface Run {
  readonly watched: Watched;
  readonly shadow: Shadow;
  readonly places: Places;
  readonly findings: Findings;
  global: ((name: string) => WebAssembly.Global) | undefined;
}

// ── the shadow ──

function makeShadow({ memory, allocations, request, area }: Watched): Shadow | number {
  const kinds = request.sanitize.kinds;
  const end = Math.max(area.start + area.bytes, ...[...allocations.list].map(({ address, size }) => address + size));
  const map = Math.ceil(end / 64) * 8 + 8;
  const cells = kinds.has('race') ? (Math.ceil(end / 4) + 1) * cellBytes : 0;
  const threads = product(request.block);
  const bytes = 2 * map + cells + threads * (threadTimesBytes + 8) + 2 * sinkBytes;
  const at = memory.take(bytes);
  if (at === undefined) return bytes;
  const allowed = at + cells + threads * (threadTimesBytes + 8) + 2 * sinkBytes;
  const members = at + cells + threads * threadTimesBytes;
  const shadow: Shadow = {
    at,
    cells: at,
    times: at + cells,
    members,
    sink: members + threads * 8,
    allowed,
    written: allowed + map,
    end,
  };
  memory.view(at, bytes).fill(0);
  fillMaps(memory, shadow, map, allocations, kinds.has('init'));
  return shadow;
}

function fillMaps(memory: DeviceMemory, { allowed, written }: Shadow, map: number, { list }: Allocations, isInit: boolean): void {
  const [mayAccess, isWritten] = [memory.view(allowed, map), memory.view(written, map)];
  for (const allocation of list) {
    if (allocation.isFree) continue;
    setBits(mayAccess, allocation.address, allocation.size);
    if (allocation.written === 'all' || !isInit) setBits(isWritten, allocation.address, allocation.size);
    else if (allocation.written !== 'none') isWritten.set(allocation.written, allocation.address / 8);
  }
}

/** Marks what the launch itself has: constants, values, words that the kernel leaves. */
function allowArea(
  memory: DeviceMemory,
  shadow: { readonly allowed: number; readonly written: number },
  spans: readonly (readonly [number, number])[],
): void {
  for (const [from, bytes] of spans)
    for (const map of [shadow.allowed, shadow.written]) setBits(memory.view(map, Math.ceil((from + bytes) / 8) + 1), from, bytes);
}

function keepWritten({ memory, allocations, request }: Watched, { written }: Shadow): void {
  if (!request.sanitize.kinds.has('init')) return allocations.writeAll();
  for (const allocation of allocations.list) {
    if (allocation.isFree || allocation.written === 'all') continue;
    allocation.written = memory.view(written + allocation.address / 8, Math.ceil(allocation.size / 8)).slice();
  }
}

// ── the instance ──

function globalsOf(
  { compiled, request, area, memory, kernel }: Watched,
  shadow: Shadow,
): Partial<Record<SanitizerGlobal, number | bigint>> {
  const { windows } = compiled;
  const spans = [
    [area.constant, windows.constant],
    [area.faults, 4],
    [area.printed, kernel.reflection.printf ? printBufferBytes : 0],
    ...kernel.params.map((param, i) => [area.values[i]!, param.kind === 'value' ? param.size : 0] as const),
  ] as const;
  allowArea(
    memory,
    shadow,
    spans.map(([offset, bytes]) => [area.start + offset, bytes]),
  );
  return {
    'shadow.allowed': shadow.allowed,
    'shadow.written': shadow.written,
    'shadow.cells': shadow.cells,
    'shadow.end': BigInt(shadow.end),
    'thread.times': shadow.times,
    'thread.members': shadow.members,
    'shared.bytes': BigInt(windows.shared + sharedParts(request).size),
    'dynamic.bytes': BigInt(sharedParts(request).size),
    progress: 0,
    polls: 0,
    'last.poll': 0,
    'poll.address': 0n,
  };
}

/** Bytes of the memory of a parameter. */
function bytesOfParam({ kernel, request, own }: Watched, slot: number, index: number): number {
  const param = kernel.params[index]!;
  if (param.memory) return own.bytes;
  if (param.faults) return 4;
  if (param.formats) return printBufferBytes;
  if (param.kind !== 'pointer') return 0;
  const argument = bufferOfSlot(kernel.reflection, request.args, slot);
  return argument ? argument.buffer.size - (argument.offset ?? 0) : 0;
}

// ── what is found ──

function importsOf(run: Run, about: Parameters<typeof newFindings>[0]): Omit<Watch['imports'], 'wrote'> {
  const { watched, shadow, places, findings } = run;
  const { memory, request, compiled } = watched;
  const kinds = request.sanitize.kinds;
  const word = (name: string): number => run.global!(name).value as number;
  const who = (thread = word('thread')): Who => ({ thread, block: [word('ctaid.x'), word('ctaid.y'), word('ctaid.z')] });
  const site = (number: number): Site | undefined => compiled.watched?.sites[(number & 0xffff) - 1];
  const does = (of: Site | undefined): string => (!of?.isWrite ? 'reads' : of.what.startsWith('store') ? 'writes' : 'changes (atomically)');
  const common = (of: Site | undefined, address: bigint) => ({ does: does(of), size: laneBytes(of), address: hex(address) });
  const sync = watchSync({
    plan: compiled.watched!.plan,
    findings,
    about,
    who,
    site,
    siteOf: (value) => compiled.watched?.sites.find((each) => each.value === value),
    memory: {
      states: new Int32Array(memory.memory.buffer, watched.area.start + watched.area.states, product(request.block)),
      members: new Int32Array(memory.memory.buffer, shadow.members, 2 * product(request.block)),
    },
  });
  return {
    outside(address: bigint, number: number): number {
      const at = BigInt.asUintN(64, address);
      if (!kinds.has('memory')) return plainIndex(at);
      const of = site(number);
      const found = at < 65536n ? 'CM6104' : regionAt(places, at)?.isFree ? 'CM6103' : 'CM6101';
      const bounds = of?.access?.bounds;
      const region = bounds && places.ofBounds(bounds);
      const place = found === 'CM6101' && region ? placeIn(region, at) : outsideOf(bounds, places, at);
      findings.add(`${found} ${number}`, () => ({ code: found, holes: { ...common(of, at), place }, site: of, who: who() }));
      return of?.isWrite ? shadow.sink + sinkBytes : cleanSink(memory, shadow);
    },
    misaligned(address: bigint, number: number): void {
      if (!kinds.has('memory')) return;
      const of = site(number);
      const align = of?.access?.align ?? 0;
      const holes = { ...common(of, address), align, place: placeOf(places, BigInt.asUintN(64, address)) };
      findings.add(`misaligned ${number}`, () => ({ code: 'CM6102', holes, site: of, who: who() }));
    },
    unwritten(address: bigint, number: number): void {
      const of = site(number);
      findings.add(`unwritten ${number} ${regionAt(places, address)?.start}`, () => ({
        code: 'CM6110',
        holes: { ...common(of, address), place: placeOf(places, address) },
        site: of,
        who: who(),
        notes: [`memory holds ${bytesAt(memory.memory, address, laneBytes(of))} there`],
      }));
    },
    race(before: bigint, address: bigint, now: bigint): void {
      const [of, other] = [site(fieldOf(now, 'site')), site(fieldOf(before, 'site'))];
      const isInBlock = isOfBlock(run, before) && fieldOf(before, 'manyBlocks') === 0;
      const code = isInBlock ? 'CM6120' : 'CM6121';
      findings.add(`${code} ${of?.value} ${other?.value} ${regionAt(places, address)?.start}`, () => {
        const thread = fieldOf(before, 'thread');
        const isOwn = isInBlock && thread === word('thread');
        const name = isOwn ? 'another thread' : isInBlock ? describeOther(thread, request.block) : 'a thread of another block';
        return {
          code,
          holes: { ...common(of, address), place: placeOf(places, address), other: name, did: `${does(other)} it` },
          site: of,
          who: who(),
          other: { site: other, text: `${name} ${does(other)} it here` },
          notes: [`memory holds ${bytesAt(memory.memory, address, laneBytes(of))} there`],
        };
      });
    },
    meet: (base: number, last: number, mask: number): void => sync.meet(base, last, mask),
    released: (): void => sync.released(product(request.block)),
    emptied(): void {
      const from = watched.area.start + watched.area.shared;
      const bytes = compiled.windows.shared + sharedParts(request).size;
      // Windows start at multiples of 16, so that their bits are whole bytes.
      memory.view(shadow.written + from / 8, Math.ceil(bytes / 8)).fill(0);
    },
  };
}

/** Bytes of one lane of what an instruction accesses. */
const laneBytes = (site: Site | undefined): number => site?.size ?? 0;

/** Whether a stamp is of the block that runs: the host keeps no times, so that the module is asked. */
const isOfBlock = ({ global }: Run, stamp: bigint): boolean =>
  BigInt.asUintN(64, stamp) >= BigInt.asUintN(64, global!('time.block').value as bigint);

const outsideOf = (bounds: { readonly kind: string } | undefined, places: Places, address: bigint): string =>
  bounds ? 'outside of the local memory of the thread' : placeOf(places, address);

/** As in a launch that nobody watches: what is outside of all memory traps. */
const plainIndex = (address: bigint): number => (address >= 65536n && address < 0xffff0000n ? Number(BigInt.asIntN(32, address)) : -1);

function cleanSink(memory: DeviceMemory, { sink }: Shadow): number {
  memory.view(sink, sinkBytes).fill(0);
  return sink;
}

// ── deadlock ──

/** Looks without change after which a thread is taken to wait for ever, and polls between two of them. */
const [mostLooks, leastPolls] = [12, 1000];

/** Whether one thread has done nothing but poll since some looks ago. */
function deadlockWatch(run: Run): () => void {
  let [last, looks, polls] = ['', 0, 0];
  return () => {
    const { watched, places, findings } = run;
    if (!watched.request.sanitize.kinds.has('sync')) return;
    const word = (name: string): number => run.global!(name).value as number;
    const now = ['thread', 'ctaid.x', 'ctaid.y', 'ctaid.z', 'progress'].map(word).join();
    looks = now === last && word('polls') - polls >= leastPolls ? looks + 1 : 0;
    last = now;
    polls = word('polls');
    if (looks < mostLooks) return;
    const site = watched.compiled.watched?.sites[(word('last.poll') & 0xffff) - 1];
    const thread = word('thread');
    const who: Who = { thread, block: [word('ctaid.x'), word('ctaid.y'), word('ctaid.z')] };
    const address = BigInt.asUintN(64, run.global!('poll.address').value as bigint);
    const holes = { address: hex(address), place: placeOf(places, address) };
    findings.add('deadlock', () => ({ code: 'CM6135', holes, site, who }));
    throw new Deadlock();
  };
}
