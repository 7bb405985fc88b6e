/** Reports why a launch has ended: a fault, a time limit, a cancellation. */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import { product } from '../../../base/dim3.ts';
import type { LaunchRequest } from '../../device.ts';
import { type Control, claimed, doneUnits, endingOf, endings, type Place, placeOf, stops, whyBroken, whyStop } from '../workers/control.ts';
import { blocksOf, unitOf, unitsOf, type Work } from '../workers/share.ts';

interface EndedLaunch {
  readonly work: Work;
  readonly request: LaunchRequest;
  /** Threads that execute an access together. */
  readonly lanes: number;
}

/** Whether all blocks have ended. Reports CM6010, CM6011, CM6016, CM6017, CM6019, CM6031 or CM6032 otherwise. */
export function reportEnding(control: Control, launch: EndedLaunch, diagnostics: Diagnostics): boolean {
  const fault = firstPlace(control, endings.fault, endings.misaligned, endings.stuck, endings.waiting);
  if (fault) {
    reportFault(fault, launch, diagnostics);
    return false;
  }
  const { request, work } = launch;
  const { kernel } = request;
  const done = doneUnits(control);
  if (done >= unitsOf(work)) return true;
  switch (whyStop(control)) {
    case stops.timeUp: {
      const place = firstPlace(control, endings.stopped) ?? nextPlace(control, work);
      diagnostics.report('CM6010', { ...describePlace(place, request), seconds: request.timeoutMs / 1000 });
      break;
    }
    case stops.cancelled:
      // Only the last unit may have fewer blocks, and not all have ended.
      diagnostics.report('CM6016', { kernel, done: done * unitOf(work), total: blocksOf(work) });
      break;
    case stops.broken:
      diagnostics.report('CM6017', { kernel, why: whyBroken(control) });
      break;
    default:
    // The sanitizer has found a deadlock and reports it.
  }
  return false;
}

type EndedPlace = Place & { readonly ending: number };

/** The place of the lowest block whose share ended in one of these ways. */
function firstPlace(control: Control, ...wanted: number[]): EndedPlace | undefined {
  let lowest: (EndedPlace & { readonly first: number }) | undefined;
  // Most launches end well, and then nothing is made here.
  for (let slot = 0; slot < control.slots; slot++) {
    const ending = endingOf(control, slot);
    if (!wanted.includes(ending)) continue;
    const place = { ending, ...placeOf(control, slot) };
    if (!lowest || place.first < lowest.first) lowest = place;
  }
  return lowest;
}

function reportFault(fault: EndedPlace, { request, lanes }: EndedLaunch, diagnostics: Diagnostics): void {
  if (fault.ending === endings.stuck) return void diagnostics.report('CM6031', describePlace(fault, request));
  if (fault.ending === endings.waiting) return void diagnostics.report('CM6032', describePlace(fault, request));
  // The threads of a lane group access memory together.
  const last = Math.min(fault.thread + lanes, product(request.block)) - 1 - fault.thread;
  const others = last > 1 ? ` or one of the next ${last} threads` : last === 1 ? ' or the next one' : '';
  diagnostics.report(fault.ending === endings.fault ? 'CM6011' : 'CM6019', { ...describePlace(fault, request), others });
}

/** The place at which the next share would have started. */
function nextPlace(control: Control, work: Work): Place {
  const [nx, ny] = work.grid;
  const block = Math.min(claimed(control) * unitOf(work), blocksOf(work) - 1);
  return { block: [block % nx, Math.floor(block / nx) % ny, Math.floor(block / (nx * ny))], thread: 0 };
}

/** Kernel, block and thread as diagnostics spell them. */
export function describePlace(
  { block, thread }: Pick<Place, 'block' | 'thread'>,
  { kernel, block: [nx, ny] }: LaunchRequest,
): { kernel: string; block: string; thread: string } {
  const at = [thread % nx, Math.floor(thread / nx) % ny, Math.floor(thread / (nx * ny))];
  return { kernel, block: block.join(', '), thread: at.join(', ') };
}
