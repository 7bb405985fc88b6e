/**
 * Block parameters for which every edge passes the same value, or the parameter itself, are replaced by that value.
 * Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013), trivial phis.
 */
import { addTo } from '../../base/group.ts';
import { cfgOf } from '../analysis/cfg.ts';
import { edgesOf, type Kernel, type Value } from '../kernel.ts';
import { dropParams, type Substitution, substitute, substitution } from './substitution.ts';

interface Flow {
  /** The arguments that reachable edges pass for each parameter. */
  readonly incoming: ReadonlyMap<Value, readonly Value[]>;
  /** The parameters that each value is passed for. */
  readonly fed: Map<Value, Value[]>;
}

/** Puts the one value in the place of each such parameter; true where there were any. */
export function dropRedundantParams(kernel: Kernel): boolean {
  if (kernel.blocks.every((block) => block.params.length === 0)) return false;
  const flow = flowOf(kernel);
  const s = substitution();
  const stack = [...flow.incoming.keys()];
  for (let param = stack.pop(); param !== undefined; param = stack.pop()) {
    const only = s.has(param) ? undefined : onlyValue(flow, s, param);
    if (only === undefined) continue;
    s.replace(param, only);
    const waiting = flow.fed.get(param) ?? [];
    stack.push(...waiting);
    // Only a parameter can be replaced in its turn.
    if (flow.incoming.has(only)) flow.fed.get(only)!.push(...waiting);
  }
  substitute(kernel, s);
  return dropParams(kernel, (param) => !s.has(param));
}

/** Edges from unreachable code do not count. */
function flowOf(kernel: Kernel): Flow {
  const incoming = new Map<Value, Value[]>();
  const fed = new Map<Value, Value[]>();
  for (const id of cfgOf(kernel).order)
    for (const { block, args } of edgesOf(kernel.blocks[id]!.end))
      args.forEach((arg, i) => {
        addTo(incoming, block.params[i]!, arg);
        addTo(fed, arg, block.params[i]!);
      });
  return { incoming, fed };
}

function onlyValue({ incoming }: Flow, { of }: Substitution, param: Value): Value | undefined {
  let only: Value | undefined;
  for (const arg of incoming.get(param)!) {
    const value = of(arg);
    if (value === param || value === only) continue;
    if (only !== undefined) return undefined;
    only = value;
  }
  return only;
}
