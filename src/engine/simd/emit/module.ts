/** A kernel as a WebAssembly module that runs strips of lanes, for blocks of one shape; where that cannot be, the one-lane path has it. */

import type { Dim3 } from '../../../base/dim3.ts';
import { cfgOf, dominatorsOf, type Kernel, loopsOf } from '../../../ir/index.ts';
import { type Code, newModule } from '../../../wasm/index.ts';
import { helperTable } from '../../codegen/helpers.ts';
import { declareHost } from '../../codegen/host.ts';
import { runSignature, writeGrid } from '../../scalar/kernel-module.ts';
import { hasWarpCollectives } from '../analysis/barrier-divergence.ts';
import { poolStart, type SimdPlan } from '../analysis/plan.ts';
import { isSpinLoop } from '../analysis/spin-loops.ts';
import { newConstantPool, pooledCode } from '../lanes/constant-pool.ts';
import { simdHelperTable } from '../lanes/helpers.ts';
import type { CheckInstrumentation } from '../lanes/hooks.ts';
import { maxFunctionBytes, type SimdContext } from '../lanes/kernel-context.ts';
import { needsScalarPath } from '../rules/index.ts';
import { type PlanOptions, planKernel } from '../transform/plan-kernel.ts';
import { emitScheduler } from './barrier-queues.ts';
import { isLine, writeBlock, writeBlockWhole } from './block.ts';
import { writeRegionFunction } from './region.ts';

export interface SimdOptions extends PlanOptions {
  /** Whether workers share the memory. */
  readonly isShared?: boolean | undefined;
  /** Checks that a sanitizer has inserted into the kernel. */
  readonly checks?: CheckInstrumentation | undefined;
}

export interface SimdModule {
  readonly bytes: Uint8Array;
  readonly plan: SimdPlan;
  /** Bytes of the record area of a block. */
  readonly recordBytes: number;
  /** What stands in constant memory from `poolStart` on. */
  readonly pool: Uint8Array;
}

const maxLocals = 20_000;

/**
 * Bytes of code up to which JavaScriptCore optimises a function; of more it keeps its first, quick translation for good.
 * Source: WebKit, `maximumOMGCandidateCost` in runtime/OptionsList.h.
 */
const maxOptimizedBytes = 100_000;

/**
 * A module for blocks of a shape, or why there is none. The kernel stays as it is. Strips are shorter than would be chosen where that makes
 * functions small enough to be optimised.
 */
export function compileSimd(kernel: Kernel, block: Dim3, options: SimdOptions): SimdModule | { readonly why: string } {
  const before = scalarReason(kernel, options);
  if (before !== undefined) return { why: before };
  const first = compileOnce(kernel, block, options);
  if ('why' in first || first.largest <= maxOptimizedBytes || options.lanes !== undefined) return first;
  for (let lanes = first.plan.lanes / 2; lanes >= 4; lanes /= 2) {
    const made = compileOnce(kernel, block, { ...options, lanes });
    // What a warp does together takes a whole warp.
    if ('why' in made || made.plan.lanes !== lanes) break;
    if (made.largest <= maxOptimizedBytes) return made;
  }
  return first;
}

/** A module with the bytes of its largest function, or why there is none. */
type Made = (SimdModule & { readonly largest: number }) | { readonly why: string };

/** Where code for lanes that go together and for those that part is too much, the first is left out. */
function compileOnce(kernel: Kernel, block: Dim3, options: SimdOptions): Made {
  const plan = planKernel(kernel, block, options);
  const after = unsupportedReason(plan) ?? options.checks?.whyNot(plan);
  if (after !== undefined) return { why: after };
  const together = !options.checks && !plan.shapes.barrierDivergence && isLine(plan) ? writeModule(plan, options, 'together') : undefined;
  if (together && !('why' in together)) return together;
  const apart = writeModule(plan, options, 'apart');
  return 'why' in apart && apart.why === tooMuch ? writeModule(plan, options, 'brief') : apart;
}

/** Regions together in one function, in functions of their own, or those without what `isBrief` leaves out. */
type Way = 'together' | 'apart' | 'brief';

const tooMuch = 'too much code';

function writeModule(plan: SimdPlan, options: SimdOptions, way: Way): Made {
  const { kernel } = plan;
  const module = newModule();
  const host = declareHost(module, kernel.params.length, options.isShared);
  const checks = options.checks?.declare(module);
  const phase = module.global('i32');
  const fuel = module.global('i32');
  const helper = helperTable(module, host.functions);
  const pool = newConstantPool();
  const pooled = (code: Code): Code => {
    const base = code.local('i32');
    code.at('global.get', host.globals.constant);
    code.at('local.set', base);
    return pooledCode(code, pool, base, poolStart(plan));
  };
  const shared: SimdContext = {
    plan,
    module,
    host,
    helper,
    simdHelper: simdHelperTable(module, helper, host.functions, pooled),
    newFunction(params) {
      const { index, code } = module.fn({ params, results: [] });
      return { index, code: pooled(code) };
    },
    phase,
    fuel,
    fma: options.fma,
    omitsUniformPaths: way === 'brief',
    pool,
    guards: checks?.emitters(plan.packs),
    rerolled: { bytes: 0 },
  };
  const finish = (run: number, largest: number): Made => {
    writeGrid(host, module.fn(runSignature, 'run').code, run);
    return { bytes: module.finish(), plan, recordBytes: plan.recordBytes + shared.rerolled.bytes, pool: shared.pool.bytes(), largest };
  };
  if (way === 'together') {
    const block = writeBlockWhole(shared);
    return block ? finish(block.index, block.size) : { why: tooMuch };
  }
  const steps: number[] = [];
  let largest = 0;
  for (const region of plan.regions) {
    const written = writeRegionFunction(shared, region);
    if (!written) return { why: 'blocks that cannot be nested' };
    if (written.code.size > maxFunctionBytes || written.code.locals > maxLocals) return { why: tooMuch };
    steps.push(written.index);
    largest = Math.max(largest, written.code.size);
  }
  return finish(plan.shapes.barrierDivergence ? emitScheduler(shared, steps) : writeBlock(shared, steps, checks), largest);
}

/** What about a kernel is for the one-lane path, whatever its blocks are. */
function scalarReason(kernel: Kernel, { checks }: SimdOptions): string | undefined {
  if (kernel.params.some(({ formats }) => formats)) return 'what it prints is in the order of threads';
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const { op } = kernel.insts[value]!;
      if (needsScalarPath(op) && !(checks && op === 'members')) return `\`${op}\``;
    }
  return undefined;
}

function unsupportedReason({ kernel, shapes, regions }: SimdPlan): string | undefined {
  const cfg = cfgOf(kernel);
  const { loops, isReducible } = loopsOf(cfg, dominatorsOf(cfg));
  if (!isReducible || regions.some((region) => !region.loops.isReducible)) return 'a cycle of two entries';
  // Lanes that wait at a barrier take no part in what others do, where a GPU has these wait for them.
  if (shapes.barrierDivergence === 'lanes' && hasWarpCollectives(kernel))
    return 'lanes of a warp that wait at barriers apart, and do something together';
  for (const loop of loops) if (isSpinLoop(kernel, loop)) return 'a loop that waits for other threads';
  return undefined;
}
