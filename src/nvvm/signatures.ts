/**
 * Parameters of kernels and functions in PTX. Kernel parameters have the types that the host passes; structs by value are bytes.
 * Source: PTX ISA 9.0, 5.1.6 and 7.1; "PTX Writers' Guide to Interoperability".
 */
import type { Argument, Attribute, Function as LlvmFunction, Type } from '../bitcode/index.ts';
import { spell } from '../bitcode/index.ts';
import type { Annotation } from './annotations.ts';
import { alignOf, partsOf, sizeOf, storeBytes } from './layout.ts';
import { refuse } from './refused.ts';

/** Numbers of attributes and conventions that this room reads. Source: `Attributes.td`, `CallingConv.h` of LLVM. */
const byvalAttribute = 3;
const alignAttribute = 1;
const kernelConvention = 71;

/** Whether a function is a kernel. */
export const isKernel = (fn: LlvmFunction): boolean => fn.convention === kernelConvention;

/** The bytes behind a pointer that is a struct passed by value. */
export interface ByValue {
  readonly type: Type;
  readonly align: number;
}

/** What a `byval` parameter points to; undefined for others. */
export function byValueOf(attributes: readonly Attribute[]): ByValue | undefined {
  const found = attributes.find((each) => each.form === 'type' && each.kind === byvalAttribute);
  if (found?.form !== 'type' || !found.type) return undefined;
  const aligned = attributes.find((each) => each.form === 'int' && each.kind === alignAttribute);
  const own = alignOf(found.type);
  return { type: found.type, align: aligned?.form === 'int' ? Math.max(own, Number(aligned.value)) : own };
}

export const byValueOfArgument = (fn: LlvmFunction, { index }: Argument): ByValue | undefined =>
  byValueOf(fn.attributes.params[index] ?? []);

/** A scalar that is a parameter of its own type, in functions of at least 32 bits; others are bytes. */
export function scalarType(type: Type, isOfKernel: boolean): string | undefined {
  const [only, more] = partsOf(type);
  if (!only || more || type.kind === 'struct' || type.kind === 'array') return undefined;
  const { part } = only;
  if (part.kind === 'pointer') return 'b64';
  if (part.kind === 'float') return part.name === 'float' ? 'f32' : part.name === 'double' ? 'f64' : 'b16';
  const bytes = 2 ** Math.ceil(Math.log2(storeBytes(part.bits)));
  return isOfKernel ? `u${8 * bytes}` : `b${Math.max(32, 8 * bytes)}`;
}

/** A parameter's declaration behind `.param`. */
export function parameterText(type: Type, name: string, isOfKernel: boolean, byValue?: ByValue): string {
  if (byValue) return bytesText(byValue.type, byValue.align, name);
  const scalar = scalarType(type, isOfKernel);
  if (scalar) return `.param .${scalar} ${name}`;
  return partsOf(type).length === 0 ? refuse(`a parameter of type ${spell(type)}`) : bytesText(type, alignOf(type), name);
}

const bytesText = (type: Type, align: number, name: string): string => `.param .align ${align} .b8 ${name}[${Math.max(1, sizeOf(type))}]`;

/** The bytes of all parameters, each at its alignment. */
export function parameterBytes(fn: LlvmFunction): number {
  let end = 0;
  for (const arg of fn.args) {
    const { type, align } = byValueOfArgument(fn, arg) ?? { type: arg.type, align: alignOf(arg.type) };
    end = Math.ceil(end / align) * align + sizeOf(type);
  }
  return end;
}

/** The name of a parameter of a function in PTX, as nvcc names it. */
export const parameterName = (name: string, index: number): string => `${name}_param_${index}`;

/** A function's head without its body: linkage, result, name and parameters. */
export function headText(fn: LlvmFunction, name: string): string {
  const isEntry = isKernel(fn);
  const { result, vararg } = fn.functionType;
  if (vararg) return refuse(`the variadic function ${fn.name}`);
  const params = fn.args.map((arg) => `\t${parameterText(arg.type, parameterName(name, arg.index), isEntry, byValueOfArgument(fn, arg))}`);
  const linkage =
    fn.linkage === 'internal' || fn.linkage === 'private'
      ? ''
      : fn.linkage.startsWith('weak') || fn.linkage.startsWith('linkonce')
        ? '.weak '
        : '.visible ';
  const returned = result.kind === 'void' ? '' : `(${parameterText(result, 'func_retval0', false)}) `;
  return `${linkage}${isEntry ? '.entry ' : `.func ${returned}`}${name}(${params.length > 0 ? `\n${params.join(',\n')}\n` : ''})`;
}

/** Names of launch bounds in LLVM's attributes, and their directives. Source: LLVM's NVPTX usage guide, "Kernel metadata". */
const bounds: readonly (readonly [attribute: string, directive: string])[] = [
  ['nvvm.maxntid', '.maxntid'],
  ['nvvm.reqntid', '.reqntid'],
  ['nvvm.minctasm', '.minnctapersm'],
  ['nvvm.maxnreg', '.maxnreg'],
  ['nvvm.maxclusterrank', '.maxclusterrank'],
];

/** The annotation of `__cluster_dims__`, with the blocks of a cluster along the axes. */
const clusterAnnotation = 'cumetal.cluster';

/** The directives of a kernel's clusters. */
export const clusterText = (fn: LlvmFunction, annotations: readonly Annotation[]): string[] =>
  annotations
    .filter(({ of, text }) => of === fn && text === clusterAnnotation)
    .flatMap(({ numbers: [x = 1, y = 1, z = 1] }) => ['.explicitcluster', `.reqnctapercluster ${x}, ${y}, ${z}`]);

/** The directives of a kernel's launch bounds. */
export function boundsText(fn: LlvmFunction): string[] {
  const texts = new Map(fn.attributes.function.flatMap((each) => (each.form === 'string' ? [[each.key, each.value ?? ''] as const] : [])));
  return bounds.flatMap(([attribute, directive]) => {
    const value = texts.get(attribute);
    return value === undefined || !/^[\d, ]+$/.test(value) ? [] : [`${directive} ${value}`];
  });
}
