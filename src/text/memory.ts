/** Places in memory as text: elements of arrays, and bytes behind pointers. */
import { bytesOf, elementOf, type Kernel, type PointerType, type ScalarType, spaceOf, type Type, type Value } from '../ir/index.ts';
import type { Place } from './addresses.ts';
import { atom, binary, cast, type Expression, index, made, operand, strength } from './expression.ts';
import type { Printer } from './language.ts';
import { sumOf } from './rules.ts';

/** A place as a pointer, and its address space. */
export interface Bytes {
  readonly space: string;
  readonly pointer: Expression;
}

/** The bytes of a place. */
export function bytesOfPlace(p: Printer, place: Place): Bytes {
  const { language } = p;
  switch (place.kind) {
    case 'window': {
      const space = language.windowSpaces[place.space];
      const own = language.windowBytes?.(p, place.space, sumOf(p, place));
      if (own) return { space, pointer: own };
      const name = atom(p.windowName(place.space));
      const base = p.addresses.windows.get(place.space)!.unit === 'i8' ? name : cast(`${space} uchar *`, name);
      return { space, pointer: offsetBy(base, sumOf(p, place)) };
    }
    case 'pointer': {
      const space = language.spaceName(spaceOf(p.typeOf(place.pointer) as PointerType));
      return { space, pointer: offsetBy(p.use(place.pointer), sumOf(p, place)) };
    }
    case 'element':
      return { space: language.spaceName(p.kernel.params[place.param]!.space), pointer: atom(`&${elementText(p, place).text}`) };
    case 'scalar':
      return { space: language.spaceName('param'), pointer: atom(`&${p.parameter(place.param)}`) };
  }
}

const offsetBy = (pointer: Expression, offset: Expression | undefined): Expression =>
  offset === undefined ? pointer : binary('+', pointer, offset);

/** An element of a typed array as an lvalue. */
function elementText(p: Printer, place: Extract<Place, { kind: 'element' | 'scalar' }>): Expression {
  if (place.kind === 'scalar') return atom(p.parameter(place.param));
  return index(p.parameter(place.param), sumOf(p, place) ?? atom('0'), true);
}

/** An element of a window whose accesses are all of one type. */
function windowElement(p: Printer, place: Extract<Place, { kind: 'window' }>, type: ScalarType): Expression | undefined {
  const window = p.addresses.windows.get(place.space)!;
  if (window.unit !== type || type === 'i8') return undefined;
  const size = BigInt(bytesOf(type));
  const name = p.windowName(place.space);
  if ([...place.terms.map(({ scale }) => scale), place.constant].every((n) => n % size === 0n)) {
    const terms = place.terms.map(({ value, scale }) => ({ value, scale: scale / size }));
    return index(name, sumOf(p, { terms, constant: place.constant / size }) ?? atom('0'), true);
  }
  return index(name, binary('/', cast('ulong', sumOf(p, place)!), atom(String(size))), true);
}

/** A scalar in memory as an lvalue. */
export function scalarAt(p: Printer, value: Value, type: ScalarType, isVolatile: boolean, byteOffset = 0): Expression {
  const place = p.addresses.places.get(value)!;
  if (!isVolatile && byteOffset === 0) {
    if (place.kind === 'element' || place.kind === 'scalar') return elementText(p, place);
    const element = place.kind === 'window' ? windowElement(p, place, type) : undefined;
    if (element) return element;
  }
  const { space, pointer } = bytesOfPlace(p, place);
  const at =
    byteOffset === 0
      ? pointer
      : binary('+', place.kind === 'element' ? cast(`${space} uchar *`, pointer) : pointer, atom(String(byteOffset)));
  const word = p.language.memoryName(type);
  return made(`*(${isVolatile ? 'volatile ' : ''}${space} ${word} *)${operand(at, strength.unary)}`, strength.unary, [at], true);
}

/** Whether an access promises less alignment than an element has. */
export const isNarrow = (type: Type, align: number): boolean => align < bytesOf(elementOf(type));

const bitsTypes: Readonly<Record<number, ScalarType>> = { 1: 'i8', 2: 'i16', 4: 'i32', 8: 'i64' };

/** A scalar parameter's type in the signature. */
export function scalarParamType({ params }: Kernel, param: number): ScalarType {
  const { element, size } = params[param]!;
  return element !== undefined && element !== 'i1' && bytesOf(element) === size ? element : bitsTypes[size]!;
}
