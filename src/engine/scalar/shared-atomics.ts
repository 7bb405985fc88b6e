/**
 * Atomics on memory that several workers access: those of WebAssembly, and swaps that are tried again where it has none. They want
 * addresses that are multiples of their size, as PTX does, and trap at others.
 */
import { bytesOf, type InstOf, isPointer, type ScalarType, spaceOf } from '../../ir/index.ts';
import { type Emitter, typeOf } from '../codegen/emitter.ts';

export interface AtomicPlaces {
  readonly type: 'i32' | 'i64' | 'f32' | 'f64';
  readonly address: number;
  readonly old: number;
  readonly operand: number;
}

/** Whether other workers may access what is at a pointer: shared and local memory have one each. */
export function isForAll(e: Emitter, pointer: InstOf<'atomic'>['a']): boolean {
  const type = typeOf(e, pointer);
  const space = isPointer(type) ? spaceOf(type) : 'global';
  return e.host.isShared && !e.sanitizer && space !== 'shared' && space !== 'local';
}

const direct: Partial<Record<InstOf<'atomic'>['rmw'], string>> = { add: 'add', and: 'and', or: 'or', xor: 'xor', exch: 'xchg' };

/** The instruction that does an operation in one; nothing for what is not there. */
export const directAtomic = (rmw: InstOf<'atomic'>['rmw'], type: AtomicPlaces['type']): string | undefined =>
  (type === 'i32' || type === 'i64') && direct[rmw] ? `${type}.atomic.rmw.${direct[rmw]}` : undefined;

const bytesIn = (type: AtomicPlaces['type']): number => bytesOf(type);
const bitsType = (type: AtomicPlaces['type']): 'i32' | 'i64' => (bytesIn(type) === 8 ? 'i64' : 'i32');
const isFloat = (type: AtomicPlaces['type']): type is 'f32' | 'f64' => type === 'f32' || type === 'f64';

/** Does with address and operand what one instruction does; the old value is left in its local. */
export function writeDirect({ code }: Emitter, name: string, { type, address, operand, old }: AtomicPlaces): void {
  code.at('local.get', address);
  code.at('local.get', operand);
  code.access(name, bytesIn(type));
  code.at('local.set', old);
}

/** Puts what is wanted where the operand stands; the old value is left in its local. */
export function writeOneSwap(e: Emitter, places: AtomicPlaces, wanted: number): void {
  const { code } = e;
  const { type, address, operand, old } = places;
  // Floats are equal by value, not by bits.
  if (isFloat(type)) {
    return writeSwaps(
      e,
      places,
      () => code.at('local.get', wanted),
      () => {
        code.at('local.get', operand);
        code.at('local.get', old);
        code.op(`${type}.eq`);
      },
    );
  }
  for (const local of [address, operand, wanted]) code.at('local.get', local);
  code.access(`${type}.atomic.rmw.cmpxchg`, bytesIn(type));
  code.at('local.set', old);
}

/**
 * Replaces what is at the address by what `pushNew` leaves on the stack, worked out from the old value, in one step: until nobody has
 * come between. `pushGoes` says whether to replace it at all. The old value is left in its local.
 */
export function writeSwaps(e: Emitter, places: AtomicPlaces, pushNew: () => void, pushGoes?: () => void): void {
  const { code } = e;
  const { type, address, old } = places;
  const bits = bitsType(type);
  const [before, seen] = [e.values.scratch(bits, 5), e.values.scratch(bits, 6)];
  code.at('local.get', address);
  code.access(`${bits}.load`, 1);
  code.at('local.set', before);
  code.open('block');
  code.open('loop');
  code.at('local.get', before);
  if (isFloat(type)) code.op(`${type}.reinterpret_${bits}`);
  code.at('local.set', old);
  if (pushGoes) {
    pushGoes();
    code.op('i32.eqz');
    code.at('br_if', 1);
  }
  code.at('local.get', address);
  code.at('local.get', before);
  pushNew();
  if (isFloat(type)) code.op(`${bits}.reinterpret_${type}`);
  code.access(`${bits}.atomic.rmw.cmpxchg`, bytesIn(type));
  code.at('local.tee', seen);
  code.at('local.get', before);
  code.at('local.get', seen);
  code.at('local.set', before);
  code.op(`${bits}.ne`);
  code.at('br_if', 0);
  code.end();
  code.end();
}

const accesses: Record<number, readonly [load: string, store: string]> = {
  1: ['i32.atomic.load8_u', 'i32.atomic.store8'],
  2: ['i32.atomic.load16_u', 'i32.atomic.store16'],
  4: ['i32.atomic.load', 'i32.atomic.store'],
  8: ['i64.atomic.load', 'i64.atomic.store'],
};

/** Whether an access has to be seen by other workers, and see what they write. */
export const isStrong = (e: Emitter, inst: InstOf<'load'> | InstOf<'store'>): boolean => inst.volatile && isForAll(e, inst.addr);

/** Reads an element at the address on the stack in one step. */
export function loadStrong({ code }: Emitter, element: ScalarType, offset: number): void {
  const bytes = bytesOf(element);
  code.access(accesses[bytes]![0], bytes, offset);
  if (element === 'f32' || element === 'f64') code.op(`${element}.reinterpret_${bytes === 8 ? 'i64' : 'i32'}`);
}

/** Writes the element on the stack, behind its address, in one step. */
export function storeStrong({ code }: Emitter, element: ScalarType, offset: number): void {
  const bytes = bytesOf(element);
  if (element === 'f32' || element === 'f64') code.op(`${bytes === 8 ? 'i64' : 'i32'}.reinterpret_${element}`);
  code.access(accesses[bytes]![1], bytes, offset);
}
