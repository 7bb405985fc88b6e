/**
 * The order of work: tasks with dependencies by CUDA's rules for streams and events, independent of devices. A stream executes its
 * tasks in order. Tasks that a device keeps in order by itself are handed to it one behind the other, and waited for when nothing else
 * is ready. The legacy default stream waits for all earlier work of blocking streams, and their later work waits for it. Non-blocking
 * streams are independent of it.
 *
 * Source: CUDA Runtime API 13.0, "Stream synchronization behavior".
 */

export interface Task {
  /**
   * Executes the work, which is finished when this returns or when its promise resolves. A function is of work that the device has queued: it waits for
   * the end. Nothing throws or rejects.
   */
  run: (() => Promise<void> | (() => void) | void) | undefined;
  /** Whether the device keeps it behind other such tasks, so that it need not wait for their end. */
  readonly isQueueable: boolean;
  /** Whether the device has queued it. */
  isQueued: boolean;
  /** Dependent tasks that the device keeps behind this one. */
  followers: Task[];
  readonly schedule: Schedule;
  /** The stream of the task. */
  readonly lane: Lane | undefined;
  /** The number of unfinished dependencies. */
  waitsFor: number;
  /** Dependent tasks, and callbacks for the end of this one. */
  next: Task[];
  onEnd: (() => void)[];
  isDone: boolean;
  /** Whether closing or resetting the device has kept it from its end. */
  isCutOff: boolean;
}

/** The tasks of one stream. */
export interface Lane {
  /** Whether it synchronizes with the legacy default stream. */
  readonly isBlocking: boolean;
  /** The last enqueued task, while it is unfinished. */
  last: Task | undefined;
  isClosed: boolean;
}

export interface Schedule {
  readonly legacy: Lane;
  readonly perThread: Lane;
  /** Lanes with possibly unfinished work. */
  readonly lanes: Set<Lane>;
  readonly ready: Task[];
  /** What the device has queued, in that order, with what waits for the end. */
  readonly queued: { readonly task: Task; readonly end: () => void }[];
  isDraining: boolean;
}

const newLane = (isBlocking: boolean): Lane => ({ isBlocking, last: undefined, isClosed: false });

/** A schedule with its two default streams. */
export function newSchedule(): Schedule {
  const [legacy, perThread] = [newLane(true), newLane(true)];
  return { legacy, perThread, lanes: new Set([legacy, perThread]), ready: [], queued: [], isDraining: false };
}

/** Adds a stream. */
export function addLane({ lanes }: Schedule, isBlocking: boolean): Lane {
  const lane = newLane(isBlocking);
  lanes.add(lane);
  return lane;
}

/** Removes a stream when its work has finished. */
export function closeLane({ lanes }: Schedule, lane: Lane): void {
  lane.isClosed = true;
  if (!lane.last) lanes.delete(lane);
}

/** Appends a task to a stream; `after` are additional dependencies. */
export function addTask(
  schedule: Schedule,
  lane: Lane,
  run: Task['run'],
  after: readonly (Task | undefined)[] = [],
  isQueueable = false,
): Task {
  const { legacy, lanes } = schedule;
  const task = newTask(schedule, run, lane, isQueueable);
  waitFor(task, lane.last);
  for (const other of after) waitFor(task, other);
  if (lane === legacy) for (const { isBlocking, last } of lanes) waitFor(task, isBlocking ? last : undefined);
  else if (lane.isBlocking) waitFor(task, legacy.last);
  lane.last = task;
  if (task.waitsFor === 0) makeReady(task);
  return task;
}

const newTask = (schedule: Schedule, run: Task['run'], lane: Lane | undefined, isQueueable = false): Task => ({
  run,
  schedule,
  lane,
  isQueueable,
  isQueued: false,
  followers: [],
  waitsFor: 0,
  next: [],
  onEnd: [],
  isDone: false,
  isCutOff: false,
});

