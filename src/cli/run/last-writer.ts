/** Finds the thread that wrote an element, by an instrumented second run of the launch on the CPU device. */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Writer } from '../../device/device.ts';
import { openCpuDevice } from '../../device/index.ts';
import { type ElementType, elements, launch } from '../../runtime/index.ts';
import type { Terminal } from '../terminal/index.ts';
import { loadTask } from './load-task.ts';
import type { Task } from './task.ts';

/** The last writer of an element of an argument; undefined if no thread wrote it, or if the CPU device does not run the kernel. */
export async function findWriter(
  { input, request, plan }: Task,
  { argument, at, element }: { readonly argument: number; readonly at: number; readonly element: ElementType },
  io: Terminal,
): Promise<Writer | undefined> {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ engine: 'lane', threads: 1 });
  const instrumented = { ...request, compile: { ...request.compile, sanitize: true } };
  const module = await loadTask(device, { input, request: instrumented, plan }, { diagnostics, notes: [] });
  if (typeof module === 'number') return undefined;
  let found: Writer | undefined;
  const take = (writer: Writer): void => {
    found = writer;
  };
  const { size } = elements[element];
  const sanitize = { kinds: new Set(['writer'] as const), writer: { argument, offset: at * size, size, take } };
  launch(device, module, plan, { repeat: 1, timeoutMs: request.timeoutMs || maxMs, observe: { sanitize } }, { io, diagnostics });
  device.close();
  return found;
}

/** The time limit of the second run in milliseconds, if the first had none. */
const maxMs = 60_000;
