/**
 * The `air.simdgroup_matrix_8x8_*` functions. A matrix is a `<64 x T>`, and each lane's two elements are the first two.
 * Source: AIR that Apple's compiler produced (listings in public repositories): names, both signatures of loads and stores, and
 * `thread_elements()[i]` as `extractelement` and `insertelement` of element i.
 */
import { type Type as LlvmType, types as llvm, type TypeOf } from '../bitcode/types.ts';

/** The operation of a function. Only `product` is emitted; all are raised. */
export type MatrixForm = 'filled' | 'diagonal' | 'product' | 'load' | 'store';

const matrixElements = ['f32', 'f16', 'bf16'] as const;
export type MatrixElement = (typeof matrixElements)[number];

/** Elements of a matrix. */
export const matrixCount = 64;
const scalars: Record<MatrixElement, LlvmType> = { f32: llvm.float, f16: llvm.half, bf16: llvm.bfloat };
export const matrixType = (element: MatrixElement): TypeOf<'vector'> => llvm.vector(scalars[element], matrixCount);
/** Whether a type is a matrix: no other AIR vector of floats has that many elements. */
export const isMatrixType = (type: LlvmType): boolean =>
  type.kind === 'vector' && type.count === matrixCount && type.element.kind === 'float' && type.element.name !== 'double';

export interface MatrixFunction {
  readonly name: string;
  readonly form: MatrixForm;
  readonly type: () => TypeOf<'function'>;
  /** The signature up to AIR 2.7, if it was different. */
  readonly oldType?: () => TypeOf<'function'>;
}

const prefix = 'air.simdgroup_matrix_8x8_';

/** The name of a product with these element types. */
export const productName = (d: MatrixElement, a: MatrixElement, b: MatrixElement, c: MatrixElement): string =>
  `${prefix}multiply_accumulate.${[d, a, b, c].map((element) => `v64${element}`).join('.')}`;

const pair = (): LlvmType => llvm.vector(llvm.i64, 2);

/** Every function, one for each combination of elements and address space. */
export function matrixFunctions(): MatrixFunction[] {
  return [...matrixElements.flatMap(ofElement), ...products()];
}

function ofElement(element: MatrixElement): MatrixFunction[] {
  const [matrix, scalar] = [matrixType(element), scalars[element]];
  const filled = (name: string, form: MatrixForm): MatrixFunction => ({
    name: `${prefix}${name}.v64${element}.${element}`,
    form,
    type: () => llvm.function(matrix, [scalar]),
  });
  return [filled('init_filled', 'filled'), filled('init_diag', 'diagonal'), ...([1, 3] as const).flatMap((space) => moves(element, space))];
}

/**
 * Loads and stores. From AIR 2.8 on extents, strides and origin follow the pointer; earlier the elements per row, the origin, and a
 * transposition flag.
 */
function moves(element: MatrixElement, space: 1 | 3): MatrixFunction[] {
  const [matrix, pointer] = [matrixType(element), llvm.pointer(scalars[element], space)];
  const where = (): LlvmType[] => [pair(), pair(), pair()];
  const whereOld = (): LlvmType[] => [llvm.i64, pair(), llvm.i1];
  const suffix = `v64${element}.p${space}${element}`;
  return [
    {
      name: `${prefix}load.${suffix}`,
      form: 'load',
      type: () => llvm.function(matrix, [pointer, ...where()]),
      oldType: () => llvm.function(matrix, [pointer, ...whereOld()]),
    },
    {
      name: `${prefix}store.${suffix}`,
      form: 'store',
      type: () => llvm.function(llvm.void, [matrix, pointer, ...where()]),
      oldType: () => llvm.function(llvm.void, [matrix, pointer, ...whereOld()]),
    },
  ];
}

function products(): MatrixFunction[] {
  const each = <T>(make: (element: MatrixElement) => T[]): T[] => matrixElements.flatMap(make);
  return each((d) =>
    each((a) =>
      each((b) =>
        matrixElements.map(
          (c): MatrixFunction => ({
            name: productName(d, a, b, c),
            form: 'product',
            type: () => llvm.function(matrixType(d), [a, b, c].map(matrixType)),
          }),
        ),
      ),
    ),
  );
}
