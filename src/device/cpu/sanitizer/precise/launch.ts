/** A launch with the precise sanitizer: an instrumented scalar compilation, with shadow memory and the findings of the launch. */
import type { Diagnostics } from '../../../../base/diagnostic.ts';
import { product } from '../../../../base/dim3.ts';
import { atBarrier, atRendezvous } from '../../../../engine/codegen/kernel-code.ts';
import { barrierState, gridWorkspaceBytes, groupHead, lockTableBytes, printBufferBytes } from '../../../../ir/index.ts';
import { bufferOfSlot } from '../../../launch-arguments.ts';
import { sharedParts } from '../../../launch-shape.ts';
import { hex, placeOf } from '../../observe/describe-address.ts';
import { Deadlock } from '../../observe/endings.ts';
import { placesOf } from '../../observe/launch-variables.ts';
import type { Observer, SanitizedLaunch } from '../../observe/observer.ts';
import type { Site } from '../../observe/sites.ts';
import { instructionAt } from '../../source-text.ts';
import { newFindings } from './findings.ts';
import { newOrder } from './happens-before.ts';
import { forgetIfSpent, importsOf, type Run, siteOf, threadOf, wordOf } from './imports.ts';
import { newWriterQuery } from './last-writer.ts';
import { allowArea, blocksOf, newShadow, type Shadow, storeWritten } from './shadow.ts';
import { fieldOf, maxSites } from './stamp.ts';
import { paramBytesGlobal, type SanitizerGlobal } from './state.ts';
import { isHiddenBarrier, rolesIn } from './sync-roles.ts';

/** Starts the sanitizer; undefined after reporting CM6012. */
export function startPreciseSanitizer(launch: SanitizedLaunch, diagnostics: Diagnostics): Observer | undefined {
  const { memory, request, kernel } = launch;
  launch.allocations.keepFreed();
  const shadow = newShadow(launch);
  if (typeof shadow === 'number') {
    diagnostics.report('CM6012', { bytes: shadow, what: `sanitizing a launch of \`${request.kernel}\`` });
    return undefined;
  }
  const { limit = 20, source } = request.sanitize;
  const about = { kernel: request.kernel, blockShape: request.block, source, limit };
  const order = newOrder({
    memory: memory.memory,
    threads: product(request.block) * (launch.turns ? blocksOf(launch.turns) : 1),
    block: () => ({ first: run.block.rank * product(request.block), count: product(request.block) }),
    isClustered: launch.turns !== undefined,
    times: () => shadow.times,
    siteOf: (number) => siteOf(run, number),
    roleOf: source && rolesIn(source),
    global: (name) => run.global!(name),
  });
  const run: Run = {
    launch,
    shadow,
    places: placesOf(launch),
    findings: newFindings(about),
    order,
    block: { rank: 0, start: launch.area.start },
    turns: 0,
    reads: [],
    global: undefined,
  };
  const writer = newWriterQuery(launch);
  return {
    imports: { ...importsOf(run, about), wrote: (site: number): void => writer.wrote(site, run.global!) },
    begin(global) {
      run.global = global;
      allowArea(launch, shadow);
      for (const [name, value] of Object.entries({ ...globalsOf(launch, shadow), ...writer.globals })) global(name).value = value;
      kernel.params.forEach((param, i) => {
        global(paramBytesGlobal(i)).value = BigInt(bytesOfParam(launch, param.slot, i));
      });
    },
    tick: newTick(run),
    finish(to) {
      writer.finish();
      storeWritten(launch, shadow);
      run.findings.report(to);
    },
    end: () => memory.give(shadow.start),
  };
}

function globalsOf({ compiled, request }: SanitizedLaunch, shadow: Shadow): Partial<Record<SanitizerGlobal, number | bigint>> {
  const dynamicBytes = sharedParts(request).size;
  return {
    'shadow.allowed': shadow.allowed,
    'shadow.written': shadow.written,
    'shadow.cells': shadow.cells,
    'shadow.end': BigInt(shadow.end),
    'thread.times': shadow.times,
    'thread.exits': shadow.exits,
    'thread.base': 0,
    'shared.bytes': BigInt(compiled.windows.shared + dynamicBytes),
    'dynamic.bytes': BigInt(dynamicBytes),
    progress: 0,
    polls: 0,
    'last.poll': 0,
    'poll.address': 0n,
    'other.poll': 0,
    'other.address': 0n,
    'poll.stamp': 0n,
    'other.stamp': 0n,
  };
}

