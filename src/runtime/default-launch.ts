/** The default launch: arguments from the kernel's own loads and stores, and a grid and block that cover the elements. */
import { product } from '../base/dim3.ts';
import type { DeviceLimits, Dim3 } from '../device/device.ts';
import type { ArgumentSpec } from './argument.ts';
import { type ElementType, type ElementValue, elementCount, elements, integerRange, type Kernel, type Parameter } from './element.ts';
import type { FullPlan, LaunchPlan } from './plan.ts';
import type { Init } from './rand.ts';

/** Elements of a default buffer, and the value of a default integer scalar. */
const defaultCount = 1024;
/** Threads of a default block, where neither kernel nor device asks for fewer. */
const defaultThreads = 256;

/** The plan with a default for everything that it leaves open. `defaults` describes each default. */
export function fillPlan(plan: LaunchPlan, kernel: Kernel, limits: DeviceLimits): FullPlan {
  const defaults: string[] = [];
  const args = plan.args ?? kernel.params.map((parameter) => defaultArgument(parameter, defaults));
  const count = plan.args ? largestBuffer(args) : defaultCount;
  const block = plan.block ?? kernel.requiredThreads ?? defaultBlock(plan.grid, count, kernel, limits);
  const cluster = plan.cluster ?? kernel.cluster?.required ?? [1, 1, 1];
  const blocks = Math.ceil(Math.max(1, Math.ceil(count / product(block))) / cluster[0]) * cluster[0];
  const grid = plan.grid ?? [blocks, cluster[1], cluster[2]];
  if (!plan.block || !plan.grid) {
    const what = plan.block ? 'grid' : plan.grid ? 'block' : 'grid and block';
    defaults.push(`${what}: to cover ${count} elements`);
  }
  return {
    kernel: kernel.name,
    grid,
    block,
    sharedBytes: plan.sharedBytes ?? 0,
    ...(plan.sharedParts ? { sharedParts: plan.sharedParts } : {}),
    ...(plan.cooperative ? { cooperative: true } : {}),
    ...(plan.cluster ? { cluster: plan.cluster } : {}),
    ...(plan.stackBytes === undefined ? {} : { stackBytes: plan.stackBytes }),
    args,
    defaults,
  };
}

function defaultBlock(grid: Dim3 | undefined, count: number, kernel: Kernel, limits: DeviceLimits): Dim3 {
  const maxThreads = Math.min(kernel.maxThreads ?? defaultThreads, limits.maxThreadsPerThreadgroup, defaultThreads);
  const wanted = grid ? Math.ceil(count / product(grid)) : count;
  return [Math.max(1, Math.min(maxThreads, wanted)), 1, 1];
}

/** Elements of the largest buffer whose shape is given; 1 where no shape is. */
function largestBuffer(args: readonly ArgumentSpec[]): number {
  const sizes = args.map((a) => ('shape' in a && a.shape ? elementCount(a.shape) : 1));
  return Math.max(1, ...sizes);
}

function defaultArgument(parameter: Parameter, defaults: string[]): ArgumentSpec {
  const argument = parameter.kind === 'buffer' ? defaultBuffer(parameter) : defaultScalar(parameter);
  defaults.push(`${parameter.name}: ${argument.label}`);
  return argument;
}

/** Buffers that are read start as iota: distinct numbers, and indices in bounds. */
function defaultBuffer({ name, element = 'u32', access }: Parameter): ArgumentSpec {
  const init: Init = { kind: access === 'write' ? 'zeros' : 'iota' };
  const label = `${element}:${defaultCount}${init.kind === 'iota' ? '=iota' : ''}`;
  return { label, name, kind: 'buffer', element, shape: [defaultCount], init };
}

function defaultScalar({ name, size, element }: Parameter): ArgumentSpec {
  // A struct starts as zeros: u8 elements of its size, passed by value.
  if (!element || elements[element].size !== size) return { label: `${size} zero bytes`, name, kind: 'zero-bytes', size };
  const value = scalarValue(element);
  return { label: `${element}=${value}`, name, kind: 'scalar', element, value };
}

function scalarValue(element: ElementType): ElementValue {
  const range = integerRange(element);
  if (!range) return 1;
  const value = BigInt(defaultCount) <= range[1] ? BigInt(defaultCount) : range[1];
  return elements[element].size === 8 ? value : Number(value);
}
