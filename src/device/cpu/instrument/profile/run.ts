/** The host's half of a profile: it takes the streams of threads, replays warps, and counts what they execute. */
import type { Diagnostics } from '../../../../base/diagnostic.ts';
import { product } from '../../../../base/dim3.ts';
import { countGlobal, countShared } from '../../../../ir/index.ts';
import type { ProfileRequest } from '../../../profile.ts';
import { TooLong } from '../../observe/endings.ts';
import type { ObservedLaunch, Observer } from '../../observe/observer.ts';
import { type Counts, newCounts } from './counts.ts';
import { maxBlockBytes, type ProfileImport, streamGlobals } from './record.ts';
import { advance, type Listener, newWarp, pathsOf, type Warp } from './replay.ts';
import { profileOf } from './report.ts';
import { append, newStream, type Stream } from './stream.ts';

/** Bytes of the buffer that threads write their streams to. */
const bufferBytes = 1 << 20;
/** Most words that wait for the other threads of a block. */
const maxHeldWords = 2 ** 28;

/** Starts the profile of a launch; undefined after reporting CM6012. */
export function startProfile(observed: ObservedLaunch, request: ProfileRequest, diagnostics: Diagnostics): Observer | undefined {
  const { memory, compiled, request: launch } = observed;
  const { kernel } = compiled.instrumented!.plan;
  const bytes = Math.max(bufferBytes, maxBlockBytes(kernel));
  const buffer = memory.take(bytes);
  if (buffer === undefined) {
    diagnostics.report('CM6012', { bytes, what: `the profile of a launch of \`${launch.kernel}\`` });
    return undefined;
  }
  const counts = newCounts(observed);
  const threads = product(launch.block);
  const replay = newReplay(observed, counts, threads);
  let [thread, held] = [0, 0];
  let global: ((name: string) => WebAssembly.Global) | undefined;
  const take = (): void => {
    const at = global!(streamGlobals.at);
    const length = ((at.value as number) - buffer) >> 2;
    if (length === 0) return;
    held += append(replay.streams[thread]!, new Uint32Array(memory.memory.buffer, buffer, length));
    at.value = buffer;
    if (held > maxHeldWords) throw new TooLong();
  };
  const imports: Record<ProfileImport, (...args: never[]) => unknown> = {
    begun: () => replay.begin(),
    of(next: number): void {
      take();
      // A warp is replayed once all of its threads have run; in another order of threads it waits.
      if (next >> 5 !== thread >> 5) replay.advance(thread >> 5);
      thread = next;
    },
    full: () => take(),
    ran(): void {
      take();
      replay.advanceAll();
    },
  };
  return {
    imports,
    begin(of) {
      global = of;
      of(streamGlobals.at).value = buffer;
      of(streamGlobals.end).value = buffer + bytes;
    },
    end(isWell) {
      memory.give(buffer);
      if (isWell) request.take(profileOf(observed, request, counts));
    },
  };
}

interface Replay {
  readonly streams: readonly Stream[];
  /** A block of threads starts. */
  begin(): void;
  advance(warp: number): void;
  advanceAll(): void;
}

function newReplay({ compiled, area }: ObservedLaunch, counts: Counts, threads: number): Replay {
  const paths = pathsOf(compiled.instrumented!.plan.kernel);
  const streams = Array.from({ length: threads }, newStream);
  const listener = listenerOf(counts, area.start + area.shared);
  let warps: Warp[] = [];
  const advanceWarp = (warp: number): void => void advance(paths, warps[warp]!, listener);
  return {
    streams,
    begin() {
      warps = Array.from({ length: Math.ceil(threads / 32) }, (_, i) => newWarp(paths, streams.slice(32 * i, 32 * i + 32)));
    },
    advance: advanceWarp,
    advanceAll() {
      for (const warp of warps.keys()) advanceWarp(warp);
    },
  };
}

function listenerOf({ warps, lanes, diverged, accesses, read, written }: Counts, shared: number): Listener {
  const offsets = new Uint32Array(32);
  return {
    ran(block, count) {
      warps[block]!++;
      lanes[block]! += count;
    },
    accessed(block, number, indices, ofLanes, count) {
      const access = accesses[block]![number]!;
      if (access.space === 'shared') {
        for (let i = 0; i < count; i++) offsets[i] = indices[i]! - shared;
        countShared(access.shared, offsets, ofLanes, count, access);
        return;
      }
      const sectors = countGlobal(access.global, indices, count, access.size);
      for (let i = 0; i < sectors.count; i++) {
        const sector = sectors.list[i]!;
        if (access.kind !== 'store') read[sector >>> 3]! |= 1 << (sector & 7);
        if (access.kind !== 'load') written[sector >>> 3]! |= 1 << (sector & 7);
      }
    },
    diverged(block) {
      diverged[block]!++;
    },
  };
}