/** Bytes that a parameter points to; 0 for values. */
function bytesOfParam({ kernel, request, own, heap, launches, turns }: SanitizedLaunch, slot: number, index: number): number {
  const param = kernel.params[index]!;
  if (param.memory) return own.bytes;
  if (param.faults) return 4;
  if (param.formats) return printBufferBytes;
  if (param.locks) return lockTableBytes;
  if (param.service === 'grid') return gridWorkspaceBytes;
  if (param.service === 'stack') return 4;
  if (param.service === 'group') return groupHead.bytes;
  if (param.service === 'cluster') return turns?.service.bytes ?? 0;
  if (param.service === 'heap') return heap.bytes;
  if (param.service === 'launches') return launches.bytes;
  if (param.kind !== 'pointer') return 0;
  const argument = bufferOfSlot(kernel.reflection, request.args, slot);
  return argument ? argument.buffer.size - (argument.offset ?? 0) : 0;
}

/** The lowest thread of the block that neither waits nor has exited: threads that poll take turns. */
function lowestPolling({ launch, block }: Run): number | undefined {
  if (launch.compiled.instrumented?.plan.regions.schedule !== 'masks') return undefined;
  const states = new Int32Array(
    launch.memory.memory.buffer,
    block.start + (launch.turns?.area ?? launch.area).states,
    product(launch.request.block),
  );
  const found = states.findIndex((state) => state >= 0 && (state & (atBarrier | atRendezvous)) === 0);
  return found < 0 ? undefined : found;
}

/** Ticks without progress after which a thread counts as deadlocked, and the fewest polls between two of them. */
const [maxIdleTicks, minPolls] = [12, 1000];

/** Reports what a thread polls. Of another poll than the last one it is not known whether it still goes on, unless it is of an mbarrier. */
function reportPoll(run: Run, which: 'last' | 'other'): void {
  const name = which === 'last' ? 'poll' : 'other';
  const long = (global: string): bigint => BigInt.asUintN(64, run.global!(global).value as bigint);
  const [number, address] = [wordOf(run, `${which}.poll`), long(`${name}.address`)];
  const site = siteOf(run, number);
  const notes = barrierNotes(run, site, address);
  if (which === 'other' && notes.length === 0) return;
  const holes = { address: hex(address), place: placeOf(run.places, address) };
  const thread = notes.length > 0 ? fieldOf(long(`${name}.stamp`), 'thread') % product(run.launch.request.block) : lowestPolling(run);
  run.findings.add(`deadlock ${number & maxSites}`, () => ({ code: 'CM6135', holes, site, by: threadOf(run, thread), notes }));
}

/** What is missing at the mbarrier that a thread polls. */
function barrierNotes(run: Run, site: Site | undefined, address: bigint): string[] {
  const { memory, request } = run.launch;
  const { line } = site ?? {};
  const source = request.sanitize.source;
  if (isHiddenBarrier(line)) {
    const arrived = new DataView(memory.memory.buffer).getUint16(Number(address), true);
    return [`${arrived} threads have arrived at the barrier, which waits for more`];
  }
  if (!line || !source || !/\bmbarrier\./.test(instructionAt(source, line))) return [];
  const state = barrierState(new DataView(memory.memory.buffer).getBigUint64(Number(address), true));
  if (!state) return ['there is no initialized mbarrier'];
  const { pending, expected, bytes, parity } = state;
  const missing = bytes < 0 ? `${-bytes} bytes more have arrived than it expects` : `${bytes} bytes are missing`;
  return [`the mbarrier is in a phase of parity ${parity}, in which ${pending} of ${expected} arrivals are missing, and ${missing}`];
}

/** What is checked every few milliseconds. */
function newTick(run: Run): () => void {
  const checkDeadlock = newDeadlockCheck(run);
  return () => {
    forgetIfSpent(run);
    checkDeadlock();
  };
}

/** Turns of each block of a cluster without progress after which threads that poll count as deadlocked. */
const minIdleTurns = 3;

/** Throws when the threads of a block, or of the blocks of a cluster, have only polled for some ticks; threads that poll take turns. */
function newDeadlockCheck(run: Run): () => void {
  let [last, idleTicks, polls, idleSince] = ['', 0, 0, 0];
  const { turns } = run.launch;
  const minTurns = turns ? minIdleTurns * blocksOf(turns) : 0;
  return () => {
    if (!run.launch.request.sanitize.kinds.has('sync')) return;
    // Blocks that run by turns change, whatever they do.
    const where = turns ? [] : ['ctaid.x', 'ctaid.y', 'ctaid.z'];
    const state = [...where, 'progress'].map((name) => wordOf(run, name)).join();
    const isIdle = state === last && wordOf(run, 'polls') - polls >= minPolls;
    idleTicks = isIdle ? idleTicks + 1 : 0;
    if (!isIdle) idleSince = run.turns;
    last = state;
    polls = wordOf(run, 'polls');
    // What a block waits for is perhaps done by one that has not had its turn.
    if (idleTicks < maxIdleTicks || run.turns - idleSince < minTurns) return;
    for (const which of ['last', 'other'] as const) reportPoll(run, which);
    throw new Deadlock();
  };
}
