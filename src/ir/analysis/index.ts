/** Analyses of a kernel: plain functions that give side arrays by block id or value, valid until the kernel changes. */
export * from './affinity.ts';
export * from './bases.ts';
export * from './cfg.ts';
export { blocksReaching, type Convergence, convergenceOf, stayingGraphOf } from './convergence.ts';
export * from './demand.ts';
export * from './dominators.ts';
export { hasIndependentThreads } from './independent-threads.ts';
export * from './influence.ts';
export { added as addedIntervals, type Interval, isInside, scaled as scaledInterval } from './interval.ts';
export { anyLaunch, givenValue, type LaunchFacts, type LaunchRanges, launchRanges } from './launch-ranges.ts';
export * from './liveness.ts';
export * from './loops.ts';
export { loadsFirst, type Pressure, pressureOf } from './pressure.ts';
export { type Roots, rootsOf } from './roots.ts';
export * from './shape.ts';
export { hasSpinLoop, isSpinLoop } from './spin-loops.ts';
export * from './uniformity.ts';
export * from './value-range.ts';
