/** Memory: pointers with a type and a space, and the elements that they reach. Source: PTX ISA 9.0, 9.7.9.8 (ld) and 9.7.9.12 (st). */
import type { Operand as Node } from '../ptx/index.ts';
import { fail } from './fail.ts';
import { computed, type Handle, inRegister, nodeOf, type Operand, type Readable } from './handle.ts';
import { addressNode, integerNode, nameNode, vectorNode } from './nodes.ts';
import { trace } from './trace.ts';
import {
  bytesOfType,
  type IndexName,
  isSigned,
  type MemoryName,
  type Space,
  type Type,
  type TypeName,
  types,
  type VectorType,
} from './types.ts';
import { Value } from './value.ts';
import { Vector } from './vector.ts';

/** What counts elements: an integer of 32 or 64 bits, or a constant. */
export type Index = Handle<IndexName> | Readable<IndexName> | number | bigint;

/** The memory that an order holds for: the block (`cta`), the cluster, the device (`gpu`) or all devices and the host (`sys`). */
export type MemoryScope = 'cta' | 'cluster' | 'gpu' | 'sys';

/** How a load reads memory. */
export interface LoadOptions {
  /** The caches that keep it: all (`ca`), L2 (`cg`), evicted first (`cs`), last use (`lu`), not cached (`cv`). */
  readonly cache?: 'ca' | 'cg' | 'cs' | 'lu' | 'cv';
  /** Through the read-only cache: nothing writes the memory while the kernel runs (`ld.global.nc`). */
  readonly readOnly?: boolean;
  /** Not combined with others, and not left out. */
  readonly volatile?: boolean;
  /** A memory order, which makes the load one of shared state; it needs sm_70. */
  readonly order?: 'relaxed' | 'acquire';
  /** The scope of the order; `gpu` by default. */
  readonly scope?: MemoryScope;
}

/** How a store writes memory. */
export interface StoreOptions {
  /** The caches that keep it: written back (`wb`), L2 (`cg`), evicted first (`cs`), through to memory (`wt`). */
  readonly cache?: 'wb' | 'cg' | 'cs' | 'wt';
  /** Not combined with others, and not left out. */
  readonly volatile?: boolean;
  /** A memory order, which makes the store one of shared state; it needs sm_70. */
  readonly order?: 'relaxed' | 'release';
  /** The scope of the order; `gpu` by default. */
  readonly scope?: MemoryScope;
}

/** An address: a register or a variable, and a constant number of bytes. */
export interface Address {
  readonly base: string;
  /** Whether `base` is a variable and not a register. */
  readonly isSymbol: boolean;
  readonly offset: number;
}

/** The address as an operand in brackets. */
export const bracketed = ({ base, offset }: Address, rest: readonly Node[] = []): Node => addressNode(nameNode(base), offset, rest);

/** `.global`; nothing for generic addresses. */
export const spaceWord = (space: Space): string => (space === 'generic' ? '' : `.${space}`);
/** The type of an access: halves are bits. */
export const accessType = (type: TypeName): string => {
  const { kind, bits } = types[type];
  return kind === 'pair' || (kind === 'float' && bits === 16) ? `b${bits}` : type;
};

/** Shared memory has addresses of 32 bits, other spaces of 64. */
const addressType = (space: Space): 'u32' | 'u64' => (space === 'shared' ? 'u32' : 'u64');

/** The address in a register, without its constant part if it is one already. */
const baseRegister = (space: Space, { base, isSymbol }: Address): string =>
  isSymbol ? computed(addressType(space), `mov.${addressType(space)}`, [nameNode(base)]) : base;

/** An address some elements on. */
export function advance(space: Space, address: Address, index: Index, bytes: number): Address {
  if (typeof index !== 'object') {
    if (!Number.isSafeInteger(Number(index))) fail('CM5085', { value: String(index), type: 's64' });
    return { ...address, offset: address.offset + Number(index) * bytes };
  }
  const { type } = index;
  const node = nodeOf(type, index);
  const base = nameNode(baseRegister(space, address));
  return { base: summed(addressType(space), { type, node, bytes }, base), isSymbol: false, offset: address.offset };
}

interface Scaled {
  readonly type: IndexName;
  readonly node: Node;
  readonly bytes: number;
}