/** Adds a dependency. A repeated dependency is counted twice, here and when it finishes. */
function waitFor(task: Task, other: Task | undefined): void {
  if (!other || other.isDone) return;
  const isBehind = task.isQueueable && other.isQueueable;
  if (isBehind && other.isQueued) return;
  (isBehind ? other.followers : other.next).push(task);
  task.waitsFor++;
}

/** The unfinished ends of the streams that the legacy default stream waits for. */
export const unfinishedBlocking = (lanes: Iterable<Lane>): Task[] => unfinishedOf(lanes, true);

/** The last unfinished tasks of all lanes, or of blocking ones. A plain loop, because every launch calls this. */
function unfinishedOf(lanes: Iterable<Lane>, mustBlock: boolean): Task[] {
  const found: Task[] = [];
  for (const { last, isBlocking } of lanes) if (last && (isBlocking || !mustBlock)) found.push(last);
  return found;
}

/** Adds a task with dependencies that no stream waits for. */
export function addFree(schedule: Schedule, run: Task['run'], after: readonly Task[]): Task {
  const task = newTask(schedule, run, undefined);
  for (const other of after) waitFor(task, other);
  if (task.waitsFor === 0) makeReady(task);
  return task;
}

/** The last unfinished tasks of all streams. */
export const unfinished = ({ lanes }: Schedule): Task[] => unfinishedOf(lanes, false);

/** Calls back when a task has finished; immediately if it already has. */
export function whenEnded(task: Task, call: () => void): void {
  if (task.isDone) call();
  else task.onEnd.push(call);
}

/** Resolves when a task has finished; immediately without a task. */
export const ended = (task: Task | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (task) whenEnded(task, resolve);
    else resolve();
  });

/** Resolves when all tasks have finished. */
export async function allEnded(tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) if (!task.isDone) await ended(task);
}

/** The time in milliseconds after which a run of tasks yields to the event loop. */
const maxTurnMs = 8;

/** Calls back when the event loop has had its turn. A timer of 0 ms takes one millisecond in Node and Bun, during which a GPU would be idle. */
const afterEvents: (call: () => void) => void =
  typeof setImmediate === 'function' ? (call) => void setImmediate(call) : (call) => void setTimeout(call, 0);

function makeReady(task: Task): void {
  const { schedule } = task;
  schedule.ready.push(task);
  if (schedule.isDraining) return;
  schedule.isDraining = true;
  // The caller continues first.
  queueMicrotask(() => drain(schedule));
}

/** The most tasks that a device has queued: a driver has room for some more. */
const maxQueued = 256;

function drain(schedule: Schedule): void {
  const { ready, queued } = schedule;
  const start = performance.now();
  let at = 0;
  while (at < ready.length || queued.length > 0) {
    if (performance.now() - start > maxTurnMs) {
      ready.splice(0, at);
      afterEvents(() => drain(schedule));
      return;
    }
    if (at < ready.length && queued.length < maxQueued) execute(ready[at++]!);
    else endOldest(schedule);
  }
  ready.length = 0;
  schedule.isDraining = false;
}

function execute(task: Task): void {
  const running = task.run?.();
  task.run = undefined;
  if (typeof running === 'function') {
    task.isQueued = true;
    task.schedule.queued.push({ task, end: running });
    release(task.followers.splice(0));
  } else if (running) void running.then(() => finish(task));
  else finish(task);
}

/** Waits for the end of what was queued first. */
function endOldest({ queued }: Schedule): void {
  const { task, end } = queued.shift()!;
  end();
  finish(task);
}

function release(tasks: readonly Task[]): void {
  for (const task of tasks) if (--task.waitsFor === 0) makeReady(task);
}

function finish(task: Task): void {
  task.isDone = true;
  const { next, onEnd, lane } = task;
  task.next = [];
  task.onEnd = [];
  if (lane?.last === task) {
    lane.last = undefined;
    if (lane.isClosed) task.schedule.lanes.delete(lane);
  }
  for (const call of onEnd) call();
  release(task.followers.splice(0));
  release(next);
}
