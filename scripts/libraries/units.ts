/** What CUDA's libraries are compiled from: sources of `cuda/lib`, once for each list of macros. Each becomes an object of its archive. */

export interface LibraryUnit {
  /** The source, from `cuda/lib`. */
  readonly source: string;
  /** What tells the objects of a source apart. */
  readonly variant?: string;
  readonly defines?: readonly string[];
}

/** A unit for each of the four types of BLAS. */
const forTypes = (source: string, letters = 'SDCZ'): LibraryUnit[] =>
  [...letters].map((letter) => ({
    source,
    variant: letter,
    defines: [...'SDCZ'].map((each) => `CUMETAL_${each}=${each === letter ? 1 : 0}`).concat(`CUMETAL_LETTER=${letter}`),
  }));

const complex = (real: string): string => `cumetal::Complex<${real}>`;

/** Products by the types of operands, of results and of scalars, and that of sums. */
const mixed = (
  [
    ['HHH', '__half', '__half', 'float', '__half'],
    ['HHS', '__half', '__half', 'float', 'float'],
    ['HSS', '__half', 'float', 'float', 'float'],
    ['BBS', '__nv_bfloat16', '__nv_bfloat16', 'float', 'float'],
    ['BSS', '__nv_bfloat16', 'float', 'float', 'float'],
    ['III', 'signed char', 'int', 'int', 'int'],
    ['ISS', 'signed char', 'float', 'float', 'float'],
    ['SSS', 'float', 'float', 'float', 'float'],
    ['DDD', 'double', 'double', 'double', 'double'],
    ['CCC', complex('float'), complex('float'), complex('float'), complex('float')],
    ['ZZZ', complex('double'), complex('double'), complex('double'), complex('double')],
  ] as const
).map(
  ([name, input, output, sum, scale]): LibraryUnit => ({
    source: 'cublas/gemm-mixed.cu',
    variant: name,
    defines: [`CUMETAL_ENTRY=gemm${name}`, `CUMETAL_IN=${input}`, `CUMETAL_OUT=${output}`, `CUMETAL_SUM=${sum}`, `CUMETAL_SCALE=${scale}`],
  }),
);

/** Functions without handles by the levels of BLAS and the types: each unit needs one unit of those with handles. */
const legacyParts = [1, 2, 3, 4].flatMap((level) =>
  forTypes('cublas/legacy-part.cu').map(
    (unit): LibraryUnit => ({
      ...unit,
      variant: `${level}${unit.variant}`,
      defines: [...unit.defines!, `CUMETAL_LEVEL=${level}`],
    }),
  ),
);

/** Products of cuBLASLt by the types of operands, of sums and of what follows them. */
const ltProducts = (
  [
    ['H', '__half', 'float', 'float'],
    ['B', '__nv_bfloat16', 'float', 'float'],
    ['S', 'float', 'float', 'float'],
    ['D', 'double', 'double', 'double'],
    ['C', complex('float'), complex('float'), complex('float')],
    ['Z', complex('double'), complex('double'), complex('double')],
    ['I', 'signed char', 'int', 'int'],
    ['J', 'signed char', 'int', 'float'],
    ['F', 'cumetal::Float8', 'float', 'float'],
  ] as const
).map(
  ([name, input, sum, value]): LibraryUnit => ({
    source: 'cublaslt/product.cu',
    variant: name,
    defines: [`CUMETAL_ENTRY=lt${name}`, `CUMETAL_IN=${input}`, `CUMETAL_SUM=${sum}`, `CUMETAL_VALUE=${value}`],
  }),
);

/** Transformations of matrices by the types of computations. */
const ltTransforms = (
  [
    ['S', 'float'],
    ['D', 'double'],
    ['I', 'int'],
    ['C', complex('float')],
    ['Z', complex('double')],
  ] as const
).map(
  ([name, value]): LibraryUnit => ({
    source: 'cublaslt/transform.cu',
    variant: name,
    defines: [`CUMETAL_ENTRY=ltTransform${name}`, `CUMETAL_VALUE=${value}`],
  }),
);

