/** Names in AIR metadata that emission writes and raising reads. */
import type { ScalarType } from '../ir/index.ts';

/** Our own named metadata, present in modules for the CPU device only. */
export const targetName = 'cumetal.target';

/** Our own named metadata, which other readers ignore: a node per kernel with the f64 parameters that are declared as integers. */
export const softDoubles = 'cumetal.f64';

/** Our own named metadata, which other readers ignore: a node per kernel with the block that it requires, as threads along x, y and z. */
export const requiredBlock = 'cumetal.block';

/** Our own named metadata: a node per kernel with its rules of clusters, as five numbers (`clusterNumbers`). */
export const clusterRules = 'cumetal.clusters';

/** MSL's names of scalar types, unsigned and signed. `reflect.ts` reads them back. */
export const typeNames: Record<Exclude<ScalarType, 'i1'>, readonly [unsigned: string, signed: string]> = {
  i8: ['uchar', 'char'],
  i16: ['ushort', 'short'],
  i32: ['uint', 'int'],
  i64: ['ulong', 'long'],
  f16: ['half', 'half'],
  bf16: ['bfloat', 'bfloat'],
  f32: ['float', 'float'],
  f64: ['double', 'double'],
};
