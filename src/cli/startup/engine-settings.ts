/**
 * The settings of JavaScriptCore for short runs, by command. It reads them from the environment when it starts: `bin/cumetal` sets them for the
 * package, and a single-file program starts again with them.
 */
type Settings = Readonly<Record<string, string>>;

/** Bytes that are allocated before garbage is collected, and no thread that touches pages of the heap before they are needed. */
const heap = { BUN_JSC_largeHeapSize: '134217728', BUN_JSC_useWarmUpMarkedBlocks: '0' };

/**
 * Compiling a file of usual size is done before any compiler for the compiler pays, or a thread for that: `program.ts` has JavaScriptCore compile for a
 * file that takes longer, and for a large one the program starts again. The heap is in large pages, where the system has them: most of the system's
 * share is memory that is touched for the first time.
 */
const compiling: Settings = {
  BUN_JSC_useDFGJIT: '0',
  BUN_JSC_useConcurrentJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '2000',
  BUN_JSC_startupJITDeferralScale: '1000000',
  ...heap,
  MIMALLOC_ALLOW_THP: '1',
};

/** A short launch ends before compiling its JavaScript pays; in a long one, what takes the time is compiled a little later. */
const launching: Settings = {
  BUN_JSC_thresholdForJITAfterWarmUp: '4000',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '20000',
  BUN_JSC_thresholdForOptimizeAfterLongWarmUp: '20000',
  ...heap,
};

/** clang has ended before optimizing its WebAssembly pays. */
const clang: Settings = { BUN_JSC_useOMGJIT: '0' };

/** By command. */
export const engineSettings: Readonly<Record<string, Settings>> = { build: compiling, check: compiling, run: launching, cc: clang };
