/**
 * Random schedules of work over four streams, and an independent model of the order that CUDA demands of them: which operation has to
 * have ended before which begins, by the rules of the manual alone.
 *
 * Source: CUDA Runtime API, "Stream synchronization behavior"; "Event Management": an event recorded in stream 0 is recorded after
 * all operations before it, and later work of all (blocking) streams waits for an event that stream 0 waits for.
 */

/** Of the four streams. The default ones are blocking streams too. */
export type StreamKind = 'legacy' | 'per thread' | 'blocking' | 'non-blocking';

/** What is done, and what is seen of it: kernels take a ticket, copies and calls look at how many were taken. */
export type Operation = { readonly stream: number } & (
  | { readonly kind: 'kernel' | 'fill' | 'upload'; readonly cell: number }
  | { readonly kind: 'look' | 'call' }
  | { readonly kind: 'read'; readonly cell: number }
  | { readonly kind: 'record' | 'wait'; readonly event: number }
  /** Of the host: for a stream, the device, or an event, and time that passes. */
  | { readonly kind: 'wait for stream' | 'wait for device' | 'pass time' }
  | { readonly kind: 'wait for event'; readonly event: number }
);

export interface Plan {
  readonly streams: readonly StreamKind[];
  readonly operations: readonly Operation[];
}

export const cells = 3;
export const events = 3;

/** A plan of up to 40 operations. */
export function randomPlan(random: (below: number) => number): Plan {
  const pick = <T>(...list: readonly T[]): T => list[random(list.length)]!;
  const streams: StreamKind[] = [
    pick<StreamKind>('legacy', 'legacy', 'legacy', 'non-blocking'),
    pick<StreamKind>('per thread', 'blocking'),
    'blocking',
    pick<StreamKind>('non-blocking', 'non-blocking', 'blocking'),
  ];
  const operation = (): Operation => {
    const [stream, cell, event] = [random(4), random(cells), random(events)];
    const roll = random(100);
    if (roll < 30) return { kind: 'kernel', stream, cell };
    if (roll < 37) return { kind: 'fill', stream, cell };
    if (roll < 44) return { kind: 'upload', stream, cell };
    if (roll < 54) return { kind: 'look', stream };
    if (roll < 60) return { kind: 'call', stream };
    if (roll < 70) return { kind: 'read', stream, cell };
    if (roll < 80) return { kind: 'record', stream, event };
    if (roll < 90) return { kind: 'wait', stream, event };
    if (roll < 94) return { kind: 'pass time', stream };
    return roll < 96
      ? { kind: 'wait for stream', stream }
      : roll < 99
        ? { kind: 'wait for event', stream, event }
        : { kind: 'wait for device', stream };
  };
  return { streams, operations: Array.from({ length: 8 + random(32) }, operation) };
}

/** Whether one operation has to have ended before another begins. */
export type Before = (first: number, second: number) => boolean;

/** The order that a plan demands. */
export function orderOf({ streams, operations }: Plan): Before {
  const count = operations.length;
  const direct = operations.map(() => new Set<number>());
  const isHost = ({ kind }: Operation): boolean => kind.startsWith('wait for') || kind === 'pass time';
  const isWork = ({ kind, stream }: Operation): boolean =>
    // Marks of the legacy stream stand for all streams; those of others for their own.
    !['record', 'wait'].includes(kind) || streams[stream] === 'legacy';
  const blocks = (kind: StreamKind): boolean => kind !== 'non-blocking';
  operations.forEach((second, j) => {
    if (isHost(second)) return;
    operations.slice(0, j).forEach((first, i) => {
      if (isHost(first)) return;
      const [of, by] = [streams[first.stream]!, streams[second.stream]!];
      const isSame = first.stream === second.stream;
      const isLegacy = (of === 'legacy' && blocks(by)) || (by === 'legacy' && blocks(of));
      if (isSame || (isLegacy && isWork(first) && isWork(second))) direct[i]!.add(j);
    });
  });
  const lastRecord = (event: number, before: number): number =>
    operations.reduce((last, op, i) => (i < before && op.kind === 'record' && op.event === event ? i : last), -1);
  operations.forEach((op, j) => {
    if (op.kind === 'wait' || op.kind === 'wait for event') {
      const record = lastRecord(op.event, j);
      if (record >= 0) direct[record]!.add(j);
    }
    if (op.kind === 'wait for stream' || op.kind === 'wait for device')
      operations.slice(0, j).forEach((first, i) => {
        if (!isHost(first) && (op.kind === 'wait for device' || first.stream === op.stream)) direct[i]!.add(j);
      });
    // What the host waits for, all that it hands over later waits for.
    if (isHost(op)) for (let later = j + 1; later < count; later++) direct[j]!.add(later);
  });
  const reached = direct.map(() => new Set<number>());
  for (let i = count - 1; i >= 0; i--)
    for (const next of direct[i]!) {
      reached[i]!.add(next);
      for (const further of reached[next]!) reached[i]!.add(further);
    }
  return (first, second) => reached[first]!.has(second);
}

