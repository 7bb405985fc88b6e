/** The buffers and variables of a launch by name. */
import { product } from '../../../base/dim3.ts';
import { bufferOfSlot } from '../../launch-arguments.ts';
import { sharedParts } from '../../launch-shape.ts';
import { addressOf } from '../buffer.ts';
import type { Allocation } from './allocations.ts';
import type { Places, Region } from './describe-address.ts';
import type { ObservedLaunch } from './observer.ts';

/** The buffers and variables of a launch. */
export function placesOf(launch: ObservedLaunch): Places {
  const { kernel, compiled, area, request, own, allocations } = launch;
  const named = new Map<number, string>();
  kernel.reflection.params.forEach((param, i) => {
    const arg = request.args[i];
    const address = arg?.kind === 'buffer' ? addressOf(arg.buffer) : undefined;
    if (address !== undefined) named.set(address, `\`${param.name}\` (argument ${i}, `);
  });
  const ofAllocation = ({ address, size, what, isFree }: Allocation): Region => ({
    name: `${named.get(address) ?? `${what} (`}${size} bytes${isFree ? ', freed' : ''})`,
    start: address,
    bytes: size,
    isFree,
  });
  const { windows } = compiled;
  const plan = compiled.instrumented!.plan;
  const region = (name: string, start: number, bytes: number): Region => ({
    name: `${name} (${bytes} bytes)`,
    start,
    bytes,
    isFree: false,
  });
  const shared = region('the shared memory of the block', area.start + area.shared, windows.shared + sharedParts(request).size);
  const { turns } = launch;
  // Blocks that run by turns have areas of their own.
  const blocks = turns
    ? Array.from({ length: product(turns.cluster) }, (_, rank) => ({
        ...shared,
        start: turns.start + rank * turns.bytes + turns.area.shared,
      }))
    : [shared];
  const constants = region('the constants', area.start + area.constant, windows.constant);
  const values = kernel.params.flatMap((param, i) =>
    param.kind === 'value' ? [region(`the value of \`${param.name}\``, area.start + area.values[i]!, param.size)] : [],
  );
  const symbols = kernel.params.flatMap(({ memory: of }) =>
    (of?.symbols ?? []).map(({ name, offset, size }) => region(`\`${name}\``, own.address + offset, size)),
  );
  const variable = (name: string): Region | undefined => {
    const found = plan.kernel.variables.find((each) => each.name === name);
    if (!found || found.space === 'local') return undefined;
    const size = found.isDynamic ? sharedParts(request).size : found.size;
    const start = area.start + (found.space === 'shared' ? area.shared : area.constant) + plan.offsets.get(name)!;
    return found.space === 'shared' && size === windows.shared ? { ...shared, bytes: size, start } : region(`\`${name}\``, start, size);
  };
  return {
    regions: [...symbols, ...[...allocations.list].map(ofAllocation), ...blocks, constants, ...values].filter(({ bytes }) => bytes > 0),
    ofBounds(bounds) {
      if (bounds.kind === 'variable') return variable(bounds.name);
      if (bounds.kind === 'part') {
        const from = { shared: area.shared, constant: area.constant, local: undefined }[bounds.space];
        return from === undefined ? undefined : region(`\`${bounds.name}\``, area.start + from + bounds.offset, bounds.size);
      }
      if (bounds.kind === 'window') return bounds.space === 'shared' ? shared : undefined;
      const param = kernel.params[bounds.index]!;
      if (param.kind === 'threadgroup') return region('dynamic shared memory', shared.start + windows.shared, sharedParts(request).size);
      if (param.kind === 'value') return values.find(({ start }) => start === area.start + area.values[bounds.index]!);
      if (param.memory) return region('the global variables of the module', own.address, own.bytes);
      const argument = bufferOfSlot(kernel.reflection, request.args, param.slot);
      const address = argument && addressOf(argument.buffer);
      const found = [...allocations.list].find((each) => each.address === address);
      return found && ofAllocation(found);
    },
  };
}
