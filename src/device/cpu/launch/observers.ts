/** Who goes along with a launch, by its request. */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { Dim3, LaunchRequest } from '../../device.ts';
import { startProfile } from '../instrument/profile/run.ts';
import { startOrder } from '../instrument/thread-order/order.ts';
import { linear, startTrace } from '../instrument/trace/run.ts';
import type { Observed, Observer } from '../observe/observer.ts';
import type { Instruments } from './instruments.ts';

/** What the kernel has to be compiled with; nothing where a launch is not watched. */
export function instrumentsOf({ sanitize, schedule, trace, profile }: LaunchRequest): Instruments | undefined {
  if (!sanitize && !schedule && !trace && !profile) return undefined;
  return {
    ...(sanitize ? { sanitize: sanitize.kinds } : {}),
    ...(schedule ? { isOrdered: true } : {}),
    ...(trace ? { probe: 'trace' } : profile ? { probe: 'profile' } : {}),
  };
}

/** Whether a launch can be watched as it asks; CM5027 or CM5028 is reported where not. */
export function canWatch({ kernel, grid, block, sanitize, trace, profile }: LaunchRequest, diagnostics: Diagnostics): boolean {
  const [first, second] = [...(sanitize ? ['faults'] : []), ...(trace ? ['a trace'] : []), ...(profile ? ['a profile'] : [])];
  if (first && second) diagnostics.report('CM5027', { kernel, first, second });
  const isThere = !trace || (linear(trace.block, grid) !== undefined && linear(trace.thread, block) !== undefined);
  const words = (at: number | Dim3): string => (typeof at === 'number' ? `${at}` : at.join('.'));
  if (!isThere) {
    const [blocks, threads] = [grid, block].map((dims) => dims.join(' x ')) as [string, string];
    diagnostics.report('CM5028', { thread: words(trace.thread), block: words(trace.block), blocks, threads });
  }
  return !second && isThere;
}

/** Makes them ready; nothing after reporting CM6012. */
export function startObservers(observed: Observed, diagnostics: Diagnostics): Observer[] | undefined {
  const { memory, request } = observed;
  const { schedule, trace, profile } = request;
  const wanted = [
    ...(schedule ? [startOrder(memory, request, schedule, diagnostics)] : []),
    ...(trace ? [startTrace(observed, trace)] : []),
    ...(profile ? [startProfile(observed, profile, diagnostics)] : []),
  ];
  const started = wanted.filter((observer) => observer !== undefined);
  if (started.length === wanted.length) return started;
  for (const observer of started) observer.end(false);
  return undefined;
}