function summed(width: 'u32' | 'u64', { type, node, bytes }: Scaled, base: Node): string {
  const isWide = types[type].bits === 64;
  if (width === 'u32') {
    const narrow = isWide ? nameNode(computed('u32', 'cvt.u32.u64', [node])) : node;
    return computed('u32', 'mad.lo.u32', [narrow, integerNode(bytes), base]);
  }
  if (isWide) return computed('u64', 'mad.lo.s64', [node, integerNode(bytes), base]);
  const scaled = computed('u64', `mul.wide.${isSigned(type) ? 's32' : 'u32'}`, [node, integerNode(bytes)]);
  return computed('u64', 'add.s64', [base, nameNode(scaled)]);
}

/** `ld` or `st` with the words of its options. */
function accessName(opcode: 'ld' | 'st', space: Space, options: LoadOptions & { readonly cache?: string }, vector: string): string {
  const { volatile: isVolatile, order, scope = 'gpu', cache, readOnly } = options as LoadOptions;
  const before = isVolatile ? '.volatile' : order ? `.${order}.${scope}` : '';
  return `${opcode}${before}${spaceWord(space)}${cache ? `.${cache}` : ''}${readOnly ? '.nc' : ''}${vector}`;
}

/** The state spaces that a kernel writes. */
export type Writable = Exclude<Space, 'const'>;

/** An element of memory. As an operand it is loaded. */
export class Element<T extends MemoryName = MemoryName, S extends Space = Space> implements Readable<T> {
  /** The name of its type. */
  readonly type: T;
  /** Its state space. */
  readonly space: S;
  /** @internal */
  readonly address: Address;

  /** @internal */
  constructor(type: T, space: S, address: Address) {
    this.type = type;
    this.space = space;
    this.address = address;
  }

  /** Loads it. */
  get(options: LoadOptions = {}): Value<T> {
    const register = trace().fresh(this.type);
    const name = `${accessName('ld', this.space, options as LoadOptions & { cache?: string }, '')}.${accessType(this.type)}`;
    trace().emit(name, [nameNode(register), bracketed(this.address)]);
    return new Value(this.type, register);
  }

  /** Stores a value in it. Constant memory is read only. */
  set(this: Element<MemoryName, Writable>, value: Operand<T>, options: StoreOptions = {}): void {
    const node = nodeOf(this.type, value);
    const name = `${accessName('st', this.space, options as LoadOptions, '')}.${accessType(this.type)}`;
    trace().emit(name, [bracketed(this.address), node]);
  }

  /** A pointer to it. */
  pointer(): Pointer<T, S> {
    return new Pointer(this.type, this.space, this.address);
  }
}

/** A pointer to elements of a type in a space. */
export class Pointer<T extends MemoryName = MemoryName, S extends Space = Space> {
  /** The name of the type of an element. */
  readonly type: T;
  /** Its state space. */
  readonly space: S;
  /** @internal */
  readonly origin: Address;

  /** @internal */
  constructor(type: T, space: S, origin: Address) {
    this.type = type;
    this.space = space;
    this.origin = origin;
  }

  /** The element at an index, and a constant number of elements behind it, which costs no instruction. */
  at(index: Index, plus = 0): Element<T, S> {
    const bytes = bytesOfType(this.type);
    return new Element(this.type, this.space, advance(this.space, advance(this.space, this.origin, index, bytes), plus, bytes));
  }

  /** A pointer some elements on. */
  add(index: Index): Pointer<T, S> {
    return this.at(index).pointer();
  }

  /** The same address as a pointer to another type, or to vectors, which have to be aligned to their size. */
  as<U extends MemoryName>(type: Type<U>): Pointer<U, S>;
  as<U extends MemoryName, N extends 2 | 4>(type: VectorType<U, N>): VectorPointer<U, N, S>;
  as(type: Type<MemoryName> | VectorType): unknown {
    if (type.kind === 'vector') return new VectorPointer(type.name, type.count, this.space, this.origin);
    return new Pointer(type.name, this.space, this.origin);
  }

  /** The same place as a generic address, which reaches any space. */
  generic(): Pointer<T, 'generic'> {
    if (this.space === 'generic') return this as unknown as Pointer<T, 'generic'>;
    const whole = wholeAddress(this.space, this.origin);
    const base = this.space === 'shared' ? nameNode(computed('u64', 'cvt.u64.u32', [whole])) : whole;
    const register = computed('u64', `cvta.${this.space}.u64`, [base]);
    return new Pointer(this.type, 'generic', { base: register, isSymbol: false, offset: 0 });
  }

