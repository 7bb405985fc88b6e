/** The host's half of a profile: streams of threads come in, warps are followed, and what they do is counted. */
import type { Diagnostics } from '../../../../base/diagnostic.ts';
import { product } from '../../../../base/dim3.ts';
import type { ProfileRequest } from '../../../profile.ts';
import type { ObservedLaunch, Observer } from '../../observe/observer.ts';
import { countGlobal, countShared } from './coalesce.ts';
import { type Counts, newCounts } from './counts.ts';
import { mostBlockBytes, type ProfileImport, streamGlobals } from './record.ts';
import { advance, type Listener, newWarp, pathsOf, type Warp } from './replay.ts';
import { profileOf } from './report.ts';
import { append, newStream, type Stream } from './stream.ts';

/** Bytes of the room that threads write their streams to before the host takes them. */
const roomBytes = 1 << 20;
/** Words that may wait for the other threads of a block. */
const mostWords = 2 ** 28;

/** Thrown where threads record more than there is room for. */
export class TooLong extends Error {}

/** Makes the profile of a launch ready; nothing after reporting CM6012. */
export function startProfile(observed: ObservedLaunch, request: ProfileRequest, diagnostics: Diagnostics): Observer | undefined {
  const { memory, compiled, request: launch } = observed;
  const { kernel } = compiled.instrumented!.plan;
  const bytes = Math.max(roomBytes, mostBlockBytes(kernel));
  const room = memory.take(bytes);
  if (room === undefined) {
    diagnostics.report('CM6012', { bytes, what: `the profile of a launch of \`${launch.kernel}\`` });
    return undefined;
  }
  const counts = newCounts(observed);
  const threads = product(launch.block);
  const follower = newFollower(observed, counts, threads);
  let [thread, held] = [0, 0];
  let global: ((name: string) => WebAssembly.Global) | undefined;
  const take = (): void => {
    const at = global!(streamGlobals.at);
    const length = ((at.value as number) - room) >> 2;
    if (length === 0) return;
    held += append(follower.streams[thread]!, new Uint32Array(memory.memory.buffer, room, length));
    at.value = room;
    if (held > mostWords) throw new TooLong();
  };
  const imports: Record<ProfileImport, (...args: never[]) => unknown> = {
    begun: () => follower.begin(),
    of(next: number): void {
      take();
      // A warp whose threads have all been there can be followed; where others come first it waits.
      if (next >> 5 !== thread >> 5) follower.follow(thread >> 5);
      thread = next;
    },
    full: () => take(),
    ran(): void {
      take();
      follower.followAll();
    },
  };
  return {
    imports,
    begin(of) {
      global = of;
      of(streamGlobals.at).value = room;
      of(streamGlobals.end).value = room + bytes;
    },
    end(isWell) {
      memory.give(room);
      if (isWell) request.take(profileOf(observed, request, counts));
    },
  };
}

interface Follower {
  readonly streams: readonly Stream[];
  /** A block of threads starts. */
  begin(): void;
  follow(warp: number): void;
  followAll(): void;
}

function newFollower({ compiled, area }: ObservedLaunch, counts: Counts, threads: number): Follower {
  const paths = pathsOf(compiled.instrumented!.plan.kernel);
  const streams = Array.from({ length: threads }, newStream);
  const listener = listenerOf(counts, area.start + area.shared);
  let warps: Warp[] = [];
  const follow = (warp: number): void => void advance(paths, warps[warp]!, listener);
  return {
    streams,
    begin() {
      warps = Array.from({ length: Math.ceil(threads / 32) }, (_, i) => newWarp(paths, streams.slice(32 * i, 32 * i + 32)));
    },
    follow,
    followAll() {
      for (const warp of warps.keys()) follow(warp);
    },
  };
}

function listenerOf({ warps, lanes, parted, accesses, read, written }: Counts, shared: number): Listener {
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
    parted(block) {
      parted[block]!++;
    },
  };
}
