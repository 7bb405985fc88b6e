/** Copies between two devices: work of a stream of one of them, while the other one keeps its memory. */
import { type Part, transfer } from './buffer.ts';
import { assertUsable, type Context, errorWith } from './context.ts';
import { assertWithin, bytesAt, copyBytes, putBytes } from './memory.ts';
import { addLane, addTask, closeLane, whenEnded } from './schedule.ts';
import { assertAcceptsWork, type InStream, type Work } from './work.ts';

/** Copies to the start of a buffer from one of another device, in the order of a stream of either. Throws CM5062 for a stream of neither. */
export function copyBetween(stream: InStream, target: Part, source: Part): Work<undefined> {
  for (const part of [target, source]) part.assertUsable();
  const [own, other] = stream.context === target.context ? [target, source] : [source, target];
  assertAcceptsWork(own.context, stream);
  const count = source.byteLength;
  assertWithin(target.byteLength, 0, count);
  const taken = source.state === 'host' ? bytesAt(source, count).slice() : undefined;
  if (own === target && taken) return transfer(stream, [own.memory], () => putBytes(target, taken));
  const end = hold(other.context);
  const { memory } = other;
  memory.uses++;
  const work = transfer(stream, [own.memory], () => {
    assertUsable(other.context, other, 'buffer');
    if (taken) putBytes(target, taken);
    else copyBytes(target, source, count);
  });
  whenEnded(work.task!, () => {
    memory.uses--;
    end();
  });
  return work;
}

/** Keeps a device from being idle, so that it does not free memory; ends when the function is called. */
function hold({ schedule, isClosed }: Context): () => void {
  if (isClosed) throw errorWith('CM5061', { what: 'device', ended: 'closed' });
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // A stream of its own, which nothing else waits for.
  const lane = addLane(schedule, false);
  addTask(schedule, lane, () => ended);
  closeLane(schedule, lane);
  return end;
}
