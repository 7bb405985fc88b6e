/** Arrays of a kernel and variables of its module. Source: PTX ISA 9.0, 5.1 (state spaces) and 5.4 (variables). */
import type { Operand as Node } from '../ptx/index.ts';
import { fail } from './fail.ts';
import { literal } from './literal.ts';
import { variableNode, vectorNode } from './nodes.ts';
import { accessType, advance, type Element, type Index, Pointer } from './pointer.ts';
import { trace } from './trace.ts';
import { bytesOfType, type MemoryName, type Space, type Type } from './types.ts';

/** The extents of an array, the slowest first: `[rows, columns]`. */
export type Extents = number | readonly [number, ...number[]];
/** An index for each extent. */
export type Indices<E extends Extents> = E extends number ? readonly [Index] : { readonly [K in keyof E]: Index };

/** Options of an array. */
export interface ArrayOptions {
  /** In bytes; the size of an element by default. Vectors and asynchronous copies need 8 or 16. */
  readonly align?: 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256;
  /** Its name in PTX; by default one is made. */
  readonly name?: string;
}

/** An array of one or more dimensions. */
export class ArrayOf<T extends MemoryName = MemoryName, S extends Space = Space, E extends Extents = Extents> extends Pointer<T, S> {
  /** The extents, the slowest first. */
  readonly extents: readonly number[];
  /** The name in PTX. */
  readonly name: string;

  /** @internal */
  constructor(type: T, space: S, name: string, extents: readonly number[]) {
    super(type, space, { base: name, isSymbol: true, offset: 0 });
    this.name = name;
    this.extents = extents;
  }

  /** The number of elements. */
  get length(): number {
    return this.extents.reduce((product, each) => product * each, 1);
  }

  /** The element at an index for each dimension, the slowest first. */
  in(...given: Indices<E>): Element<T, S> {
    const { extents, type, space } = this;
    const indices = given as readonly Index[];
    if (indices.length !== extents.length)
      fail('CM5088', { what: 'an index', why: `${this.name} has ${extents.length} dimensions, and this has ${indices.length}` });
    let address = this.origin;
    let bytes = bytesOfType(type) * this.length;
    indices.forEach((index, i) => {
      bytes /= extents[i]!;
      address = advance(space, address, index, bytes);
    });
    return new Pointer(type, space, address).at(0);
  }
}

const extentsOf = (extents: Extents): readonly number[] => {
  const list = typeof extents === 'number' ? [extents] : extents;
  if (list.some((each) => !Number.isInteger(each) || each < 1))
    fail('CM5088', { what: 'an array', why: `its extents ${list.join(' × ')} are not positive whole numbers` });
  return list;
};

/** A name that is free, or the one that was asked for. */
function nameOf(prefix: string, name: string | undefined): string {
  if (name === undefined) return trace().named(prefix);
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) fail('CM5088', { what: `the name \`${name}\``, why: 'it is not an identifier of PTX' });
  const { variables, globals } = trace();
  if (globals.has(name) || variables.some((each) => each.name === name))
    fail('CM5088', { what: `the name \`${name}\``, why: 'another array has it' });
  return name;
}

function declared<T extends MemoryName, S extends 'shared' | 'local', E extends Extents>(
  { name: type }: Type<T>,
  space: S,
  extents: E,
  options: ArrayOptions,
): ArrayOf<T, S, E> {
  const list = extentsOf(extents);
  const name = nameOf(space, options.name);
  const array = new ArrayOf<T, S, E>(type, space, name, list);
  const align = options.align ?? bytesOfType(type);
  trace().variables.push(variableNode({ space, type: accessType(type), name, align, dims: [array.length] }));
  return array;
}

/** An array in shared memory of a size that the kernel states: one for each block, at first with any contents. */
export const shared = <T extends MemoryName, const E extends Extents>(
  type: Type<T>,
  extents: E,
  options: ArrayOptions = {},
): ArrayOf<T, 'shared', E> => declared(type, 'shared', extents, options);

/** An array of each thread, for indices that are not known while the kernel is made; at first with any contents. */
export const privateArray = <T extends MemoryName, const E extends Extents>(
  type: Type<T>,
  extents: E,
  options: ArrayOptions = {},
): ArrayOf<T, 'local', E> => declared(type, 'local', extents, options);

/**
 * The dynamic shared memory, whose size in bytes the launch gives (`shared`). All calls give the same memory: `offset` bytes into it is where
 * the array starts.
 */
export function dynamicShared<T extends MemoryName>({ name: type }: Type<T>, offset = 0): Pointer<T, 'shared'> {
  const name = 'dynamic_shared';
  trace().globals.set(name, variableNode({ linkage: 'extern', space: 'shared', type: 'b8', name, align: 128, dims: [undefined] }));
  return new Pointer(type, 'shared', { base: name, isSymbol: true, offset });
}

/** Values of an array in constant or global memory: numbers, as many as it has elements. */
export type Values = ArrayLike<number | bigint>;

const valuesNode = (type: MemoryName, values: Values): Node => vectorNode(Array.from(values, (value) => literal(type, value).node));

function global<T extends MemoryName, S extends 'global' | 'const', E extends Extents>(
  { name: type }: Type<T>,
  space: S,
  extents: E,
  { values, align = 16, ...options }: ArrayOptions & { readonly values?: Values },
): ArrayOf<T, S, E> {
  const list = extentsOf(extents);
  const name = nameOf(space === 'const' ? 'constant' : 'variable', options.name);
  const array = new ArrayOf<T, S, E>(type, space, name, list);
  if (values && values.length !== array.length)
    fail('CM5088', { what: 'an array', why: `it has ${array.length} elements and ${values.length} values` });
  const init = values && valuesNode(type, values);
  const node = variableNode({ linkage: 'visible', space, type: accessType(type), name, align, dims: [array.length] });
  trace().globals.set(name, init ? { ...node, init } : node);
  return array;
}

/** An array in constant memory with these values: every thread reads the same element at a time, or it is read one after another. */
export const constants = <T extends MemoryName>(type: Type<T>, values: Values, options: ArrayOptions = {}): ArrayOf<T, 'const', number> =>
  global(type, 'const', values.length, { ...options, values });

/** An array of the module in global memory, zeros if no values are given. The host reaches it as `symbol(name)` of the loaded module. */
export const globalArray = <T extends MemoryName, const E extends Extents>(
  type: Type<T>,
  extents: E,
  options: ArrayOptions & { readonly values?: Values } = {},
): ArrayOf<T, 'global', E> => global(type, 'global', extents, options);
