/**
 * A kernel as a WebAssembly module: a function per region, one that runs a block of threads phase by phase, and `run`, which
 * goes through the grid.
 */
import type { Kernel } from '../../../ir/index.ts';
import { bodyLimit, type Code, localLimit, newModule } from '../../../wasm/index.ts';
import { helperTable } from './helpers.ts';
import { declareHost } from './host.ts';
import { type Plan, planOf } from './plan.ts';
import { gone, type Shared, writeRegion } from './region-function.ts';

export interface KernelModule {
  readonly bytes: Uint8Array;
  readonly plan: Plan;
  /** What about the module is more than engines take, in words. */
  readonly excess: string | undefined;
}

/** Compiles a kernel, which is changed on the way. */
export function compileKernel(kernel: Kernel): KernelModule {
  const plan = planOf(kernel);
  const module = newModule();
  const host = declareHost(module, kernel.params.length);
  const phase = module.global('i32');
  const arrived = module.global('i32');
  const fuel = module.global('i32');
  const shared: Shared = { plan, module, host, helper: helperTable(module), phase, arrived, fuel };
  const written = plan.regions.list.map((region) => writeRegion(shared, region));
  const regions = written.map(({ index }) => index);
  const block = module.fn({ params: [], results: [] });
  if (regions.length === 1) block.code.at('call', regions[0]!);
  else if (plan.regions.isUniform) writeUniformPhases(shared, block.code, regions);
  else writePhases(shared, block.code, regions);
  writeGrid(shared, module.fn({ params: [], results: [] }, 'run').code, block.index);
  return { bytes: module.finish(), plan, excess: excessOf(written.map((each) => each.code)) };
}

/** Leaves room for the declarations of locals, which belong to a body. */
function excessOf(bodies: readonly Code[]): string | undefined {
  const [locals, size] = [Math.max(...bodies.map((code) => code.locals)), Math.max(...bodies.map((code) => code.size))];
  if (locals > localLimit) return `${locals} values at once, where ${localLimit} are the most`;
  return size + 4 * localLimit > bodyLimit ? `${size} bytes of code in one piece, where ${bodyLimit} are the most` : undefined;
}

/** All threads run the same region; it sets the next one. */
function writeUniformPhases(shared: Shared, code: Code, regions: readonly number[]): void {
  const now = code.local('i32');
  code.i32(0);
  code.at('global.set', shared.phase);
  code.open('loop');
  code.at('global.get', shared.phase);
  code.at('local.set', now);
  regions.forEach((region, id) => {
    code.at('local.get', now);
    code.i32(id);
    code.op('i32.eq');
    code.open('if');
    code.at('call', region);
    code.end();
  });
  code.at('global.get', shared.phase);
  code.i32(gone);
  code.op('i32.ne');
  code.at('br_if', 0);
  code.end();
}

/**
 * Every thread has a state: twice the region it runs next, plus the parity of the phase in which it does, so that no thread
 * runs twice in a phase. Threads that have left are not waited for.
 */
function writePhases(shared: Shared, code: Code, regions: readonly number[]): void {
  const { phase, arrived } = shared;
  writeClearStates(shared, code);
  code.i32(0);
  code.at('global.set', phase);
  code.open('loop');
  code.i32(0);
  code.at('global.set', arrived);
  for (const region of regions) code.at('call', region);
  code.at('global.get', phase);
  code.i32(1);
  code.op('i32.xor');
  code.at('global.set', phase);
  code.at('global.get', arrived);
  code.at('br_if', 0);
  code.end();
}

function writeClearStates({ host }: Shared, code: Code): void {
  const thread = code.local('i32');
  code.i32(0);
  code.at('local.set', thread);
  code.open('loop');
  code.at('local.get', thread);
  code.i32(2);
  code.op('i32.shl');
  code.at('global.get', host.globals.states);
  code.op('i32.add');
  code.i32(0);
  code.access('i32.store', 4);
  code.at('local.get', thread);
  code.i32(1);
  code.op('i32.add');
  code.at('local.tee', thread);
  code.at('global.get', host.globals.threads);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}

/** x runs fastest. */
function writeGrid(shared: Shared, code: Code, block: number): void {
  const { globals } = shared.host;
  const axes = ['z', 'y', 'x'] as const;
  for (const axis of axes) {
    code.i32(0);
    code.at('global.set', globals[`ctaid.${axis}`]);
    code.open('loop');
  }
  code.at('call', block);
  for (const axis of [...axes].reverse()) {
    const at = globals[`ctaid.${axis}`];
    code.at('global.get', at);
    code.i32(1);
    code.op('i32.add');
    code.at('global.set', at);
    code.at('global.get', at);
    code.at('global.get', globals[`nctaid.${axis}`]);
    code.op('i32.lt_u');
    code.at('br_if', 0);
    code.end();
  }
}
