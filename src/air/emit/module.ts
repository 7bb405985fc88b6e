/** An empty AIR module of a target, and declarations in it. */
import type { AttributeList, Function as LlvmFunction, Module } from '../../bitcode/model.ts';
import { type TypeOf, types } from '../../bitcode/types.ts';
import type { Intrinsic } from '../intrinsics.ts';
import { type Dialect, dataLayout, type Target } from '../targets.ts';
import { callAttributes, declarationAttributes } from './attributes.ts';
import { addModuleMetadata } from './metadata.ts';

/** A module with flags, versions and options only. Apple names the source file after the function. */
export function moduleFor(kernelName: string, target: Target): Module {
  const module: Module = {
    identification: '',
    sourceFilename: kernelName,
    triple: target.triple,
    dataLayout,
    structs: [],
    globals: [],
    functions: [],
    namedMetadata: [],
    sections: [],
  };
  addModuleMetadata(module, target);
  return module;
}

type Parts = Pick<LlvmFunction, 'attributes'> & Partial<Pick<LlvmFunction, 'args' | 'linkage' | 'unnamedAddr'>>;

/** A function without blocks. By default it has external linkage, and its parameters have no names. */
export function newFunction(name: string, functionType: TypeOf<'function'>, parts: Parts): LlvmFunction {
  return {
    kind: 'function',
    name,
    functionType,
    type: types.pointer(functionType),
    linkage: 'external',
    unnamedAddr: 'local_unnamed_addr',
    dsoLocal: false,
    section: undefined,
    args: functionType.params.map((type, index) => ({ kind: 'argument', type, index, name: undefined })),
    blocks: [],
    metadata: [],
    ...parts,
  };
}

/** The declaration of an intrinsic, created on first use. */
export function declareIntrinsic(
  module: Module,
  intrinsic: Intrinsic,
  dialect: Dialect,
): { callee: LlvmFunction; attributes: AttributeList } {
  const attributes = callAttributes(intrinsic, dialect);
  const known = module.functions.find((f) => f.name === intrinsic.name);
  if (known) return { callee: known, attributes };
  const callee = newFunction(intrinsic.name, intrinsic.type, { attributes: declarationAttributes(intrinsic, dialect) });
  module.functions.push(callee);
  return { callee, attributes };
}
