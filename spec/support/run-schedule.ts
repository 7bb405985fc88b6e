/** Runs a plan of `schedules.ts` on a device of the API, and notes what is seen of its order. */
import type { Buffer, Device, Event, Kernel, Module, Stream } from '../../src/api/index.ts';
import type { DeviceBuffer } from '../../src/device/index.ts';
import { cells, events, type Operation, type Plan, type Trace } from './schedules.ts';

/** Takes a ticket, notes it, and writes its number to a cell. */
export const tickText = `.version 9.0
.target sm_90
.address_size 64
.visible .entry tick(.param .u64 count, .param .u64 notes, .param .u64 cell, .param .u32 number)
{
  .reg .b32 n, t; .reg .b64 c, p, w;
  ld.param.u64 c, [count]; ld.param.u64 p, [notes]; ld.param.u32 n, [number];
  atom.global.add.u32 t, [c], 1;
  mul.wide.u32 w, n, 4; add.s64 p, p, w; st.global.u32 [p], t;
  ld.param.u64 p, [cell]; st.global.u32 [p], n;
  ret;
}`;

const most = 64;
const nobody = 0xffffffff;

type Words = Buffer<'u32', 'device'>;

/** A device made ready for any number of plans. */
export interface Course {
  run(plan: Plan): Promise<Trace>;
}

/** Makes a device ready. `lowBuffers` are those of what runs underneath, in the order of allocation, for a look beside all order. */
export function courseOn(device: Device, lowBuffers: readonly DeviceBuffer[]): Course {
  const module: Module = device.load(tickText);
  const tick = module.kernel('tick', ['u32*', 'u32*', 'u32*', 'u32']);
  const taken = lowBuffers.length;
  const count = device.allocate('u32', 1);
  const rest = { notes: device.allocate('u32', most), found: device.allocate('u32', most), cells: device.allocate('u32', cells) };
  const course = { device, tick, count, ...rest, lookNow: () => new DataView(lowBuffers[taken]!.read().buffer).getUint32(0, true) };
  return { run: (plan) => runPlan(course, plan) };
}

interface Ready {
  readonly device: Device;
  readonly tick: Kernel<never>;
  readonly count: Words;
  readonly notes: Words;
  /** What reads and looks find. */
  readonly found: Words;
  readonly cells: Words;
  lookNow(): number;
}

async function runPlan(ready: { tick: unknown } & Omit<Ready, 'tick'>, plan: Plan): Promise<Trace> {
  const { device, count, notes, found } = ready;
  const tick = ready.tick as Kernel<readonly [Words, Words, Words, number]>;
  for (const buffer of [count, notes]) buffer.fill(0);
  for (const buffer of [found, ready.cells]) buffer.fill(nobody);
  await device.synchronize();
  const streams = plan.streams.map((kind): Stream => {
    if (kind === 'legacy') return device.defaultStream;
    return kind === 'per thread' ? device.perThreadStream : device.stream({ nonBlocking: kind === 'non-blocking' });
  });
  const marks: Event[] = Array.from({ length: events }, () => device.event());
  const calls = new Map<number, number>();
  const works: ({ readonly isDone: boolean } | undefined)[] = [];
  const seen: { at: number; done: boolean[] }[] = [];
  for (const [i, op] of plan.operations.entries()) {
    const stream = streams[op.stream]!;
    const cell = 'cell' in op ? ready.cells.part(op.cell, 1) : ready.cells.part(0, 1);
    const enqueue = (): { readonly isDone: boolean } | undefined => {
      switch (op.kind) {
        case 'kernel':
          return tick.launch({ grid: 1, block: 1, args: [count, notes, cell, i], stream });
        case 'fill':
          return stream.fill(cell, i);
        case 'upload':
          return stream.copy(cell, Uint32Array.of(i));
        case 'look':
          return stream.copy(found.part(i, 1), count);
        case 'read':
          return stream.copy(found.part(i, 1), cell);
        case 'call':
          return stream.call(() => void calls.set(i, ready.lookNow()));
        case 'record':
          return stream.record(marks[op.event]!);
        default:
          return undefined;
      }
    };
    works.push(enqueue());
    if (op.kind === 'wait') stream.wait(marks[op.event]!);
    // What follows without a wait of the host is enqueued before the device has its turn.
    const waits = hostPart(op, device, stream, marks);
    if (waits) await waits;
    if (op.kind.startsWith('wait for')) seen.push({ at: i, done: works.map((work) => work?.isDone ?? true) });
  }
  await device.synchronize();
  const [tickets, finds, left] = [await notes.read(), await found.read(), await ready.cells.read()];
  for (const stream of streams) stream.close();
  const of = (...kinds: string[]): number[] => plan.operations.flatMap(({ kind }, i) => (kinds.includes(kind) ? [i] : []));
  const numbered = (value: number): number => (value === nobody ? -1 : value);
  return {
    tickets: new Map(of('kernel').map((i) => [i, tickets[i]!])),
    looks: new Map([...of('look').map((i) => [i, finds[i]!] as const), ...calls]),
    reads: new Map(of('read').map((i) => [i, numbered(finds[i]!)])),
    left: [...left].map(numbered),
    seen,
  };
}

/** What the host itself does: waits, or lets time pass. */
function hostPart(op: Operation, device: Device, stream: Stream, marks: readonly Event[]): Promise<unknown> | undefined {
  switch (op.kind) {
    case 'wait for stream':
      return stream.synchronize();
    case 'wait for device':
      return device.synchronize();
    case 'wait for event':
      return marks[op.event]!.synchronize();
    case 'pass time':
      return new Promise((resolve) => void setImmediate(resolve));
    default:
      return undefined;
  }
}
