/**
 * LLVM's types as this room models them: immutable, interned (equal types are the same object, so `===` compares). Pointers have the
 * type that they point to, as in every AIR module that Apple's compilers write, or the type `opaque`, as LLVM has them since version 15.
 */

export type Type =
  | { readonly kind: 'void' | 'label' | 'metadata' | 'token' }
  /** What an opaque pointer points to; of no other use. */
  | { readonly kind: 'opaque' }
  | { readonly kind: 'int'; readonly bits: number }
  | { readonly kind: 'float'; readonly name: 'half' | 'bfloat' | 'float' | 'double' }
  | { readonly kind: 'pointer'; readonly pointee: Type; readonly space: number }
  | { readonly kind: 'array'; readonly element: Type; readonly count: number }
  | { readonly kind: 'vector'; readonly element: Type; readonly count: number }
  | { readonly kind: 'struct'; readonly name: string | undefined; readonly packed: boolean; readonly fields: readonly Type[] | undefined }
  | { readonly kind: 'function'; readonly result: Type; readonly params: readonly Type[]; readonly vararg: boolean };

/** The type of one kind. */
export type TypeOf<K extends Type['kind']> = Extract<Type, { kind: K }>;

const interned = new Map<string, Type>();
const identities = new WeakMap<Type, number>();
let nextIdentity = 0;

/** A number unique to a type: two modules may each have a `%pair`, and pointers to them differ. */
function identityOf(type: Type): number {
  const known = identities.get(type);
  if (known !== undefined) return known;
  identities.set(type, nextIdentity);
  return nextIdentity++;
}

/** Components are interned before the type, so its key is made of its own fields and their identities. */
function intern<T extends Exclude<Type, { kind: 'pointer' }>>(type: T): T {
  const key = keyOf(type);
  const known = interned.get(key);
  if (known) return known as T;
  interned.set(key, type);
  return type;
}

function keyOf(type: Exclude<Type, { kind: 'pointer' }>): string {
  switch (type.kind) {
    case 'int':
      return `i${type.bits}`;
    case 'float':
      return type.name;
    case 'array':
    case 'vector':
      return `${type.kind} ${identityOf(type.element)} ${type.count}`;
    case 'struct':
      return `s${type.packed} ${type.fields?.map(identityOf).join(' ')}`;
    case 'function':
      return `f${type.vararg} ${identityOf(type.result)} ${type.params.map(identityOf).join(' ')}`;
    default:
      return type.kind;
  }
}

/**
 * Pointers by identity and address space in one number, which is faster than a string key. Not a weak map by pointee: with a long
 * chain of pointers as keys, the garbage collector visits the map once for each of them.
 */
const pointers = new Map<number, TypeOf<'pointer'>>();
const maxSpaces = 2 ** 24;

function pointer(pointee: Type, space = 0): TypeOf<'pointer'> {
  const key = identityOf(pointee) * maxSpaces + space;
  const known = pointers.get(key);
  if (known) return known;
  const made: TypeOf<'pointer'> = { kind: 'pointer', pointee, space };
  pointers.set(key, made);
  return made;
}

/** LLVM's spelling of a type, `{ i32, float addrspace(1)* }`. */
export function spell(type: Type): string {
  switch (type.kind) {
    case 'int':
      return `i${type.bits}`;
    case 'float':
      return type.name;
    case 'pointer':
      return spellPointer(type);
    case 'array':
      return `[${type.count} x ${spell(type.element)}]`;
    case 'vector':
      return `<${type.count} x ${spell(type.element)}>`;
    case 'struct':
      return type.name === undefined ? spellBody(type) : `%${spellName(type.name)}`;
    case 'function':
      return `${spell(type.result)} (${[...type.params.map(spell), ...(type.vararg ? ['...'] : [])].join(', ')})`;
    default:
      return type.kind;
  }
}

function spellPointer({ pointee, space }: TypeOf<'pointer'>): string {
  const where = space === 0 ? '' : ` addrspace(${space})`;
  return pointee.kind === 'opaque' ? `ptr${where}` : `${spell(pointee)}${where}*`;
}

/** The fields of a struct as LLVM writes them after `type`. */
export function spellBody(type: TypeOf<'struct'>): string {
  if (!type.fields) return 'opaque';
  const inner = type.fields.length === 0 ? '{}' : `{ ${type.fields.map(spell).join(', ')} }`;
  return type.packed ? `<${inner}>` : inner;
}

/** A name as LLVM writes it: bare, or quoted with `\XX` escapes where it holds other characters. */
export function spellName(name: string): string {
  if (/^[-a-zA-Z$._][-a-zA-Z$._0-9]*$/.test(name)) return name;
  let out = '"';
  for (const byte of new TextEncoder().encode(name)) out += escapedByte(byte);
  return `${out}"`;
}

/** A byte between quotes. */
export function escapedByte(byte: number): string {
  if (byte === 0x5c) return '\\\\';
  if (byte >= 0x20 && byte < 0x7f && byte !== 0x22) return String.fromCharCode(byte);
  return `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

const int = (bits: number): TypeOf<'int'> => intern({ kind: 'int', bits });
const float = (name: TypeOf<'float'>['name']): TypeOf<'float'> => intern({ kind: 'float', name });

/** Constructors of types. */
export const types = {
  void: intern({ kind: 'void' } as const),
  label: intern({ kind: 'label' } as const),
  metadata: intern({ kind: 'metadata' } as const),
  token: intern({ kind: 'token' } as const),
  opaque: intern({ kind: 'opaque' } as const),
  i1: int(1),
  i8: int(8),
  i16: int(16),
  i32: int(32),
  i64: int(64),
  half: float('half'),
  bfloat: float('bfloat'),
  float: float('float'),
  double: float('double'),
  int,
  pointer,
  array: (element: Type, count: number): TypeOf<'array'> => intern({ kind: 'array', element, count }),
  vector: (element: Type, count: number): TypeOf<'vector'> => intern({ kind: 'vector', element, count }),
  struct: (fields: readonly Type[], packed = false): TypeOf<'struct'> => intern({ kind: 'struct', name: undefined, packed, fields }),
  /** Named structs are not interned: each call makes a new type, since each module has its own. */
  namedStruct: (name: string, fields: readonly Type[] | undefined, packed = false): TypeOf<'struct'> => ({
    kind: 'struct',
    name,
    packed,
    fields,
  }),
  function: (result: Type, params: readonly Type[], vararg = false): TypeOf<'function'> =>
    intern({ kind: 'function', result, params, vararg }),
} as const;

const floatBits = { half: 16, bfloat: 16, float: 32, double: 64 } as const;

/** The element type of a vector; the type itself otherwise. */
export const scalarOf = (type: Type): Type => (type.kind === 'vector' ? type.element : type);

/** The size in bits of an integer, a float or a vector of them; 0 for other types. */
export function bitWidth(type: Type): number {
  switch (type.kind) {
    case 'int':
      return type.bits;
    case 'float':
      return floatBits[type.name];
    case 'pointer':
      return 64;
    case 'vector':
      return type.count * bitWidth(type.element);
    default:
      return 0;
  }
}
