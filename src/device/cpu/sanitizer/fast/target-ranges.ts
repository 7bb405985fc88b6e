/** The memory that the targets of checks are in a launch. */
import { bufferOfSlot } from '../../../launch-arguments.ts';
import { sharedParts } from '../../../launch-shape.ts';
import { addressOf } from '../../buffer.ts';
import type { Allocation } from '../../observe/allocations.ts';
import type { SanitizedLaunch } from '../../observe/observer.ts';
import type { Target } from './insert-checks.ts';

export interface TargetRange {
  readonly start: number;
  readonly bytes: number;
  /** The buffer that contains it. */
  readonly allocation: Allocation | undefined;
  readonly isShared: boolean;
}

/** The range of a target; an empty one if it is fixed, as the code contains fixed ranges. */
export function rangeOfTarget(launch: SanitizedLaunch, { bounds, space, fixed }: Target): TargetRange {
  const isShared = space === 'shared';
  if (fixed) return { start: 0, bytes: 0, allocation: undefined, isShared };
  const span = bounds.kind === 'param' ? spanOfParam(launch, bounds.index) : spanOfShared(launch, bounds.kind === 'variable');
  return { allocation: undefined, ...span, isShared };
}

type Span = Pick<TargetRange, 'start' | 'bytes'> & { readonly allocation?: Allocation | undefined };

/** All of shared memory, or its dynamic part. */
function spanOfShared({ compiled, area, request }: SanitizedLaunch, isDynamic: boolean): Span {
  const { shared } = compiled.windows;
  const start = area.start + area.shared;
  const dynamicBytes = sharedParts(request).size;
  return isDynamic ? { start: start + shared, bytes: dynamicBytes } : { start, bytes: shared + dynamicBytes };
}

function spanOfParam(launch: SanitizedLaunch, index: number): Span {
  const { kernel, area, request, own, allocations } = launch;
  const param = kernel.params[index]!;
  if (param.kind === 'threadgroup') return spanOfShared(launch, true);
  if (param.kind === 'value') return { start: area.start + area.values[index]!, bytes: param.size };
  const at = (address: number): Allocation | undefined => [...allocations.list].find((each) => each.address === address && !each.isFree);
  if (param.memory) return { start: own.address, bytes: own.bytes, allocation: at(own.address) };
  const argument = bufferOfSlot(kernel.reflection, request.args, param.slot);
  const address = argument && addressOf(argument.buffer);
  if (!argument || address === undefined) return { start: 0, bytes: 0 };
  const { buffer, offset = 0 } = argument;
  return { start: address + offset, bytes: buffer.size - offset, allocation: at(address) };
}
