/** Filling in a launch: arguments from the kernel's own loads and stores, grid and block that cover the elements. */

import { product } from '../base/dim3.ts';
import type { DeviceLimits, Dim3 } from '../device/device.ts';
import type { Argument } from './argument.ts';
import { type ElementType, type ElementValue, elementCount, elements, integerRange, type Kernel, type Parameter } from './element.ts';
import type { FullPlan, LaunchPlan } from './plan.ts';
import type { Init } from './rand.ts';

/** Elements of a made-up buffer, and the value of a made-up integer scalar. */
const madeUpCount = 1024;
/** Threads of a made-up block, where neither kernel nor device asks for fewer. */
const madeUpThreads = 256;

/** The plan with every gap filled; each thing made up is said in `madeUp`. */
export function fillPlan(plan: LaunchPlan, kernel: Kernel, limits: DeviceLimits): FullPlan {
  const madeUp: string[] = [];
  const args = plan.args ?? kernel.params.map((parameter) => madeUpArgument(parameter, madeUp));
  const count = plan.args ? largestBuffer(args) : madeUpCount;
  const block = plan.block ?? kernel.requiredThreads ?? madeUpBlock(plan.grid, count, kernel, limits);
  const grid = plan.grid ?? [Math.max(1, Math.ceil(count / product(block))), 1, 1];
  if (!plan.block || !plan.grid) {
    const what = plan.block ? 'grid' : plan.grid ? 'block' : 'grid and block';
    madeUp.push(`${what}: to cover ${count} elements`);
  }
  return {
    kernel: kernel.name,
    grid,
    block,
    sharedBytes: plan.sharedBytes,
    ...(plan.sharedParts ? { sharedParts: plan.sharedParts } : {}),
    args,
    madeUp,
  };
}

function madeUpBlock(grid: Dim3 | undefined, count: number, kernel: Kernel, limits: DeviceLimits): Dim3 {
  const most = Math.min(kernel.maxThreads ?? madeUpThreads, limits.maxThreadsPerThreadgroup, madeUpThreads);
  const wanted = grid ? Math.ceil(count / product(grid)) : count;
  return [Math.max(1, Math.min(most, wanted)), 1, 1];
}

/** Elements of the largest buffer that the arguments name; 1 where none says. */
function largestBuffer(args: readonly Argument[]): number {
  const sizes = args.map((a) => ('shape' in a && a.shape ? elementCount(a.shape) : 1));
  return Math.max(1, ...sizes);
}

function madeUpArgument(parameter: Parameter, madeUp: string[]): Argument {
  const argument = parameter.kind === 'buffer' ? madeUpBuffer(parameter) : madeUpScalar(parameter);
  madeUp.push(`${parameter.name}: ${argument.spec}`);
  return argument;
}

/** Buffers that are read start as iota: numbers that can be told apart, and indices that stay inside. */
function madeUpBuffer({ name, element = 'u32', access }: Parameter): Argument {
  const init: Init = { kind: access === 'write' ? 'zeros' : 'iota' };
  const spec = `${element}:${madeUpCount}${init.kind === 'iota' ? '=iota' : ''}`;
  return { spec, name, kind: 'buffer', element, shape: [madeUpCount], init };
}

function madeUpScalar({ name, size, element }: Parameter): Argument {
  // A struct starts as zeros: u8 elements of its size, passed by value.
  if (!element || elements[element].size !== size) return { spec: `${size} zero bytes`, name, kind: 'zero-bytes', size };
  const value = scalarValue(element);
  return { spec: `${element}=${value}`, name, kind: 'scalar', element, value };
}

function scalarValue(element: ElementType): ElementValue {
  const range = integerRange(element);
  if (!range) return 1;
  const value = BigInt(madeUpCount) <= range[1] ? BigInt(madeUpCount) : range[1];
  return elements[element].size === 8 ? value : Number(value);
}
