/** The names of CUDA's libraries, and how those of their functions begin. */

interface Library {
  /** How the names of its functions begin. */
  readonly prefix: string;
  /** Libraries that its functions call. */
  readonly needs?: readonly string[];
}

/** The libraries by name; the first with the prefix of a function has it. */
export const cudaLibraries: Readonly<Record<string, Library>> = {
  cublasLt: { prefix: 'cublasLt', needs: ['cublas'] },
  cublas: { prefix: 'cublas' },
  curand: { prefix: 'curand' },
  cufft: { prefix: 'cufft' },
  cusparse: { prefix: 'cusparse' },
  cusolver: { prefix: 'cusolver', needs: ['cublas', 'cusparse'] },
};

/** The library that has functions with the prefix of this one. */
export const libraryOfSymbol = (symbol: string): string | undefined =>
  Object.entries(cudaLibraries).find(([, { prefix }]) => symbol.startsWith(prefix))?.[0];
