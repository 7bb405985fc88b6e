/**
 * The program of a worker: it runs shares of launches, one after the other. It is a module of its own, which
 * bundles contain as text (`worker-source.ts`).
 */
import { Stuck } from '../../../engine/codegen/host.ts';
import { noteUnused } from '../collector.ts';
import type { KernelCode } from '../native/module.ts';
import { begin, controlIn, end, endingOfTrap, noteEnding, noteWhy } from './control.ts';
import { currentPlace, type KernelInstance, newInstance } from './instance.ts';
import { Waiting } from './residents.ts';
import { newShare, Stopped } from './share.ts';
import { type ForgetMemory, keptModules, type Task } from './task.ts';

interface Port {
  postMessage(message: unknown): void;
  on?(event: 'message', act: (data: never) => void): void;
  onmessage?: ((event: { readonly data: never }) => void) | null;
}

/** Modules by number, the least recently used first. */
const modules = new Map<number, KernelCode>();
/** The memory of the last launch, and instances on it. */
let memory: WebAssembly.Memory | undefined;
const instances = new Map<number, KernelInstance>();
let memoryNumber = -1;

function moduleOf({ moduleNumber, wasm }: Task): KernelCode {
  const known = wasm ?? modules.get(moduleNumber)!;
  modules.delete(moduleNumber);
  modules.set(moduleNumber, known);
  for (const number of modules.keys()) {
    if (modules.size <= keptModules) break;
    modules.delete(number);
    instances.delete(number);
  }
  return known;
}

function instanceOf(task: Task): KernelInstance {
  if (task.memoryNumber !== memoryNumber) instances.clear();
  memoryNumber = task.memoryNumber;
  memory = task.memory ?? memory;
  const wasm = moduleOf(task);
  const instance = instances.get(task.moduleNumber) ?? newInstance(wasm, memory!);
  instances.set(task.moduleNumber, instance);
  return instance;
}

function run(task: Task): void {
  const control = controlIn(task.control);
  const { slot } = task;
  const share = newShare(task.work, control, slot);
  let instance: KernelInstance | undefined;
  let isBegun = false;
  try {
    // The module of a revoked share is kept as well: later shares come without it.
    instance = instanceOf(task);
    isBegun = begin(control, slot);
    if (!isBegun) return;
    instance.onTick = share.tick;
    instance.set(task.globals);
    share.take(instance);
  } catch (error) {
    if (!isBegun && !begin(control, slot)) return;
    const trap = error instanceof WebAssembly.RuntimeError && instance ? endingOfTrap(error) : 'broken';
    const ending = error instanceof Stopped ? 'stopped' : error instanceof Stuck ? 'stuck' : error instanceof Waiting ? 'waiting' : trap;
    if (ending === 'broken') noteWhy(control, String(error));
    noteEnding(control, slot, ending, { ...(instance ? currentPlace(instance) : { block: [0, 0, 0], thread: 0 }), first: share.first });
  }
  end(control, slot);
}

function take(message: Task | ForgetMemory): void {
  if ('forget' in message) {
    if (message.forget === memoryNumber) {
      instances.clear();
      memory = undefined;
    }
    noteUnused(message.bytes);
    return;
  }
  run(message);
  port.postMessage(message.slot);
}

interface Process {
  getBuiltinModule?(name: string): { parentPort: Port | null } | undefined;
}

/** The parent port in Node; otherwise, and in Bun, which has both, the global object. */
function portOf(): Port {
  const scope = globalThis as { readonly onmessage?: unknown; readonly process?: Process };
  if (scope.onmessage !== undefined || 'WorkerGlobalScope' in scope) return scope as unknown as Port;
  return scope.process?.getBuiltinModule?.('node:worker_threads')?.parentPort ?? (scope as unknown as Port);
}

const port = portOf();
if (port.on) port.on('message', take as (data: never) => void);
else port.onmessage = ({ data }) => take(data);