/** What a run left, by operation. */
export interface Trace {
  /** Tickets that kernels took: how many kernels ran before it. */
  readonly tickets: ReadonlyMap<number, number>;
  /** How many tickets were taken when a copy or a call looked. */
  readonly looks: ReadonlyMap<number, number>;
  /** What reads found: the number of the operation that wrote, or -1 where nobody had. */
  readonly reads: ReadonlyMap<number, number>;
  /** What cells hold at the end. */
  readonly left: readonly number[];
  /** Operations that were seen to have ended when the host had waited. */
  readonly seen: readonly { readonly at: number; readonly done: readonly boolean[] }[];
}

/** In words what of a run is against the order; nothing where all is as it has to be. */
export function faultOf(plan: Plan, { tickets, looks, reads, left, seen }: Trace): string | undefined {
  const { operations } = plan;
  const before = orderOf(plan);
  const name = (i: number): string => `#${i} ${operations[i]!.kind}`;
  for (let i = 0; i < operations.length; i++)
    for (let j = 0; j < operations.length; j++) {
      if (!before(i, j)) continue;
      const [a, b] = [tickets.get(i), tickets.get(j)];
      const [c, d] = [looks.get(i), looks.get(j)];
      const isWrong =
        (a !== undefined && b !== undefined && a >= b) ||
        (a !== undefined && d !== undefined && d <= a) ||
        (c !== undefined && b !== undefined && b < c) ||
        (c !== undefined && d !== undefined && d < c);
      if (isWrong) return `${name(j)} did not wait for ${name(i)}`;
    }
  const kernels = operations.flatMap(({ kind }, i) => (kind === 'kernel' ? [i] : []));
  if (new Set(kernels.map((i) => tickets.get(i))).size !== kernels.length || tickets.size !== kernels.length)
    return 'not every kernel ran once';
  for (const [i, op] of operations.entries())
    if (op.kind === 'read') {
      const found = reads.get(i)!;
      if (!mayFind(plan, before, op.cell, i, found)) return `${name(i)} found what #${found} wrote to cell ${op.cell}`;
    }
  for (const [cell, found] of left.entries())
    if (!mayFind(plan, before, cell, undefined, found)) return `cell ${cell} holds what #${found} wrote`;
  for (const { at, done } of seen)
    for (const [i, isDone] of done.entries()) if (before(i, at) && !isDone) return `${name(i)} had not ended at ${name(at)}`;
  return undefined;
}

/** Whether a reader, or whoever looks at the end, may find what an operation wrote: nothing in order between them overwrote it. */
function mayFind({ operations }: Plan, before: Before, cell: number, reader: number | undefined, found: number): boolean {
  const writers = operations.flatMap((op, i) =>
    ['kernel', 'fill', 'upload'].includes(op.kind) && 'cell' in op && op.cell === cell ? [i] : [],
  );
  const isBehind = (writer: number): boolean => reader === undefined || before(writer, reader);
  if (found < 0) return !writers.some(isBehind);
  if (!writers.includes(found) || (reader !== undefined && before(reader, found))) return false;
  return !writers.some((other) => before(found, other) && isBehind(other));
}