  /** The address in bytes: of 32 bits in shared memory, of 64 elsewhere. */
  address(): Value<S extends 'shared' ? 'u32' : 'u64'> {
    const type = addressType(this.space) as S extends 'shared' ? 'u32' : 'u64';
    const node = wholeAddress(this.space, this.origin);
    return new Value(type, node.kind === 'name' ? node.name : '');
  }
}

/** The whole address in a register. */
export function wholeAddress(space: Space, address: Address): Node & { kind: 'name' } {
  const register = baseRegister(space, address);
  const type = addressType(space);
  const sum = address.offset === 0 ? register : computed(type, `add.${type}`, [nameNode(register), integerNode(address.offset)]);
  return nameNode(sum) as Node & { kind: 'name' };
}

/** A pointer from an address in bytes: of 32 bits in shared memory, of 64 elsewhere. */
export function pointerAt<T extends MemoryName, S extends Space>(
  type: Type<T>,
  space: S,
  address: Handle<S extends 'shared' ? 'u32' : 'u64'>,
): Pointer<T, S> {
  const node = inRegister(addressType(space), address);
  return new Pointer(type.name, space, { base: node.kind === 'name' ? node.name : '', isSymbol: false, offset: 0 });
}

/** As many operands as a vector has lanes. */
export type Lanes<O, N extends 2 | 4> = N extends 2 ? readonly [O, O] : readonly [O, O, O, O];

/** Some elements of memory next to each other, read and written at once. */
export class VectorElement<T extends MemoryName = MemoryName, N extends 2 | 4 = 2 | 4, S extends Space = Space> {
  /** The name of the type of a lane. */
  readonly type: T;
  /** The lanes. */
  readonly count: N;
  /** Its state space. */
  readonly space: S;
  /** @internal */
  readonly address: Address;

  /** @internal */
  constructor(type: T, count: N, space: S, address: Address) {
    this.type = type;
    this.count = count;
    this.space = space;
    this.address = address;
  }

  /** Loads them. */
  get(options: LoadOptions = {}): Vector<T, N> {
    const registers = Array.from({ length: this.count }, () => trace().fresh(this.type));
    const name = accessName('ld', this.space, options as LoadOptions & { cache?: string }, `.v${this.count}`);
    trace().emit(`${name}.${accessType(this.type)}`, [vectorNode(registers.map(nameNode)), bracketed(this.address)]);
    return new Vector(
      this.type,
      registers.map((register) => new Value(this.type, register)),
    );
  }

  /** Stores a vector, or as many values as it has. Constant memory is read only. */
  set(this: VectorElement<T, N, Writable>, value: Vector<T, N> | Lanes<Operand<T>, N>, options: StoreOptions = {}): void {
    const lanes: readonly Operand<T>[] = value instanceof Vector ? value.lanes : value;
    if (lanes.length !== this.count)
      fail('CM5088', { what: 'a vector', why: `${this.count} values are needed, and these are ${lanes.length}` });
    const nodes = lanes.map((lane) => inRegister(this.type, lane));
    const name = accessName('st', this.space, options as LoadOptions, `.v${this.count}`);
    trace().emit(`${name}.${accessType(this.type)}`, [bracketed(this.address), vectorNode(nodes)]);
  }
}

/** A pointer to vectors. */
export class VectorPointer<T extends MemoryName = MemoryName, N extends 2 | 4 = 2 | 4, S extends Space = Space> {
  /** The name of the type of a lane. */
  readonly type: T;
  /** The lanes of a vector. */
  readonly count: N;
  /** Its state space. */
  readonly space: S;
  /** @internal */
  readonly origin: Address;

  /** @internal */
  constructor(type: T, count: N, space: S, origin: Address) {
    this.type = type;
    this.count = count;
    this.space = space;
    this.origin = origin;
  }

  /** The vector at an index, and a constant number of vectors behind it. */
  at(index: Index, plus = 0): VectorElement<T, N, S> {
    const bytes = this.count * bytesOfType(this.type);
    const address = advance(this.space, advance(this.space, this.origin, index, bytes), plus, bytes);
    return new VectorElement(this.type, this.count, this.space, address);
  }

  /** A pointer some vectors on. */
  add(index: Index): VectorPointer<T, N, S> {
    return new VectorPointer(this.type, this.count, this.space, this.at(index).address);
  }

  /** The same address as a pointer to single values, of this or another type. */
  as<U extends MemoryName>(type: Type<U>): Pointer<U, S> {
    return new Pointer(type.name, this.space, this.origin);
  }
}
