/** Signatures: the declared types of a kernel's arguments, which determine their TypeScript types and must match the kernel. */
import { type ElementType, elements, isElementType, type Parameter, type Kernel as Reflection } from '../runtime/index.ts';
import type { ValueOf } from './arrays.ts';
import type { KernelBuffer } from './buffer.ts';
import { errorWith } from './context.ts';
import { scalarType } from './pack.ts';

/** One parameter: `f32` a value, `f32*` a pointer, `bytes` a struct. */
export type SignatureWord = ElementType | `${ElementType}*` | 'bytes';
/** The parameters of a kernel in their order: `f32` is a value and `f32*` a pointer. */
export type Signature = readonly SignatureWord[];

/** The accepted type of an argument. An address and null match a pointer of any type. */
export type ArgumentOf<W extends SignatureWord> = W extends `${infer E extends ElementType}*`
  ? KernelBuffer<E> | bigint | null
  : W extends ElementType
    ? ValueOf<W>
    : ArrayBufferView;

/** The argument types of a signature. */
export type ArgumentsOf<S extends Signature> = { readonly [I in keyof S]: ArgumentOf<S[I]> };

/** Throws CM5071 if a signature does not match the kernel. */
export function assertMatches(kernel: Reflection, signature: Signature): void {
  const { params, name } = kernel;
  const count = Math.max(params.length, signature.length);
  for (let index = 0; index < count; index++) {
    const [word, parameter] = [signature[index], params[index]];
    if (word && parameter && matches(word, parameter)) continue;
    throw errorWith('CM5071', {
      kernel: name,
      index,
      given: word === undefined ? 'nothing' : `\`${word}\``,
      wanted: parameter ? describe(parameter) : 'missing',
    });
  }
}

function matches(word: SignatureWord, parameter: Parameter): boolean {
  if (word.endsWith('*')) return parameter.kind === 'buffer' && isElementType(word.slice(0, -1));
  if (parameter.kind === 'buffer') return false;
  if (word === 'bytes' || !isElementType(word)) return word === 'bytes';
  const element = scalarType(parameter);
  const isFloat = (type: ElementType): boolean => elements[type].kind === 'float';
  return elements[word].size === parameter.size && (element === undefined || isFloat(element) === isFloat(word));
}

function describe(parameter: Parameter): string {
  if (parameter.kind === 'buffer') return parameter.element ? `a pointer to ${parameter.element}` : 'a pointer';
  return scalarType(parameter) ?? `${parameter.size} bytes`;
}
