/** The functions that the shim has: those of the CUDA runtime, and those that only programs of NVIDIA's compiler call. */
import { cudaFunctions } from '../../program/index.ts';
import { managed } from './managed.ts';

export const nativeFunctions = { ...cudaFunctions, ...managed } as typeof cudaFunctions;