/** Level 1 by the types of elements, of computations and of norms. */
const vectors = (
  [
    ['H', '__half', 'float', '__half'],
    ['B', '__nv_bfloat16', 'float', '__nv_bfloat16'],
    ['S', 'float', 'float', 'float'],
    ['D', 'double', 'double', 'double'],
    ['C', complex('float'), complex('float'), 'float'],
    ['Z', complex('double'), complex('double'), 'double'],
  ] as const
).map(
  ([name, input, sum, real]): LibraryUnit => ({
    source: 'cublas/level1-mixed.cu',
    variant: name,
    defines: [`CUMETAL_ENTRY=level1${name}`, `CUMETAL_IN=${input}`, `CUMETAL_SUM=${sum}`, `CUMETAL_REAL=${real}`],
  }),
);

/** Generators by the types of their states, how many threads they have, also in the legacy ordering, and numbers that are side by side. */
const sequences = (
  [
    ['xorwow', 'curandStateXORWOW_t', 4096, 4096, 1],
    ['mrg32k3a', 'curandStateMRG32k3a_t', 81920, 4096, 1],
    ['philox', 'curandStatePhilox4_32_10_t', 65536, 65536, 4],
  ] as const
).map(
  ([name, state, threads, legacyThreads, group]): LibraryUnit => ({
    source: 'curand/sequences.cu',
    variant: name,
    defines: [
      `CUMETAL_NAME=${name}Sequences`,
      `CUMETAL_STATE=${state}`,
      `CUMETAL_THREADS=${threads}`,
      `CUMETAL_LEGACY_THREADS=${legacyThreads}`,
      `CUMETAL_GROUP=${group}`,
      `CUMETAL_HAS_MATRICES=${name === 'mrg32k3a' ? 1 : 0}`,
    ],
  }),
);

/** The archives, by their names without `lib` and `.a`. */
export const libraryUnits: Readonly<Record<string, readonly LibraryUnit[]>> = {
  cublas: [
    { source: 'cublas/handle.cu' },
    ...forTypes('cublas/level1.cu'),
    ...forTypes('cublas/level2.cu'),
    ...forTypes('cublas/gemm.cu'),
    ...forTypes('cublas/level3.cu'),
    ...forTypes('cublas/batched.cu'),
    ...vectors,
    { source: 'cublas/level1-ex.cu' },
    ...mixed,
    { source: 'cublas/gemm-ex.cu' },
    { source: 'cublas/gemm-half.cu' },
    { source: 'cublas/legacy.cu' },
    { source: 'cublas/xt-handle.cu' },
    ...forTypes('cublas/xt.cu'),
    ...legacyParts,
  ],
  cublasLt: [
    { source: 'cublaslt/handle.cu' },
    { source: 'cublaslt/descriptors.cu' },
    { source: 'cublaslt/matmul.cu' },
    ...ltProducts,
    { source: 'cublaslt/matrix-transform.cu' },
    ...ltTransforms,
  ],
  cufft: [
    { source: 'cufft/plan.cu' },
    { source: 'cufft/transform.cu', variant: 'S', defines: ['CUMETAL_REAL=float', 'CUMETAL_RUN=runS', 'CUMETAL_PREPARE=prepareS'] },
    { source: 'cufft/transform.cu', variant: 'D', defines: ['CUMETAL_REAL=double', 'CUMETAL_RUN=runD', 'CUMETAL_PREPARE=prepareD'] },
  ],
  cusparse: [
    { source: 'cusparse/handle.cu' },
    { source: 'cusparse/generic.cu' },
    { source: 'cusparse/convert.cu' },
    { source: 'cusparse/solve.cu' },
    ...forTypes('cusparse/products.cu'),
  ],
  cusolver: [
    { source: 'cusolver/handle.cu' },
    ...forTypes('cusolver/dense.cu'),
    { source: 'cusolver/sparse-handle.cu' },
    { source: 'cusolver/sparse-steps.cu' },
    ...forTypes('cusolver/sparse.cu'),
    { source: 'cusolver/refactor.cu' },
  ],
  curand: [{ source: 'curand/generator.cu' }, ...sequences, { source: 'curand/twister.cu' }, { source: 'curand/sobol.cu' }],
};
