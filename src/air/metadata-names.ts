/** Names in AIR metadata that emission writes and raising reads. */
import type { ScalarType } from '../ir/index.ts';

/** Named metadata of ours: there where a module is for the CPU device alone. */
export const ownTarget = 'cumetal.target';

/** Named metadata of ours, which others pass over: a node for each kernel with the parameters that are doubles held as integers. */
export const softDoubles = 'cumetal.f64';

/** MSL's names of scalar types, unsigned and signed. Also read back by `reflect.ts`. */
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
