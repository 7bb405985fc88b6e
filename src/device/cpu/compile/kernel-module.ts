/**
 * A kernel as a WebAssembly module: a function per region, one that runs a block of threads phase by phase, and `run`, which
 * goes through the grid.
 */
import type { Kernel } from '../../../ir/index.ts';
import { type Code, newModule } from '../../../wasm/index.ts';
import { helperTable } from './helpers.ts';
import { declareHost } from './host.ts';
import { type Plan, planOf } from './plan.ts';
import { gone, type Shared, writeRegion } from './region-function.ts';

export interface KernelModule {
  readonly bytes: Uint8Array;
  readonly plan: Plan;
}

/** Phases, or blocks of threads, between two looks at the clock. */
const roundsPerTick = 256;

/** Compiles a kernel, which is changed on the way. */
export function compileKernel(kernel: Kernel): KernelModule {
  const plan = planOf(kernel);
  const module = newModule();
  const host = declareHost(module, kernel.params.length);
  const phase = module.global('i32');
  const arrived = module.global('i32');
  const shared: Shared = { plan, module, host, helper: helperTable(module), phase, arrived };
  const regions = plan.regions.list.map((region) => writeRegion(shared, region));
  const block = module.fn({ params: [], results: [] });
  if (regions.length === 1) block.code.at('call', regions[0]!);
  else if (plan.regions.isUniform) writeUniformPhases(shared, block.code, regions);
  else writePhases(shared, block.code, regions);
  writeGrid(shared, module.fn({ params: [], results: [] }, 'run').code, block.index);
  return { bytes: module.finish(), plan };
}

/** Calls `tick` once in a while; `left` is a local that counts down. */
function writeTick({ host }: Shared, code: Code, left: number): void {
  code.at('local.get', left);
  code.i32(1);
  code.op('i32.sub');
  code.at('local.tee', left);
  code.i32(0);
  code.op('i32.le_s');
  code.open('if');
  code.at('call', host.tick);
  code.i32(roundsPerTick);
  code.at('local.set', left);
  code.end();
}

/** All threads run the same region; it sets the next one. */
function writeUniformPhases(shared: Shared, code: Code, regions: readonly number[]): void {
  const [now, left] = [code.local('i32'), code.local('i32')];
  code.i32(0);
  code.at('global.set', shared.phase);
  code.open('loop');
  writeTick(shared, code, left);
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
  const left = code.local('i32');
  writeClearStates(shared, code);
  code.i32(0);
  code.at('global.set', phase);
  code.open('loop');
  writeTick(shared, code, left);
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
  const left = code.local('i32');
  const axes = ['z', 'y', 'x'] as const;
  for (const axis of axes) {
    code.i32(0);
    code.at('global.set', globals[`ctaid.${axis}`]);
    code.open('loop');
  }
  code.at('call', block);
  writeTick(shared, code, left);
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
