/**
 * Names of the CUDA runtime API that NVIDIA's own runtime has inside a program: those without a row in the table say so when they are called.
 * Source: CUDA Runtime API, function index.
 */
export const runtimeNames: readonly string[] = [];
