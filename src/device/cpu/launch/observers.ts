/**
 * The observers that a launch request asks for. A plain launch does without this file, which is loaded at its first call
 * (`scripts/lazy-modules.ts`), and exports nothing but functions.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { Dim3, LaunchRequest } from '../../device.ts';
import { startProfile } from '../instrument/profile/run.ts';
import { startOrder } from '../instrument/thread-order/order.ts';
import { linear, startTrace } from '../instrument/trace/run.ts';
import type { ObservedLaunch, Observer, SanitizedLaunch } from '../observe/observer.ts';
import type { AccessChecks } from '../sanitizer/fast/insert-checks.ts';
import { type FastSanitizer, startFastSanitizer } from '../sanitizer/fast/launch.ts';
import { startPreciseSanitizer } from '../sanitizer/precise/launch.ts';
import { hasSpecialOrder } from '../sanitizer/precise/sync-roles.ts';
import type { Instruments } from './instruments.ts';
import type { Scope } from './scope.ts';

/** The instruments that the kernel of an observed launch is compiled with. */
export function instrumentsOf({ kernel, sanitize, schedule, trace, profile }: LaunchRequest): Instruments {
  return {
    ...(sanitize ? { sanitize: sanitize.kinds } : {}),
    ...(hasSpecialOrder(sanitize?.source, kernel) ? { asyncSource: sanitize!.source } : {}),
    ...(schedule ? { isOrdered: true } : {}),
    ...(trace ? { probe: 'trace' } : profile ? { probe: 'profile' } : {}),
  };
}

/** Whether the observers of a request go together and the traced thread exists. Reports CM5027 or CM5028 otherwise. */
export function canObserve({ kernel, grid, block, sanitize, trace, profile }: LaunchRequest, diagnostics: Diagnostics): boolean {
  const [first, second] = [...(sanitize ? ['faults'] : []), ...(trace ? ['a trace'] : []), ...(profile ? ['a profile'] : [])];
  if (first && second) diagnostics.report('CM5027', { kernel, first, second });
  const isThere = !trace || (linear(trace.block, grid) !== undefined && linear(trace.thread, block) !== undefined);
  const spelled = (at: number | Dim3): string => (typeof at === 'number' ? `${at}` : at.join('.'));
  if (!isThere) {
    const [blocks, threads] = [grid.join(' x '), block.join(' x ')];
    diagnostics.report('CM5028', { thread: spelled(trace.thread), block: spelled(trace.block), blocks, threads });
  }
  return !second && isThere;
}

/** Starts the observers of a launch, which end with the scope; undefined after reporting CM6012. Only a device knows the allocations that the sanitizer needs. */
export function startObservers(
  launch: ObservedLaunch,
  hasAllocations: boolean,
  scope: Scope,
  diagnostics: Diagnostics,
): Observer[] | undefined {
  const { memory, request } = launch;
  const { schedule, trace, profile, sanitize } = request;
  const starts: readonly (false | undefined | (() => Observer | undefined))[] = [
    schedule && (() => startOrder(memory, request, schedule, diagnostics)),
    trace && (() => startTrace(launch, trace)),
    profile && (() => startProfile(launch, profile, diagnostics)),
    sanitize && hasAllocations && (() => startPreciseSanitizer({ ...launch, request: { ...request, sanitize } }, diagnostics)),
  ];
  const observers: Observer[] = [];
  for (const start of starts) {
    if (!start) continue;
    const observer = start();
    if (!observer) return undefined;
    scope.defer((isWell) => observer.end(isWell));
    observers.push(observer);
  }
  return observers;
}

/** Starts the fast sanitizer of a launch with fast checks; undefined without memory for it. */
export const startFastObserver = (launch: SanitizedLaunch, checks: AccessChecks): FastSanitizer | undefined =>
  startFastSanitizer(launch, checks);

/** Whether fast checks cannot know the order of a kernel's accesses: they know nothing of asynchronous operations and barriers in memory. */
export const isBeyondFastChecks = (request: LaunchRequest): boolean => hasSpecialOrder(request.sanitize?.source, request.kernel);
