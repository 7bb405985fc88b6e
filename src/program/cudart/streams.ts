/** Streams and events. Work is done when its call returns, so that a stream never has any left, and every event is reached when it is recorded. */
import { must, type Row, row } from './row.ts';
import { type CudaEvent, type CudaState, fail } from './state.ts';
import { assertStream, breakCaptures, work } from './work.ts';

function createStream(state: CudaState, to: bigint, flags: number, priority: number): void {
  if (flags > 1) fail('cudaErrorInvalidValue');
  const stream = state.newHandle();
  state.streams.set(stream, { flags, priority });
  must(state.memory.putU64(to, stream));
}

const disableTiming = 2;
/** Waiting without spinning, no times, other processes. Source: `cudaEventCreateWithFlags`. */
const knownEventFlags = 7;
/** Bytes of a `cudaLaunchAttributeValue`. */
const attributeBytes = 64;

function createEvent(state: CudaState, to: bigint, flags: number): void {
  if ((flags & ~knownEventFlags) !== 0) fail('cudaErrorInvalidValue');
  const event = state.newHandle();
  state.events.set(event, { at: undefined, isTimed: (flags & disableTiming) === 0, captured: undefined });
  must(state.memory.putU64(to, event));
}

export const eventOf = ({ events }: CudaState, event: bigint): CudaEvent => events.get(event) ?? fail('cudaErrorInvalidResourceHandle');

function record(state: CudaState, event: bigint, stream: bigint): void {
  assertStream(state, stream);
  const own = eventOf(state, event);
  const capture = state.captures.get(stream);
  own.captured = capture && { capture, nodes: capture.last.get(stream) ?? [] };
  if (!capture) own.at = state.options.now();
}

/** Waiting for an event of a capture makes a stream part of it. */
function waitFor(state: CudaState, stream: bigint, event: bigint): void {
  assertStream(state, stream);
  const { captured } = eventOf(state, event);
  const own = state.captures.get(stream);
  if (!captured) {
    if (own) fail('cudaErrorStreamCaptureIsolation');
    return;
  }
  const { capture, nodes } = captured;
  if (own && own !== capture) fail('cudaErrorStreamCaptureMerge');
  // A capture that has ended leaves its events with nothing to wait for.
  if (!own && ![...state.captures.values()].includes(capture)) return;
  state.captures.set(stream, capture);
  capture.last.set(stream, [...new Set([...(capture.last.get(stream) ?? []), ...nodes])]);
}

/** What waits for an event, or asks for it, cannot do so before the graph has run. */
function reached(state: CudaState, event: bigint): CudaEvent {
  const own = eventOf(state, event);
  if (own.captured) fail('cudaErrorCapturedEvent');
  return own;
}

/** Waiting for a stream that is captured would never end. */
function finished(state: CudaState, stream: bigint): void {
  assertStream(state, stream);
  breakCaptures(state, (each) => each === stream, 'cudaErrorStreamCaptureUnsupported');
}

/** Calls a function of the program. */
export function callBack(state: CudaState, pointer: bigint, args: (bigint | number)[]): void {
  const call = state.exports.function(pointer) ?? fail('cudaErrorInvalidValue');
  call(...args);
}

const callLater = (state: CudaState, call: bigint, args: (bigint | number)[]): (() => void) => {
  if (!state.exports.function(call)) fail('cudaErrorInvalidValue');
  return () => callBack(state, call, args);
};

export const streams: Readonly<Record<string, Row>> = {
  cudaStreamCreate: row(['pointer'], (state, to) => createStream(state, to, 0, 0)),
  cudaStreamCreateWithFlags: row(['pointer', 'uint'], (state, to, flags) => createStream(state, to, flags, 0)),
  cudaStreamCreateWithPriority: row(['pointer', 'uint', 'int'], createStream),
  cudaStreamDestroy: row(['pointer'], (state, stream) => {
    if (!state.streams.delete(stream)) fail('cudaErrorInvalidResourceHandle');
    state.captures.delete(stream);
  }),
  cudaStreamSynchronize: row(['pointer'], (state, stream) => {
    finished(state, stream);
    state.pools.release();
  }),
  cudaStreamQuery: row(['pointer'], finished),
  cudaStreamGetFlags: row(['pointer', 'pointer'], (state, stream, to) => {
    assertStream(state, stream);
    must(state.memory.putU32(to, state.streams.get(stream)?.flags ?? 0));
  }),
  cudaStreamGetPriority: row(['pointer', 'pointer'], (state, stream, to) => {
    assertStream(state, stream);
    must(state.memory.putU32(to, (state.streams.get(stream)?.priority ?? 0) >>> 0));
  }),
  cudaStreamGetId: row(['pointer', 'pointer'], (state, stream, to) => {
    assertStream(state, stream);
    must(state.memory.putU64(to, stream));
  }),
  cudaStreamGetDevice: row(['pointer', 'pointer'], (state, stream, to) => {
    assertStream(state, stream);
    must(state.memory.putU32(to, 0));
  }),
  // Windows of caches and policies of waiting: hints.
  cudaStreamSetAttribute: row(['pointer', 'int', 'pointer'], assertStream),
  cudaStreamGetAttribute: row(['pointer', 'int', 'pointer'], (state, stream, _attribute, to) => {
    assertStream(state, stream);
    must(state.memory.put(to, new Uint8Array(attributeBytes)));
  }),
  cudaStreamWaitEvent: row(['pointer', 'pointer', 'uint'], waitFor),
  cudaStreamAddCallback: row(['pointer', 'pointer', 'pointer', 'uint'], (state, stream, call, data) => {
    work(state, stream, 'host', callLater(state, call, [stream, 0, data]));
  }),
  cudaLaunchHostFunc: row(['pointer', 'pointer', 'pointer'], (state, stream, call, data) => {
    work(state, stream, 'host', callLater(state, call, [data]));
  }),
  cudaEventCreate: row(['pointer'], (state, to) => createEvent(state, to, 0)),
  cudaEventCreateWithFlags: row(['pointer', 'uint'], createEvent),
  cudaEventDestroy: row(['pointer'], (state, event) => {
    if (!state.events.delete(event)) fail('cudaErrorInvalidResourceHandle');
  }),
  cudaEventRecord: row(['pointer', 'pointer'], record),
  cudaEventRecordWithFlags: row(['pointer', 'pointer', 'uint'], record),
  cudaEventSynchronize: row(['pointer'], (state, event) => {
    reached(state, event);
    state.pools.release();
  }),
  cudaEventQuery: row(['pointer'], (state, event) => void reached(state, event)),
  cudaEventElapsedTime: row(['pointer', 'pointer', 'pointer'], (state, to, start, end) => {
    const [first, last] = [reached(state, start), reached(state, end)];
    if (!first.isTimed || !last.isTimed || first.at === undefined || last.at === undefined) fail('cudaErrorInvalidResourceHandle');
    must(state.memory.putF32(to, last.at! - first.at!));
  }),
};
