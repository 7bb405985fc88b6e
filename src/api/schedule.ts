/**
 * In which order work is done: tasks that wait for each other by CUDA's rules for streams and events. Nothing of devices is known
 * here. A stream does its tasks one after the other. The legacy default stream waits for all that was handed over to blocking
 * streams before, and what is handed to these later waits for it; non-blocking streams take no part in that.
 *
 * Source: CUDA Runtime API 13.0, "Stream synchronization behavior".
 */

export interface Task {
  /** Does the work; it is over when this returns, or when the promise is kept. Neither throws nor rejects. */
  run: (() => Promise<void> | void) | undefined;
  readonly schedule: Schedule;
  /** The stream that it is in. */
  readonly lane: Lane | undefined;
  /** Tasks that this one still waits for. */
  waitsFor: number;
  /** Tasks that wait for this one, and whoever wants to know of its end. */
  next: Task[];
  wanted: (() => void)[];
  isDone: boolean;
}

/** The tasks of one stream. */
export interface Lane {
  /** Whether it waits for the legacy stream and is waited for by it. */
  readonly isBlocking: boolean;
  /** What was handed over last, while it has not ended. */
  last: Task | undefined;
  isClosed: boolean;
}

export interface Schedule {
  readonly legacy: Lane;
  readonly perThread: Lane;
  /** Lanes in which work may be under way. */
  readonly lanes: Set<Lane>;
  readonly ready: Task[];
  isDraining: boolean;
}

const newLane = (isBlocking: boolean): Lane => ({ isBlocking, last: undefined, isClosed: false });

/** A schedule with its two default streams. */
export function newSchedule(): Schedule {
  const [legacy, perThread] = [newLane(true), newLane(true)];
  return { legacy, perThread, lanes: new Set([legacy, perThread]), ready: [], isDraining: false };
}

/** One more stream. */
export function addLane({ lanes }: Schedule, isBlocking: boolean): Lane {
  const lane = newLane(isBlocking);
  lanes.add(lane);
  return lane;
}

/** Forgets a stream when its work has ended. */
export function closeLane({ lanes }: Schedule, lane: Lane): void {
  lane.isClosed = true;
  if (!lane.last) lanes.delete(lane);
}

/** Adds work at the end of a stream; `after` is what it waits for besides. */
export function addTask(schedule: Schedule, lane: Lane, run: Task['run'], after: readonly (Task | undefined)[] = []): Task {
  const { legacy, lanes } = schedule;
  const task = newTask(schedule, run, lane);
  waitFor(task, lane.last);
  for (const other of after) waitFor(task, other);
  if (lane === legacy) for (const { isBlocking, last } of lanes) waitFor(task, isBlocking ? last : undefined);
  else if (lane.isBlocking) waitFor(task, legacy.last);
  lane.last = task;
  if (task.waitsFor === 0) makeReady(task);
  return task;
}

const newTask = (schedule: Schedule, run: Task['run'], lane: Lane | undefined): Task => ({
  run,
  schedule,
  lane,
  waitsFor: 0,
  next: [],
  wanted: [],
  isDone: false,
});

/** A task that is waited for twice is counted twice, when it is met and when it ends. */
function waitFor(task: Task, other: Task | undefined): void {
  if (!other || other.isDone) return;
  other.next.push(task);
  task.waitsFor++;
}

/** What has not ended in streams that the legacy stream waits for. */
export const blockingEnds = (lanes: Iterable<Lane>): Task[] => endsOf(lanes, true);

/** Of all lanes, or of blocking ones. This is done for every launch, and a loop is cheapest. */
function endsOf(lanes: Iterable<Lane>, mustBlock: boolean): Task[] {
  const found: Task[] = [];
  for (const { last, isBlocking } of lanes) if (last && (isBlocking || !mustBlock)) found.push(last);
  return found;
}

/** Work behind other work that no stream waits for. */
export function addFree(schedule: Schedule, run: Task['run'], after: readonly Task[]): Task {
  const task = newTask(schedule, run, undefined);
  for (const other of after) waitFor(task, other);
  if (task.waitsFor === 0) makeReady(task);
  return task;
}

/** What has been handed over and has not ended: the ends of all streams. */
export const ends = ({ lanes }: Schedule): Task[] => endsOf(lanes, false);

/** Calls when a task has ended; at once where it has. */
export function want(task: Task, call: () => void): void {
  if (task.isDone) call();
  else task.wanted.push(call);
}

/** The end of a task; nothing to wait for where there is none. */
export const ended = (task: Task | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (task) want(task, resolve);
    else resolve();
  });

/** The end of several tasks. */
export async function allEnded(tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) if (!task.isDone) await ended(task);
}

/** Milliseconds after which a row of tasks lets timers and others have their turn. */
const turnMs = 8;

function makeReady(task: Task): void {
  const { schedule } = task;
  schedule.ready.push(task);
  if (schedule.isDraining) return;
  schedule.isDraining = true;
  // Whoever hands over work goes on first.
  queueMicrotask(() => drain(schedule));
}

function drain(schedule: Schedule): void {
  const { ready } = schedule;
  const start = performance.now();
  for (let at = 0; at < ready.length; at++) {
    if (performance.now() - start > turnMs) {
      ready.splice(0, at);
      setTimeout(() => drain(schedule), 0);
      return;
    }
    const task = ready[at]!;
    const running = task.run?.();
    task.run = undefined;
    if (running) void running.then(() => finish(task));
    else finish(task);
  }
  ready.length = 0;
  schedule.isDraining = false;
}

function finish(task: Task): void {
  task.isDone = true;
  const { next, wanted, lane } = task;
  task.next = [];
  task.wanted = [];
  if (lane?.last === task) {
    lane.last = undefined;
    if (lane.isClosed) task.schedule.lanes.delete(lane);
  }
  for (const call of wanted) call();
  for (const other of next) if (--other.waitsFor === 0) makeReady(other);
}
