/** Which thread wrote an element: the launch once more, watched, on the CPU device, the only one that knows. */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Writer } from '../../device/device.ts';
import { openCpuDevice } from '../../device/index.ts';
import { type ElementType, elements, launch } from '../../runtime/index.ts';
import type { Terminal } from '../terminal/index.ts';
import { loadTask } from './load-task.ts';
import type { Task } from './task.ts';

/** The writer of an element of an argument; nothing where no thread wrote it there, or the CPU device does not run the kernel. */
export async function findWriter(
  { input, request, plan }: Task,
  { argument, at, element }: { readonly argument: number; readonly at: number; readonly element: ElementType },
  io: Terminal,
): Promise<Writer | undefined> {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ engine: 'lane', threads: 1 });
  const watched = { ...request, compile: { ...request.compile, sanitize: true } };
  const module = await loadTask(device, { input, request: watched, plan }, { diagnostics, notes: [] });
  if (typeof module === 'number') return undefined;
  let found: Writer | undefined;
  const take = (writer: Writer): void => {
    found = writer;
  };
  const { size } = elements[element];
  const sanitize = { kinds: new Set(['writer'] as const), writer: { argument, offset: at * size, size, take } };
  launch(device, module, plan, { repeat: 1, timeoutMs: request.timeoutMs || longest, observe: { sanitize } }, { io, diagnostics });
  device.close();
  return found;
}

/** Milliseconds that a second run may take where the first had no limit. */
const longest = 60_000;
