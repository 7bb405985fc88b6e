/** Streams, events and host functions. */
import { Event, Stream } from '../api/index.ts';
import { answer, answerAsync, cudaError_t, type cudaStream_t, currentDevice, type Ref, refuse, streamOf } from './state.ts';

/** An event. */
export type cudaEvent_t = Event;

/** The flag of a stream that synchronizes with the legacy default stream. */
export const cudaStreamDefault = 0;
/** The flag of a stream that does not synchronize with the legacy default stream. */
export const cudaStreamNonBlocking = 1;
/** The flag of an event that records a time. */
export const cudaEventDefault = 0;
/** The flag of an event that records no time. */
export const cudaEventDisableTiming = 2;

/** Creates a stream that synchronizes with the legacy default stream. */
export const cudaStreamCreate = (stream: Ref<Stream>): cudaError_t => cudaStreamCreateWithFlags(stream, cudaStreamDefault);

/** Creates a stream with `cudaStreamDefault` or `cudaStreamNonBlocking`. */
export const cudaStreamCreateWithFlags = (stream: Ref<Stream>, flags: number): cudaError_t =>
  answer(() => {
    if (flags !== cudaStreamDefault && flags !== cudaStreamNonBlocking) refuse('cudaErrorInvalidValue');
    stream.value = currentDevice().stream({ nonBlocking: flags === cudaStreamNonBlocking });
  });

/** Closes the stream; pending work completes. */
export const cudaStreamDestroy = (stream: Stream): cudaError_t =>
  answer(() => {
    if (!(stream instanceof Stream) || stream.isClosed) refuse('cudaErrorInvalidResourceHandle');
    stream.close();
  });

/** Waits for the work of a stream. */
export const cudaStreamSynchronize = (stream: cudaStream_t): Promise<cudaError_t> =>
  answerAsync(async () => streamOf(stream).synchronize());

/** `cudaErrorNotReady` while work is pending. */
export const cudaStreamQuery = (stream: cudaStream_t): cudaError_t =>
  answer(() => {
    if (!streamOf(stream).isDone) refuse('cudaErrorNotReady');
  });

/** Makes later work of a stream wait for an event. */
export const cudaStreamWaitEvent = (stream: cudaStream_t, event: cudaEvent_t, _flags = 0): cudaError_t =>
  answer(() => streamOf(stream).wait(mustBeEvent(event)));

/** Calls a host function when the earlier work has finished. It must not call CUDA functions. */
export const cudaLaunchHostFunc = <T>(stream: cudaStream_t, run: (data: T) => void, data?: T): cudaError_t =>
  answer(() => void streamOf(stream).call(() => run(data as T)));

/** `cudaLaunchHostFunc` with the stream and its status. */
export const cudaStreamAddCallback = <T>(
  stream: cudaStream_t,
  run: (stream: cudaStream_t, status: cudaError_t, data: T) => void,
  data?: T,
  _flags = 0,
): cudaError_t => answer(() => void streamOf(stream).call(() => run(stream, cudaError_t.cudaSuccess, data as T)));

/** Creates an event that records a time. */
export const cudaEventCreate = (event: Ref<cudaEvent_t>): cudaError_t => cudaEventCreateWithFlags(event, cudaEventDefault);

/** Creates an event with `cudaEventDefault` or `cudaEventDisableTiming`. */
export const cudaEventCreateWithFlags = (event: Ref<cudaEvent_t>, flags: number): cudaError_t =>
  answer(() => {
    event.value = currentDevice().event({ timing: (flags & cudaEventDisableTiming) === 0 });
  });

/** Closes an event. */
export const cudaEventDestroy = (event: cudaEvent_t): cudaError_t => answer(() => mustBeEvent(event).close());

/** Records an event after the work of a stream so far. */
export const cudaEventRecord = (event: cudaEvent_t, stream?: cudaStream_t): cudaError_t =>
  answer(() => void streamOf(stream).record(mustBeEvent(event)));

/** Waits for the work before the last record of an event. */
export const cudaEventSynchronize = (event: cudaEvent_t): Promise<cudaError_t> => answerAsync(async () => mustBeEvent(event).synchronize());

/** `cudaErrorNotReady` while earlier work is pending. */
export const cudaEventQuery = (event: cudaEvent_t): cudaError_t =>
  answer(() => {
    if (!mustBeEvent(event).isDone) refuse('cudaErrorNotReady');
  });

/** The time between two events in milliseconds. */
export const cudaEventElapsedTime = (milliseconds: Ref<number>, start: cudaEvent_t, end: cudaEvent_t): cudaError_t =>
  answer(() => {
    milliseconds.value = mustBeEvent(end).elapsedSince(mustBeEvent(start));
  });

const mustBeEvent = (event: cudaEvent_t): Event => (event instanceof Event ? event : refuse('cudaErrorInvalidResourceHandle'));
