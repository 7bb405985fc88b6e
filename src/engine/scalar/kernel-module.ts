/**
 * The entry of the scalar compiler: a kernel as a WebAssembly module, with a function for each parallel region and each warp collective, a
 * function that schedules the threads of a block through them, and the export `run`, which runs part of the grid.
 */

import type { Kernel } from '../../ir/index.ts';
import { bodyLimit, type Code, localLimit, newModule, type Signature } from '../../wasm/index.ts';
import { helperTable } from '../codegen/helpers.ts';
import type { Instrumentation } from '../codegen/hooks.ts';
import { declareHost, type Host } from '../codegen/host.ts';
import { insertYields } from '../codegen/insert-yields.ts';
import { joinLatches } from '../codegen/join-latches.ts';
import type { KernelContext } from '../codegen/kernel-code.ts';
import { mmaTable } from '../codegen/mma-function.ts';
import { type Plan, planOf } from '../codegen/plan.ts';
import type { Target } from '../codegen/target.ts';
import { writeCollective } from './collective-function.ts';
import { mmaOfWarpTable } from './mma-of-warp.ts';
import { writeRegion } from './region-function.ts';
import { writeBlock } from './schedule.ts';

export interface KernelModule {
  readonly bytes: Uint8Array;
  readonly plan: Plan;
  /** The limit of WebAssembly engines that the module exceeds, as a message. */
  readonly excess: string | undefined;
}

/** Compiles a kernel, which it changes in place, with instrumentation. `isShared`: for memory that several workers share. */
export function compileKernel(kernel: Kernel, instrumentation: Instrumentation = {}, isShared = false, target?: Target): KernelModule {
  // Threads that are together yield together.
  joinLatches(kernel);
  insertYields(kernel);
  const plan = planOf(kernel);
  const module = newModule();
  const host = declareHost(module, kernel.params.length, { isShared, hasMasks: plan.regions.schedule === 'masks', target });
  const { isFlushing } = instrumentation;
  const sanitizer = instrumentation.sanitizer?.(plan, module, host);
  const order = instrumentation.threadOrder?.(module);
  const probe = instrumentation.probe?.(plan, module);
  const phase = module.global('i32');
  const fuel = module.global('i32');
  const progress = plan.regions.hasYields ? module.global('i32') : undefined;
  const helper = helperTable(module, host);
  const mma = mmaOfWarpTable(module, host, plan, mmaTable(module, host));
  const context: KernelContext = { plan, module, host, helper, mma, phase, progress, fuel, sanitizer, order, probe, isFlushing };
  const regions = plan.regions.list.map((region) => ({ id: region.id, ...writeRegion(context, region) }));
  const collectives = plan.regions.collectives.map((collective) => ({ id: collective.id, index: writeCollective(context, collective) }));
  const steps = [...regions, ...collectives].sort((a, b) => a.id - b.id).map(({ index }) => index);
  const block = writeBlock(context, steps);
  const { code } = module.fn(runSignature, 'run');
  if (order) order.grid(code, block);
  else writeGrid(host, code, block);
  return { bytes: module.finish(), plan, excess: excessOf(regions.map((each) => each.code)) };
}

/** The signature of `run`: the first block's x, y and z in the grid, and the number of blocks. */
export const runSignature: Signature = { params: ['i32', 'i32', 'i32', 'i32'], results: [] };

/** The exceeded limit of function bodies, with room for the declarations of locals, which count as part of a body. */
function excessOf(bodies: readonly Code[]): string | undefined {
  const [locals, size] = [Math.max(...bodies.map((code) => code.locals)), Math.max(...bodies.map((code) => code.size))];
  if (locals > localLimit) return `${locals} locals in one function; the limit is ${localLimit}`;
  return size + 4 * localLimit > bodyLimit ? `${size} bytes of code in one function; the limit is ${bodyLimit}` : undefined;
}

/** Writes the body of `run`: a loop over blocks of the grid, at least one; x varies fastest. */
export function writeGrid({ globals }: Host, code: Code, block: number): void {
  const axes = ['x', 'y', 'z'] as const;
  const left = axes.length;
  axes.forEach((axis, param) => {
    code.at('local.get', param);
    code.at('global.set', globals[`ctaid.${axis}`]);
  });
  code.open('loop');
  code.at('call', block);
  code.at('local.get', left);
  code.i32(1);
  code.op('i32.sub');
  code.at('local.tee', left);
  code.op('i32.eqz');
  code.open('if');
  code.op('return');
  code.end();
  for (const axis of axes) {
    const at = globals[`ctaid.${axis}`];
    code.at('global.get', at);
    code.i32(1);
    code.op('i32.add');
    code.at('global.set', at);
    code.at('global.get', at);
    code.at('global.get', globals[`nctaid.${axis}`]);
    code.op('i32.lt_u');
    code.at('br_if', 0);
    code.i32(0);
    code.at('global.set', at);
  }
  code.end();
}
