/** Arguments, environment, clocks, random numbers, waiting and the end. */
import { cBytes } from '../memory.ts';
import { errno } from './errno.ts';
import type { WasiFunction, WasiState } from './state.ts';

const clocks = { real: 0, monotonic: 1, process: 2, thread: 3 } as const;

function timeOf({ host }: WasiState, clock: number): bigint | undefined {
  if (clock === clocks.real) return host.realTime();
  if (clock === clocks.monotonic) return host.monotonicTime();
  return clock === clocks.process || clock === clocks.thread ? host.cpuTime() : undefined;
}

const environment = ({ host }: WasiState): string[] => Object.entries(host.env).map(([name, value]) => `${name}=${value}`);

/** Texts one behind the other, and a list of pointers to them. */
function putTexts({ memory }: WasiState, texts: readonly string[], pointers: bigint, at: bigint): number {
  let next = at;
  for (const [i, text] of texts.entries()) {
    const bytes = cBytes(text);
    if (!memory.putU64(pointers + BigInt(8 * i), next) || !memory.put(next, bytes)) return errno.fault;
    next += BigInt(bytes.length);
  }
  return errno.success;
}

function putSizes({ memory }: WasiState, texts: readonly string[], count: bigint, bytes: bigint): number {
  const size = texts.reduce((sum, text) => sum + cBytes(text).length, 0);
  return memory.putU64(count, texts.length) && memory.putU64(bytes, size) ? errno.success : errno.fault;
}

/** Bytes of a subscription and of an event, and what a subscription is for. */
const subscriptionBytes = 48;
const eventBytes = 32;
const clockTag = 0;

/** Waits for the first clock, or answers at once where a stream or a file is asked for: reading and writing never wait here. */
function poll(state: WasiState, from: bigint, to: bigint, count: bigint, put: bigint): number {
  const { memory, host } = state;
  const n = Number(count);
  const view = memory.slice(from, subscriptionBytes * n);
  if (n === 0 || !view) return n === 0 ? errno.inval : errno.fault;
  const data = new DataView(view.slice().buffer);
  const all = Array.from({ length: n }, (_, i) => {
    const at = i * subscriptionBytes;
    const tag = data.getUint8(at + 8);
    const id = data.getUint32(at + 16, true);
    const isAbsolute = (data.getUint16(at + 40, true) & 1) !== 0;
    const now = tag === clockTag ? (timeOf(state, id) ?? 0n) : 0n;
    const until = tag === clockTag ? data.getBigUint64(at + 24, true) : 0n;
    return { user: data.getBigUint64(at, true), tag, wait: tag === clockTag ? until - (isAbsolute ? now : 0n) : 0n };
  });
  const [first] = [...all].sort((a, b) => Number(a.wait - b.wait));
  const least = first!.wait;
  if (least > 0n) host.sleep(Number(least) / 1e6);
  const ready = all.filter(({ wait }) => wait <= (least > 0n ? least : 0n));
  const events = new DataView(new ArrayBuffer(eventBytes * ready.length));
  for (const [i, { user, tag }] of ready.entries()) {
    events.setBigUint64(i * eventBytes, user, true);
    events.setUint8(i * eventBytes + 10, tag);
  }
  return memory.put(to, new Uint8Array(events.buffer)) && memory.putU64(put, ready.length) ? errno.success : errno.fault;
}

export const systemFunctions: Readonly<Record<string, WasiFunction>> = {
  args_get: (state, pointers, at) => putTexts(state, state.host.args, pointers, at),
  args_sizes_get: (state, count, bytes) => putSizes(state, state.host.args, count, bytes),
  environ_get: (state, pointers, at) => putTexts(state, environment(state), pointers, at),
  environ_sizes_get: (state, count, bytes) => putSizes(state, environment(state), count, bytes),
  clock_time_get(state, clock, _precision, to) {
    const time = timeOf(state, Number(clock));
    if (time === undefined) return errno.inval;
    return state.memory.putU64(to, time) ? errno.success : errno.fault;
  },
  clock_res_get: (state, _clock, to) => (state.memory.putU64(to, 1000n) ? errno.success : errno.fault),
  random_get({ host, memory }, to, count) {
    const bytes = memory.slice(to, Number(count));
    if (!bytes) return errno.fault;
    host.fillRandom(bytes);
    return errno.success;
  },
  sched_yield: () => errno.success,
  poll_oneoff: poll,
  /**
   * The exit code is kept, and the function returns: the instruction behind the call stops the program. An exception would be seen by the
   * handlers of C++, which would run destructors or `terminate`.
   */
  proc_exit(state, code) {
    state.exitCode = Number(BigInt.asUintN(32, code));
    return errno.success;
  },
};
