/**
 * The SIMD compiler: a kernel as a WebAssembly module that runs lane groups, for blocks of one size. Where it cannot vectorize a kernel it
 * says why, and the scalar compiler takes over.
 */

import type { Dim3 } from '../../../base/dim3.ts';
import { cfgOf, dominatorsOf, hasMasks, isSpinLoop, type Kernel, loopsOf } from '../../../ir/index.ts';
import { type Code, newModule } from '../../../wasm/index.ts';
import { helperTable } from '../../codegen/helpers.ts';
import { declareHost } from '../../codegen/host.ts';
import { mmaTable } from '../../codegen/mma-function.ts';
import type { ShiftMode } from '../../codegen/shift-mode.ts';
import { runSignature, writeGrid } from '../../scalar/kernel-module.ts';
import { hasWarpCollectives } from '../analysis/barrier-divergence.ts';
import { poolStart, type SimdPlan } from '../analysis/plan.ts';
import { newConstantPool, pooledCode } from '../lanes/constant-pool.ts';
import { simdHelperTable } from '../lanes/helpers.ts';
import type { CheckInstrumentation } from '../lanes/hooks.ts';
import { maxFunctionBytes, type SimdContext } from '../lanes/kernel-context.ts';
import { needsScalarPath } from '../rules/index.ts';
import { type PlanOptions, planKernel } from '../transform/plan-kernel.ts';
import { emitScheduler } from './barrier-queues.ts';
import { isRegionChain, writeBlock, writeFusedBlock } from './block.ts';
import { writeRegionFunction } from './region.ts';

export interface SimdOptions extends PlanOptions {
  /** How the engine shifts vectors by constants; by default as JavaScriptCore does. */
  readonly shifts?: ShiftMode | undefined;
  /** Whether workers share the memory. */
  readonly isShared?: boolean | undefined;
  /** Checks that a sanitizer has inserted into the kernel. */
  readonly checks?: CheckInstrumentation | undefined;
}

export interface SimdModule {
  readonly bytes: Uint8Array;
  readonly plan: SimdPlan;
  /** Bytes of the spill area of a block. */
  readonly recordBytes: number;
  /** The constant pool, in constant memory from `poolStart` on. */
  readonly pool: Uint8Array;
}

const maxLocals = 20_000;

/**
 * Maximal bytes of code of a function that JavaScriptCore optimizes; a larger one stays in the baseline tier for good.
 * Source: WebKit, `maximumOMGCandidateCost` in runtime/OptionsList.h.
 */
const maxOptimizedBytes = 100_000;

/**
 * Compiles a kernel for blocks of one size, or says why it cannot. The kernel stays unchanged. Groups get fewer lanes than chosen where
 * that makes functions small enough for the optimizing tier.
 */
export function compileSimd(kernel: Kernel, block: Dim3, options: SimdOptions): SimdModule | { readonly why: string } {
  const before = scalarReason(kernel, options);
  if (before !== undefined) return { why: before };
  const first = compileOnce(kernel, block, options);
  if ('why' in first || first.largest <= maxOptimizedBytes || options.lanes !== undefined || options.target) return first;
  for (let lanes = first.plan.lanes / 2; lanes >= 4; lanes /= 2) {
    const made = compileOnce(kernel, block, { ...options, lanes });
    // Warp collectives need a whole warp.
    if ('why' in made || made.plan.lanes !== lanes) break;
    if (made.largest <= maxOptimizedBytes) return made;
  }
  return first;
}

/** A module with the bytes of its largest function, or the reason why there is none. */
type Made = (SimdModule & { readonly largest: number }) | { readonly why: string };

/** Leaves out the uniform paths where the code would be too large with them. */
function compileOnce(kernel: Kernel, block: Dim3, options: SimdOptions): Made {
  const plan = planKernel(kernel, block, options);
  const after = unsupportedReason(plan) ?? options.checks?.whyNot(plan);
  if (after !== undefined) return { why: after };
  const fused = !options.checks && !plan.shapes.barrierDivergence && isRegionChain(plan) ? writeModule(plan, options, 'fused') : undefined;
  if (fused && !('why' in fused)) return fused;
  const outlined = writeModule(plan, options, 'outlined');
  return 'why' in outlined && outlined.why === tooMuch ? writeModule(plan, options, 'no-uniform-paths') : outlined;
}

/**
 * The layout of the code: all regions fused in one function, each outlined in its own, or outlined without the fast paths for uniform
 * branches.
 */
type CodeLayout = 'fused' | 'outlined' | 'no-uniform-paths';

const tooMuch = 'too much code';

function writeModule(plan: SimdPlan, options: SimdOptions, layout: CodeLayout): Made {
  const { kernel } = plan;
  const module = newModule();
  const host = declareHost(module, kernel.params.length, { isShared: options.isShared, target: options.target });
  const checks = options.checks?.declare(module);
  const phase = module.global('i32');
  const fuel = module.global('i32');
  const helper = helperTable(module, host);
  const pool = newConstantPool();
  const pooled = (code: Code): Code => {
    if (options.target) return code;
    const base = code.local('i32');
    code.at('global.get', host.globals.constant);
    code.at('local.set', base);
    return pooledCode(code, pool, base, poolStart(plan));
  };
  const context: SimdContext = {
    plan,
    module,
    host,
    helper,
    simdHelper: simdHelperTable(module, helper, host.functions, pooled),
    mma: mmaTable(module, host),
    newFunction(params) {
      const { index, code } = module.fn({ params, results: [] });
      return { index, code: pooled(code) };
    },
    phase,
    fuel,
    fma: options.fma,
    shifts: options.shifts ?? 'register',
    omitsUniformPaths: layout === 'no-uniform-paths',
    pool,
    guards: checks?.emitters(plan.packs),
    rerolled: { bytes: 0 },
  };
  const finish = (run: number, largest: number): Made => {
    writeGrid(host, module.fn(runSignature, 'run').code, run);
    return { bytes: module.finish(), plan, recordBytes: plan.recordBytes + context.rerolled.bytes, pool: context.pool.bytes(), largest };
  };
  if (layout === 'fused') {
    const block = writeFusedBlock(context);
    return block ? finish(block.index, block.size) : { why: tooMuch };
  }
  const steps: number[] = [];
  let largest = 0;
  for (const region of plan.regions) {
    const written = writeRegionFunction(context, region);
    if (!written) return { why: 'control flow that cannot be nested' };
    if (written.code.size > maxFunctionBytes || written.code.locals > maxLocals) return { why: tooMuch };
    steps.push(written.index);
    largest = Math.max(largest, written.code.size);
  }
  return finish(plan.shapes.barrierDivergence ? emitScheduler(context, steps) : writeBlock(context, steps, checks), largest);
}

/** Why a kernel needs the scalar compiler, whatever its blocks are; undefined where it does not. */
function scalarReason(kernel: Kernel, { checks }: SimdOptions): string | undefined {
  if (kernel.params.some(({ formats }) => formats)) return '`printf`, whose output is in thread order';
  if (hasMasks(kernel)) return 'collectives by mask in divergent code';
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
  if (!isReducible || regions.some((region) => !region.loops.isReducible)) return 'an irreducible loop';
  // On a GPU a collective waits for the lanes of the warp that wait at another barrier.
  if (shapes.barrierDivergence === 'lanes' && hasWarpCollectives(kernel)) return 'warp collectives with barrier divergence inside a warp';
  for (const loop of loops) if (isSpinLoop(kernel, loop)) return 'a spin loop on what other threads write';
  return undefined;
}
