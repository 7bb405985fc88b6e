/** The workers of this process, which all CPU devices share. They are started when a launch is worth it, and idle until the next one. */

import { type SpawnedWorker, spawn } from '../../spawn.ts';
import type { KernelCode } from '../native/module.ts';
import { type Control, end, isOver, noteEnding, noteWhy, revoke } from './control.ts';
import { type ForgetMemory, keptModules, type Task } from './task.ts';
import { workerSource } from './worker-source.ts';

/** A worker and its latest share. */
export interface WorkerHandle {
  readonly worker: SpawnedWorker;
  /** The numbers of the modules that the worker holds, the least recently used first. */
  readonly modules: Set<number>;
  /** The number of the memory that the worker holds: that of its latest share. */
  memory: number | undefined;
  share: { readonly control: Control; readonly slot: number } | undefined;
  /** Actions for when the worker has ended. */
  readonly onExit: (() => void)[];
}

/** A share of a launch for a worker. */
export interface Assignment extends Omit<Task, 'moduleNumber' | 'memoryNumber' | 'memory' | 'wasm' | 'control'> {
  readonly memory: WebAssembly.Memory;
  readonly wasm: KernelCode;
  readonly control: Control;
}

/** Workers that end before their first share are started again this often in a row. */
const maxFailures = 3;
/** Milliseconds of launches without workers that justify starting some. */
const maxMsWithoutWorkers = 60;
/** Milliseconds of a launch that are worth a running worker. */
export const minWorthMs = 0.2;

class WorkerPool {
  readonly #workers = new Set<WorkerHandle>();
  readonly #listeners = new Set<() => void>();
  #failures = 0;
  /** Whether a worker has completed a share. */
  #hasAnswered = false;
  /** Milliseconds of launches that could have had workers and ran without. */
  #msWithoutWorkers = 0;
  /** Numbers of modules and memories. */
  readonly #numbers = new WeakMap<object, number>();
  #lastNumber = 0;

  /** Whether there are workers, or there can be. */
  get isAvailable(): boolean {
    return this.#workers.size > 0 || this.#failures < maxFailures;
  }

  /** Whether workers are running, or are worth starting for later launches. */
  get isWarm(): boolean {
    return (this.#hasAnswered && this.#workers.size > 0) || this.#msWithoutWorkers > maxMsWithoutWorkers;
  }

  /** Records how long a launch took, with workers or without. */
  noteLaunch(hadWorkers: boolean, ms: number): void {
    if (hadWorkers) this.#hasAnswered = true;
    else if (!this.#hasAnswered && ms > minWorthMs) this.#msWithoutWorkers += ms;
  }

  /** Adds an action for whenever a share has ended. */
  onAnswer(act: () => void): void {
    this.#listeners.add(act);
  }

  /** Idle workers, at most `wanted`. More are started until there are `max` in all. */
  idleWorkers(wanted: number, max: number): WorkerHandle[] {
    const idle = [...this.#workers].filter(isIdle).slice(0, wanted);
    while (idle.length < wanted && this.#workers.size < max && this.#failures < maxFailures) {
      const handle = this.#start();
      if (!handle) break;
      idle.push(handle);
    }
    return idle;
  }

  /** Gives a share of a launch to an idle worker. Its slot has been requested. */
  assign(handle: WorkerHandle, { memory, wasm, control, ...task }: Assignment): void {
    const [memoryNumber, moduleNumber] = [this.#numberOf(memory), this.#numberOf(wasm)];
    const unknown = { ...(handle.memory === memoryNumber ? {} : { memory }), ...(handle.modules.has(moduleNumber) ? {} : { wasm }) };
    handle.memory = memoryNumber;
    keepModule(handle.modules, moduleNumber);
    handle.share = { control, slot: task.slot };
    const buffer = control.words.buffer as SharedArrayBuffer;
    const message: Task = { ...task, ...unknown, control: buffer, moduleNumber, memoryNumber };
    handle.worker.post(message);
  }

  /** Terminates workers that do not stop, and calls `then` when all of them have ended. */
  drop(handles: readonly WorkerHandle[], then: () => void): void {
    let left = handles.length;
    for (const handle of handles) {
      this.#workers.delete(handle);
      handle.onExit.push(() => {
        if (--left === 0) then();
      });
      this.#abandonShare(handle, 'a worker of the device did not stop');
      handle.worker.terminate();
    }
  }

  /** Has all workers release a memory. */
  forgetMemory(memory: WebAssembly.Memory): void {
    const forget = this.#numbers.get(memory);
    if (forget === undefined) return;
    const message: ForgetMemory = { forget, bytes: memory.buffer.byteLength };
    for (const handle of this.#workers) {
      if (handle.memory === forget) handle.memory = undefined;
      handle.worker.post(message);
    }
  }

  #start(): WorkerHandle | undefined {
    let isNew = true;
    const worker = spawn(workerSource(), {
      message: () => {
        isNew = false;
        this.#hasAnswered = true;
        this.#failures = 0;
        this.#answer();
      },
      ended: (why) => {
        if (this.#workers.delete(handle)) {
          const hasBegun = this.#abandonShare(handle, `a worker of the device has ended: ${why}`);
          // One that has begun a share could start, so others can.
          this.#failures = isNew && !hasBegun ? this.#failures + 1 : 0;
        }
        for (const act of handle.onExit.splice(0)) act();
      },
    });
    if (!worker) {
      this.#failures = maxFailures;
      return undefined;
    }
    const handle: WorkerHandle = { worker, modules: new Set(), memory: undefined, share: undefined, onExit: [] };
    this.#workers.add(handle);
    return handle;
  }

  #answer(): void {
    for (const act of this.#listeners) act();
  }

  /** Ends the share of a lost worker as broken. A share that has not begun is only revoked. Returns whether it had begun. */
  #abandonShare({ share }: WorkerHandle, why: string): boolean {
    if (!share || isOver(share.control, share.slot)) return false;
    const hasBegun = !revoke(share.control, share.slot);
    if (hasBegun) {
      noteWhy(share.control, why);
      noteEnding(share.control, share.slot, 'broken', { block: [0, 0, 0], thread: 0, first: 0 });
      end(share.control, share.slot);
    }
    this.#answer();
    return hasBegun;
  }

  /** The number by which workers know a module or a memory. */
  #numberOf(key: object): number {
    const number = this.#numbers.get(key) ?? ++this.#lastNumber;
    this.#numbers.set(key, number);
    return number;
  }
}

export const workerPool = new WorkerPool();

const isIdle = ({ share }: WorkerHandle): boolean => !share || isOver(share.control, share.slot);

/** Moves a module to the end, and drops those that the worker drops as well: the least recently used. */
function keepModule(modules: Set<number>, number: number): void {
  modules.delete(number);
  modules.add(number);
  for (const oldest of modules) {
    if (modules.size <= keptModules) return;
    modules.delete(oldest);
  }
}
