/** Streams and events. Work is done when its call returns, so that a stream never has any left, and every event is reached when it is recorded. */
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** The streams that need not be created: the default one of the process, by null and by name, and that of the thread. */
const isStream = ({ streams }: CudaState, stream: bigint): boolean => stream <= 2n || streams.has(stream);

function assertStream(state: CudaState, stream: bigint): void {
  if (!isStream(state, stream)) fail('cudaErrorInvalidResourceHandle');
}

function createStream(state: CudaState, to: bigint, flags: number, priority: number): void {
  if (flags > 1) fail('cudaErrorInvalidValue');
  const stream = state.newHandle();
  state.streams.set(stream, { flags, priority });
  must(state.memory.putU64(to, stream));
}

const disableTiming = 2;

function createEvent(state: CudaState, to: bigint, flags: number): void {
  const event = state.newHandle();
  state.events.set(event, { at: undefined, isTimed: (flags & disableTiming) === 0 });
  must(state.memory.putU64(to, event));
}

const eventOf = ({ events }: CudaState, event: bigint): { at: number | undefined; readonly isTimed: boolean } =>
  events.get(event) ?? fail('cudaErrorInvalidResourceHandle');

function record(state: CudaState, event: bigint, stream: bigint): void {
  assertStream(state, stream);
  eventOf(state, event).at = state.options.now();
}

/** Calls a function of the program. */
function callBack(state: CudaState, pointer: bigint, args: (bigint | number)[]): void {
  const call = state.exports.function(pointer) ?? fail('cudaErrorInvalidValue');
  call(...args);
}

const onStream = row(['pointer'], assertStream);

export const streams: Readonly<Record<string, Row>> = {
  cudaStreamCreate: row(['pointer'], (state, to) => createStream(state, to, 0, 0)),
  cudaStreamCreateWithFlags: row(['pointer', 'uint'], (state, to, flags) => createStream(state, to, flags, 0)),
  cudaStreamCreateWithPriority: row(['pointer', 'uint', 'int'], createStream),
  cudaStreamDestroy: row(['pointer'], (state, stream) => {
    if (!state.streams.delete(stream)) fail('cudaErrorInvalidResourceHandle');
  }),
  cudaStreamSynchronize: onStream,
  cudaStreamQuery: onStream,
  cudaStreamGetFlags: row(['pointer', 'pointer'], (state, stream, to) => {
    assertStream(state, stream);
    must(state.memory.putU32(to, state.streams.get(stream)?.flags ?? 0));
  }),
  cudaStreamGetPriority: row(['pointer', 'pointer'], (state, stream, to) => {
    assertStream(state, stream);
    must(state.memory.putU32(to, (state.streams.get(stream)?.priority ?? 0) >>> 0));
  }),
  cudaStreamWaitEvent: row(['pointer', 'pointer', 'uint'], (state, stream, event) => {
    assertStream(state, stream);
    eventOf(state, event);
  }),
  cudaStreamAddCallback: row(['pointer', 'pointer', 'pointer', 'uint'], (state, stream, call, data) => {
    assertStream(state, stream);
    callBack(state, call, [stream, 0, data]);
  }),
  cudaLaunchHostFunc: row(['pointer', 'pointer', 'pointer'], (state, stream, call, data) => {
    assertStream(state, stream);
    callBack(state, call, [data]);
  }),
  cudaEventCreate: row(['pointer'], (state, to) => createEvent(state, to, 0)),
  cudaEventCreateWithFlags: row(['pointer', 'uint'], createEvent),
  cudaEventDestroy: row(['pointer'], (state, event) => {
    if (!state.events.delete(event)) fail('cudaErrorInvalidResourceHandle');
  }),
  cudaEventRecord: row(['pointer', 'pointer'], record),
  cudaEventRecordWithFlags: row(['pointer', 'pointer', 'uint'], record),
  cudaEventSynchronize: row(['pointer'], (state, event) => void eventOf(state, event)),
  cudaEventQuery: row(['pointer'], (state, event) => void eventOf(state, event)),
  cudaEventElapsedTime: row(['pointer', 'pointer', 'pointer'], (state, to, start, end) => {
    const [first, last] = [eventOf(state, start), eventOf(state, end)];
    if (!first.isTimed || !last.isTimed || first.at === undefined || last.at === undefined) fail('cudaErrorInvalidResourceHandle');
    must(state.memory.putF32(to, last.at! - first.at!));
  }),
};
