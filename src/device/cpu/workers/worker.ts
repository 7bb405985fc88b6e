/**
 * What a worker runs: shares of launches, one after the other. It is bundled as a text (`worker.generated.ts`), for a worker is started
 * from nothing but a text wherever the package may be, in a single file as in a page.
 */
import { begin, controlIn, end, endingOfTrap, noteEnding, noteWhy } from './control.ts';
import { type KernelInstance, newInstance, placeIn } from './instance.ts';
import { newShare, Stopped } from './share.ts';
import { type Farewell, keptModules, type Task } from './task.ts';

interface Port {
  postMessage(message: unknown): void;
  on?(event: 'message', act: (data: never) => void): void;
  onmessage?: ((event: { readonly data: never }) => void) | null;
}

/** By their numbers, in the order of their last use. */
const modules = new Map<number, WebAssembly.Module>();
/** Of the memory of the last launch. */
const instances = new Map<number, KernelInstance>();
let memoryNumber = -1;

function moduleOf({ moduleNumber, wasm }: Task): WebAssembly.Module {
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
  const wasm = moduleOf(task);
  const instance = instances.get(task.moduleNumber) ?? newInstance(wasm, task.memory);
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
    // Even one that is not wanted any more brings a module that later ones take as known.
    instance = instanceOf(task);
    isBegun = begin(control, slot);
    if (!isBegun) return;
    instance.onTick = share.tick;
    instance.set(task.globals);
    share.take(instance.run);
  } catch (error) {
    if (!isBegun && !begin(control, slot)) return;
    const trap = error instanceof WebAssembly.RuntimeError && instance ? endingOfTrap(error) : 'broken';
    const ending = error instanceof Stopped ? 'stopped' : trap;
    if (ending === 'broken') noteWhy(control, String(error));
    noteEnding(control, slot, ending, { ...(instance ? placeIn(instance) : { block: [0, 0, 0], thread: 0 }), first: share.first });
  }
  end(control, slot);
}

function take(message: Task | Farewell): void {
  if ('forget' in message) {
    if (message.forget === memoryNumber) instances.clear();
    return;
  }
  run(message);
  port.postMessage(message.slot);
}

interface Process {
  getBuiltinModule?(name: string): { parentPort: Port | null } | undefined;
}

/** In Node a worker has a port; elsewhere, and in Bun, which has both, its global object is one. */
function portOf(): Port {
  const scope = globalThis as { readonly onmessage?: unknown; readonly process?: Process };
  if (scope.onmessage !== undefined || 'WorkerGlobalScope' in scope) return scope as unknown as Port;
  return scope.process?.getBuiltinModule?.('node:worker_threads')?.parentPort ?? (scope as unknown as Port);
}

const port = portOf();
if (port.on) port.on('message', take as (data: never) => void);
else port.onmessage = ({ data }) => take(data);
