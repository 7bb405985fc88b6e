/**
 * Settings of JavaScriptCore and its allocator for the processes of spec files, which read them from the environment when they start. Most of them
 * end before optimizing their code pays: with the defaults, compilers of JavaScript take a third of the processor time of a run.
 */
export const engineSettings: Readonly<Record<string, string>> = {
  // The optimizing compilers come later, for code that runs for seconds.
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
  BUN_JSC_thresholdForOptimizeAfterLongWarmUp: '4000',
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '1000000',
  // Bytes that are allocated before garbage is collected.
  BUN_JSC_largeHeapSize: '134217728',
  BUN_JSC_useConcurrentGC: '0',
  // Memory that was used is kept: to touch pages again costs more.
  MIMALLOC_PURGE_DELAY: '10000',
  MIMALLOC_PURGE_HOLES: '0',
  MIMALLOC_ALLOW_THP: '1',
};

/** An environment without these settings, for programs that are measured as users start them. */
export const withoutEngineSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !(name in engineSettings)));
